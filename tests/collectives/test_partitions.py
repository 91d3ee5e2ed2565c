"""Collectives between partitions of a program: the operations that are built, and their results on 8 devices."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lawful import batching
from lawful.core import eval_closed_jaxpr
from lawful.staging import jit, make_jaxpr
from lawful.xla_backend import LoweringError
from lawful.xla_backend._lowering.module import lower

from ._partitions import in_mesh_p, stablehlo_text
from ._programs import COLLECTIVES, of_axis

AXES = [("x", 2), ("y", 4)]
X = np.ones((2, 4, 24, 24))
KINDS = "all_reduce|all_gather|reduce_scatter|all_to_all|collective_permute|partition_id|collective_broadcast"


def operations(function: Any, x: Any = X) -> Counter[str]:
    text, _ = stablehlo_text(function, AXES, x)
    return Counter(re.findall(rf"stablehlo\.({KINDS})\b", text))


def test_collectives_in_partitions_agree_with_vmap() -> None:
    root = Path(__file__).parents[2]
    script = [sys.executable, "-m", "tests.collectives._check_partitions"]
    done = subprocess.run(script, cwd=root, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    assert re.fullmatch(r"\d{3} programs\n", done.stdout), done.stdout


@pytest.mark.parametrize("names", ["y", ("y", "x")], ids=str)
@pytest.mark.parametrize("name", [*COLLECTIVES, *of_axis(4)])
def test_collective_is_lowered_to_one_operation(name: str, names: Any) -> None:
    kinds = dict.fromkeys(("psum", "pmean", "pmax", "pmin", "psum_invariant", "pbroadcast"), "all_reduce")
    kinds |= {"psum_scatter": "reduce_scatter", "pswapaxes": "all_to_all", "all_gather_invariant": "all_gather"}
    kinds |= {"ppermute": "collective_permute", "pshuffle": "collective_permute", "axis_index": "partition_id"}
    kind = name.split()[0]
    expected = Counter([kinds.get(kind, kind)] if kind != "pvary" else [])
    if kind == "pbroadcast":
        expected["partition_id"] = 1
    function = {**COLLECTIVES, **of_axis(4 if names == "y" else 8)}[name]
    assert operations(lambda x: function(x, names)) == expected


@pytest.mark.parametrize(
    ("names", "groups", "expected"),
    [
        ("x", None, "[[0, 4], [1, 5], [2, 6], [3, 7]]"),
        ("y", None, "[[0, 1, 2, 3], [4, 5, 6, 7]]"),
        (("x", "y"), None, "[[0, 1, 2, 3, 4, 5, 6, 7]]"),
        (("y", "x"), None, "[[0, 4, 1, 5, 2, 6, 3, 7]]"),
        ("y", [[2, 0], [1, 3]], "[[2, 0], [1, 3], [6, 4], [5, 7]]"),
        ("y", [[2, 0, 1], [3]], "[[2, 0, 1], [3, -1, -1], [6, 4, 5], [7, -1, -1]]"),
    ],
)
def test_replica_groups(names: Any, groups: Any, expected: str) -> None:
    text, _ = stablehlo_text(lambda x: batching.psum(x, names, axis_index_groups=groups), AXES, X)
    assert f"replica_groups = dense<{expected}>" in text
    assert "channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>" in text
    assert "use_global_device_ids" in text


def test_source_target_pairs() -> None:
    text, _ = stablehlo_text(lambda x: batching.ppermute(x, "x", [(1, 0)]), AXES, X)
    assert "source_target_pairs = dense<[[4, 0], [5, 1], [6, 2], [7, 3]]>" in text
    text, _ = stablehlo_text(lambda x: batching.ppermute(x, "x", []), AXES, X)
    assert "source_target_pairs = dense<> : tensor<0x2xi64>" in text


def test_axis_index_where_axes_are_free() -> None:
    """Partitions have numbers only where all axes are manual."""
    text, _ = stablehlo_text(lambda x: batching.axis_index("x"), AXES, X, free=["y"])
    assert re.search(r'sdy.manual_computation\(\).*manual_axes=\{"y"\} \(\) \{\s*%\w+ = stablehlo.partition_id', text)
    text, _ = stablehlo_text(lambda x: batching.psum(x, "x"), AXES, X, free=["y"])
    assert "replica_groups = dense<[[0, 4], [1, 5], [2, 6], [3, 7]]>" in text


def test_extremum_of_complex_numbers_is_gathered() -> None:
    assert operations(lambda x: batching.pmax(x, "y"), X.astype(np.complex64)) == Counter(all_gather=1)


def test_psum_of_a_tree_and_of_a_number() -> None:
    assert operations(lambda x: sum(batching.psum({"a": x, "b": 2 * x, "c": 3}, "y").values())) == Counter(all_reduce=2)


def test_collective_of_a_called_function_depends_on_the_mesh() -> None:
    total = make_jaxpr(jit(lambda x: batching.psum(x, "y")), axis_env=AXES)(1.5)

    def twice(x: Any) -> Any:
        for axes in (AXES, AXES, [("y", 4), ("x", 2)]):
            x = in_mesh_p.bind(x, jaxpr=total, axes=tuple(axes), free=())
        return x

    text = str(lower(make_jaxpr(twice)(1.5), name="test", platform="cpu").module)
    assert text.count("stablehlo.all_reduce") == 2, "one function for each mesh"
    assert "replica_groups = dense<[[0, 1, 2, 3], [4, 5, 6, 7]]>" in text
    assert "replica_groups = dense<[[0, 2, 4, 6], [1, 3, 5, 7]]>" in text


def test_collective_outside_of_a_mesh_error() -> None:
    closed = make_jaxpr(lambda x: batching.psum(x, "y"), axis_env=[("y", 4)])(1.5)
    words = (
        "lowering: expected 'psum' over the axis 'y' inside a mesh with that axis, got it outside of any mesh; "
        "call the function through vmap or shard_map with that axis name"
    )
    with pytest.raises(LoweringError, match=words) as caught:
        jit(lambda x: eval_closed_jaxpr(closed, x)[0], backend="xla")(1.5)
    assert str(caught.value).startswith(f"{__file__}:")


def test_collective_over_an_axis_of_another_mesh_error() -> None:
    closed = make_jaxpr(lambda x: batching.axis_index("z"), axis_env=[("z", 4)])(X[0, 0])
    with pytest.raises(LoweringError, match=r"got it in a mesh with the axes \('x', 'y'\)"):
        stablehlo_text(lambda x: eval_closed_jaxpr(closed, x)[0], AXES, X)
