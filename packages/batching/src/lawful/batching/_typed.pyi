"""The types of `vmap` as type checkers see them: a function that returns arrays returns arrays.

A function of a float becomes one of arrays, so that the types of the function say nothing of that result.
"""

from collections.abc import Callable, Hashable
from typing import Any, Protocol, overload

from numpy import generic
from numpy.typing import NDArray

class Open:
    """Stands for results of type Any only, as that of a lambda."""

class ArrayOfJax(Protocol):
    """An array class whose type does not say the number of dimensions, as that of `lawful.jax`."""

    def block_until_ready(self) -> Any: ...

class Batched[F]:
    """The function F, mapped."""

    __name__: str
    @overload
    def __call__(self: Batched[Callable[..., Open]], *args: Any, **kwargs: Any) -> Any: ...
    @overload
    def __call__[A: ArrayOfJax](self: Batched[Callable[..., A]], *args: Any, **kwargs: Any) -> A: ...
    @overload
    def __call__[D: generic](self: Batched[Callable[..., NDArray[D]]], *args: Any, **kwargs: Any) -> NDArray[D]: ...
    @overload
    def __call__[D: generic, E: generic](
        self: Batched[Callable[..., tuple[NDArray[D], NDArray[E]]]], *args: Any, **kwargs: Any
    ) -> tuple[NDArray[D], NDArray[E]]: ...
    @overload
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...

@overload
def vmap[F: Callable[..., Any]](
    fun: Batched[F],
    in_axes: Any = 0,
    out_axes: Any = 0,
    axis_name: Hashable | None = None,
    axis_size: int | None = None,
    spmd_axis_name: Hashable | tuple[Hashable, ...] | None = None,
) -> Batched[F]: ...
@overload
def vmap[F: Callable[..., Any]](
    fun: F,
    in_axes: Any = 0,
    out_axes: Any = 0,
    axis_name: Hashable | None = None,
    axis_size: int | None = None,
    spmd_axis_name: Hashable | tuple[Hashable, ...] | None = None,
) -> Batched[F]: ...
