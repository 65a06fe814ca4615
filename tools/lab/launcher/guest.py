"""A guest: the virtual machine that plays one host."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Sequence

from .addresses import mac
from .guest_image import GuestImage
from .pcap_file import SNAP_BYTES
from .wires import Port

GUEST_MAIN = Path(__file__).resolve().parents[1] / "soft_roce" / "guest_main"


@dataclass(frozen=True)
class GuestMachine:
    host: int
    cpus: int
    memory_mib: int
    run_folder: Path

    @property
    def folder(self) -> Path:
        return self.run_folder / f"host{self.host}"


def qemu_command(machine: GuestMachine, image: GuestImage, ports: Sequence[Port]) -> list[str]:
    """Emulated CPUs: KVM may be there and not run a stock kernel. No privileges, no terminal."""
    kernel_arguments = (
        "console=ttyS0 quiet panic=-1 mitigations=off nokaslr no_timer_check tsc=reliable "
        f"rocelane.host={machine.host} rocelane.main={GUEST_MAIN}"
    )
    command = ["qemu-system-x86_64", "-nodefaults", "-no-user-config", "-no-reboot"]
    command += ["-M", "q35", "-accel", "tcg,thread=multi", "-cpu", "max"]
    command += ["-smp", str(machine.cpus), "-m", f"{machine.memory_mib}M"]
    command += ["-display", "none", "-monitor", "none", "-vga", "none"]
    command += ["-serial", f"file:{machine.folder / 'console.log'}"]
    command += ["-kernel", str(image.kernel), "-initrd", str(image.initrd)]
    command += ["-append", kernel_arguments]
    command += _shared_folder("root", Path("/"), "readonly=on,multidevs=remap")
    command += _shared_folder("run", machine.run_folder, "multidevs=remap")
    for port in ports:
        command += _network_card(machine.host, port)
    return command


def _shared_folder(tag: str, path: Path, flags: str) -> list[str]:
    return [
        "-fsdev",
        f"local,id={tag},path={path},security_model=none,{flags}",
        "-device",
        f"virtio-9p-pci,fsdev={tag},mount_tag={tag}",
    ]


def _network_card(host: int, port: Port) -> list[str]:
    name = f"wire{port.wire}"
    if port.descriptor is not None:
        backend = f"socket,id={name},fd={port.descriptor}"
    else:
        backend = f"hubport,id={name},hubid={port.wire}"
    arguments = [
        "-netdev",
        backend,
        "-device",
        f"virtio-net-pci,romfile=,netdev={name},mac={mac(host, port.wire)}",
    ]
    if port.capture_file is not None:
        arguments += [
            "-object",
            f"filter-dump,id=dump{port.wire},netdev={name},file={port.capture_file},"
            f"maxlen={SNAP_BYTES}",
        ]
    return arguments
