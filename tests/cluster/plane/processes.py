"""Programs of one control plane: started in groups of their own, logged, stopped in order, never left behind.

A small shell, the watchdog, reads from a pipe that only this process holds open. When this process ends in any way,
`kill -9` included, the pipe closes and the watchdog kills every group that was not stopped. (A parent-death signal
would not do: it follows the starting thread, and reaches no grandchildren.)
"""

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path

_WATCHDOG = """
trap '' INT TERM HUP
groups=' '
while read -r verb group; do
  case $verb in
    start) groups="$groups$group " ;;
    stop) groups="${groups%%" $group "*} ${groups#*" $group "}" ;;
  esac
done
for group in $groups; do kill -s KILL -- "-$group"; done
"""


class StopOrder(IntEnum):
    """Lower stops first: with etcd gone first, the apiserver ignores SIGTERM for many minutes."""

    CLIENT = 0
    APISERVER = 1
    ETCD = 2


@dataclass(frozen=True)
class Program:
    """A started program: leader of its own process group, writing both outputs to `log`."""

    name: str
    order: StopOrder
    process: subprocess.Popen[bytes]
    log: Path

    @property
    def running(self) -> bool:
        """Whether it has not exited."""
        return self.process.poll() is None

    def log_tail(self, lines: int = 20) -> str:
        """The end of its log, for error messages."""
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-lines:])

    def signal(self, number: signal.Signals) -> None:
        """Sends a signal to the whole group; a group that is gone is fine."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, number)


class Programs:
    """The programs of one control plane. Not for use by several threads at once."""

    def __init__(self, logs: Path) -> None:
        """Logs go to `logs`, a file per program, appended when one is started again."""
        self._logs = logs
        self._started: list[Program] = []
        self._watchdog = subprocess.Popen(
            ["sh", "-c", _WATCHDOG],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def start(
        self, name: str, command: Sequence[str | Path], order: StopOrder, env: Mapping[str, str] | None = None
    ) -> Program:
        """Starts `command` with `env` added to the environment; raises OSError if it can't be executed."""
        log = self._logs / f"{name}.log"
        with log.open("ab") as output:
            process = subprocess.Popen(
                command,
                env={**os.environ, **(env or {})},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self._tell_watchdog("start", process.pid)
        program = Program(name, order, process, log)
        self._started.append(program)
        return program

    def stop(self, program: Program, patience: float = 10.0) -> None:
        """Asks one program to stop, kills its group after `patience` seconds, and waits until it is gone."""
        self._stop_together([program], patience)

    def stop_all(self, patience: float = 10.0) -> None:
        """Stops all, clients first and etcd last, `patience` seconds for each step; then ends the watchdog."""
        for step in in_stop_order(self._started):
            self._stop_together(step, patience)
        self._watchdog.kill()
        self._watchdog.wait()
        if self._watchdog.stdin:
            self._watchdog.stdin.close()

    def dead(self) -> list[Program]:
        """Programs that exited although nobody stopped them."""
        return [program for program in self._started if not program.running]

    def _stop_together(self, programs: list[Program], patience: float) -> None:
        for program in programs:
            program.signal(signal.SIGTERM)
        deadline = time.monotonic() + patience
        for program in programs:
            with contextlib.suppress(subprocess.TimeoutExpired):
                program.process.wait(max(0.0, deadline - time.monotonic()))
            program.signal(signal.SIGKILL)  # what the program itself left in its group, too
            program.process.wait()
            self._tell_watchdog("stop", program.process.pid)
            self._started.remove(program)

    def _tell_watchdog(self, verb: str, group: int) -> None:
        if self._watchdog.stdin:
            with contextlib.suppress(BrokenPipeError):
                self._watchdog.stdin.write(f"{verb} {group}\n".encode())
                self._watchdog.stdin.flush()


def in_stop_order(programs: Iterable[Program]) -> list[list[Program]]:
    """Programs in steps: those of one step are stopped together, before those of the next."""
    everything = list(programs)
    steps = [[program for program in everything if program.order is order] for order in StopOrder]
    return [step for step in steps if step]
