"""Compiled programs in a folder: another process loads what one compiled, and anything else is compiled."""

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from lawful import ops
from lawful.core import (
    ArgumentTypeError,
    ArgumentValueError,
)
from lawful.staging import jit, pure_callback
from lawful.xla_backend import CompilationCacheWarning, XlaError, cache_info, set_cache_dir
from lawful.xla_backend._runtime import bindings, executables

X = np.arange(6.0).reshape(2, 3)


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    set_cache_dir(tmp_path / "programs")
    yield tmp_path / "programs"
    set_cache_dir(None)


def counts() -> tuple[int, int]:
    info = cache_info()
    return info.hits, info.misses


def square(x):
    return x * x


def compiled(function=square, *args, options=None, **kwargs):
    """A program of a new `jit`, which has nothing in memory."""

    def fresh(*args):
        return function(*args)

    lowered = jit(fresh, backend="xla", **kwargs).lower(*(args or (X,)))
    return lowered.program.compile(options)


# The key


def test_compilation_cache_same_program_is_loaded(folder) -> None:
    first, second = compiled(), compiled()
    assert counts() == (1, 1)
    assert np.array_equal(first(X)[0], second(X)[0])
    assert np.array_equal(second(X)[0], X * X)
    assert first.as_text() == second.as_text()
    assert first.cost_analysis() == second.cost_analysis()
    assert first.memory_analysis() == second.memory_analysis()


def test_compilation_cache_key_omits_source_lines(folder) -> None:
    source = "def fresh(x):\n    return x * x\n"
    for lines in ("", "\n\n\n", "import os\n"):
        space: dict = {}
        exec(compile(lines + source, f"file{len(lines)}.py", "exec"), space)
        jit(space["fresh"], backend="xla")(X)
    assert counts() == (2, 1)


@pytest.mark.parametrize(
    "other",
    [
        lambda: compiled(lambda x: x + x),
        lambda: compiled(square, X.astype("float32")),
        lambda: compiled(square, X[:1]),
        lambda: compiled(square, X, options={"xla_backend_optimization_level": 0}),
        lambda: compiled(square, X, options={"xla_cpu_enable_fast_math": True}),
        lambda: compiled(square, X, donate_argnums=0),
        lambda: compiled(lambda x: x * x * 1.0),
    ],
    ids=["function", "dtype", "shape", "an option", "another option", "donation", "constant"],
)
def test_compilation_cache_another_program_is_compiled(folder, other) -> None:
    compiled()
    other()
    assert counts() == (0, 2)


def test_compilation_cache_key_includes_options(folder) -> None:
    for _ in range(2):
        for level in (0, 1):
            compiled(options={"xla_backend_optimization_level": level})
    assert counts() == (2, 2)


def test_compilation_cache_constants_arguments_may_differ(folder) -> None:
    for value in (1.0, 2.0):
        large = np.full((64, 64), value)
        found = compiled(lambda x, large=large: ops.dot(x, large), np.ones((2, 64)))(np.ones((2, 64)))
        assert np.array_equal(found[0], np.full((2, 64), 64 * value))
    assert counts() == (1, 1)


def test_compilation_cache_small_constants_are_part_of_program(folder) -> None:
    for value in (0.0, -0.0):
        found = compiled(lambda x, value=value: x * value, np.ones(3))(np.ones(3))
        assert np.signbit(found[0]).tolist() == [np.signbit(value)] * 3
    assert counts() == (0, 2)


def test_compilation_cache_loaded_program_donates_arguments(folder) -> None:
    from lawful.xla_backend import device_put

    for _ in range(2):
        x = device_put(X)
        assert np.array_equal(compiled(square, X, donate_argnums=0)(x)[0], X * X)
        assert x.is_deleted()
    assert counts() == (1, 1)


@pytest.mark.parametrize("changed", ["machine_fingerprint", "options_fingerprint", "bytecode"])
def test_compilation_cache_each_part_of_the_key_counts(folder, changed, monkeypatch) -> None:
    compiled()
    module = bindings if changed == "bytecode" else executables
    original = getattr(module, changed)
    monkeypatch.setattr(module, changed, lambda *args: original(*args) + b"!")
    compiled()
    assert counts() == (0, 2)


def test_compilation_cache_key_separates_its_parts(folder, monkeypatch) -> None:
    monkeypatch.setattr(executables, "options_fingerprint", lambda *_: b"ab")
    monkeypatch.setattr(executables, "machine_fingerprint", lambda *_: b"c")
    compiled()
    monkeypatch.setattr(executables, "options_fingerprint", lambda *_: b"a")
    monkeypatch.setattr(executables, "machine_fingerprint", lambda *_: b"bc")
    compiled()
    assert counts() == (0, 2)


