"""Functions of several primitives, which a transformation goes through as one recipe.

What such a function applies depends on the types of its arrays and on its other arguments alone. Where an array is
differentiated or batched eagerly, the function is traced by itself, once, and its recipe is followed from then on:
Python's share of the function is saved, and most of what a transformation does for each primitive. The function itself
stands beside that, to be called where there is no recipe, and everywhere else.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Sequence
from typing import Any, NamedTuple, Protocol, TypeVar, cast

import numpy as np

from lawful import tree
from lawful.core import (
    ArgumentTypeError,
    ClosedJaxpr,
    Recipe,
    RecipeBook,
    ShapedArray,
    Tracer,
    array_types,
    avals_of,
    current,
    definitions,
    exact_params_key,
    get_aval,
    has_effects,
    jaxprs_in_params,
    python_scalar_types,
    remembered,
    shorten,
)

F = TypeVar("F", bound=Callable[..., Any])


class Tracing(Protocol):
    """Returns the jaxpr of a function of flat arguments that gives a flat list, at some types.

    It raises an exception where something else decides what the function applies, such as whether a value is known.
    """

    def __call__(
        self, function: Callable[..., Sequence[Any]], in_avals: Sequence[ShapedArray], *, transformation: str
    ) -> ClosedJaxpr:
        """Calls the function once, with tracers."""


_tracing: Tracing | None = None


def register_tracing(tracing: Tracing) -> None:
    """Says how functions are traced. The layer that traces does it; without one, functions are called plainly."""
    global _tracing
    _tracing = tracing


class _Found(NamedTuple):
    """A function as a recipe.

    Attributes:
      recipe: from its arrays to the leaves of its result.
      out_tree: the tree of its result; None if that is an array.
    """

    recipe: Recipe
    out_tree: Any

    def followed(self, operands: Sequence[Any]) -> Any:
        """Returns what the function gives for its arrays."""
        results = current.trace.follow(self.recipe, operands)
        return results[0] if self.out_tree is None else tree.unflatten(self.out_tree, results)


class Composite:
    """A function of arrays that is a composition of primitives, with the recipes that were made of it.

    Args:
      function: the function.
      arrays: how many of its first arguments are arrays.
      sequence: whether the first one is a sequence of arrays.
      looks: whether the values of arrays that are not traced may decide what it applies: then all have to be traced.
    """

    __slots__ = ("_arrays", "_book", "_function", "_looks", "_sequence")

    def __init__(
        self, function: Callable[..., Any], arrays: int = 1, *, sequence: bool = False, looks: bool = False
    ) -> None:
        self._function = function
        self._arrays = arrays
        self._sequence = sequence
        self._looks = looks
        self._book = RecipeBook()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Returns what the function gives, by its recipe where an array is traced and there is one."""
        trace = current.trace
        # A program is recorded once: that takes no less time by a recipe.
        if not trace.evaluates_constants:
            return self._function(*args, **kwargs)
        # With no settings; a sequence of arrays is not these arrays.
        recall = trace.recall if len(args) == self._arrays and not kwargs and not self._sequence else None
        if recall is not None:
            result = recall(self._book, _RECALLED, args)
            if result is not None:
                return result
        operands = self._operands(args)
        if operands is None:
            return self._function(*args, **kwargs)
        rest = args[1 if self._sequence else self._arrays :]
        key = _key(operands, rest, kwargs)
        since = definitions()
        found = None if key is None else remembered(self._book, key, self._trace, operands, rest, kwargs)
        if found is None:
            return self._function(*args, **kwargs)
        result = found.followed(operands)
        if recall is not None and found.out_tree is None:
            trace.note(self._book, operands, since)
        return result

    def of_integers(self, operands: Sequence[Any], *rest: Any) -> Any:
        """Returns what a call gives where arrays are traced, and no setting equals one of another type.

        It is faster than a call, which has to look at each setting.

        Args:
          operands: the arrays, in a sequence, of which one at least is traced.
          rest: integers, tuples of them, and None; what is a bool in one call is one in each.
        """
        key = (current.trace.axis_env, avals_of(operands), rest)
        found = remembered(self._book, key, self._trace, operands, rest, {})
        return self._function(operands, *rest) if found is None else found.followed(operands)

    def _operands(self, args: tuple[Any, ...]) -> Sequence[Any] | None:
        """Returns the arrays among the arguments, if any is traced; None if not, or some are missing."""
        if not self._sequence:
            operands: Sequence[Any] = args[: self._arrays]
        elif args and type(args[0]) in (list, tuple):
            operands = args[0]
        else:
            return None
        traced = [isinstance(x, Tracer) for x in operands]
        if not (all(traced) if self._looks else any(traced)):
            return None
        return operands if self._sequence or len(operands) == self._arrays else None

    def _trace(self, _: RecipeBook, operands: Sequence[Any], rest: tuple[Any, ...], kwargs: Any) -> _Found | None:
        if _tracing is None:
            return None
        out_tree = None

        def flat(*xs: Any) -> Sequence[Any]:
            nonlocal out_tree
            leaves, out_tree = tree.flatten(self._function(*((xs,) if self._sequence else xs), *rest, **kwargs))
            return leaves

        closed = _tracing(flat, [get_aval(x) for x in operands], transformation=self._function.__name__)
        is_recipe = closed.eqns and not closed.consts and not has_effects(closed) and not _has_programs(closed)
        return _Found(Recipe(closed), None if out_tree == _LEAF else out_tree) if is_recipe else None


