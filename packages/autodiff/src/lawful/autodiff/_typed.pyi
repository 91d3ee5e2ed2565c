"""The types of the transformations as type checkers see them: those of the results follow from the function's.

The functions are in the modules beside this one; `tests/user_types` compares the parameters of both.
"""

from collections.abc import Callable, Sequence
from typing import Any, Literal, overload

from lawful.core import ClosedJaxpr

#: Arguments of one type, of which the number is unknown.
type Several[T] = list[T] | tuple[T, ...]

class LinearFunction[*Ts, R]:
    """A derivative, or its transpose, at one point."""

    jaxpr: ClosedJaxpr
    def __call__(self, *args: *Ts) -> R: ...

@overload
def jvp[*Ts, R](
    fun: Callable[[*Ts], R], primals: tuple[*Ts], tangents: Sequence[Any], has_aux: Literal[False] = False
) -> tuple[R, R]: ...
@overload
def jvp[*Ts, R, A](
    fun: Callable[[*Ts], tuple[R, A]], primals: tuple[*Ts], tangents: Sequence[Any], has_aux: Literal[True]
) -> tuple[R, R, A]: ...
@overload
def jvp[T, R](
    fun: Callable[[T], R], primals: Several[T], tangents: Sequence[Any], has_aux: Literal[False] = False
) -> tuple[R, R]: ...
@overload
def jvp[T, R, A](
    fun: Callable[[T], tuple[R, A]], primals: Several[T], tangents: Sequence[Any], has_aux: Literal[True]
) -> tuple[R, R, A]: ...
@overload
def jvp[T, R](
    fun: Callable[[T, T], R], primals: Several[T], tangents: Sequence[Any], has_aux: Literal[False] = False
) -> tuple[R, R]: ...
@overload
def jvp[T, R, A](
    fun: Callable[[T, T], tuple[R, A]], primals: Several[T], tangents: Sequence[Any], has_aux: Literal[True]
) -> tuple[R, R, A]: ...
@overload
def jvp[T, R](
    fun: Callable[[T, T, T], R], primals: Several[T], tangents: Sequence[Any], has_aux: Literal[False] = False
) -> tuple[R, R]: ...
@overload
def jvp[T, R, A](
    fun: Callable[[T, T, T], tuple[R, A]], primals: Several[T], tangents: Sequence[Any], has_aux: Literal[True]
) -> tuple[R, R, A]: ...
@overload
def jvp[T, R](
    fun: Callable[[T, T, T, T], R], primals: Several[T], tangents: Sequence[Any], has_aux: Literal[False] = False
) -> tuple[R, R]: ...
@overload
def jvp[T, R, A](
    fun: Callable[[T, T, T, T], tuple[R, A]], primals: Several[T], tangents: Sequence[Any], has_aux: Literal[True]
) -> tuple[R, R, A]: ...
@overload
def jvp[R](
    fun: Callable[..., R], primals: list[Any], tangents: Sequence[Any], has_aux: Literal[False] = False
) -> tuple[R, R]: ...
@overload
def jvp[R, A](
    fun: Callable[..., tuple[R, A]], primals: list[Any], tangents: Sequence[Any], has_aux: Literal[True]
) -> tuple[R, R, A]: ...
@overload
def jvp[*Ts, R](
    fun: Callable[[*Ts], R], primals: tuple[*Ts] | list[Any], tangents: Sequence[Any], has_aux: bool
) -> tuple[Any, ...]: ...

# A list of arguments fills any number of parameters. The nine keep separate arguments away, which would match two
# overloads with a lambda, so that mypy would leave the result open.
@overload
def vjp[*Ts, R](
    fun: Callable[[*Ts], R], *primals: *Ts, has_aux: Literal[False] = False
) -> tuple[R, LinearFunction[R, tuple[*Ts]]]: ...
@overload
def vjp[*Ts, R, A](
    fun: Callable[[*Ts], tuple[R, A]], *primals: *Ts, has_aux: Literal[True]
) -> tuple[R, LinearFunction[R, tuple[*Ts]], A]: ...
@overload
def vjp[T, R](
    fun: Callable[[T, T], R] | Callable[[T, T, T], R] | Callable[[T, T, T, T], R],
    _1: T,
    _2: T,
    _3: T,
    _4: T,
    _5: T,
    _6: T,
    _7: T,
    _8: T,
    _9: T,
    /,
    *primals: T,
    has_aux: Literal[False] = False,
) -> tuple[R, LinearFunction[R, tuple[T, ...]]]: ...
@overload
def vjp[*Ts, R](fun: Callable[[*Ts], R], *primals: *Ts, has_aux: bool) -> tuple[Any, ...]: ...
@overload
def linearize[*Ts, R](
    fun: Callable[[*Ts], R], *primals: *Ts, has_aux: Literal[False] = False
) -> tuple[R, LinearFunction[*Ts, R]]: ...
@overload
def linearize[*Ts, R, A](
    fun: Callable[[*Ts], tuple[R, A]], *primals: *Ts, has_aux: Literal[True]
) -> tuple[R, LinearFunction[*Ts, R], A]: ...
@overload
def linearize[T, R](
    fun: Callable[[T, T], R] | Callable[[T, T, T], R] | Callable[[T, T, T, T], R],
    _1: T,
    _2: T,
    _3: T,
    _4: T,
    _5: T,
    _6: T,
    _7: T,
    _8: T,
    _9: T,
    /,
    *primals: T,
    has_aux: Literal[False] = False,
) -> tuple[R, LinearFunction[*tuple[T, ...], R]]: ...
@overload
def linearize[*Ts, R](fun: Callable[[*Ts], R], *primals: *Ts, has_aux: bool) -> tuple[Any, ...]: ...
def stop_gradient[T](x: T) -> T: ...
