import contextlib
import io
import tempfile
import unittest
from pathlib import Path
from typing import Callable

import samples
from launcher.ranks import Rank
from launcher.run_folder import RankFolder
from launcher.supervisor import Outcome, Supervisor


class HostsThatAreThere:
    """Hosts whose state the test sets."""

    is_running = True
    broken: str | None = None

    def running(self) -> bool:
        return self.is_running

    def failure(self) -> str | None:
        return self.broken


class Supervision(unittest.TestCase):
    def setUp(self) -> None:
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        run = Path(temporary.name)
        self.hosts = HostsThatAreThere()
        self.folders = [RankFolder(run, Rank(n, n + 1, 0, ("true",), {})) for n in range(2)]
        for folder in self.folders:
            folder.prepare()
        self.now_s = 100.0
        self.events: list[tuple[float, Callable[[], None]]] = []

    def at(self, time_s: float, event: Callable[[], None]) -> None:
        self.events.append((time_s, event))

    def ends(self, rank: int, code: int) -> Callable[[], None]:
        return lambda: self.write(rank, "exit_code", str(code))

    def write(self, rank: int, name: str, text: str) -> None:
        samples.write_file(self.folders[rank].path, name, text)

    def sleep(self, seconds: float) -> None:
        self.now_s += seconds
        due = [event for event in self.events if event[0] <= self.now_s - 100]
        self.events = [event for event in self.events if event not in due]
        for _, event in due:
            event()

    def watch(self, *, timeout_s: float = 60, verbose: bool = False) -> Outcome:
        self.out, self.errors = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(self.out), contextlib.redirect_stderr(self.errors):
            return Supervisor(
                self.hosts,  # type: ignore[arg-type]
                self.folders,
                started_at_s=self.now_s,
                timeout_s=timeout_s,
                linger_s=5,
                verbose=verbose,
                clock_s=lambda: self.now_s,
                sleep=self.sleep,
            ).watch()

    def test_all_ranks_ending_with_zero_is_success(self) -> None:
        self.at(2, self.ends(0, 0))
        self.at(4, self.ends(1, 0))
        outcome = self.watch()
        self.assertEqual((outcome.status, outcome.reason), (0, ""))
        self.assertEqual(outcome.exit_codes, {0: 0, 1: 0})
        self.assertAlmostEqual(outcome.wall_time_s, 4, delta=0.1)

    def test_a_failing_rank_is_named_with_its_exit_status(self) -> None:
        self.at(1, self.ends(0, 0))
        self.at(2, self.ends(1, 3))
        outcome = self.watch()
        self.assertEqual(outcome.status, 1)
        self.assertEqual(outcome.reason, "rank 1 (host2, GPU 0) ended with exit status 3.")

    def test_death_by_signal_is_called_that(self) -> None:
        self.at(1, self.ends(0, 139))
        self.at(1, self.ends(1, 0))
        self.assertEqual(self.watch().reason, "rank 0 (host1, GPU 0) was killed by signal 11.")

    def test_the_others_may_go_on_for_a_while_after_a_failure_and_are_then_stopped(self) -> None:
        self.at(1, self.ends(1, 1))
        outcome = self.watch()
        self.assertEqual(outcome.status, 1)
        self.assertIn("stopped because of that: rank 0 (host1, GPU 0)", outcome.reason)
        self.assertAlmostEqual(outcome.wall_time_s, 6, delta=0.1)

    def test_a_second_failure_within_the_while_is_reported_too(self) -> None:
        self.at(1, self.ends(1, 1))
        self.at(3, self.ends(0, 7))
        outcome = self.watch()
        self.assertIn("rank 0 (host1, GPU 0) ended with exit status 7", outcome.reason)
        self.assertIn("rank 1 (host2, GPU 0) ended with exit status 1", outcome.reason)

    def test_the_deadline_ends_a_run_and_names_who_was_still_there(self) -> None:
        self.at(1, self.ends(0, 0))
        outcome = self.watch(timeout_s=10)
        self.assertEqual(outcome.status, 124)
        self.assertEqual(
            outcome.reason, "The deadline of 10 s passed; still running: rank 1 (host2, GPU 0)."
        )

    def test_a_deadline_during_set_up_says_so(self) -> None:
        self.hosts.is_running = False
        outcome = self.watch(timeout_s=10)
        self.assertIn("before every host had started its ranks", outcome.reason)
        self.assertIsNone(outcome.first_rank_s)

    def test_a_broken_host_ends_the_run_at_once(self) -> None:
        self.at(2, lambda: setattr(self.hosts, "broken", "host2 burns."))
        outcome = self.watch()
        self.assertEqual((outcome.status, outcome.reason), (1, "host2 burns."))
        self.assertAlmostEqual(outcome.wall_time_s, 2, delta=0.1)

    def test_the_time_to_the_first_rank_is_taken(self) -> None:
        self.hosts.is_running = False
        self.at(3, lambda: setattr(self.hosts, "is_running", True))
        for rank in (0, 1):
            self.at(5, self.ends(rank, 0))
        first_rank_s = self.watch().first_rank_s
        assert first_rank_s is not None
        self.assertAlmostEqual(first_rank_s, 3, delta=0.1)

    def test_only_rank_0s_table_is_shown(self) -> None:
        self.write(0, "stdout.log", "table\nunfinished")
        self.write(1, "stdout.log", "noise\n")
        self.write(0, "nccl.log", "noise\n")
        for rank in (0, 1):
            self.at(1, self.ends(rank, 0))
        self.watch()
        self.assertEqual(self.out.getvalue(), "table\nunfinished\n")
        self.assertEqual(self.errors.getvalue(), "")

    def test_verbose_shows_everybody_with_a_name(self) -> None:
        self.write(0, "nccl.log", "a\n")
        self.write(1, "stdout.log", "b\n")
        for rank in (0, 1):
            self.at(1, self.ends(rank, 0))
        self.watch(verbose=True)
        self.assertEqual(self.errors.getvalue(), "[rank 0] a\n[rank 1] b\n")


if __name__ == "__main__":
    unittest.main()
