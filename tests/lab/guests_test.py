"""Boots real guests: a few seconds a test."""

import os
import signal
import time
import unittest

from command import LabCommandTest

TOUCH_THE_OTHER_HOST = """
set -e
other=$((2 - RANK))
ping -c 1 -W 5 10.8.0.$other > /dev/null 2>&1 || busybox ping -c 1 -W 5 10.8.0.$other > /dev/null
rdma link show | awk '{ print $2, $4 }'
ulimit -l
"""


class Guests(LabCommandTest):
    options = ("--device", "rxe")

    def test_two_guests_see_each_other_over_named_rails(self) -> None:
        ended = self.run_lab("--", "bash", "-c", TOUCH_THE_OTHER_HOST)
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertEqual(ended.stdout, "rxe1/1 ACTIVE\nrxe2/1 ACTIVE\nunlimited\n")

    def test_three_guests_are_joined_by_a_switch_whose_rails_are_captured(self) -> None:
        script = "busybox ping -c 1 -W 5 10.8.0.$((RANK + 2 > 3 ? 1 : RANK + 2)) > /dev/null"
        result = self.run_for_json("--hosts", "3", "--rails", "1", "--", "bash", "-c", script)
        self.assertEqual([rank["exit_code"] for rank in result["ranks"]], [0, 0, 0])
        self.assertGreaterEqual(result["wire"][0]["other_frames"], 6)

    def test_a_large_mtu_reaches_the_rails(self) -> None:
        script = "ibv_devinfo -d rxe1 2> /dev/null | grep active_mtu || cat /sys/class/net/eth1/mtu"
        ended = self.run_lab("--mtu", "4200", "--hosts", "1", "--", "bash", "-c", script)
        self.assertRegex(ended.stdout, r"4096|4200")

    def test_a_guest_cannot_write_to_the_machine_outside(self) -> None:
        mark = self.folder / "mark"
        ended = self.run_lab("--hosts", "1", "--", "bash", "-c", f"echo x > {mark} && cat {mark}")
        self.assertEqual((ended.returncode, ended.stdout), (0, "x\n"))
        self.assertFalse(mark.exists())

    def test_a_hook_runs_as_root_before_the_ranks(self) -> None:
        hook = self.folder / "hook"
        hook.write_text("#!/bin/sh\nip link set eth2 mtu 1400\n")
        hook.chmod(0o755)
        ended = self.run_lab(
            "--hosts", "1", "--guest-hook", str(hook), "--", "cat", "/sys/class/net/eth2/mtu"
        )
        self.assertEqual(ended.stdout, "1400\n")

    def test_a_failing_hook_ends_the_run_with_its_words(self) -> None:
        hook = self.folder / "hook"
        hook.write_text("#!/bin/sh\necho no such luck\nexit 3\n")
        hook.chmod(0o755)
        ended = self.run_lab("--hosts", "1", "--guest-hook", str(hook), "--", "true")
        self.assertEqual(ended.returncode, 1)
        self.assertIn(
            "host1 could not be set up: The guest hook ended with 3: no such luck", ended.stderr
        )

    def test_a_guest_that_dies_is_noticed(self) -> None:
        ended = self.run_lab(
            "--", "bash", "-c", "[ $RANK = 0 ] || echo b > /proc/sysrq-trigger; sleep 1000"
        )
        self.assertEqual(ended.returncode, 1)
        self.assertIn("The virtual machine of host2 ended", ended.stderr)

    def test_two_labs_run_at_once_without_touching_each_other(self) -> None:
        labs = [self.start("--", "bash", "-c", f"hostname; echo {n}; sleep 1") for n in range(2)]
        for number, lab in enumerate(labs):
            out, errors = lab.communicate(timeout=100)
            self.assertEqual((lab.returncode, out), (0, f"host1\n{number}\n"), errors)

    def test_interruption_and_even_murder_leave_no_machine_behind(self) -> None:
        for number in (signal.SIGINT, signal.SIGKILL):
            process = self.start("--", "sleep", "1000")
            while not list(self.scratch.glob("*/host2/phase")):
                time.sleep(0.05)
            os.kill(process.pid, number)
            process.communicate(timeout=20)
            time.sleep(0.2)
            self.assertEqual(self.processes_left(), [])


if __name__ == "__main__":
    unittest.main()
