"""Groups of elementwise equations on large arrays of one shape, which the NumPy backend evaluates block by block.

The results inside a group that nothing else uses are never whole arrays: see `lawful.staging._fast.blocks`.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Sequence
from functools import partial
from typing import Any, Final

import numpy as np

from lawful.core import Atom, Jaxpr, JaxprEqn, Literal, Primitive, ShapedArray, Var, applies_effects
from lawful.ops import broadcast_in_dim_p
from lawful.staging._fast.blocks import Blocks

#: NumPy's elementwise functions that give the same bits for blocks as for the whole array. They use the same vector
#: instructions for both, because a block has a multiple of the elements of any vector.
_BY_ELEMENTS: Final = frozenset({
    np.add, np.subtract, np.multiply, np.true_divide, np.negative, np.absolute, np.sqrt, np.square, np.reciprocal,
    np.maximum, np.minimum, np.fmax, np.fmin, np.floor, np.ceil, np.trunc, np.rint, np.sign, np.copysign,
    np.exp, np.exp2, np.expm1, np.log, np.log2, np.log10, np.log1p, np.logaddexp,
    np.power, np.float_power, np.cbrt, np.hypot,
    np.sin, np.cos, np.tan, np.arcsin, np.arccos, np.arctan, np.arctan2,
    np.sinh, np.cosh, np.tanh, np.arcsinh, np.arccosh, np.arctanh,
    np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal, np.isfinite, np.isnan, np.isinf,
    np.logical_and, np.logical_or, np.logical_not, np.logical_xor,
    np.bitwise_and, np.bitwise_or, np.bitwise_xor, np.invert,
})  # fmt: skip

#: The bytes of a result from which on a group pays: smaller arrays stay in the cache as a whole.
LEAST_BYTES: Final = 1 << 20
#: The lines of one function at most; Python compiles longer ones slowly.
_MOST_EQUATIONS: Final = 1_000
#: The elements of a result that an equation may keep alive while it is evaluated before a group that it follows.
_FEW_ELEMENTS: Final = 4_096

#: The primitive of a group. It has one rule: no jaxpr that a transformation or another backend gets contains it.
blocks_p = Primitive("blocks", multiple_results=True, pure_rules=True)
for _slot in ("impl", "abstract_eval", "jvp", "transpose", "batch", "lowering"):
    blocks_p.declare_absent(_slot, "the NumPy backend makes it of other equations, after all transformations")


@blocks_p.def_rule_as("numpy")
def _numpy(avals: Sequence[ShapedArray], compile: Callable[..., Any], *, blocks: Blocks) -> Callable[..., list[Any]]:
    return blocks


def with_groups(jaxpr: Jaxpr, function_of: Callable[[JaxprEqn], Any], folded: Container[Atom]) -> Jaxpr:
    """Returns a program in which one equation stands for each group of elementwise equations.

    Args:
      jaxpr: a program of the NumPy backend.
      function_of: returns the function that evaluates an equation by NumPy.
      folded: the variables that are constants.

    A group ends at an equation that needs one of its results, has effects or a large result of its own. Any other
    equation between two of the group is evaluated before the group.

    Law: NumPy evaluates both programs to the same bits.
    """
    if not any([_is_large(eqn) for eqn in jaxpr.eqns]):
        return jaxpr
    last = {atom: number for number, eqn in enumerate(jaxpr.eqns) for atom in eqn.invars if type(atom) is Var}
    last.update({atom: len(jaxpr.eqns) for atom in jaxpr.outvars if type(atom) is Var})
    eqns: list[JaxprEqn] = []
    group = _Group(last)
    for number, eqn in enumerate(jaxpr.eqns):
        if eqn.outvars and eqn.outvars[0] in folded:
            eqns.append(eqn)
            continue
        function = _function_by_elements(eqn, function_of)
        if function is not None:
            if not group.takes(eqn):
                eqns += group.ended()
            group.add(number, eqn, function)
        else:
            if not _may_be_earlier(eqn, group.results):
                eqns += group.ended()
            eqns.append(eqn)
    return jaxpr.replace(eqns=[*eqns, *group.ended()])


class _Group:
    """Equations that are evaluated together.

    Args:
      last: the number of the last equation that uses a variable.

    Attributes:
      results: the variables of the equations.
    """

    def __init__(self, last: dict[Var, int]) -> None:
        self._last = last
        self._clear()

    def _clear(self) -> None:
        self.results: set[Atom] = set()
        self._eqns: list[JaxprEqn] = []
        self._functions: list[Any] = []
        self._number = 0

    def takes(self, eqn: JaxprEqn) -> bool:
        """Whether an equation fits the group."""
        if not self._eqns:
            return True
        return len(self._eqns) < _MOST_EQUATIONS and _shape(self._eqns[0]) == _shape(eqn)

    def add(self, number: int, eqn: JaxprEqn, function: Any) -> None:
        """Adds the equation of a number, and its function."""
        self._eqns.append(eqn)
        self._functions.append(function)
        self.results.update(eqn.outvars)
        self._number = number

    def ended(self) -> list[JaxprEqn]:
        """Returns an equation for each part of the group; the equations of a part if each has a result for others."""
        ended: list[JaxprEqn] = []
        for numbers in _connected(self._eqns):
            eqns = [self._eqns[i] for i in numbers]
            outvars = [eqn.outvars[0] for eqn in eqns if self._last.get(eqn.outvars[0], -1) > self._number]
            if outvars and len(outvars) < len(eqns):
                atoms = dict.fromkeys([atom for eqn in eqns for atom in eqn.invars if type(atom) is Var])
                invars = [atom for atom in atoms if atom not in self.results]
                blocks = Blocks(Jaxpr([], invars, eqns, outvars), [self._functions[i] for i in numbers])
                eqns = [JaxprEqn(blocks_p, invars, outvars, {"blocks": blocks}, eqns[0].source)]
            ended += eqns
        self._clear()
        return ended


def _connected(eqns: Sequence[JaxprEqn]) -> Iterable[list[int]]:
    """Returns the numbers of equations in parts that share no arrays.

    One part after the other takes less memory: the operands of a part are freed before the results of the next one.
    """
    first: dict[Var, int] = {}
    roots = [*range(len(eqns))]

    def root(i: int) -> int:
        while roots[i] != i:
            roots[i] = i = roots[roots[i]]
        return i

    for i, eqn in enumerate(eqns):
        for atom in (*eqn.invars, *eqn.outvars):
            if type(atom) is Var and atom.aval.shape:
                low, high = sorted((root(first.setdefault(atom, i)), root(i)))
                roots[high] = low
    parts: dict[int, list[int]] = {}
    for i in range(len(eqns)):
        parts.setdefault(root(i), []).append(i)
    return parts.values()


def _shape(eqn: JaxprEqn) -> tuple[int, ...]:
    return eqn.outvars[0].aval.shape


def _is_large(eqn: JaxprEqn) -> bool:
    if len(eqn.outvars) != 1:
        return False
    aval = eqn.outvars[0].aval
    return aval.size * aval.dtype.itemsize >= LEAST_BYTES


def _function_by_elements(eqn: JaxprEqn, function_of: Callable[[JaxprEqn], Any]) -> Any:
    """Returns the function of an equation that can be evaluated block by block; None for another equation."""
    if len(eqn.outvars) != 1 or not eqn.primitive.pure_rules or applies_effects(eqn.primitive, eqn.params):
        return None
    aval = eqn.outvars[0].aval
    avals = [atom.aval for atom in eqn.invars]
    widest = max([each.dtype.itemsize for each in (aval, *avals)])
    if aval.size * widest < LEAST_BYTES or not all([each.dtype.isbuiltin == 1 for each in (aval, *avals)]):
        return None
    shapes = {each.shape for each in avals}
    if aval.shape not in shapes or not shapes <= {aval.shape, ()}:
        return None
    function = function_of(eqn)
    if isinstance(function, np.ufunc):
        return function if function in _BY_ELEMENTS else None
    marked = function.func if type(function) is partial else function
    return function if getattr(marked, "is_by_elements", False) else None


def _may_be_earlier(eqn: JaxprEqn, results: set[Atom]) -> bool:
    """Whether an equation may be evaluated before a group with these results, at no cost in memory."""
    if not results:
        return True
    if any([atom in results for atom in eqn.invars]):
        return False
    if not eqn.primitive.pure_rules or applies_effects(eqn.primitive, eqn.params):
        return False
    if eqn.primitive is broadcast_in_dim_p:
        return type(eqn.invars[0]) is Literal or eqn.invars[0].aval.size <= _FEW_ELEMENTS
    return all([var.aval.size <= _FEW_ELEMENTS for var in eqn.outvars])
