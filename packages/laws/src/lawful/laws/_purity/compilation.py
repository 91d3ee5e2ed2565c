"""The part of the law of purity on compiled functions: the cache entries of one call do not affect another."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from lawful import ops, tree
from lawful.core import Tracer, get_aval
from lawful.laws._composition.batching import batch_of
from lawful.laws._derivatives.directions import differentiable, is_floating, restrict, tangents_of
from lawful.laws._law.law import Claim, Claims, Fault, Inapplicable, Trial
from lawful.laws._purity.memory import copies, in_thread, spoil
from lawful.staging import jit, make_jaxpr

_PYTHON_DTYPES: Final = ("bool", "int64", "float64", "complex128")


def _other_types(args: Any) -> list[tuple[Any, ...]]:
    """Returns arguments of other types: narrower, strong instead of weak, and weak instead of strong where possible."""

    def narrow(x: Any) -> Any:
        dtype = {"float64": np.float32, "complex128": np.complex64, "int64": np.int32}.get(str(get_aval(x).dtype))
        return x if dtype is None or get_aval(x).weak_type else np.asarray(x).astype(dtype)[()]

    def other_weakness(x: Any) -> Any:
        aval = get_aval(x)
        if aval.weak_type:
            return aval.dtype.type(x)
        return np.asarray(x).item() if not aval.shape and str(aval.dtype) in _PYTHON_DTYPES else x

    def longer(x: Any) -> Any:
        return np.repeat(x, 2, axis=0) if np.ndim(x) else x

    return [tuple(tree.map(change, args)) for change in (narrow, other_weakness, longer)]


def compiled_at_other_types(trial: Trial) -> Claims:
    """Calls one compiled function at several types."""
    function, args, compiled = trial.function, trial.args, trial.system.jit(trial.function)
    compiled(*args)
    for other in _other_types(args):
        try:
            expected = function(*other)
            make_jaxpr(function)(*other)  # primitives are stricter when staged
        except Exception:  # the function is not defined for these types
            continue
        text = "jit(f)(y) after jit(f)(x) of other types"
        yield Claim(text, compiled(*other), "f(y)", expected, weakness=True, at=other)
    yield Claim("jit(f)(x) after jit(f) of other types", compiled(*args), "f(x)", function(*args), weakness=True)


def compiled_closures(trial: Trial) -> Claims:
    """Compiles two functions with the same code, which close over different values."""
    function, jit = trial.function, trial.system.jit
    own = copies(trial, trial.args)
    other = tree.map(lambda x: batch_of(x, 2, 0)[1] if hasattr(x, "dtype") else x, trial.args)

    def closing_over(values: Any) -> Callable[[], Any]:
        compiled: Callable[[], Any] = jit(lambda: function(*values))
        return compiled

    expected, one = copies(trial, function(*own)), closing_over(own)
    yield Claim("jit of a function that closes over x", one(), "f(x)", expected)
    yield Claim("the same function closing over y", closing_over(other)(), "f(y)", function(*other))
    spoil(own)
    yield Claim("jit of a function that closes over x, after writing into x", one(), "f(x)", expected)


def compiled_closures_over_tracers(trial: Trial) -> Claims:
    """Calls a compiled function twice that closes over a differentiated value."""
    function, args = differentiable(trial)
    given: list[Any] = []
    compiled = trial.system.jit(lambda: function(*given[-1]))

    def calling(*xs: Any) -> Any:
        given.append(xs)
        return compiled()

    v = tangents_of(trial, args)
    expected = trial.system.jvp(function, args, v)
    for call in ("first", "second"):
        found = trial.system.jvp(calling, args, v)
        yield Claim(f"the {call} jvp of a function whose compiled part closes over x", found, "jvp(f, x, v)", expected)


def compiled_with_static_arguments(trial: Trial) -> Claims:
    """Calls one compiled function with static arguments, some of which are equal."""
    function, args = trial.function, trial.args

    def scaled(by: Any, *xs: Any) -> Any:
        return tree.map(lambda y: y * by if get_aval(y).dtype.kind in "fc" else y, function(*xs)), by

    compiled = jit(scaled, static_argnums=0, backend="numpy")
    for by in (2, 3, 2.0, True, 0.0, -0.0):
        yield Claim(f"jit with the static argument {by}", compiled(by, *args), "without jit", scaled(by, *args))


def compiled_anew(trial: Trial) -> Claims:
    """Compiles functions of the same code, redefined at each call, whose programs differ in a number or a parameter."""
    function, args = trial.function, trial.args

    def scaled(by: float, axis: int) -> Callable[..., Any]:
        def call(*xs: Any) -> Any:
            factor = by + ops.broadcasted_iota(np.float64, (2, 2), axis)[0, 1]
            return tree.map(lambda y: y * factor if get_aval(y).dtype.kind in "fc" else y, function(*xs))

        return call

    for by, axis in ((2.0, 0), (3.0, 0), (2.0, 1)):
        expected = scaled(by, axis)(*args)
        for _ in range(3):  # caches are used from the second call on
            found = jit(scaled(by, axis), backend="numpy")(*args)
            yield Claim(f"jit of a function defined anew, that scales by {by + axis}", found, "without jit", expected)


def compiled_under_transformations(trial: Trial) -> Claims:
    """Differentiates and maps one compiled function in several ways."""
    try:
        restricted, leaves = restrict(trial, lambda aval: is_floating(aval) and not aval.weak_type)
    except Inapplicable:  # only this part is inapplicable
        return
    system, compiled = trial.system, trial.system.jit(restricted)
    tangents = tangents_of(trial, leaves)
    subsets = [set(range(len(leaves))), *({i} for i in range(len(leaves)) if len(leaves) > 1)]
    # At least two: the cached program of one must not be used for the other.
    for given in [subsets[i] for i in trial.random.permutation(len(subsets))[: max(trial.effort.most, 2)]]:

        def along(function: Any, given: set[int] = given) -> Any:
            def partial(*xs: Any) -> Any:
                rest = iter(xs)
                return function(*[next(rest) if i in given else x for i, x in enumerate(leaves)])

            chosen = [x for i, x in enumerate(leaves) if i in given], [t for i, t in enumerate(tangents) if i in given]
            return system.jvp(partial, *chosen)

        yield Claim(f"jvp(jit(f)) by arguments {given}", along(compiled), f"jvp(f) by {given}", along(restricted))
        for size in (2, 3):
            axes = tuple(0 if i in given else None for i in range(len(leaves)))
            batches = [batch_of(x, size, 0) if i in given else x for i, x in enumerate(leaves)]
            mapped = system.vmap(compiled, axes)(*batches)
            yield Claim(f"vmap(jit(f), {axes}) of {size}", mapped, "vmap(f)", system.vmap(restricted, axes)(*batches))


def in_thread_while_compiling(trial: Trial) -> Claims:
    """Calls a function in another thread while it is traced in this one."""
    function, args = trial.function, trial.args
    expected = copies(trial, function(*args))
    found: list[Any] = []

    def observed(*xs: Any) -> Any:
        found.append(in_thread(lambda: function(*args)))
        return function(*xs)

    compiled = trial.system.jit(observed)(*args)
    if any(isinstance(x, Tracer) for x in tree.leaves(found)):
        yield Fault("f(x) in another thread, while this one traces, gives tracers of this one")
    else:
        yield Claim("f(x) in another thread, while this one traces f", found[0], "f(x)", expected)
    yield Claim("jit(f)(x)", compiled, "f(x)", expected)
