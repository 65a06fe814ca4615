import unittest
from xml.etree import ElementTree

import lab_path  # noqa: F401
from launcher.topology import topology_xml


def names(rails: int) -> list[str]:
    return [f"rxe{rail}" for rail in range(1, rails + 1)]


def switches(gpus: int, rails: int) -> list[tuple[list[str], list[str]]]:
    """GPUs and rails below each PCI switch."""
    cpu = ElementTree.fromstring(topology_xml(gpus, names(rails), cpus=2))[0]
    return [
        (
            [gpu.attrib["dev"] for gpu in switch.iter("gpu")],
            [net.attrib["name"] for net in switch.iter("net")],
        )
        for switch in cpu
    ]


class Topology(unittest.TestCase):
    def test_one_gpu_is_equally_near_to_all_rails(self) -> None:
        self.assertEqual(switches(1, 3), [(["0"], ["rxe1", "rxe2", "rxe3"])])

    def test_as_many_gpus_as_rails_are_paired(self) -> None:
        self.assertEqual(switches(2, 2), [(["0"], ["rxe1"]), (["1"], ["rxe2"])])

    def test_more_gpus_than_rails_share_them(self) -> None:
        self.assertEqual(switches(4, 2), [(["0", "2"], ["rxe1"]), (["1", "3"], ["rxe2"])])

    def test_gpus_without_rails_are_all_there(self) -> None:
        self.assertEqual(switches(2, 0), [(["0", "1"], [])])

    def test_gpus_sit_where_the_emulated_gpu_says_they_are(self) -> None:
        text = topology_xml(2, names(1), cpus=1)
        for bus in ("0000:10:00.0", "0000:11:00.0"):
            self.assertIn(f'<pci busid="{bus}" class="0x030200"', text)

    def test_the_first_rails_bus_is_that_of_the_first_software_device(self) -> None:
        text = topology_xml(1, ["soft_0", "soft_1"], cpus=1)
        for bus, name in (("41", "soft_0"), ("42", "soft_1")):
            self.assertRegex(text, rf'busid="0000:{bus}:00.0" [^>]+>\s+<nic><net name="{name}"')

    def test_no_two_devices_share_a_bus(self) -> None:
        tree = ElementTree.fromstring(topology_xml(16, names(8), cpus=1))
        buses = [pci.attrib["busid"] for pci in tree.iter("pci")]
        self.assertEqual(len(buses), len(set(buses)))

    def test_every_cpu_of_the_guest_is_in_the_mask(self) -> None:
        self.assertIn('affinity="00000001"', topology_xml(1, names(1), cpus=1))
        self.assertIn('affinity="0000000f"', topology_xml(1, names(1), cpus=4))


if __name__ == "__main__":
    unittest.main()
