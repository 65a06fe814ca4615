"""The folder of one run: where the launcher and the ranks leave things for each other."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, Sequence

from .ranks import Rank

RUN_RANK = Path(__file__).resolve().parent / "run_rank"
_NETWORK = re.compile(r"Using network (\S+)")
_TAIL_BYTES = 16384


class RankFolder:
    def __init__(self, run_folder: Path, rank: Rank) -> None:
        self.path = run_folder / rank.folder_name
        self.rank = rank

    def prepare(self) -> None:
        self.path.mkdir()
        (self.path / "start").write_text(self.rank.script())

    def exit_code(self) -> int | None:
        """None while the rank has not ended."""
        try:
            return int((self.path / "exit_code").read_text())
        except (FileNotFoundError, ValueError):
            return None

    def report(self) -> Any:
        """What the program itself wrote for machines, or None."""
        try:
            return json.loads((self.path / "report.json").read_text())
        except (FileNotFoundError, ValueError):
            return None

    def network(self) -> str | None:
        """The network NCCL says it uses; it says so from NCCL_DEBUG=INFO on."""
        found = _NETWORK.search(self._nccl_log())
        return found.group(1) if found else None

    def warnings(self) -> list[str]:
        return [line for line in self._nccl_log().splitlines() if "NCCL WARN" in line]

    def last_lines(self, count: int) -> list[str]:
        """The end of everything the rank said, file by file."""
        lines = []
        for name in ("stdout.log", "stderr.log", "nccl.log"):
            lines += [f"{name}: {line}" for line in tail(self.path / name, count)]
        return lines

    def _nccl_log(self) -> str:
        try:
            return (self.path / "nccl.log").read_text(errors="replace")
        except FileNotFoundError:
            return ""


class LineFollower:
    """Hands out the lines a growing file has gained since the last call."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._offset = 0

    def new_lines(self, *, with_unfinished: bool = False) -> list[str]:
        try:
            with open(self._path, "rb") as file:
                file.seek(self._offset)
                data = file.read()
        except FileNotFoundError:
            return []
        if not with_unfinished:
            data = data[: data.rfind(b"\n") + 1]
        self._offset += len(data)
        return data.decode(errors="replace").splitlines()


def tail(path: Path, count: int) -> Sequence[str]:
    try:
        with open(path, "rb") as file:
            file.seek(0, 2)
            file.seek(max(0, file.tell() - _TAIL_BYTES))
            return file.read().decode(errors="replace").splitlines()[-count:]
    except FileNotFoundError:
        return []
