"""``jit``: a function that is traced once a signature, and runs compiled afterwards."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Hashable, Sequence
from types import FunctionType
from typing import Any
from weakref import ref

from lawful import tree
from lawful.core import (
    Cache,
    ClosedJaxpr,
    Tracer,
    current,
    deduplicated,
    eval_closed_jaxpr,
    eval_trace,
    impure_rules,
    record,
)
from lawful.staging._ahead_of_time import Traced
from lawful.staging._backends import CompiledProgram
from lawful.staging._explain import explain_new_signature
from lawful.staging._jit_entry import Entry, Signature
from lawful.staging._jit_primitive import compiled, jit_p
from lawful.staging._make_jaxpr import trace_tree
from lawful.staging._partial_eval import consts_as_inputs
from lawful.staging._passes import Pass, passed, passes_key, passes_of
from lawful.staging._signature import (
    Statics,
    donated_of,
    function_name,
    in_avals,
    require_callable,
    statics_of,
)

# How many signatures of one function are kept.
_MOST_SIGNATURES = 2048
# So many programs of a function are tried before the signature of a call is found out.
_MOST_RECENT = 4


@record
class Direct:
    """A program that was run, and how its arguments and results are put together: what a call like the last one needs.

    It stands beside the way through the signature, which costs twice what the rest of a small call does: the program
    itself looks whether arguments are of exactly its types, and says None if not.

    Attributes:
      run: gives the results of a call with these leaves; None if they are of other types.
      match: gives the leaves of ``args``, of the single argument or, if the call takes names, of ``(args, kwargs)``;
        None if these are another tree. None where the arguments are the leaves.
      is_single: whether there was a single argument.
      takes_names: whether there were ``kwargs``.
      unflatten: gives the tree of the results. None where it is a leaf.
      run_one: gives the result of a call with this single argument, where both are leaves; None if it is of another
        type, or ``run`` has to look at it. None where there is no such way.
    """

    run: Callable[[Sequence[Any]], list[Any] | None]
    match: Callable[[Any], Sequence[Any] | None] | None
    is_single: bool
    takes_names: bool
    unflatten: Callable[[list[Any]], Any] | None
    run_one: Callable[[Any], Any] | None

    @classmethod
    def of(cls, program: CompiledProgram, in_tree: Any, out_tree: Any) -> Direct | None:
        """Returns that of a program; None if its backend has no way to look."""
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


_LEAF = tree.structure(0)


class SignatureCache(Cache[Hashable, Entry]):
    """The traces of a function by signature, and the programs that were run last, the last one first.

    Attributes:
      recent: the programs.
      run_one: of the first of them.
    """

    __slots__ = ("recent", "run_one")

    def __init__(self) -> None:
        super().__init__("jit signatures", _MOST_SIGNATURES)
        self._set_recent(())

    def clear(self) -> None:
        """Removes every trace and program."""
        super().clear()
        self._set_recent(())

    def put_first(self, direct: Direct) -> None:
        """Makes a program the first to be tried."""
        self._set_recent((direct, *[other for other in self.recent if other != direct][: _MOST_RECENT - 1]))

    def _set_recent(self, recent: tuple[Direct, ...]) -> None:
        self.recent = recent
        self.run_one = recent[0].run_one if recent else None


_ATTRIBUTE = "__lawful_jit_caches__"
_lock = threading.Lock()


class _Caches(dict[Hashable, SignatureCache]):
    """The traces of a function, for all `jit`s of it with the same options.

    They are an attribute of the function, and so die with it also where they lead back to it: a Python function that
    a program calls may close over the function that was traced. Of a callable of another kind they live in its `jit`.
    """

    __slots__ = ("__weakref__", "owner")
    __hash__ = object.__hash__  # type: ignore[assignment]

    def __init__(self, owner: FunctionType | None = None) -> None:
        self.owner = None if owner is None else ref(owner)

    def __reduce__(self) -> tuple[object, ...]:
        return _Caches, ()  # what is compiled stays in its process


def _caches_of(function: Callable[..., Any]) -> _Caches:
    if type(function) is not FunctionType:
        return _Caches()
    found = function.__dict__.get(_ATTRIBUTE)
    # A function that wraps another one has got a copy of its attributes.
    if found is None or found.owner is None or found.owner() is not function:
        found = function.__dict__[_ATTRIBUTE] = _Caches(function)
    caches: _Caches = found
    return caches


class JitFunction:
    """What ``jit`` returns: call it as the function, or ask for its traced, lowered and compiled forms."""

    def __init__(
        self, function: Callable[..., Any], statics: Statics, donate: tuple[int, ...], donate_names: tuple[str, ...],
        backend: str | None, inline: bool, passes: tuple[Pass, ...],
    ) -> None:  # fmt: skip
        functools.update_wrapper(self, function)
        self._function = function
        self._statics = statics
        self._donate = donate
        self._donate_names = donate_names
        self._backend = backend
        self._inline = inline
        self._passes = passes
        self._name = function_name(function)
        self._label = f"jit of {self._name}"
        options = (statics, donate, donate_names, backend, passes_key(passes))
        with _lock:
            self._caches = _caches_of(function)
            if options not in self._caches:
                self._caches[options] = SignatureCache()
            self._cache = self._caches[options]

    def __repr__(self) -> str:
        return f"<jit of {self._name}>"

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else functools.partial(self, instance)

    def _flatten(self, args: Any, kwargs: Any) -> tuple[list[Any], Signature]:
        static: tuple[tuple[int | str, Hashable], ...] = ()
        if self._statics:
            args, kwargs, static = self._statics.split(self._label, args, kwargs)
        leaves, in_tree = tree.flatten((args, kwargs))
        avals = in_avals(self._label, (args, kwargs), leaves)
        return leaves, Signature(in_tree, avals, static, current.trace.axis_env)

    def _entry(self, signature: Signature) -> Entry:
        key = signature.key
        entry: Entry | None = self._cache.lookup(key)
        if entry is not None and entry.is_current():
            return entry
        explain_new_signature(self._name, signature, [known.signature for known in self._cache.values()])
        before = impure_rules()
        closed, out_tree = trace_tree("jit", self._function, signature.in_tree, signature.avals, signature.static)
        closed = passed(self._name, closed, self._passes)
        call, consts = consts_as_inputs(closed)
        if impure_rules() == before:  # else its lowering rules may give another program
            call = deduplicated(call)
        closed = closed if consts else call
        donated = self._donated_leaves(signature)
        tracers = any(isinstance(x, Tracer) for x in consts)
        entry = Entry(signature, closed, out_tree, call, consts, tracers, donated)
        self._cache.insert(key, entry)
        return entry

    def _donated_leaves(self, signature: Signature) -> tuple[int, ...]:
        """Returns the positions, among the leaves, of those of donated arguments."""
        if not self._donate and not self._donate_names:
            return ()
        static = [place for place, _ in signature.static if isinstance(place, int)]
        args, kwargs = tree.unflatten(signature.in_tree, range(signature.in_tree.num_leaves))
        places = [num - sum(place < num for place in static) for num in self._donate if num not in static]
        chosen = [args[place] for place in places if place < len(args)]
        chosen += [kwargs[name] for name in self._donate_names if name in kwargs]
        return tuple(tree.leaves(chosen))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if current.trace is eval_trace:
            cache = self._cache
            run_one = cache.run_one
            if run_one is not None and len(args) == 1 and not kwargs:
                result = run_one(args[0])
                if result is not None:
                    return result
            recent = cache.recent
            for direct in recent:
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
                    if direct is not recent[0]:
                        cache.put_first(direct)
                    return results[0] if direct.unflatten is None else direct.unflatten(results)
        leaves, signature = self._flatten(args, kwargs)
        entry = self._entry(signature)
        if current.trace is eval_trace and not any([isinstance(x, Tracer) for x in leaves]):
            program = entry.program
            if program is None:
                program = entry.program = compiled(entry.closed, self._name, entry.donated, self._backend)
            outs = program(*leaves)
            if not entry.closes_over_tracers and not self._statics:
                found = Direct.of(program, signature.in_tree, entry.out_tree)
                if found is not None:
                    self._cache.put_first(found)
        elif self._inline:
            outs = eval_closed_jaxpr(entry.call, *entry.consts, *leaves)
        else:
            params: dict[str, Any] = {"name": self._name, "jaxpr": entry.call}
            if entry.donated:
                params["donated"] = tuple(i + len(entry.consts) for i in entry.donated)
            if self._backend is not None:
                params["backend"] = self._backend
            outs = jit_p.bind(*entry.consts, *leaves, **params)
        return tree.unflatten(entry.out_tree, outs)

    def trace(self, *args: Any, **kwargs: Any) -> Traced:
        """Returns the function traced at the types of these arguments; nothing is computed.

        Args:
          args: arrays, or ``ShapeDtypeStruct`` in their place.
          kwargs: the same, by name.
        """
        _, signature = self._flatten(args, kwargs)
        entry = self._entry(signature)
        return Traced(
            entry.closed, signature.in_tree, entry.out_tree, self._name, entry.donated, self._backend, self._statics
        )

    def lower(self, *args: Any, **kwargs: Any) -> Any:
        """Returns ``trace(*args, **kwargs).lower()``."""
        return self.trace(*args, **kwargs).lower()

    def eval_shape(self, *args: Any, **kwargs: Any) -> Any:
        """Returns the tree of ``ShapeDtypeStruct`` of the result; nothing is computed."""
        return self.trace(*args, **kwargs).out_info

    def clear_cache(self) -> None:
        """Forgets the traces of this function."""
        self._cache.clear()


def jit(
    fun: Callable[..., Any] | None = None,
    /,
    *,
    static_argnums: int | Sequence[int] | None = None,
    static_argnames: str | Sequence[str] | None = None,
    donate_argnums: int | Sequence[int] | None = None,
    donate_argnames: str | Sequence[str] | None = None,
    keep_unused: bool = False,
    backend: str | None = None,
    inline: bool = False,
    passes: Sequence[Callable[[ClosedJaxpr], ClosedJaxpr]] = (),
) -> Any:
    """Returns ``fun`` compiled: traced once a signature, and run by the backend afterwards.

    Args:
      fun: a function of pytrees of arrays that returns such a tree. Without it, a decorator is returned.
      static_argnums: positions of hashable arguments that ``fun`` gets as they are; a new value is a new trace.
      static_argnames: the same by name; each is inferred from the other where the signature tells.
      donate_argnums: positions of arguments whose memory the result may take; they cannot be used afterwards.
      donate_argnames: the same by name.
      keep_unused: as in JAX; a compiled program here takes all of its arguments in either case.
      backend: ``"xla"`` or ``"numpy"``; by default XLA where it is installed.
      inline: whether, inside another transformation, its equations stand there themselves and not as a call.
      passes: functions that rewrite a program, applied to what was traced, the first one first: everything else sees
        the program that the last one gives. ``lawful.control_flow.reroll`` is one.

    The signature is the tree, shapes, dtypes and weakness of the arguments, and the static ones. ``fun`` must have
    no side effects: they happen while it is traced only.

    Raises:
      NonArrayError: an argument that is not static, or a leaf of the result, is not an array.
      ArgumentValueError: a static argument is not hashable, ``fun`` has no such argument, or one is both static and
        donated.
      ArgumentTypeError: a pass does not return a well-typed program of the same types.

    Law: ``jit(f)(*args) = f(*args)`` in value, shape, dtype and weakness. Source: ``jax.jit``.

    >>> import numpy as np
    >>> from lawful.ops import mul
    >>> float(jit(lambda x: mul(x, 2.0), backend="numpy")(np.float64(3.0)))
    6.0
    """
    if fun is None:
        return functools.partial(
            jit, static_argnums=static_argnums, static_argnames=static_argnames, donate_argnums=donate_argnums,
            donate_argnames=donate_argnames, keep_unused=keep_unused, backend=backend, inline=inline,
            passes=passes,
        )  # fmt: skip
    require_callable("jit", fun)
    statics = statics_of(fun, static_argnums, static_argnames)
    donated = donated_of(fun, donate_argnums, donate_argnames, statics)
    return JitFunction(fun, statics, donated.argnums, donated.argnames, backend, inline, passes_of(passes))
