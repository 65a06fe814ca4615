"""Kernel and initrd of the guests: Debian's stock kernel, unpacked without root and cached."""

from __future__ import annotations

import fcntl
import hashlib
import lzma
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from .build_tree import REPOSITORY
from .errors import LabError

CACHE_FOLDER = REPOSITORY / "build" / "soft_roce"
_MAKE_IMAGE = REPOSITORY / "tools" / "lab" / "soft_roce" / "make_image"
_INPUTS = ("make_image", "init", "modules")
_XZ_MAGIC = b"\xfd7zXZ\0"
_ELF_MAGIC = b"\x7fELF"


@dataclass(frozen=True)
class GuestImage:
    kernel: Path
    initrd: Path


def ready_image(cache_folder: Path = CACHE_FOLDER) -> GuestImage:
    """The cached image; made first where it is missing or older than what it is made from."""
    cache_folder.mkdir(parents=True, exist_ok=True)
    image = GuestImage(cache_folder / "image" / "kernel", cache_folder / "image" / "initrd")
    with open(cache_folder / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # two labs may start at once
        stamp = cache_folder / "image" / "made_from"
        wanted = digest_of_inputs(_MAKE_IMAGE.parent)
        if not stamp.is_file() or stamp.read_text() != wanted:
            _make(cache_folder, stamp, wanted)
    return image


def digest_of_inputs(folder: Path) -> str:
    digest = hashlib.sha256()
    for name in _INPUTS:
        digest.update(name.encode() + b"\0" + (folder / name).read_bytes() + b"\0")
    return digest.hexdigest()


def _make(cache_folder: Path, stamp: Path, wanted: str) -> None:
    print("lab: making the guest image (70 MB to download the first time)", file=sys.stderr)
    fresh = cache_folder / "image.new"
    shutil.rmtree(fresh, ignore_errors=True)
    made = subprocess.run(
        [str(_MAKE_IMAGE), str(cache_folder), str(fresh)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if made.returncode != 0:
        raise LabError(f"The guest image could not be made:\n{made.stdout.strip()}")
    (fresh / "kernel").write_bytes(unpack_kernel((fresh / "vmlinuz").read_bytes()))
    (fresh / stamp.name).write_text(wanted)
    shutil.rmtree(stamp.parent, ignore_errors=True)
    os.rename(fresh, stamp.parent)


def unpack_kernel(boot_image: bytes) -> bytes:
    """The ELF kernel inside Debian's boot image.

    QEMU starts it directly, which saves the emulated CPU seconds of unpacking. An image packed in
    another way is returned as it is; it boots too, later.
    """
    start = boot_image.find(_XZ_MAGIC)
    while start >= 0:
        try:
            kernel = lzma.LZMADecompressor().decompress(boot_image[start:])
        except lzma.LZMAError:
            kernel = b""
        if kernel.startswith(_ELF_MAGIC):
            return kernel
        start = boot_image.find(_XZ_MAGIC, start + 1)
    return boot_image


def main() -> int:
    try:
        ready_image()
    except LabError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
