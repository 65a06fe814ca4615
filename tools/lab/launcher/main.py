"""tools/lab/run: sets the lab up, runs the job, reports, and leaves nothing behind."""

from __future__ import annotations

import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path
from types import FrameType
from typing import Sequence

from .build_tree import BuildTree
from .errors import Interrupted, LabError
from .hosts import GuestHosts, Hosts, PlainHosts
from .options import Options, parse
from .process_group import ProcessGroup
from .ranks import Rank, plan_ranks
from .report import keep_captures, show_failure, write_json
from .run_folder import RankFolder
from .software_hosts import SoftwareHosts
from .supervisor import Outcome, Supervisor

_SET_UP_FAILED = 2
_INTERRUPTED = 130


def main(arguments: Sequence[str]) -> int:
    options = parse(arguments)
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, _interrupt)
    processes = ProcessGroup()
    run_folder = Path(tempfile.mkdtemp(prefix="rocelane-lab-"))
    try:
        return _run(options, run_folder, processes)
    except LabError as error:
        print(f"lab: {error}", file=sys.stderr)
        return _SET_UP_FAILED
    except Interrupted:
        print("lab: interrupted", file=sys.stderr)
        return _INTERRUPTED
    finally:
        processes.kill_all()
        shutil.rmtree(run_folder, ignore_errors=True)


def _run(options: Options, run_folder: Path, processes: ProcessGroup) -> int:
    tree = BuildTree.open(options.build_folder)
    program = tree.program(options.command[0])
    hosts = _make_hosts(options, tree, run_folder, processes)
    try:
        return _run_on(hosts, options, tree, program, run_folder, processes)
    finally:
        processes.kill_all()
        hosts.close()


def _run_on(
    hosts: Hosts,
    options: Options,
    tree: BuildTree,
    program: Path,
    run_folder: Path,
    processes: ProcessGroup,
) -> int:
    ranks = plan_ranks(
        options,
        program,
        tree.loader_path(software_device=options.device == "softverbs"),
        hosts.meeting(),
        hosts.folder_seen_by_ranks(),
        hosts.environment_of,
    )
    folders = [RankFolder(run_folder, rank) for rank in ranks]
    for folder in folders:
        folder.prepare()

    started_at_s = time.monotonic()
    _say(_describe(options))
    hosts.start(ranks)
    supervisor = Supervisor(
        hosts,
        folders,
        started_at_s=started_at_s,
        timeout_s=options.timeout_s,
        linger_s=options.linger_s,
        verbose=options.verbose,
    )
    outcome = supervisor.watch()
    if outcome.status == 0:
        hosts.settle()
    processes.kill_all()
    _deliver(options, ranks, folders, hosts, outcome, run_folder)
    return outcome.status


def _make_hosts(
    options: Options, tree: BuildTree, run_folder: Path, processes: ProcessGroup
) -> Hosts:
    if options.device == "none":
        return PlainHosts(options, tree.patience, run_folder, processes)
    if options.device == "softverbs":
        return SoftwareHosts(options, tree, run_folder, processes)
    capture = options.json_file is not None or options.pcap_folder is not None
    return GuestHosts(options, run_folder, processes, capture=capture)


def _deliver(
    options: Options,
    ranks: Sequence[Rank],
    folders: Sequence[RankFolder],
    hosts: Hosts,
    outcome: Outcome,
    run_folder: Path,
) -> None:
    if outcome.status != 0:
        show_failure(outcome, folders)
    if options.logs_folder is not None:
        shutil.copytree(run_folder, options.logs_folder, dirs_exist_ok=True)
    if options.pcap_folder is not None:
        keep_captures(hosts.captures(), options.pcap_folder)
    if options.json_file is not None:
        write_json(options, ranks, folders, hosts, outcome)
    if outcome.status == 0:
        _say(f"all ranks ended well after {outcome.wall_time_s:.1f} s{_since_first_rank(outcome)}")


def _since_first_rank(outcome: Outcome) -> str:
    return (
        f", the first {outcome.first_rank_s:.1f} s of them set-up" if outcome.first_rank_s else ""
    )


def _describe(options: Options) -> str:
    what = f"hosts {options.hosts}, GPUs per host {options.gpus_per_host}, network {options.net}"
    if options.device == "none":
        return f"starting the ranks on this machine: {what}"
    if options.device == "softverbs":
        return f"starting the ranks on this machine: {what}, software RDMA rails {options.rails}"
    return f"booting the guests: {what}, soft-RoCE rails {options.rails}"


def _say(text: str) -> None:
    print(f"lab: {text}", file=sys.stderr, flush=True)


def _interrupt(number: int, frame: FrameType | None) -> None:
    # One is enough: a second one must not disturb the clean-up.
    for ignored in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(ignored, signal.SIG_IGN)
    raise Interrupted
