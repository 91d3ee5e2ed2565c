"""Values that processes exchange: ``process_allgather``, ``broadcast_one_to_all``, ``assert_equal`` and waits."""

from pathlib import Path

import numpy as np
import pytest

from lawful.parallel import assert_equal, broadcast_one_to_all, process_allgather, sync_global_devices

from .running import run


def test_process_allgather_of_one_process() -> None:
    sync_global_devices("alone")
    assert_equal(np.nan)
    gathered = process_allgather({"a": np.arange(2), "b": 1.0})
    np.testing.assert_equal(gathered, {"a": np.array([[0, 1]]), "b": np.array([1.0])})
    np.testing.assert_equal(process_allgather(np.arange(2), tiled=True), np.arange(2))
    np.testing.assert_equal(broadcast_one_to_all((1, np.ones(2))), (np.array(1), np.ones(2)))


def test_host_values_of_two_processes(tmp_path: Path) -> None:
    pytest.importorskip("lawful.xla_backend", reason="several processes need XLA")
    program = """
import ml_dtypes
i = start()
time.sleep(0.2 * i)
sync_global_devices("begin"); sync_global_devices("begin")
print(process_allgather({"a": i, "b": np.arange(2) + 10 * i}))
print(process_allgather(np.full((1, 2), i), tiled=True).tolist())
print(process_allgather(np.array([i, 2.5], ml_dtypes.bfloat16)).tolist())
print(process_allgather(np.zeros((0, 3))).shape, process_allgather([]))
print(broadcast_one_to_all([np.float32(i + 5)]), broadcast_one_to_all(i, is_source=i == 1))
big = process_allgather(np.full(1_000_000, i))
print(big.shape, big.sum())
assert_equal({"step": 3})
print(process_allgather(global_array()).tolist())
for wrong in (lambda: assert_equal({"z": i}, "seeds"), lambda: process_allgather(np.zeros(i + 1)),
              lambda: broadcast_one_to_all(i, is_source=True), lambda: process_allgather({"k": 1} if i else [1])):
    report(wrong)
"""
    for process in run(tmp_path, program):
        assert process.status == 0, process.err
        assert process.lines[:7] == [
            "{'a': array([0, 1]), 'b': array([[ 0,  1],       [10, 11]])}",
            "[[0, 0], [1, 1]]",
            "[[0.0, 2.5], [1.0, 2.5]]",
            "(2, 0, 3) []",
            "[array(5., dtype=float32)] 1",
            "(2, 1000000) 1000000",
            "[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]",
        ]
        for line, text in zip(
            [line for line in process.lines if "ProcessMismatchError" in line],
            ["expected in_tree['z'] to be equal in all processes, got 0 in process 0 and 1 in process 1; seeds",
             "expected the same structure and types", "got 2; let is_source", "expected the same structure"],
            strict=True,
        ):  # fmt: skip
            assert text in line


def test_sync_global_devices_different_names_is_an_error(tmp_path: Path) -> None:
    pytest.importorskip("lawful.xla_backend", reason="several processes need XLA")
    for process in run(tmp_path, "i = start()\nreport(lambda: sync_global_devices(f'place {i}'))"):
        assert "ProcessMismatchError" in process.out
        assert "process 0 in sync_global_devices('place 0')" in process.out
        assert "process 1 in sync_global_devices('place 1')" in process.out
        assert process.seconds < 20


def test_sync_global_devices_times_out_and_names_the_absent(tmp_path: Path) -> None:
    pytest.importorskip("lawful.xla_backend", reason="several processes need XLA")
    program = """
i = start(collective_timeout_seconds=2)
if i == 0:
    report(lambda: sync_global_devices("end"))
    open("over", "w")
while not os.path.exists("over"):
    time.sleep(0.05)
"""
    first, _ = run(tmp_path, f"os.chdir({str(tmp_path)!r})\n{program}")
    assert "ProcessTimeoutError" in first.out
    assert "got process 1 not there within 2 s (process 0 in sync_global_devices('end')" in first.out
    assert 1.5 < first.seconds < 15
