"""``python -m lawful.parallel``: starts local processes, tells their output apart, and leaves none behind."""

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from .running import LIMIT, environment, free_port

pytest.importorskip("lawful.xla_backend", reason="several processes need XLA")


def launched(folder: Path, program: str, *options: object, arguments: tuple[str, ...] = ()) -> subprocess.Popen[str]:
    """Starts the launcher with a program, as another program would."""
    script = folder / "program.py"
    script.write_text(program)
    command = [sys.executable, "-m", "lawful.parallel", *map(str, options), str(script), *arguments]
    return subprocess.Popen(
        command, env=environment(), text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    )


def ended(launcher: subprocess.Popen[str]) -> tuple[int, str, str]:
    """Returns the exit status and the output of a launcher, and kills it if it does not end."""
    try:
        out, err = launcher.communicate(timeout=LIMIT)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(launcher.pid, signal.SIGKILL)
    return launcher.returncode, out, err


def is_alive(process: int) -> bool:
    """Whether a process runs; a dead one that nobody has waited for does not."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


def gone(processes: list[int]) -> bool:
    """Waits until all of some processes have ended, and ends those that have not."""
    deadline = time.monotonic() + 20
    while any(map(is_alive, processes)) and time.monotonic() < deadline:
        time.sleep(0.05)
    left = [process for process in processes if is_alive(process)]
    for process in left:
        os.kill(process, signal.SIGKILL)
    return not left


def test_launcher_tells_output_apart(tmp_path: Path) -> None:
    program = """
import sys
from lawful.parallel import device_count, initialize, process_index
initialize()
print("device", device_count(), sys.argv[1:])
print("two\\nlines", file=sys.stderr)
sys.stdout.write("no end of line")
"""
    launcher = launched(tmp_path, program, "-n", 2, "--devices-per-process", 3, arguments=("a", "-n", "b"))
    status, out, err = ended(launcher)
    assert status == 0, err
    assert sorted(out.splitlines()) == sorted(
        f"[{i}] {line}" for i in range(2) for line in ("device 6 ['a', '-n', 'b']", "no end of line")
    )
    assert sorted(err.splitlines()) == ["[0] lines", "[0] two", "[1] lines", "[1] two"]


def test_launcher_runs_a_module_at_a_port(tmp_path: Path) -> None:
    port = free_port()
    (tmp_path / "work.py").write_text("import os, sys\nprint(os.environ['LAWFUL_COORDINATOR_ADDRESS'], sys.argv[1:])")
    command = [sys.executable, "-m", "lawful.parallel", "-n", "1", "--port", str(port), "-m", "work", "x"]
    result = subprocess.run(
        command, cwd=tmp_path, env=environment(), capture_output=True, text=True, timeout=LIMIT, check=False
    )
    assert result.stdout == f"[0] 127.0.0.1:{port} ['x']\n", result.stderr


@pytest.mark.parametrize(
    ("death", "status", "text"),
    [
        ("sys.exit(7)", 7, "process 1 ended with the exit status 7"),
        ("os.kill(os.getpid(), signal.SIGKILL)", 137, "process 1 was ended by SIGKILL"),
    ],
)
def test_launcher_ends_all_when_one_fails(tmp_path: Path, death: str, status: int, text: str) -> None:
    program = f"""
import os, signal, subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(1000)"])
print("pid", os.getpid())
print("pid", child.pid)
if os.environ["LAWFUL_PROCESS_ID"] == "1":
    {death}
time.sleep(1000)
"""
    found, out, err = ended(launched(tmp_path, program, "-n", 3))
    assert found == status
    assert f"lawful.parallel: {text}; the others are ended" in err
    processes = [int(line.split()[-1]) for line in out.splitlines()]
    assert len(processes) == 6
    assert gone(processes)


def test_launcher_reports_the_process_that_failed_first(tmp_path: Path) -> None:
    """The other one fails as well, because of the first, and has time to say so."""
    program = """
from lawful import parallel
parallel.initialize()
parallel.sync_global_devices("begin")
if parallel.process_index() == 1:
    raise ValueError("no data")
parallel.sync_global_devices("end")
"""
    status, _, err = ended(launched(tmp_path, program, "-n", 2))
    assert status == 1
    assert "lawful.parallel: process 1 ended with the exit status 1" in err
    assert "[1] ValueError: no data" in err
    assert "process 1 ended: ValueError: no data" in err


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_launcher_that_is_ended_leaves_nothing(tmp_path: Path, number: signal.Signals) -> None:
    if number == signal.SIGKILL and sys.platform != "linux":
        pytest.skip("only Linux tells processes that their parent has ended")
    program = "import os, time\nprint(os.getpid())\ntime.sleep(1000)"
    launcher = launched(tmp_path, program, "-n", 2)
    assert launcher.stdout is not None
    processes = [int(launcher.stdout.readline().split()[1]) for _ in range(2)]
    launcher.send_signal(number)
    status, _, err = ended(launcher)
    assert gone(processes)
    if number == signal.SIGKILL:
        assert status == -number
    else:
        assert status == 128 + number
        assert f"{number.name}: all processes are ended" in err


def test_launcher_refuses_wrong_numbers() -> None:
    for options in (["-n", "0"], ["-n", "1", "--devices-per-process", "0"], ["-n", "1", "--port", "70000"], []):
        command = [sys.executable, "-m", "lawful.parallel", *options, "none.py"]
        result = subprocess.run(command, env=environment(), capture_output=True, text=True, timeout=LIMIT, check=False)
        assert result.returncode == 2
        assert "usage: python -m lawful.parallel" in result.stderr
