"""`make live` shows Fairberth at work, and leaves nothing behind."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.cluster


def test_two_tenants_work_and_everything_stops_again() -> None:
    command = [sys.executable, "-m", "tests.cluster.live", "--nodes", "4", "--seconds", "15"]
    root = Path(__file__).parents[2]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=180)
    assert done.returncode == 0, done.stderr
    assert "kubectl --kubeconfig" in done.stdout
    lines = [line for line in done.stdout.splitlines() if "running" in line and "waiting" in line]
    counts = [int(n) for n in re.findall(r"(\d+) running", lines[-1])]
    assert all(counts), done.stdout
    folder = re.search(r"--kubeconfig (\S+)", done.stdout)
    assert folder is not None
    assert not Path(folder[1]).parent.exists()