_LEAF = tree.structure(0)
#: What a trace recalls a function by, among what was derived of it.
_RECALLED = "recalled"
_DECIDING = python_scalar_types - {float}


def _key(operands: Sequence[Any], rest: tuple[Any, ...], kwargs: dict[str, Any]) -> Hashable:
    """Returns what decides what a function applies: hashable if that is types and settings, None if it cannot be."""
    for x in operands:
        # A known integer may decide what is applied, as an exponent does; a float is an array of its type.
        if type(x) in _DECIDING or not (type(x) in array_types or isinstance(x, Tracer)):
            return None
    if not (rest or kwargs):
        return current.trace.axis_env, avals_of(operands), ()
    if any([_varies(value) for value in (*rest, *kwargs.values())]):
        return None
    # An array among the settings cannot be hashed, nor can a list.
    return (
        current.trace.axis_env,
        avals_of(operands),
        (exact_params_key(dict(enumerate(rest))), exact_params_key(kwargs)),
    )


def _varies(value: Any) -> bool:
    """Whether a setting is likely another one in the next call, so that what is derived would be of no use."""
    if type(value) is tuple:
        return any([_varies(x) for x in value])
    return isinstance(value, float | complex | np.inexact)


def _has_programs(closed: ClosedJaxpr) -> bool:
    # What is remembered of a function may keep no program of the user's alive.
    return any([True for eqn in closed.eqns for _ in jaxprs_in_params(eqn.params)])


def composite(arrays: int = 1, *, sequence: bool = False) -> Callable[[F], F]:
    """Returns the decorator that makes a function a `Composite`, with the same arguments.

    Args:
      arrays: how many of its first arguments are arrays.
      sequence: whether the first one is a sequence of arrays.

    What the function applies must follow from the types of these arrays and from its other arguments: a function that
    looks at the value of an array that is not traced is a `Composite` with ``looks``.

    Raises:
      ArgumentTypeError: ``arrays`` is no number.

    Law: it gives what the function gives.

    >>> import numpy as np
    >>> @composite()
    ... def mean_square(x, axis=None):
    ...     return (x * x).mean(axis)
    >>> mean_square(np.array([[1.0, 2.0], [3.0, 4.0]]), axis=0)
    array([ 5., 10.])
    """
    if not isinstance(arrays, int):
        raise ArgumentTypeError(
            f"composite: expected the number of arrays among the first arguments, got {shorten(arrays)}; write "
            "@composite() above the function"
        )

    def decorate(function: F) -> F:
        apply = Composite(function, arrays, sequence=sequence).__call__  # at half of the time of calling the object

        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            return apply(*args, **kwargs)

        return cast(F, wrapper)

    return decorate
