"""Laws at the edges: special numbers, and batches of no elements."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from lawful import tree
from lawful.core import ShapedArray, float0, get_aval, is_inexact
from lawful.laws._composition.batching import mappable
from lawful.laws._derivatives.directions import differentiable, tangents_of
from lawful.laws._law.law import Claim, Claims, Fault, Inapplicable, Trial, law
from lawful.laws._primitives.rounding import amplifies_rounding
from lawful.laws._primitives.special_args import BEYOND_BITS
from lawful.laws._primitives.unequal import meets_unequal_points
from lawful.laws._primitives.zero_signs import depends_on_chosen_zeros

# Special numbers, put into some elements of the arguments.
_SPECIAL_FLOATS = (float("nan"), float("inf"), -float("inf"), -0.0, 0.0, 1.0, -1.0)


def special_values(trial: Trial, value: Any) -> Any:
    """Returns a value of the same type with special elements: NaN, infinities, zeros of both signs, bounds."""
    aval = get_aval(value)
    special = _special_numbers(aval)
    drawn = trial.random.integers(0, len(special) + 1, aval.shape)
    kept = np.asarray(value)
    out = np.where(drawn == len(special), kept, special[np.minimum(drawn, len(special) - 1)]).astype(aval.dtype)
    return out.item() if aval.weak_type else out


def _special_numbers(aval: ShapedArray) -> np.ndarray[Any, Any]:
    dtype = aval.dtype
    if dtype == np.bool_:
        return np.array([False, True])
    if not is_inexact(dtype) and aval.weak_type:
        return np.array([0, 1, 2])  # a Python number must fit the dtype of every array it is combined with
    if not is_inexact(dtype):
        bounds = np.iinfo(dtype)
        return np.array([0, 1, 3, BEYOND_BITS, bounds.min, bounds.max], dtype)
    if dtype.kind == "c":
        return np.array([complex(a, b) for a in _SPECIAL_FLOATS for b in _SPECIAL_FLOATS]).astype(dtype)
    return np.array(_SPECIAL_FLOATS).astype(dtype)


@law("edges")
def law_special_values(trial: Trial) -> Claims:
    """At NaN, infinities, zeros of both signs and the bounds of integers every way to evaluate gives the same.

    Equation: f(x) = jit(f)(x) = jvp(f, x, v)[0] = vjp(f, x)[0] = linearize(f, x)[0], also where x is special

    It says nothing of the value of a compiled function that depends on the sign of a zero which backends choose, such
    as the larger of 0.0 and -0.0, that applies a primitive where its declaration says that the backend is unequal, or
    that amplifies rounding, such as the sine of 2.0**60 times what was rounded.

    Raises:
      LawViolation: it does not hold.
      Inapplicable: the function raises an arithmetic error at these arguments, as Python's numbers do.

    >>> from lawful import ops
    >>> from lawful.laws import Case
    >>> from lawful.laws.systems import lawful
    >>> law_special_values(lawful, Case.of(lambda x: ops.sin(x) * x, 0.5))
    """
    system, function = trial.system, trial.function
    args = trial.comparable(tree.map(lambda x: special_values(trial, x), trial.args))
    try:
        expected = trial.value(function, args)
    except ArithmeticError as error:  # Python numbers raise an error where arrays give infinity
        raise Inapplicable(f"special values: expected a function of these arguments, got {error!r}") from error
    if trial.has("jit"):
        compiled = system.jit(function)(*args)
        yield Claim(
            *("jit(f)(x)", compiled, "f(x)", expected),
            weakness=True,
            excuse=lambda: trial.has("jaxprs") and _may_differ(trial, function, args),
        )
    if not trial.has("integer tangents"):
        return
    v = tangents_of(trial, args)
    ways: list[tuple[str, Any]] = [
        ("jvp(f, x, v)[0]", lambda: system.jvp(function, args, v)[0]),
        ("vjp(f, x)[0]", lambda: system.vjp(function, *args)[0]),
        ("linearize(f, x)[0]", lambda: system.linearize(function, *args)[0]),
    ]
    for text, way in trial.some(ways):
        # A method of an array, such as ``x.max()``, is NumPy's own here: it may choose another zero than the op.
        yield Claim(
            *(text, way(), "f(x)", expected),
            excuse=lambda: trial.has("jaxprs") and depends_on_chosen_zeros(function, args),
        )


def _may_differ(trial: Trial, function: Callable[..., Any], args: tuple[Any, ...]) -> bool:
    backends = ["", *[name for name in trial.system.backends if name != "numpy"]]
    if depends_on_chosen_zeros(function, args) or meets_unequal_points(function, args, backends):
        return True
    return amplifies_rounding(function, args)


@law("edges", needs=("vmap", "empty batches"))
def law_empty_batches(trial: Trial) -> Claims:
    """Mapped over a batch of no elements a function gives a batch of none, of the shapes and dtypes of one element.

    Equation: aval(vmap(f)(x)) = aval(f(x[0])) with an axis of length 0 in front, where x has none, and the same of
    the tangents

    Raises:
      LawViolation: it does not hold.
      Inapplicable: there is no argument to map.

    >>> import numpy as np
    >>> from lawful import ops
    >>> from lawful.laws import Case
    >>> from lawful.laws.systems import lawful
    >>> law_empty_batches(lawful, Case.of(lambda x: ops.sin(x) * x, np.array([0.5, 1.0])))
    """
    system, args, function = trial.system, trial.args, trial.function
    argnums = mappable(args)
    in_axes = tuple(0 if i in argnums else None for i in range(len(args)))
    batched = [tree.map(_none_of, x) if i in argnums else x for i, x in enumerate(args)]
    yield from _is_empty_batch(trial, "vmap(f)(x)", system.vmap(function, in_axes)(*batched), function(*args))
    if trial.has("jvp") and trial.has("integer tangents"):
        function, args = differentiable(trial)
        tangents = tangents_of(trial, args)
        empty = [tree.map(_none_of, x) if i in argnums else x for i, x in enumerate(tangents)]

        def pushed(xs: Any, vs: Any) -> Any:
            return system.jvp(function, xs, vs)[1]

        found = system.vmap(pushed, (in_axes, in_axes))(tuple(batched), tuple(empty))
        yield from _is_empty_batch(trial, "vmap(jvp(f))(x, v)", found, pushed(args, tangents))


def _none_of(x: Any) -> np.ndarray[Any, Any]:
    value = np.asarray(x)
    return np.zeros((0, *value.shape), value.dtype)


def _is_empty_batch(trial: Trial, text: str, found: Any, one: Any) -> Claims:
    if tree.structure(found) != tree.structure(one):
        yield Fault(f"{text} gives {tree.structure(found)}, one element gives {tree.structure(one)}")
        return
    for (path, x), y in zip(tree.leaves_with_path(found), tree.leaves(one), strict=True):
        got, element = trial.system.aval(x), trial.system.aval(y)
        if (got.shape, got.dtype) != ((0, *element.shape), element.dtype) and element.dtype != float0:
            yield Fault(f"{text}{tree.keystr(path)} is {got}, of elements {element}")
