"""``optimization_barrier``: values that a compiler must not see through."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lawful import tree
from lawful.core import (
    Call,
    Choose,
    Declaration,
    Primitive,
    ShapedArray,
    UndefinedPrimal,
    Zero,
)
from lawful.ops._support.structural import strong

__all__ = ["optimization_barrier", "optimization_barrier_p"]

optimization_barrier_p = Primitive("optimization_barrier", multiple_results=True, pure_rules=True)


def optimization_barrier(operand: Any, /) -> Any:
    """Returns a pytree of arrays as it is, behind a barrier that a compiler moves nothing across.

    All of the operands are computed before anything that uses one of the results. What is computed from a result is
    not merged with the same computation from the operand: :func:`lawful.autodiff.checkpoint` computes values again
    by that, instead of keeping them. In NumPy, which merges nothing, it does nothing. The results are strong.

    Raises:
      NonArrayError: a leaf is not an array.

    Laws: the identity, of every transformation. Source: ``jax.lax.optimization_barrier``.

    >>> optimization_barrier((1.0, {"b": 2.0}))
    (np.float64(1.0), {'b': np.float64(2.0)})
    """
    leaves, treedef = tree.flatten(operand)
    return tree.unflatten(treedef, optimization_barrier_p.bind(*map(strong, leaves)))


def _impl(*args: Any) -> list[Any]:
    return list(args)


optimization_barrier_p.def_impl(_impl, any_array=True)


@optimization_barrier_p.def_abstract_eval
def _abstract_eval(*avals: ShapedArray) -> list[ShapedArray]:
    return list(avals)


def _behind(values: Sequence[Any]) -> list[Any]:
    """Returns tangents or cotangents behind a barrier; symbolic zeros need none."""
    given = iter(optimization_barrier_p.bind(*[x for x in values if type(x) is not Zero]))
    return [x if type(x) is Zero else next(given) for x in values]


@optimization_barrier_p.def_jvp
def _jvp(primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    return optimization_barrier_p.bind(*primals), _behind(tangents)


@optimization_barrier_p.def_transpose
def _transpose(cts: Sequence[Any], *args: Any) -> list[Any]:
    behind = _behind(cts)
    return [ct if type(x) is UndefinedPrimal else None for ct, x in zip(behind, args, strict=True)]


@optimization_barrier_p.def_batch
def _batch(args: Sequence[Any], dims: Sequence[int | None]) -> tuple[list[Any], Sequence[int | None]]:
    return optimization_barrier_p.bind(*args), dims


@optimization_barrier_p.def_lowering
def _lower(ctx: Any, *operands: Any) -> list[Any]:
    return list(ctx.hlo.OptimizationBarrierOp(list(operands)).results) if operands else []


def _sample(choose: Choose) -> Call:
    return tuple([ShapedArray(choose.shape(), choose.dtype("fiubc")) for _ in range(2)]), {}


optimization_barrier_p.declaration = Declaration(sample=_sample, reference=_impl, kinds="fiubc", linear=((0, 1),))
