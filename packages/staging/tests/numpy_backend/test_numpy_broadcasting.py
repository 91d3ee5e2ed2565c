"""Broadcasting on the NumPy backend: left to the ufuncs that do it themselves, and done for everything else."""

from functools import partial
from typing import Any

import numpy as np
import pytest

from lawful import ops
from lawful.core import ClosedJaxpr, Primitive, eval_closed_jaxpr
from lawful.staging import jit as jit_by
from lawful.staging import make_jaxpr
from lawful.staging._numpy_backend.source import numpy_function

jit = partial(jit_by, backend="numpy")

rows = ops.broadcast_in_dim
x, v, w = np.arange(12.0).reshape(3, 4) - 5.0, np.arange(4.0) + 1.0, np.arange(3.0)

#: Programs with the arrays that they are given, and whether they broadcast in the end.
PROGRAMS: dict[str, tuple[Any, tuple[Any, ...], bool]] = {
    "a row": (lambda x, v: x + v, (x, v), False),
    "a row first": (lambda x, v: v - x, (x, v), False),
    "a traced number": (lambda x, a: x * rows(a, (3, 4), ()), (x, np.float64(3.0)), False),
    "a number of Python's": (lambda x, a: rows(a, (3, 4), ()) / x, (x, 3.0), False),
    "a number in single precision": (
        lambda x, a: x + rows(a, (3, 4), ()),
        (x.astype("f4"), np.float32(3.0)),
        False,
    ),
    "an array without dimensions": (lambda x, a: x * rows(a, (3, 4), ()), (x, np.array(3.0)), False),
    "a comparison": (lambda x, v: x > v, (x, v), False),
    "integers that are divided": (lambda x, v: ops.div(x, v), (x.astype(int), v.astype(int)), True),
    "twice": (lambda x, v: (lambda r: (x * r) + r)(rows(v, (3, 4), (1,))), (x, v), False),
    "both operands": (lambda v: (lambda r: r * r)(rows(v, (3, 4), (1,))), (v,), True),
    "both operands, of two arrays": (lambda v, a: rows(v, (3, 4), (1,)) + rows(a, (3, 4), ()), (v, 2.0), True),
    "beside a scalar": (lambda v, a: rows(v, (3, 4), (1,)) * a, (v, 2.0), True),
    "also a result": (lambda x, v: (lambda r: (x + r, r))(rows(v, (3, 4), (1,))), (x, v), True),
    "also reduced": (lambda x, v: (lambda r: (x + r, r.sum(0)))(rows(v, (3, 4), (1,))), (x, v), True),
    "a column": (lambda x, w: x + w[:, None], (x, w), True),
    "a matrix product": (lambda x, v: x @ rows(v, (4, 4), (1,)), (x, v), True),
    "broadcast again": (lambda x, a: x + rows(rows(a, (4,), ()), (3, 4), (1,)), (x, 2.0), True),
    "a row of one": (lambda x, a: x + rows(a, (3, 4), (0, 1)), (x, np.ones((1, 1))), False),
    "no rows": (lambda x, v: x[:0] + v, (x, v), False),
    "from one to none": (lambda x, a: x[:0] + rows(a, (0, 4), (0, 1)), (x, np.ones((1, 4))), False),
    "through a choice": (lambda x, v: ops.select(x > 0, x, rows(v, (3, 4), (1,))), (x, v), True),
}


def evaluated(closed: ClosedJaxpr, args: Any) -> list[Any]:
    with np.errstate(all="ignore"):
        return eval_closed_jaxpr(closed, *args)


@pytest.mark.parametrize(("f", "args", "broadcasts"), PROGRAMS.values(), ids=list(PROGRAMS))
def test_numpy_broadcasting_left_to_ufuncs_alone(f: Any, args: Any, broadcasts: bool) -> None:
    closed = make_jaxpr(f)(*args)
    assert "broadcast_in_dim" in str(closed)
    got = jit(f)(*args)
    for one, other in zip(got if isinstance(got, tuple) else [got], evaluated(closed, args), strict=True):
        np.testing.assert_array_equal(one, other, strict=True)
        assert one.flags.writeable
    assert ("broadcast_in_dim" in jit(f).lower(*args).as_text()) == broadcasts
    with np.errstate(all="ignore"):
        for one, other in zip(numpy_function(closed)(*args), evaluated(closed, args), strict=True):
            np.testing.assert_array_equal(one, other, strict=True)


def test_numpy_broadcasting_frees_after_the_last_use() -> None:
    def f(x: Any, v: Any) -> Any:
        doubled = v * 2.0
        row = rows(doubled, (3, 4), (1,))
        other = v * 3.0  # must not take the place of what is still to be repeated
        return x * row + other

    np.testing.assert_array_equal(jit(f)(x, v), x * (v * 2.0) + v * 3.0)


seen: list[Any] = []
see_p = Primitive("test_see", multiple_results=True, effectful=True)
see_p.def_abstract_eval(lambda *avals: [])


@see_p.def_impl
def _see(*args: Any) -> list[Any]:
    seen.extend(args)
    return []


def test_numpy_broadcasting_for_an_operation_without_results() -> None:
    def f(v: Any) -> Any:
        row = rows(v, (3, 4), (1,))
        see_p.bind(row)
        return row + 1.0

    np.testing.assert_array_equal(jit(f)(v), np.tile(v + 1.0, (3, 1)))
    [row] = seen
    np.testing.assert_array_equal(row, np.tile(v, (3, 1)))
