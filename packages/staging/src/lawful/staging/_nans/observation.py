"""Programs under observation: plain interpreters, fresh traces, and lines that know the rules they went through."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from typing import Any, ClassVar, Final

from lawful import tree
from lawful.core import (
    Primitive,
    Tracer,
    at_rule,
    current,
    eval_trace,
    holds_jaxprs,
    plain,
    rule_hook,
    user_source,
)
from lawful.staging._jit.disable import is_jit_disabled
from lawful.staging._jit.explain import OBSERVED
from lawful.staging._jit.jit import JitFunction, call_hook
from lawful.staging._jit.primitive import jit_p


class _Evaluation(threading.local):
    #: Whether an evaluation is running whose results are checked at its end.
    busy = False


class unchecked:
    """Evaluates without checks in this thread, within a ``with`` block."""

    __slots__ = ("_before",)
    state: ClassVar = _Evaluation()

    def __enter__(self) -> None:
        self._before = self.state.busy
        self.state.busy = True

    def __exit__(self, *error: object) -> None:
        self.state.busy = self._before


#: The slots whose rules make equations from those of the user.
_SLOTS: Final = frozenset({"jvp", "linearize", "transpose", "batch"})


def _named(primitive: Primitive, slot: str, rule: Callable[..., Any]) -> Callable[..., Any]:
    """Returns a rule during which the user's line, which may be one of the rule, says that the rule is running."""

    def observed(*args: Any, **params: Any) -> Any:
        source = user_source()
        # A rule of a call or a loop transforms the equations inside, whose own rules tell more.
        if source is None or (holds_jaxprs(params) and "rules" not in params):
            return rule(*args, **params)
        name = params["name"] if "rules" in params else primitive.name
        with at_rule(source.through(f"{slot} rule of {name}")):
            return rule(*args, **params)

    return observed


def rule_lookups(
    wrapped: Callable[[Primitive, str, Callable[..., Any]], Callable[..., Any]], slots: Collection[str]
) -> tuple[Callable[[Primitive, str], Any], Callable[[Primitive, str], Any]]:
    """Returns the two lookups for ``lawful.core.rule_hook`` that wrap the rules of some slots.

    Args:
      wrapped: from a primitive, a slot and its rule to the function that is called instead of the rule.
      slots: the slots.

    >>> from lawful.core import Primitive
    >>> double_p = Primitive("double")
    >>> _ = double_p.def_impl(lambda x: x + x)
    >>> rule, _ = rule_lookups(lambda primitive, slot, rule: lambda x: (slot, rule(x)), ["impl"])
    >>> rule(double_p, "impl")(2.0)
    ('impl', 4.0)
    """

    def rule(primitive: Primitive, slot: str) -> Any:
        found = rule_hook.plain[0](primitive, slot)
        return wrapped(primitive, slot, found) if slot in slots else found

    def rule_or_none(primitive: Primitive, slot: str) -> Any:
        found = rule_hook.plain[1](primitive, slot)
        return found if found is None or slot not in slots else wrapped(primitive, slot, found)

    return rule, rule_or_none


def _call(self: JitFunction, *args: Any, **kwargs: Any) -> Any:
    """Calls a function of ``jit`` by a trace of its own, whose equations know their rules; it donates nothing."""
    if is_jit_disabled():
        return self._function(*args, **kwargs)
    if self.place is not None:
        args, kwargs = self.place(args, kwargs)
    leaves, signature = self._flatten(args, kwargs)
    entry = self._entry(signature._replace(context=(OBSERVED, signature.context)))
    if current.trace is eval_trace and not any([isinstance(x, Tracer) for x in leaves]):
        params = {"name": self._name, "jaxpr": entry.call, "backend": self._backend}
        outs: Any = eval_trace.process_primitive(jit_p, [*entry.consts, *leaves], params)
    else:
        outs = self._run(entry, leaves)
    return tree.unflatten(entry.out_tree, outs)


_lookups: Final = rule_lookups(_named, _SLOTS)


def start_observation() -> None:
    """Observes programs in every thread, until `end_observation`; they nest."""
    plain().__enter__()
    rule_hook.override(_lookups)
    call_hook.override(_call)


def end_observation() -> None:
    """Ends what the last `start_observation` began."""
    call_hook.restore(_call)
    rule_hook.restore(_lookups)
    plain().__exit__()


@contextmanager
def observation() -> Iterator[None]:
    """Observes programs within a ``with`` block, in every thread.

    The plain interpreters run, functions of `jit` are traced by traces of their own, and the line of an equation that a
    rule makes knows the rule. A tool that wants to know more overrides ``lawful.core.rule_hook`` inside the block.

    Law: no result changes; after the block, nothing of it is left in a cache that other programs read.

    >>> from lawful.ops import sin_p
    >>> from lawful.staging import make_jaxpr
    >>> with observation():  # as jvp does, which stands above this package
    ...     closed = make_jaxpr(lambda x: sin_p.rule("jvp")([x], [x]))(0.5)
    >>> [(eqn.primitive.name, eqn.source.rules) for eqn in closed.eqns][-1]
    ('mul', ('jvp rule of sin',))
    """
    start_observation()
    try:
        yield
    finally:
        end_observation()
