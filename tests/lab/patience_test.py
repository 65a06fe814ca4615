"""Ranks that share CPUs sleep while they wait; those that do not, do not."""

import os
import subprocess
import sys
import unittest
from pathlib import Path

import samples  # noqa: F401
from command import BUILD_FOLDER
from launcher.hosts import patience_environment

LIBRARY = Path(BUILD_FOLDER) / "lab" / "lib" / "libpatience.so"

# How long 320 vain tries take, in seconds.
YIELD = """
import ctypes, time
began = time.monotonic()
for _ in range(320): ctypes.CDLL(None).sched_yield()
print(time.monotonic() - began)
"""
RECEIVE = """
import ctypes, socket, time
here, there = socket.socketpair()
here.setblocking(False)
receive, room = ctypes.CDLL(None, use_errno=True).recv, ctypes.create_string_buffer(8)
began = time.monotonic()
for _ in range(320):
    assert receive(here.fileno(), room, 8, 0) == -1 and ctypes.get_errno() == 11
print(time.monotonic() - began)
there.send(b"abc")
assert receive(here.fileno(), room, 8, 0) == 3 and room.value == b"abc"
"""
ACCEPT = """
import ctypes, socket, time
door = socket.create_server(("127.0.0.1", 0))
door.setblocking(False)
accept = ctypes.CDLL(None, use_errno=True).accept
began = time.monotonic()
for _ in range(320):
    assert accept(door.fileno(), None, None) == -1 and ctypes.get_errno() == 11
print(time.monotonic() - began)
guest = socket.create_connection(door.getsockname())
assert accept(door.fileno(), None, None) >= 0
"""
SLEEP = """
import ctypes, time
class Time(ctypes.Structure): _fields_ = [("s", ctypes.c_long), ("ns", ctypes.c_long)]
began = time.monotonic()
for _ in range(20): ctypes.CDLL(None).nanosleep(ctypes.byref(Time(0, 1000)), None)
print(time.monotonic() - began)
"""
TWENTY_NAPS_S = 20 * 0.02


def seconds(script: str, nap_us: int | None) -> float:
    environment = {**os.environ, "LD_PRELOAD": str(LIBRARY)}
    if nap_us is not None:
        environment["ROCELANE_LAB_NAP_US"] = str(nap_us)
    shown = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, timeout=50
    )
    assert shown.returncode == 0, shown.stderr
    return float(shown.stdout)


class Naps(unittest.TestCase):
    def test_whoever_asks_in_vain_sleeps_now_and_then(self) -> None:
        for script in (YIELD, RECEIVE, ACCEPT, SLEEP):
            self.assertGreaterEqual(seconds(script, nap_us=20_000), TWENTY_NAPS_S, script)

    def test_without_the_variable_nobody_does(self) -> None:
        for script in (YIELD, RECEIVE, ACCEPT, SLEEP):
            self.assertLess(seconds(script, nap_us=None), TWENTY_NAPS_S, script)


class WhoNaps(unittest.TestCase):
    def test_ranks_with_cpus_enough_do_not(self) -> None:
        self.assertEqual(patience_environment(2, 4, Path("/lib/p.so")), {})

    def test_the_more_ranks_share_a_cpu_the_longer_they_sleep(self) -> None:
        naps = [
            int(patience_environment(ranks, 2, Path("/lib/p.so"))["ROCELANE_LAB_NAP_US"])
            for ranks in (2, 16, 64)
        ]
        self.assertEqual(naps, [60, 480, 1920])


if __name__ == "__main__":
    unittest.main()
