"""The topology file NCCL reads: pretend GPUs and NICs have no place on a PCI bus but this."""

from __future__ import annotations

from typing import Sequence

GPU_BUS_BASE = 0x10
NIC_BUS_BASE = 0x40
_SWITCH_BUS_BASE = 0x02

_SWITCH = (
    'class="0x060400" vendor="0x1000" device="0xc030" '
    'subsystem_vendor="0x1000" subsystem_device="0x100b"'
)
_GPU = (
    'class="0x030200" vendor="0x10de" device="0x2330" '
    'subsystem_vendor="0x10de" subsystem_device="0x16c1"'
)
_NIC = (
    'class="0x020000" vendor="0x15b3" device="0x1021" '
    'subsystem_vendor="0x15b3" subsystem_device="0x0041"'
)
_LINK = 'link_speed="32.0 GT/s PCIe" link_width="16"'


def topology_xml(gpus: int, rails: Sequence[str], cpus: int) -> str:
    """NCCL finds the rails by the names of their devices.

    GPUs and rails are dealt out to as many PCI switches as there are of the rarer kind, so that
    each GPU has rails near it and all rails are near some GPU.
    """
    switches = max(1, min(gpus, len(rails)))
    lines = [
        '<system version="1">',
        f'  <cpu numaid="0" affinity="{(1 << cpus) - 1:08x}" arch="x86_64" vendor="GenuineIntel" '
        'familyid="6" modelid="143">',
    ]
    for switch in range(switches):
        lines.append(f'    <pci busid="{_bus(_SWITCH_BUS_BASE + switch)}" {_SWITCH} {_LINK}>')
        for gpu in range(switch, gpus, switches):
            lines += [
                f'      <pci busid="{_bus(GPU_BUS_BASE + gpu)}" {_GPU} {_LINK}>',
                f'        <gpu dev="{gpu}" sm="90" gdr="0"/>',
                "      </pci>",
            ]
        for rail, name in list(enumerate(rails, start=1))[switch::switches]:
            lines += [
                f'      <pci busid="{_bus(NIC_BUS_BASE + rail)}" {_NIC} {_LINK}>',
                f'        <nic><net name="{name}" port="1" guid="0x{rail:x}" speed="100000" '
                'gdr="0" maxconn="131072"/></nic>',
                "      </pci>",
            ]
        lines.append("    </pci>")
    lines += ["  </cpu>", "</system>", ""]
    return "\n".join(lines)


def _bus(number: int) -> str:
    return f"0000:{number:02x}:00.0"
