"""The tape of a function that is being linearized: the linear parts of its operations, in order.

A primitive with a cached rule has one node: the rule, and its residuals. The backward pass runs nodes directly. For the
linear part as a program, they are written out as equations.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import repeat, starmap
from typing import Any, Final, final

from numpy import ndarray

from lawful.autodiff._fast.traced_rules import LinearizedRule
from lawful.core import Atom, JaxprEqn, ShapedArray, SourceLine, Trace, Var, get_aval, user_source
from lawful.ops import with_weakness_of
from lawful.staging import Constants, JaxprTracer, PartialTrace, live_equation, memory_owner, read_only
from lawful.staging._fast import add_equations, copied


class Node:
    """The linear part of one primitive at a point.

    Attributes:
      rule: the primitive, linearized; its linear part takes the residuals and then the input tangents.
      residuals: their values.
      inputs: the input tangents.
      outputs: a variable for each output tangent that is not zero.
      source: the user's line.
    """

    __slots__ = ("inputs", "outputs", "residuals", "rule", "source")

    # No __init__: the tape sets the fields itself, which is 2× faster. Each operation makes a node.
    rule: LinearizedRule
    residuals: list[Any]
    inputs: Sequence[Atom]
    outputs: Sequence[Var]
    source: SourceLine | None


_NODES: Final = {Node}


class PulledEqn(JaxprEqn):
    """An equation of one result with its transpose as a method, such as a user's rule. Subclasses define it."""

    __slots__ = ()

    # As a node, it has no __init__.
    __init__ = object.__init__

    def pull(self, ct: Any) -> Sequence[Any]:
        """Returns the cotangents of the operands from that of the result; None for a zero."""
        raise NotImplementedError(f"{type(self).__name__}.pull")


#: Arrays of fewer bytes are copied at once.
_FEW_BYTES: Final = 65_536


#: What has no part that may be dead alone.
_PLAIN: Final = (Node, PulledEqn)


@final
class Known:
    """A tangent that depends on no input, such as zeros that a rule gives: what is linear in it is computed at once.

    Attributes:
      val: its value.
      aval: its type.
    """

    __slots__ = ("aval", "val")

    def __init__(self, val: Any) -> None:
        self.val = val
        self.aval = get_aval(val)


#: A tangent on the tape.
Tangent = Atom | Known


