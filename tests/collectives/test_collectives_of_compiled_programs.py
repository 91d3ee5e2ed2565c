"""Compiled parallel programs have at most as many collectives as JAX's, which move at most as many bytes."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("jax")

ROOT = Path(__file__).resolve().parents[2]

#: The collectives that each program needs at least, so that a count of none is not a success.
NEEDED = {
    "data parallel": {"all-reduce"},
    "data parallel by shard_map": {"all-reduce"},
    "fully sharded parameters": {"all-gather"},
    "fully sharded parameters by shard_map": {"all-gather", "reduce-scatter"},
    "tensor parallel": {"all-reduce"},
    "tensor parallel by shard_map": {"all-reduce"},
    "pipeline by ppermute": {"collective-permute"},
    "experts by all_to_all": {"all-to-all"},
}


@pytest.fixture(scope="module")
def counted(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The number and bytes of collectives by program, system and kind, each system in a process with 8 devices."""
    path = tmp_path_factory.mktemp("collectives") / "results.json"
    command = [sys.executable, "-m", "benchmarks.devices", "--only", "collectives", "--json", str(path)]
    subprocess.run(command, check=True, cwd=ROOT, capture_output=True)
    return json.loads(path.read_text())["collectives"]


def test_all_programs_are_counted(counted: Any) -> None:
    assert counted.keys() == NEEDED.keys()


@pytest.mark.parametrize("name", NEEDED)
def test_collectives_are_no_more_than_of_jax(name: str, counted: Any) -> None:
    ours, theirs = counted[name]["lawful"], counted[name]["jax"]
    assert ours.keys() >= NEEDED[name]
    for kind, (count, size) in ours.items():
        expected_count, expected_size = theirs.get(kind, (0, 0))
        assert count <= expected_count, kind
        assert size <= expected_size, kind
