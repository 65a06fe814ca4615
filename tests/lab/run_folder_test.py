import tempfile
import unittest
from pathlib import Path

import samples
from launcher.ranks import Rank
from launcher.rdma_facts import read_resources, read_statistics
from launcher.run_folder import LineFollower, RankFolder, tail


class FilesOfARank(unittest.TestCase):
    def setUp(self) -> None:
        self._temporary = tempfile.TemporaryDirectory()
        self.addCleanup(self._temporary.cleanup)
        run_folder = Path(self._temporary.name)
        self.rank = RankFolder(run_folder, Rank(0, 1, 0, ("true",), {}))
        self.rank.prepare()

    def leave(self, name: str, text: str) -> None:
        samples.write_file(self.rank.path, name, text)

    def test_a_rank_that_has_not_ended_has_no_exit_code(self) -> None:
        self.assertIsNone(self.rank.exit_code())
        self.leave("exit_code", "0\n")
        self.assertEqual(self.rank.exit_code(), 0)

    def test_the_report_is_what_the_program_wrote_and_a_torn_one_is_none(self) -> None:
        self.assertIsNone(self.rank.report())
        self.leave("report.json", '{"rows": [1')
        self.assertIsNone(self.rank.report())
        self.leave("report.json", '{"rows": [1]}')
        self.assertEqual(self.rank.report(), {"rows": [1]})

    def test_the_network_and_the_warnings_come_from_nccls_log(self) -> None:
        self.assertIsNone(self.rank.network())
        self.leave(
            "nccl.log", "h:1 NCCL INFO Using network Rocelane\nh:1 [0] x.cc:3 NCCL WARN Oh\n"
        )
        self.assertEqual(self.rank.network(), "Rocelane")
        self.assertEqual(self.rank.warnings(), ["h:1 [0] x.cc:3 NCCL WARN Oh"])

    def test_the_last_lines_name_the_file_they_come_from(self) -> None:
        self.leave("stdout.log", "one\ntwo\nthree\n")
        self.leave("stderr.log", "oops\n")
        self.assertEqual(
            self.rank.last_lines(2), ["stdout.log: two", "stdout.log: three", "stderr.log: oops"]
        )

    def test_a_follower_hands_out_each_whole_line_once(self) -> None:
        follower = LineFollower(self.rank.path / "stdout.log")
        self.assertEqual(follower.new_lines(), [])
        self.leave("stdout.log", "one\ntw")
        self.assertEqual(follower.new_lines(), ["one"])
        self.leave("stdout.log", "one\ntwo\nthr")
        self.assertEqual(follower.new_lines(), ["two"])
        self.assertEqual(follower.new_lines(with_unfinished=True), ["thr"])
        self.assertEqual(follower.new_lines(with_unfinished=True), [])

    def test_the_tail_of_a_long_file_is_its_end(self) -> None:
        self.leave("stdout.log", "".join(f"line {n}\n" for n in range(100_000)))
        self.assertEqual(tail(self.rank.path / "stdout.log", 2), ["line 99998", "line 99999"])

    def test_rdma_facts_are_read_as_the_tool_prints_them(self) -> None:
        self.leave("res.json", '[{"ifname":"rxe1","qp":1},{"ifname":"other0","qp":9}]')
        self.leave("stat.txt", "link rxe1/1 sent_pkts 12 rcvd_pkts 13 \nlink rxe2/1 sent_pkts 0 \n")
        self.assertEqual(read_resources(self.rank.path / "res.json"), [{"ifname": "rxe1", "qp": 1}])
        self.assertEqual(
            read_statistics(self.rank.path / "stat.txt"),
            {"rxe1": {"sent_pkts": 12, "rcvd_pkts": 13}, "rxe2": {"sent_pkts": 0}},
        )
        self.assertEqual(read_resources(self.rank.path / "none"), [])
        self.assertEqual(read_statistics(self.rank.path / "none"), {})


if __name__ == "__main__":
    unittest.main()
