"""The classic pcap format, frames cut short: headers are all the lab looks at."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import BinaryIO, Iterator, NamedTuple

SNAP_BYTES = 128
_MAGIC_MICROSECONDS = 0xA1B2C3D4
_LINK_ETHERNET = 1
_FILE_HEADER = struct.Struct("<IHHiIII")
_FRAME_HEADER = struct.Struct("<IIII")


class CapturedFrame(NamedTuple):
    kept: bytes
    wire_bytes: int


class PcapWriter:
    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        file.write(_FILE_HEADER.pack(_MAGIC_MICROSECONDS, 2, 4, 0, 0, SNAP_BYTES, _LINK_ETHERNET))

    @staticmethod
    def create(path: Path) -> PcapWriter:
        # Unbuffered: the switch is killed, not asked, at the end of a run.
        return PcapWriter(open(path, "wb", buffering=0))

    def write(self, time_s: float, frame: bytes) -> None:
        kept = frame[:SNAP_BYTES]
        seconds = int(time_s)
        microseconds = int((time_s - seconds) * 1e6)
        self._file.write(_FRAME_HEADER.pack(seconds, microseconds, len(kept), len(frame)) + kept)


def read_pcap(path: Path) -> Iterator[CapturedFrame]:
    """Ends quietly at a frame that was being written when its writer was killed."""
    with open(path, "rb") as file:
        header = file.read(_FILE_HEADER.size)
        if len(header) < _FILE_HEADER.size:
            return
        magic, _, _, _, _, _, link = _FILE_HEADER.unpack(header)
        if magic != _MAGIC_MICROSECONDS or link != _LINK_ETHERNET:
            raise ValueError(f"{path} is not a little-endian Ethernet pcap file")
        while len(header := file.read(_FRAME_HEADER.size)) == _FRAME_HEADER.size:
            _, _, kept_bytes, wire_bytes = _FRAME_HEADER.unpack(header)
            kept = file.read(kept_bytes)
            if len(kept) < kept_bytes:
                return
            yield CapturedFrame(kept, wire_bytes)
