"""The law of NumPy's functions: ``numpy.f(tracer) = lawful.numpy.f(tracer) = numpy.f(concrete)``.

For every function that both have, under every transformation: NumPy's function of a tracer records the program that
lawful's does, and computed by XLA that gives what NumPy does. Calls are those of the table `_calls`, drawn anew.
"""

from collections.abc import Callable
from typing import Any

import numpy
import pytest
from hypothesis import settings

import lawful.numpy as lnp
from lawful import tree
from lawful.autodiff import grad, jvp, linearize, vjp
from lawful.batching import vmap
from lawful.core import get_aval, is_inexact, to_numpy
from lawful.staging import dce_jaxpr, jit, make_jaxpr

from .calls.numpy_functions import Case, calls_by_function, function_of, shared

SEEDS = range(max(settings.default.max_examples // 25, 1))
CALLS = [calls_by_function(seed) for seed in SEEDS]


def asks(name: str) -> bool:
    """Whether NumPy's function asks its arguments what they are: one in C, of shapes or dtypes, does not."""
    function = function_of(numpy, name)
    return isinstance(function, numpy.ufunc) or hasattr(function, "_implementation")


# Functions that write into an argument take no tracer: test_unsupported_functions.py.
WRITES = {"put", "place", "put_along_axis", "fill_diagonal"}
# How many elements there are decides a shape: NumPy's function has no argument for it, so that values have to be known.
OF_VALUES = {"argwhere", "nonzero", "flatnonzero", "bincount", "trim_zeros", "compress", "extract"}
OF_VALUES |= {"unique", "unique_all", "unique_counts", "unique_inverse", "unique_values"}
OF_VALUES |= {"union1d", "intersect1d", "setdiff1d", "setxor1d"}
# It tells what would be done, in a text and a list.
OF_TYPES = {"einsum_path"}


def made(name: str) -> list[tuple[str, Case]]:
    """Returns the calls of a function that NumPy's takes tracers in."""
    return [(f"{subject}, {seed}", e) for seed in SEEDS for subject, e in CALLS[seed][name].items() if not e.creates]


def some[T](items: list[T], most: int) -> list[T]:
    """Returns at most so many of some items, from all over them."""
    return items[:: max(-(-len(items) // most), 1)]


def by(module: Any, entry: Case) -> Callable[..., Any]:
    """Returns a call as a function of its arguments, with the functions of a module."""
    return lambda *args: entry.call(module, *args)


def test_numpy_function_no_function_is_without_a_call():
    assert len(shared) > 350
    assert not [name for name in shared if not CALLS[0][name]]
    untraced = {name for name in shared if asks(name) and not made(name)}
    assert untraced == WRITES | OF_VALUES | OF_TYPES | {"linalg.eig"}


def tangent_of(x: Any) -> Any:
    return numpy.ones_like(x)


def differentiable(entry: Case) -> list[int]:
    return [i for i, x in enumerate(entry.args) if is_inexact(get_aval(x).dtype)]


def summed(function: Callable[..., Any]) -> Callable[..., Any]:
    """Returns a function that adds up the real parts of all that another one gives."""

    def total(*args: Any) -> Any:
        leaves = [y for y in tree.leaves(function(*args)) if is_inexact(get_aval(y).dtype)]
        return sum((lnp.sum(lnp.real(lnp.astype(y, complex))) for y in leaves), 0.0 * lnp.sum(lnp.real(args[0])))

    return total


def jvp_of(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *args: jvp(function, args, tuple(map(tangent_of, args)))


def mapped(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *args: vmap(function)(*[lnp.stack([x, x]) for x in args])


# Each makes of a function another one with the same arguments, those by which it is differentiated.
TRANSFORMATIONS: dict[str, Callable[[Callable[..., Any]], Callable[..., Any]]] = {
    "nothing": lambda f: f,
    "jit": lambda f: jit(f, backend="numpy"),
    "vmap": mapped,
    "jvp": jvp_of,
    "linearize": lambda f: lambda *args: linearize(f, *args)[1](*map(tangent_of, args)),
    "vjp": lambda f: lambda *args: vjp(summed(f), *args)[1](1.0),
    "vmap of grad": lambda f: mapped(grad(summed(f))),
    "jvp of vmap": lambda f: jvp_of(mapped(f)),
    "grad of jit": lambda f: grad(summed(jit(f, backend="numpy"))),
}
BY_DERIVATIVES = {name for name in TRANSFORMATIONS if any(word in name for word in ("jvp", "linear", "vjp", "grad"))}


def with_fixed(entry: Case, module: Any, free: list[int]) -> Callable[..., Any]:
    """Returns a call as a function of some of its arguments."""

    def function(*args: Any) -> Any:
        full = list(entry.args)
        for i, x in zip(free, args, strict=True):
            full[i] = x
        return entry.call(module, *full)

    return function


def recorded(function: Callable[..., Any], args: list[Any]) -> str:
    """Returns the program of a function, without what NumPy reads of a sequence before it asks."""
    program = make_jaxpr(function)(*args)
    return str(dce_jaxpr(program, [True] * len(program.jaxpr.outvars)))


@pytest.mark.parametrize("name", [name for name in shared if asks(name) and made(name)])
def test_numpy_s_function_records_the_program_of_lawful_s(name: str):
    calls = made(name)
    for subject, entry in calls:
        known = TRANSFORMATIONS if (subject, entry) in some(calls, 3) else {"nothing": lambda f: f}
        for transformation, transform in known.items():
            free = list(range(len(entry.args))) if transformation not in BY_DERIVATIVES else differentiable(entry)
            args = [entry.args[i] for i in free]
            if not args:
                continue
            theirs, ours = (recorded(transform(with_fixed(entry, m, free)), args) for m in (numpy, lnp))
            assert theirs == ours, f"{subject} under {transformation}"


def close(got: Any, want: Any, digits: float) -> None:
    """Checks that two results are of one type, and of equal elements but for rounding."""
    found, wanted = (tree.leaves(list(x) if isinstance(x, tuple) else x) for x in (got, want))
    for one, other in zip(found, wanted, strict=True):
        other = numpy.asarray(other)
        assert get_aval(one).update(weak_type=False) == get_aval(other)
        tolerance = digits * float(numpy.finfo(other.dtype).eps) if other.dtype.kind in "fc" else 0
        scale = numpy.max(numpy.abs(other[numpy.isfinite(other)]), initial=1.0) if tolerance else 1
        numpy.testing.assert_allclose(to_numpy(one), other, rtol=tolerance, atol=tolerance * float(scale))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.filterwarnings("ignore:numpy.fix")
@pytest.mark.parametrize("name", [name for name in shared if asks(name) and made(name)])
def test_where_values_are_known_it_gives_what_numpy_does(name: str):
    for _, entry in some(made(name), 8 * len(SEEDS)):
        free = differentiable(entry)
        if free:
            primals = [numpy.asarray(entry.args[i])[()] for i in free]
            got = jvp(with_fixed(entry, numpy, free), primals, list(map(tangent_of, primals)))[0]
            close(got, entry.call(numpy, *entry.args), 32)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.filterwarnings("ignore:numpy.fix")
@pytest.mark.parametrize("name", shared)
def test_compiled_by_xla_it_gives_what_numpy_does(name: str):
    # One program of all calls of a function: what takes time is to compile.
    every = [(f"{subject}, {seed}", e) for seed in SEEDS for subject, e in CALLS[seed][name].items()]
    calls = dict(some(every, 8 * len(SEEDS)))
    found = jit(lambda args: {key: by(lnp, e)(*args[key]) for key, e in calls.items()}, backend="xla")(
        {key: e.args for key, e in calls.items()}
    )
    for key, entry in calls.items():
        close(found[key], entry.call(numpy, *entry.args), 64)


@pytest.mark.parametrize("name", sorted(OF_VALUES))
def test_numpy_function_functions_whose_shapes_depend_on_values(name: str):
    """Where values are known, under a derivative, NumPy's function gives what it does; else the error says size=."""
    for _, entry in CALLS[0][name].items():
        args = [numpy.asarray(x, float) if name not in ("bincount", "compress", "extract") else x for x in entry.args]
        free = [i for i, x in enumerate(args) if is_inexact(get_aval(x).dtype)]
        if not free:
            continue
        fixed = Case(entry.call, tuple(args))
        primals = [args[i] for i in free]
        got = jvp(with_fixed(fixed, numpy, free), primals, list(map(tangent_of, primals)))[0]
        close(got, entry.call(numpy, *args), 16)
