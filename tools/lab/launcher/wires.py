"""The Ethernet between the guests: one wire per rail and one for control.

A wire is a pair of connected sockets handed to the virtual machines as descriptors. There are no
ports and no paths: labs cannot disturb each other, and nothing outside can reach into one.
"""

from __future__ import annotations

import socket
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Sequence

from .process_group import ProcessGroup


@dataclass(frozen=True)
class Port:
    """Where a guest is plugged in. descriptor: its end of the wire; None: no other host exists."""

    wire: int
    descriptor: int | None
    capture_file: Path | None


class Wires:
    """Wire 0 is the control network, wires 1 to `rails` are the rails.

    Two hosts are joined directly, more through a switch, which is a process of ours. A rail is
    captured where it is one thing: at the port of host 1, or in the switch.
    """

    def __init__(self, hosts: int, rails: int, capture_folder: Path | None) -> None:
        self._hosts = hosts
        self._captures = {
            wire: capture_folder / f"rail{wire}.pcap" if capture_folder and wire > 0 else None
            for wire in range(rails + 1)
        }
        self._guest_ends: dict[tuple[int, int], socket.socket] = {}
        self._switch_ends: dict[int, list[socket.socket]] = {}
        for wire in range(rails + 1):
            self._string(wire)

    def _string(self, wire: int) -> None:
        if self._hosts == 2:
            first, second = socket.socketpair()
            self._guest_ends[1, wire], self._guest_ends[2, wire] = first, second
        elif self._hosts > 2:
            self._switch_ends[wire] = []
            for host in range(1, self._hosts + 1):
                self._guest_ends[host, wire], switch_end = socket.socketpair()
                self._switch_ends[wire].append(switch_end)

    def start_switches(self, processes: ProcessGroup) -> None:
        for wire, ends in self._switch_ends.items():
            descriptors = [end.fileno() for end in ends]
            processes.start(
                switch_command(descriptors, self._captures[wire]),
                folder=Path(__file__).resolve().parents[1],
                keep_descriptors=descriptors,
            )

    def ports_of(self, host: int) -> list[Port]:
        ports = []
        for wire, capture in self._captures.items():
            end = self._guest_ends.get((host, wire))
            here = capture if host == 1 and self._hosts <= 2 else None
            ports.append(Port(wire, end.fileno() if end else None, here))
        return ports

    def close(self) -> None:
        """Our copies of the ends. The guests and the switches keep theirs."""
        for end in self._guest_ends.values():
            end.close()
        for ends in self._switch_ends.values():
            for end in ends:
                end.close()

    def captures(self) -> dict[int, Path]:
        return {wire: path for wire, path in self._captures.items() if path is not None}


def switch_command(descriptors: Sequence[int], capture: Path | None) -> list[str]:
    command = [sys.executable, "-m", "launcher.switch"]
    if capture is not None:
        command += ["--capture", str(capture)]
    return [*command, *(str(descriptor) for descriptor in descriptors)]
