"""The demo's table, and its judgement: decides from two results of the launcher, runs nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Sequence

from .software_traffic import rails_of


@dataclass(frozen=True)
class RunFacts:
    """One result of the launcher, as its --json describes it."""

    nccl_name: str
    result: Any

    @property
    def rows(self) -> dict[int, Any]:
        report = self.result["program_report"] or {"rows": []}
        return {row["size_bytes"]: row for row in report["rows"]}

    @property
    def is_software(self) -> bool:
        """Whether the devices were software, which counts; else the wires were captured."""
        return bool(self.result["lab"]["device"] == "softverbs")

    @property
    def rails(self) -> list[Any]:
        if not self.is_software:
            return list(self.result["wire"])
        counters = self.result["softverbs"]
        return rails_of(counters) if counters is not None else []

    @property
    def unit(self) -> str:
        """What is counted of a rail, beside bytes."""
        return "work_requests" if self.is_software else "packets"

    def networks(self) -> set[str | None]:
        return {rank["network"] for rank in self.result["ranks"]}

    def wrong(self, size: int) -> int | None:
        """Elements that were wrong at one size; None where they were not checked."""
        found = [self.rows[size][where]["wrong"] for where in ("out_of_place", "in_place")]
        return None if None in found else sum(found)

    def time_us(self, size: int) -> float:
        return float(self.rows[size]["out_of_place"]["time_us"])


def render(built_in: RunFacts, ours: RunFacts) -> str:
    names = built_in.nccl_name, ours.nccl_name
    lines = [
        f"{'':>10}  {'time':>22}  {'':>7}  {'wrong elements':>19}",
        f"{'size':>10}  {names[0] + ', us':>10}  {names[1] + ', us':>12}  {'ratio':>6}"
        f"  {names[0]:>9}  {names[1]:>9}",
    ]
    for size in sorted(set(built_in.rows) & set(ours.rows)):
        before, now = built_in.time_us(size), ours.time_us(size)
        ratio = f"{before / now:.2f}" if now > 0 else "-"
        lines.append(
            f"{size:>10}  {before:>10.1f}  {now:>12.1f}  {ratio:>6}"
            f"  {_or_dash(built_in.wrong(size)):>9}  {_or_dash(ours.wrong(size)):>9}"
        )
    lines += [
        f"ratio: time of {names[0]} divided by time of {names[1]}; above 1, {names[1]} is faster.",
        "The hosts are emulated: whatever else this machine does moves these times.",
    ]
    for facts in (built_in, ours):
        lines += ["", *_render_wire(facts)]
    return "\n".join(lines)


def shortcomings(
    runs: Sequence[RunFacts], data_class: int, control_class: int, rails: int
) -> list[str]:
    """A sentence for everything the demo promises and these runs do not show."""
    problems = []
    for run in runs:
        problems += _judge_result(run)
        problems += _judge_wire(run, {data_class, control_class}, rails)
    if set(runs[0].rows) != set(runs[1].rows):
        problems.append("the two runs did not measure the same sizes.")
    return problems


def _judge_result(run: RunFacts) -> list[str]:
    problems = []
    if run.networks() != {run.nccl_name}:
        seen = ", ".join(sorted(str(network) for network in run.networks()))
        problems.append(
            f"NCCL should have used the network {run.nccl_name}, but its log names {seen}."
        )
    if not run.rows:
        problems.append(f"{run.nccl_name}: collperf reported no sizes.")
    for size in run.rows:
        wrong = run.wrong(size)
        if wrong is None:
            problems.append(f"{run.nccl_name}: the elements of {size} B were not checked.")
        elif wrong > 0:
            problems.append(f"{run.nccl_name}: {wrong} elements of {size} B are wrong.")
    return problems


def _judge_wire(run: RunFacts, classes: set[int], rails: int) -> list[str]:
    problems = []
    used = [rail for rail in run.rails if rail[run.unit] > 0]
    if len(used) != rails:
        problems.append(f"{run.nccl_name}: {len(used)} of {rails} rails carried {_words(run)}.")
    for rail in used:
        name = f"{run.nccl_name}: rail {rail['rail']}"
        seen = {entry["traffic_class"] for entry in rail["traffic_classes"]}
        if seen != classes:
            problems.append(
                f"{name} carried the traffic classes {sorted(seen)}, "
                f"configured were {sorted(classes)}."
            )
        for entry in rail["traffic_classes"]:
            if not _both_ways(entry["directions"]):
                problems.append(
                    f"{name} carried traffic class {entry['traffic_class']} in one direction only."
                )
    return problems


def _both_ways(directions: Sequence[Any]) -> bool:
    """Whether the two ends of a rail both sent."""
    ways = {(direction["from"], direction["to"]) for direction in directions}
    return bool(ways) and ways == {(to, from_) for from_, to in ways}


def _words(run: RunFacts) -> str:
    return "work requests" if run.is_software else "RoCE packets"


def _render_wire(run: RunFacts) -> list[str]:
    networks = ", ".join(sorted(str(network) for network in run.networks()))
    where = "by the devices' counters" if run.is_software else "on the wire"
    lines = [f"{run.nccl_name} {where} (NCCL's log says: Using network {networks})"]
    lines.append(
        f"  {'rail':<8}{'class':>6}{'DSCP':>6}{'ECN':>5}{_words(run).split()[-1]:>10}{'bytes':>12}  "
        f"{'source ports':>12}  operations"
    )
    for rail in run.rails:
        for entry in rail["traffic_classes"]:
            ports = len(entry["udp_source_ports"])
            operations = ", ".join(f"{n} {name}" for name, n in sorted(entry["operations"].items()))
            lines.append(
                f"  {rail['rail']:<8}{entry['traffic_class']:>6}{entry['dscp']:>6}{entry['ecn']:>5}"
                f"{entry[run.unit]:>10}{entry['bytes']:>12}  {ports:>12}  {operations}"
            )
        if rail[run.unit] == 0:
            lines.append(f"  {rail['rail']:<8}carried no {_words(run)[:-1]}")
    return lines


def _or_dash(count: int | None) -> str:
    return "-" if count is None else str(count)
