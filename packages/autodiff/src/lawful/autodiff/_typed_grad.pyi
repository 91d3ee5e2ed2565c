"""The types of gradients as type checkers see them: those of the arguments that a function is differentiated by.

The checkers find them in the type of `__wrapped__` when the gradient is called. Were they type variables of `grad`,
pyright would give them to the parameters of a lambda, on which nothing can be computed; were they found in the
parameters alone, mypy would take those of the arguments, which are often of type Any.
"""

from collections.abc import Callable, Sequence
from typing import Any, Concatenate, Literal, Protocol, overload

type Of1[X, **P, R] = Callable[Concatenate[X, P], R]
type Of2[X, Y, **P, R] = Callable[Concatenate[X, Y, P], R]
type Of3[X, Y, Z, **P, R] = Callable[Concatenate[X, Y, Z, P], R]

#: The argument numbers of which the checkers know the types.
type First = Literal[0]
type Second = Literal[1]
type Third = Literal[2]
type Two = tuple[Literal[0], Literal[1]]
type Three = tuple[Literal[0], Literal[1], Literal[2]]

class Open:
    """Stands for parameters of type Any only, as those of a lambda: the gradient has the types of the arguments."""

class By[F, N](Protocol):
    """A gradient of a function F by the arguments N."""

    @property
    def __wrapped__(self) -> F: ...
    @property
    def argnums(self) -> N: ...

class Gradient[**P, N]:
    """The gradient of a function, which has the types of the arguments N."""

    __name__: str
    @property
    def __wrapped__(self) -> Callable[P, Any]: ...
    @property
    def argnums(self) -> N: ...
    @overload
    def __call__[X, **Q](self: By[Of1[Open, Q, Any], First], x: X, /, *args: Q.args, **kwargs: Q.kwargs) -> X: ...
    @overload
    def __call__[X, **Q](self: By[Of1[X, Q, Any], First], x: X, /, *args: Q.args, **kwargs: Q.kwargs) -> X: ...
    @overload
    def __call__[X, Y, **Q](
        self: By[Of2[X, Open, Q, Any], Second], x: X, y: Y, /, *args: Q.args, **kwargs: Q.kwargs
    ) -> Y: ...
    @overload
    def __call__[X, Y, **Q](
        self: By[Of2[X, Y, Q, Any], Second], x: X, y: Y, /, *args: Q.args, **kwargs: Q.kwargs
    ) -> Y: ...
    @overload
    def __call__[X, Y, Z, **Q](
        self: By[Of3[X, Y, Open, Q, Any], Third], x: X, y: Y, z: Z, /, *args: Q.args, **kwargs: Q.kwargs
    ) -> Z: ...
    @overload
    def __call__[X, Y, Z, **Q](
        self: By[Of3[X, Y, Z, Q, Any], Third], x: X, y: Y, z: Z, /, *args: Q.args, **kwargs: Q.kwargs
    ) -> Z: ...
    @overload
    def __call__[X, Y, **Q](
        self: By[Of2[Open, Open, Q, Any], Two], x: X, y: Y, /, *args: Q.args, **kwargs: Q.kwargs
    ) -> tuple[X, Y]: ...
    @overload
    def __call__[X, Y, **Q](
        self: By[Of2[X, Y, Q, Any], Two], x: X, y: Y, /, *args: Q.args, **kwargs: Q.kwargs
    ) -> tuple[X, Y]: ...
    @overload
    def __call__[X, Y, Z, **Q](
        self: By[Of3[Open, Open, Open, Q, Any], Three], x: X, y: Y, z: Z, /, *args: Q.args, **kwargs: Q.kwargs
    ) -> tuple[X, Y, Z]: ...
    @overload
    def __call__[X, Y, Z, **Q](
        self: By[Of3[X, Y, Z, Q, Any], Three], x: X, y: Y, z: Z, /, *args: Q.args, **kwargs: Q.kwargs
    ) -> tuple[X, Y, Z]: ...
    @overload
    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Any: ...

