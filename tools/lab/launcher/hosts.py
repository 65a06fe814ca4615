"""Pretend hosts: where the ranks of a run live."""

from __future__ import annotations

import os
import random
import shlex
import socket
import time
from pathlib import Path
from typing import Any, Mapping, Protocol, Sequence

from .addresses import CONTROL_WIRE, MEETING_PORT, ipv4
from .errors import LabError
from .guest import GuestMachine, qemu_command
from .guest_image import ready_image
from .options import Options
from .process_group import ProcessGroup
from .rdma_facts import read_resources, read_statistics
from .ranks import Meeting, Rank
from .run_folder import RUN_RANK, tail
from .topology import topology_xml
from .wires import Wires

_MAX_CPUS_PER_GUEST = 4
_GIVEN_OUT_PORTS = Path("/proc/sys/net/ipv4/ip_local_port_range")
_FIRST_PORT = 10240
_TRIES = 100
_BUSY_THREADS_OF_A_RANK = 2  # its own, and the one in NCCL that drives the network
# Sixteen ranks on two CPUs are quickest with about half a millisecond, 64 with two milliseconds.
_NAP_US_FOR_EACH_THREAD_OF_A_CPU = 30


class Hosts(Protocol):
    def meeting(self) -> Meeting: ...

    def folder_seen_by_ranks(self) -> Path: ...

    def environment_of(self, host: int) -> Mapping[str, str]:
        """What the devices of a host need to know."""

    def start(self, ranks: Sequence[Rank]) -> None: ...

    def running(self) -> bool:
        """Whether every host has started its ranks."""

    def failure(self) -> str | None:
        """A sentence when a host, not a rank, has failed."""

    def settle(self) -> None:
        """After the ranks have ended: waits, briefly, for what the hosts still have to say."""

    def facts(self) -> list[dict[str, Any]]: ...

    def captures(self) -> dict[int, Path]: ...

    def counters(self) -> Any:
        """What software devices have counted; None for others."""

    def close(self) -> None:
        """When nothing runs any more: removes what the hosts have left outside the run's folder."""


class PlainHosts:
    """All ranks are processes of this machine; NCCL is told that they live on different hosts."""

    def __init__(
        self, options: Options, patience: Path, run_folder: Path, processes: ProcessGroup
    ) -> None:
        self._run_folder = run_folder
        self._processes = processes
        self._meeting = Meeting("127.0.0.1", _free_port(), "lo")
        self._patience = patience_environment(options.world_size, os.cpu_count() or 1, patience)
        if self._patience and not patience.is_file():
            raise LabError(f"There is no {patience}; run tools/setup again.")

    def meeting(self) -> Meeting:
        return self._meeting

    def folder_seen_by_ranks(self) -> Path:
        return self._run_folder

    def environment_of(self, host: int) -> Mapping[str, str]:
        return self._patience

    def start(self, ranks: Sequence[Rank]) -> None:
        for rank in ranks:
            self._processes.start([str(RUN_RANK), str(self._run_folder / rank.folder_name)])

    def running(self) -> bool:
        return True

    def failure(self) -> str | None:
        return None

    def settle(self) -> None:
        pass

    def facts(self) -> list[dict[str, Any]]:
        return []

    def captures(self) -> dict[int, Path]:
        return {}

    def counters(self) -> Any:
        return None

    def close(self) -> None:
        pass


