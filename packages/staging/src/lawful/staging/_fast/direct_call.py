"""The direct path of ``jit``: a call tries the programs that ran last before it looks up its signature.

A program checks by itself whether arguments have exactly its types. The signature costs twice as much as the rest of a
small call.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from lawful import tree
from lawful.core import current, eval_trace, record
from lawful.staging._backends import CompiledProgram
from lawful.staging._jit.entry import Entry, Signature
from lawful.staging._jit.jit import JitFunction

#: How many programs of a function a call tries.
_MOST_RECENT: Final = 4
_LEAF: Final = tree.structure(0)


@record
class Direct:
    """A program that ran, with the way from arguments to leaves and from results to their tree.

    Attributes:
      run: returns the results for some leaves; None if they have other types.
      match: returns the leaves of ``args``, of the single argument or, if the call takes names, of ``(args, kwargs)``;
        None if these are another tree. None where the arguments are the leaves.
      is_single: whether there was a single argument.
      takes_names: whether there were ``kwargs``.
      unflatten: returns the tree of the results. None where it is a leaf.
      run_one: returns the result for a single argument, where both are leaves; None if it has another type, or
        ``run`` has to check it. None where there is no such function.
    """

    run: Callable[[Sequence[Any]], list[Any] | None]
    match: Callable[[Any], Sequence[Any] | None] | None
    is_single: bool
    takes_names: bool
    unflatten: Callable[[list[Any]], Any] | None
    run_one: Callable[[Any], Any] | None

    @classmethod
    def of(cls, program: CompiledProgram, in_tree: Any, out_tree: Any) -> Direct | None:
        """Returns the direct form of a program; None if the program cannot check arguments."""
        run = getattr(program, "run_exact", None)
        if run is None:
            return None
        args_tree, kwargs_tree = in_tree.children()
        takes_names = kwargs_tree.num_nodes > 1
        children = args_tree.children()
        is_single = len(children) == 1 and not takes_names
        match: Any = (in_tree if takes_names else children[0] if is_single else args_tree).exact_matcher
        if not takes_names and args_tree.num_nodes == 1 + args_tree.num_leaves == 1 + len(children):
            match = None
        unflatten = None if out_tree == _LEAF else out_tree.maker
        run_one = getattr(program, "run_one", None) if match is None and unflatten is None else None
        return cls(run, match, is_single, takes_names, unflatten, run_one)


class Recent:
    """The programs of a function that ran last.

    Attributes:
      programs: the programs, the last one first.
      run_one: of the first of them.
      context: that of the thread when they were traced.
    """

    __slots__ = ("context", "programs", "run_one")

    def __init__(self, programs: tuple[Direct, ...]) -> None:
        self.context = current.context
        self.programs = programs
        self.run_one = programs[0].run_one


def recent_programs(function: JitFunction) -> tuple[Direct, ...]:
    """Returns the programs that a call of a function tries, the last one first."""
    recent: Recent | None = function._cache.accelerated
    return () if recent is None or recent.context is not current.context else recent.programs


def _put_first(function: JitFunction, direct: Direct) -> None:
    others = [other for other in recent_programs(function) if other != direct]
    function._cache.accelerated = Recent((direct, *others[: _MOST_RECENT - 1]))


def call(self: JitFunction, *args: Any, **kwargs: Any) -> Any:
    """Calls a function that ``jit`` returned: by a program that ran recently, or else by the signature."""
    if current.trace is eval_trace:
        recent: Recent | None = self._cache.accelerated
        if recent is not None and recent.context is current.context:
            run_one = recent.run_one
            if run_one is not None and len(args) == 1 and not kwargs:
                result = run_one(args[0])
                if result is not None:
                    return result
            first = recent.programs[0]
            for direct in recent.programs:
                match = direct.match
                given: Sequence[Any] | None
                if match is None:
                    given = None if kwargs else args
                elif direct.is_single:
                    given = match(args[0]) if len(args) == 1 and not kwargs else None
                elif direct.takes_names:
                    given = match((args, kwargs))
                else:
                    given = None if kwargs else match(args)
                results = None if given is None else direct.run(given)
                if results is not None:
                    if direct is not first:
                        _put_first(self, direct)
                    return results[0] if direct.unflatten is None else direct.unflatten(results)
    if self.place is not None:
        args, kwargs = self.place(args, kwargs)
    leaves, signature = self._flatten(args, kwargs)
    entry = self._entry(signature)
    outs = self._run(entry, leaves)
    _keep_program(self, entry, signature)
    return tree.unflatten(entry.out_tree, outs)


def _keep_program(function: JitFunction, entry: Entry, signature: Signature) -> None:
    """Puts the program of a call first for the next call, if types alone decide whether it fits."""
    if entry.program is None or entry.closes_over_tracers or function._statics or current.trace is not eval_trace:
        return
    if function.place is not None and not getattr(entry.program, "checks_shardings", False):
        return
    direct = Direct.of(entry.program, signature.in_tree, entry.out_tree)
    if direct is not None:
        _put_first(function, direct)