def test_compilation_cache_version_of_jaxlib_is_part_of_the_key(folder, monkeypatch) -> None:
    compiled()
    monkeypatch.setattr(executables, "jaxlib_version", "0.0.0")
    compiled()
    assert counts() == (0, 2)


def test_compilation_cache_program_calls_python_is_not_stored(folder) -> None:
    calls = []

    def called(x):
        calls.append(1)
        return x + 1.0

    for _ in range(2):
        found = compiled(lambda x: pure_callback(called, x, x), X)(X)
        assert np.array_equal(found[0], X + 1.0)
    assert len(calls) == 2
    assert counts() == (0, 0)
    assert not folder.exists()


def test_compilation_cache_threads_compile_at_once(folder) -> None:
    start = threading.Barrier(4)
    found = []

    def work() -> None:
        start.wait()
        found.extend(np.array_equal(compiled(lambda x, i=i: x + float(i))(X)[0], X + i) for i in range(3))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [True] * 12
    assert sum(counts()) == 12
    assert len(list(folder.iterdir())) == 3


# Failures


def test_compilation_cache_damaged_file_is_compiled_again(folder) -> None:
    compiled()
    [file] = folder.iterdir()
    whole = file.read_bytes()
    for damaged in (whole[:100], whole[:-1], bytes([*whole[:-50], whole[-50] ^ 4, *whole[-49:]]), b""):
        set_cache_dir(folder)
        file.write_bytes(damaged)
        with pytest.warns(CompilationCacheWarning, match=file.name):
            program = compiled()
        assert np.array_equal(program(X)[0], X * X)
        assert counts() == (0, 1)
        compiled()
        assert counts() == (1, 1)


