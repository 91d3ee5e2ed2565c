"""A call site of a function with rules: maps pytrees of arguments to a flat list of operands, and checks results."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import cached_property
from typing import Any, Protocol

from lawful import tree
from lawful.core import (
    InvalidArgumentError,
    NonArrayError,
    ShapedArray,
    TreeStructureError,
    UnexpectedTracerError,
    call_in_rule,
    get_aval,
    is_array,
)
from lawful.custom_rules._call.captured import Captured, captured_by
from lawful.custom_rules._call.template import EMPTY, Template
from lawful.staging import flatten_outputs, in_avals


class RuledFunction(Protocol):
    """The parts of a function with rules that a call site uses.

    Attributes:
      fun: the function itself.
      name: its name.
      label: the name of the decorator and of the function, for messages.
      nondiff_argnums: the argument numbers of nondifferentiated arguments.
      takes_nondiff: whether the decorator takes ``nondiff_argnums``.
    """

    fun: Callable[..., Any]
    name: str
    label: str
    nondiff_argnums: tuple[int, ...]
    takes_nondiff: bool

    @property
    def carried_functions(self) -> list[Callable[..., Any]]:
        """The function and its rules."""

    def as_constant(self, value: Any) -> Any:
        """Returns a tracer in a nondifferentiated argument as a constant of differentiation."""


class CallSite:
    """One call of a function with rules: how its operands make up its arguments, and the type of its result.

    The operands are, in this order: the tracers that the functions close over, the tracers in nondifferentiated
    arguments, and the leaves of the other arguments. Two sites are equal if they do the same with their operands.

    Attributes:
      function: the function.
      arity: the number of arguments.
      differentiated: the argument numbers of the differentiated arguments.
      in_tree: the tree of the tuple of these.
      closed_over: the number of operands that the functions close over.
      extra: the number of operands before the leaves of the differentiated arguments.
      out_tree: the tree of the result, once it is known.
      out_avals: the types of its leaves, once they are known.
    """

    def __init__(
        self, function: RuledFunction, arity: int, differentiated: Sequence[int], in_tree: Any, nondiff: Template,
        captured: Captured, closed_over: int, nondiff_tracers: int,
    ) -> None:  # fmt: skip
        self.function = function
        self.arity = arity
        self.differentiated = differentiated
        self.in_tree = in_tree
        self._nondiff = nondiff
        self._captured = captured
        self.closed_over = closed_over
        self.extra = closed_over + nondiff_tracers
        self.out_tree: Any = None
        self.out_avals: list[ShapedArray] | None = None

    @cached_property
    def _key(self) -> Hashable:
        key = (tuple(self.function.carried_functions), self.in_tree.exact_key, self._nondiff.key, self._captured.key)
        try:
            hash(key)
        except TypeError:
            return object()  # equal to itself only
        return key

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, CallSite) and self._key == other._key)

    def __hash__(self) -> int:
        return hash(self._key)

    # From operands to arguments

    def apply(
        self, call: Callable[[Sequence[Any], Sequence[Any]], Any], operands: Sequence[Any], is_rule: bool = True
    ) -> Any:
        """Returns ``call(nondiff, leaves)``, with closed-over variables set to the operands' values during the call.

        Args:
          call: a function of the nondifferentiated arguments and the leaves of the others.
          operands: the operands of the call, or only those before the leaves.
          is_rule: whether it calls a rule, and not the function.
        """
        return call_in_rule(is_rule, self._apply, call, operands)

    def _apply(self, call: Callable[[Sequence[Any], Sequence[Any]], Any], operands: Sequence[Any]) -> Any:
        nondiff = [] if self._nondiff is EMPTY else self._nondiff.fill(operands[self.closed_over : self.extra])
        leaves = operands[self.extra :]
        try:
            if not self.closed_over:
                return call(nondiff, leaves)
            with self._captured.assigned(operands[: self.closed_over]):
                return call(nondiff, leaves)
        except UnexpectedTracerError as error:
            if error.message.startswith(self.function.label):
                raise
            raise UnexpectedTracerError(
                f"{self.function.label}: expected functions that use values of enclosing transformations as arguments "
                f"or as variables of enclosing functions, got another one: {error.message}; pass it as an argument",
                source=error.source,
            ) from error

    def arguments(self, nondiff: Sequence[Any], leaves: Sequence[Any]) -> list[Any]:
        """Returns all arguments in their positions."""
        differentiated = tree.unflatten(self.in_tree, leaves)
        if not nondiff:
            return list(differentiated)
        given, rest = iter(differentiated), iter(nondiff)
        return [next(given) if i in self.differentiated else next(rest) for i in range(self.arity)]

    def marks(self, of_operands: Sequence[bool]) -> list[Any]:
        """Returns, for each argument, a tree of the marks of its leaves; False for leaves that are not operands."""
        nondiff = [] if self._nondiff is EMPTY else self._nondiff.mark(of_operands[self.closed_over : self.extra])
        return self.arguments(nondiff, of_operands[self.extra :])

    def leaves_of(self, argnums: Sequence[int]) -> list[bool]:
        """Returns, for each leaf of the differentiated arguments, whether its argument is among ``argnums``."""
        counts = [child.num_leaves for child in tree.treedef_children(self.in_tree)]
        return [i in argnums for i, count in zip(self.differentiated, counts, strict=True) for _ in range(count)]

    def result(self, operands: Sequence[Any]) -> Any:
        """Returns the function's result, a pytree."""
        fun = self.function.fun
        return self.apply(lambda nondiff, leaves: fun(*self.arguments(nondiff, leaves)), operands, False)

    def run(self, *operands: Any) -> list[Any]:
        """Returns the leaves of the function's result."""
        return self.flat_result("the function", self.result(operands))

    # Results

    def flat_result(self, origin: str, result: Any) -> list[Any]:
        """Returns the leaves of a result.

        Args:
          origin: the function or rule that returned it, for messages.
          result: a tree of arrays.

        Raises:
          InvalidArgumentError: it differs in structure, shape or dtype from an earlier result.
          NonArrayError: a leaf is not an array.
        """
        leaves, out_tree = flatten_outputs(f"{self.function.label}, {origin}", result)
        self.check_result(origin, result, out_tree, [get_aval(x) for x in leaves])
        return leaves

    def check_result(self, origin: str, result: Any, out_tree: Any, avals: list[ShapedArray]) -> None:
        """Sets the type of the result, or raises InvalidArgumentError if it differs from that of an earlier result."""
        if self.out_avals is None:
            self.out_tree, self.out_avals = out_tree, avals
            return
        label, name = self.function.label, self.function.name
        if out_tree != self.out_tree:
            raise InvalidArgumentError(
                f"{label}: expected a result of the tree {self.out_tree}, which {name} has, from {origin}, got "
                f"{out_tree} ({tree_difference(self.out_tree, result)}); return what {name} returns"
            )
        for i, (expected, got) in enumerate(zip(self.out_avals, avals, strict=True)):
            if (expected.shape, expected.dtype) != (got.shape, got.dtype):
                path = tree.keystr(tree.leaves_with_path(result)[i][0])
                raise InvalidArgumentError(
                    f"{label}: expected {expected} at result{path}, which {name} has, from {origin}, got {got}; "
                    f"return what {name} returns"
                )


