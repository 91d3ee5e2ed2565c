"""The law ``jit(f) = f`` in value, dtype, shape and weakness, for every function and every dtype, on both backends.

Where one refuses, both do, with the same class of error. The exceptions are those of docs/numpy.md, of which
`test_exceptions_of_dtypes.py` has a case each. The default run compiles a call of each function by XLA, with other
dtypes for each; `HYPOTHESIS_PROFILE=thorough` compiles all. Each dtype occurs alone
and in three mixtures: with another dtype, before and behind a Python number. For special functions, distributions and
random draws, which are made of ops, it is one of the mixtures, and `thorough` takes all.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import settings

import lawful.numpy as lnp
from lawful import ops, special
from lawful.core import get_aval
from lawful.numpy._ufuncs.ufunc import Ufunc
from lawful.staging import jit

from .calls import methods
from .calls.dtypes import PYTHON_NUMBERS, DtypeCall, difference, disagreements, in_every_dtype
from .calls.numpy_functions import calls_by_function, function_of, functions_used, shared
from .calls.ops import ELEMENTWISE, FUNCTIONS, Call
from .calls.other_functions import OF_LAWFUL_NUMPY, RANDOM, SPECIAL, STATS
from .test_every_function import some

THOROUGH = settings.default.max_examples > 1000
#: The number of calls in one XLA program: many dtypes of a long function compile slowly.
COMPILED = 6 if THOROUGH else 1

CALLS = calls_by_function(0)

# Calls that are left out, by the row of the table in docs/numpy.md that gives the reason.
#: The calls of these do something between functions by operators of NumPy's arrays.
BY_OPERATORS = {"finfo", "indices", "from_dlpack"}
#: Booleans have a zero where it decides: an end of `geomspace`, a leading coefficient of `roots`.
OF_VALUES = {"geomspace", "roots"}


def _calls_of(name: str) -> list[DtypeCall]:
    entries = some(list(CALLS[name].values()), 8 if THOROUGH else 1)
    calls = []
    for i, entry in enumerate(entries):
        numbers = isinstance(function_of(lnp, name), Ufunc)
        made = in_every_dtype(f"{name} {i}", lambda *args, e=entry: e.call(lnp, *args), entry.args, of_numbers=numbers)
        of_values = OF_VALUES & functions_used(entry)
        calls += [
            call
            for call in made
            if not (name in BY_OPERATORS and any(map(_is_narrow, call.args)))
            and not (of_values and any(_is_boolean(x) for x in call.args))
        ]
    return calls


def _is_narrow(x: Any) -> bool:
    return bool(get_aval(x).dtype.kind == "V" or "float8" in get_aval(x).dtype.name)


def _is_boolean(x: Any) -> bool:
    return get_aval(x).dtype.kind == "b"


def _check(calls: Sequence[DtypeCall], number: int, *, of_numpy: bool = False) -> None:
    found = disagreements(calls, ["numpy"], of_numpy=of_numpy)
    if not THOROUGH:
        start = number % max(len(calls), 1)
        calls = calls[start : start + COMPILED]
    for start in range(0, len(calls), COMPILED):
        found += disagreements(calls[start : start + COMPILED], ["xla"], of_numpy=of_numpy)
    assert not found, "\n".join(found)


def _check_table(
    table: dict[str, list[Call]], name: str, *, of_numbers: bool = False, all_mixtures: bool = THOROUGH
) -> None:
    options: dict[str, Any] = {"of_numbers": of_numbers, "all_mixtures": all_mixtures}
    calls = [
        call
        for i, c in enumerate(table[name])
        for call in in_every_dtype(f"{name} {i}", c.function, c.args, free=c.free, **options)
    ]
    _check(calls, 7 * list(table).index(name))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", shared)
def test_jit_of_numpy_function_every_dtype(name: str):
    _check(_calls_of(name), shared.index(name))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", OF_LAWFUL_NUMPY)
def test_jit_of_lawful_numpy_function_every_dtype(name: str):
    _check_table(OF_LAWFUL_NUMPY, name)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ELEMENTWISE)
def test_jit_of_elementwise_op_every_dtype(name: str):
    _check_table(ELEMENTWISE, name, of_numbers=True, all_mixtures=True)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", FUNCTIONS)
def test_jit_of_op_every_dtype(name: str):
    _check_table(FUNCTIONS, name, all_mixtures=True)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", SPECIAL)
def test_jit_of_special_function_every_dtype(name: str):
    _check_table(SPECIAL, name, of_numbers=True)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", STATS)
def test_jit_of_distribution_every_dtype(name: str):
    _check_table(STATS, name, of_numbers=True)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", RANDOM)
def test_jit_of_random_draw_every_dtype(name: str):
    _check_table(RANDOM, name, of_numbers=True)


def _are_of_numpy(call: DtypeCall) -> bool:
    """Whether NumPy's arrays have the operators: unsigned ones take no negative number, and ml_dtypes has its own."""
    dtypes = [get_aval(x).dtype for x in call.args]
    is_refused = "** -" in call.name and any(dtype.kind == "u" for dtype in dtypes)
    return not is_refused and all(dtype.type.__module__ == "numpy" for dtype in dtypes)


def _check_methods(function: Any, name: str, args: Sequence[Any], number: int) -> None:
    calls = in_every_dtype(name, function, args)
    _check([call for call in calls if _are_of_numpy(call)], number, of_numpy=True)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", methods.UNARY)
def test_jit_of_array_method_every_dtype(name: str):
    _check_methods(methods.UNARY[name], name, [methods.X], 5 * list(methods.UNARY).index(name))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", methods.BINARY)
