"""The site, built once for all tests."""

import fcntl
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))  # for tools.site


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """Returns the folder of the site, which the first of the processes that run tests builds."""
    for module in ("sphinx", "furo", "myst_parser", "nbclient"):
        pytest.importorskip(
            module, reason="the group docs is not installed: uv run --group docs pytest tests/docs_site"
        )
    base = tmp_path_factory.getbasetemp()
    mark = (base if worker_id == "master" else base.parent) / "site_is_built"
    with mark.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not mark.exists():
            done = subprocess.run(
                [sys.executable, "-m", "tools.site"], cwd=ROOT, capture_output=True, text=True, check=False
            )
            mark.write_text(f"{done.stdout}{done.stderr}" if done.returncode else "")
    report = mark.read_text()
    assert not report, report
    return ROOT / "build/site/html"
