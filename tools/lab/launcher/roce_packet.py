"""One RoCEv2 packet, decoded from the start of an Ethernet frame."""

from __future__ import annotations

import struct
from typing import NamedTuple

ROCE_PORT = 4791

_ETHERTYPE_IPV4 = 0x0800
_ETHERTYPE_IPV6 = 0x86DD
_ETHERTYPE_VLAN = 0x8100
_PROTOCOL_UDP = 17
_UDP_BYTES = 8
_BTH_BYTES = 12
_OPCODE_CNP = 0x81

# The lower five bits of the opcode; the upper three name the transport service.
_OPERATIONS = {
    **{code: "send" for code in (0x00, 0x01, 0x02, 0x03, 0x04, 0x05, 0x16, 0x17)},
    **{code: "write" for code in (0x06, 0x07, 0x08, 0x09, 0x0A, 0x0B)},
    0x0C: "read_request",
    **{code: "read_response" for code in (0x0D, 0x0E, 0x0F, 0x10)},
    0x11: "acknowledge",
    **{code: "atomic" for code in (0x12, 0x13, 0x14)},
}


class RocePacket(NamedTuple):
    source: bytes
    destination: bytes
    traffic_class: int
    udp_source_port: int
    opcode: int
    destination_qp: int

    @property
    def operation(self) -> str:
        if self.opcode == _OPCODE_CNP:
            return "congestion_notification"
        return _OPERATIONS.get(self.opcode & 0x1F, "other")


def decode(frame: bytes) -> RocePacket | None:
    """None for everything that is not RoCEv2, or too short to tell."""
    try:
        (ethertype,) = struct.unpack_from("!H", frame, 12)
        start = 14
        if ethertype == _ETHERTYPE_VLAN:
            (ethertype,) = struct.unpack_from("!H", frame, 16)
            start = 18
        if ethertype == _ETHERTYPE_IPV4:
            return _decode_ipv4(frame, start)
        if ethertype == _ETHERTYPE_IPV6:
            return _decode_ipv6(frame, start)
    except (struct.error, IndexError):
        pass
    return None


def _decode_ipv4(frame: bytes, start: int) -> RocePacket | None:
    if frame[start + 9] != _PROTOCOL_UDP:
        return None
    addresses = frame[start + 12 : start + 16], frame[start + 16 : start + 20]
    return _decode_udp(frame, start + 4 * (frame[start] & 0x0F), frame[start + 1], addresses)


def _decode_ipv6(frame: bytes, start: int) -> RocePacket | None:
    if frame[start + 6] != _PROTOCOL_UDP:
        return None
    (first,) = struct.unpack_from("!I", frame, start)
    addresses = frame[start + 8 : start + 24], frame[start + 24 : start + 40]
    return _decode_udp(frame, start + 40, (first >> 20) & 0xFF, addresses)


def _decode_udp(
    frame: bytes, start: int, traffic_class: int, addresses: tuple[bytes, bytes]
) -> RocePacket | None:
    source_port, destination_port = struct.unpack_from("!HH", frame, start)
    transport = start + _UDP_BYTES
    if destination_port != ROCE_PORT or len(frame) < transport + _BTH_BYTES:
        return None
    opcode = frame[transport]
    destination_qp = int.from_bytes(frame[transport + 5 : transport + 8], "big")
    return RocePacket(*addresses, traffic_class, source_port, opcode, destination_qp)
