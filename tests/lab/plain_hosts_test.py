import signal
import time
import unittest

from command import LabCommandTest

PLAIN = ("--device", "none", "--hosts", "2", "--gpus-per-host", "2")


class PlainHosts(LabCommandTest):
    def test_rank_0s_output_is_shown_and_the_others_are_not(self) -> None:
        ended = self.run_lab(*PLAIN, "--", "bash", "-c", 'echo "rank $RANK of $WORLD_SIZE"')
        self.assertEqual((ended.returncode, ended.stdout), (0, "rank 0 of 4\n"))

    def test_a_failing_rank_is_named_and_every_rank_is_heard(self) -> None:
        script = 'echo "words of $RANK"; exit $((RANK == 2 ? 7 : 0))'
        ended = self.run_lab(*PLAIN, "--", "bash", "-c", script)
        self.assertEqual(ended.returncode, 1)
        self.assertIn("lab: rank 2 (host2, GPU 0) ended with exit status 7.", ended.stderr)
        for rank in range(4):
            self.assertIn(f"stdout.log: words of {rank}", ended.stderr)

    def test_ranks_that_hang_are_ended_by_the_deadline_with_their_children(self) -> None:
        script = '(exec -a "child of $PWD" sleep 1000) & wait'
        ended = self.run_lab(*PLAIN, "--timeout", "1", "--", "bash", "-c", script, timeout_s=20)
        self.assertEqual(ended.returncode, 124)
        self.assertIn("The deadline of 1 s passed", ended.stderr)

    def test_interruption_cleans_up(self) -> None:
        for number in (signal.SIGINT, signal.SIGTERM):
            process = self.start(*PLAIN, "--", "sleep", "1000")
            while not list(self.scratch.glob("*/rank3/stdout.log")):
                time.sleep(0.02)
            process.send_signal(number)
            self.assertEqual(self.finish(process, 20).returncode, 130)

    def test_an_unknown_program_is_one_sentence(self) -> None:
        ended = self.run_lab(*PLAIN, "--", "no-such-program")
        self.assertEqual(ended.returncode, 2)
        self.assertRegex(ended.stderr, r"^lab: There is no program no-such-program: [^\n]+\n$")

    def test_our_programs_are_found_by_their_names(self) -> None:
        for name in ("collperf", "nccl_host"):
            ended = self.run_lab(*PLAIN, "--", name, "--help")
            self.assertEqual(ended.returncode, 0, ended.stderr)

    def test_a_folder_that_is_no_build_is_one_sentence(self) -> None:
        ended = self.run_lab("--build", str(self.folder), *PLAIN, "--", "true")
        self.assertEqual(ended.returncode, 2)
        self.assertRegex(ended.stderr, r"^lab: [^\n]+ is not a build folder[^\n]+\n$")

    def test_the_result_for_machines_holds_exit_codes_and_environment(self) -> None:
        result = self.run_for_json(
            *PLAIN, "--env", "A=all", "--env", "2:A=two", "--", "bash", "-c", "exit $LOCAL_RANK"
        )
        self.assertEqual(result["status"], 1)
        self.assertEqual([rank["exit_code"] for rank in result["ranks"]], [0, 1, 0, 1])
        self.assertEqual(
            [rank["environment"]["A"] for rank in result["ranks"]], ["all", "all", "two", "two"]
        )
        self.assertEqual(result["wire"], [])

    def test_logs_are_kept_when_asked_for(self) -> None:
        logs = self.folder / "logs"
        self.run_lab(*PLAIN, "--logs", str(logs), "--", "bash", "-c", "echo $RANK; echo e >&2")
        self.assertEqual((logs / "rank3" / "stdout.log").read_text(), "3\n")
        self.assertEqual((logs / "rank0" / "stderr.log").read_text(), "e\n")


if __name__ == "__main__":
    unittest.main()
