"""Reductions by any computation: over dimensions, and over windows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from lawful import ops, tree
from lawful.control_flow._loops.arguments import strong
from lawful.control_flow._reduce.primitive import reduce_p
from lawful.control_flow._reduce.window_primitive import reduce_window_p
from lawful.core import (
    ArgumentTypeError,
    ArgumentValueError,
    ClosedJaxpr,
    InvalidArgumentError,
    Primitive,
    ShapedArray,
    Tracer,
    deduplicated,
    get_aval,
    kind,
    promote_dtypes,
    to_numpy,
)
from lawful.ops import sliding_window
from lawful.staging import flatten_outputs, function_name, trace_to_jaxpr

# For computations that are one op: the dtype kinds that its reductions support, and the reductions.
_MONOIDS: dict[Primitive, tuple[str, Primitive, Callable[..., Any] | None]] = {
    ops.add_p: ("iufc", ops.reduce_sum_p, ops.reduce_window_sum),
    ops.mul_p: ("iufc", ops.reduce_prod_p, None),
    ops.max_p: ("biuf", ops.reduce_max_p, ops.reduce_window_max),
    ops.min_p: ("biuf", ops.reduce_min_p, ops.reduce_window_min),
    ops.and_p: ("biu", ops.reduce_and_p, None),
    ops.or_p: ("biu", ops.reduce_or_p, None),
    ops.xor_p: ("biu", ops.reduce_xor_p, None),
}


def reduce(operands: Any, init_values: Any, computation: Callable[[Any, Any], Any], dimensions: Sequence[int]) -> Any:
    """Returns arrays reduced over some dimensions by a computation.

    Args:
      operands: an array, or a pytree of arrays of one shape that are reduced together.
      init_values: a scalar, or such a tree of them: the reduction of no elements. It must be a unit of the
        computation: it is combined with elements any number of times.
      computation: ``computation(x, y)`` of two such trees of scalars returns a third. It is associative: the order of
        elements is preserved, that of combinations is not specified. ``ops.add``, ``mul``, ``max``, ``min``,
        ``bitwise_and``, ``bitwise_or`` and ``bitwise_xor`` of one array become the reduction ops.
      dimensions: the dimensions to reduce, counted from the end if negative.

    Raises:
      ArgumentTypeError: the operands differ in shape, an initial value is not a scalar of its operand's dtype, or the
        results of the computation have other types than its arguments.
      ArgumentValueError: a dimension is repeated, or the computation closes over arrays or tracers.
      AxisError: there is no such dimension.

    >>> reduce(np.array([[1.0, 2.0], [3.0, 4.0]]), 0.0, lambda x, y: x + y, (0,))
    array([4., 6.])
    >>> reduce((np.array([3, 1, 2]), np.arange(3)), (-1, -1), lambda x, y: (ops.max(x[0], y[0]), x[1] + y[1]), (0,))
    (np.int64(3), np.int64(2))

    Source: ``jax.lax.reduce``.
    """
    leaves, inits, structure = _flat("reduce", operands, init_values)
    shape = get_aval(leaves[0]).shape
    axes = tuple(sorted(ops.canonical_axes("reduce", dimensions, len(shape))))
    jaxpr = _computation("reduce", computation, structure, leaves)
    found = _monoid(jaxpr, leaves)
    if found is not None:
        primitive, reduction, _ = found
        return tree.unflatten(structure, [_from(primitive, reduction, inits[0], reduction.bind(leaves[0], axes=axes))])
    return tree.unflatten(structure, _flat_results(reduce_p.bind(*leaves, *inits, jaxpr=jaxpr, dimensions=axes)))


def reduce_window(
    operand: Any,
    init_value: Any,
    computation: Callable[[Any, Any], Any],
    window_dimensions: Any,
    window_strides: Any = None,
    padding: Any = "VALID",
    base_dilation: Any = None,
    window_dilation: Any = None,
) -> Any:
    """Returns the windows of arrays, each reduced by a computation.

    Args:
      operand: an array, or a pytree of arrays of one shape that are reduced together.
      init_value: a scalar, or such a tree of them. It is combined with each window once; the padding is not
        combined. An infinite number stands for the end of a dtype of integers.
      computation: ``computation(x, y)`` of two such trees of scalars returns a third, and is associative. ``ops.add``,
        ``max`` and ``min`` of one array become the ops for windows.
      window_dimensions: the lengths of the window, one per dimension.
      window_strides: the distances of two windows; None for 1.
      padding: for each dimension how much to pad before and after; or ``"VALID"`` for none, ``"SAME"`` for a result of
        the operand's shape over the strides.
      base_dilation: the distances between the elements of the operand; None for 1.
      window_dilation: the distances between the elements of the window; None for 1.

    Raises:
      ArgumentTypeError: as in `reduce`.
      ArgumentValueError: the numbers do not fit the operand, or the computation closes over arrays or tracers.

    >>> reduce_window(np.array([1.0, 3.0, 2.0]), -np.inf, ops.max, (2,), padding="SAME")
    array([3., 3., 2.])

    Source: ``jax.lax.reduce_window``.
    """
    leaves, inits, structure = _flat("reduce_window", operand, init_value)
    shape = get_aval(leaves[0]).shape
    params = sliding_window.window_params(
        "reduce_window", shape, window_dimensions, window_strides, padding, base_dilation, window_dilation
    )
    sliding_window.window_shape("reduce_window", shape, **params)
    jaxpr = _computation("reduce_window", computation, structure, leaves)
    found = _monoid(jaxpr, leaves)
    if found is not None and found[2] is not None:
        primitive, reduction, over_windows = found
        out = over_windows(leaves[0], **params)
        return tree.unflatten(structure, [_from(primitive, reduction, inits[0], out)])
    return tree.unflatten(structure, _flat_results(reduce_window_p.bind(*leaves, *inits, jaxpr=jaxpr, **params)))


def _flat(name: str, operands: Any, init_values: Any) -> tuple[list[Any], list[Any], Any]:
    """Returns the leaves of the operands, the initial values in their dtypes, and their tree."""
    leaves, structure = tree.flatten(operands)
    inits, of_inits = tree.flatten(init_values)
    if not leaves or structure != of_inits:
        raise InvalidArgumentError(
            f"{name}: expected operands and initial values of one structure with at least one array, got {structure} "
            f"and {of_inits}; give an initial value for each"
        )
    leaves = [strong(x) for x in leaves]
    avals = [get_aval(x) for x in leaves]
    if any(aval.shape != avals[0].shape for aval in avals):
        raise ArgumentTypeError(
            f"{name}: expected operands of one shape, got {', '.join(map(str, avals))}; broadcast them first"
        )
    converted = []
    for init, aval in zip(inits, avals, strict=True):
        init = _end_of_integers(init, aval)
        given = get_aval(init)
        common, _ = promote_dtypes((aval.dtype, False), (given.dtype, given.weak_type))
        if given.shape or common != aval.dtype or (given.dtype != aval.dtype and not given.weak_type):
            raise InvalidArgumentError(
                f"{name}: expected a scalar of the operand's dtype as initial value, got {given} for {aval}; "
                "convert it with astype"
            )
        is_traced = isinstance(init, Tracer)
        converted.append(
            ops.convert_element_type(init, aval.dtype) if is_traced else np.asarray(to_numpy(init)).astype(aval.dtype)
        )
    return leaves, converted, structure


def _end_of_integers(init: Any, aval: ShapedArray) -> Any:
    """Returns an infinite number as the end of the integers of a type, an initial value as such as it is."""
    if aval.dtype.kind not in "iu" or isinstance(init, Tracer) or not get_aval(init).weak_type:
        return init
    ends = np.iinfo(aval.dtype)
    return ends.max if init == np.inf else ends.min if init == -np.inf else init


def _flat_results(outs: Sequence[Any]) -> list[Any]:
    """Returns results as NumPy's reductions do: those with no dimension are scalars."""
    return [x[()] if type(x) is np.ndarray and not x.shape else x for x in outs]


