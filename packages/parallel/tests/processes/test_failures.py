"""A process that fails is an error in the others, which says what happened; all of them end."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from lawful.parallel import ProcessEndedError, ProcessTimeoutError
from lawful.parallel._processes.group import Group

from .running import run

pytest.importorskip("lawful.xla_backend", reason="several processes need XLA")

# In seconds, enough on a busy machine for an error that is found at once.
AT_ONCE = 20


# Each process of one device dies, and the first, which coordinates, with two.
@pytest.mark.parametrize(("dead", "devices"), [(0, 1), (1, 1), (0, 2)])
def test_a_dead_process_ends_a_collective(tmp_path: Path, dead: int, devices: int) -> None:
    program = f"""
i = start()
x = global_array()
np.asarray(total(x))
if i == {dead}:
    os._exit(9)
report(lambda: np.asarray(total(x)))
"""
    ended = run(tmp_path, program, devices=devices)
    assert ended[dead].status == 9
    other = ended[1 - dead]
    assert other.status in (0, 1)
    assert "ProcessEndedError" in other.out
    assert "the program total" in other.out
    assert f"got process {dead} ended: its connection" in other.out
    assert other.seconds < AT_ONCE
    assert "terminate called" not in other.err
    assert "Terminating process" not in other.err


def test_a_dead_process_is_named_in_all_others(tmp_path: Path) -> None:
    """Also in one that has no connection to it in the ring of an all-reduce, and waits for another one."""
    program = """
i = start()
x = global_array(12)
np.asarray(total(x))
if i == 2:
    os._exit(9)
report(lambda: np.asarray(total(x)))
"""
    for other in run(tmp_path, program, 3, devices=2)[:2]:
        assert "ProcessEndedError" in other.out
        assert "got process 2 ended" in other.out
        assert other.seconds < AT_ONCE


@pytest.mark.parametrize("dead", [0, 1])
def test_a_dead_process_ends_a_wait(tmp_path: Path, dead: int) -> None:
    program = f"""
i = start()
sync_global_devices("begin")
if i == {dead}:
    os._exit(9)
report(lambda: sync_global_devices("end"))
"""
    other = run(tmp_path, program)[1 - dead]
    assert "ProcessEndedError" in other.out
    assert "sync_global_devices('end')" in other.out
    assert f"process {dead} ended" in other.out
    assert other.seconds < AT_ONCE


def test_an_exception_is_named_in_the_others(tmp_path: Path) -> None:
    program = """
i = start()
sync_global_devices("begin")
if i == 1:
    raise ValueError("the data is missing")
sync_global_devices("end")
"""
    first, second = run(tmp_path, program)
    assert second.status == 1
    assert second.err.endswith("ValueError: the data is missing\n")
    assert first.status == 1
    assert "ProcessEndedError" in first.err
    assert "process 1 ended: ValueError: the data is missing" in first.err


@pytest.mark.parametrize("devices", [1, 2])
def test_a_process_that_ends_early_is_named(tmp_path: Path, devices: int) -> None:
    """It waits for the others in `shutdown`, while they wait for it in a program."""
    program = """
i = start()
x = global_array()
np.asarray(total(x))
if i == 0:
    report(lambda: np.asarray(total(x)))
"""
    first, second = run(tmp_path, program, devices=devices)
    assert "ProcessEndedError" in first.out
    assert "process 1 ended: it shut down after 1 of the 2 programs that process 0 ran with it" in first.out
    assert first.seconds < AT_ONCE
    assert second.status == 1
    assert "lawful.parallel: shutdown: " in second.err


def test_different_programs_are_an_error_that_names_them(tmp_path: Path) -> None:
    program = """
i = start()
x = global_array()
report(lambda: np.asarray((total if i else largest)(x)))
"""
    for process in run(tmp_path, program):
        assert process.status == 0, process.err
        assert "ProcessMismatchError" in process.out
        assert "process 0 in the program largest" in process.out
        assert "process 1 in the program total" in process.out
        assert process.seconds < AT_ONCE


def test_different_programs_in_later_runs_are_an_error(tmp_path: Path) -> None:
    """Their collectives fit each other, so that without an error the values would be wrong."""
    program = """
i = start()
x = global_array()
first, second = (total, largest) if i else (largest, total)
for f in (total, largest):
    np.asarray(f(x))
first(x)
time.sleep(2)
report(lambda: np.asarray(second(x)))
"""
    for process in run(tmp_path, program):
        assert "ProcessMismatchError" in process.out, process.err
        assert "in the program largest" in process.out
        assert "in the program total" in process.out
        assert process.seconds < AT_ONCE


@pytest.mark.parametrize("devices", [1, 2])
def test_an_absent_process_is_a_time_out_of_the_collective(tmp_path: Path, devices: int) -> None:
    program = """
i = start(collective_timeout_seconds=3)
x = global_array()
np.asarray(total(x))
if i == 0:
    report(lambda: np.asarray(total(x)))
    open("over", "w")
while not os.path.exists("over"):
    time.sleep(0.05)
"""
    first, _ = run(tmp_path, f"os.chdir({str(tmp_path)!r})\n{program}", devices=devices)
    assert "ProcessTimeoutError" in first.out
    assert "the program total (with all-reduce): expected the other processes to run it within 3 s" in first.out
    assert 2 < first.seconds < AT_ONCE


def test_a_connection_that_another_device_closed_is_a_time_out() -> None:
    """The first device whose wait is over closes its connections, and the next one may report that."""
    member = SimpleNamespace(failure=None, count=2, wait_for_failure=lambda _: None, mismatch=lambda _: None)
    group: Any = SimpleNamespace(member=member, timeout=3)
    closed = "INTERNAL: [Gloo] Connection closed by peer [127.0.0.1]:6843"
    assert isinstance(Group.explain(group, closed, ["total"]), ProcessTimeoutError)
    member.failure = "process 1 ended: its connection broke"
    assert isinstance(Group.explain(group, closed, ["total"]), ProcessEndedError)
