"""Runs on software devices: the files of a run, what its ranks see, and what it leaves behind."""

import signal
import subprocess
import time
import unittest
from pathlib import Path
from typing import Any

import samples
from command import LabCommandTest
from launcher.software_hosts import state_folder

TOUCH_THE_DEVICES = """
import ctypes, os
ctypes.CDLL('libibverbs.so.1').ibv_get_device_list(None)
"""
LIST = "ls /sys/class/infiniband"


class SoftwareHosts(LabCommandTest):
    options = ("--device", "softverbs")

    def file(self, name: str, text: str) -> str:
        return str(samples.write_file(self.folder, name, text))

    def name_of_started_run(self) -> str:
        while not (folders := list(self.scratch.glob("*/rank*/stdout.log"))):
            time.sleep(0.02)
        return folders[0].parent.parent.name

    def refusal(self, *arguments: str) -> str:
        ended = self.run_lab(*arguments, "--", "true")
        self.assertEqual(ended.returncode, 2, ended.stderr)
        self.assertEqual(ended.stderr.count("\n"), 1, ended.stderr)
        return ended.stderr


class WhatRanksSee(SoftwareHosts):
    def test_every_rank_belongs_to_its_host(self) -> None:
        result = self.run_for_json("--gpus-per-host", "2", "--", "true")
        self.assertEqual(result["status"], 0)
        seen = [rank["environment"]["ROCELANE_LAB_HOST"] for rank in result["ranks"]]
        self.assertEqual(seen, ["1", "1", "2", "2"])
        self.assertEqual(len({r["environment"]["ROCELANE_LAB_RUN"] for r in result["ranks"]}), 1)

    def test_a_rank_finds_the_devices_of_its_host(self) -> None:
        ended = self.run_lab("--rails", "3", "--", "bash", "-c", LIST)
        self.assertEqual(ended.stdout, "soft_0\nsoft_1\nsoft_2\n", ended.stderr)

    def test_devices_are_as_the_fabric_file_describes_them(self) -> None:
        fabric = self.file(
            "fabric.toml",
            '[hosts]\ncount = 2\nrails = 1\ndevice_prefix = "mlx5_"\nrate = "400Gb/s"\n'
            '[[device]]\nname = "host1/*"\nport = "down"\n',
        )
        script = f"{LIST}; cat /sys/class/infiniband/mlx5_0/ports/1/{{state,rate}}"
        ended = self.run_lab("--fabric", fabric, "--", "bash", "-c", script)
        self.assertEqual(ended.stdout, "mlx5_0\n1: DOWN\n400 Gb/sec (4X NDR)\n", ended.stderr)


class WrongFiles(SoftwareHosts):
    def test_a_wrong_fabric_file_is_one_sentence_that_names_file_and_line(self) -> None:
        fabric = self.file("fabric.toml", 'seed = 1\n[fabric]\nknid = "leaf"\n')
        self.assertRegex(self.refusal("--fabric", fabric), rf"{fabric}:3: .*knid.*kind")

    def test_a_wrong_fault_file_is_one_sentence_that_names_file_and_line(self) -> None:
        faults = self.file("faults.toml", '[[fault]]\nat = "1s"\ndo = "cut-lnik"\nlink = "*"\n')
        self.assertRegex(self.refusal("--faults", faults), rf"{faults}:3: .*cut-lnik")


class WhatIsLeft(SoftwareHosts):
    def test_nothing_of_a_run_that_ended_well(self) -> None:
        result = self.run_for_json("--", "python3", "-c", TOUCH_THE_DEVICES)
        self.assertEqual([rank["exit_code"] for rank in result["ranks"]], [0, 0])
        self.assertFalse(state_folder(_name(result)).exists())
        self.assertEqual(result["softverbs"]["run"], _name(result))

    def test_nothing_of_ranks_that_were_killed(self) -> None:
        kill = f"{TOUCH_THE_DEVICES}os.kill(os.getpid(), 9)"
        result = self.run_for_json("--", "python3", "-c", kill)
        self.assertEqual([rank["exit_code"] for rank in result["ranks"]], [137, 137])
        self.assertFalse(state_folder(_name(result)).exists())

    def test_nothing_after_an_interruption(self) -> None:
        wait = f"{TOUCH_THE_DEVICES}import time; time.sleep(1000)"
        process = self.start("--", "python3", "-c", wait)
        state = state_folder(self.name_of_started_run())
        self.wait_for(state)
        process.send_signal(signal.SIGINT)
        self.assertEqual(self.finish(process, 20).returncode, 130)
        self.assertFalse(state.exists())

    def test_what_murder_leaves_is_gone_after_the_next_run(self) -> None:
        wait = f"{TOUCH_THE_DEVICES}import time; time.sleep(1000)"
        process = self.start("--", "python3", "-c", wait)
        state = state_folder(self.name_of_started_run())
        self.wait_for(state)
        process.kill()
        process.communicate()
        while self.processes_left():
            time.sleep(0.02)
        for left in self.scratch.iterdir():
            subprocess.run(["rm", "-rf", str(left)], check=True)
        self.run_lab("--", "python3", "-c", TOUCH_THE_DEVICES)
        self.assertFalse(state.exists())

    def wait_for(self, path: Path) -> None:
        give_up = time.monotonic() + 20
        while not (path / "segment").exists():
            self.assertLess(time.monotonic(), give_up, f"{path} did not appear")
            time.sleep(0.02)


class Jobs(SoftwareHosts):
    ALL_REDUCE = "collperf all_reduce -b 8 -e 256K -f 8 -n 2 -w 1 -c 1".split()

    def test_both_transports_reduce_over_both_rails(self) -> None:
        for net in ("ib", "rocelane"):
            result = self.run_for_json("--net", net, "--", *self.ALL_REDUCE)
            self.assertEqual(result["status"], 0, result["reason"])
            self.assertEqual(_wrong_elements(result), 0)
            sent = {
                device["name"]: device["work"]["sent_bytes"]
                for device in result["softverbs"]["devices"]
            }
            self.assertEqual(len(sent), 4)
            self.assertGreater(min(sent.values()), 0, sent)


    def test_sixteen_ranks_end_soon_on_however_few_cpus(self) -> None:
        job = "collperf all_reduce -b 8 -e 64K -f 8 -n 2 -w 1 -c 1".split()
        for net in ("ib", "rocelane"):
            hosts = ("--hosts", "8", "--gpus-per-host", "2")
            result = self.run_for_json(*hosts, "--net", net, "--", *job)
            self.assertEqual(result["status"], 0, result["reason"])
            self.assertEqual(_wrong_elements(result), 0)
            self.assertLess(result["wall_time_s"], 60)  # idle, it is 3 s


def _name(result: Any) -> str:
    return str(result["ranks"][0]["environment"]["ROCELANE_LAB_RUN"])


def _wrong_elements(result: Any) -> int:
    rows = result["program_report"]["rows"]
    return sum(row[place]["wrong"] for row in rows for place in ("out_of_place", "in_place"))


if __name__ == "__main__":
    unittest.main()
