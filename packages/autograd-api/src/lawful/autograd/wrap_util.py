"""Operators on functions of one argument, as operators on functions of several."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from lawful.autograd.util import subvals
from lawful.core import ArgumentIndexError, ArgumentTypeError

Function = Callable[..., Any]
Argnum = int | Sequence[int]


def get_name(f: Any) -> str:
    """Returns the name of a function.

    >>> get_name(abs)
    'abs'
    """
    return str(getattr(f, "__name__", "[unknown name]"))


def get_doc(f: Any) -> str:
    """Returns the docstring of a function.

    >>> get_doc(abs)
    'Return the absolute value of the argument.'
    """
    return getattr(f, "__doc__", None) or ""


def wraps(fun: Any, namestr: str = "{fun}", docstr: str = "{doc}", **kwargs: Any) -> Callable[[Function], Function]:
    """Returns the decorator that gives a function a name and a docstring made of those of another one.

    Args:
      fun: the other function.
      namestr: a format of the name, with the fields ``fun`` and those in ``kwargs``.
      docstr: a format of the docstring, with the field ``doc`` too.
      kwargs: further fields.

    >>> wraps(abs, "{op}_of_{fun}", op="grad")(lambda x: x).__name__
    'grad_of_abs'
    """

    def named(f: Function) -> Function:
        f.__name__ = namestr.format(fun=get_name(fun), **kwargs)
        f.__doc__ = docstr.format(fun=get_name(fun), doc=get_doc(fun), **kwargs)
        return f

    return named


def wrap_nary_f(fun: Function, op: Function, argnum: Argnum) -> Callable[[Function], Function]:
    """Returns the decorator that names a function after an operator, a function and an argument number.

    >>> wrap_nary_f(abs, pow, 0)(lambda x: x).__name__
    'pow_of_abs_wrt_argnum_0'
    """
    doc = "{op} of {fun} with respect to the argument number {argnum}; it takes the arguments of {fun}."
    return wraps(fun, "{op}_of_{fun}_wrt_argnum_{argnum}", doc, op=get_name(op), argnum=argnum)


def check_argnum(argnum: Any) -> None:
    """Raises ArgumentTypeError if an argument number is neither an integer, nor a tuple or list of them.

    >>> check_argnum((0, 1))
    """
    if type(argnum) not in (int, tuple, list):
        raise ArgumentTypeError(
            f"argnum: expected an integer, a tuple or a list of integers, got {argnum!r}; give positions, from 0"
        )


def argument_at(args: Sequence[Any], argnum: int) -> Any:
    """Returns the positional argument of a number.

    Raises:
      ArgumentIndexError: there are fewer positional arguments.

    >>> argument_at([2.0, 3.0], 1)
    3.0
    """
    try:
        return args[argnum]
    except IndexError:
        raise ArgumentIndexError(
            f"argnum: expected the number of a positional argument, got argnum {argnum} of {len(args)} positional "
            "arguments; numbers count from 0, and an argument to differentiate by is given by its position, not by its "
            "name"
        ) from None


def unary_to_nary(unary_operator: Function) -> Function:
    """Returns an operator on functions of several arguments.

    Args:
      unary_operator: ``unary_operator(fun, x, *args, **kwargs)`` of a function of one argument and its value.

    Returns:
      ``operator(fun, argnum=0, *args, **kwargs)``, which returns a function with the arguments of ``fun``. With a
      tuple as ``argnum``, ``x`` is the tuple of these arguments.

    >>> doubled = unary_to_nary(lambda fun, x: 2 * fun(x))
    >>> doubled(pow, argnum=1)(3, 2)
    18
    """

    @wraps(unary_operator)
    def nary_operator(fun: Function, argnum: Argnum = 0, *nary_op_args: Any, **nary_op_kwargs: Any) -> Function:
        check_argnum(argnum)

        @wrap_nary_f(fun, unary_operator, argnum)
        def nary_f(*args: Any, **kwargs: Any) -> Any:
            def unary_f(x: Any) -> Any:
                if argnum == 0 and len(args) == 1 and not kwargs:  # the common case
                    return fun(x)
                chosen = [(argnum, x)] if isinstance(argnum, int) else zip(argnum, x, strict=True)
                return fun(*subvals(args, chosen), **kwargs)

            unary_f.__name__, unary_f.__doc__ = get_name(fun), get_doc(fun)
            x = argument_at(args, argnum) if isinstance(argnum, int) else tuple([argument_at(args, i) for i in argnum])
            return unary_operator(unary_f, x, *nary_op_args, **nary_op_kwargs)

        return nary_f

    nary_operator.__module__ = unary_operator.__module__  # where doctest looks for its examples
    return nary_operator
