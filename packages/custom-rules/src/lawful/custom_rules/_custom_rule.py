"""``custom_rule``: a function with any rules of its own, of forward and reverse mode, batching and transposition."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar, overload

from lawful.autodiff import stop_gradient
from lawful.core import ArgumentTypeError, ArgumentValueError, Primitive, UndefinedRuleError
from lawful.custom_rules._call.derivatives import (
    custom_jvp_call_p,
    custom_rule_call_p,
    custom_transpose_call_p,
    custom_vjp_call_p,
)
from lawful.custom_rules._call.function import CustomFunction
from lawful.custom_rules._call.primitive import custom_vmap_call_p
from lawful.custom_rules._call.rules import CallRules
from lawful.custom_rules._call.site import CallSite
from lawful.custom_rules._user_rules.batching import batch_by
from lawful.custom_rules._user_rules.derivatives import jvp_by, transpose_by, vjp_by
from lawful.staging import as_tuple

F = TypeVar("F", bound=Callable[..., Any])

_DERIVED = "derived from the function"


class custom_rule(CustomFunction):
    """A function that carries rules of its own: of any of forward mode, reverse mode, batching and transposition.

    What has no rule is derived: reverse mode from a jvp rule, by linearizing and transposing it; forward mode from a
    vjp rule, whose ``bwd`` is linear, by transposing that; both from a transpose rule; batching by mapping the function
    and its rules; all else from what the function does. `rules` tells which is which.

    Args:
      fun: a function of pytrees of arrays that returns such a tree. Python control flow on values works where they are
        known. It may close over values of enclosing transformations: rules are not about these, and the derivative by
        them is that of the function.
      nondiff_argnums: positions of arguments of any type which rules are given as they are, and which have no
        derivative: functions, settings.
      nondiff_argnames: the same by name.

    The derivatives of a rule are derived: the second derivative of the function is the derivative of its rule.

    Raises:
      ArgumentTypeError: a rule gives something else than it should in structure, shape or dtype; says which.
      NotLinearError: forward mode is asked for, and must be derived from a ``bwd`` that is not linear.

    >>> from lawful.autodiff import grad
    >>> from lawful.ops import exp, log
    >>> @custom_rule
    ... def log1pexp(x):
    ...     return log(1.0 + exp(x))
    >>> @log1pexp.def_jvp
    ... def _(primals, tangents):
    ...     (x,), (x_dot,) = primals, tangents
    ...     return log1pexp(x), x_dot / (1.0 + exp(-x))
    >>> grad(log1pexp)(100.0)
    1.0
    >>> log1pexp.rules()["vjp"]
    'derived from jvp'
    """

    decorator = "custom_rule"
    #: The rule without which it cannot be called, and the method that defines it.
    required: tuple[str, str] | None = None

    def __init__(
        self, fun: Callable[..., Any], nondiff_argnums: Sequence[int] = (), nondiff_argnames: Sequence[str] = ()
    ) -> None:
        super().__init__(fun, nondiff_argnums, nondiff_argnames)
        self._jvp: Callable[..., Any] | None = None
        self._fwd: Callable[..., Any] | None = None
        self._bwd: Callable[..., Any] | None = None
        self._batch: Callable[..., Any] | None = None
        self._transpose: Callable[..., Any] | None = None
        self._jvp_takes_zeros = False
        self._vjp_takes_zeros = False
        self._linear_argnums: tuple[int, ...] | None = None

    # Rules

    def def_jvp(self, jvp: F, symbolic_zeros: bool = False) -> F:
        """Defines forward mode, and returns the rule, so that this is a decorator.

        Args:
          jvp: ``jvp(primals, tangents)`` gives ``(out, tangent_out)``, and is linear in the tangents. Both arguments
            are tuples with one entry for each argument of the function; a tangent has the structure, shapes and dtypes
            of its primal, of dtype ``float0`` where that has integers. Arguments of nondiff_argnums come first.
          symbolic_zeros: whether tangents that are known to be zero are given as a ``Zero``, and may be returned so.
        """
        self._jvp, self._jvp_takes_zeros = jvp, symbolic_zeros
        return jvp

    def def_vjp(self, fwd: Callable[..., Any], bwd: Callable[..., Any], symbolic_zeros: bool = False) -> None:
        """Defines reverse mode.

        Args:
          fwd: of the function's arguments, gives ``(out, residuals)``; the residuals are any pytree of arrays.
          bwd: ``bwd(residuals, ct)`` gives a tuple of one cotangent for each argument. None stands for zeros, also for
            a whole argument; what is given for integers is of no account. Arguments of nondiff_argnums come first.
            The cotangent of a Python number is a NumPy scalar: it has a shape and a dtype, and divides by zero.
          symbolic_zeros: whether ``fwd`` is given ``CustomVJPPrimal(value, perturbed)`` in the place of each leaf, and
            ``bwd`` cotangents that are known to be zero as a ``Zero``.
        """
        self._fwd, self._bwd, self._vjp_takes_zeros = fwd, bwd, symbolic_zeros

    def def_batch(self, rule: F) -> F:
        """Defines batching, and returns the rule, so that this is a decorator.

        Args:
          rule: ``rule(axis_size, in_batched, *args)`` gives ``(out, out_batched)``, as for ``custom_vmap``.
        """
        self._batch = rule
        return rule

    @overload
    def def_transpose(self, rule: F, *, linear_argnums: int | Sequence[int] | None = None) -> F: ...

    @overload
    def def_transpose(self, *, linear_argnums: int | Sequence[int] | None = None) -> Callable[[F], F]: ...

    def def_transpose(self, rule: Any = None, *, linear_argnums: int | Sequence[int] | None = None) -> Any:
        """Defines transposition, and with it that the function is linear; returns the rule.

        Args:
          rule: ``rule(ct, *args)`` gives a tuple of one cotangent for each argument, None for those that it is not
            linear in. In the place of the leaves of linear arguments are ``UndefinedPrimal``s, which have a type and no
            value.
          linear_argnums: the positions of the arguments that it is jointly linear in; all by default.
        """
        if rule is None:
            return lambda rule: self.def_transpose(rule, linear_argnums=linear_argnums)
        positions = None if linear_argnums is None else as_tuple("linear_argnums", linear_argnums, int)
        if positions is not None and not all(i >= 0 and i not in self.nondiff_argnums for i in positions):
            raise ArgumentValueError(
                f"{self.label}: expected linear_argnums of positions from 0 that are not among nondiff_argnums, got "
                f"{linear_argnums}"
            )
        self._transpose, self._linear_argnums = rule, positions
        return rule

    def rules(self) -> dict[str, str]:
        """Returns, for each transformation, whether its rule is given, what it is derived from, or why it is absent.

        >>> @custom_rule
        ... def f(x):
        ...     return x * x
        >>> f.def_vjp(lambda x: (f(x), x), lambda x, ct: (2.0 * x * ct,))
        >>> f.rules()["jvp"], f.rules()["batch"]
        ('derived from vjp', 'derived from vjp and the function')
        """
        has = self._has()
        if self._lacks_rule:
            return dict.fromkeys(has, f"absent: {self._advice}")
        derivatives = [slot for slot in ("jvp", "vjp", "transpose") if has[slot]]
        derived = {
            "jvp": next((f"derived from {slot}" for slot in ("vjp", "transpose") if has[slot]), _DERIVED),
            "vjp": next((f"derived from {slot}" for slot in ("jvp", "transpose") if has[slot]), _DERIVED),
            "batch": f"derived from {', '.join(derivatives)} and the function" if derivatives else _DERIVED,
            "transpose": _DERIVED,
        }
        return {slot: "given" if has[slot] else derived[slot] for slot in has}

    def _has(self) -> dict[str, bool]:
        return {
            "jvp": self._jvp is not None,
            "vjp": self._bwd is not None,
            "batch": self._batch is not None,
            "transpose": self._transpose is not None,
        }

    @property
    def _lacks_rule(self) -> bool:
        return self.required is not None and not self._has()[self.required[0]]

    @property
    def _advice(self) -> str:
        assert self.required is not None
        return f"define it with {self.name}.{self.required[1]}"

    def _require_rules(self) -> None:
        if self._lacks_rule:
            assert self.required is not None
            raise UndefinedRuleError(f"{self.label}: expected a {self.required[0]} rule, got none; {self._advice}")

    # Calls

    @property
    def carried_functions(self) -> list[Callable[..., Any]]:
        """The function and its rules."""
        rules = (self._jvp, self._fwd, self._bwd, self._batch, self._transpose)
        return [self.fun, *[rule for rule in rules if rule is not None]]

    def as_constant(self, value: Any) -> Any:
        """Returns a tracer in a nondifferentiated argument as a constant of differentiation."""
        return stop_gradient(value)

    def _call(self, site: CallSite) -> tuple[Primitive, CallRules]:
        fwd, bwd = self._fwd, self._bwd
        rules = CallRules(
            (self.decorator, self._jvp_takes_zeros, self._vjp_takes_zeros, site),
            jvp=None if self._jvp is None else jvp_by(self._jvp, site, self._jvp_takes_zeros),
            vjp=None if fwd is None or bwd is None else vjp_by(fwd, bwd, site, self._vjp_takes_zeros),
            transpose=None if self._transpose is None else transpose_by(self._transpose, site),
            batch=None if self._batch is None else batch_by(self._batch, site),
            linear=() if self._transpose is None else self._linear_operands(site),
            closed_over=site.closed_over,
        )
        return _primitive_for(rules), rules

    def _linear_operands(self, site: CallSite) -> tuple[bool, ...]:
        positions = site.differentiated if self._linear_argnums is None else self._linear_argnums
        if any(i >= site.arity for i in positions):
            raise ArgumentTypeError(
                f"{self.label}: expected an argument for each of linear_argnums, {positions}, got {site.arity} of them"
            )
        marks = site.leaves_of(positions)
        return (*(False,) * site.extra, *marks)


def _primitive_for(rules: CallRules) -> Primitive:
    if rules.jvp and rules.vjp:
        return custom_rule_call_p
    if rules.vjp:
        return custom_vjp_call_p
    if rules.jvp:
        return custom_jvp_call_p
    return custom_transpose_call_p if rules.transpose else custom_vmap_call_p