class Tape(PartialTrace):
    """Records equations, as every partial trace, and nodes among them.

    Attributes:
      only_variables: whether all tangents that it has returned are variables, the common case.
      copies_small: whether small arrays are copied, and their types follow from them alone.
      private: arrays that are kept as they are, since the user has none of them.
    """

    __slots__ = ("copies_small", "only_variables", "private")

    eqns: list[Any]

    def __init__(self, of: Trace) -> None:
        # It has the fields of the trace that it records for. The constructors of its bases take 2x as long.
        self.parent = of.parent
        self.transformation = "the linear part of linearize"
        self.active = True
        self.thread = of.thread
        self.source = of.source
        self.evaluates_constants = of.evaluates_constants
        self.axis_env = of.axis_env
        self.checked_axes = of.checked_axes
        self.divergent_axes = of.divergent_axes
        self.eqns = []
        self.constants = Constants()
        self.casts = {}
        self.repeated = False
        self.filled = {}
        self.volatile = None
        self.only_variables = True
        self.private: Sequence[Any] = ()
        self.copies_small = of.evaluates_constants and not of.divergent_axes

    def add(
        self,
        rule: LinearizedRule,
        residuals: list[Any],
        inputs: list[Atom],
        args: Sequence[Any],
        source: SourceLine | None,
    ) -> Sequence[Atom]:
        """Records the linear part of a primitive.

        Args:
          rule: the primitive, linearized.
          residuals: what its linear part needs; arrays that may change later are replaced by copies.
          inputs: the tangents.
          args: the arguments that the user gave, who may write into them.
          source: the user's line.

        Returns:
          The tangents of its outputs that are not zero.
        """
        if len(inputs) < len(args):  # one is a constant, and may be the user's array
            self._own(residuals, args)
        if not rule.is_plain:
            if rule.sources is None:
                self.only_variables = False
                return add_equations(self, rule.linear, [*map(self.atom, residuals), *inputs], source)
            computed = () if rule.computed is None else self._add_node(rule.computed, residuals, inputs, source)
            return [computed[i] if i >= 0 else inputs[i] for i in rule.sources]
        return self._add_node(rule, residuals, inputs, source)

    def _add_node(
        self, rule: LinearizedRule, residuals: list[Any], inputs: list[Atom], source: SourceLine | None
    ) -> Sequence[Var]:
        avals = rule.linear.out_avals
        node = Node()
        node.rule = rule
        node.residuals = residuals
        node.inputs = inputs
        node.outputs = outputs = (Var(avals[0]),) if len(avals) == 1 else tuple([Var(aval) for aval in avals])
        node.source = source
        self.eqns.append(node)
        return outputs

    def _own(self, residuals: list[Any], args: Sequence[Any]) -> None:
        """Copies residuals that share memory with arguments. The user has no reference to the others."""
        private = self.private
        for arg in args:
            if type(arg) is not ndarray:
                if not isinstance(arg, ndarray):
                    continue
            elif arg.base is None and not arg.flags.writeable:  # it is kept as it is, as by `read_only`
                continue
            if private and any([arg is x for x in private]):
                continue
            owner = memory_owner(arg)
            for i, x in enumerate(residuals):
                if type(x) is not ndarray:
                    continue
                if x is owner and x.nbytes < _FEW_BYTES and self.copies_small:
                    residuals[i] = copied(self.constants, x)
                elif memory_owner(x) is owner:
                    residuals[i] = self.constants.value(x, self)

    def tangent(self, x: Any) -> Tangent:
        """Returns the tangent on the tape for one that a rule has computed while the tape was current."""
        found: Tangent = x.variable if type(x) is JaxprTracer and x._trace is self else Known(read_only(x))
        if type(found) is not Var:
            self.only_variables = False
        return found

    def instantiated(self, tangent: Tangent) -> Atom:
        """Returns the atom of a tangent in the program; a known tangent becomes a constant."""
        return self.atom(tangent.val) if type(tangent) is Known else tangent

    def value(self, tangent: Tangent) -> Any:
        """Returns a tangent as a value that rules compute with while the tape is current."""
        return JaxprTracer(self, tangent, user_source()) if type(tangent) is Var else tangent.val

    def exact(self, tangent: Tangent, aval: ShapedArray) -> Tangent:
        """Returns a tangent with the weakness of a type; the tape must be current."""
        return tangent if tangent.aval is aval else self.tangent(with_weakness_of(self.value(tangent), aval))

    def backwards(self, *, last: bool) -> Iterator[Any]:
        """Returns nodes and equations from the last to the first. In the last pass, each is dropped after its use."""
        dropping = starmap(self.eqns.pop, repeat((), len(self.eqns)))
        entries: Iterator[Any] = dropping if last else reversed(self.eqns)
        return entries

    def has_only_nodes(self) -> bool:
        """Whether cached rules have computed all residuals."""
        return _NODES.issuperset(map(type, self.eqns))

    def may_be_dead(self) -> bool:
        """Whether a part of an equation, such as a loop, may be dead. The backward pass skips an equation that is."""
        if self.has_only_nodes():  # the common case
            return False
        return any([not isinstance(entry, _PLAIN) and "dce" in entry.primitive.rules for entry in self.eqns])

    def values(self) -> dict[Var, Any]:
        """Returns the values of the constants."""
        constants = self.constants
        return dict(zip(constants.variables, constants.values, strict=True)) if constants.values else {}

    def residuals(self) -> list[Any]:
        """Returns the residuals."""
        nodes = [entry for entry in self.eqns if type(entry) is Node]
        return [*self.constants.values, *[x for node in nodes for x in node.residuals]]

    def drop_dead(self, outputs: Sequence[Tangent]) -> None:
        """Drops nodes, equations and results that no output depends on."""
        live = {atom for atom in outputs if type(atom) is Var}
        kept: list[Any] = []
        for entry in reversed(self.eqns):
            if type(entry) is Node:
                if not live.isdisjoint(entry.outputs):
                    kept.append(entry)
                    live.update([atom for atom in entry.inputs if type(atom) is Var])
            else:
                needed = live_equation(entry, live)
                if needed is not None:
                    kept.append(needed)
                    live.update([atom for atom in needed.invars if type(atom) is Var])
        self.eqns = kept[::-1]
        held = {id(x) for entry in kept if type(entry) is Node for x in entry.residuals}
        self.constants.keep(lambda var, value: var in live or id(value) in held)

    def write_out(self) -> None:
        """Replaces nodes by their equations."""
        entries, self.eqns = self.eqns, []
        self.volatile = ()  # the residuals of a node are copied already
        for entry in entries:
            if type(entry) is Node:
                self.eqns += equations(entry, [*map(self.atom, entry.residuals)])
            else:
                self.eqns.append(entry)
        self.volatile = None

    @staticmethod
    def written_out(node: Node) -> tuple[list[JaxprEqn], dict[Atom, Any]]:
        """Returns the equations of a node, and the values of the variables in them that stand for its residuals."""
        values: dict[Atom, Any] = {Var(get_aval(x)): x for x in node.residuals}
        return equations(node, [*values]), values


def equations(node: Node, residuals: Sequence[Atom]) -> list[JaxprEqn]:
    """Returns the equations of a node, given the atoms of its residuals."""
    program = node.rule.linear
    atoms: list[Atom] = [*residuals, *node.inputs, *program.literals]
    known = len(atoms)
    outputs = dict(zip(program.results, node.outputs, strict=True))
    found = []
    for primitive, params, operands, out_avals in program.steps:
        outvars = [outputs.get(len(atoms) + i) or Var(aval) for i, aval in enumerate(out_avals)]
        found.append(JaxprEqn(primitive, [atoms[i] for i in operands], outvars, params, node.source))
        atoms += outvars
    assert known <= min(outputs, default=known), "a node computes what it gives"
    return found
