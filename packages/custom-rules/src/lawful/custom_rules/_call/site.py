"""A call of a function with rules: from pytrees to a flat list of operands and back, with checks of what comes back.

A call site knows how the arguments were taken apart, and what the result is like once the function or a rule has run.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from lawful import tree
from lawful.core import (
    ArgumentTypeError,
    NonArrayError,
    ShapedArray,
    Tracer,
    TreeStructureError,
    UnexpectedTracerError,
    exact_key,
    get_aval,
    is_array,
    record,
)
from lawful.custom_rules._call.captured import Captured, captured_by
from lawful.staging import flatten_outputs, in_avals

if TYPE_CHECKING:
    from lawful.custom_rules._call.function import CustomFunction


@record
class Arguments:
    """Arguments that rules are given as they are, but for the tracers in them.

    Attributes:
      treedef: the structure of their list.
      leaves: the leaves, of any type, with None in the place of tracers.
      places: where these are.
    """

    treedef: Any
    leaves: tuple[Any, ...]
    places: tuple[int, ...]

    @staticmethod
    def of(args: list[Any]) -> tuple[Arguments, list[Any]]:
        """Returns arguments, and the tracers in them."""
        leaves, treedef = tree.flatten(args)
        places = tuple([i for i, x in enumerate(leaves) if isinstance(x, Tracer)])
        others = tuple([None if i in places else x for i, x in enumerate(leaves)])
        return Arguments(treedef, others, places), [leaves[i] for i in places]

    def holding(self, values: Sequence[Any]) -> list[Any]:
        """Returns the arguments with values in the place of tracers."""
        leaves = list(self.leaves)
        for place, value in zip(self.places, values, strict=True):
            leaves[place] = value
        args: list[Any] = tree.unflatten(self.treedef, leaves)
        return args

    def marked(self, marks: Sequence[bool]) -> list[Any]:
        """Returns trees like the arguments, with marks in the place of tracers, and False elsewhere."""
        leaves = [False] * len(self.leaves)
        for place, mark in zip(self.places, marks, strict=True):
            leaves[place] = mark
        args: list[Any] = tree.unflatten(self.treedef, leaves)
        return args

    @property
    def key(self) -> Hashable:
        return self.treedef.exact_key, self.places, exact_key(tuple(self.leaves))


NO_ARGUMENTS, _ = Arguments.of([])


class CallSite:
    """One call of a function with rules: how its operands make up its arguments, and what its result is like.

    The operands are the tracers that the functions close over, those in arguments that are not differentiated, and then
    the leaves of the other arguments. Sites are equal that do the same with their operands.

    Attributes:
      function: the function.
      arity: the number of arguments.
      differentiated: the positions of those that are differentiated.
      in_tree: the tree of the tuple of these.
      closed_over: how many operands the functions close over.
      extra: how many operands come before the leaves of the arguments.
      out_tree: the tree of the result, once it is known.
      out_avals: the types of its leaves, likewise.
    """

    def __init__(
        self, function: CustomFunction, arity: int, differentiated: Sequence[int], in_tree: Any, nondiff: Arguments,
        captured: Captured, closed_over: int, held_back: int,
    ) -> None:  # fmt: skip
        self.function = function
        self.arity = arity
        self.differentiated = differentiated
        self.in_tree = in_tree
        self._nondiff = nondiff
        self._captured = captured
        self.closed_over = closed_over
        self.extra = closed_over + held_back
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

    def calling(self, call: Callable[[Sequence[Any], Sequence[Any]], Any], operands: Sequence[Any]) -> Any:
        """Returns ``call(nondiff, leaves)``, in which the variables that are closed over have the operands' values.

        Args:
          call: of the arguments that are not differentiated, and the leaves of the others.
          operands: those of the call, or only those before the leaves.
        """
        nondiff = self._nondiff.holding(operands[self.closed_over : self.extra]) if self._nondiff.leaves else []
        leaves = operands[self.extra :]
        try:
            if not self.closed_over:
                return call(nondiff, leaves)
            with self._captured.holding(operands[: self.closed_over]):
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
        return self.merged(nondiff, tree.unflatten(self.in_tree, leaves))

    def merged(self, nondiff: Sequence[Any], differentiated: Sequence[Any]) -> list[Any]:
        """Returns one list of what belongs to all arguments, in their positions."""
        if not nondiff:
            return list(differentiated)
        given, rest = iter(differentiated), iter(nondiff)
        return [next(given) if i in self.differentiated else next(rest) for i in range(self.arity)]

    def marks(self, of_operands: Sequence[bool]) -> list[Any]:
        """Returns, for each argument, a tree of what is said of its leaves; False of those that are not operands."""
        nondiff = self._nondiff.marked(of_operands[self.closed_over : self.extra]) if self._nondiff.leaves else []
        return self.arguments(nondiff, of_operands[self.extra :])

    def leaves_of(self, positions: Sequence[int]) -> list[bool]:
        """Returns, for each leaf of the differentiated arguments, whether it is of one at these positions."""
        counts = [child.num_leaves for child in tree.treedef_children(self.in_tree)]
        return [i in positions for i, count in zip(self.differentiated, counts, strict=True) for _ in range(count)]

    def result(self, operands: Sequence[Any]) -> Any:
        """Returns the function's result."""
        fun = self.function.fun
        return self.calling(lambda nondiff, leaves: fun(*self.arguments(nondiff, leaves)), operands)

    def run(self, *operands: Any) -> list[Any]:
        """Returns the leaves of the function's result."""
        return self.settle("the function", self.result(operands))

    # Results

    def settle(self, what: str, result: Any) -> list[Any]:
        """Returns the leaves of a result.

        Args:
          what: what gave it, for messages.
          result: a tree of arrays.

        Raises:
          ArgumentTypeError: it differs in structure, shape or dtype from what the function or a rule gave before.
          NonArrayError: a leaf is not an array.
        """
        leaves, out_tree = flatten_outputs(f"{self.function.label}, {what}", result)
        self.settle_types(what, result, out_tree, [get_aval(x) for x in leaves])
        return leaves

    def settle_types(self, what: str, result: Any, out_tree: Any, avals: list[ShapedArray]) -> None:
        """Remembers what a result is like, or raises the error that it is not like an earlier one."""
        if self.out_avals is None:
            self.out_tree, self.out_avals = out_tree, avals
            return
        label, name = self.function.label, self.function.name
        if out_tree != self.out_tree:
            raise ArgumentTypeError(
                f"{label}: expected a result of the tree {self.out_tree}, which {name} has, from {what}, got "
                f"{out_tree} ({tree_difference(self.out_tree, result)}); return what {name} returns"
            )
        for i, (expected, got) in enumerate(zip(self.out_avals, avals, strict=True)):
            if (expected.shape, expected.dtype) != (got.shape, got.dtype):
                path = tree.keystr(tree.leaves_with_path(result)[i][0])
                raise ArgumentTypeError(
                    f"{label}: expected {expected} at result{path}, which {name} has, from {what}, got {got}; "
                    f"return what {name} returns"
                )


