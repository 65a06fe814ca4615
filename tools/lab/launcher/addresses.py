"""Numbers every part of the lab agrees on: MAC and IP addresses of the guests."""

from __future__ import annotations

CONTROL_WIRE = 0
MEETING_PORT = 29500


def mac(host: int, wire: int) -> str:
    return f"52:54:00:00:{host:02x}:{wire:02x}"


def host_of_mac(address: bytes) -> int | None:
    """None for a group address or a stranger."""
    return address[4] if address[:4] == b"\x52\x54\x00\x00" else None


def ipv4(host: int, wire: int) -> str:
    return f"10.{7 + wire}.0.{host}"
