"""Small things several tests need."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any, Iterable

import lab_path  # noqa: F401
from launcher.options import Options, parse


def options(*arguments: str) -> Options:
    return parse([*arguments, "--", "program"])


def roce_frame(
    *,
    source: str = "10.8.0.1",
    destination: str = "10.8.0.2",
    traffic_class: int = 106,
    udp_source_port: int = 50000,
    opcode: int = 0x0A,
    queue_pair: int = 17,
    udp_destination_port: int = 4791,
    vlan: bool = False,
    ip_options: bytes = b"",
) -> bytes:
    transport = struct.pack("!BBHII", opcode, 0x40, 0xFFFF, queue_pair, 7)
    udp = struct.pack("!HHHH", udp_source_port, udp_destination_port, 8 + len(transport), 0)
    header = struct.pack(
        "!BBHHHBBH4s4s",
        0x40 | (5 + len(ip_options) // 4),
        traffic_class,
        20 + len(ip_options) + len(udp) + len(transport),
        1,
        0x4000,
        64,
        17,
        0,
        _ipv4(source),
        _ipv4(destination),
    )
    tag = struct.pack("!HH", 0x8100, 5) if vlan else b""
    return b"\x52\x54" + bytes(10) + tag + b"\x08\x00" + header + ip_options + udp + transport


def roce_frame_ipv6(*, traffic_class: int, queue_pair: int) -> bytes:
    transport = struct.pack("!BBHII", 0x0A, 0x40, 0xFFFF, queue_pair, 7)
    udp = struct.pack("!HHHH", 50000, 4791, 8 + len(transport), 0)
    first = (6 << 28) | (traffic_class << 20)
    address = bytes(15)
    header = struct.pack("!IHBB", first, len(udp) + len(transport), 17, 64)
    return (
        bytes(12) + b"\x86\xdd" + header + address + b"\x01" + address + b"\x02" + udp + transport
    )


def queue_pair(
    peer: str, *, traffic_class: int = 106, udp_source_port: int = 50000
) -> dict[str, Any]:
    """As it appears in the counters of a softverbs run: five work requests, 500 bytes."""
    kinds = {"sends": 1, "writes": 3, "writes_with_immediate": 1, "reads": 0}
    return {
        "number": 17,
        "peer_device": peer,
        "peer_number": 18,
        "udp_source_port": udp_source_port,
        "traffic_class": traffic_class,
        "path": [],
        "counters": {**kinds, "sent_bytes": 500},
    }


def counters(*, traffic_classes: Iterable[int]) -> dict[str, Any]:
    """Two hosts with two rails; a queue pair to the other host for each traffic class."""
    devices = [
        {
            "name": f"host{host}/soft_{rail}",
            "queue_pairs": [
                queue_pair(
                    f"host{3 - host}/soft_{rail}",
                    traffic_class=traffic_class,
                    udp_source_port=50000 + host,
                )
                for traffic_class in traffic_classes
            ],
        }
        for host in (1, 2)
        for rail in (0, 1)
    ]
    return {"run": "run", "devices": devices, "links": []}


def write_file(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def _ipv4(text: str) -> bytes:
    return bytes(int(part) for part in text.split("."))
