import io
import socket
import struct
import tempfile
import threading
import unittest
from pathlib import Path

import samples  # noqa: F401
from launcher.pcap_file import PcapWriter, read_pcap
from launcher.switch import FrameReader, Switch

BROADCAST = b"\xff" * 6


def address(host: int) -> bytes:
    return b"\x52\x54\x00\x00" + bytes([host, 1])


def framed(destination: bytes, payload: bytes = b"hello") -> bytes:
    frame = destination + address(9) + b"\x08\x00" + payload
    return struct.pack(">I", len(frame)) + frame


class Framing(unittest.TestCase):
    def test_frames_come_out_whole_however_they_arrive(self) -> None:
        frames = [framed(BROADCAST, bytes([n]) * n) for n in range(1, 60)]
        stream = b"".join(frames)
        for step in (1, 3, 7, 1000):
            reader = FrameReader()
            seen: list[bytes] = []
            for start in range(0, len(stream), step):
                seen += reader.feed(stream[start : start + step])
            self.assertEqual(seen, frames)


class Switching(unittest.TestCase):
    def setUp(self) -> None:
        pairs = [socket.socketpair() for _ in range(3)]
        self.guests = [guest for guest, _ in pairs]
        self.capture = io.BytesIO()
        ends = [end for _, end in pairs]
        for end in ends:
            self.addCleanup(end.close)
        switch = Switch(ends, PcapWriter(self.capture))
        self.thread = threading.Thread(target=switch.run, daemon=True)
        self.thread.start()
        for guest in self.guests:
            guest.settimeout(5)

    def tearDown(self) -> None:
        for guest in self.guests:
            guest.close()
        self.thread.join(5)
        self.assertFalse(self.thread.is_alive(), "the switch ends when all guests are gone")

    def receive(self, host: int, length: int) -> bytes:
        data = b""
        while len(data) < length:
            data += self.guests[host - 1].recv(length - len(data))
        return data

    def assert_silent(self, host: int) -> None:
        self.guests[host - 1].settimeout(0.05)
        with self.assertRaises(TimeoutError):
            self.guests[host - 1].recv(1)

    def test_a_frame_goes_to_its_host_only(self) -> None:
        frame = framed(address(3))
        self.guests[0].sendall(frame)
        self.assertEqual(self.receive(3, len(frame)), frame)
        self.assert_silent(1)
        self.assert_silent(2)

    def test_a_broadcast_goes_to_everybody_else(self) -> None:
        frame = framed(BROADCAST)
        self.guests[1].sendall(frame)
        self.assertEqual(self.receive(1, len(frame)), frame)
        self.assertEqual(self.receive(3, len(frame)), frame)
        self.assert_silent(2)

    def test_a_guest_that_is_gone_does_not_stop_the_others(self) -> None:
        self.guests[2].close()
        frame = framed(address(2))
        self.guests[0].sendall(framed(address(3)))
        self.guests[0].sendall(frame)
        self.assertEqual(self.receive(2, len(frame)), frame)

    def test_every_frame_is_captured_once(self) -> None:
        frames = framed(BROADCAST), framed(address(2), b"x" * 500)
        for frame in frames:
            self.guests[0].sendall(frame)
        self.receive(2, sum(len(frame) for frame in frames))
        with tempfile.NamedTemporaryFile() as file:
            Path(file.name).write_bytes(self.capture.getvalue())
            captured = list(read_pcap(Path(file.name)))
        self.assertEqual([frame.wire_bytes for frame in captured], [19, 514])
        self.assertEqual(len(captured[1].kept), 128)


if __name__ == "__main__":
    unittest.main()
