"""Settings of every test run: Hypothesis profiles, and Markdown pages whose Python is executed.

A package's tests also run alone, from its installed wheel (`tools/isolation.py` takes this file along), so
nothing here imports `lawful`, and no test may import this file.
"""

import contextlib
import doctest
import gc
import importlib.util
import os
import re
import subprocess
import sys
import sysconfig
import tempfile
import traceback
import zlib
from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import hypothesis
import pytest

# The tests of several processes share the cores: threads of linear algebra would wait for each other, 100 times as long
# as they compute. Read when NumPy is imported, so that it is set before that.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# JAX is a reference here, and most programs run once. Without optimizations they compile faster: 322 tests of loops and
# special functions take 142 s of processor time, not 173 s.
os.environ.setdefault("JAX_DISABLE_MOST_OPTIMIZATIONS", "true")

# To explain a failure Hypothesis observes lines, which never ends on Python 3.12: `free_tool_id` leaves the events on.
# After a test in which a law must fail, generated functions of 300 lines took 100 times as long.
_PHASES = [phase for phase in hypothesis.Phase if phase is not hypothesis.Phase.explain]

# A deadline would make a test depend on the load of the machine, and tracing or compiling is slow once.
for name, options in {
    "few": {"max_examples": 4, "derandomize": True},
    "dev": {"max_examples": 20},
    "ci": {"max_examples": 20, "derandomize": True, "print_blob": True},
    "thorough": {"max_examples": 5000},
}.items():
    hypothesis.settings.register_profile(name, deadline=None, phases=_PHASES, **options)  # type: ignore[arg-type]
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "dev"))


# The docstrings of an adapter can only run where what it adapts is installed.
collect_ignore = [
    f"packages/laws/src/lawful/laws/systems/{name}"
    for name in ("autograd", "jax", "torch")
    if importlib.util.find_spec(name) is None
]


#: The number of devices that the CPU is in the tests of folders that are called ``devices``, and of some other files.
_DEVICES = "8"
#: Flags of XLA for those of other packages than `xla-backend`: as in `tests/conftest.py`, LLVM optimizes less.
_CHEAP = "--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true"


class FileOnDevices(pytest.File):
    """A file of tests that a process with several devices runs: everywhere else the CPU is one.

    ``LAWFUL_CPU_DEVICES=8 uv run pytest packages/xla-backend/tests/devices`` runs such tests singly, in one process.
    """

    def collect(self) -> Iterator[pytest.Item]:
        yield ProcessOnDevices.from_parent(self, name=f"with_{_DEVICES}_devices")


