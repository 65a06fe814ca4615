"""Processes that end with the launcher, whatever happens to it."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path
from typing import IO, Iterable, Mapping, Sequence


class ProcessGroup:
    """Owns every process it starts, each with its children in a session of its own.

    A session of its own: Ctrl-C in the terminal reaches the launcher only, which then ends them.
    """

    def __init__(self) -> None:
        self._processes: list[subprocess.Popen[bytes]] = []

    def start(
        self,
        command: Sequence[str],
        *,
        environment: Mapping[str, str] | None = None,
        folder: Path | None = None,
        output: IO[bytes] | int = subprocess.DEVNULL,
        errors: IO[bytes] | int = subprocess.DEVNULL,
        keep_descriptors: Iterable[int] = (),
    ) -> subprocess.Popen[bytes]:
        # setpriv: the kernel kills the process should the launcher itself be killed.
        process = subprocess.Popen(
            ["setpriv", "--pdeathsig", "KILL", "--", *command],
            env=dict(environment) if environment is not None else None,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=errors,
            pass_fds=tuple(keep_descriptors),
            start_new_session=True,
        )
        self._processes.append(process)
        return process

    def kill_all(self) -> None:
        for process in self._processes:
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        for process in self._processes:
            process.wait()
        self._processes.clear()
