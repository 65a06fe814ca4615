"""What each rail of a softverbs run carried, from the run's counters.

Of the same form as the summary of a capture, which sees packets; these are work requests.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

_OPERATIONS = {
    "sends": "send",
    "writes": "write",
    "writes_with_immediate": "write with immediate",
    "reads": "read",
}


@dataclass
class _ClassTraffic:
    work_requests: int = 0
    bytes: int = 0
    operations: Counter[str] = field(default_factory=Counter)
    udp_source_ports: set[int] = field(default_factory=set)
    directions: dict[tuple[str, str], Counter[str]] = field(default_factory=dict)

    def add(self, device: str, queue_pair: Any) -> None:
        counters = queue_pair["counters"]
        requests = sum(counters[name] for name in _OPERATIONS)
        for name, operation in _OPERATIONS.items():
            if counters[name] > 0:
                self.operations[operation] += counters[name]
        self.work_requests += requests
        self.bytes += counters["sent_bytes"]
        self.udp_source_ports.add(queue_pair["udp_source_port"])
        direction = self.directions.setdefault((device, queue_pair["peer_device"]), Counter())
        direction.update(work_requests=requests, bytes=counters["sent_bytes"])

    def as_json(self, traffic_class: int) -> dict[str, Any]:
        return {
            "traffic_class": traffic_class,
            "dscp": traffic_class >> 2,
            "ecn": traffic_class & 3,
            "work_requests": self.work_requests,
            "bytes": self.bytes,
            "operations": dict(self.operations),
            "udp_source_ports": sorted(self.udp_source_ports),
            "directions": [
                {"from": source, "to": destination, **count}
                for (source, destination), count in sorted(self.directions.items())
            ],
        }


def rails_of(counters: Any) -> list[dict[str, Any]]:
    """A rail: the devices of that name on all hosts. Idle queue pairs do not count."""
    rails: dict[str, dict[int, _ClassTraffic]] = {}
    for device in counters["devices"]:
        classes = rails.setdefault(device["name"].split("/")[-1], {})
        for queue_pair in device["queue_pairs"]:
            if any(queue_pair["counters"][name] for name in _OPERATIONS):
                traffic = classes.setdefault(queue_pair["traffic_class"], _ClassTraffic())
                traffic.add(device["name"], queue_pair)
    return [_rail_as_json(name, classes) for name, classes in sorted(rails.items())]


def _rail_as_json(name: str, classes: dict[int, _ClassTraffic]) -> dict[str, Any]:
    return {
        "rail": name,
        "work_requests": sum(traffic.work_requests for traffic in classes.values()),
        "bytes": sum(traffic.bytes for traffic in classes.values()),
        "traffic_classes": [traffic.as_json(value) for value, traffic in sorted(classes.items())],
    }
