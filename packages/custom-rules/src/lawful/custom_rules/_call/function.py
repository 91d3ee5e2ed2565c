"""The base class of functions that carry rules, such as ``custom_jvp`` and ``custom_vmap``."""

from __future__ import annotations

import functools
import inspect
import operator
from collections.abc import Callable, Sequence
from typing import Any

from lawful import tree
from lawful.core import (
    ArgumentTypeError,
    ArgumentValueError,
    Primitive,
    Tracer,
    UnexpectedTracerError,
    current,
    eval_trace,
    get_aval,
    shorten,
)
from lawful.custom_rules._call.callee import Callee
from lawful.custom_rules._call.rules import CallRules
from lawful.custom_rules._call.site import CallSite, call_site
from lawful.staging import function_name


class CustomFunction:
    """A function that carries rules of its own.

    A subclass sets ``decorator``, the name in messages. It overrides ``carried_functions``, the function and its rules,
    and ``_call``, which returns the primitive and the rules of a call.

    Args:
      fun: a function of pytrees of arrays that returns such a tree.
      nondiff_argnums: positions of arguments, of any type, that are passed to rules as they are.
      nondiff_argnames: the same by name.
    """

    decorator = "custom function"
    #: Whether the decorator takes ``nondiff_argnums``.
    takes_nondiff = True

    def __init__(
        self, fun: Callable[..., Any], nondiff_argnums: Sequence[int] = (), nondiff_argnames: Sequence[str] = ()
    ) -> None:
        if not callable(fun):
            raise ArgumentTypeError(
                f"{self.decorator}: expected a function, got {shorten(fun)} of type {type(fun).__name__}; "
                f"decorate a function: @{self.decorator}"
            )
        functools.update_wrapper(self, fun, updated=())
        self.fun = fun
        self.name = function_name(fun)
        self.label = f"{self.decorator} of {self.name}"
        self._signature = _signature_of(fun)
        self._arity = _arity_of(self._signature)
        self.nondiff_argnums = self._positions(nondiff_argnums, nondiff_argnames)

    def __repr__(self) -> str:
        return f"<{self.label}>"

    def __getattr__(self, name: str) -> Any:
        # Where one decorator is around another, the outer function defines the rules of the inner one too.
        inner = vars(self).get("fun")
        if name.startswith("def") and isinstance(inner, CustomFunction):
            return getattr(inner, name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else functools.partial(self, instance)

    @property
    def carried_functions(self) -> list[Callable[..., Any]]:
        """The function and its rules."""
        return [self.fun]

    def _require_rules(self) -> None:
        """Raises UndefinedRuleError if the function cannot be called yet."""

    def _call(self, site: CallSite) -> tuple[Primitive, CallRules]:
        raise NotImplementedError(f"{type(self).__name__}._call")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        self._require_rules()
        if kwargs or len(args) != self._arity:
            args = self._by_position(args, kwargs)
        if current.trace is eval_trace:
            return self.fun(*args)
        site, operands = call_site(self, args)
        if not any([isinstance(x, Tracer) for x in operands]):
            return site.result(operands)  # no operand is transformed
        try:
            return self._bind(site, operands, strict=True)
        except UnexpectedTracerError:
            pass
        # Tracers outside the variables of enclosing functions take a longer search.
        return self._bind(*call_site(self, args, deep=True), strict=False)

    def _bind(self, site: CallSite, operands: list[Any], *, strict: bool) -> Any:
        primitive, rules = self._call(site)
        callee = Callee(self.label, site.run, [get_aval(x) for x in operands], site, strict=strict)
        outs = primitive.bind(*operands, name=self.name, fun=callee, rules=rules)
        return tree.unflatten(site.out_tree, outs)

    # Arguments

    def _by_position(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        """Returns all arguments by position, with defaults, as rules take them."""
        if self._signature is None:
            if kwargs:
                raise ArgumentTypeError(
                    f"{self.label}: expected arguments by position, because {self.name} has no signature to look names "
                    f"up in, got {', '.join(kwargs)} by name; wrap it in a function with named arguments"
                )
            return args
        try:
            bound = self._signature.bind(*args, **kwargs)
        except TypeError as error:
            raise ArgumentTypeError(
                f"{self.label}: expected arguments for {self.name}{self._signature}, got others: {error}"
            ) from None
        bound.apply_defaults()
        # A keyword-only parameter keeps its default: it is a part of the function.
        if named := [name for name in bound.kwargs if name in kwargs]:
            raise ArgumentTypeError(
                f"{self.label}: expected arguments that have a position, which rules take them by, got "
                f"{', '.join(named)}, by name only; write {self.name} without * and ** in its parameters"
            )
        return bound.args

    def _positions(self, argnums: Sequence[int], argnames: Sequence[str]) -> tuple[int, ...]:
        try:
            positions = {operator.index(num) for num in ((argnums,) if isinstance(argnums, int) else argnums)}
        except TypeError:
            raise ArgumentTypeError(
                f"{self.label}: expected integers as nondiff_argnums, got {argnums!r}; give positions, from 0"
            ) from None
        names = [*self._signature.parameters] if self._signature is not None else []
        for argname in (argnames,) if isinstance(argnames, str) else argnames:
            if argname not in names:
                raise ArgumentValueError(
                    f"{self.label}: expected nondiff_argnames among the arguments {', '.join(names)}, got {argname!r}"
                )
            positions.add(names.index(argname))
        most = len(names) if self._arity is not None else None
        for position in positions:
            if position < 0 or (most is not None and position >= most):
                raise ArgumentValueError(
                    f"{self.label}: expected nondiff_argnums among the positions of {len(names)} arguments, from 0, "
                    f"got {position}"
                )
        return tuple(sorted(positions))

    def as_constant(self, value: Any) -> Any:
        """Returns a tracer in a nondifferentiated argument as a constant of differentiation."""
        return value


def _signature_of(fun: Callable[..., Any]) -> inspect.Signature | None:
    try:
        return inspect.signature(fun)
    except (TypeError, ValueError):  # some built-in functions have no signature
        return None


def _arity_of(signature: inspect.Signature | None) -> int | None:
    """Returns the number of positional arguments; None if it varies, or if there are keyword-only ones."""
    if signature is None:
        return None
    parameters = signature.parameters.values()
    if any(p.kind not in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in parameters):
        return None
    return len(parameters)
