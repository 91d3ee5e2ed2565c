"""``run_in_children``: what child processes of ``multiprocessing`` do before they import the program."""

import multiprocessing
import pickle
import subprocess
import sys
from multiprocessing import spawn
from pathlib import Path

import pytest

from lawful.tree.base import children, run_in_children

PROGRAM = """
import multiprocessing
import sys
import changes

before = changes.log[:]  # while the program is imported

def seen(_):
    return before

if __name__ == "__main__":
    changes.install()
    with multiprocessing.get_context(sys.argv[1]).Pool(1) as pool:
        print(pool.map(seen, [None]))
"""
CHANGES = """
from lawful.tree.base import run_in_children
log = []

def install():
    run_in_children(install)
    log.append(1)
"""


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_run_in_children_before_the_program(method: str, tmp_path: Path) -> None:
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip("Windows only spawns")
    (tmp_path / "program.py").write_text(PROGRAM)
    (tmp_path / "changes.py").write_text(CHANGES)
    command = [sys.executable, "-m", "program", method]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.stdout == "[[1]]\n", done.stderr


def count() -> None:
    counts.append(1)


counts: list[int] = []


def test_run_in_children_of_a_fork_server(monkeypatch: pytest.MonkeyPatch) -> None:
    """The server that later Pythons let import the program does not: it has not called the functions."""
    monkeypatch.setattr(children, "_functions", [])
    monkeypatch.setattr(spawn, "get_preparation_data", lambda name: {"name": name, "init_main_from_path": "program.py"})
    run_in_children(count)
    run_in_children(count)
    data = pickle.loads(pickle.dumps(spawn.get_preparation_data("x")))
    assert data == {"name": "x", "init_main_from_path": "program.py", "lawful": [None]}
    assert counts == [1]
    server = {"__name__": "multiprocessing.forkserver", "spawn": spawn}
    exec("def f(): return spawn.get_preparation_data('x')", server)
    assert server["f"]().keys() == {"name", "lawful"}  # type: ignore[operator]
