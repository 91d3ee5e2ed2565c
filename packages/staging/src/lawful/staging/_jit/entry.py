"""A trace of ``jit``, and its signature."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

from lawful import tree
from lawful.core import ClosedJaxpr, ShapedArray, Tracer, current, exact_key
from lawful.staging._backends import CompiledProgram


class Signature(NamedTuple):
    """Everything that a trace depends on."""

    in_tree: Any
    avals: tuple[ShapedArray, ...]
    static: tuple[tuple[int | str, Hashable], ...]
    axis_env: tuple[tuple[Hashable, int], ...]
    #: The axes of a mesh that types tell of, and those along which not all devices run what is traced.
    typed_axes: tuple[frozenset[Hashable], frozenset[Hashable]] = (frozenset(), frozenset())
    #: The mesh of ``set_mesh``, which the function may read.
    context: Hashable = None

    @property
    def key(self) -> Hashable:
        """The key in the cache. It is exact: equal trees and static arguments may mean different programs."""
        return self.in_tree.exact_key, self.avals, exact_key(self.static), self.axis_env, self.typed_axes, self.context


class Entry:
    """A traced function: the jaxpr with its constants (``closed``), and with constants as arguments (``call``)."""

    __slots__ = ("call", "closed", "closes_over_tracers", "consts", "donated", "out_tree", "program", "signature")

    def __init__(
        self,
        signature: Signature,
        closed: ClosedJaxpr,
        out_tree: Any,
        call: ClosedJaxpr,
        consts: Sequence[Any],
        closes_over_tracers: bool,
        donated: tuple[int, ...],
    ) -> None:
        self.signature = signature
        self.closed = closed
        self.out_tree = out_tree
        self.call = call
        self.consts = consts
        self.closes_over_tracers = closes_over_tracers
        self.donated = donated
        self.program: CompiledProgram | None = None

    def is_current(self) -> bool:
        """Whether the tracers that the function closed over, if any, can still be used."""
        return not self.closes_over_tracers or all(
            x._trace.encloses(current.trace) for x in self.consts if isinstance(x, Tracer)
        )


def donated_leaves(signature: Signature, donate: tuple[int, ...], donate_names: tuple[str, ...]) -> tuple[int, ...]:
    """Returns the positions, among the leaves, of those of donated arguments."""
    if not donate and not donate_names:
        return ()
    static = [argnum for argnum, _ in signature.static if isinstance(argnum, int)]
    args, kwargs = tree.unflatten(signature.in_tree, range(signature.in_tree.num_leaves))
    argnums = [num - sum(argnum < num for argnum in static) for num in donate if num not in static]
    chosen = [args[argnum] for argnum in argnums if argnum < len(args)]
    chosen += [kwargs[name] for name in donate_names if name in kwargs]
    return tuple(tree.leaves(chosen))
