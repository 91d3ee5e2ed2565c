"""Training on eight devices has the losses of one, and another loss would be found out."""

import subprocess
import sys
from pathlib import Path

EXAMPLES = Path(__file__).parents[2] / "examples"


def run(program: str, picture: Path) -> subprocess.CompletedProcess[str]:
    """Runs code in a process of its own, where the CPU does not count as several devices yet."""
    code = f"import sys; sys.path.insert(0, {str(EXAMPLES)!r}); import data_parallel; {program}"
    return subprocess.run([sys.executable, "-c", code, str(picture)], capture_output=True, text=True, check=False)


CALL = 'sys.exit(data_parallel.main(["--steps", "20", "--output", sys.argv[1]]))'


def test_data_parallel_losses_are_those_of_one_device(tmp_path: Path) -> None:
    done = run(CALL, tmp_path / "picture.png")
    assert done.returncode == 0, done.stderr
    assert "shard_map on eight" in done.stdout
    assert (tmp_path / "picture.png").stat().st_size > 20_000


def test_data_parallel_another_loss_is_reported(tmp_path: Path) -> None:
    wrong = "right = data_parallel.pmean; data_parallel.pmean = lambda x, axis: 1.01 * right(x, axis)"
    done = run(f"{wrong}; {CALL}", tmp_path / "picture.png")
    assert done.returncode == 1, done.stderr
    assert "expected at most" in done.stdout