class ProcessOnDevices(pytest.Item):
    """The tests of one file, in a process of their own."""

    def runtest(self) -> None:
        environment = {**os.environ, "LAWFUL_CPU_DEVICES": _DEVICES}
        if "xla-backend" not in self.path.parts:
            environment["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} {_CHEAP}"
        done = subprocess.run(
            [
                *(sys.executable, "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider", "-p", "no:xdist"),
                *(f"--one-of={self.config.getoption('one_of')}", str(self.path)),
            ],
            env=environment,
            cwd=self.config.rootpath,
            capture_output=True,
            text=True,
            timeout=900,
            check=False,
        )
        if done.returncode == pytest.ExitCode.NO_TESTS_COLLECTED and "skipped in" in done.stdout:
            pytest.skip(f"the whole file is skipped: {done.stdout}")
        if done.returncode:
            pytest.fail(f"{done.stdout}\n{done.stderr}", pytrace=False)

    def reportinfo(self) -> tuple[Path, None, str]:
        return self.path, None, f"{self.path.name} with {_DEVICES} devices"


def pytest_pycollect_makemodule(module_path: Path, parent: Any) -> pytest.Collector | None:
    """Collects files of a folder ``devices``, or named ``…_on_devices``, to be run with several devices."""
    on_devices = module_path.parent.name == "devices" or module_path.stem.endswith("_on_devices")
    if not on_devices or os.environ.get("LAWFUL_CPU_DEVICES") == _DEVICES:
        return None
    collector: pytest.Collector = FileOnDevices.from_parent(parent, path=module_path)
    return collector


def few_cases(items: list[pytest.Item], one_of: int) -> tuple[list[pytest.Item], list[pytest.Item]]:
    """The first case of each test with those whose names have a checksum that the number divides, and the others."""
    chosen: list[pytest.Item] = []
    others: list[pytest.Item] = []
    tests: set[str] = set()
    for item in items:
        test = item.nodeid.partition("[")[0]
        first = test not in tests
        (chosen if first or zlib.crc32(item.nodeid.encode()) % one_of == 0 else others).append(item)
        tests.add(test)
    return chosen, others


#: https://docs.python.org/3.13/howto/free-threading-python.html#immortalization
_KEEPS_FUNCTIONS = sys.version_info[:2] == (3, 13) and bool(sysconfig.get_config_var("Py_GIL_DISABLED"))


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds ``--one-of N``: for tests that are run again in other surroundings."""
    parser.addoption(
        "--one-of",
        type=int,
        default=1,
        metavar="N",
        help="run every test, but only about one of N cases of each that is parametrized (default: all)",
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leaves out what ``--one-of`` says; skips tests of what this Python or these surroundings do not have."""
    if config.getoption("one_of") > 1:
        chosen, others = few_cases(items, config.getoption("one_of"))
        config.hook.pytest_deselected(items=others)
        items[:] = chosen
    if _KEEPS_FUNCTIONS:
        for item in items:
            if item.get_closest_marker("frees"):
                item.add_marker(pytest.mark.skip(reason="it keeps functions and classes once a thread was started"))
    if os.environ.get("LAWFUL_FAST", "").lower() in ("0", "false", "off", "no"):
        for item in items:
            if item.get_closest_marker("fast"):
                item.add_marker(pytest.mark.skip(reason="it tests an accelerator, and LAWFUL_FAST=0"))


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collects tests without searches for garbage: imported modules and collected tests stay alive."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.collect()
        gc.freeze()


def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """So is what the tests of a file leave: the next ones find it out of the collector's sight."""
    if nextitem is None or nextitem.path != item.path:
        gc.collect()
        gc.freeze()


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    return MarkdownPage.from_parent(parent, path=file_path) if file_path.suffix == ".md" else None


@dataclass(frozen=True, slots=True)
class Block:
    """The text of a fenced code block, and the line of the page on which it starts, counted from 1."""

    text: str
    line: int


FENCE = re.compile(r"^(?P<indent> *)(?P<mark>`{3,}|~{3,}) *(?P<info>[^`\n]*)$")


def python_blocks(page: str) -> Iterator[Block]:
    """The blocks fenced as ```` ```python ````, without those marked ```` ```python no-run ````."""
    opening: re.Match[str] | None = None
    body: list[str] = []
    for number, line in enumerate(page.splitlines(), start=1):
        fence = FENCE.match(line)
        if opening is None:
            opening, body = fence, []
        elif fence and not fence["info"] and fence["mark"].startswith(opening["mark"]):
            if opening["info"].split() == ["python"]:
                yield Block("\n".join(body) + "\n", number - len(body))
            opening = None
        else:
            body.append(line.removeprefix(opening["indent"]))


class MarkdownPage(pytest.File):
    """A page of documentation: one test which runs its Python blocks in order, in one namespace."""

    def collect(self) -> Iterable[pytest.Item]:
        blocks = list(python_blocks(self.path.read_text(encoding="utf-8")))
        return [MarkdownTest.from_parent(self, name="python", blocks=blocks)] if blocks else []


class MarkdownTest(pytest.Item):
    def __init__(self, *, blocks: list[Block], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.blocks = blocks

    def runtest(self) -> None:
        namespace: dict[str, Any] = {"__name__": "__main__"}
        # A page may write files.
        with tempfile.TemporaryDirectory() as directory, contextlib.chdir(directory):
            for block in self.blocks:
                # A definition may have prompts in its docstring.
                run = self.run_session if re.match(r"(\s*#.*\n)*\s*>>> ", block.text) else self.run_code
                run(block, namespace)

    def run_code(self, block: Block, namespace: dict[str, Any]) -> None:
        # The leading newlines make line numbers of tracebacks those of the page.
        exec(compile("\n" * (block.line - 1) + block.text, str(self.path), "exec"), namespace)

    def run_session(self, block: Block, namespace: dict[str, Any]) -> None:
        flags = 0
        for flag in self.config.getini("doctest_optionflags"):
            flags |= doctest.OPTIONFLAGS_BY_NAME[flag]
        test = doctest.DocTestParser().get_doctest(block.text, {}, self.path.name, str(self.path), block.line - 1)
        test.globs = namespace
        report: list[str] = []
        doctest.DocTestRunner(optionflags=flags, verbose=False).run(test, out=report.append, clear_globs=False)
        if report:
            raise MarkdownError("".join(report))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> str:
        if isinstance(excinfo.value, MarkdownError):
            return str(excinfo.value)
        frames = traceback.extract_tb(excinfo.value.__traceback__)
        first = next((i for i, frame in enumerate(frames) if frame.filename == str(self.path)), 0)
        lines = traceback.format_list(frames[first:]) + traceback.format_exception_only(excinfo.value)
        return "".join(lines)

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, self.blocks[0].line - 1, f"{self.path.name}: python blocks"


class MarkdownError(Exception):
    """An example of a page did not print what the page says; the text is doctest's report."""
