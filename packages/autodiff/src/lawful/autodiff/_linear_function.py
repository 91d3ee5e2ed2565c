"""The public form of a linearized function; copies of outputs that share memory with its residuals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from lawful import tree
from lawful.autodiff._arguments import check_tangent, match_tree
from lawful.core import ClosedJaxpr, ShapedArray, Zero, avals_of, eval_closed_jaxpr, instantiate_zeros
from lawful.ops import with_weakness_of
from lawful.staging import memory_owner, own_results

if TYPE_CHECKING:
    from lawful.autodiff._linearize import Linearized


class LinearFunction:
    """The derivative of a function at a point: a linear function of tangents.

    ``jaxpr`` is its program: from the tangents of floating inputs to those output tangents that are not zero. Its
    constants, the residuals, are also its leaves as a pytree, so that functions of ``jit`` take and return it.
    """

    def __init__(
        self,
        jaxpr: ClosedJaxpr,
        inputs: Sequence[bool],
        nonzeros: Sequence[bool],
        in_types: Sequence[ShapedArray],
        out_types: Sequence[ShapedArray],
        in_tree: Any,
        out_tree: Any,
    ) -> None:
        self.jaxpr = jaxpr
        self._inputs = inputs
        self._nonzeros = nonzeros
        self._in_types = in_types
        self._out_types = out_types
        self._in_tree = in_tree
        self._out_tree = out_tree

    @classmethod
    def of(cls, linearized: Linearized, in_types: Sequence[ShapedArray], in_tree: Any, out_tree: Any) -> LinearFunction:
        """Returns the derivative of a function of some argument types, and trees of arguments and result."""
        out_types = tuple([aval.to_tangent_aval() for aval in avals_of(linearized.outs)])
        return cls(
            linearized.jaxpr, linearized.inputs, linearized.nonzeros, in_types, out_types, in_tree, out_tree
        )  # fmt: skip

    def __call__(self, *tangents: Any) -> Any:
        leaves = match_tree("linearized function", "tangents", "primals", self._in_tree, tangents)
        paths = [path for path, _ in tree.leaves_with_path(tangents)]
        checked = [
            check_tangent("linearized function", "tangent", path, aval, t)
            for path, aval, t in zip(paths, self._in_types, leaves, strict=True)
        ]
        given = [t for t, has in zip(checked, self._inputs, strict=True) if has]
        outs = iter(eval_closed_jaxpr(self.jaxpr, *given))
        results = [
            with_weakness_of(next(outs) if nonzero else instantiate_zeros(Zero(aval)), aval)
            for nonzero, aval in zip(self._nonzeros, self._out_types, strict=True)
        ]
        return tree.unflatten(self._out_tree, own_results(results, [*checked, *self.jaxpr.consts]))

    def __repr__(self) -> str:
        return f"LinearFunction({self.jaxpr})"

    def _flatten(self) -> tuple[Sequence[Any], tuple[Any, ...]]:
        closed, types = self.jaxpr, (self._in_types, self._out_types, self._in_tree, self._out_tree)
        return closed.consts, (closed.jaxpr, self._inputs, self._nonzeros, *types)

    @classmethod
    def _unflatten(cls, structure: tuple[Any, ...], residuals: Sequence[Any]) -> LinearFunction:
        jaxpr, *others = structure
        return cls(ClosedJaxpr(jaxpr, residuals), *others)


tree.register_node(LinearFunction, LinearFunction._flatten, LinearFunction._unflatten)


def own_residuals(linearized: Linearized, aux: Any) -> Any:
    """Copies outputs that share memory with a residual: the user may write into them before a call of the derivative.

    Args:
      linearized: the function, whose ``outs`` are replaced.
      aux: a tree of other values that are returned to the user.

    Returns:
      ``aux``, copied in the same way.
    """
    linearized.drop_dead()
    residuals = {id(memory_owner(x)) for x in linearized.residuals if type(x) is np.ndarray}

    def own(x: Any) -> Any:
        is_kept = type(x) is np.ndarray and (not x.flags.writeable or id(memory_owner(x)) in residuals)
        return x.copy() if is_kept else x

    linearized.outs = [own(x) for x in linearized.outs]
    return tree.map(own, aux)
