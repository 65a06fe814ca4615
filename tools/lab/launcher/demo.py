"""The main job of tools/demo: one collective over NCCL's built-in transport and over Rocelane."""

from __future__ import annotations

import argparse
import json
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any, Mapping, Sequence

from .build_tree import REPOSITORY
from .demo_table import RunFacts, render, shortcomings

DATA_TRAFFIC_CLASS = 106  # DSCP 26, able to carry congestion marks
CONTROL_TRAFFIC_CLASS = 192  # DSCP 48
RAILS = 2


@dataclass(frozen=True)
class Transport:
    name: str
    nccl_name: str
    settings: Mapping[str, str]


TRANSPORTS = (
    Transport(
        "ib",
        "IB",
        {
            "NCCL_IB_TC": str(DATA_TRAFFIC_CLASS),
            "NCCL_IB_FIFO_TC": str(CONTROL_TRAFFIC_CLASS),
        },
    ),
    Transport(
        "rocelane",
        "Rocelane",
        {
            "ROCELANE_TRAFFIC_CLASS": str(DATA_TRAFFIC_CLASS),
            "ROCELANE_CONTROL_TRAFFIC_CLASS": str(CONTROL_TRAFFIC_CLASS),
        },
    ),
)

_JOB = "collperf all_reduce -b 8 -e 1M -f 2 -n 5 -w 1 -c 1".split()


def main(arguments: Sequence[str]) -> int:
    device = _parse_device(arguments)
    # Ctrl-C reaches the launcher too: it cleans up, then says that it was interrupted.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _stop)
    facts = []
    with tempfile.TemporaryDirectory(prefix="rocelane-demo-") as folder:
        for transport in TRANSPORTS:
            print(f"demo: {' '.join(_JOB)} over {transport.nccl_name}", file=sys.stderr, flush=True)
            result = _run(transport, device, Path(folder) / f"{transport.name}.json")
            if result is None:
                print(
                    f"demo: the run over {transport.nccl_name} failed; see above", file=sys.stderr
                )
                return 1
            facts.append(RunFacts(transport.nccl_name, result))

    built_in, ours = facts
    print("\n" + render(built_in, ours))
    problems = shortcomings(facts, DATA_TRAFFIC_CLASS, CONTROL_TRAFFIC_CLASS, RAILS)
    for problem in problems:
        print(f"demo: NOT AS IT SHOULD BE: {problem}", file=sys.stderr)
    return 1 if problems else 0


def _parse_device(arguments: Sequence[str]) -> str:
    parser = argparse.ArgumentParser(
        prog="tools/demo",
        description="One collective over NCCL's built-in transport, then over Rocelane, between "
        "two hosts with two rails; ends with one table.",
    )
    parser.add_argument(
        "--device",
        choices=("softverbs", "rxe"),
        default="softverbs",
        help="softverbs: software devices, seconds. rxe: real packets between virtual machines",
    )
    return str(parser.parse_args(list(arguments)).device)


def lab_command(transport: Transport, device: str, json_file: Path) -> list[str]:
    command = [str(REPOSITORY / "tools" / "lab" / "run")]
    command += ["--hosts", "2", "--gpus-per-host", "1", "--rails", str(RAILS)]
    command += ["--device", device, "--net", transport.name, "--env", "NCCL_DEBUG=INFO"]
    for name, value in transport.settings.items():
        command += ["--env", f"{name}={value}"]
    return [*command, "--json", str(json_file), "--", *_JOB]


def _run(transport: Transport, device: str, json_file: Path) -> Any:
    """The result of the run, or None when it failed; the launcher has said why."""
    # Its own table is left out: the demo ends with one that holds both.
    command = lab_command(transport, device, json_file)
    launcher = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        status = launcher.wait()
    except SystemExit:
        launcher.terminate()
        launcher.wait()
        raise
    return json.loads(json_file.read_text()) if status == 0 else None


def _stop(number: int, frame: FrameType | None) -> None:
    sys.exit(128 + number)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