def call_site(function: RuledFunction, args: tuple[Any, ...], *, deep: bool = False) -> tuple[CallSite, list[Any]]:
    """Returns a call site of a function with rules, and the operands of the call.

    Args:
      function: the function.
      args: its arguments, all by position.
      deep: whether to search globals and attributes, too, for tracers that the functions use.

    Raises:
      NonArrayError: a leaf of a differentiated argument is not an array.
    """
    differentiated: tuple[Any, ...] = args
    checked: tuple[Any, ...] = args
    constants: list[Any] = []
    nondiff = EMPTY
    argnums: Sequence[int] = range(len(args))
    if nondiff_argnums := [i for i in function.nondiff_argnums if i < len(args)]:
        argnums = [i for i in range(len(args)) if i not in nondiff_argnums]
        differentiated = tuple([args[i] for i in argnums])
        checked = tuple([None if i in nondiff_argnums else x for i, x in enumerate(args)])
        nondiff, tracers = Template.of([args[i] for i in nondiff_argnums])
        constants = [*map(function.as_constant, tracers)]
    leaves, in_tree = tree.flatten(differentiated)
    try:
        in_avals(function.label, (checked, {}), leaves)
    except NonArrayError as error:
        if not function.takes_nondiff:
            raise
        raise NonArrayError(f"{error.message}, or list its position in nondiff_argnums") from None
    captured, closed_over = captured_by(function.carried_functions, deep=deep)
    site = CallSite(function, len(args), argnums, in_tree, nondiff, captured, len(closed_over), len(constants))
    return site, [*closed_over, *constants, *leaves]


def tree_difference(treedef: Any, value: Any) -> str:
    """Describes where a tree differs from the structure that it should have."""
    try:
        treedef.flatten_up_to(value)
    except TreeStructureError as error:
        return error.message.removeprefix("flatten_up_to: ").partition("; give a tree")[0]
    return "it has a tree in the place of a leaf"


def describe_result(x: Any) -> str:
    """Describes a value that a rule returned, by its type and length, or its shape and dtype."""
    if isinstance(x, tuple | list):
        return f"a {type(x).__name__} of {len(x)}"
    return f"an array {get_aval(x)}" if is_array(x) else f"a {type(x).__name__}"
