"""``primitive``: the decorator that makes a function opaque, so that it can be given derivatives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, Final

from lawful.autograd import _tree as tree
from lawful.autograd._primitive.bind import autograd_call_p
from lawful.autograd._primitive.call import Call, is_traced
from lawful.autograd._primitive.rules import Rules
from lawful.core import Hook, Tracer, define_array_methods

Function = Callable[..., Any]


def getval(x: Any) -> Any:
    """Returns the value of a tracer, and anything else as it is.

    A value of a program that is being recorded is not known: it is a tracer itself.

    >>> from lawful.autograd import grad
    >>> getval(1.0), grad(lambda x: x * getval(x))(3.0)
    (1.0, np.float64(3.0))
    """
    if not isinstance(x, Tracer):
        return x
    value = x.concrete()
    return x if value is None else value


class _BoxAttributes:
    """The attributes of Autograd's boxes: ``_value``, and ``_node``, which tracers have not."""

    @property
    def _value(self: Any) -> Any:
        value = self.concrete()
        if value is None:  # code that asks for `_value` until it is no box would not end
            raise AttributeError(
                "a tracer under jit or vmap has no attribute '_value', as it has no single value; ask outside of them"
            )
        return value

    @property
    def _node(self) -> Any:
        raise AttributeError(
            "a tracer has no attribute '_node'; use lawful.autograd.tracer.trace, which makes nodes of a class of yours"
        )


define_array_methods(_BoxAttributes)


def primitive(f_raw: Function) -> Function:
    """Returns a function that is not traced: ``f_raw`` is given values, and `defvjp` or `defjvp` its derivatives.

    Args:
      f_raw: any function of Python. Its positional arguments that are traced are arrays, or tuples, lists and dicts of
        them; its result is an array, or such a tree. Arguments by name have no derivative.

    The second derivative is that of the rule, which has to be made of functions that differentiate. A missing rule of
    one mode is derived from that of the other.

    Source: ``autograd.extend.primitive``.

    >>> import math
    >>> from lawful.autograd import grad
    >>> from lawful.autograd.extend import defvjp
    >>> sine, cosine = primitive(math.sin), primitive(math.cos)
    >>> defvjp(sine, lambda ans, x: lambda g: g * cosine(x))
    >>> defvjp(cosine, lambda ans, x: lambda g: -g * sine(x))
    >>> grad(sine)(0.0), grad(grad(grad(sine)))(0.0)
    (np.float64(1.0), np.float64(-1.0))
    """
    rules = Rules(getattr(f_raw, "__name__", "a primitive"))

    def f_wrapped(*args: Any, **kwargs: Any) -> Any:
        return call_hook.use(f_raw, rules, args, kwargs)

    wrapped: Any = _named(f_wrapped, f_raw)
    wrapped.fun = f_raw
    wrapped.own_rules = lambda: rules
    return wrapped  # type: ignore[no-any-return]


def apply(function: Function, rules: Rules, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """Returns the result of a function; if an argument is traced, with derivatives by its rules."""
    if not any(map(is_traced, args)):
        return function(*args, **kwargs)
    call = Call(function, rules, args, kwargs)
    return call.result(autograd_call_p.bind(*call.operands(), call=call))


#: Calls a primitive: as `apply` does.
call_hook: Final[Hook[Callable[..., Any]]] = Hook("call of a user's primitive", apply)


def notrace_primitive(f_raw: Function) -> Function:
    """Returns a function that is given values in place of tracers, and has no derivative.

    >>> from lawful.autograd import grad
    >>> kind = notrace_primitive(lambda x: type(x).__name__)
    >>> grad(lambda x: x if kind(x) == "float" else -x)(2.0)
    np.float64(1.0)
    """

    def f_wrapped(*args: Any, **kwargs: Any) -> Any:
        return f_raw(*[tree.map(getval, x) if is_traced(x) else x for x in args], **kwargs)

    return _named(f_wrapped, f_raw)


def _named(f_wrapped: Function, f_raw: Function) -> Function:
    """Returns a function with the name and docstring of another one, which may have none."""
    return wraps(f_raw, assigned=("__module__", "__name__", "__qualname__", "__doc__"), updated=())(f_wrapped)
