"""The types of `shard_map` and `pmap` as type checkers see them.

What `shard_map` returns is called as the function. `pmap` maps a function of elements, as `vmap` does: a function of a
float gives one of arrays, so that its types say nothing of those of the result.

The functions are in the modules beside this one; `tests/user_types` compares the parameters of both.
"""

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, Protocol, overload

from lawful.parallel._mesh.devices import Device
from lawful.parallel._mesh.mesh import AbstractMesh, Mesh
from lawful.parallel._shard_map.axes import AxisName
from lawful.staging._typed import Jitted

class Decorator(Protocol):
    """What `shard_map` returns without a function."""

    def __call__[**P, R](self, f: Callable[P, R], /) -> Callable[P, R]: ...

class MapDecorator(Protocol):
    """What `pmap` returns without a function."""

    def __call__(self, fun: Callable[..., Any], /) -> Jitted[..., Any]: ...

@overload
def shard_map[**P, R](
    f: Callable[P, R],
    /,
    *,
    mesh: Mesh | AbstractMesh | None = None,
    in_specs: Any,
    out_specs: Any,
    axis_names: Iterable[AxisName] = frozenset(),
    check_vma: bool = True,
) -> Callable[P, R]: ...
@overload
def shard_map(
    f: None = None,
    /,
    *,
    mesh: Mesh | AbstractMesh | None = None,
    in_specs: Any,
    out_specs: Any,
    axis_names: Iterable[AxisName] = frozenset(),
    check_vma: bool = True,
) -> Decorator: ...
@overload
def pmap(
    fun: Callable[..., Any],
    axis_name: Hashable | None = None,
    *,
    in_axes: Any = 0,
    out_axes: Any = 0,
    static_broadcasted_argnums: int | Iterable[int] = (),
    devices: Sequence[Device] | None = None,
    backend: str | None = None,
    axis_size: int | None = None,
    donate_argnums: int | Iterable[int] = (),
) -> Jitted[..., Any]: ...
@overload
def pmap(
    fun: None = None,
    axis_name: Hashable | None = None,
    *,
    in_axes: Any = 0,
    out_axes: Any = 0,
    static_broadcasted_argnums: int | Iterable[int] = (),
    devices: Sequence[Device] | None = None,
    backend: str | None = None,
    axis_size: int | None = None,
    donate_argnums: int | Iterable[int] = (),
) -> MapDecorator: ...
