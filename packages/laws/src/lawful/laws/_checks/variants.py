"""Variations of arguments, to try a function with after it has accepted the given ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Final

import numpy as np

from lawful import tree
from lawful.core import ConcretizationTypeError, MissingRuleError, get_aval, is_inexact, to_numpy
from lawful.laws._checks.given import Given, GivenCase, mapped_over, moved_to
from lawful.laws._composition.batching import batch_of, mappable
from lawful.laws._law.effort import Effort
from lawful.laws._law.implementation import Implementation
from lawful.laws._law.law import Inapplicable
from lawful.laws._law.values import is_within
from lawful.laws._primitives.call import PrimitiveCall
from lawful.staging import make_jaxpr


@dataclass(frozen=True, slots=True)
class Variant:
    """A variation of a given case.

    Attributes:
      kind: how it differs, in words.
      case: the case.
    """

    kind: str
    case: Given


_NARROW: Final = {"float64": "float32", "complex128": "complex64"}
_PYTHON: Final = ("float64", "complex128", "int64", "bool")


def variants_of(case: Given, effort: Effort) -> Iterator[Variant]:
    """Yields variations of the arguments of a case: other shapes, values and types, and all ways to map over them.

    Those with fewest elements come first, so that the first failure is small.
    """
    args = case.args
    for kind, changed in _changes(args):
        if not _are_equal(changed, args):
            yield Variant(kind, moved_to(case, changed))
    yield from _mapped(case, effort)


def _changes(args: tuple[Any, ...]) -> Iterator[tuple[str, tuple[Any, ...]]]:
    leaves = tree.leaves(args)
    if all(np.size(x) for x in leaves):
        yield "0-dimensional arrays", _each(args, lambda x: _array(x).reshape(-1)[0])
        if all(_array(x).dtype.name in _PYTHON for x in leaves):
            yield "Python numbers", tree.map(lambda x: _array(x).reshape(-1)[0].item(), args)
    lengths = sorted({length for x in leaves for length in np.shape(x)})
    if lengths:
        yield "arrays with no elements", resized(args, dict.fromkeys(lengths, range(0)))
        yield "dimensions of length 1", resized(args, {length: range(min(length, 1)) for length in lengths})
        for length in lengths if len(lengths) > 1 else ():
            yield f"no elements where there were {length}", resized(args, {length: range(0)})
    elif leaves:
        yield "arrays of 2 elements", tree.map(lambda x: batch_of(_array(x), 2, 0), args)
        yield "arrays with no elements", tree.map(lambda x: batch_of(_array(x), 0, 0), args)
    for number in (1, 2):
        yield "other values", tree.map(lambda x, i=number: _like(x, batch_of(_array(x), 3, 0)[i]), args)
    yield "32 bits", _each(args, _narrowed)


def resized(args: tuple[Any, ...], lengths: dict[int, Sequence[int]]) -> tuple[Any, ...]:
    """Returns arguments cut to some indices of the dimensions of these lengths, in all arrays alike."""

    def one(x: Any) -> Any:
        for axis, length in enumerate(np.shape(x)):
            x = np.take(x, lengths.get(length, range(length)), axis=axis)
        return x

    return tuple([tree.map(one, arg) for arg in args])


def _mapped(case: Given, effort: Effort) -> Iterator[Variant]:
    try:
        argnums = mappable(case.args)
    except Inapplicable:
        return
    chosen = [set(some) for size in range(len(argnums), 0, -1) for some in combinations(argnums, size)]
    # First all arguments, then all but one; single arguments come last.
    for subset in chosen if effort.most >= len(chosen) else [*chosen[: effort.most], chosen[-1]]:
        in_axes = tuple([0 if i in subset else None for i in range(len(case.args))])
        args = tuple(
            [
                x if axis is None else tree.map(lambda leaf: batch_of(to_numpy(leaf), 2, 0), x)
                for x, axis in zip(case.args, in_axes, strict=True)
            ]
        )
        yield Variant("mapped over every subset of arguments", mapped_over(case, in_axes, args))


def _each(args: tuple[Any, ...], function: Callable[[Any], Any]) -> tuple[Any, ...]:
    """Applies a function to the arrays among arguments; Python numbers are left."""

    def one(x: Any) -> Any:
        return x if get_aval(x).weak_type else np.asarray(function(x))

    return tuple([tree.map(one, arg) for arg in args])


def _array(x: Any) -> np.ndarray[Any, Any]:
    return np.asarray(to_numpy(x))


def _narrowed(x: Any) -> Any:
    value = _array(x)
    return value.astype(_NARROW.get(value.dtype.name, value.dtype))


def _like(x: Any, value: Any) -> Any:
    return np.asarray(value).item() if get_aval(x).weak_type else np.asarray(value)


def _are_equal(one: Any, other: Any) -> bool:
    return all(
        get_aval(x) == get_aval(y) and np.array_equal(_array(x), _array(y))
        for x, y in zip(tree.leaves(one), tree.leaves(other), strict=True)
    )


def refusal(case: Given, system: Implementation) -> Exception | None:
    """Returns the error with which a function refuses arguments, or None if it takes them.

    A function refuses what it raises an error for when it is called with no transformation running, or a TypeError
    when it is staged. A primitive refuses what its type rule raises a TypeError for: if it accepts the types, an error
    of any other rule is that rule's failure. A rule that is missing refuses nothing.
    """
    if isinstance(case, PrimitiveCall):
        return _ill_typed(lambda: case.primitive.rule("abstract_eval")(*map(get_aval, case.args), **case.params))
    function = case.on(system)
    try:
        with np.errstate(all="ignore"):
            function(*case.args)
    except MissingRuleError as error:
        return error if is_mapped(case) else None
    except Exception as error:
        return error
    staged = "jaxprs" not in system.absent
    return _ill_typed(lambda: make_jaxpr(function)(*case.args)) if staged else None


def _ill_typed(attempt: Callable[[], Any]) -> TypeError | None:
    try:
        with np.errstate(all="ignore"):
            attempt()
    except ConcretizationTypeError:  # it asks for a value, of whatever type
        return None
    except TypeError as error:
        return error
    except Exception:  # the laws find it
        return None
    return None


def is_in_domain(case: Given) -> bool:
    """Whether the arguments of a primitive lie where its declaration says that they may."""
    if not isinstance(case, PrimitiveCall) or case.primitive.declaration is None:
        return True
    domain = case.primitive.declaration.domain
    return all(is_within(x, domain[min(i, len(domain) - 1)]) for i, x in enumerate(case.args))


def is_finite(case: Given, system: Implementation) -> bool:
    """Whether all results of a function are finite, or none are known: of NaN and infinity derivatives say nothing."""
    try:
        with np.errstate(all="ignore"):
            results = [np.asarray(system.numpy(x)) for x in tree.leaves(case.on(system)(*case.args))]
    except Exception:  # the laws find it
        return True
    return all(bool(np.all(np.isfinite(x))) for x in results if is_inexact(x.dtype))


def is_mapped(case: Given) -> bool:
    """Whether a case is of a mapped function."""
    return isinstance(case, GivenCase) and case.in_axes is not None
