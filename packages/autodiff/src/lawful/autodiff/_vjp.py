"""Reverse mode: ``vjp`` is ``linearize`` and then transposition of the linear program."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from lawful import tree
from lawful.autodiff._arguments import checked_leaves, flat_function, single_cotangent
from lawful.autodiff._linear_function import OpenProgram, copy_aliased_outputs, require_residual_types, residual_leaves
from lawful.autodiff._linearize import Linearized, linearize_hook
from lawful.autodiff._transpose import backward_pass
from lawful.core import ClosedJaxpr, ShapedArray, Zero, avals_of, current, record, zeros
from lawful.ops import with_weakness_of
from lawful.staging import copy_aliased, function_name, in_avals, read_only, require_callable


@record
class LinearProgram:
    """The linear part of a `Linearized`, without the outputs of its run.

    Attributes:
      jaxpr: the linear program; its constants are the residuals.
      inputs: for each flat input of the function, whether it has a tangent.
      nonzeros: for each flat output, whether its tangent is not zero.
    """

    jaxpr: ClosedJaxpr
    inputs: tuple[bool, ...]
    nonzeros: tuple[bool, ...]

    @property
    def residuals(self) -> Sequence[Any]:
        """The residuals."""
        return self.jaxpr.consts

    def pull_back(self, cts: Sequence[Any], *, last: bool = False) -> list[Any]:
        """Returns the cotangents of the inputs that have tangents; see `Linearized.pull_back`."""
        require_residual_types("vjp", self.jaxpr)
        return backward_pass(self.jaxpr, cts)


class VJPFunction:
    """The transposed derivative of a function at a point: from cotangents of the result to those of the arguments.

    ``jaxpr`` is the linear program that it runs backwards; its constants are the residuals of the forward pass that are
    arrays or traced, and residuals that are numbers stand in it as literals. The constants are also the leaves of the
    function as a pytree, so that functions of ``jit`` take and return it. Two such functions differ in structure: one
    that ``jit`` takes as an argument is compiled anew, unless it comes from one call of ``jit``.

    >>> from lawful.autodiff import vjp
    >>> _, pull_back = vjp(lambda x, y: x * y, 2.0, 3.0)
    >>> pull_back(1.0)
    (3.0, 2.0)
    """

    def __init__(
        self,
        linearized: Linearized | LinearProgram,
        in_types: tuple[ShapedArray, ...],
        out_types: tuple[ShapedArray, ...],
        in_tree: Any,
        out_tree: Any,
    ) -> None:
        self._linearized = linearized
        self._in_types = in_types
        self._out_types = out_types
        self._in_tree = in_tree
        self._out_tree = out_tree

    @property
    def jaxpr(self) -> ClosedJaxpr:
        """The linear program."""
        return self._linearized.jaxpr

    def __call__(self, *cts: Any, **names: Any) -> tuple[Any, ...]:
        ct = single_cotangent("vjp", self._out_tree, cts, names)
        flat = checked_leaves("vjp", "cotangent", self._out_tree, self._out_types, ct)
        result: tuple[Any, ...] = tree.unflatten(self._in_tree, cotangents(self._linearized, self._in_types, flat))
        return result

    def __repr__(self) -> str:
        return f"VJPFunction({self.jaxpr})"

    def _flatten(self) -> tuple[Sequence[Any], tuple[Any, ...]]:
        linearized, closed = self._linearized, self._linearized.jaxpr
        types = self._in_types, self._out_types, self._in_tree, self._out_tree
        program = OpenProgram(closed.jaxpr, linearized.inputs, linearized.nonzeros)
        return residual_leaves(closed), (program, *types)

    @classmethod
    def _unflatten(cls, structure: tuple[Any, ...], residuals: Sequence[Any]) -> VJPFunction:
        program, *types = structure
        closed = ClosedJaxpr(program.jaxpr, residuals)
        return cls(LinearProgram(closed, program.inputs, program.nonzeros), *types)


tree.register_node(VJPFunction, VJPFunction._flatten, VJPFunction._unflatten)


def cotangents(
    linearized: Linearized | LinearProgram,
    in_types: Sequence[ShapedArray],
    cts: Sequence[Any],
    *,
    last: bool = False,
    others: Sequence[Any] = (),
) -> list[Any]:
    """Returns the flat cotangents of the arguments of a function from flat ones of its result, of the right types.

    Args:
      linearized: the function.
      in_types: the types of its arguments.
      cts: the cotangents of its result.
      last: whether no pass follows, so that residuals may be freed as it goes. Results are then compared with constants
        and ``others`` only: the other residuals are dropped.
      others: more values that the results must share no memory with.
    """
    given = [ct for ct, nonzero in zip(cts, linearized.nonzeros, strict=True) if nonzero]
    found = linearized.pull_back(given, last=last)
    if len(found) < len(in_types):
        rest = iter(found)
        pairs = zip(in_types, linearized.inputs, strict=True)
        found = [next(rest) if has else Zero(aval.to_tangent_aval()) for aval, has in pairs]
    results = [  # an array is strong
        x if type(x) is np.ndarray and not aval.weak_type else materialized(x, aval)
        for x, aval in zip(found, in_types, strict=True)
    ]
    if np.ndarray not in map(type, results):  # only an array can share memory
        return results
    return copy_aliased(results, [*cts, *linearized.residuals, *others])


def materialized(ct: Any, aval: ShapedArray) -> Any:
    """Returns a cotangent of the type of a primal, as a value; that of an integer is a zero of its own type."""
    return with_weakness_of(zeros(ct.aval), ct.aval) if type(ct) is Zero else with_weakness_of(ct, aval)


def vjp(fun: Callable[..., Any], *primals: Any, has_aux: bool = False) -> tuple[Any, ...]:
    """Returns ``fun(*primals)`` and the function that pulls cotangents of the result back to the arguments.

    Args:
      fun: a function of pytrees of arrays that returns such a tree. Python control flow on values works.
      primals: its arguments.
      has_aux: whether ``fun`` returns a pair of which only the first is differentiated.

    Returns:
      ``(primals_out, f_vjp)``, and the auxiliary output as a third if ``has_aux``. ``f_vjp(ct)`` gives the tuple of
      cotangents of the arguments, of dtype ``float0`` for those of integers; it can be called any number of times.

    Raises:
      NonArrayError: a leaf of the arguments or of the result is not an array.

    Law: ``⟨w, J v⟩ = ⟨Jᵀ w, v⟩``. Source: ``jax.vjp``.

    >>> out, f_vjp = vjp(lambda x, y: x * y, 2.0, 3.0)
    >>> f_vjp(1.0)
    (3.0, 2.0)
    """
    require_callable("vjp", fun)
    leaves, in_tree = tree.flatten(primals)
    avals = in_avals("vjp", (primals, {}), leaves)
    flat, out = flat_function(f"vjp of {function_name(fun)}", fun, in_tree, has_aux=has_aux)
    # The user gets the backward function, and may write into arrays before it is called.
    linearized = linearize_hook.for_traces(flat, [read_only(x) for x in leaves], current.trace, avals=avals)
    linearized.drop_known()
    aux = copy_aliased_outputs(linearized, out.aux())
    f_vjp = VJPFunction(linearized, avals, avals_of(linearized.outs), in_tree, out.tree)
    result = (tree.unflatten(out.tree, linearized.outs), f_vjp)
    return (*result, aux) if has_aux else result
