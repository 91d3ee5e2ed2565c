"""The NumPy backend computes small values that depend on no argument once, when it compiles."""

import warnings
from functools import partial
from typing import Any

import numpy as np
import pytest

from lawful import ops
from lawful.core import Primitive
from lawful.staging import jit as jit_by
from lawful.staging import make_jaxpr
from lawful.staging._numpy_backend.source import numpy_function

jit = partial(jit_by, backend="numpy")


def mask(size: int) -> Any:
    row, column = (ops.broadcasted_iota("int64", (size, size), dim) for dim in (0, 1))
    return row >= column


def triangle(x: Any) -> Any:
    return ops.where(mask(3), x, 0.0)


def test_numpy_folding_leaves_no_equation_of_constants() -> None:
    source = jit(triangle).lower(np.ones((3, 3))).as_text()
    assert "iota" not in source
    assert "ge" not in source
    assert "select_n" in source
    np.testing.assert_array_equal(jit(triangle)(np.full((3, 3), 2.0)), np.tril(np.full((3, 3), 2.0)))


def test_numpy_folding_gives_new_results_in_each_call() -> None:
    function = numpy_function(make_jaxpr(lambda x: (mask(2), x))(1.0))
    (first, _), (second, _) = function(1.0), function(1.0)
    first[:] = False
    assert second.tolist() == [[True, False], [True, True]]
    assert function(1.0)[0].tolist() == [[True, False], [True, True]]


def test_numpy_folding_keeps_few_elements() -> None:
    assert "iota" in jit(lambda x: ops.where(mask(200), x, 0.0)).lower(np.ones((200, 200))).as_text()
    many = jit(lambda x: sum([x + ops.broadcasted_iota("int64", (1000 + i,), 0)[i] for i in range(100)])).lower(1.0)
    assert 80 < many.as_text().count("= iota") < 100


def test_numpy_folding_leaves_warnings_to_calls() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        closed = make_jaxpr(lambda x: x + ops.log(ops.mul(np.float64(0.0), 1.0)))(1.0)
        function = numpy_function(closed)
    with pytest.warns(RuntimeWarning, match="divide by zero"):
        assert function(1.0) == [-np.inf]


def test_numpy_folding_leaves_errors_to_calls() -> None:
    fails_p = Primitive("fails", pure_rules=True)
    fails_p.def_abstract_eval(lambda x: x)

    @fails_p.def_impl
    def _impl(x: Any) -> Any:
        raise ZeroDivisionError(f"of {x}")

    function = numpy_function(make_jaxpr(lambda x: x + fails_p.bind(2.0))(1.0))
    with pytest.raises(ZeroDivisionError, match=r"of 2\.0"):
        function(1.0)
