"""`tools/matrix.py`: which combinations there are, and what its page keeps; it runs them by itself only."""

import importlib
import tomllib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def matrix(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    monkeypatch.syspath_prepend(ROOT)
    module = importlib.import_module("tools.matrix")
    monkeypatch.setattr(module, "PAGE", tmp_path / "supported.md")
    return module


def test_matrix_has_the_declared_pythons(matrix: Any) -> None:
    classifiers = tomllib.loads((ROOT / "packages/core/pyproject.toml").read_text())["project"]["classifiers"]
    declared = {line.rpartition(" ")[2] for line in classifiers if "Python :: 3." in line}
    assert {name for name in matrix.PYTHONS if not name.endswith("t")} == declared


def test_matrix_tests_each_package_with_each_numpy(matrix: Any) -> None:
    for python in matrix.PYTHONS:
        for end in matrix.ENDS:
            rows = [c for c in matrix.combinations() if (c.python, c.numpy) == (python, end)]
            tested = {folder for c in rows for folder in c.folders}
            without = {"xla-backend", "lawful"} if python.endswith("t") else set()
            assert tested == set(matrix.FOLDERS) - without


def test_matrix_page_keeps_rows_of_earlier_runs(matrix: Any) -> None:
    first, second = matrix.combinations()[:2]
    passed = matrix.Row(first, matrix.PASSED, "9 passed", "3.12.1, numpy 2.1.0", "2026-01-01")
    failed = matrix.Row(second, "FAILED: tests", "1 failed, 8 passed", "3.12.1", "2026-01-01")
    matrix.write_page([passed])
    matrix.write_page([failed, matrix.Row(first, matrix.NOT_HERE)])
    found = matrix.read_page()
    assert list(found) == matrix.combinations()
    assert (found[first], found[second]) == (passed, failed)
    assert {row.verdict for row in list(found.values())[2:]} == {matrix.NOT_RUN}


def test_matrix_combination_without_interpreter_does_not_pass(matrix: Any, tmp_path: Path) -> None:
    row, _ = matrix.test(matrix.combinations()[0], None, [], tmp_path, 1)
    assert row.verdict == matrix.NOT_HERE
    assert not row.was_tested


@pytest.mark.parametrize(
    ("output", "counts"),
    [
        ("=== 1 failed, 12 passed, 3 skipped in 4.56s ===", "1 failed, 12 passed, 3 skipped"),
        ("6 failed, 7685 passed, 14 skipped in 960.21s (0:16:00)", "6 failed, 7685 passed, 14 skipped"),
        ("no tests here", ""),
    ],
)
def test_matrix_summary_is_that_of_pytest(matrix: Any, output: str, counts: str) -> None:
    assert matrix.summary(output) == counts
