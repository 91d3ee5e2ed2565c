"""The walk of dtypes is complete, and docs/numpy.md names each exception to ``jit(f) = f``, which still occurs."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import lawful.numpy as lnp
from lawful import ops, random, special
from lawful.core import Primitive, jaxprs_in_params
from lawful.numpy import fft, linalg
from lawful.special import stats
from lawful.staging import jit, make_jaxpr

from .calls.dtypes import cast
from .calls.numpy_functions import shared
from .calls.ops import ELEMENTWISE, FUNCTIONS
from .calls.other_functions import OF_LAWFUL_NUMPY, RANDOM, SPECIAL, STATS
from .test_every_dtype import BY_OPERATORS, OF_VALUES

PAGE = Path(__file__).parents[2] / "docs/numpy.md"

#: Public names that are not walked, by the reason.
NOT_WALKED = {
    "a module": {"linalg", "stats", "numpy_reduction", "sliding_window"},
    "makes slices and grids of Python numbers": {"index_exp", "s_", "mgrid", "ogrid"},
    "takes types and shapes, or names, and no arrays": {
        *("canonical_axes", "canonical_axis", "check_sizes", "conv_dimension_numbers", "padtype_to_pads"),
        *("conv_general_shape_tuple", "conv_shape_tuple", "conv_transpose_shape_tuple"),
        *("is_axis_of_scalar", "is_eager", "reduced_axes", "static_integers"),
    },
    "declares, registers or observes a function": {
        *(
            "call_with_values",
            "composite",
            "elementwise",
            "register_numpy_functions",
            "register_ufuncs",
            "tangent_sum_hook",
        ),
    },
    "is about the weakness inside of a jaxpr, which has an aval": {"with_weakness_of"},
}


def _walked() -> set[str]:
    """Returns the names that the walk calls, those of a submodule after its name."""
    return {*shared, *OF_LAWFUL_NUMPY, *ELEMENTWISE, *FUNCTIONS, *SPECIAL, *STATS, *RANDOM}


def _names(module: ModuleType, prefix: str = "") -> list[str]:
    """Returns the public names that are no constants, types and primitives."""
    values = {prefix + name: getattr(module, name) for name in module.__all__}
    fixed = (type, Primitive, np.dtype, np.bool_, float, type(None))
    return [name for name, value in values.items() if not isinstance(value, fixed)]


def _is_of(module: ModuleType, name: str, value: Any) -> bool:
    return callable(value) and value.__module__ == module.__name__ and not name.startswith("_")


def test_walk_of_dtypes_has_every_public_name():
    public = [*_names(lnp), *_names(linalg, "linalg."), *_names(fft, "fft."), *_names(ops), *_names(special)]
    public += _names(random)
    for name in stats.__all__:
        module = getattr(stats, name)
        public += [f"{name}.{x}" for x, value in vars(module).items() if _is_of(module, x, value)]
    left = set().union(*NOT_WALKED.values())
    assert set(public) - _walked() == left
    assert not left & _walked()


def _primitives(jaxpr: Any) -> set[str]:
    found = set()
    for eqn in jaxpr.eqns:
        found.add(eqn.primitive.name)
        for inner in jaxprs_in_params(eqn.params):
            found |= _primitives(inner)
    return found


#: Functions of no name of their own, which derivatives are made of.
IN_DERIVATIVES = {
    *("bessel_ine", "beta_density", "boxcox1p_derivative", "boxcox1p_slope", "boxcox_derivative"),
    *("dawsn_derivative", "digamma_derivative_of_sum", "digamma_difference", "digamma_mean", "direction_cosine"),
    *("erfcx_derivative", "inversion", "log_gamma_quotient_derivative", "log_ndtr_derivative", "pow_derivative"),
    *("product_cotangent", "product_tangent", "sinc_derivative", "spence_derivative"),
    *("regularized_incomplete_beta_derivative", "solve_by_factors", "zeta_derivative"),
}
OTHERS = np.dtype(np.int64), np.dtype(np.complex128)


def test_walk_of_dtypes_binds_every_primitive():
    found: set[str] = set()
    for table in (ELEMENTWISE, FUNCTIONS, SPECIAL):
        for calls in table.values():
            for call in calls:
                for args in (call.args, *[[cast(x, dtype) for x in call.args] for dtype in OTHERS]):
                    with suppress(TypeError, ValueError, IndexError):  # it takes other dtypes, or known values
                        found |= _primitives(make_jaxpr(call.function)(*args).jaxpr)
    every = {value.name for name in ops.__all__ if isinstance(value := getattr(ops, name), Primitive)}
    assert every - found == IN_DERIVATIVES


# The exceptions


def _table() -> list[tuple[str, str]]:
    """Returns the two first cells of each row of the table of exceptions."""
    lines = PAGE.read_text(encoding="utf-8").split("The exceptions:")[1].split("\n\n")[1].splitlines()
    rows = [tuple([cell.strip() for cell in line.strip("|").split("|")]) for line in lines[2:]]
    return [(row[0], row[1]) for row in rows]


def _differs(eager: Callable[[], Any], other: Callable[[], Any]) -> bool:
    results = []
    for run in (eager, other):
        try:
            results.append(np.asarray(run()))
        except Exception as error:
            results.append(type(error))
    one, two = results
    if isinstance(one, type) or isinstance(two, type):
        return one is not two
    return one.dtype != two.dtype or one.shape != two.shape or not np.array_equal(one, two, equal_nan=False)


NARROW, INTEGERS = np.ones(2, ml_dtypes.bfloat16), np.arange(2)


def _by(backend: str, function: Callable[..., Any], *args: Any) -> bool:
    return _differs(lambda: function(*args), lambda: jit(function, backend=backend)(*args))


def _astype(x: Any) -> Any:
    return x.astype("int64")


#: For each row, whether it is seen: on each of its backends.
SEEN: dict[str, Callable[[str], bool]] = {
    "an operator of NumPy arrays, one of bfloat16 or a float8, as in `x + y`": lambda backend: _by(
        backend, lambda x, y: x + y, NARROW, INTEGERS
    ),
    "an operator or a method of NumPy arrays of integers of 2 or 4 bits, as in `x + x`": lambda backend: all(
        [_by(backend, f, np.ones(2, ml_dtypes.int4)) for f in (lambda x: x + x, lambda x: x.sum())]
    ),
    "an error that depends on values": lambda backend: _by(backend, linalg.inv, np.ones((2, 2))),
    "a length that depends on values": lambda backend: _by(backend, lnp.unique, INTEGERS),
    "`roots` of coefficients with a leading zero": lambda backend: _by(backend, lnp.roots, np.array([0.0, 1.0, 2.0])),
    "a subnormal number, below about 2.2e-308": lambda backend: _by(backend, lambda x: x * 2.0, np.array([5e-324])),
    "a float that is NaN or out of range of an integer dtype, converted to it by `dtype=` or by `x.astype` of a "
    "NumPy array": lambda backend: all(
        [_by(backend, f, np.array([np.nan, 1e300])) for f in (lambda x: lnp.asarray(x, "int64"), _astype)]
    ),
    "1 times a complex number, a part of which is infinite or NaN": lambda backend: _by(
        backend, lambda z: lnp.isnan(lnp.imag(z * 1.0)), np.array([complex(np.inf, 0.0)])
    ),
    "an integer to a negative power": lambda backend: _by(backend, lnp.power, np.array([2, 1]), np.array([-1, -1])),
    "a reduction or a cumulative sum or product, partial results of which overflow or underflow": lambda backend: _by(
        backend, lnp.cumprod, np.array([1e200, 1e200, *[1.0] * 20, 1e-200, 1e-200, *[1.0] * 40])
    ),
    "`det` of a singular matrix of two or three rows, products of whose elements overflow": lambda backend: _by(
        backend, linalg.det, 2.0**700 * np.array([[1.0, 0.3, 0.7], [1.0, 0.3, 0.7], [0.0, -0.7, 0.3]])
    ),
    "`det` of a matrix with an infinite or NaN element": lambda backend: _by(
        backend, linalg.det, np.diag([np.inf, 0.0])
    ),
}


def test_table_of_exceptions_has_a_case_for_each_row():
    assert [row for row, _ in _table()] == list(SEEN)


@pytest.mark.parametrize("row", SEEN)
def test_exception_of_the_table_occurs(row: str):
    """A row whose exception is gone is taken out of the page; one that says XLA does not concern the NumPy backend."""
    only_by_xla = dict(_table())[row] == "XLA"
    with warnings.catch_warnings(action="ignore"), np.errstate(all="ignore"):
        assert SEEN[row]("xla")
        assert SEEN[row]("numpy") == (not only_by_xla)


def test_walk_of_dtypes_leaves_out_what_the_table_names():
    """Each call that the walk leaves out is one of a row of the table, which it shows."""
    assert {"finfo", "indices", "from_dlpack"} == BY_OPERATORS
    zero_first = {"geomspace": lambda x: lnp.geomspace(x, 2.0, 3), "roots": lambda x: lnp.roots(lnp.stack([x, 1.0]))}
    assert zero_first.keys() == OF_VALUES
    for function in zero_first.values():
        assert _by("numpy", function, np.False_)
