"""``grad`` and ``value_and_grad``: the gradient of a function with one scalar output."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from lawful import tree
from lawful.autodiff._arguments import flat_function, require_inexact
from lawful.autodiff._linearize import Linearized, linearize_hook
from lawful.autodiff._vjp import cotangents
from lawful.core import (
    ArgumentTypeError,
    ArgumentValueError,
    Hook,
    InvalidArgumentError,
    ShapedArray,
    SourceLine,
    Tracer,
    current,
    get_aval,
    is_inexact,
)
from lawful.staging import function_name, in_avals, require_callable

Argnums = int | Sequence[int]


def value_and_grad(
    fun: Callable[..., Any],
    argnums: Argnums = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    allow_int: bool = False,
) -> Callable[..., tuple[Any, Any]]:
    """Returns a function that gives the value of ``fun`` and its gradient.

    Args:
      fun: a function of pytrees of arrays whose result is a scalar.
      argnums: which positional arguments to differentiate by; several give a tuple of gradients.
      has_aux: whether ``fun`` returns ``(value, aux)``; then the value returned is that pair.
      holomorphic: whether ``fun`` is complex-differentiable, from complex arguments to a complex scalar.
      allow_int: whether arguments of integers get a gradient of dtype ``float0`` instead of an error.

    Raises:
      ArgumentTypeError: the result is not a floating scalar, or an argument to differentiate by has integers. For an
        array, the message names the line that computed it too.

    Source: ``jax.value_and_grad``.

    >>> value_and_grad(lambda x: x * x)(3.0)
    (9.0, 6.0)
    """
    of = Differentiated("value_and_grad", fun, argnums, has_aux, holomorphic, allow_int)

    @functools.wraps(fun, updated=())
    def value_and_grad_fun(*args: Any, **kwargs: Any) -> tuple[Any, Any]:
        return gradient_hook.use(of, args, kwargs)

    return value_and_grad_fun


def grad(
    fun: Callable[..., Any],
    argnums: Argnums = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    allow_int: bool = False,
) -> Callable[..., Any]:
    """Returns a function that gives the gradient of ``fun``.

    Args:
      fun: a function of pytrees of arrays whose result is a scalar.
      argnums: which positional arguments to differentiate by; several give a tuple of gradients.
      has_aux: whether ``fun`` returns ``(value, aux)``; then ``(gradient, aux)`` is returned.
      holomorphic: whether ``fun`` is complex-differentiable, from complex arguments to a complex scalar.
      allow_int: whether arguments of integers get a gradient of dtype ``float0`` instead of an error.

    The gradient has the structure and shapes of the arguments. By a complex argument of a real function it is the
    derivative by the real part minus ``i`` times that by the imaginary part, as in JAX.

    Raises:
      ArgumentTypeError: the result is not a floating scalar, or an argument to differentiate by has integers. For an
        array, the message names the line that computed it too.

    Law: agrees with finite differences and with forward mode. Source: ``jax.grad``.

    >>> from lawful.ops import sin
    >>> grad(lambda x: sin(x) * 2.0)(0.0)
    2.0
    """
    of = Differentiated("grad", fun, argnums, has_aux, holomorphic, allow_int)

    @functools.wraps(fun, updated=())
    def grad_fun(*args: Any, **kwargs: Any) -> Any:
        value, gradient = gradient_hook.use(of, args, kwargs)
        return (gradient, value[1]) if has_aux else gradient

    return grad_fun


class Differentiated:
    """A function with the arguments of `value_and_grad`.

    Attributes:
      fun: the function.
      name: of its gradient, for messages.
      positions: of the arguments to differentiate by.
      several: whether the gradient is a tuple.
      has_aux: whether the function returns ``(value, aux)``.
      holomorphic: whether it is complex-differentiable.
      allow_int: whether arguments of integers are allowed.
      by_one: the position if there is one; None also for an auxiliary output and for a complex derivative.
    """

    __slots__ = ("allow_int", "by_one", "fun", "has_aux", "holomorphic", "name", "positions", "several")

    def __init__(
        self,
        transformation: str,
        fun: Callable[..., Any],
        argnums: Argnums,
        has_aux: bool,
        holomorphic: bool,
        allow_int: bool,
    ) -> None:
        require_callable(transformation, fun)
        self.fun = fun
        self.name = f"grad of {function_name(fun)}"
        self.positions = positions_of(argnums)
        self.several = isinstance(argnums, Sequence)
        self.has_aux = has_aux
        self.holomorphic = holomorphic
        self.allow_int = allow_int
        self.by_one = self.positions[0] if len(self.positions) == 1 and not (has_aux or holomorphic) else None


def _value_and_gradient(of: Differentiated, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any]:
    """Returns the value of a function and its gradient, for the arguments of a call."""
    chosen, leaves, in_tree, avals = chosen_arguments(of.name, of.positions, args)
    if of.holomorphic or not all([is_inexact(aval.dtype) for aval in set(avals)]):
        _check_inputs(of.name, chosen, holomorphic=of.holomorphic, allow_int=of.allow_int)

    def function(*differentiated: Any) -> Any:
        full = list(args)
        for position, x in zip(chosen, differentiated, strict=True):
            full[position] = x
        return of.fun(*full, **kwargs)

    by_all = len(args) == len(chosen) == 1 and not kwargs  # the common case
    flat, out = flat_function(of.name, of.fun if by_all else function, in_tree, has_aux=of.has_aux)
    linearized = linearize_hook.for_traces(flat, leaves, current.trace, avals=avals)
    aval = checked_output(of, linearized.outs, out.leaves, out.tree)
    out.leaves = ()  # their trace holds residuals that the backward pass frees
    value, flat_gradients = pulled_back(linearized, aval, leaves, avals)
    gradients = in_tree.unflatten(flat_gradients)
    gradient = tuple(gradients) if of.several else gradients[0]
    return ((value, out.aux()) if of.has_aux else value), gradient


def pulled_back(
    linearized: Linearized, aval: ShapedArray, leaves: Sequence[Any], avals: Sequence[ShapedArray]
) -> tuple[Any, list[Any]]:
    """Returns the value of a function that was linearized, and its flat gradients.

    Args:
      linearized: the function, flattened.
      aval: the type of its result; see `checked_output`.
      leaves: its flat arguments.
      avals: their types.
    """
    (value,) = linearized.outs
    return value, cotangents(linearized, avals, [one_of(aval)], last=True, others=leaves)


def one_of(aval: ShapedArray) -> Any:
    """Returns the number one, of the type of a scalar."""
    return 1.0 if aval.weak_type and aval.dtype == np.float64 else aval.dtype.type(1)


#: Returns the value of a `Differentiated` and its gradient, for arguments and keyword arguments.
gradient_hook: Final[Hook[Callable[..., tuple[Any, Any]]]] = Hook("gradient", _value_and_gradient)


def positions_of(argnums: Argnums) -> tuple[int, ...]:
    """Returns ``argnums`` as a tuple; raises ArgumentTypeError if it is not of integers."""
    try:
        return tuple(map(operator.index, argnums)) if isinstance(argnums, Sequence) else (operator.index(argnums),)
    except TypeError:
        raise ArgumentTypeError(
            f"argnums: expected integers, got {argnums!r}; give positions of arguments, from 0"
        ) from None


def chosen_arguments(
    name: str, positions: tuple[int, ...], args: tuple[Any, ...]
) -> tuple[dict[int, Any], list[Any], Any, tuple[ShapedArray, ...]]:
    """Returns the arguments to differentiate by, by position from 0, their leaves, their tree, and the leaves' types.

    Raises:
      InvalidArgumentError: there is no such argument.
      ArgumentValueError: one is named twice.
      NonArrayError: a leaf of one is not an array.
    """
    if positions == (0,) and len(args) == 1:  # the common case
        leaves, in_tree = tree.flatten(args)
        return {0: args[0]}, leaves, in_tree, in_avals(name, (args, {}), leaves)
    for position in positions:
        if not -len(args) <= position < len(args):
            raise InvalidArgumentError(
                f"{name}: expected at least {position + 1 if position >= 0 else -position} positional arguments to "
                f"differentiate by argument {position}, got {len(args)}; give it by position, or change argnums"
            )
    chosen = {position % len(args): args[position] for position in positions}
    if len(chosen) < len(positions):
        raise ArgumentValueError(f"{name}: expected each argument once in argnums, got {positions}; leave one out")
    # At their positions, the others left out, so that an error names the right argument.
    placed = tuple([chosen.get(position) for position in range(len(args))])
    leaves, in_tree = tree.flatten(tuple(chosen.values()))
    return chosen, leaves, in_tree, in_avals(name, (placed, {}), leaves)


def _check_inputs(name: str, chosen: dict[int, Any], *, holomorphic: bool, allow_int: bool) -> None:
    for position, argument in chosen.items():
        for path, leaf in tree.leaves_with_path(argument):
            aval = get_aval(leaf)
            if not allow_int:
                cure = "give floats (1.0, not 1), leave it out of argnums, or pass allow_int=True"
                require_inexact(name, (tree.SequenceKey(position), *path), aval, cure)
            if holomorphic and aval.dtype.kind != "c":
                raise ArgumentTypeError(f"{name} with holomorphic=True: expected complex arguments, got {aval}")


_LEAF = tree.structure(0)


def _in_words(count: int, out_tree: Any) -> str:
    """Returns what a function gave that is no single array."""
    containers = {tree.structure([0] * count): "list", tree.structure((0,) * count): "tuple"}
    if count and out_tree in containers:
        return f"a {containers[out_tree]} of {count} value{'s' if count > 1 else ''}"
    return "None" if out_tree == tree.structure(None) else f"a tree {out_tree}"


def checked_output(of: Differentiated, outs: Sequence[Any], results: Sequence[Any], out_tree: Any) -> ShapedArray:
    """Returns the type of the scalar that a function gave.

    Args:
      of: the function.
      outs: the leaves of its result.
      results: the same before they were split into primals and tangents: tracers, which know the user's line.
      out_tree: the tree of its result.

    Raises:
      ArgumentTypeError: the result is no floating scalar.
    """
    name, holomorphic = of.name, of.holomorphic
    if out_tree is not _LEAF:
        raise ArgumentTypeError(
            f"{name}: expected a function with one scalar result, got {_in_words(len(outs), out_tree)}; "
            "return one scalar, the rest with has_aux=True, or use vjp or jacrev"
        )
    aval = get_aval(outs[0])
    if aval.shape:
        source = _computed_at(results[0])
        raise ArgumentTypeError(
            f"{name}: expected a function with a scalar result, got {aval}"
            f"{f', computed at {source}' if source is not None else ''}; sum it up, or use jacrev or vjp"
        )
    if not is_inexact(aval.dtype):
        raise ArgumentTypeError(
            f"{name}: expected a function with a floating result, got {aval}; the derivative of integers is zero"
        )
    if holomorphic != (aval.dtype.kind == "c"):
        raise ArgumentTypeError(
            f"{name}: expected a {'complex' if holomorphic else 'real'} result, got {aval}; "
            + (
                "leave holomorphic out"
                if holomorphic
                else "take a real part or absolute value, or pass holomorphic=True"
            )
        )
    return aval


def _computed_at(x: Any) -> SourceLine | None:
    """Returns the user's line that computed a value; None where none is known, and for an argument.

    An argument of a transformation has the line that called the transformation, as its trace has.
    """
    return x.source if isinstance(x, Tracer) and x.source is not x._trace.source else None
