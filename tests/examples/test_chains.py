"""Chains on eight devices have the known posterior and agree; R-hat tells chains that do not."""

import subprocess
import sys
from pathlib import Path
from types import ModuleType

import numpy as np

from lawful.parallel import P, make_mesh, numpy_devices, shard_map

EXAMPLES = Path(__file__).parents[2] / "examples"


def test_chains_agree_and_have_the_known_posterior(tmp_path: Path) -> None:
    picture = tmp_path / "picture.png"
    options = ["--draws", "200", "--chains", "32", "--output", str(picture)]
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / "chains.py"), *options], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "32 chains on 8 devices" in done.stdout
    assert picture.stat().st_size > 20_000


def test_chains_r_hat_on_parts_is_that_of_all_chains(example: ModuleType) -> None:
    draws = np.random.default_rng(0).normal(size=(100, 8, 2)) + np.array([0.0, 3.0]) * np.arange(8.0)[:, None]
    mesh = make_mesh((4,), ("chains",), devices=numpy_devices(4))
    found = shard_map(example.r_hat, mesh=mesh, in_specs=P(None, "chains"), out_specs=P())(draws)
    within, between = draws.var(0, ddof=1).mean(0), draws.mean(0).var(0, ddof=1)
    np.testing.assert_allclose(found, np.sqrt(0.99 + between / within))
    assert found[0] < 1.05 < found[1]
