import subprocess
import unittest
from pathlib import Path

import samples
from launcher.ranks import Meeting, Rank, plan_ranks

MEETING = Meeting("10.7.0.1", 29500, "eth0")


def plan(*arguments: str, program: str = "/bin/program") -> list[Rank]:
    return plan_ranks(
        samples.options(*arguments), Path(program), "/lib/a:/lib/b", MEETING, Path("/run/lab")
    )


class Ranks(unittest.TestCase):
    def test_ranks_fill_one_host_after_the_other(self) -> None:
        ranks = plan("--hosts", "2", "--gpus-per-host", "2")
        self.assertEqual(
            [(rank.number, rank.host, rank.local_rank) for rank in ranks],
            [(0, 1, 0), (1, 1, 1), (2, 2, 0), (3, 2, 1)],
        )

    def test_a_rank_learns_its_place_the_way_torchrun_tells_it(self) -> None:
        environment = plan("--hosts", "2", "--gpus-per-host", "2")[3].environment
        expected = {
            "RANK": "3",
            "WORLD_SIZE": "4",
            "LOCAL_RANK": "1",
            "LOCAL_WORLD_SIZE": "2",
            "MASTER_ADDR": "10.7.0.1",
            "MASTER_PORT": "29500",
        }
        self.assertEqual({name: environment[name] for name in expected}, expected)

    def test_ranks_of_one_host_share_its_identity_and_see_its_gpus(self) -> None:
        ranks = plan("--hosts", "2", "--gpus-per-host", "2")
        self.assertEqual(
            [rank.environment["NCCL_HOSTID"] for rank in ranks],
            ["host1", "host1", "host2", "host2"],
        )
        self.assertEqual({rank.environment["ROCELANE_LAB_GPUS"] for rank in ranks}, {"2"})

    def test_each_network_is_asked_for_in_ncclss_words(self) -> None:
        for net, plugin, name in (
            ("rocelane", "rocelane", "Rocelane"),
            ("ib", "none", "IB"),
            ("socket", "none", "Socket"),
        ):
            environment = plan("--net", net)[0].environment
            self.assertEqual(environment["NCCL_NET_PLUGIN"], plugin)
            self.assertEqual(environment.get("NCCL_NET"), name)

    def test_a_rank_is_told_what_its_hosts_devices_need(self) -> None:
        ranks = plan_ranks(
            samples.options("--env", "2:B=mine"),
            Path("/bin/program"),
            "/lib/a",
            MEETING,
            Path("/run/lab"),
            lambda host: {"A": f"of host {host}", "B": "theirs"},
        )
        self.assertEqual([rank.environment["A"] for rank in ranks], ["of host 1", "of host 2"])
        self.assertEqual([rank.environment["B"] for rank in ranks], ["theirs", "mine"])

    def test_a_setting_replaces_what_the_lab_would_choose(self) -> None:
        ranks = plan("--env", "NCCL_DEBUG=TRACE", "--env", "MINE=1")
        self.assertEqual({rank.environment["NCCL_DEBUG"] for rank in ranks}, {"TRACE"})
        self.assertEqual({rank.environment["MINE"] for rank in ranks}, {"1"})

    def test_a_setting_for_one_host_wins_there_and_is_unknown_elsewhere(self) -> None:
        first, second = plan("--env", "2:A=two", "--env", "A=all", "--env", "1:B=one")
        self.assertEqual((first.environment["A"], first.environment["B"]), ("all", "one"))
        self.assertEqual(second.environment["A"], "two")
        self.assertNotIn("B", second.environment)

    def test_only_rank_0_of_collperf_writes_a_report(self) -> None:
        first, second = plan(program="/bin/collperf")
        self.assertEqual(first.command[-2:], ("--json", "/run/lab/rank0/report.json"))
        self.assertNotIn("--json", second.command)
        self.assertNotIn("--json", plan(program="/bin/other")[0].command)

    def test_the_script_hands_over_values_untouched(self) -> None:
        awkward = "a 'b' \"c\" $HOME `id` \\ *\nnext"
        rank = Rank(0, 1, 0, ("printenv", "A"), {"PATH": "/usr/bin:/bin", "A": awkward})
        shown = subprocess.run(
            ["bash", "-c", rank.script()], capture_output=True, text=True, check=True, timeout=10
        )
        self.assertEqual(shown.stdout, awkward + "\n")


if __name__ == "__main__":
    unittest.main()
