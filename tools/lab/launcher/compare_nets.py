"""The main job of tools/lab/compare_nets: runs in turn over two networks, then medians by size."""

from __future__ import annotations

import argparse
import json
import math
import signal
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any, Mapping, Sequence

from .build_tree import REPOSITORY

Times = Mapping[int, Sequence[float]]  # microseconds of every run, by size


@dataclass(frozen=True)
class Row:
    size_bytes: int
    first_us: float
    second_us: float
    first_spread: float  # distance of the quartiles, as a part of the median
    second_spread: float

    @property
    def ratio(self) -> float:
        return self.first_us / self.second_us


def main(arguments: Sequence[str]) -> int:
    given, job = _parse(arguments)
    # Ctrl-C reaches the launcher too: it cleans up, then says that it was interrupted.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _stop)
    times: dict[str, dict[int, list[float]]] = {net: {} for net in given.nets}
    with tempfile.TemporaryDirectory(prefix="rocelane-compare-nets-") as folder:
        for net in order_of_runs(given.nets, given.runs):
            json_file = Path(folder) / "run.json"
            status = _run([*given.lab_options, "--net", net, "--json", str(json_file), *job])
            if status != 0:
                print(f"compare_nets: the run over {net} failed; see above", file=sys.stderr)
                return status
            found = times_of(json.loads(json_file.read_text()))
            if not found:
                print(
                    "compare_nets: the job reports no times; it must be collperf, as in "
                    "`tools/lab/compare_nets -- collperf all_reduce`",
                    file=sys.stderr,
                )
                return 2
            for size, time_us in found.items():
                times[net].setdefault(size, []).append(time_us)
    rows = compare(times[given.nets[0]], times[given.nets[1]])
    print(render(given.nets, given.runs, rows))
    if given.json is not None:
        given.json.write_text(json.dumps(report(given.nets, times, rows), indent=2) + "\n")
    return 0


def _parse(arguments: Sequence[str]) -> tuple[argparse.Namespace, list[str]]:
    parser = argparse.ArgumentParser(
        prog="tools/lab/compare_nets",
        usage="tools/lab/compare_nets [--runs N] [--nets A,B] [--json FILE] "
        "[options of tools/lab/run] -- collperf COLLECTIVE [ARGUMENTS…]",
        description="The same job over two networks, A B B A …, each run a new one of "
        "tools/lab/run; ends with the median time of every size and the ratio of the two.",
        allow_abbrev=False,
    )
    parser.add_argument("--runs", type=int, default=5, help="runs over each network (5)")
    parser.add_argument("--nets", default="rocelane,ib", help="the two networks (rocelane,ib)")
    parser.add_argument("--json", type=Path, help="also write all times to this file")
    words = list(arguments)
    end = words.index("--") if "--" in words else len(words)
    given, lab_options = parser.parse_known_args(words[:end])
    given.lab_options = lab_options
    given.nets = given.nets.split(",")
    if given.runs < 1:
        parser.error("--runs must be at least 1")
    if len(given.nets) != 2 or given.nets[0] == given.nets[1]:
        parser.error("--nets names two different networks, as in rocelane,ib")
    if end >= len(words) - 1:
        parser.error("there is no job: write it after --")
    if given.json is not None and not given.json.absolute().parent.is_dir():
        parser.error(f"--json {given.json} cannot be written: its folder is not there")
    return given, words[end:]


def order_of_runs(nets: Sequence[str], runs: int) -> list[str]:
    """Whatever changes on the machine meanwhile, neither is always the first."""
    order: list[str] = []
    for run in range(runs):
        order += nets if run % 2 == 0 else reversed(nets)
    return order


def times_of(result: Any) -> dict[int, float]:
    """Of one result of the launcher: microseconds by size; empty when the job told none."""
    rows = (result["program_report"] or {}).get("rows", [])
    return {row["size_bytes"]: float(row["out_of_place"]["time_us"]) for row in rows}


def compare(first: Times, second: Times) -> list[Row]:
    return [
        Row(
            size,
            statistics.median(first[size]),
            statistics.median(second[size]),
            spread(first[size]),
            spread(second[size]),
        )
        for size in sorted(set(first) & set(second))
    ]


def spread(values: Sequence[float]) -> float:
    if len(values) < 2:
        return 0.0
    lower, median, upper = statistics.quantiles(values, n=4, method="inclusive")
    return (upper - lower) / median


def geometric_mean_of_ratios(rows: Sequence[Row]) -> float:
    return math.exp(statistics.mean(math.log(row.ratio) for row in rows))


def render(nets: Sequence[str], runs: int, rows: Sequence[Row]) -> str:
    lines = [
        f"# medians of {runs} runs over each, in turn; +-: distance of the quartiles",
        f"{'size':>10}  {nets[0] + ', us':>14} {'+-':>5}  {nets[1] + ', us':>14} {'+-':>5}"
        f"  {'ratio':>6}",
    ]
    lines += [
        f"{row.size_bytes:>10}  {row.first_us:>14.1f} {row.first_spread:>5.0%}"
        f"  {row.second_us:>14.1f} {row.second_spread:>5.0%}  {row.ratio:>6.2f}"
        for row in rows
    ]
    lines.append(f"# geometric mean of the ratios: {geometric_mean_of_ratios(rows):.2f}")
    return "\n".join(lines)


def report(nets: Sequence[str], times: Mapping[str, Times], rows: Sequence[Row]) -> Any:
    return {
        "nets": list(nets),
        "rows": [
            {
                "size_bytes": row.size_bytes,
                "times_us": {net: list(times[net][row.size_bytes]) for net in nets},
                "medians_us": {nets[0]: row.first_us, nets[1]: row.second_us},
                "ratio": row.ratio,
            }
            for row in rows
        ],
        "geometric_mean_of_ratios": geometric_mean_of_ratios(rows),
    }


def _run(arguments: Sequence[str]) -> int:
    command = [str(REPOSITORY / "tools" / "lab" / "run"), *arguments]
    # Its own table is left out: the comparison ends with one that holds all.
    launcher = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        return launcher.wait()
    except SystemExit:
        launcher.terminate()
        launcher.wait()
        raise


def _stop(number: int, frame: FrameType | None) -> None:
    sys.exit(128 + number)
