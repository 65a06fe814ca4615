import tempfile
import unittest
from pathlib import Path

import samples
from launcher.addresses import host_of_mac, ipv4, mac
from launcher.guest import GuestMachine, qemu_command
from launcher.guest_image import GuestImage
from launcher.hosts import cpus_per_guest, guest_conf
from launcher.ranks import Rank
from launcher.wires import Wires

IMAGE = GuestImage(Path("/image/kernel"), Path("/image/initrd"))


class Cables(unittest.TestCase):
    def captures(self, hosts: int) -> list[int]:
        """Of each host, how many of its ports are captured."""
        wires = Wires(hosts, 2, Path("/captures"))
        self.addCleanup(wires.close)
        return [
            sum(port.capture_file is not None for port in wires.ports_of(host))
            for host in range(1, hosts + 1)
        ]

    def test_each_rail_is_captured_once_however_many_hosts_there_are(self) -> None:
        self.assertEqual(self.captures(1), [2])
        self.assertEqual(self.captures(2), [2, 0])
        self.assertEqual(self.captures(4), [0, 0, 0, 0], "the switch captures")

    def test_two_hosts_are_joined_directly(self) -> None:
        wires = Wires(2, 1, None)
        self.addCleanup(wires.close)
        descriptors = [[p.descriptor for p in wires.ports_of(host)] for host in (1, 2)]
        self.assertEqual(len({d for ports in descriptors for d in ports}), 4)
        self.assertNotIn(None, descriptors[0] + descriptors[1])

    def test_a_single_host_has_rails_that_lead_nowhere(self) -> None:
        wires = Wires(1, 2, None)
        self.assertEqual([port.descriptor for port in wires.ports_of(1)], [None, None, None])


class Machines(unittest.TestCase):
    def command(self, host: int = 1) -> list[str]:
        wires = Wires(2, 2, Path("/captures"))
        self.addCleanup(wires.close)
        machine = GuestMachine(host, 1, 2048, Path("/run-folder"))
        return qemu_command(machine, IMAGE, wires.ports_of(host))

    def test_a_guest_has_a_control_card_and_one_a_rail(self) -> None:
        cards = [word for word in self.command() if word.startswith("virtio-net-pci")]
        self.assertEqual(len(cards), 3)
        self.assertTrue(cards[2].endswith("mac=52:54:00:00:01:02"))

    def test_only_rails_are_captured(self) -> None:
        dumps = [word for word in self.command() if word.startswith("filter-dump")]
        self.assertEqual(len(dumps), 2)
        self.assertIn("netdev=wire1,file=/captures/rail1.pcap", dumps[0])

    def test_the_machine_outside_is_read_only_and_only_the_run_folder_is_not(self) -> None:
        shares = [word for word in self.command() if word.startswith("local,")]
        self.assertEqual(len(shares), 2)
        self.assertIn("path=/,", shares[0])
        self.assertIn("readonly=on", shares[0])
        self.assertIn("path=/run-folder,", shares[1])
        self.assertNotIn("readonly", shares[1])

    def test_a_guest_knows_which_host_it_is(self) -> None:
        self.assertIn("rocelane.host=2 ", self.command(2)[self.command(2).index("-append") + 1])

    def test_guests_share_the_cpus_and_get_at_least_one(self) -> None:
        self.assertEqual(cpus_per_guest(2, 2), 1)
        self.assertEqual(cpus_per_guest(1, 8), 1)
        self.assertEqual(cpus_per_guest(8, 2), 4)
        self.assertEqual(cpus_per_guest(64, 2), 4)

    def test_the_guests_instructions_name_its_own_ranks(self) -> None:
        ranks = [Rank(2, 2, 0, ("x",), {}), Rank(3, 2, 1, ("x",), {})]
        options = samples.options("--device", "rxe", "--rails", "3", "--mtu", "4200")
        conf = guest_conf(options, ranks)
        for line in ("RANKS='2 3'", "RAILS=3", "MTU=4200", "HOOK=''"):
            self.assertIn(line, conf.splitlines())

    def test_addresses_name_host_and_wire(self) -> None:
        self.assertEqual(mac(2, 1), "52:54:00:00:02:01")
        self.assertEqual(ipv4(2, 1), "10.8.0.2")
        self.assertEqual(host_of_mac(bytes.fromhex("525400000201")), 2)
        self.assertIsNone(host_of_mac(b"\xff" * 6))


if __name__ == "__main__":
    unittest.main()
