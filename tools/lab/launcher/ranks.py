"""What each rank runs, and in which environment. Decides only; starts nothing."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Callable, Mapping

from .options import Options
from .topology import GPU_BUS_BASE

_NCCL_NET = {
    # Named twice: with NCCL_NET another network is an error and not a silent replacement. NCCL 2.28.9 forgets
    # the plugin with the last communicator unless it is counted once more.
    "rocelane": {
        "NCCL_NET_PLUGIN": "rocelane",
        "NCCL_NET": "Rocelane",
        "NCCL_NET_PLUGIN_REF_COUNT": "1",
    },
    "ib": {"NCCL_NET_PLUGIN": "none", "NCCL_NET": "IB"},
    "socket": {"NCCL_NET_PLUGIN": "none", "NCCL_NET": "Socket"},
}


@dataclass(frozen=True)
class Meeting:
    """Where the ranks find each other."""

    address: str
    port: int
    interface: str


@dataclass(frozen=True)
class Rank:
    number: int
    host: int
    local_rank: int
    command: tuple[str, ...]
    environment: Mapping[str, str]

    @property
    def name(self) -> str:
        return f"rank {self.number} (host{self.host}, GPU {self.local_rank})"

    @property
    def folder_name(self) -> str:
        return f"rank{self.number}"

    def script(self) -> str:
        """The rank as a shell script, for guests."""
        lines = [f"export {name}={shlex.quote(value)}" for name, value in self.environment.items()]
        return "\n".join(["#!/bin/bash", *lines, f"exec {shlex.join(self.command)}", ""])


def plan_ranks(
    options: Options,
    program: Path,
    loader_path: str,
    meeting: Meeting,
    run_folder: Path,
    device_environment: Callable[[int], Mapping[str, str]] = lambda host: {},
) -> list[Rank]:
    """run_folder: where the folder of the run, with topology.xml in it, appears to the ranks.
    device_environment: what the devices of a host need to know.
    """
    ranks = []
    for number in range(options.world_size):
        host, local_rank = divmod(number, options.gpus_per_host)
        folder = run_folder / f"rank{number}"
        arguments = list(options.command[1:])
        if number == 0 and program.name == "collperf" and "--json" not in arguments:
            arguments += ["--json", str(folder / "report.json")]
        ranks.append(
            Rank(
                number=number,
                host=host + 1,
                local_rank=local_rank,
                command=(str(program), *arguments),
                environment=_environment(
                    options,
                    number,
                    host + 1,
                    local_rank,
                    loader_path,
                    meeting,
                    run_folder,
                    device_environment(host + 1),
                ),
            )
        )
    return ranks


def _environment(
    options: Options,
    number: int,
    host: int,
    local_rank: int,
    loader_path: str,
    meeting: Meeting,
    run_folder: Path,
    device_environment: Mapping[str, str],
) -> dict[str, str]:
    environment = {
        "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        "LANG": "C.UTF-8",
        "LD_LIBRARY_PATH": loader_path,
        "RANK": str(number),
        "WORLD_SIZE": str(options.world_size),
        "LOCAL_RANK": str(local_rank),
        "LOCAL_WORLD_SIZE": str(options.gpus_per_host),
        "MASTER_ADDR": meeting.address,
        "MASTER_PORT": str(meeting.port),
        "ROCELANE_LAB_GPUS": str(options.gpus_per_host),
        "ROCELANE_LAB_GPU_BUS_BASE": f"{GPU_BUS_BASE:#x}",
        "NCCL_HOSTID": f"host{host}",
        "NCCL_SOCKET_IFNAME": meeting.interface,
        "NCCL_TOPO_FILE": str(run_folder / "topology.xml"),
        "NCCL_DEBUG": "WARN",
        # NCCL opens this file line-buffered, so nothing is lost when a rank is killed.
        "NCCL_DEBUG_FILE": str(run_folder / f"rank{number}" / "nccl.log"),
        # Without it NCCL 2.28.9 jumps through a placeholder when a RoCE device is not an mlx5.
        "NCCL_GIN_TYPE": "2",
        "NCCL_PAT_ENABLE": "0",
        **_NCCL_NET[options.net],
        **device_environment,
    }
    if options.device != "none":
        # Every channel is a few busy threads; on few CPUs many only wait for each other.
        channels = str(max(2, options.rails))
        environment["NCCL_MAX_NCHANNELS"] = channels
        environment["NCCL_MAX_P2P_NCHANNELS"] = channels
    for setting in options.settings:
        if setting.host is None:
            environment[setting.name] = setting.value
    for setting in options.settings:
        if setting.host == host:
            environment[setting.name] = setting.value
    return environment
