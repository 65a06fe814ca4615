"""The command line of tools/lab/run."""

from __future__ import annotations

import argparse
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Callable, Sequence

from .errors import LabError
from .fabric_file import FabricFile, read_fabric_file

_SETTING = re.compile(r"^(?:(?:host)?(\d+):)?([A-Za-z_][A-Za-z0-9_]*)=(.*)$", re.DOTALL)

DEFAULT_TIMEOUT_S = 120.0
DEFAULT_HOSTS = 2
DEFAULT_RAILS = 2
DEFAULT_MTU = 1500
DEFAULT_MEMORY_MIB = 2048
MAX_HOSTS = 64
MAX_RAILS = 8
MAX_GPUS_PER_HOST = 16


@dataclass(frozen=True)
class Setting:
    """An environment variable for the ranks of one host, or of all hosts when host is None."""

    host: int | None
    name: str
    value: str


@dataclass(frozen=True)
class Options:
    hosts: int
    gpus_per_host: int
    rails: int
    device: str
    net: str
    settings: tuple[Setting, ...]
    json_file: Path | None
    pcap_folder: Path | None
    logs_folder: Path | None
    guest_hook: Path | None
    fabric: FabricFile | None
    faults_file: Path | None
    build_folder: Path | None
    timeout_s: float
    linger_s: float
    mtu: int
    cpus_per_host: int | None
    memory_mib: int
    verbose: bool
    command: tuple[str, ...]

    @property
    def world_size(self) -> int:
        return self.hosts * self.gpus_per_host


def parse(arguments: Sequence[str]) -> Options:
    """Exits with a usage message, as argparse does, when the arguments make no sense."""
    parser = _parser()
    raw = parser.parse_args(list(arguments))
    command = tuple(raw.command[1:] if raw.command[:1] == ["--"] else raw.command)
    net = raw.net or ("socket" if raw.device == "none" else "rocelane")

    if not command:
        parser.error("no program given: put it after --, for example: -- collperf all_reduce")
    if raw.device == "none" and net != "socket":
        parser.error(
            f"--net {net} needs RDMA devices: use --device softverbs or rxe, or --net socket"
        )
    _refuse_options_of_other_devices(parser, raw)
    fabric = _read_fabric(parser, raw)
    raw.hosts = _agreed(parser, "hosts", raw.hosts, fabric, DEFAULT_HOSTS, MAX_HOSTS)
    raw.rails = _agreed(parser, "rails", raw.rails, fabric, DEFAULT_RAILS, MAX_RAILS)
    for setting in raw.env:
        if setting.host is not None and not 1 <= setting.host <= raw.hosts:
            parser.error(
                f"--env {setting.host}:{setting.name}=… names host {setting.host}, "
                f"but the hosts are 1 to {raw.hosts}"
            )

    return Options(
        hosts=raw.hosts,
        gpus_per_host=raw.gpus_per_host,
        rails=raw.rails,
        device=raw.device,
        net=net,
        settings=tuple(raw.env),
        json_file=raw.json,
        pcap_folder=raw.pcap,
        logs_folder=raw.logs,
        guest_hook=raw.guest_hook,
        fabric=fabric,
        faults_file=raw.faults,
        build_folder=raw.build,
        timeout_s=raw.timeout,
        linger_s=raw.linger,
        mtu=raw.mtu or DEFAULT_MTU,
        cpus_per_host=raw.cpus_per_host,
        memory_mib=raw.memory or DEFAULT_MEMORY_MIB,
        verbose=raw.verbose,
        command=command,
    )


def _refuse_options_of_other_devices(
    parser: argparse.ArgumentParser, raw: argparse.Namespace
) -> None:
    of_guests = {
        "--guest-hook needs guests": raw.guest_hook,
        "--pcap captures the wires between guests": raw.pcap,
        "--mtu is that of the guests' rails": raw.mtu,
        "--cpus-per-host is for guests": raw.cpus_per_host,
        "--memory is for guests": raw.memory,
    }
    for what, value in of_guests.items():
        if value is not None and raw.device != "rxe":
            parser.error(f"{what}: use --device rxe")
    of_software = {
        "--fabric describes software devices": raw.fabric,
        "--faults happen to software devices": raw.faults,
    }
    for what, value in of_software.items():
        if value is not None and raw.device != "softverbs":
            parser.error(f"{what}: use --device softverbs")


def _read_fabric(parser: argparse.ArgumentParser, raw: argparse.Namespace) -> FabricFile | None:
    if raw.faults is not None and not raw.faults.is_file():
        parser.error(f"there is no fault file {raw.faults}")
    if raw.fabric is None:
        return None
    try:
        return read_fabric_file(raw.fabric)
    except LabError as error:
        parser.error(str(error))


