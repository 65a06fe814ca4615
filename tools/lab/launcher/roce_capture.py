"""What a rail carried: RoCEv2 packets by direction, traffic class, operation and queue pair."""

from __future__ import annotations

import argparse
import ipaddress
import json
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Iterable

from .pcap_file import CapturedFrame, read_pcap
from .roce_packet import RocePacket, decode


@dataclass
class Count:
    packets: int = 0
    bytes: int = 0

    def add(self, wire_bytes: int) -> None:
        self.packets += 1
        self.bytes += wire_bytes

    def as_json(self) -> dict[str, int]:
        return {"packets": self.packets, "bytes": self.bytes}


@dataclass
class Flow:
    """All packets to one queue pair: in RoCEv2 the sender's number is not in the packet."""

    count: Count = field(default_factory=Count)
    traffic_classes: Counter[int] = field(default_factory=Counter)
    operations: Counter[str] = field(default_factory=Counter)
    udp_source_ports: set[int] = field(default_factory=set)


@dataclass
class ClassTraffic:
    count: Count = field(default_factory=Count)
    directions: dict[tuple[bytes, bytes], Count] = field(default_factory=dict)
    operations: Counter[str] = field(default_factory=Counter)
    udp_source_ports: set[int] = field(default_factory=set)


@dataclass
class RailTraffic:
    count: Count = field(default_factory=Count)
    directions: dict[tuple[bytes, bytes], Count] = field(default_factory=dict)
    classes: dict[int, ClassTraffic] = field(default_factory=dict)
    operations: Counter[str] = field(default_factory=Counter)
    udp_source_ports: set[int] = field(default_factory=set)
    flows: dict[tuple[bytes, int], Flow] = field(default_factory=dict)
    other_frames: int = 0

    def add(self, packet: RocePacket, wire_bytes: int) -> None:
        direction = packet.source, packet.destination
        operation = packet.operation
        self.count.add(wire_bytes)
        self.directions.setdefault(direction, Count()).add(wire_bytes)
        self.operations[operation] += 1
        self.udp_source_ports.add(packet.udp_source_port)

        traffic = self.classes.setdefault(packet.traffic_class, ClassTraffic())
        traffic.count.add(wire_bytes)
        traffic.directions.setdefault(direction, Count()).add(wire_bytes)
        traffic.operations[operation] += 1
        traffic.udp_source_ports.add(packet.udp_source_port)

        flow = self.flows.setdefault((packet.destination, packet.destination_qp), Flow())
        flow.count.add(wire_bytes)
        flow.traffic_classes[packet.traffic_class] += 1
        flow.operations[operation] += 1
        flow.udp_source_ports.add(packet.udp_source_port)

    def as_json(self) -> dict[str, Any]:
        return {
            **self.count.as_json(),
            "other_frames": self.other_frames,
            "directions": _directions_as_json(self.directions),
            "operations": dict(self.operations),
            "udp_source_ports": sorted(self.udp_source_ports),
            "traffic_classes": [
                {
                    "traffic_class": value,
                    "dscp": value >> 2,
                    "ecn": value & 3,
                    **traffic.count.as_json(),
                    "operations": dict(traffic.operations),
                    "udp_source_ports": sorted(traffic.udp_source_ports),
                    "directions": _directions_as_json(traffic.directions),
                }
                for value, traffic in sorted(self.classes.items())
            ],
            "queue_pairs": [
                {
                    "to": _address(destination),
                    "queue_pair": number,
                    **flow.count.as_json(),
                    "traffic_classes": sorted(flow.traffic_classes),
                    "operations": dict(flow.operations),
                    "udp_source_ports": sorted(flow.udp_source_ports),
                }
                for (destination, number), flow in sorted(self.flows.items())
            ],
        }


def summarize(frames: Iterable[CapturedFrame]) -> RailTraffic:
    traffic = RailTraffic()
    for frame in frames:
        packet = decode(frame.kept)
        if packet is None:
            traffic.other_frames += 1
        else:
            traffic.add(packet, frame.wire_bytes)
    return traffic


def read_capture(path: Path) -> RailTraffic:
    """A rail whose capture was never begun carried nothing."""
    return summarize(read_pcap(path)) if path.is_file() else RailTraffic()


def _directions_as_json(directions: dict[tuple[bytes, bytes], Count]) -> list[dict[str, Any]]:
    return [
        {"from": _address(source), "to": _address(destination), **count.as_json()}
        for (source, destination), count in sorted(directions.items())
    ]


def _address(raw: bytes) -> str:
    return str(ipaddress.ip_address(raw))


def main() -> None:
    parser = argparse.ArgumentParser(description="Says what RoCEv2 traffic a pcap file holds.")
    parser.add_argument("file", type=Path)
    json.dump(read_capture(parser.parse_args().file).as_json(), sys.stdout, indent=2)
    print()


if __name__ == "__main__":
    main()