class GradientAndAux[**P, A, N]:
    """The same with an auxiliary result."""

    __name__: str
    @property
    def __wrapped__(self) -> Callable[P, tuple[Any, A]]: ...
    @property
    def argnums(self) -> N: ...
    @overload
    def __call__[X, B, **Q](
        self: By[Of1[Open, Q, tuple[Any, B]], First], x: X, /, *args: Q.args, **kwargs: Q.kwargs
    ) -> tuple[X, B]: ...
    @overload
    def __call__[X, B, **Q](
        self: By[Of1[X, Q, tuple[Any, B]], First], x: X, /, *args: Q.args, **kwargs: Q.kwargs
    ) -> tuple[X, B]: ...
    @overload
    def __call__[X, Y, B, **Q](
        self: By[Of2[X, Open, Q, tuple[Any, B]], Second], x: X, y: Y, /, *args: Q.args, **kwargs: Q.kwargs
    ) -> tuple[Y, B]: ...
    @overload
    def __call__[X, Y, B, **Q](
        self: By[Of2[X, Y, Q, tuple[Any, B]], Second], x: X, y: Y, /, *args: Q.args, **kwargs: Q.kwargs
    ) -> tuple[Y, B]: ...
    @overload
    def __call__[X, Y, Z, B, **Q](
        self: By[Of3[X, Y, Open, Q, tuple[Any, B]], Third], x: X, y: Y, z: Z, /, *args: Q.args, **kwargs: Q.kwargs
    ) -> tuple[Z, B]: ...
    @overload
    def __call__[X, Y, Z, B, **Q](
        self: By[Of3[X, Y, Z, Q, tuple[Any, B]], Third], x: X, y: Y, z: Z, /, *args: Q.args, **kwargs: Q.kwargs
    ) -> tuple[Z, B]: ...
    @overload
    def __call__[X, Y, B, **Q](
        self: By[Of2[Open, Open, Q, tuple[Any, B]], Two], x: X, y: Y, /, *args: Q.args, **kwargs: Q.kwargs
    ) -> tuple[tuple[X, Y], B]: ...
    @overload
    def __call__[X, Y, B, **Q](
        self: By[Of2[X, Y, Q, tuple[Any, B]], Two], x: X, y: Y, /, *args: Q.args, **kwargs: Q.kwargs
    ) -> tuple[tuple[X, Y], B]: ...
    @overload
    def __call__[X, Y, Z, B, **Q](
        self: By[Of3[Open, Open, Open, Q, tuple[Any, B]], Three], x: X, y: Y, z: Z, /, *args: Q.args, **kwargs: Q.kwargs
    ) -> tuple[tuple[X, Y, Z], B]: ...
    @overload
    def __call__[X, Y, Z, B, **Q](
        self: By[Of3[X, Y, Z, Q, tuple[Any, B]], Three], x: X, y: Y, z: Z, /, *args: Q.args, **kwargs: Q.kwargs
    ) -> tuple[tuple[X, Y, Z], B]: ...
    @overload
    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Any: ...

class ValueAndGradient[**P, R, N]:
    """The same with what the function returns, which comes first."""

    __name__: str
    @property
    def __wrapped__(self) -> Callable[P, R]: ...
    @property
    def argnums(self) -> N: ...
    @overload
    def __call__[X, S, **Q](
        self: By[Of1[Open, Q, S], First], x: X, /, *args: Q.args, **kwargs: Q.kwargs
    ) -> tuple[S, X]: ...
    @overload
    def __call__[X, S, **Q](
        self: By[Of1[X, Q, S], First], x: X, /, *args: Q.args, **kwargs: Q.kwargs
    ) -> tuple[S, X]: ...
    @overload
    def __call__[X, Y, S, **Q](
        self: By[Of2[X, Open, Q, S], Second], x: X, y: Y, /, *args: Q.args, **kwargs: Q.kwargs
    ) -> tuple[S, Y]: ...
    @overload
    def __call__[X, Y, S, **Q](
        self: By[Of2[X, Y, Q, S], Second], x: X, y: Y, /, *args: Q.args, **kwargs: Q.kwargs
    ) -> tuple[S, Y]: ...
    @overload
    def __call__[X, Y, Z, S, **Q](
        self: By[Of3[X, Y, Open, Q, S], Third], x: X, y: Y, z: Z, /, *args: Q.args, **kwargs: Q.kwargs
    ) -> tuple[S, Z]: ...
    @overload
    def __call__[X, Y, Z, S, **Q](
        self: By[Of3[X, Y, Z, Q, S], Third], x: X, y: Y, z: Z, /, *args: Q.args, **kwargs: Q.kwargs
    ) -> tuple[S, Z]: ...
    @overload
    def __call__[X, Y, S, **Q](
        self: By[Of2[Open, Open, Q, S], Two], x: X, y: Y, /, *args: Q.args, **kwargs: Q.kwargs
    ) -> tuple[S, tuple[X, Y]]: ...
    @overload
    def __call__[X, Y, S, **Q](
        self: By[Of2[X, Y, Q, S], Two], x: X, y: Y, /, *args: Q.args, **kwargs: Q.kwargs
    ) -> tuple[S, tuple[X, Y]]: ...
    @overload
    def __call__[X, Y, Z, S, **Q](
        self: By[Of3[Open, Open, Open, Q, S], Three], x: X, y: Y, z: Z, /, *args: Q.args, **kwargs: Q.kwargs
    ) -> tuple[S, tuple[X, Y, Z]]: ...
    @overload
    def __call__[X, Y, Z, S, **Q](
        self: By[Of3[X, Y, Z, Q, S], Three], x: X, y: Y, z: Z, /, *args: Q.args, **kwargs: Q.kwargs
    ) -> tuple[S, tuple[X, Y, Z]]: ...
    @overload
    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Any: ...

