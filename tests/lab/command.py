"""Runs tools/lab/run as a user would, and looks at what it leaves behind."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import unittest
from pathlib import Path
from typing import Any

from lab_path import REPOSITORY, RUN

BUILD_FOLDER = os.environ.get("ROCELANE_BUILD_FOLDER", str(REPOSITORY / "build" / "release"))


class LabCommandTest(unittest.TestCase):
    """Every run gets a temporary folder of its own, which must be empty again at the end."""

    options: tuple[str, ...] = ()  # of every run

    def setUp(self) -> None:
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = Path(temporary.name)
        self.scratch = self.folder / "scratch"
        self.scratch.mkdir()

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [str(RUN), "--build", BUILD_FOLDER, *self.options, *arguments],
            env={**os.environ, "TMPDIR": str(self.scratch)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def finish(
        self, process: subprocess.Popen[str], timeout_s: float
    ) -> subprocess.CompletedProcess[str]:
        try:
            out, errors = process.communicate(timeout=timeout_s)
        except subprocess.TimeoutExpired:
            process.kill()
            out, errors = process.communicate()
            self.fail(f"the launcher did not end within {timeout_s} s: {errors}")
        self.assertEqual(list(self.scratch.iterdir()), [], "the launcher left files behind")
        self.assertEqual(self.processes_left(), [], "the launcher left processes behind")
        return subprocess.CompletedProcess(process.args, process.returncode, out, errors)

    def run_lab(self, *arguments: str, timeout_s: float = 100) -> subprocess.CompletedProcess[str]:
        return self.finish(self.start(*arguments), timeout_s)

    def run_for_json(self, *arguments: str) -> Any:
        path = self.folder / "result.json"
        self.run_lab("--json", str(path), *arguments)
        return json.loads(path.read_text())

    def processes_left(self) -> list[str]:
        """Command lines of processes that still know this test's scratch folder."""
        left = []
        for entry in Path("/proc").iterdir():
            try:
                command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()
            except (OSError, UnicodeDecodeError):
                continue
            if str(self.scratch) in command:
                left.append(command)
        return left
