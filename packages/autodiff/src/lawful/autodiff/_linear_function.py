"""The public form of a linearized function; copies of outputs that share memory with its residuals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from lawful import tree
from lawful.autodiff._arguments import checked_leaves
from lawful.core import (
    ArgumentTypeError,
    ClosedJaxpr,
    Jaxpr,
    Literal,
    ShapedArray,
    UndefinedPrimal,
    Zero,
    avals_of,
    eval_closed_jaxpr,
    get_aval,
    instantiate_zeros,
)
from lawful.ops import with_weakness_of
from lawful.staging import copy_aliased, memory_owner

if TYPE_CHECKING:
    from lawful.autodiff._linearize import Linearized


class OpenProgram:
    """A linear program without its residuals, in the structure of a pytree: equal to that of the same jaxpr only.

    Attributes:
      jaxpr: the program.
      inputs: for each flat input of the function, whether it has a tangent.
      nonzeros: for each flat output, whether its tangent is not zero.
    """

    __slots__ = ("inputs", "jaxpr", "nonzeros")

    def __init__(self, jaxpr: Jaxpr, inputs: Sequence[bool], nonzeros: Sequence[bool]) -> None:
        self.jaxpr = jaxpr
        self.inputs = inputs
        self.nonzeros = nonzeros

    def __eq__(self, other: object) -> bool:
        return isinstance(other, OpenProgram) and self.jaxpr is other.jaxpr and self.nonzeros == other.nonzeros

    def __hash__(self) -> int:
        return hash(self.jaxpr)

    def __repr__(self) -> str:
        return f"<linear program of {len(self.jaxpr.eqns)} equations at {id(self.jaxpr):#x}>"


def residual_leaves(closed: ClosedJaxpr) -> list[Any]:
    """Returns the residuals as leaves of a pytree: read-only, because the function goes on using them."""
    leaves = []
    for x in closed.consts:
        if type(x) is np.ndarray:
            x = x.view()
            x.flags.writeable = False
        leaves.append(x)
    return leaves


def require_residual_types(name: str, closed: ClosedJaxpr) -> None:
    """Raises ArgumentTypeError if residuals, which were leaves of a pytree, have other types than the program's."""
    for var, x in zip(closed.jaxpr.constvars, closed.consts, strict=True):
        aval = get_aval(x)
        if (aval.shape, aval.dtype) != (var.aval.shape, var.aval.dtype):
            raise ArgumentTypeError(
                f"{name}: expected residuals of the types that its program has, got {aval} for {var.aval}; a function "
                "that vmap returns stands for one call each: call it within vmap, vmap(lambda g, ct: g(ct))(f, cts)"
            )


class LinearFunction:
    """The derivative of a function at a point: a linear function of tangents.

    ``jaxpr`` is its program: from the tangents of floating inputs to those output tangents that are not zero. Its
    constants, the residuals that are no numbers, are also its leaves as a pytree, so that functions of ``jit`` take and
    return it.

    >>> from lawful.autodiff import linearize
    >>> _, f_jvp = linearize(lambda x, y: x * y, 2.0, 3.0)
    >>> f_jvp(1.0, 10.0)
    23.0
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
        # Whether the residuals were leaves of a pytree, and may be of other types than the program's.
        self._is_rebuilt = False

    @classmethod
    def of(cls, linearized: Linearized, in_types: Sequence[ShapedArray], in_tree: Any, out_tree: Any) -> LinearFunction:
        """Returns the derivative of a function of some argument types, and trees of arguments and result."""
        out_types = tuple([aval.to_tangent_aval() for aval in avals_of(linearized.outs)])
        found = linearized.jaxpr, linearized.inputs, linearized.nonzeros
        return cls(*found, in_types, out_types, in_tree, out_tree)

    def __call__(self, *tangents: Any) -> Any:
        checked = checked_leaves("linearized function", "tangent", self._in_tree, self._in_types, tangents)
        if self._is_rebuilt:
            require_residual_types("linearized function", self.jaxpr)
        # Calls inside of the program take operands of exact types, weakness included.
        given = [
            with_weakness_of(t, aval) for t, aval, has in zip(checked, self._in_types, self._inputs, strict=True) if has
        ]
        outs = iter(eval_closed_jaxpr(self.jaxpr, *given))
        results = [
            with_weakness_of(next(outs) if nonzero else instantiate_zeros(Zero(aval)), aval)
            for nonzero, aval in zip(self._nonzeros, self._out_types, strict=True)
        ]
        return tree.unflatten(self._out_tree, copy_aliased(results, [*checked, *self.jaxpr.consts]))

    def __repr__(self) -> str:
        return f"LinearFunction({self.jaxpr})"

    def _flatten(self) -> tuple[Sequence[Any], tuple[Any, ...]]:
        program = OpenProgram(self.jaxpr.jaxpr, self._inputs, self._nonzeros)
        return residual_leaves(self.jaxpr), (program, self._in_types, self._out_types, self._in_tree, self._out_tree)

    @classmethod
    def _unflatten(cls, structure: tuple[Any, ...], residuals: Sequence[Any]) -> LinearFunction:
        program, *types = structure
        function = cls(ClosedJaxpr(program.jaxpr, residuals), program.inputs, program.nonzeros, *types)
        function._is_rebuilt = True
        return function


tree.register_node(LinearFunction, LinearFunction._flatten, LinearFunction._unflatten)
# The operands of a transpose rule may be trees: arguments without values have no leaves.
tree.register_node(UndefinedPrimal, lambda x: ((), x.aval), lambda aval, _: UndefinedPrimal(aval))


def copy_aliased_outputs(linearized: Linearized, aux: Any) -> Any:
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


def constants_by_use(closed: ClosedJaxpr) -> ClosedJaxpr:
    """Returns a linear program with its constants in the order of their first use, and without calls of constants."""
    jaxpr, values = _without_known_calls(closed)
    atoms = [atom for eqn in jaxpr.eqns for atom in eqn.invars] + [*jaxpr.outvars]
    constvars = [atom for atom in dict.fromkeys(atoms) if atom in values]
    return ClosedJaxpr(jaxpr.replace(constvars=constvars), [values[var] for var in constvars])


def _without_known_calls(closed: ClosedJaxpr) -> tuple[Jaxpr, dict[Any, Any]]:
    """Evaluates calls that are left with constants alone, and what follows from them; returns the values of variables.

    Where a custom rule gives constants, some results of a loop depend on no tangent. If the others are not needed, the
    loop that is left takes none.
    """
    jaxpr = closed.jaxpr
    values: dict[Any, Any] = dict(zip(jaxpr.constvars, closed.consts, strict=True))
    computed: set[Any] = set()
    eqns = []
    for eqn in jaxpr.eqns:
        variables = [atom for atom in eqn.invars if type(atom) is not Literal]
        is_known = all([var in values for var in variables]) and not eqn.effects
        if is_known and ("dce" in eqn.primitive.rules or not computed.isdisjoint(variables)):
            operands = [atom.val if type(atom) is Literal else values[atom] for atom in eqn.invars]
            outs = eqn.primitive.bind(*operands, **eqn.params)
            values.update(zip(eqn.outvars, outs if eqn.primitive.multiple_results else [outs], strict=True))
            computed.update(eqn.outvars)
        else:
            eqns.append(eqn)
    return (jaxpr if len(eqns) == len(jaxpr.eqns) else jaxpr.replace(eqns=eqns)), values
