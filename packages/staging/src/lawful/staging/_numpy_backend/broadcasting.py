"""Broadcasting by NumPy's ufuncs, which repeat operands without copies.

The primitives are strict: an equation broadcasts an operand of another shape. For small arrays NumPy takes longer for
that than for the ufunc that follows.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable

from lawful.core import Atom, Jaxpr, JaxprEqn
from lawful.ops import broadcast_in_dim_p


def leave_to_ufuncs(jaxpr: Jaxpr, is_ufunc: Callable[[JaxprEqn], bool]) -> Jaxpr:
    """Returns a program without the broadcasting that ufuncs do themselves. It is for NumPy only: it is not well typed.

    Args:
      jaxpr: a program.
      is_ufunc: whether NumPy evaluates an equation by a ufunc of its operands.

    Law: NumPy evaluates both to the same values, shapes and dtypes.
    """
    repeated: dict[Atom, Atom] = {eqn.outvars[0]: eqn.invars[0] for eqn in jaxpr.eqns if _repeats_as_ufuncs(eqn)}

    def keep(atoms: Iterable[Atom]) -> None:
        for atom in atoms:
            repeated.pop(atom, None)

    if repeated:
        keep(jaxpr.outvars)
    for eqn in jaxpr.eqns if repeated else ():
        found = [atom for atom in eqn.invars if atom in repeated]
        if found and not (is_ufunc(eqn) and _has_whole_operand(eqn, repeated)):
            keep(found)
    if not repeated:
        return jaxpr
    eqns = []
    for eqn in jaxpr.eqns:
        if any([atom in repeated for atom in eqn.invars]):
            eqns.append(eqn.replace(invars=[repeated.get(atom, atom) for atom in eqn.invars]))
        elif not any([var in repeated for var in eqn.outvars]):
            eqns.append(eqn)
    return jaxpr.replace(eqns=eqns)


def _has_whole_operand(eqn: JaxprEqn, repeated: Container[Atom]) -> bool:
    """Whether an operand that is not repeated has the shape of the result; others may be scalars."""
    shape = eqn.outvars[0].aval.shape
    return any([atom.aval.shape == shape for atom in eqn.invars if atom not in repeated])


def _repeats_as_ufuncs(eqn: JaxprEqn) -> bool:
    """Whether an equation repeats an array as NumPy's broadcasting does: its dimensions become the last ones."""
    if eqn.primitive is not broadcast_in_dim_p:
        return False
    count = len(eqn.params["shape"])
    last = tuple(range(count - len(eqn.invars[0].aval.shape), count))
    return bool(eqn.params["broadcast_dimensions"] == last)
