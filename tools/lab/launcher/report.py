"""What a run leaves for its reader: sentences after a failure, JSON for machines, captures."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any, Sequence

from .hosts import Hosts
from .options import Options
from .ranks import Rank
from .roce_capture import RailTraffic, read_capture
from .run_folder import RankFolder
from .supervisor import Outcome

_LAST_LINES = 15


def show_failure(outcome: Outcome, folders: Sequence[RankFolder]) -> None:
    for folder in folders:
        lines = folder.last_lines(_LAST_LINES)
        print(f"--- last lines of {folder.rank.name}:", file=sys.stderr)
        for line in lines or ["(it said nothing)"]:
            print(f"    {line}", file=sys.stderr)
    print(f"lab: {outcome.reason}", file=sys.stderr)


def keep_captures(captures: dict[int, Path], folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for path in captures.values():
        if path.is_file():
            shutil.copy(path, folder / path.name)


def write_json(
    options: Options,
    ranks: Sequence[Rank],
    folders: Sequence[RankFolder],
    hosts: Hosts,
    outcome: Outcome,
) -> None:
    assert options.json_file is not None
    text = json.dumps(as_json(options, ranks, folders, hosts, outcome), indent=2)
    options.json_file.parent.mkdir(parents=True, exist_ok=True)
    options.json_file.write_text(text + "\n")


def as_json(
    options: Options,
    ranks: Sequence[Rank],
    folders: Sequence[RankFolder],
    hosts: Hosts,
    outcome: Outcome,
) -> dict[str, Any]:
    return {
        "lab": {
            "hosts": options.hosts,
            "gpus_per_host": options.gpus_per_host,
            "rails": 0 if options.device == "none" else options.rails,
            "device": options.device,
            "net": options.net,
            "mtu": options.mtu if options.device == "rxe" else None,
        },
        "command": list(ranks[0].command),
        "status": outcome.status,
        "reason": outcome.reason,
        "wall_time_s": round(outcome.wall_time_s, 3),
        "first_rank_s": _rounded(outcome.first_rank_s),
        "ranks": [
            {
                "rank": folder.rank.number,
                "host": folder.rank.host,
                "local_rank": folder.rank.local_rank,
                "exit_code": outcome.exit_codes[folder.rank.number],
                "network": folder.network(),
                "warnings": folder.warnings(),
                "environment": dict(folder.rank.environment),
            }
            for folder in folders
        ],
        "hosts": hosts.facts(),
        "wire": [
            _rail_as_json(rail, read_capture(path)) for rail, path in hosts.captures().items()
        ],
        "softverbs": hosts.counters(),
        "program_report": folders[0].report(),
    }


def _rail_as_json(rail: int, traffic: RailTraffic) -> dict[str, Any]:
    return {"rail": rail, **traffic.as_json()}


def _rounded(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds, 3)
