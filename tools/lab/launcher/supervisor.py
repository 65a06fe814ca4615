"""Watches a run until it has ended, one way or another."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass, field
from typing import Callable, Sequence

from .hosts import Hosts
from .run_folder import LineFollower, RankFolder

_POLL_S = 0.02
_OUTPUTS = ("stdout.log", "stderr.log", "nccl.log")


@dataclass
class Outcome:
    status: int  # what the launcher exits with
    reason: str  # a sentence; empty when all went well
    first_rank_s: float | None
    wall_time_s: float
    exit_codes: dict[int, int | None] = field(default_factory=dict)


class Supervisor:
    def __init__(
        self,
        hosts: Hosts,
        folders: Sequence[RankFolder],
        *,
        started_at_s: float,
        timeout_s: float,
        linger_s: float,
        verbose: bool,
        clock_s: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._hosts = hosts
        self._folders = folders
        self._started_at_s = started_at_s
        self._timeout_s = timeout_s
        self._linger_s = linger_s
        self._clock_s = clock_s
        self._sleep = sleep
        self._first_rank_s: float | None = None
        self._screen = Screen(folders, verbose=verbose)

    def watch(self) -> Outcome:
        failed_at_s: float | None = None
        while True:
            now_s = self._clock_s()
            self._screen.update()
            codes = {folder.rank.number: folder.exit_code() for folder in self._folders}
            if self._first_rank_s is None and self._hosts.running():
                self._first_rank_s = now_s - self._started_at_s

            if all(code is not None for code in codes.values()):
                return self._ended(codes)
            host_failure = self._hosts.failure()
            if host_failure is not None:
                return self._outcome(1, host_failure, codes)
            if now_s - self._started_at_s > self._timeout_s:
                return self._outcome(124, self._late(codes), codes)
            if any(codes.values()):
                failed_at_s = failed_at_s if failed_at_s is not None else now_s
                if now_s - failed_at_s > self._linger_s:
                    return self._outcome(1, describe_failures(self._folders, codes), codes)
            self._sleep(_POLL_S)

    def _ended(self, codes: dict[int, int | None]) -> Outcome:
        self._screen.update(final=True)
        if any(codes.values()):
            return self._outcome(1, describe_failures(self._folders, codes), codes)
        return self._outcome(0, "", codes)

    def _late(self, codes: dict[int, int | None]) -> str:
        passed = f"The deadline of {self._timeout_s:g} s passed"
        if self._first_rank_s is None:
            return f"{passed} before every host had started its ranks."
        names = [folder.rank.name for folder in self._folders if codes[folder.rank.number] is None]
        return f"{passed}; still running: {', '.join(names)}."

    def _outcome(self, status: int, reason: str, codes: dict[int, int | None]) -> Outcome:
        self._screen.update(final=True)
        wall_time_s = self._clock_s() - self._started_at_s
        return Outcome(status, reason, self._first_rank_s, wall_time_s, codes)


class Screen:
    """Shows rank 0's standard output as it comes; when verbose, all that every rank says."""

    def __init__(self, folders: Sequence[RankFolder], *, verbose: bool) -> None:
        self._followers = []
        for folder in folders:
            for name in _OUTPUTS:
                is_table = folder.rank.number == 0 and name == "stdout.log"
                if is_table or verbose:
                    prefix = "" if is_table else f"[rank {folder.rank.number}] "
                    stream = sys.stdout if is_table else sys.stderr
                    self._followers.append((LineFollower(folder.path / name), prefix, stream))

    def update(self, *, final: bool = False) -> None:
        for follower, prefix, stream in self._followers:
            for line in follower.new_lines(with_unfinished=final):
                print(f"{prefix}{line}", file=stream, flush=True)


def describe_failures(folders: Sequence[RankFolder], codes: dict[int, int | None]) -> str:
    """Names the ranks that failed and how, and those that had to be stopped because of them."""
    failed, stopped = [], []
    for folder in folders:
        code = codes[folder.rank.number]
        if code is None:
            stopped.append(folder.rank.name)
        elif code != 0:
            failed.append(f"{folder.rank.name} {describe_exit(code)}")
    sentence = "; ".join(failed)
    if stopped:
        sentence += f"; stopped because of that: {', '.join(stopped)}"
    return sentence + "."


def describe_exit(code: int) -> str:
    """As the shell reports it: 128 + n stands for signal n."""
    if code > 128:
        return f"was killed by signal {code - 128}"
    if code == 127:
        return "could not be started (exit status 127)"
    return f"ended with exit status {code}"
