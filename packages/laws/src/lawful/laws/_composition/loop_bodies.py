"""Bodies of loops, made of a case's function, and their carries."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from lawful import tree
from lawful.laws._derivatives.directions import restrict
from lawful.laws._law.law import Inapplicable, Trial
from lawful.staging import make_jaxpr

Function = Callable[..., Any]

#: The factor of a body: a Python number, and so weak.
FACTOR: Final = 1.0


def loop_body(trial: Trial) -> tuple[Function, list[Any]]:
    """Returns the body of a loop made of a case's function, and the floating-point parts of its first carry.

    The body takes a factor, the carry and a slice. It changes the carry by a small amount that depends on the
    function's results, so that the carry stays in the function's domain; its results are those of the function. The
    last two parts of the carry are zero at first, and depend on the others after one iteration and after two.

    Raises:
      Inapplicable: the function has no floating argument or result, or one that is not finite, or refuses an array
        where it was given a number.
    """
    system = trial.system
    ops = system.ops
    function, leaves = restrict(trial)
    fixed = trial.case.fixed  # a primitive whose arguments are all floating-point
    if not all(np.all(np.isfinite(system.numpy(y))) for y in function(*leaves)):
        # A Python loop has no tangent where lawful's loop has zeros, and zero times infinity is NaN.
        raise Inapplicable("law: expected a function with finite results, got infinity or NaN")
    first = [np.asarray(x) for x in leaves]
    if any(system.aval(x).weak_type for x in leaves):
        try:
            (make_jaxpr(function) if trial.has("jaxprs") else function)(*first)
        except TypeError as error:
            raise Inapplicable(f"law: expected a function that takes arrays for its numbers, got {error}") from error

    def number_from(results: Sequence[Any], dtype: np.dtype[Any]) -> Any:
        total = system.array(np.zeros((), dtype))
        for y in results:
            aval = system.aval(y)
            real = ops.real(y) if aval.dtype.kind == "c" else y
            mean = ops.mul(ops.reduce_sum(real, tuple(range(aval.ndim))), 1.0 / max(aval.size, 1))
            total = ops.add(total, ops.convert_element_type(ops.sin(mean), dtype))
        return total

    def body(factor: Any, carry: Sequence[Any], x: Any) -> tuple[list[Any], list[Any]]:
        *parts, later, last = carry
        results = function(*parts)
        after = []
        for i, part in enumerate(parts):
            dtype = system.aval(part).dtype
            if i in fixed:
                after.append(part)
                continue
            by = ops.convert_element_type(ops.mul(factor, x), dtype)
            after.append(ops.add(part, ops.mul(by, number_from(results, dtype))))
        return [*after, number_from(results, np.dtype(np.float64)), ops.add(ops.mul(last, 0.5), later)], results

    return body, first


def first_carry(parts: Sequence[Any]) -> list[Any]:
    """Returns the first carry: its last two parts are constants under every transformation."""
    return [*parts, np.zeros(()), np.zeros(())]


def offset_body(trial: Trial) -> tuple[Function, list[Any]]:
    """Returns `loop_body` with an additional first part of the carry, see `offset_carry`."""
    body, parts = loop_body(trial)

    def with_offset(factor: Any, carry: Sequence[Any], x: Any) -> tuple[list[Any], list[Any]]:
        after, results = body(factor, carry[1:], x)
        return [trial.system.ops.mul(carry[0], 0.5), *after], results

    return with_offset, parts


def offset_carry(trial: Trial, factor: Any, parts: Sequence[Any]) -> list[Any]:
    """Returns the first carry of an `offset_body`: its first part is strong, with the factor's tangent, a weak one."""
    return [trial.system.ops.add(factor, np.float64(1.0)), *first_carry(parts)]


def stacked(trial: Trial, rows: Sequence[Any]) -> Any:
    """Stacks values of one type by the system's functions."""
    ops, shape = trial.system.ops, trial.system.aval(rows[0]).shape
    dims = tuple(range(1, 1 + len(shape)))
    return ops.concatenate([ops.broadcast_in_dim(row, (1, *shape), dims) for row in rows], 0)


def stacked_trees(trees: Sequence[Any], trial: Trial) -> Any:
    """Stacks trees of results of one type as NumPy arrays."""
    return tree.map(lambda *xs: np.stack([np.asarray(trial.system.numpy(x)) for x in xs]), *trees)
