import struct
import tempfile
import unittest
from pathlib import Path

from samples import roce_frame, roce_frame_ipv6
from launcher.pcap_file import CapturedFrame, PcapWriter, read_pcap
from launcher.roce_capture import RailTraffic, read_capture, summarize
from launcher.roce_packet import decode

WRITE, ACKNOWLEDGE, SEND_ON_UD, CONGESTION_NOTIFICATION = 0x0A, 0x11, 0x64, 0x81


def traffic_of(*frames: bytes) -> RailTraffic:
    return summarize(CapturedFrame(frame, 1000) for frame in frames)


class Decoding(unittest.TestCase):
    def test_a_packet_shows_its_class_port_operation_and_queue_pair(self) -> None:
        packet = decode(
            roce_frame(traffic_class=0x6A, udp_source_port=49152, opcode=WRITE, queue_pair=0xABCDEF)
        )
        assert packet is not None
        self.assertEqual(packet.traffic_class, 0x6A)
        self.assertEqual(packet.udp_source_port, 49152)
        self.assertEqual(packet.operation, "write")
        self.assertEqual(packet.destination_qp, 0xABCDEF)
        self.assertEqual(packet.source, bytes([10, 8, 0, 1]))

    def test_operations_are_told_apart(self) -> None:
        names = {
            0x04: "send",
            0x05: "send",
            0x06: "write",
            0x0B: "write",
            0x0C: "read_request",
            0x10: "read_response",
            ACKNOWLEDGE: "acknowledge",
            0x14: "atomic",
            SEND_ON_UD: "send",
            CONGESTION_NOTIFICATION: "congestion_notification",
            0x1F: "other",
        }
        for opcode, name in names.items():
            packet = decode(roce_frame(opcode=opcode))
            assert packet is not None
            self.assertEqual(packet.operation, name, hex(opcode))

    def test_vlan_tags_and_ip_options_are_stepped_over(self) -> None:
        for frame in (roce_frame(vlan=True), roce_frame(ip_options=bytes(8))):
            packet = decode(frame)
            assert packet is not None
            self.assertEqual((packet.traffic_class, packet.destination_qp), (106, 17))

    def test_ipv6_has_its_traffic_class_elsewhere(self) -> None:
        packet = decode(roce_frame_ipv6(traffic_class=0xC0, queue_pair=5))
        assert packet is not None
        self.assertEqual((packet.traffic_class, packet.destination_qp), (0xC0, 5))

    def test_everything_else_is_not_roce(self) -> None:
        tcp = bytearray(roce_frame())
        tcp[14 + 9] = 6
        arp = bytes(12) + b"\x08\x06" + bytes(46)
        for frame in (b"", arp, bytes(tcp), roce_frame(udp_destination_port=53)):
            self.assertIsNone(decode(frame))

    def test_a_packet_cut_anywhere_is_refused_or_whole(self) -> None:
        frame = roce_frame()
        for length in range(len(frame)):
            self.assertIsNone(decode(frame[:length]), f"cut at {length}")


class Counting(unittest.TestCase):
    def test_packets_and_bytes_are_counted_by_direction(self) -> None:
        there = roce_frame(source="10.8.0.1", destination="10.8.0.2")
        back = roce_frame(source="10.8.0.2", destination="10.8.0.1", opcode=ACKNOWLEDGE)
        result = traffic_of(there, there, back).as_json()
        self.assertEqual((result["packets"], result["bytes"]), (3, 3000))
        self.assertEqual(
            result["directions"],
            [
                {"from": "10.8.0.1", "to": "10.8.0.2", "packets": 2, "bytes": 2000},
                {"from": "10.8.0.2", "to": "10.8.0.1", "packets": 1, "bytes": 1000},
            ],
        )
        self.assertEqual(result["operations"], {"write": 2, "acknowledge": 1})

    def test_traffic_classes_are_told_apart_with_their_dscp(self) -> None:
        result = traffic_of(
            roce_frame(traffic_class=106),
            roce_frame(traffic_class=106),
            roce_frame(traffic_class=192),
        ).as_json()
        classes = [
            (entry["traffic_class"], entry["dscp"], entry["ecn"], entry["packets"])
            for entry in result["traffic_classes"]
        ]
        self.assertEqual(classes, [(106, 26, 2, 2), (192, 48, 0, 1)])

    def test_distinct_source_ports_are_counted_once(self) -> None:
        ports = (50001, 50002, 50001)
        traffic = traffic_of(*(roce_frame(udp_source_port=port) for port in ports))
        self.assertEqual(traffic.as_json()["udp_source_ports"], [50001, 50002])

    def test_a_queue_pair_shows_every_class_it_was_sent_in(self) -> None:
        result = traffic_of(
            roce_frame(queue_pair=17, traffic_class=106),
            roce_frame(queue_pair=17, traffic_class=0),
            roce_frame(queue_pair=18, traffic_class=192),
        ).as_json()
        pairs = [
            (entry["to"], entry["queue_pair"], entry["traffic_classes"])
            for entry in result["queue_pairs"]
        ]
        self.assertEqual(pairs, [("10.8.0.2", 17, [0, 106]), ("10.8.0.2", 18, [192])])

    def test_queue_pairs_of_different_hosts_may_have_the_same_number(self) -> None:
        traffic = traffic_of(roce_frame(destination="10.8.0.1"), roce_frame(destination="10.8.0.2"))
        self.assertEqual(len(traffic.flows), 2)

    def test_other_frames_are_counted_apart(self) -> None:
        traffic = traffic_of(roce_frame(udp_destination_port=53), roce_frame())
        self.assertEqual((traffic.other_frames, traffic.count.packets), (1, 1))


class Files(unittest.TestCase):
    def setUp(self) -> None:
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.path = Path(temporary.name) / "rail1.pcap"

    def write(self, *frames: bytes) -> None:
        with open(self.path, "wb") as file:
            writer = PcapWriter(file)
            for frame in frames:
                writer.write(12.5, frame)

    def test_long_frames_are_cut_but_counted_in_full(self) -> None:
        self.write(roce_frame() + bytes(1000))
        (frame,) = read_pcap(self.path)
        self.assertEqual((len(frame.kept), frame.wire_bytes), (128, len(roce_frame()) + 1000))
        self.assertEqual(read_capture(self.path).count.bytes, len(roce_frame()) + 1000)

    def test_a_capture_cut_short_ends_at_the_last_whole_frame(self) -> None:
        self.write(roce_frame(), roce_frame())
        whole = self.path.read_bytes()
        for missing in range(1, len(roce_frame()) + 16):
            self.path.write_bytes(whole[:-missing])
            self.assertEqual(read_capture(self.path).count.packets, 1, f"{missing} bytes missing")

    def test_a_file_that_is_no_capture_is_refused(self) -> None:
        self.path.write_bytes(struct.pack("<I", 0x0A0D0D0A) + bytes(100))
        with self.assertRaisesRegex(ValueError, "is not a little-endian Ethernet pcap file"):
            read_capture(self.path)

    def test_a_capture_that_was_never_begun_holds_nothing(self) -> None:
        self.assertEqual(read_capture(self.path).count.packets, 0)
        self.path.write_bytes(b"")
        self.assertEqual(read_capture(self.path).count.packets, 0)


if __name__ == "__main__":
    unittest.main()
