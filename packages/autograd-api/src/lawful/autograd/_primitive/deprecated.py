"""The methods by which programs for old versions of Autograd gave a primitive its derivatives."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

from lawful.autograd._primitive.function import primitive as plain_primitive
from lawful.autograd._primitive.rules import defvjp
from lawful.autograd._primitive.vector_space import vspace

Function = Callable[..., Any]


def primitive(f_raw: Function) -> Function:
    """Returns a function that is not traced, as `lawful.autograd.extend.primitive` does.

    It has the deprecated methods ``defvjp``, ``defvjp_is_zero`` and ``defgrad``; use `defvjp` of
    `lawful.autograd.extend` instead.

    >>> from lawful.autograd import grad
    >>> cube = primitive(lambda x: x**3)
    >>> defvjp(cube, lambda ans, x: lambda g: 3.0 * g * x**2)
    >>> grad(cube)(2.0)
    np.float64(12.0)
    """
    wrapped: Any = plain_primitive(f_raw)
    makers: dict[int, Function | None] = {}

    def define(method: str, maker: Function | None, argnums: Sequence[int]) -> None:
        message = f"{method} of a primitive is deprecated: use lawful.autograd.extend.defvjp"
        warnings.warn(message, DeprecationWarning, stacklevel=3)
        makers.update(dict.fromkeys(argnums, maker))
        defvjp(wrapped, *makers.values(), argnums=[*makers])

    def of_method(vjpmaker: Function, argnum: int = 0) -> None:
        def maker(ans: Any, *args: Any, **kwargs: Any) -> Function:
            return lambda g: vjpmaker(g, ans, vspace(args[argnum]), vspace(g), *args, **kwargs)

        define("defvjp", maker, [argnum])

    wrapped.defvjp = of_method
    wrapped.defgrad = lambda gradfun, argnum=0: define("defgrad", gradfun, [argnum])
    wrapped.defvjp_is_zero = lambda argnums=(0,): define("defvjp_is_zero", None, argnums)
    return wrapped  # type: ignore[no-any-return]