def _agreed(
    parser: argparse.ArgumentParser,
    what: str,
    asked: int | None,
    fabric: FabricFile | None,
    default: int,
    most: int,
) -> int:
    """Of the command line and the fabric file."""
    described: int | None = getattr(fabric, what) if fabric is not None else None
    if fabric is None or described is None:
        return default if asked is None else asked
    if not 1 <= described <= most:
        parser.error(f"{fabric.path} describes {described} {what}; the launcher runs 1 to {most}")
    if asked is not None and asked != described:
        parser.error(
            f"--{what} {asked}, but {fabric.path} describes {described}: leave one of them out"
        )
    return described


def parse_setting(text: str) -> Setting:
    """NAME=VALUE for all ranks, HOST:NAME=VALUE for those of one host: 1 or host1, 2 or host2, …"""
    match = _SETTING.match(text)
    if match is None:
        raise argparse.ArgumentTypeError(f"'{text}' is neither NAME=VALUE nor HOST:NAME=VALUE")
    host, name, value = match.groups()
    return Setting(int(host) if host else None, name, value)


def _number_between(low: int, high: int) -> Callable[[str], int]:
    def check(text: str) -> int:
        try:
            number = int(text)
        except ValueError:
            raise argparse.ArgumentTypeError(f"'{text}' is not a whole number") from None
        if not low <= number <= high:
            raise argparse.ArgumentTypeError(f"{number} is not between {low} and {high}")
        return number

    return check


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number of seconds") from None
    if not 0 <= seconds <= 24 * 3600:
        raise argparse.ArgumentTypeError(f"{text} s is not between 0 and a day")
    return seconds


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="tools/lab/run",
        usage="%(prog)s [options] -- PROGRAM [ARGUMENTS…]",
        description="Runs PROGRAM once per rank on pretend hosts. "
        "The ranks are processes of this machine: with --device softverbs they have software RDMA "
        "devices on a fabric you describe, with --device none nothing but sockets. With --device "
        "rxe every host is a virtual machine with soft-RoCE rails.",
        epilog="Exit status: 0 all ranks ended well, 1 a rank or a guest failed, 2 the lab could "
        "not be set up, 124 the deadline passed, 130 interrupted.",
    )
    add = parser.add_argument
    add("--hosts", type=_number_between(1, MAX_HOSTS), help="pretend hosts (2, or as in the file)")
    add(
        "--gpus-per-host",
        type=_number_between(1, MAX_GPUS_PER_HOST),
        default=1,
        help="pretend GPUs, and ranks, of each host (1)",
    )
    add(
        "--rails",
        type=_number_between(1, MAX_RAILS),
        help="RDMA devices of each host (2, or as in the file)",
    )
    add(
        "--device",
        choices=("softverbs", "rxe", "none"),
        default="softverbs",
        help="RDMA device of the hosts (softverbs)",
    )
    add(
        "--fabric",
        type=Path,
        metavar="FILE",
        help="hosts, devices, switches and links of softverbs (a fabric without limits)",
    )
    add("--faults", type=Path, metavar="FILE", help="what goes wrong on softverbs, and when")
    add(
        "--net",
        choices=("rocelane", "ib", "socket"),
        help="NCCL's network (rocelane; socket without a device)",
    )
    add(
        "--env",
        type=parse_setting,
        action="append",
        default=[],
        metavar="[HOST:]NAME=VALUE",
        help="environment of all ranks, or of one host's ranks; may be repeated",
    )
    add("--json", type=Path, metavar="FILE", help="write the result for machines")
    add("--pcap", type=Path, metavar="FOLDER", help="keep the capture of each rail here")
    add("--logs", type=Path, metavar="FOLDER", help="keep all logs of ranks and guests here")
    add("--guest-hook", type=Path, metavar="SCRIPT", help="run by root in each guest before ranks")
    add("--build", type=Path, metavar="FOLDER", help="build folder (build/release)")
    add("--timeout", type=_seconds, default=DEFAULT_TIMEOUT_S, help="deadline in s (120)")
    add(
        "--linger",
        type=_seconds,
        default=5.0,
        help="how long the other ranks may go on after one has failed, in s (5)",
    )
    add("--mtu", type=_number_between(576, 9000), help="MTU of the guests' rails (1500)")
    add("--cpus-per-host", type=_number_between(1, 64), help="virtual CPUs of each guest")
    add("--memory", type=_number_between(512, 1 << 20), help="MiB a guest (2048)")
    add("--verbose", action="store_true", help="show the output of every rank, with its name")
    add("command", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    return parser
