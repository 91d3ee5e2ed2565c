"""``initialize``: processes find each other, or each of them says why not."""

from pathlib import Path

import pytest

from lawful.core import ArgumentTypeError, ArgumentValueError
from lawful.parallel import initialize, is_initialized, shutdown

from .running import run

pytest.importorskip("lawful.xla_backend", reason="several processes need XLA")


def test_initialize_sees_the_devices_of_all_processes(tmp_path: Path) -> None:
    ended = run(
        tmp_path,
        """
start()
print(process_index(), process_count(), device_count(), local_device_count(), is_initialized())
print([d.process_index for d in devices()], [d.process_index for d in local_devices()], len({d.id for d in devices()}))
print(np.asarray(total(np.ones(2))))  # on this process's own device
shutdown()
print(is_initialized())
""",
        devices=2,
    )
    for index, process in enumerate(ended):
        assert process.status == 0, process.err
        assert process.lines == [
            f"{index} 2 4 2 True",
            f"[0, 0, 1, 1] {[index] * 2} 4",
            "1.682941969615793",
            "False",
        ]


def test_initialize_orders_devices_by_process_id(tmp_path: Path) -> None:
    """A process started first as number 1 has the second part of an array."""
    ended = run(
        tmp_path,
        "start()\nprint([(s.device.process_index, s.data.tolist()) for s in global_array().addressable_shards])",
        variables=[{"LAWFUL_PROCESS_ID": 1}, {"LAWFUL_PROCESS_ID": 0}],
    )
    assert ended[0].lines == ["[(1, [4.0, 5.0, 6.0, 7.0])]"]
    assert ended[1].lines == ["[(0, [0.0, 1.0, 2.0, 3.0])]"]


def test_initialize_after_devices_are_used_is_refused(tmp_path: Path) -> None:
    (ended,) = run(tmp_path, "devices()\nreport(start)", 1)
    assert "RuntimeStartedError" in ended.out
    assert "call it before the first array is made" in ended.out


def test_initialize_twice_is_refused(tmp_path: Path) -> None:
    (ended,) = run(tmp_path, "start()\nreport(start)", 1)
    assert ended.status == 0, ended.err
    assert "ProcessError" in ended.out
    assert "a second call" in ended.out


JOIN = "report(lambda: start(initialization_timeout=4))"


def test_initialize_different_counts_is_an_error_in_all(tmp_path: Path) -> None:
    ended = run(tmp_path, "report(start)", variables=[{}, {"LAWFUL_NUM_PROCESSES": 3}])
    for process in ended:
        assert "ProcessError" in process.out
        assert "got 2 in process 0 and 3 in process 1" in process.out
        assert process.seconds < 30


def test_initialize_equal_ids_is_an_error_in_all(tmp_path: Path) -> None:
    ended = run(tmp_path, "report(start)", 3, variables=[{}, {}, {"LAWFUL_PROCESS_ID": 1}])
    for process in ended:
        assert "expected each process_id once, got 1 twice" in process.out
        assert process.seconds < 30


def test_initialize_names_the_process_that_does_not_come(tmp_path: Path) -> None:
    ended = run(tmp_path, JOIN, variables=[{"LAWFUL_NUM_PROCESSES": 3}] * 2)
    for process in ended:
        assert "ProcessTimeoutError" in process.out
        assert "expected 3 processes to join within 4 s, got none as process 2" in process.out
        assert process.seconds < 20


def test_initialize_without_coordinator_times_out(tmp_path: Path) -> None:
    (ended,) = run(tmp_path, JOIN, 1, variables=[{"LAWFUL_PROCESS_ID": 1, "LAWFUL_NUM_PROCESSES": 2}])
    assert "ProcessTimeoutError" in ended.out
    assert "within 4 s" in ended.out
    assert "start process 0 there" in ended.out
    assert ended.seconds < 20


def test_initialize_names_a_port_in_use(tmp_path: Path) -> None:
    program = """
import socket
other = socket.socket(); other.bind(("127.0.0.1", int(os.environ["PORT"]))); other.listen()
report(start)
"""
    (ended,) = run(tmp_path, program, 1)
    assert "ProcessError" in ended.out
    assert "another program, or another process 0, has the port" in ended.out


def test_initialize_tells_a_coordinator_from_another_program(tmp_path: Path) -> None:
    program = """
import socket, threading
other = socket.socket(); other.bind(("127.0.0.1", 0)); other.listen()
threading.Thread(target=lambda: other.accept()[0].sendall(b"HTTP/1.1 400 Bad Request" * 9), daemon=True).start()
report(lambda: start(coordinator_address=f"127.0.0.1:{other.getsockname()[1]}"))
"""
    (ended,) = run(tmp_path, program, 1, variables=[{"LAWFUL_PROCESS_ID": 1, "LAWFUL_NUM_PROCESSES": 2}])
    assert "not a process of lawful; correct coordinator_address" in ended.out


def test_initialize_where_nobody_answers_times_out(tmp_path: Path) -> None:
    """The port is that of another program, which takes connections and says nothing: the time is the stated one."""
    program = """
import socket
other = socket.socket(); other.bind(("127.0.0.1", 0)); other.listen()
report(lambda: start(coordinator_address=f"127.0.0.1:{other.getsockname()[1]}", initialization_timeout=3))
"""
    (ended,) = run(tmp_path, program, 1, variables=[{"LAWFUL_PROCESS_ID": 1, "LAWFUL_NUM_PROCESSES": 2}])
    assert "ProcessTimeoutError" in ended.out
    assert "got none within 3 s" in ended.out
    assert ended.seconds < 10


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ({}, ArgumentTypeError, "LAWFUL_COORDINATOR_ADDRESS in the environment"),
        ({"coordinator_address": "localhost"}, ArgumentValueError, "expected 'host:port'"),
        ({"coordinator_address": "localhost:99999"}, ArgumentValueError, "a port of 1 to 65535"),
        ({"coordinator_address": "localhost:1"}, ArgumentTypeError, "expected num_processes, or"),
        ({"coordinator_address": "localhost:1", "num_processes": 0, "process_id": 0}, ArgumentValueError, "at least 1"),
        ({"coordinator_address": "localhost:1", "num_processes": 2, "process_id": 2}, ArgumentValueError, "below"),
        ({"coordinator_address": "localhost:1", "num_processes": 2.0, "process_id": 0}, ArgumentTypeError, "integer"),
        (
            {"coordinator_address": "localhost:1", "num_processes": 1, "process_id": 0, "local_device_ids": [0]},
            ArgumentValueError,
            "set_cpu_device_count",
        ),
    ],
)
def test_initialize_wrong_arguments_are_named(
    monkeypatch: pytest.MonkeyPatch, arguments: dict[str, object], error: type[Exception], text: str
) -> None:
    for name in ("COORDINATOR_ADDRESS", "NUM_PROCESSES", "PROCESS_ID"):
        monkeypatch.delenv(f"LAWFUL_{name}", raising=False)
    with pytest.raises(error, match=text):
        initialize(**arguments)  # type: ignore[arg-type]
    assert not is_initialized()
    shutdown()  # does nothing
