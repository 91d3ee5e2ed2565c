"""The types of `jit` and `make_jaxpr` as type checkers see them: those of the results follow from the function's.

The functions are in the modules beside this one; `tests/user_types` compares the parameters of both.
"""

from collections.abc import Callable, Hashable, Sequence
from typing import Any, Literal, Protocol, overload

from lawful.core import ClosedJaxpr
from lawful.staging._backends import CompilerOptions
from lawful.staging._jit.jit import JitFunction

class Jitted[**P, R](JitFunction):
    """A `JitFunction` of a function with these parameters and this result."""

    __name__: str
    __wrapped__: Callable[P, R]
    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R: ...

class JitDecorator(Protocol):
    """What `jit` returns without a function."""

    def __call__[**P, R](self, fun: Callable[P, R], /) -> Jitted[P, R]: ...

@overload
def jit[**P, R](
    fun: Callable[P, R],
    /,
    *,
    in_shardings: Any = None,
    out_shardings: Any = None,
    static_argnums: int | Sequence[int] | None = None,
    static_argnames: str | Sequence[str] | None = None,
    donate_argnums: int | Sequence[int] | None = None,
    donate_argnames: str | Sequence[str] | None = None,
    keep_unused: bool = False,
    backend: str | None = None,
    inline: bool = False,
    compiler_options: CompilerOptions | None = None,
    passes: Sequence[Callable[[ClosedJaxpr], ClosedJaxpr]] = (),
) -> Jitted[P, R]: ...
@overload
def jit(
    fun: None = None,
    /,
    *,
    in_shardings: Any = None,
    out_shardings: Any = None,
    static_argnums: int | Sequence[int] | None = None,
    static_argnames: str | Sequence[str] | None = None,
    donate_argnums: int | Sequence[int] | None = None,
    donate_argnames: str | Sequence[str] | None = None,
    keep_unused: bool = False,
    backend: str | None = None,
    inline: bool = False,
    compiler_options: CompilerOptions | None = None,
    passes: Sequence[Callable[[ClosedJaxpr], ClosedJaxpr]] = (),
) -> JitDecorator: ...
@overload
def make_jaxpr[**P](
    fun: Callable[P, Any],
    static_argnums: int | tuple[int, ...] = (),
    axis_env: Sequence[tuple[Hashable, int]] | None = None,
    return_shape: Literal[False] = False,
) -> Callable[P, ClosedJaxpr]: ...
@overload
def make_jaxpr[**P](
    fun: Callable[P, Any],
    static_argnums: int | tuple[int, ...] = (),
    axis_env: Sequence[tuple[Hashable, int]] | None = None,
    *,
    return_shape: Literal[True],
) -> Callable[P, tuple[ClosedJaxpr, Any]]: ...
@overload
def make_jaxpr[**P](
    fun: Callable[P, Any],
    static_argnums: int | tuple[int, ...] = (),
    axis_env: Sequence[tuple[Hashable, int]] | None = None,
    return_shape: bool = False,
) -> Callable[P, Any]: ...