def call_site(function: CustomFunction, args: tuple[Any, ...], *, deep: bool = False) -> tuple[CallSite, list[Any]]:
    """Returns a call of a function with rules, and its operands.

    Args:
      function: the function.
      args: its arguments, all by position.
      deep: whether to look everywhere for what the functions close over.

    Raises:
      NonArrayError: a leaf of an argument that may be differentiated is not an array.
    """
    kept: tuple[Any, ...] = args
    checked: tuple[Any, ...] = args
    held_back: list[Any] = []
    nondiff = NO_ARGUMENTS
    positions: Sequence[int] = range(len(args))
    if others := [i for i in function.nondiff_argnums if i < len(args)]:
        positions = [i for i in range(len(args)) if i not in others]
        kept = tuple([args[i] for i in positions])
        checked = tuple([None if i in others else x for i, x in enumerate(args)])
        nondiff, tracers = Arguments.of([args[i] for i in others])
        held_back = [*map(function.held_back, tracers)]
    leaves, in_tree = tree.flatten(kept)
    try:
        in_avals(function.label, (checked, {}), leaves)
    except NonArrayError as error:
        if not function.takes_settings:
            raise
        raise NonArrayError(f"{error.message}, or list its position in nondiff_argnums") from None
    captured, closed_over = captured_by(function.carried_functions, deep=deep)
    site = CallSite(function, len(args), positions, in_tree, nondiff, captured, len(closed_over), len(held_back))
    return site, [*closed_over, *held_back, *leaves]


def tree_difference(treedef: Any, value: Any) -> str:
    """Returns where a tree differs from the structure that it should have, in words."""
    try:
        treedef.flatten_up_to(value)
    except TreeStructureError as error:
        return error.message.removeprefix("flatten_up_to: ").partition("; give a tree")[0]
    return "it has a tree in the place of a leaf"


def describe_result(x: Any) -> str:
    """Returns what a rule gave, in words."""
    if isinstance(x, tuple | list):
        return f"a {type(x).__name__} of {len(x)}"
    return f"an array {get_aval(x)}" if is_array(x) else f"a {type(x).__name__}"