def test_compilation_cache_bytes_do_not_load_are_compiled_again(folder, monkeypatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(executables.Executable, "serialize", lambda self: b"no program")
        compiled()
    with pytest.warns(CompilationCacheWarning, match="cannot be loaded"):
        assert np.array_equal(compiled()(X)[0], X * X)
    compiled()
    assert counts() == (1, 2)


def test_compilation_cache_program_that_cannot_be_stored_runs(folder, monkeypatch) -> None:
    def refuse(self):
        raise XlaError("serialize: expected another platform")

    monkeypatch.setattr(executables.Executable, "serialize", refuse)
    with pytest.warns(CompilationCacheWarning, match="another platform"):
        assert np.array_equal(compiled()(X)[0], X * X)


def test_compilation_cache_folder_cannot_be_made_is_told_once(tmp_path) -> None:
    (tmp_path / "file").write_text("")
    set_cache_dir(tmp_path / "file" / "programs")
    try:
        with pytest.warns(CompilationCacheWarning, match="programs are compiled and not stored") as told:
            found = [compiled(), compiled(lambda x: x * x + 0.0)]
        assert [np.array_equal(program(X)[0], X * X) for program in found] == [True, True]
        assert len(told) == 1
        assert counts() == (0, 2)
    finally:
        set_cache_dir(None)


def test_compilation_cache_program_refused_by_xla_is_an_error(folder) -> None:
    for _ in range(2):
        with pytest.raises(XlaError, match="no_such_option"):
            compiled(options={"no_such_option": True})
    assert not folder.exists()


# The settings


def test_compilation_cache_settings_are_checked() -> None:
    with pytest.raises(ArgumentTypeError, match="set_cache_dir: expected a path or None, got 3; give"):
        set_cache_dir(3)  # type: ignore[arg-type]
    for size in (0, -1, 1.5, True):
        with pytest.raises(ArgumentValueError, match="max_size"):
            set_cache_dir(None, max_size=size)  # type: ignore[arg-type]


def test_compilation_cache_largest_size_holds(folder) -> None:
    set_cache_dir(folder, max_size=5000)
    for number in range(4):
        compiled(lambda x, number=number: x + float(number))
    assert sum(file.stat().st_size for file in folder.iterdir()) <= 5000
    assert 1 <= len(list(folder.iterdir())) < 4


def test_set_cache_dir_before_chdir(tmp_path, monkeypatch) -> None:
    """A relative folder stays where it was when the process changes its directory."""
    monkeypatch.chdir(tmp_path)
    set_cache_dir("here")
    monkeypatch.chdir("/")
    try:
        assert cache_info().dir == str(tmp_path / "here")
    finally:
        set_cache_dir(None)


def test_compilation_cache_wrong_size_in_environment_error(run_python, tmp_path) -> None:
    script = "import lawful.xla_backend as x; x.cache_info()"
    wrong = {"LAWFUL_COMPILATION_CACHE_DIR": str(tmp_path), "LAWFUL_COMPILATION_CACHE_MAX_SIZE": "1 GB"}
    assert (
        "LAWFUL_COMPILATION_CACHE_MAX_SIZE: expected a number of bytes, got '1 GB'"
        in run_python(script, **wrong).stderr
    )
    right = {**wrong, "LAWFUL_COMPILATION_CACHE_MAX_SIZE": "1000"}
    assert run_python(script + "; print(x.cache_info().max_size)", **right).stdout == "1000\n"


# Several processes

PROGRAMS = """
import warnings
warnings.simplefilter("error")
import numpy as np
from lawful import ops
from lawful.staging import jit
from lawful.xla_backend import cache_info

x = np.random.default_rng(0).normal(size=(5, 5)) + 5 * np.eye(5)

def polynomial(x):
    return ops.sin(x) * x + 2.0 * x

functions = {
    "polynomial": polynomial,
    "cholesky": lambda x: ops.cholesky(ops.dot(x, ops.transpose(x, (1, 0)))),
    "lu": ops.lu,
    "qr": ops.qr,
    "eigh": lambda x: ops.eigh(x + ops.transpose(x, (1, 0))),
    "svd": ops.svd,
    "eig": ops.eig,
    "solve": lambda x: ops.triangular_solve(x, x, left_side=True, lower=True),
    "complex": lambda x: ops.svd(x + 1j * ops.transpose(x, (1, 0))),
}
for name, function in functions.items():
    results = jit(function, backend="xla")(x)
    for y in results if isinstance(results, (tuple, list)) else [results]:
        print(name, y.dtype, np.asarray(y).tobytes().hex())
"""
COUNT = "print(cache_info().hits, cache_info().misses)"


def test_compilation_cache_loads_lapack_calls_in_another_process(run_python, tmp_path) -> None:
    outputs = []
    for seed in ("1", "2"):
        done = run_python(PROGRAMS + COUNT, LAWFUL_COMPILATION_CACHE_DIR=str(tmp_path), PYTHONHASHSEED=seed)
        assert (done.returncode, done.stderr) == (0, "")
        outputs.append(done.stdout.splitlines())
    compiled, loaded = outputs
    assert compiled.pop() == "0 9"
    assert loaded.pop() == "9 0"
    assert loaded == compiled
    assert len(compiled) == 19


def test_compilation_cache_loaded_program_initializes_lapack(run_python, tmp_path) -> None:
    script = """
import numpy as np
from lawful.core import ShapedArray
from lawful.xla_backend import device_put, devices
from lawful.xla_backend._runtime import bindings, compilation
x, aval = device_put(4.0 * np.eye(3)), ShapedArray((3, 3), "float64")
"""
    write = """
from lawful import ops
from lawful.staging import jit
open(PATH, "wb").write(
    jit(ops.cholesky, backend="xla").lower(x).compile().program._executable.serialize()
)
"""
    read = """
loaded = compilation.deserialize(open(PATH, "rb").read(), devices()[0], [aval])
print(bindings.view(loaded.run([x._buffer])[0]).diagonal().tolist())
"""
    path = f"PATH = {str(tmp_path / 'program')!r}\n"
    assert run_python(path + script + write).returncode == 0
    assert run_python(path + script + read).stdout == "[2.0, 2.0, 2.0]\n"


def test_compilation_cache_processes_write_at_once(tmp_path) -> None:
    environment = {**os.environ, "LAWFUL_COMPILATION_CACHE_DIR": str(tmp_path)}
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", PROGRAMS + COUNT], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        for _ in range(3)
    ]
    told = [process.communicate(timeout=300) for process in processes]
    assert [process.returncode for process in processes] == [0, 0, 0]
    assert {err for _, err in told} == {b""}
    assert len({out.rpartition(b"\n")[0].rpartition(b"\n")[0] for out, _ in told}) == 1
    assert len(list(tmp_path.iterdir())) == 9


def test_set_cache_dir_with_a_nul() -> None:
    for path in ("a\0b", Path("a\0b")):
        with pytest.raises(ArgumentValueError, match="a path without NUL"):
            set_cache_dir(path)