class GuestHosts:
    """Every host is a virtual machine with soft-RoCE devices rxe1, rxe2, … on wires each."""

    def __init__(
        self, options: Options, run_folder: Path, processes: ProcessGroup, *, capture: bool
    ) -> None:
        self._options = options
        self._run_folder = run_folder
        self._processes = processes
        self._image = ready_image()
        self._cpus = options.cpus_per_host or cpus_per_guest(os.cpu_count() or 1, options.hosts)
        self._wires = Wires(options.hosts, options.rails, run_folder if capture else None)
        self._machines = [
            GuestMachine(host, self._cpus, options.memory_mib, run_folder)
            for host in range(1, options.hosts + 1)
        ]
        self._virtual_machines: dict[int, Any] = {}

    def meeting(self) -> Meeting:
        return Meeting(ipv4(1, CONTROL_WIRE), MEETING_PORT, "eth0")

    def folder_seen_by_ranks(self) -> Path:
        return Path("/run/lab")

    def environment_of(self, host: int) -> Mapping[str, str]:
        return {}

    def start(self, ranks: Sequence[Rank]) -> None:
        options = self._options
        (self._run_folder / "topology.xml").write_text(
            topology_xml(options.gpus_per_host, rail_names(options.rails), self._cpus)
        )
        self._wires.start_switches(self._processes)
        for machine in self._machines:
            machine.folder.mkdir()
            mine = [rank for rank in ranks if rank.host == machine.host]
            (machine.folder / "guest.conf").write_text(guest_conf(options, mine))
            ports = self._wires.ports_of(machine.host)
            with open(machine.folder / "qemu.log", "wb") as log:
                self._virtual_machines[machine.host] = self._processes.start(
                    qemu_command(machine, self._image, ports),
                    output=log,
                    errors=log,
                    keep_descriptors=[p.descriptor for p in ports if p.descriptor is not None],
                )
        self._wires.close()

    def running(self) -> bool:
        return all(self._phase(machine) in ("running", "ended") for machine in self._machines)

    def failure(self) -> str | None:
        for machine in self._machines:
            failed = machine.folder / "failed"
            if failed.is_file():
                return f"host{machine.host} could not be set up: {failed.read_text().strip()}"
            status = self._virtual_machines[machine.host].poll()
            if status is not None:
                said = tail(machine.folder / "qemu.log", 3) or tail(
                    machine.folder / "console.log", 5
                )
                return (
                    f"The virtual machine of host{machine.host} ended with {status}: "
                    + " | ".join(said)
                )
        return None

    def settle(self) -> None:
        give_up = time.monotonic() + 3
        while time.monotonic() < give_up:
            if all(self._phase(machine) == "ended" for machine in self._machines):
                return
            time.sleep(0.02)

    def facts(self) -> list[dict[str, Any]]:
        return [host_facts(machine.host, machine.folder) for machine in self._machines]

    def captures(self) -> dict[int, Path]:
        return self._wires.captures()

    def counters(self) -> Any:
        return None

    def close(self) -> None:
        pass

    def _phase(self, machine: GuestMachine) -> str:
        try:
            return (machine.folder / "phase").read_text().strip()
        except FileNotFoundError:
            return "booting"


def patience_environment(ranks: int, cpus: int, library: Path) -> dict[str, str]:
    """Ranks that wait sleep in between, the longer the more of them share a CPU."""
    threads = _BUSY_THREADS_OF_A_RANK * ranks
    if threads <= cpus:
        return {}
    nap_us = _NAP_US_FOR_EACH_THREAD_OF_A_CPU * threads // cpus
    return {"LD_PRELOAD": str(library), "ROCELANE_LAB_NAP_US": str(nap_us)}


def rail_names(rails: int) -> list[str]:
    return [f"rxe{rail}" for rail in range(1, rails + 1)]


def cpus_per_guest(cpus: int, hosts: int) -> int:
    """An emulated CPU takes a whole real one; more than those would wait for each other."""
    return max(1, min(_MAX_CPUS_PER_GUEST, cpus // hosts))


def guest_conf(options: Options, ranks: Sequence[Rank]) -> str:
    """Shell assignments for soft_roce/guest_main."""
    values = {
        "HOSTS": str(options.hosts),
        "RAILS": str(options.rails),
        "MTU": str(options.mtu),
        "HOOK": str(options.guest_hook.resolve()) if options.guest_hook else "",
        "RANKS": " ".join(str(rank.number) for rank in ranks),
        "RUN_RANK": str(RUN_RANK),
    }
    return "".join(f"{name}={shlex.quote(value)}\n" for name, value in values.items())


def host_facts(host: int, folder: Path) -> dict[str, Any]:
    """Counters of the soft-RoCE devices, and the verbs objects that outlived the ranks."""
    return {
        "host": host,
        "rdma_resources_after": read_resources(folder / "rdma_resources.json"),
        "rdma_statistics": read_statistics(folder / "rdma_statistics.txt"),
    }


def _free_port() -> int:
    """One that no connection gets by itself: the ranks need it only seconds from now."""
    first_given_out = int(_GIVEN_OUT_PORTS.read_text().split()[0])
    ports = range(_FIRST_PORT, max(first_given_out, _FIRST_PORT + 1))
    for _ in range(_TRIES):
        port = random.choice(ports)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
                return port
            except OSError:
                continue
    raise LabError(f"No TCP port from {ports[0]} to {ports[-1]} is free on this machine.")
