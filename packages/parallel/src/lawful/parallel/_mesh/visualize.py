"""Pictures of shardings: which device has which part of an array, as a table in a terminal or drawn by matplotlib."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from lawful.core import ArgumentTypeError, ArgumentValueError, shorten

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_COLORS = ("#4e79a7", "#f28e2b", "#59a14f", "#e15759", "#76b7b2", "#edc948", "#b07aa1", "#9c755f")


class Part(NamedTuple):
    """A part of an array with the devices that have it: rows and columns of the whole."""

    top: int
    bottom: int
    left: int
    right: int
    devices: str


def parts_of(shape: Sequence[int], sharding: Any) -> list[Part]:
    """Returns the parts of an array of one or two dimensions, in order of rows and columns.

    Raises:
      ArgumentValueError: the array has another number of dimensions.
    """
    if len(shape) not in (1, 2):
        raise ArgumentValueError(
            f"visualize_sharding: expected an array of one or two dimensions, got the shape {tuple(shape)}; take a "
            "slice or reshape it"
        )
    rows, columns = (1, shape[0]) if len(shape) == 1 else shape
    devices: dict[tuple[int, int, int, int], list[Any]] = {}
    for device, index in sharding.devices_indices_map(tuple(shape)).items():
        across, *down = reversed(index)
        top, bottom = (down[0].start or 0, down[0].stop or rows) if down else (0, 1)
        key = top, bottom, across.start or 0, across.stop or columns
        devices.setdefault(key, []).append(device)
    kinds = {device.platform for found in devices.values() for device in found}
    prefix = f"{kinds.pop().upper()} " if len(kinds) == 1 else ""
    return [Part(*key, prefix + ",".join(str(device.id) for device in found)) for key, found in sorted(devices.items())]


def visualize_sharding(shape: Sequence[int], sharding: Any, *, use_color: bool = True, console: Any = None) -> None:
    """Prints a table of the parts of an array: each cell names the devices that have the part.

    Args:
      shape: of the array: one or two dimensions.
      sharding: the sharding.
      use_color: whether each part has a colour.
      console: a ``rich.console.Console``; by default one for the terminal.

    Raises:
      ArgumentValueError: the array has another number of dimensions, the sharding does not divide it, or rich is not
        installed.

    >>> from lawful.parallel import NamedSharding, PartitionSpec as P, make_mesh, numpy_devices
    >>> mesh = make_mesh((2, 2), ("x", "y"), devices=numpy_devices(4))
    >>> visualize_sharding((4, 6), NamedSharding(mesh, P("x", "y")), use_color=False)
    ┌─────────┬─────────┐
    │ NUMPY 0 │ NUMPY 1 │
    ├─────────┼─────────┤
    │ NUMPY 2 │ NUMPY 3 │
    └─────────┴─────────┘

    Source: ``jax.debug.visualize_sharding``.
    """
    try:
        from rich import box  # imported late: a program that prints no table does not need it
        from rich.console import Console
        from rich.table import Table
    except ModuleNotFoundError:
        raise ArgumentValueError(
            "visualize_sharding: expected rich to be installed, which prints tables; run pip install rich"
        ) from None

    parts = parts_of(shape, sharding)
    rows = sorted({part.top for part in parts})
    table = Table(show_header=False, show_lines=True, box=box.SQUARE)
    for row in rows:
        cells = []
        for part in parts:
            if part.top == row:
                color = _COLORS[parts.index(part) % len(_COLORS)]
                cells.append(f"[white on {color}]{part.devices}[/]" if use_color else part.devices)
        table.add_row(*cells)
    (Console() if console is None else console).print(table)


def visualize_array_sharding(arr: Any, **options: Any) -> None:
    """Prints a table of the parts of an array on devices; see `visualize_sharding`.

    Args:
      arr: an array on devices, with one or two dimensions.
      options: those of `visualize_sharding`.

    Raises:
      ArgumentTypeError: it is no array on devices.

    >>> from types import SimpleNamespace  # stands for an array on devices, which needs XLA
    >>> from lawful.parallel import NamedSharding, PartitionSpec as P, make_mesh, numpy_devices
    >>> mesh = make_mesh((2,), ("x",), devices=numpy_devices(2))
    >>> x = SimpleNamespace(shape=(4, 6), sharding=NamedSharding(mesh, P("x")))
    >>> visualize_array_sharding(x, use_color=False)
    ┌─────────┐
    │ NUMPY 0 │
    ├─────────┤
    │ NUMPY 1 │
    └─────────┘

    Source: ``jax.debug.visualize_array_sharding``.
    """
    visualize_sharding(arr.shape, _sharding("visualize_array_sharding", arr), **options)


def draw_array_sharding(arr: Any, ax: Axes | None = None) -> Axes:
    """Draws the parts of an array on devices with matplotlib, and returns the axes.

    Args:
      arr: an array on devices, with one or two dimensions.
      ax: the axes to draw in; by default new ones.

    Raises:
      ArgumentTypeError: it is no array on devices, or the axes are not those of matplotlib.
      ArgumentValueError: it has another number of dimensions, or matplotlib is not installed.

    >>> from types import SimpleNamespace  # stands for an array on devices, which needs XLA
    >>> from lawful.parallel import NamedSharding, PartitionSpec as P, make_mesh, numpy_devices
    >>> mesh = make_mesh((2,), ("x",), devices=numpy_devices(2))
    >>> x = SimpleNamespace(shape=(4, 6), sharding=NamedSharding(mesh, P("x")))
    >>> from matplotlib.figure import Figure
    >>> ax = draw_array_sharding(x, Figure().subplots())
    >>> [text.get_text() for text in ax.texts]
    ['NUMPY 0', 'NUMPY 1']
    """
    try:
        import matplotlib.pyplot as plt  # imported late: it takes half a second
        from matplotlib.patches import Rectangle
    except ModuleNotFoundError:
        raise ArgumentValueError(
            "draw_array_sharding: expected matplotlib to be installed; run pip install matplotlib"
        ) from None

    parts = parts_of(arr.shape, _sharding("draw_array_sharding", arr))
    if ax is not None and not hasattr(ax, "add_patch"):
        raise ArgumentTypeError(
            f"draw_array_sharding: expected axes of matplotlib as ax, got {shorten(ax)} of type {type(ax).__name__}; "
            "give those of plt.subplots()[1], or leave them out"
        )
    if ax is None:
        ax = plt.subplots()[1]
    height, width = max(part.bottom for part in parts), max(part.right for part in parts)
    for number, part in enumerate(parts):
        size = part.right - part.left, part.bottom - part.top
        color = _COLORS[number % len(_COLORS)]
        ax.add_patch(Rectangle((part.left, part.top), *size, facecolor=color, edgecolor="white", linewidth=2))
        middle = part.left + size[0] / 2, part.top + size[1] / 2
        ax.text(*middle, part.devices.replace(",", ", "), color="white", ha="center", va="center", wrap=True)
    ax.set(xlim=(0, width), ylim=(height, 0), xlabel="last dimension", title=str(getattr(arr.sharding, "spec", "")))
    ax.set_ylabel("first dimension" if len(arr.shape) == 2 else "")
    return ax


def _sharding(name: str, arr: Any) -> Any:
    sharding = getattr(arr, "sharding", None)
    if sharding is None:
        raise ArgumentTypeError(
            f"{name}: expected an array on devices, got {shorten(arr)} of type {type(arr).__name__}; put it there with "
            "device_put(x, sharding), or give its shape and a sharding to visualize_sharding"
        )
    return sharding
