"""Tables and pictures of shardings."""

import io
import sys
from typing import Any

import numpy as np
import pytest

from lawful.core import ArgumentTypeError, ArgumentValueError
from lawful.parallel import NamedSharding, make_mesh, numpy_devices, visualize_array_sharding, visualize_sharding
from lawful.parallel import PartitionSpec as P
from lawful.parallel._mesh.visualize import draw_array_sharding, parts_of

MESH = make_mesh((4, 2), ("x", "y"), devices=numpy_devices(8))


@pytest.mark.parametrize(
    ("shape", "spec", "cells"),
    [
        ((8,), P("x"), [["0,1", "2,3", "4,5", "6,7"]]),
        ((8, 2), P("x"), [["0,1"], ["2,3"], ["4,5"], ["6,7"]]),
        ((8, 2), P(None, "y"), [["0,2,4,6", "1,3,5,7"]]),
        ((8, 8), P("y", "x"), [["0", "2", "4", "6"], ["1", "3", "5", "7"]]),
        ((8, 8), P(), [["0,1,2,3,4,5,6,7"]]),
    ],
)
def test_the_table_has_a_cell_for_each_part(shape: tuple[int, ...], spec: P, cells: list[list[str]]) -> None:
    rich = pytest.importorskip("rich.console")
    console = rich.Console(file=io.StringIO(), width=120)
    visualize_sharding(shape, NamedSharding(MESH, spec), use_color=False, console=console)
    lines = [line for line in console.file.getvalue().splitlines() if "NUMPY" in line]
    found = [[cell.strip().removeprefix("NUMPY ") for cell in line.strip("│").split("│")] for line in lines]
    assert found == cells


def test_the_picture_has_a_rectangle_for_each_part() -> None:
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")

    class Sharded:
        shape = (8, 6)
        sharding = NamedSharding(MESH, P("x", "y"))

    ax = draw_array_sharding(Sharded())
    drawn = [(r.get_x(), r.get_y(), r.get_width(), r.get_height()) for r in ax.patches]
    assert drawn == [(3 * j, 2 * i, 3, 2) for i in range(4) for j in range(2)]
    assert [text.get_text() for text in ax.texts] == [f"NUMPY {i}" for i in range(8)]
    with pytest.raises(ArgumentTypeError, match=r"expected axes of matplotlib as ax, got 3 of type int; give those of"):
        draw_array_sharding(Sharded(), 3)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("package", "call"),
    [
        ("rich", lambda: visualize_sharding((8,), NamedSharding(MESH, P("x")))),
        ("matplotlib", lambda: draw_array_sharding(np.ones(3))),
    ],
)
def test_visualize_without_its_package_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, package: str, call: Any
) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == package]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ArgumentValueError, match=f"expected {package} to be installed.* run pip install {package}"):
        call()


def test_what_has_no_parts_or_other_dimensions_is_refused() -> None:
    with pytest.raises(ArgumentTypeError, match="an array on devices"):
        visualize_array_sharding(np.ones(3))
    with pytest.raises(ArgumentValueError, match="one or two dimensions"):
        parts_of((2, 2, 2), NamedSharding(MESH, P()))
