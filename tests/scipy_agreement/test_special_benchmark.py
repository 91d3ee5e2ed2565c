"""The benchmark of special functions and linear algebra runs, and its peers compute the same."""

import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jax
import pytest

NAMES = ("gammaln", "digamma", "betainc", "gammainc", "erfinv", "i0e")
MATRICES = ("cholesky", "solve", "qr", "svd", "eigh", "det", "expm")


@pytest.fixture
def benchmark(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The module of the benchmark's cases; the numbers of JAX have 64 bits."""
    monkeypatch.syspath_prepend(Path(__file__).parents[2])
    before = jax.config.jax_enable_x64
    cases = importlib.import_module("benchmarks.special._cases")
    cases.systems["jax"]()  # sets 64 bits for the whole process
    jax.config.update("jax_enable_x64", before)
    with jax.enable_x64(True):
        yield cases


@pytest.mark.parametrize("name", NAMES + MATRICES)
def test_special_benchmark_agrees_with_jax(name: str, benchmark: Any) -> None:
    assert max(benchmark.difference(name, 3).values()) < 1e-13


def test_special_benchmark_measures_all_kinds(benchmark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each kind of row of tiny arguments has the samples of all of its peers."""
    run = importlib.import_module("benchmarks._run")
    monkeypatch.setattr(benchmark, "cases", found := [])
    monkeypatch.setattr(benchmark, "ELEMENTS", (2,))
    monkeypatch.setattr(benchmark, "ROWS", {2: 2})
    benchmark.declare()
    names = ("gammainc, 2, value", "gammainc, 2, gradient by a", "cholesky, 2 × 2, gradient", "expm, 2, value")
    rows = run.measured([case for case in found if case.name in names], 0.001)
    assert len(rows) == 3 * 2 + 2 * 2
    assert all(row.measured.samples.keys() == {"lawful", *row.case.most} for row in rows)
    assert {peer for row in rows for peer in row.case.most} == {
        "jax", "scipy", "scipy's value", "numpy's value", "autograd",
    }  # fmt: skip
