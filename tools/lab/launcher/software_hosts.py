"""Hosts whose RDMA devices are software: a library stands in for libibverbs in every rank."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, Mapping, Sequence

from .build_tree import BuildTree
from .errors import LabError
from .fabric_file import complete_text
from .hosts import PlainHosts
from .options import Options
from .process_group import ProcessGroup
from .ranks import Rank
from .topology import topology_xml

_SHARED_MEMORY = Path("/dev/shm")
_CHECK_TIMEOUT_S = 30
# Exits with 1 when there are no devices; the library has then said why.
_ASK_FOR_DEVICES = """
import ctypes, sys
library = ctypes.CDLL(sys.argv[1])
library.ibv_get_device_list.restype = ctypes.c_void_p
sys.exit(0 if library.ibv_get_device_list(ctypes.byref(ctypes.c_int())) else 1)
"""


class SoftwareHosts(PlainHosts):
    """Processes of this machine; those of one host see the same devices, soft_0, soft_1, …"""

    def __init__(
        self, options: Options, tree: BuildTree, run_folder: Path, processes: ProcessGroup
    ) -> None:
        super().__init__(options, tree.patience, run_folder, processes)
        self._options = options
        self._library = tree.software_device
        self._run = run_folder.name
        self._fabric_file = run_folder / "fabric.toml"
        self._counters_file = run_folder / "counters.json"
        if not self._library.is_file():
            raise LabError(f"There is no {self._library}; run tools/setup, or use --device rxe.")
        self._write_files(run_folder)
        self._check_files()

    def environment_of(self, host: int) -> Mapping[str, str]:
        environment = {
            **super().environment_of(host),
            "ROCELANE_LAB_RUN": self._run,
            "ROCELANE_LAB_HOST": str(host),
            "ROCELANE_LAB_FABRIC": str(self._fabric_file),
            "ROCELANE_LAB_COUNTERS": str(self._counters_file),
        }
        preloaded = [str(self._library), environment.get("LD_PRELOAD", "")]
        environment["LD_PRELOAD"] = ":".join(filter(None, preloaded))
        if self._options.faults_file is not None:
            environment["ROCELANE_LAB_FAULTS"] = str(self._options.faults_file.resolve())
        return environment

    def counters(self) -> Any:
        """None when the last process could not write them, because it was killed."""
        try:
            return json.loads(self._counters_file.read_text())
        except (FileNotFoundError, ValueError):
            return None

    def close(self) -> None:
        shutil.rmtree(state_folder(self._run), ignore_errors=True)

    def _write_files(self, run_folder: Path) -> None:
        options = self._options
        given = options.fabric.path.read_text() if options.fabric is not None else ""
        self._fabric_file.write_text(complete_text(given, options.hosts, options.rails))
        prefix = options.fabric.device_prefix if options.fabric is not None else "soft_"
        names = [f"{prefix}{rail}" for rail in range(options.rails)]
        (run_folder / "topology.xml").write_text(
            topology_xml(options.gpus_per_host, names, os.cpu_count() or 1)
        )

    def _check_files(self) -> None:
        """The device itself is asked, once, before every rank would say the same."""
        environment = {
            **os.environ,
            **self.environment_of(1),
            "ROCELANE_LAB_RUN": f"{self._run}-check",
            "ROCELANE_LAB_COUNTERS": "",
        }
        del environment["LD_PRELOAD"]
        try:
            asked = subprocess.run(
                [sys.executable, "-c", _ASK_FOR_DEVICES, str(self._library)],
                env=environment,
                capture_output=True,
                text=True,
                timeout=_CHECK_TIMEOUT_S,
            )
        except subprocess.TimeoutExpired:
            raise LabError(f"{self._library} gave no devices in {_CHECK_TIMEOUT_S} s.") from None
        if asked.returncode != 0:
            said = asked.stderr.strip().splitlines()
            raise LabError(self._in_the_users_words(said[-1] if said else "it gave no reason"))

    def _in_the_users_words(self, sentence: str) -> str:
        """Names the user's file, not our copy."""
        if self._options.fabric is None:
            return sentence
        return sentence.replace(str(self._fabric_file), str(self._options.fabric.path))


def state_folder(run: str) -> Path:
    """What the processes of a run share. They remove it, unless they are killed."""
    return _SHARED_MEMORY / f"rocelane-softverbs.{os.geteuid()}.{run}"
