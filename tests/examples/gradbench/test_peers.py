"""The objectives, computed by JAX and by Autograd with other imports in their modules, give the same results."""

import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jax
import pytest

NAMES = ("gmm", "bundle adjustment", "hand tracking", "lstm", "kmeans", "lse", "llsq", "ode", "det")


@pytest.fixture
def benchmark(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The module of the benchmark's cases; the numbers of JAX have 64 bits."""
    monkeypatch.syspath_prepend(Path(__file__).parents[3])
    before = jax.config.jax_enable_x64
    cases = importlib.import_module("benchmarks.gradbench._cases")
    cases.objective("jax", "kmeans")  # sets 64 bits for the whole process
    jax.config.update("jax_enable_x64", before)
    with jax.enable_x64(True):
        yield cases


@pytest.mark.parametrize("name", NAMES)
def test_gradbench_agrees_with_jax(name: str, benchmark: Any) -> None:
    assert benchmark.objective("jax", name).value.__globals__["np"].__name__ == "jax.numpy"
    assert max(benchmark.difference(name, "jax").values()) < 1e-11


@pytest.mark.parametrize("name", NAMES[3:])
def test_gradbench_agrees_with_autograd(name: str, benchmark: Any) -> None:
    assert benchmark.objective("autograd", name).value.__globals__["np"].__name__ == "autograd.numpy"
    assert max(benchmark.difference(name, "autograd").values()) < 1e-11
