"""The derivatives that a user gives a function, in the forms of ``defvjp`` and ``defjvp``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import reduce
from itertools import count
from typing import Any

import lawful.numpy as np
from lawful.autograd import _tree as tree
from lawful.autograd.util import subval
from lawful.core import ArgumentTypeError, MissingRuleError

Function = Callable[..., Any]
#: ``pullback(argnums, ans, args, kwargs)`` returns the function from the cotangent of the result to those of arguments.
Pullback = Callable[[Sequence[int], Any, Sequence[Any], dict[str, Any]], Callable[[Any], Iterable[Any]]]
#: ``pushforward(argnums, gs, ans, args, kwargs)`` returns the tangent of the result; None if it is zero.
Pushforward = Callable[[Sequence[int], Sequence[Any], Any, Sequence[Any], dict[str, Any]], Any]


class Rules:
    """The derivatives of one function.

    Attributes:
      name: the name of the function.
      pullback: the rule of reverse mode; None if there is none.
      makers: the functions that it was made of by `defvjp`, by argument number; None if it was not.
      pushforward: the rule of forward mode; None if there is none.
    """

    __slots__ = ("makers", "name", "pullback", "pushforward")

    def __init__(self, name: str) -> None:
        self.name = name
        self.pullback: Pullback | None = None
        self.makers: dict[int, Function | None] | None = None
        self.pushforward: Pushforward | None = None

    def define(self, pullback: Pullback, makers: dict[int, Function | None] | None = None) -> None:
        """Defines reverse mode."""
        self.pullback = pullback
        self.makers = makers

    def missing(self, mode: str, argnums: Sequence[int]) -> MissingRuleError:
        """Returns the error that there is no rule."""
        return MissingRuleError(
            f"{mode} of {self.name} wrt argnums {', '.join(map(str, argnums))} not defined; define it with "
            f"lawful.autograd.extend.def{mode.lower()}"
        )


def rules_of(fun: Any) -> Rules:
    """Returns the rules of a primitive.

    Raises:
      ArgumentTypeError: the function is none.
    """
    own = getattr(fun, "own_rules", None)
    if own is None:
        name = getattr(fun, "__name__", fun)
        raise ArgumentTypeError(
            f"defvjp, defjvp: expected a function made by primitive, got {name}; write f = primitive(f) first"
        )
    rules: Rules = own()
    return rules


# Reverse mode


def defvjp_argnums(fun: Any, vjpmaker: Function) -> None:
    """Defines reverse mode for all arguments at once.

    Args:
      fun: the primitive.
      vjpmaker: ``vjpmaker(argnums, ans, args, kwargs)`` returns a function from the cotangent of the result to a
        sequence of cotangents, one for each of ``argnums``.

    >>> from lawful.autograd import grad
    >>> from lawful.autograd.extend import primitive
    >>> product = primitive(lambda x, y: x * y)
    >>> defvjp_argnums(product, lambda argnums, ans, args, kwargs: lambda g: [g * args[1 - i] for i in argnums])
    >>> grad(product, (0, 1))(2.0, 3.0)
    (np.float64(3.0), np.float64(2.0))
    """
    rules_of(fun).define(vjpmaker)


def defvjp_argnum(fun: Any, vjpmaker: Function) -> None:
    """Defines reverse mode by a function of the argument number.

    Args:
      fun: the primitive.
      vjpmaker: ``vjpmaker(argnum, ans, args, kwargs)`` returns a function from the cotangent of the result to that of
        the argument.

    >>> from lawful.autograd import grad
    >>> from lawful.autograd.extend import primitive
    >>> product = primitive(lambda x, y: x * y)
    >>> defvjp_argnum(product, lambda argnum, ans, args, kwargs: lambda g: g * args[1 - argnum])
    >>> grad(product, 1)(2.0, 3.0)
    np.float64(2.0)
    """

    def pullback(argnums: Sequence[int], ans: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Function:
        vjps = [vjpmaker(argnum, ans, args, kwargs) for argnum in argnums]
        return lambda g: [vjp(g) for vjp in vjps]

    rules_of(fun).define(pullback)


def defvjp(fun: Any, *vjpmakers: Function | None, argnums: Iterable[int] | None = None) -> None:
    """Defines reverse mode, by one rule for each argument.

    Args:
      fun: the primitive.
      vjpmakers: ``vjpmaker(ans, *args, **kwargs)`` returns a function from the cotangent of the result to that of the
        argument; None stands for a derivative of zero.
      argnums: the argument numbers that the rules are for; by default from 0.

    Raises:
      ArgumentTypeError: ``fun`` is no primitive, or a rule is no function.

    >>> from lawful.autograd import grad
    >>> from lawful.autograd.extend import primitive
    >>> square = primitive(lambda x: x * x)
    >>> defvjp(square, lambda ans, x: lambda g: 2.0 * g * x)
    >>> grad(square)(3.0)
    np.float64(6.0)
    """
    rules = rules_of(fun)
    makers = dict(zip(count() if argnums is None else argnums, vjpmakers, strict=False))
    for maker in vjpmakers:
        if maker is not None and not callable(maker):
            raise ArgumentTypeError(
                f"defvjp of {rules.name}: expected functions or None, got {maker!r}; give a function of the result and "
                "the arguments"
            )

    def pullback(argnums: Sequence[int], ans: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Function:
        missing = [argnum for argnum in argnums if argnum not in makers]
        if missing:
            raise rules.missing("VJP", missing)
        chosen = [makers[argnum] for argnum in argnums]
        vjps = [None if maker is None else maker(ans, *args, **kwargs) for maker in chosen]
        return lambda g: [None if vjp is None else vjp(g) for vjp in vjps]

    rules.define(pullback, makers)


# Forward mode


def defjvp_argnums(fun: Any, jvpmaker: Pushforward) -> None:
    """Defines forward mode for all arguments at once.

    Args:
      fun: the primitive.
      jvpmaker: ``jvpmaker(argnums, gs, ans, args, kwargs)`` returns the tangent of the result from those of arguments.

    >>> from lawful.autograd import make_jvp
    >>> from lawful.autograd.extend import primitive
    >>> product = primitive(lambda x, y: x * y)
    >>> rule = lambda argnums, gs, ans, args, kwargs: sum(g * args[1 - i] for i, g in zip(argnums, gs))
    >>> defjvp_argnums(product, rule)
    >>> make_jvp(product, 1)(2.0, 3.0)(1.0)
    (np.float64(6.0), np.float64(2.0))
    """
    rules_of(fun).pushforward = jvpmaker


def defjvp_argnum(fun: Any, jvpmaker: Function) -> None:
    """Defines forward mode by a function of the argument number.

    Args:
      fun: the primitive.
      jvpmaker: ``jvpmaker(argnum, g, ans, args, kwargs)`` returns the part of the tangent of the result that comes from
        the tangent ``g`` of one argument.

    >>> from lawful.autograd import make_jvp
    >>> from lawful.autograd.extend import primitive
    >>> product = primitive(lambda x, y: x * y)
    >>> defjvp_argnum(product, lambda argnum, g, ans, args, kwargs: g * args[1 - argnum])
    >>> make_jvp(product, 1)(2.0, 3.0)(1.0)
    (np.float64(6.0), np.float64(2.0))
    """

    def pushforward(
        argnums: Sequence[int], gs: Sequence[Any], ans: Any, args: Sequence[Any], kwargs: dict[str, Any]
    ) -> Any:
        return total([jvpmaker(argnum, g, ans, args, kwargs) for argnum, g in zip(argnums, gs, strict=True)])

    rules_of(fun).pushforward = pushforward


def defjvp(fun: Any, *jvpmakers: Function | str | None, argnums: Iterable[int] | None = None) -> None:
    """Defines forward mode, by one rule for each argument.

    Args:
      fun: the primitive.
      jvpmakers: ``jvpmaker(g, ans, *args, **kwargs)`` returns the tangent of the result from that of the argument; None
        stands for zero, and ``"same"`` for the function itself, which is linear in the argument.
      argnums: the argument numbers that the rules are for; by default from 0.

    Raises:
      ArgumentTypeError: ``fun`` is no primitive, or a rule is none of these.

    >>> from lawful.autograd import make_jvp
    >>> from lawful.autograd.extend import primitive
    >>> square = primitive(lambda x: x * x)
    >>> defjvp(square, lambda g, ans, x: 2.0 * g * x)
    >>> make_jvp(square)(3.0)(1.0)
    (np.float64(9.0), np.float64(6.0))
    """
    rules = rules_of(fun)
    makers = dict(zip(count() if argnums is None else argnums, jvpmakers, strict=False))
    for maker in jvpmakers:
        if not (maker is None or maker == "same" or callable(maker)):
            raise ArgumentTypeError(
                f"defjvp of {rules.name}: expected functions, None or 'same', got {maker!r}; give a function of a "
                "tangent, the result and the arguments"
            )

    def pushforward(
        argnums: Sequence[int], gs: Sequence[Any], ans: Any, args: Sequence[Any], kwargs: dict[str, Any]
    ) -> Any:
        missing = [argnum for argnum in argnums if argnum not in makers]
        if missing:
            raise rules.missing("JVP", missing)
        parts = []
        for argnum, g in zip(argnums, gs, strict=True):
            maker = makers[argnum]
            if maker == "same":
                parts.append(fun(*subval(args, argnum, g), **kwargs))
            elif callable(maker):
                parts.append(maker(g, ans, *args, **kwargs))
        return total(parts)

    rules.pushforward = pushforward


def def_linear(fun: Any) -> None:
    """Defines forward mode of a function that is linear in each argument: by the function itself.

    >>> from lawful.autograd import make_jvp
    >>> from lawful.autograd.extend import primitive
    >>> double = primitive(lambda x: 2.0 * x)
    >>> def_linear(double)
    >>> make_jvp(double)(3.0)(1.0)
    (np.float64(6.0), np.float64(2.0))
    """
    defjvp_argnum(fun, lambda argnum, g, ans, args, kwargs: fun(*subval(args, argnum, g), **kwargs))


def total(parts: Sequence[Any]) -> Any:
    """Returns the sum of pytrees of arrays; None if there are none."""
    return reduce(lambda x, y: tree.map(np.add, x, y), parts) if parts else None