def test_jit_of_array_operator_every_dtype(name: str):
    _check_methods(methods.BINARY[name], name, [methods.X, methods.Y], 7 * list(methods.BINARY).index(name))


@pytest.mark.parametrize("name", methods.OF_NUMBERS)
def test_jit_of_method_of_python_number(name: str):
    function = methods.OF_NUMBERS[name]
    _check([DtypeCall(f"{name} {x!r}", function, (x,)) for x in PYTHON_NUMBERS], 0, of_numpy=True)


def test_operators_of_numpy_arrays_of_narrow_floats():
    """NumPy promotes by ml_dtypes there; lawful.numpy's functions give the same eagerly and compiled."""
    x, y = np.ones(2, ml_dtypes.bfloat16), np.arange(2)
    assert (x + y).dtype == np.float64
    assert lnp.add(x, y).dtype == jit(lambda x, y: x + y, backend="numpy")(x, y).dtype == ml_dtypes.bfloat16
    assert difference(jit(lnp.add, backend="xla")(x, y), lnp.add(x, y)) == ""


@pytest.mark.parametrize("op", [ops.sort, ops.argsort, lambda x: ops.top_k(x, 3)[0]])
@pytest.mark.parametrize("dtype", ["float8_e4m3b11fnuz", "float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e5m2"])
def test_sort_of_float8_with_nan_is_the_eager_one(op: Any, dtype: str):
    """The only NaN of some of them has the sign of negative numbers, which XLA's total order puts first."""
    x = np.array([1.0, np.nan, -2.0, 0.5, np.nan, -0.0]).astype(dtype)
    assert difference(jit(op, backend="xla")(x), op(x)) == ""


def test_several_algorithms_of_float8_compile_soon():
    """Fused into one loop, their conversions took LLVM ten minutes."""
    x, dtype = np.array([1.25, 1.5, 1.75]), ml_dtypes.float8_e4m3fn
    a, b = x.astype(dtype), (x + 0.5).astype(dtype)
    lowered = jit(special.stats.beta.pdf, backend="xla").lower(True, a, b)
    # xlogy, xlog1py and betaln are functions of their own; otherwise the next line takes minutes.
    assert lowered.as_text().count('inlineable = "false"') >= 3
    assert difference(lowered.compile()(True, a, b), special.stats.beta.pdf(True, a, b)) == ""


#: The operands of three dtypes, whose promotion depends on the order: NumPy promotes all at once.
THREE_DTYPES = [
    (np.array([True, False]), 0, np.uint8([0, 3])),
    (np.array([True, False]), np.uint8([0, 1]), 2),
    (np.int16([-3, 5]), np.uint16([1, 2]), np.float32([4, 4])),
    (np.uint16([3, 5]), np.float32(2.5), np.int16([4, 4])),
    (np.float32([3, 5]), np.int16(2), np.uint16([4, 4])),
    (np.int8([3, 5]), 300, np.int16([400, 500])),
    (np.int8([3, 5]), -1000, np.float16(4.5)),
    (np.uint64([1, 2**63]), np.int8(3), np.complex64(9)),
    (np.float64([2051, 1e5]), 2051, np.float16([2052, 2052])),  # the bounds are equal in float16
    (np.float64([7e4, 1e5]), 70_000, np.float16(np.inf)),
]


@pytest.mark.parametrize("operands", THREE_DTYPES, ids=str)
def test_clip_promotes_three_dtypes_at_once(operands: tuple[Any, Any, Any]) -> None:
    expected = np.clip(*operands)
    for clip in (lnp.clip, lambda x, low, high: x.clip(low, high)):
        arrays = [x for x in operands if not isinstance(x, int)]

        def f(arrays: list[Any], clip: Any = clip) -> Any:
            given = iter(arrays)
            return clip(*[x if isinstance(x, int) else next(given) for x in operands])

        for found in (f(arrays), jit(f, backend="numpy")(arrays), jit(f, backend="xla")(arrays)):
            np.testing.assert_array_equal(np.asarray(found), expected, strict=True)
            assert not get_aval(found).weak_type


def test_interp_of_complex_places_is_refused() -> None:
    points = np.arange(3.0)
    for x, xp in [(np.array([1j]), points), (np.array([1.0]), points * 1j)]:
        for backend in ("numpy", "xla"):
            with pytest.raises(TypeError, match="interp: expected real x and xp"):
                jit(lambda x, xp: lnp.interp(x, xp, points), backend=backend)(x, xp)
        with pytest.raises(TypeError, match="interp: expected real x and xp"):
            lnp.interp(x, xp, points)


@pytest.mark.parametrize("dtype", ["float16", "float64", "int8", "bfloat16"])
def test_geomspace_refuses_a_known_zero_of_every_dtype(dtype: str) -> None:
    ends = np.array([1, 0], lnp.dtype(dtype))
    for first, last in [(ends, 2), (2, ends)]:
        with pytest.raises(ValueError, match="geomspace: expected ends that are not zero"):
            lnp.geomspace(first, last, 3)


def test_arange_of_booleans_compiles() -> None:
    assert lnp.arange(2, dtype=bool).tolist() == [False, True]
    for backend in ("numpy", "xla"):
        assert np.asarray(jit(lambda: lnp.arange(2, dtype=bool), backend=backend)()).tolist() == [False, True]
        with pytest.raises(TypeError, match="arange: expected at most two booleans"):
            jit(lambda: lnp.arange(3, dtype=bool), backend=backend)()
    with pytest.raises(TypeError, match="arange: expected at most two booleans"):
        lnp.arange(3, dtype=bool)
