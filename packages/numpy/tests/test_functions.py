"""Every other function equals NumPy's: eagerly, compiled, mapped, differentiated, and called by NumPy's name."""

import warnings
from collections.abc import Callable, Sequence
from itertools import batched
from types import ModuleType
from typing import Any

import numpy
import pytest
from hypothesis import settings

import lawful.numpy as lnp
from lawful import tree
from lawful.autodiff import grad, jvp
from lawful.batching import vmap
from lawful.core import ArgumentTypeError, get_aval, is_inexact
from lawful.staging import jit, make_jaxpr

from .calls import Case, is_newer, table

# One seed for each 50 examples of the Hypothesis profile.
SEEDS = range(max(settings.default.max_examples // 50, 1))
TABLES = [table(seed) for seed in SEEDS]
CALLS = [(f"{name}, {seed}", entry) for seed in SEEDS for name, entry in TABLES[seed].items()]


def every_call(check: Callable[[Case], None]) -> Callable[..., None]:
    """Makes a test of a check of one call. A test has 16 of the calls: one alone takes less time than pytest does."""
    groups = list(batched(CALLS, 16))

    @pytest.mark.parametrize("calls", groups, ids=[f"{group[0][0]} to {group[-1][0]}" for group in groups])
    def checked(calls: Sequence[tuple[str, Case]]) -> None:
        failed, absent = [], []
        for name, entry in calls:
            if is_newer(entry.since):
                absent.append(f"{name} since NumPy {entry.since}")
                continue
            try:
                check(entry)
            except Exception as error:
                error.add_note(f"in the call {name}")
                failed.append(error)
        if failed:
            raise failed[0] if len(failed) == 1 else ExceptionGroup(f"{len(failed)} calls", failed)
        if absent:
            pytest.skip(f"all others agree, NumPy {numpy.__version__} has not: {'; '.join(absent)}")

    checked.__doc__ = check.__doc__
    return checked


def same(got: Any, want: Any, digits: float = 16) -> None:
    got, want = (tree.leaves(list(x) if isinstance(x, tuple) else x) for x in (got, want))
    assert len(got) == len(want)
    for one, other in zip(got, want, strict=True):
        if isinstance(other, bool):
            other = numpy.bool(other)
        assert get_aval(one).update(weak_type=False) == get_aval(other).update(weak_type=False)
        dtype = numpy.asarray(other).dtype
        tolerance = digits * numpy.finfo(dtype).eps if dtype.kind in "fc" else 0
        numpy.testing.assert_allclose(one, other, rtol=tolerance, atol=tolerance)


def numpy_answer(entry: Case) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return entry.call(numpy, *entry.args)


@every_call
def test_function_eagerly(entry: Case):
    same(entry.call(lnp, *entry.args), numpy_answer(entry))


@every_call
def test_function_compiled(entry: Case):
    same(jit(lambda *args: entry.call(lnp, *args), backend="numpy")(*entry.args), numpy_answer(entry))


@every_call
def test_function_by_numpy_s_own_name(entry: Case):
    if entry.creates:
        return
    same(jit(lambda *args: entry.call(numpy, *args), backend="numpy")(*entry.args), numpy_answer(entry))


@every_call
def test_function_mapped(entry: Case):
    stacked = [numpy.stack([numpy.asarray(x)] * 2) for x in entry.args]
    got = vmap(lambda *args: entry.call(lnp, *args))(*stacked)
    want = numpy_answer(Case(entry.call, tuple(numpy.asarray(x)[()] for x in entry.args)))
    rows = [tree.map(lambda x, i=i: x[i], list(got) if isinstance(got, tuple) else got) for i in (0, 1)]
    for row in rows:
        same(row, want)


@every_call
def test_function_derivatives(entry: Case):
    """The derivative forward is the difference quotient, and the derivative backward is its transpose."""
    chosen = [i for i, x in enumerate(entry.args) if getattr(x, "dtype", None) == numpy.float64 and numpy.size(x)]
    if not entry.smooth or not chosen or not numpy.all(numpy.isfinite(entry.args[chosen[0]])):
        return

    def function(module: Any) -> Callable[..., Any]:
        def total(x: Any) -> Any:
            args = list(entry.args)
            args[chosen[0]] = x
            leaves = tree.leaves(entry.call(module, *args))
            inexact = [y for y in leaves if is_inexact(get_aval(y).dtype)]
            return sum(
                (module.sum(module.real(y * WEIGHTS[: get_aval(y).size].reshape(get_aval(y).shape))) for y in inexact),
                0.0,
            )

        return total

    x = entry.args[chosen[0]]
    direction = numpy.random.default_rng(1).normal(size=numpy.shape(x))
    if any(numpy.asarray(y).dtype in ("float32", "complex64") for y in tree.leaves(numpy_answer(entry))):
        return  # not enough digits for a difference
    step = 1e-6
    slope = (function(numpy)(x + step * direction) - function(numpy)(x - step * direction)) / (2 * step)
    forward = jvp(function(lnp), (x,), (direction,))[1]
    backward = numpy.sum(grad(lambda x: function(lnp)(x) + 0.0 * lnp.sum(x))(x) * direction)
    assert forward == pytest.approx(slope, rel=1e-6, abs=1e-6)
    assert backward == pytest.approx(forward, rel=1e-12, abs=1e-12)


WEIGHTS = numpy.random.default_rng(2).uniform(0.5, 1.5, 1000)


class Recorder:
    """A module that records which of its names are used, those of its submodules included."""

    def __init__(self, module: ModuleType, prefix: str, used: set[str]) -> None:
        self._module, self._prefix, self._used = module, prefix, used

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._module, name)
        if isinstance(value, ModuleType):
            return Recorder(value, f"{name}.", self._used)
        self._used.add(self._prefix + name)
        return value


def public(module: ModuleType, prefix: str = "") -> set[str]:
    """Returns the names of a module's functions, and of those that are indexed."""
    values = {prefix + name: getattr(module, name) for name in module.__all__}
    return {name for name, x in values.items() if callable(x) and not isinstance(x, type)}


def test_every_function_is_tested():
    used: set[str] = set()
    for entry in TABLES[0].values():
        entry.call(Recorder(lnp, "", used), *entry.args)
    functions = public(lnp) | public(lnp.linalg, "linalg.") | public(lnp.fft, "fft.")
    assert functions <= used
    assert {"mgrid", "ogrid", "r_", "c_", "s_", "index_exp"} <= used


def test_the_constants_and_dtypes_are_numpy_s():
    for name in ("pi", "e", "inf", "newaxis", "float32", "bool", "int8", "complex128"):
        assert getattr(lnp, name) is getattr(numpy, name)
    assert lnp.zeros(1, lnp.bfloat16).dtype == "bfloat16"


def test_softmax_written_with_numpy_is_stable():
    def softmax(x: Any) -> Any:
        unnormalized = lnp.exp(x - lnp.max(x, axis=-1, keepdims=True))
        return unnormalized / lnp.sum(unnormalized, axis=-1, keepdims=True)

    x = numpy.array([1000.0, 0.0, -1000.0])
    numpy.testing.assert_array_equal(softmax(x), [1.0, 0.0, 0.0])
    gradient = grad(lambda x: softmax(x)[1])(numpy.array([1.0, 2.0, 3.0]))
    p = numpy.exp([1.0, 2.0, 3.0]) / numpy.sum(numpy.exp([1.0, 2.0, 3.0]))
    numpy.testing.assert_allclose(gradient, p[1] * (numpy.array([0, 1, 0]) - p))


@pytest.mark.parametrize("name", ["meshgrid", "broadcast_arrays"])
def test_meshgrid_is_a_list_and_numpy_s_a_tuple(name: str):
    """The array API 2024.12 specifies a list; NumPy's function returns the documented tuple for any arguments."""
    x, y = numpy.array([1.0, 2.0]), numpy.array([3.0, 4.0])
    ours, theirs = getattr(lnp, name), getattr(numpy, name)
    assert type(ours(x, y)) is type(jit(ours, backend="numpy")(x, y)) is list
    assert type(jvp(ours, (x, y), (x, y))[0]) is list
    assert type(theirs(x, y)) is type(jit(theirs, backend="numpy")(x, y)) is tuple


@pytest.mark.parametrize(
    ("shift", "axis"), [(2, None), ([1, -1], (0, 1)), ([5], 1), (-3, (0, 1)), ([1, 7], 0)], ids=str
)
def test_roll_by_a_traced_distance(shift: Any, axis: Any) -> None:
    x, shift = numpy.arange(12.0).reshape(3, 4), numpy.array(shift)
    rolled = jit(lambda x, shift: lnp.roll(x, shift, axis), backend="numpy")(x, shift)
    numpy.testing.assert_array_equal(rolled, numpy.roll(x, shift, axis))
    with pytest.raises(ArgumentTypeError, match="roll: expected integers"):
        jit(lambda x, shift: lnp.roll(x, shift, axis))(x, 1.0 * shift)


def test_take_with_a_fill_value_fills_known_positions() -> None:
    assert lnp.take(numpy.arange(5.0), numpy.array([0, 7]), fill_value=10.0).tolist() == [0.0, 10.0]


@pytest.mark.parametrize("side", ["left", "right"])
def test_searchsorted_program_size(side: str) -> None:
    """A loop, whatever the array's length: XLA did not compile straight-line code for 10000 elements in minutes."""

    def search(a: Any, v: Any) -> Any:
        return lnp.searchsorted(a, v, side)

    programs = [make_jaxpr(search)(numpy.arange(float(size)), numpy.ones((3, 4))) for size in (4, 4000)]
    assert len(programs[0].eqns) == len(programs[1].eqns)


@pytest.mark.parametrize(
    "name",
    [
        "sum",
        "prod",
        "max",
        "min",
        "any",
        "all",
        "mean",
        "std",
        "var",
        "nansum",
        "nanprod",
        "nanmax",
        "nanmean",
        "nanstd",
    ],
)
def test_reduction_where_none_takes_all_elements(name: str) -> None:
    """The default. NumPy's functions take None for False."""
    reduce = getattr(lnp, name)
    x = numpy.array([0.0, 4.0, 4.0, 8.0])
    assert reduce(x, where=None) == reduce(x) == jit(lambda x: reduce(x, where=None))(x)
    assert reduce(x + 1.0, where=None) == reduce(x + 1.0)


@pytest.mark.parametrize("backend", ["numpy", None])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64"])
def test_mean_where_one_element_counts(dtype: str, backend: str | None) -> None:
    """It is that element, and no variance of it is left."""
    x = numpy.random.default_rng(0).normal(size=(100, 7)).astype(dtype)
    where = numpy.arange(7) == 3
    of_one = jit(lambda x: lnp.mean(x, 1, where=where), backend=backend)
    assert numpy.array_equal(of_one(x), x[:, 3])
    spread = jit(lambda x: lnp.var(x, 1, where=where), backend=backend)
    assert not numpy.any(spread(x))
