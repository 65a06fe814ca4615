"""Reads what the rdma tool said in a guest after its ranks had ended."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def read_resources(path: Path) -> list[dict[str, Any]]:
    """One entry a device: how many queue pairs, completion queues, regions and domains it has."""
    try:
        entries = json.loads(path.read_text())
    except (FileNotFoundError, ValueError):
        return []
    return [entry for entry in entries if str(entry.get("ifname", "")).startswith("rxe")]


def read_statistics(path: Path) -> dict[str, dict[str, int]]:
    """'link rxe1/1 sent_pkts 12 rcvd_pkts 13 …' becomes {'rxe1': {'sent_pkts': 12, …}}."""
    try:
        lines = path.read_text().splitlines()
    except FileNotFoundError:
        return {}
    statistics = {}
    for line in lines:
        words = line.split()
        if len(words) < 2 or words[0] != "link":
            continue
        numbers = zip(words[2::2], words[3::2])
        statistics[words[1].split("/")[0]] = {name: int(value) for name, value in numbers}
    return statistics
