"""Over which axes of a mesh values vary: part of the type of a result inside ``lawful.parallel.shard_map``.

A value varies over an axis if devices that differ in their position along it may have different values. The axes of a
result are those of all operands, unless the primitive has a rule in the slot ``"varying"``: a sum over an axis does not
vary over it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lawful.core._jaxpr.jaxpr import Atom, JaxprEqn, Literal, Var
from lawful.core._jaxpr.nesting import holds_jaxprs
from lawful.core._primitive.by_name import primitives_by_name
from lawful.core._primitive.primitive import Primitive
from lawful.core._types.arrays import get_aval
from lawful.core._types.aval import AxisNames, ShapedArray
from lawful.tree.base import SourceLine


def common_axes(avals: Sequence[ShapedArray]) -> AxisNames:
    """Returns the axes that any of some values varies over."""
    found: AxisNames = frozenset()
    for aval in avals:
        found |= aval.vma
    return found


def types_its_axes(primitive: Primitive, params: dict[str, Any]) -> bool:
    """Whether abstract evaluation says over which axes results vary: that of a call of a jaxpr does."""
    return "varying" not in primitive.rules and holds_jaxprs(params)


def with_axes(
    primitive: Primitive, operands: Sequence[Atom], params: dict[str, Any], results: list[ShapedArray]
) -> list[ShapedArray]:
    """Returns the types of results, as abstract evaluation gave them, with the axes that they vary over.

    Args:
      primitive: the primitive.
      operands: its operands.
      params: its parameters.
      results: the types of its results.
    """
    if types_its_axes(primitive, params):
        return results
    vma = common_axes([atom.aval for atom in operands])
    rule = primitive.rules.get("varying")
    if rule is not None:
        vma = rule(vma, **params)
    return [aval.update(vma=vma) for aval in results]


def vary(x: Any, axes: AxisNames) -> Any:
    """Returns a value as one that varies over further axes: it is the same on all devices along them, as before."""
    return primitives_by_name["pvary"].bind(x, axis_name=_in_order(axes))


def with_axes_of(x: Any, aval: ShapedArray) -> Any:
    """Returns a value as one that varies over the axes of a type too."""
    missing = aval.vma - get_aval(x).vma
    return vary(x, missing) if missing else x


def vary_alike(
    primitive: Primitive, atoms: list[Atom], params: dict[str, Any], eqns: list[JaxprEqn], source: SourceLine | None
) -> list[Atom]:
    """Returns operands that vary over the same axes; literals fit any. Those equations are added that this takes."""
    if types_its_axes(primitive, params):
        wanted = _axes_of_inputs(primitive, atoms, params)
    else:
        vma = common_axes([atom.aval for atom in atoms])
        wanted = [frozenset() if type(atom) is Literal else vma for atom in atoms]
    alike: list[Atom] = []
    for atom, vma in zip(atoms, wanted, strict=True):
        missing = vma - atom.aval.vma
        if missing:
            var = Var(atom.aval.update(vma=atom.aval.vma | missing))
            eqns.append(JaxprEqn(primitives_by_name["pvary"], [atom], [var], {"axis_name": _in_order(missing)}, source))
            atom = var
        alike.append(atom)
    return alike


def _axes_of_inputs(primitive: Primitive, atoms: list[Atom], params: dict[str, Any]) -> list[AxisNames]:
    """Returns the axes that the jaxprs of an equation want each operand to vary over."""
    wanted: list[AxisNames] = [frozenset()] * len(atoms)
    if "runs" in primitive.rules:
        for run in primitive.rule("runs")(JaxprEqn(primitive, atoms, [], params)):
            for var, operand in zip(run.jaxpr.invars, run.operands, strict=True):
                wanted[operand] |= var.aval.vma
    return wanted


def _in_order(axes: AxisNames) -> Any:
    names = tuple(sorted(axes, key=str))
    return names[0] if len(names) == 1 else names
