"""An Ethernet switch for QEMU's socket network. It need not learn: MAC addresses name their host.

Lossless: a full receiver holds the sender back, as flow control does on the fabrics we stand in
for.
"""

from __future__ import annotations

import argparse
import selectors
import socket
import struct
import time
from pathlib import Path
from typing import Iterator

from .addresses import host_of_mac
from .pcap_file import PcapWriter

_CHUNK_BYTES = 1 << 18
_LENGTH = struct.Struct(">I")


class FrameReader:
    """QEMU's framing: the length in four bytes, then the frame."""

    def __init__(self) -> None:
        self._pending = b""

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Yields whole frames, each still with its length in front."""
        data = self._pending + data
        start = 0
        while start + _LENGTH.size <= len(data):
            end = start + _LENGTH.size + _LENGTH.unpack_from(data, start)[0]
            if end > len(data):
                break
            yield data[start:end]
            start = end
        self._pending = data[start:]


class Switch:
    """Port i belongs to host i + 1."""

    def __init__(self, ports: list[socket.socket], capture: PcapWriter | None) -> None:
        self._ports = ports
        self._readers = [FrameReader() for _ in ports]
        self._open = set(range(len(ports)))
        self._capture = capture

    def run(self) -> None:
        with selectors.DefaultSelector() as selector:
            for index, port in enumerate(self._ports):
                selector.register(port, selectors.EVENT_READ, index)
            while self._open:
                for key, _ in selector.select():
                    if not self._forward_from(key.data):
                        selector.unregister(self._ports[key.data])
                        self._open.discard(key.data)

    def _forward_from(self, source: int) -> bool:
        try:
            data = self._ports[source].recv(_CHUNK_BYTES)
        except ConnectionError:
            return False
        if not data:
            return False
        batches: dict[int, list[bytes]] = {}
        for framed in self._readers[source].feed(data):
            if self._capture is not None:
                self._capture.write(time.time(), framed[_LENGTH.size :])
            for target in self._targets(source, framed[_LENGTH.size : _LENGTH.size + 6]):
                batches.setdefault(target, []).append(framed)
        for target, frames in batches.items():
            try:
                self._ports[target].sendall(b"".join(frames))
            except OSError:
                pass  # that guest is gone; its own port will say so
        return True

    def _targets(self, source: int, destination: bytes) -> list[int]:
        host = host_of_mac(destination)
        if host is not None and 1 <= host <= len(self._ports):
            return [host - 1]
        return [port for port in self._open if port != source]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--capture", type=Path)
    parser.add_argument("descriptors", type=int, nargs="+")
    arguments = parser.parse_args()
    ports = [socket.socket(fileno=descriptor) for descriptor in arguments.descriptors]
    capture = PcapWriter.create(arguments.capture) if arguments.capture else None
    Switch(ports, capture).run()


if __name__ == "__main__":
    main()
