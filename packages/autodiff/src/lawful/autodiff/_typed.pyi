"""The types of the transformations as type checkers see them: those of the results follow from the function's.

The functions are in the modules beside this one; `tests/user_types` compares the parameters of both.
"""

from collections.abc import Callable, Sequence
from typing import Any, Concatenate, Literal, overload

from lawful.core import ClosedJaxpr

Argnums = int | Sequence[int]

class Gradient[**P]:
    """Takes the arguments of a function, and returns its gradient, which has the type of the first one."""

    __name__: str
    @overload
    def __call__[X, **Q](self: Gradient[Concatenate[X, Q]], x: X, /, *args: Q.args, **kwargs: Q.kwargs) -> X: ...
    @overload
    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Any: ...

class GradientAndAux[**P, A]:
    """The same with an auxiliary result."""

    __name__: str
    @overload
    def __call__[X, **Q](
        self: GradientAndAux[Concatenate[X, Q], A], x: X, /, *args: Q.args, **kwargs: Q.kwargs
    ) -> tuple[X, A]: ...
    @overload
    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> tuple[Any, A]: ...

class ValueAndGradient[**P, R]:
    """The same with what the function returns, which comes first."""

    __name__: str
    @overload
    def __call__[X, **Q](
        self: ValueAndGradient[Concatenate[X, Q], R], x: X, /, *args: Q.args, **kwargs: Q.kwargs
    ) -> tuple[R, X]: ...
    @overload
    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> tuple[R, Any]: ...

class LinearFunction[*Ts, R]:
    """A derivative, or its transpose, at one point."""

    jaxpr: ClosedJaxpr
    def __call__(self, *args: *Ts) -> R: ...

@overload
def grad[**P](
    fun: Callable[P, Any],
    argnums: Literal[0] = 0,
    has_aux: Literal[False] = False,
    holomorphic: bool = False,
    allow_int: bool = False,
) -> Gradient[P]: ...
@overload
def grad[**P, A](
    fun: Callable[P, tuple[Any, A]],
    argnums: Literal[0] = 0,
    *,
    has_aux: Literal[True],
    holomorphic: bool = False,
    allow_int: bool = False,
) -> GradientAndAux[P, A]: ...
@overload
def grad[**P](
    fun: Callable[P, Any],
    argnums: Argnums = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    allow_int: bool = False,
) -> Callable[P, Any]: ...
@overload
def value_and_grad[**P, R](
    fun: Callable[P, R],
    argnums: Literal[0] = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    allow_int: bool = False,
) -> ValueAndGradient[P, R]: ...
@overload
def value_and_grad[**P, R](
    fun: Callable[P, R],
    argnums: Argnums = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    allow_int: bool = False,
) -> Callable[P, tuple[R, Any]]: ...
@overload
def jvp[R](
    fun: Callable[..., R], primals: Sequence[Any], tangents: Sequence[Any], has_aux: Literal[False] = False
) -> tuple[R, R]: ...
@overload
def jvp[R, A](
    fun: Callable[..., tuple[R, A]], primals: Sequence[Any], tangents: Sequence[Any], has_aux: Literal[True]
) -> tuple[R, R, A]: ...
@overload
def jvp(fun: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any], has_aux: bool) -> tuple[Any, ...]: ...
@overload
def vjp[*Ts, R](
    fun: Callable[[*Ts], R], *primals: *Ts, has_aux: Literal[False] = False
) -> tuple[R, LinearFunction[R, tuple[*Ts]]]: ...
@overload
def vjp[*Ts, R, A](
    fun: Callable[[*Ts], tuple[R, A]], *primals: *Ts, has_aux: Literal[True]
) -> tuple[R, LinearFunction[R, tuple[*Ts]], A]: ...
@overload
def vjp[T, R](  # arguments of one type in a list, whose length is unknown
    fun: Callable[[T, T], R] | Callable[[T, T, T], R] | Callable[[T, T, T, T], R],
    *primals: T,
    has_aux: Literal[False] = False,
) -> tuple[R, LinearFunction[R, tuple[T, ...]]]: ...
@overload
def vjp(fun: Callable[..., Any], *primals: Any, has_aux: bool) -> tuple[Any, ...]: ...
@overload
def linearize[*Ts, R](
    fun: Callable[[*Ts], R], *primals: *Ts, has_aux: Literal[False] = False
) -> tuple[R, LinearFunction[*Ts, R]]: ...
@overload
def linearize[*Ts, R, A](
    fun: Callable[[*Ts], tuple[R, A]], *primals: *Ts, has_aux: Literal[True]
) -> tuple[R, LinearFunction[*Ts, R], A]: ...
@overload
def linearize[T, R](  # arguments of one type in a list, whose length is unknown
    fun: Callable[[T, T], R] | Callable[[T, T, T], R] | Callable[[T, T, T, T], R],
    *primals: T,
    has_aux: Literal[False] = False,
) -> tuple[R, LinearFunction[*tuple[T, ...], R]]: ...
@overload
def linearize(fun: Callable[..., Any], *primals: Any, has_aux: bool) -> tuple[Any, ...]: ...
def stop_gradient[T](x: T) -> T: ...
