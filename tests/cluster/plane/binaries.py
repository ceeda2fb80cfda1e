"""The control plane's programs: built once from the modules in `tests/cluster/tools`, then kept.

A recipe's folder in the cache is named after everything that goes into it, so a change builds anew and two branches
don't disturb each other. `python -m tests.cluster.plane.binaries` builds what is missing; `--list` only says what is
there.
"""

import argparse
import fcntl
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from tests.cluster.plane.golang import Go, find_go, required_version
from tests.cluster.plane.recipes import KUBECTL, RECIPES, TOOLS, Recipe, cache_key, linker_flags


def cache_root(environ: Mapping[str, str] = os.environ) -> Path:
    """Where built programs are kept: `$FAIRBERTH_CACHE`, else `fairberth` in the user's cache folder."""
    if "FAIRBERTH_CACHE" in environ:
        return Path(environ["FAIRBERTH_CACHE"])
    return Path(environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "fairberth"


def ensure() -> dict[str, Path]:
    """The path of each program and copied file by its name; builds what is missing (minutes, told on stderr).

    Raises `GoError` when there is no usable Go or a build fails.
    """
    go = _go()
    kubectl = working_kubectl()
    recipes = RECIPES if kubectl else (*RECIPES, KUBECTL)
    _announce([recipe for recipe in recipes if not _folder(recipe, go).exists()])
    found = {name: path for recipe in recipes for name, path in _ensure_recipe(recipe, go).items()}
    return {**found, "kubectl": kubectl} if kubectl else found


def working_kubectl() -> Path | None:
    """The kubectl on PATH, if it runs."""
    program = shutil.which("kubectl")
    if program and subprocess.run([program, "version", "--client"], capture_output=True).returncode == 0:
        return Path(program)
    return None


def _go() -> Go:
    return find_go(required_version([path.read_text() for path in sorted(TOOLS.glob("*/go.mod"))]))


def _folder(recipe: Recipe, go: Go) -> Path:
    return cache_root() / recipe.name / cache_key(recipe, TOOLS, go.version, go.target)


def _ensure_recipe(recipe: Recipe, go: Go) -> dict[str, Path]:
    folder = _folder(recipe, go)
    if not folder.exists():
        with locked(folder.parent.with_suffix(".lock")):
            if not folder.exists():  # another run may have built it while this one waited
                _build(recipe, go, folder)
    return {name: folder / name for name in (*recipe.packages, *recipe.copies)}


def _build(recipe: Recipe, go: Go, folder: Path) -> None:
    module = TOOLS / recipe.module
    flags = linker_flags((module / "go.mod").read_text())
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".building-") as temporary:
        unfinished = Path(temporary, "out")
        unfinished.mkdir()
        for name, package in recipe.packages.items():
            started = time.monotonic()
            go.build(package, unfinished / name, flags, cwd=module, progress=_say)
            _say(f"  {name}: built in {time.monotonic() - started:.0f} s")
        for name, (origin, path) in recipe.copies.items():
            source = Path(go.run("list", "-m", "-f", "{{.Dir}}", origin, cwd=module).strip(), path)
            (unfinished / name).write_bytes(source.read_bytes())
        unfinished.rename(folder)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Holds the file lock `path`, waiting for another run that has it; a dead run's lock is free at once."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            _say(f"  waiting for another run that builds {path.stem}")
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _announce(missing: list[Recipe]) -> None:
    if missing:
        minutes = sum(recipe.minutes for recipe in missing)
        names = ", ".join(name for recipe in missing for name in recipe.packages)
        _say(f"Building {names}: about {minutes:.0f} min on two cores the first time, then kept in {cache_root()}")


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _list() -> None:
    go = _go()
    on_path = working_kubectl()
    for recipe in (*RECIPES, KUBECTL):
        folder = _folder(recipe, go)
        for name in recipe.packages:
            built = folder / name if folder.exists() else None
            print(f"{name:26}{(on_path if recipe is KUBECTL else None) or built or 'not built'}")


def main() -> None:
    """Builds what is missing and prints where each program is."""
    parser = argparse.ArgumentParser(prog="python -m tests.cluster.plane.binaries", description=main.__doc__)
    parser.add_argument("--list", action="store_true", help="say what is built and where; build nothing")
    if parser.parse_args().list:
        _list()
        return
    for name, path in ensure().items():
        print(f"{name:26}{path}")


if __name__ == "__main__":
    main()
