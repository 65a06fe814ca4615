"""Where the things are that a rank needs: the program, our libraries, NCCL."""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from .errors import LabError

REPOSITORY = Path(__file__).resolve().parents[3]


@dataclass(frozen=True)
class BuildTree:
    folder: Path
    nccl_library: Path

    @staticmethod
    def open(folder: Path | None) -> BuildTree:
        chosen = (folder or REPOSITORY / "build" / "release").resolve()
        cache = chosen / "CMakeCache.txt"
        if not cache.is_file():
            raise LabError(
                f"{chosen} is not a build folder; run tools/setup first, or name one with --build."
            )
        match = re.search(r"^NCCL_LIBRARY:FILEPATH=(.+)$", cache.read_text(), re.MULTILINE)
        if match is None or not Path(match.group(1)).is_file():
            raise LabError(f"The build in {chosen} knows no NCCL library; run tools/setup again.")
        return BuildTree(chosen, Path(match.group(1)))

    @property
    def software_device(self) -> Path:
        """The library that stands in for libibverbs, under that library's name."""
        return self.folder / "lab" / "softverbs" / "libibverbs.so.1"

    @property
    def patience(self) -> Path:
        """The library that lets waiting ranks sleep where there are more of them than CPUs."""
        return self.folder / "lab" / "lib" / "libpatience.so"

    def loader_path(self, *, software_device: bool) -> str:
        """Where real devices are to be used, the folder of the stand-in must not be seen."""
        folders = [self.folder / "lib", self.nccl_library.parent]
        if software_device:
            folders.insert(0, self.software_device.parent)
        return ":".join(str(folder) for folder in folders)

    def program(self, name: str) -> Path:
        """A path stands for itself; a bare name is one of our tools, else a program in PATH."""
        if "/" in name:
            given = Path(name).absolute()
            if given.is_file():
                return given
            raise LabError(f"There is no program {given}.")
        tools = self.folder / "tools"
        places = [tools / name / name, tools / "lab" / name / name]
        for ours in places:
            if ours.is_file():
                return ours
        in_path = shutil.which(name)
        if in_path is not None:
            return Path(in_path)
        looked = " and ".join(str(ours) for ours in places)
        raise LabError(f"There is no program {name}: looked for {looked}, then in PATH.")