@overload
def grad[**P](
    fun: Callable[P, Any],
    argnums: First = 0,
    has_aux: Literal[False] = False,
    holomorphic: bool = False,
    allow_int: bool = False,
) -> Gradient[P, First]: ...
@overload
def grad[**P, A](
    fun: Callable[P, tuple[Any, A]],
    argnums: First = 0,
    *,
    has_aux: Literal[True],
    holomorphic: bool = False,
    allow_int: bool = False,
) -> GradientAndAux[P, A, First]: ...
@overload
def grad[**P, N: (Second, Third)](
    fun: Callable[P, Any],
    argnums: N,
    has_aux: Literal[False] = False,
    holomorphic: bool = False,
    allow_int: bool = False,
) -> Gradient[P, N]: ...
@overload
def grad[**P, A, N: (Second, Third)](
    fun: Callable[P, tuple[Any, A]],
    argnums: N,
    has_aux: Literal[True],
    holomorphic: bool = False,
    allow_int: bool = False,
) -> GradientAndAux[P, A, N]: ...
@overload
def grad[**P](
    fun: Callable[P, Any],
    argnums: Two,
    has_aux: Literal[False] = False,
    holomorphic: bool = False,
    allow_int: bool = False,
) -> Gradient[P, Two]: ...
@overload
def grad[**P, A](
    fun: Callable[P, tuple[Any, A]],
    argnums: Two,
    has_aux: Literal[True],
    holomorphic: bool = False,
    allow_int: bool = False,
) -> GradientAndAux[P, A, Two]: ...
@overload
def grad[**P](
    fun: Callable[P, Any],
    argnums: Three,
    has_aux: Literal[False] = False,
    holomorphic: bool = False,
    allow_int: bool = False,
) -> Gradient[P, Three]: ...
@overload
def grad[**P, A](
    fun: Callable[P, tuple[Any, A]],
    argnums: Three,
    has_aux: Literal[True],
    holomorphic: bool = False,
    allow_int: bool = False,
) -> GradientAndAux[P, A, Three]: ...
@overload
def grad[**P](
    fun: Callable[P, Any],
    argnums: int,
    has_aux: Literal[False] = False,
    holomorphic: bool = False,
    allow_int: bool = False,
) -> Callable[P, Any]: ...
@overload
def grad[**P, A](
    fun: Callable[P, tuple[Any, A]],
    argnums: int,
    has_aux: Literal[True],
    holomorphic: bool = False,
    allow_int: bool = False,
) -> Callable[P, tuple[Any, A]]: ...
@overload
def grad[**P](
    fun: Callable[P, Any],
    argnums: Sequence[int],
    has_aux: Literal[False] = False,
    holomorphic: bool = False,
    allow_int: bool = False,
) -> Callable[P, tuple[Any, ...]]: ...
@overload
def grad[**P, A](
    fun: Callable[P, tuple[Any, A]],
    argnums: Sequence[int],
    has_aux: Literal[True],
    holomorphic: bool = False,
    allow_int: bool = False,
) -> Callable[P, tuple[tuple[Any, ...], A]]: ...
@overload
def grad[**P](
    fun: Callable[P, Any],
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    allow_int: bool = False,
) -> Callable[P, Any]: ...
@overload
def value_and_grad[**P, R](
    fun: Callable[P, R],
    argnums: First = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    allow_int: bool = False,
) -> ValueAndGradient[P, R, First]: ...
@overload
def value_and_grad[**P, R, N: (Second, Third)](
    fun: Callable[P, R],
    argnums: N,
    has_aux: bool = False,
    holomorphic: bool = False,
    allow_int: bool = False,
) -> ValueAndGradient[P, R, N]: ...
@overload
def value_and_grad[**P, R](
    fun: Callable[P, R],
    argnums: Two,
    has_aux: bool = False,
    holomorphic: bool = False,
    allow_int: bool = False,
) -> ValueAndGradient[P, R, Two]: ...
@overload
def value_and_grad[**P, R](
    fun: Callable[P, R],
    argnums: Three,
    has_aux: bool = False,
    holomorphic: bool = False,
    allow_int: bool = False,
) -> ValueAndGradient[P, R, Three]: ...
@overload
def value_and_grad[**P, R](
    fun: Callable[P, R],
    argnums: int,
    has_aux: bool = False,
    holomorphic: bool = False,
    allow_int: bool = False,
) -> Callable[P, tuple[R, Any]]: ...
@overload
def value_and_grad[**P, R](
    fun: Callable[P, R],
    argnums: Sequence[int],
    has_aux: bool = False,
    holomorphic: bool = False,
    allow_int: bool = False,
) -> Callable[P, tuple[R, tuple[Any, ...]]]: ...
