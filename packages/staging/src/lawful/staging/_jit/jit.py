"""``jit``: a function that is traced once for each signature, and runs compiled afterwards."""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING, Any, Final

from lawful import tree
from lawful.core import (
    ClosedJaxpr,
    Hook,
    Tracer,
    as_bool,
    current,
    deduplicated,
    eval_closed_jaxpr,
    eval_trace,
    impure_rules,
)
from lawful.staging._jit.ahead_of_time import Lowered, Traced, shardings_of
from lawful.staging._jit.cache_misses import note_trace, refuse_attribute, tracing
from lawful.staging._jit.compiled import compiled
from lawful.staging._jit.compiler_options import ChosenBackend, CompilerOptions, with_options
from lawful.staging._jit.entry import Entry, Signature, donated_leaves
from lawful.staging._jit.passes import Pass, passed, passes_key, passes_of
from lawful.staging._jit.primitive import jit_p
from lawful.staging._jit.shardings import with_shardings
from lawful.staging._jit.signature_cache import caches_of
from lawful.staging._make_jaxpr import trace_tree
from lawful.staging._passes.hoisting import consts_as_inputs
from lawful.staging._signature import (
    Statics,
    donated_of,
    function_name,
    in_avals,
    require_callable,
    statics_of,
)


class JitFunction:
    """The result of ``jit``: call it as the function, or ask for its traced, lowered and compiled forms.

    >>> jit(lambda x: x * 2.0, backend="numpy").eval_shape(3.0)
    ShapeDtypeStruct(shape=(), dtype=float64, weak_type=True)
    """

    def __init__(
        self, function: Callable[..., Any], statics: Statics, donate: tuple[int, ...], donate_names: tuple[str, ...],
        backend: ChosenBackend, inline: bool, passes: tuple[Pass, ...],
    ) -> None:  # fmt: skip
        functools.update_wrapper(self, function)
        self._function = function
        self._statics = statics
        self._donate = donate
        self._donate_names = donate_names
        self._backend = backend
        self._inline = inline
        self.passes = passes
        self._name = function_name(function)
        self._label = f"jit of {self._name}"
        self._caches = caches_of(function)  # a reference, for callables that cannot hold it
        self._cache = self._caches.with_options((statics, donate, donate_names, backend, passes_key(passes)))
        #: Puts the arguments of a call, ``args`` and ``kwargs``, where shardings want them, and returns both.
        self.place: Callable[[tuple[Any, ...], dict[str, Any]], tuple[tuple[Any, ...], dict[str, Any]]] | None = None

    def __repr__(self) -> str:
        return f"<jit of {self._name}>"

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else functools.partial(self, instance)

    if not TYPE_CHECKING:  # which checks the names of attributes
        __getattr__ = refuse_attribute

    def _flatten(self, args: Any, kwargs: Any, *, values: bool = True) -> tuple[list[Any], Signature]:
        static: tuple[tuple[int | str, Hashable], ...] = ()
        if self._statics:
            args, kwargs, static = self._statics.split(self._label, args, kwargs)
        leaves, in_tree = tree.flatten((args, kwargs))
        avals = in_avals(self._label, (args, kwargs), leaves, values=values)
        trace = current.trace
        typed_axes = trace.checked_axes, trace.divergent_axes
        return leaves, Signature(in_tree, avals, static, trace.axis_env, typed_axes, current.context)

    def _entry(self, signature: Signature) -> Entry:
        key = signature.key
        entry = self._cache.lookup(key)
        if entry is not None and entry.is_current():
            return entry
        before = impure_rules()
        with tracing(self._function, self._name, self._cache, signature, entry):
            closed, out_tree = trace_tree("jit", self._function, signature.in_tree, signature.avals, signature.static)
            closed = passed(self._name, closed, self.passes)
        call, consts = consts_as_inputs(closed)
        if impure_rules() == before:  # else lowering rules may give another program
            call = deduplicated(call)
        closed = closed if consts else call
        tracers = any(isinstance(x, Tracer) for x in consts)
        note_trace(closed)
        donated = donated_leaves(signature, self._donate, self._donate_names)
        entry = Entry(signature, closed, out_tree, call, consts, tracers, donated)
        self._cache.insert(key, entry)
        return entry

    def _run(self, entry: Entry, leaves: Sequence[Any]) -> Sequence[Any]:
        """Returns the flat results of a trace: runs its program, or applies `jit_p` where a transformation traces."""
        if current.trace is eval_trace and not any([isinstance(x, Tracer) for x in leaves]):
            if entry.program is None:
                entry.program = compiled(entry.closed, self._name, entry.donated, self._backend, shardings_of(leaves))
            return entry.program(*leaves)
        if self._inline:
            return eval_closed_jaxpr(entry.call, *entry.consts, *leaves)
        params: dict[str, Any] = {"name": self._name, "jaxpr": entry.call}
        if entry.donated:
            params["donated"] = tuple(i + len(entry.consts) for i in entry.donated)
        if self._backend is not None:
            params["backend"] = self._backend
        outs: list[Any] = jit_p.bind(*entry.consts, *leaves, **params)
        return outs

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self.place is not None:
            args, kwargs = self.place(args, kwargs)
        leaves, signature = self._flatten(args, kwargs)
        entry = self._entry(signature)
        return tree.unflatten(entry.out_tree, self._run(entry, leaves))

    def trace(self, *args: Any, **kwargs: Any) -> Traced:
        """Returns the function traced at the types of these arguments; nothing is computed.

        Args:
          args: arrays, or ``ShapeDtypeStruct`` and other objects with ``shape`` and ``dtype`` in their place.
          kwargs: the same, by name.
        """
        leaves, signature = self._flatten(args, kwargs, values=False)
        entry = self._entry(signature)
        return Traced(
            entry.closed, signature.in_tree, entry.out_tree, self._name, entry.donated, self._backend, self._statics,
            shardings_of(leaves),
        )  # fmt: skip

    def lower(self, *args: Any, **kwargs: Any) -> Lowered:
        """Returns ``trace(*args, **kwargs).lower()``."""
        return self.trace(*args, **kwargs).lower()

    def eval_shape(self, *args: Any, **kwargs: Any) -> Any:
        """Returns the tree of ``ShapeDtypeStruct`` of the result; nothing is computed."""
        return self.trace(*args, **kwargs).out_info

    def clear_cache(self) -> None:
        """Removes the traces of this function."""
        self._cache.clear()