def _computation(name: str, function: Callable[..., Any], structure: Any, operands: Sequence[Any]) -> ClosedJaxpr:
    avals = [ShapedArray((), get_aval(x).dtype) for x in operands]
    label = f"{name} by {function_name(function)}"
    out_tree: Any = None

    def flat(*leaves: Any) -> list[Any]:
        nonlocal out_tree
        left, right = (tree.unflatten(structure, part) for part in (leaves[: len(avals)], leaves[len(avals) :]))
        outs, out_tree = flatten_outputs(label, function(left, right))
        return [strong(x) for x in outs]

    closed = trace_to_jaxpr(flat, avals * 2, transformation=name, name=function_name(function))
    if out_tree != structure or closed.out_avals != avals:
        raise ArgumentTypeError(
            f"{name}: expected a computation that gives {', '.join(map(str, avals))} as it is given, got "
            f"{', '.join(map(str, closed.out_avals))} in {out_tree} for {structure}; return what it takes"
        )
    if any(isinstance(const, Tracer) or get_aval(const).shape for const in closed.consts):
        raise ArgumentValueError(
            f"{name}: expected a computation of its arguments and of numbers, got one that closes over traced values "
            "or arrays; give them as further operands"
        )
    return deduplicated(closed)


def _monoid(closed: ClosedJaxpr, operands: Sequence[Any]) -> Any:
    """Returns the entry of `_MONOIDS` for a computation that is one op of both its arguments, else None."""
    jaxpr = closed.jaxpr
    if len(jaxpr.eqns) != 1 or len(operands) != 1:
        return None
    (eqn,) = jaxpr.eqns
    entry = _MONOIDS.get(eqn.primitive)
    both = len(eqn.invars) == 2 and set(map(id, eqn.invars)) == set(map(id, jaxpr.invars))
    if entry is None or not both or list(jaxpr.outvars) != list(eqn.outvars):
        return None
    return (eqn.primitive, *entry[1:]) if kind(get_aval(operands[0]).dtype) in entry[0] else None


def _is_unit(reduction: Primitive, init: Any) -> bool:
    """Whether an initial value is known and the unit of a reduction."""
    if isinstance(init, Tracer):
        return False
    return bool(init == reduction.rule("impl")(np.zeros(0, get_aval(init).dtype), axes=(0,)))


def _from(primitive: Primitive, reduction: Primitive, init: Any, out: Any) -> Any:
    """Returns the result of a reduction combined with an initial value."""
    if _is_unit(reduction, init):
        return out
    return primitive.bind(ops.broadcast_in_dim(init, get_aval(out).shape, ()), out)
