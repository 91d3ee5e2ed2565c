"""Staging buffers: no call writes to memory that the program of an earlier one may still read."""

import gc
import weakref
from typing import Any

import numpy as np
import pytest

import lawful.numpy as lnp
from lawful.staging import jit
from lawful.xla_backend import device_put
from lawful.xla_backend._programs import staging_buffers

MATRIX = np.eye(400)


def _slow_sum(x: Any) -> Any:
    """Returns the sum of an argument, which is read after products of matrices that take some milliseconds."""
    zero = lnp.sum((device_put(MATRIX) @ lnp.sin(MATRIX * x[0]) @ MATRIX @ MATRIX)[0, 1:]) * 0.0
    return lnp.sum(x + zero)


def test_jit_slow_program_runs_after_its_call() -> None:
    """Otherwise no test of this file tests anything."""
    compiled = jit(_slow_sum, backend="xla")
    compiled(np.ones(8)).block_until_ready()
    assert not all([compiled(np.ones(8)).is_ready() for _ in range(10)])


@pytest.mark.parametrize("size", [1, 8, 3_000, 20_000, 200_000])
def test_jit_calls_that_run_at_a_time_keep_their_arguments(size: int) -> None:
    """No call waits. There are more of them than sets of staging buffers, and sizes that have none."""
    compiled = jit(_slow_sum, backend="xla")
    arguments = [np.full(size, float(k)) for k in range(12)]
    for _ in range(3):
        found = [compiled(x) for x in arguments]
        assert [float(x) for x in found] == [float(size * k) for k in range(12)]


def test_jit_argument_may_change_while_the_program_runs() -> None:
    compiled, x = jit(_slow_sum, backend="xla"), np.zeros(8)
    found = []
    for k in range(12):
        x[...] = k
        found.append(compiled(x))
    assert [float(y) for y in found] == [8.0 * k for k in range(12)]


def test_jit_results_that_nobody_keeps_show_no_end() -> None:
    """A result that was dropped or donated does not tell whether its program has ended."""
    compiled = jit(lambda x: lnp.broadcast_to(_slow_sum(x), (20_000,)), backend="xla")
    donating = jit(lambda y: y + 1.0, donate_argnums=0, backend="xla")
    for k in range(30):
        x = np.full(8, float(k))
        compiled(x)
        donated = donating(compiled(x))
        np.testing.assert_array_equal(np.asarray(donated), 8.0 * k + 1.0)


@pytest.mark.fast
def test_jit_number_of_staging_sets_is_bounded() -> None:
    before = [x for x in gc.get_objects() if type(x) is staging_buffers.StagingSets]
    compiled = jit(lambda x: _slow_sum(x) + 0.0, backend="xla")
    kept = [compiled(np.full(8, float(k))) for k in range(20)]
    [sets] = [x for x in gc.get_objects() if type(x) is staging_buffers.StagingSets and x not in before]
    assert 1 <= len(sets._running) + len(sets._free) <= staging_buffers._MAX_RUNNING
    assert [float(x) for x in kept] == [8.0 * k for k in range(20)]


def test_jit_large_result_is_freed_before_the_next_call() -> None:
    compiled = jit(lambda x: lnp.broadcast_to(_slow_sum(x), (200_000,)), backend="xla")
    for k in range(4):
        result = compiled(np.full(8, float(k)))
        buffer = weakref.ref(result._buffer)
        del result
        gc.collect()
        assert buffer() is None


def test_jit_weak_and_device_arguments_beside_staged_ones() -> None:
    compiled = jit(lambda a, b, c, d: _slow_sum(a) * b + c.sum() + d, backend="xla")
    on_device = device_put(np.arange(3.0))
    found = [compiled(np.full(4, float(k)), float(k), on_device, k) for k in range(10)]
    assert [float(x) for x in found] == [4.0 * k * k + 3.0 + k for k in range(10)]


def test_jit_small_result_that_is_donated() -> None:
    """A small result is kept to see whether its program has ended; after a donation it cannot tell."""
    compiled = jit(lambda x: _slow_sum(x) * 1.0, backend="xla")
    donating = jit(lambda y: y + 1.0, donate_argnums=0, backend="xla")
    found = [donating(compiled(np.full(8, float(k)))) for k in range(20)]
    assert [float(y) for y in found] == [8.0 * k + 1.0 for k in range(20)]