def _switch_call(call: Callable[..., Any]) -> None:
    JitFunction.__call__ = call  # type: ignore[method-assign]


#: The call of every function that `jit` returns. An accelerator replaces ``JitFunction.__call__`` itself, so that the
#: choice costs nothing.
call_hook: Final[Hook[Callable[..., Any]]] = Hook("call of jit", JitFunction.__call__, _switch_call)


def jit(
    fun: Callable[..., Any] | None = None,
    /,
    *,
    in_shardings: Any = None,
    out_shardings: Any = None,
    static_argnums: int | Sequence[int] | None = None,
    static_argnames: str | Sequence[str] | None = None,
    donate_argnums: int | Sequence[int] | None = None,
    donate_argnames: str | Sequence[str] | None = None,
    keep_unused: bool = False,
    backend: str | None = None,
    inline: bool = False,
    compiler_options: CompilerOptions | None = None,
    passes: Sequence[Callable[[ClosedJaxpr], ClosedJaxpr]] = (),
) -> Any:
    """Returns ``fun`` compiled: traced once for each signature, and run by the backend afterwards.

    Args:
      fun: a function of pytrees of arrays that returns such a tree. Without it, a decorator is returned.
      in_shardings: a prefix of the tree of positional arguments, of shardings of ``lawful.parallel`` and None.
      out_shardings: the same for the result; None is for the compiler to choose.
      static_argnums: positions of hashable arguments that ``fun`` gets as they are; a new value is a new trace.
      static_argnames: the same by name; where one of both is given, the signature tells the other.
      donate_argnums: positions of arguments whose memory the result may take; they cannot be used afterwards.
      donate_argnames: the same by name.
      keep_unused: as in JAX; programs here keep all arguments.
      backend: ``"xla"`` or ``"numpy"``; by default XLA where it is installed. ``"cpu"``, ``"cuda"`` and ``"gpu"`` are
        XLA on that platform, wherever the arguments are.
      compiler_options: options of the backend's compiler by name; only the outermost ``jit`` may have some.
      inline: whether, inside another transformation, its equations stand there themselves and not as a call.
      passes: functions that rewrite the traced program, the first one first, such as ``lawful.control_flow.reroll``.

    The signature is the tree, shapes, dtypes and weakness of the arguments, and the static ones. ``fun`` must have
    no side effects: they happen while it is traced only.

    Raises:
      NonArrayError: an argument that is not static, or a leaf of the result, is not an array.
      ArgumentValueError: a static argument is not hashable, or is donated too, or ``fun`` has no such argument.
      ArgumentTypeError: a pass does not return a well-typed program of the same types.

    Law: ``jit(f)(*args) = f(*args)`` in value, shape, dtype and weakness. Source: ``jax.jit``.

    >>> import numpy as np
    >>> from lawful.ops import mul
    >>> float(jit(lambda x: mul(x, 2.0), backend="numpy")(np.float64(3.0)))
    6.0
    """
    inline, _ = as_bool("jit", "inline", inline), as_bool("jit", "keep_unused", keep_unused)
    options: dict[str, Any] = {
        "static_argnums": static_argnums, "static_argnames": static_argnames, "donate_argnums": donate_argnums,
        "donate_argnames": donate_argnames, "backend": with_options(backend, compiler_options), "inline": inline,
        "passes": passes,
    }  # fmt: skip
    if fun is None:
        return functools.partial(jit, in_shardings=in_shardings, out_shardings=out_shardings, **options)
    require_callable("jit", fun)
    if (in_shardings, out_shardings) != (None, None):
        return with_shardings(fun, in_shardings, out_shardings, jit(**options))
    statics = statics_of(fun, static_argnums, static_argnames)
    donated = donated_of(fun, donate_argnums, donate_argnames, statics)
    return JitFunction(fun, statics, donated.argnums, donated.argnames, options["backend"], inline, passes_of(passes))
