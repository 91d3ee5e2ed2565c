"""The pytest plugin of lawful-laws: ``pytest --laws=thorough``, fixtures, and a table of all laws at the end of a run.

    def test_my_primitive(check_laws):
        check_laws(my_primitive_p, np.array([0.5, 2.0]))

- ``--laws=quick|usual|thorough`` sets how many variants of a law are tried wherever no effort is given, and how many
  examples Hypothesis generates: 25, 100 or 5,000. A profile that is chosen with ``--hypothesis-profile`` stays.
- The fixture ``laws_effort`` is that effort; the fixture ``check_laws`` calls ``lawful.laws.check``, or
  ``check_primitive`` for a primitive, and fails with the whole report.
- The table counts what every law said, wherever it was called in the run, also in the workers of pytest-xdist.

pytest loads this module in every run of an environment that lawful-laws is installed in. So it is a portion of the
namespace of its own, and imports nothing of lawful, NumPy or Hypothesis before a law is asked for.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pytest

Counts = dict[str, dict[str, int]]

_EXAMPLES = {"quick": 25, "usual": 100, "thorough": 5000}
_KEY = "lawful_laws"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds ``--laws``."""
    parser.getgroup("lawful").addoption(
        "--laws", choices=tuple(_EXAMPLES), default=None, help="how hard the laws of lawful.laws are tried"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Sets the effort that was chosen, and adds the fixtures and the table."""
    config.pluginmanager.register(_fixtures(), "lawful-laws-fixtures")
    config.pluginmanager.register(_Summary(config), "lawful-laws-summary")
    chosen = config.getoption("--laws")
    if chosen is not None:
        _set_effort(config, chosen)


def pytest_unconfigure(config: pytest.Config) -> None:
    """Undoes the effort, for the next run in this process."""
    if config.getoption("--laws") is not None:
        from lawful.laws import set_default_effort

        set_default_effort(None)


def _set_effort(config: pytest.Config, name: str) -> None:
    import hypothesis

    from lawful.laws import efforts, set_default_effort

    set_default_effort(efforts[name])
    if not config.getoption("--hypothesis-profile", None):
        profile = f"laws-{name}"
        hypothesis.settings.register_profile(profile, hypothesis.settings(), max_examples=_EXAMPLES[name])
        hypothesis.settings.load_profile(profile)


def _fixtures() -> Any:
    """Returns a plugin with the fixtures; pytest is imported only when it runs."""
    import pytest

    class Fixtures:
        @pytest.fixture(scope="session")
        def laws_effort(self, request: pytest.FixtureRequest) -> Any:
            """How many variants of a law are tried: that of ``--laws``, else the usual."""
            from lawful.laws import efforts

            return efforts[request.config.getoption("--laws") or "usual"]

        @pytest.fixture
        def check_laws(self, laws_effort: Any) -> Callable[..., Any]:
            """A function that checks a function or primitive by every law, and fails with the report."""
            from lawful.core import Primitive
            from lawful.laws import check, check_primitive

            def check_laws(subject: Any, *args: Any, **options: Any) -> Any:
                __tracebackhide__ = True
                checker: Callable[..., Any] = check_primitive if isinstance(subject, Primitive) else check
                return checker(subject, *args, **{"effort": laws_effort, "raise_on_failure": True, **options})

            return check_laws

    return Fixtures()


class _Summary:
    """The verdicts of all laws in the run, of this process and of workers."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.of_workers: list[Counts] = []
        if config.pluginmanager.hasplugin("xdist"):
            # A hook of pytest-xdist, unknown to pytest without it.
            self.pytest_testnodedown = self._collect

    def pytest_sessionfinish(self) -> None:
        output = getattr(self.config, "workeroutput", None)
        if output is not None:
            output[_KEY] = _counts_here()

    def _collect(self, node: Any) -> None:
        self.of_workers.append(getattr(node, "workeroutput", {}).get(_KEY, {}))

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        total = _sum([_counts_here(), *self.of_workers])
        if total:
            terminalreporter.write_sep("=", "laws")
            for line in table(total):
                terminalreporter.write_line(line)


def _counts_here() -> Counts:
    """Returns the counts of this process, without importing unused modules."""
    module = sys.modules.get("lawful.laws._law.tally")
    counts: Counts = {} if module is None else module.tally.as_dict()
    return counts


def _sum(parts: list[Counts]) -> Counts:
    total: Counts = {}
    for part in parts:
        for law, count in part.items():
            before = total.setdefault(law, dict.fromkeys(count, 0))
            for verdict, number in count.items():
                before[verdict] += number
    return total


def table(counts: Counts) -> list[str]:
    """Returns the lines of the table: a law with what it said, how often.

    >>> for line in table({"typing": {"passed": 3, "failed": 0, "inapplicable": 1}}):
    ...     print(line)
    law     passed  failed  not applicable  cases
    typing       3       0               1      4
    """
    wide = max(len("law"), *map(len, counts))
    lines = [f"{'law':<{wide}}  passed  failed  not applicable  cases"]
    for law, count in counts.items():
        passed, failed, inapplicable = (count[verdict] for verdict in ("passed", "failed", "inapplicable"))
        total = passed + failed + inapplicable
        lines.append(f"{law:<{wide}}  {passed:>6}  {failed:>6}  {inapplicable:>14}  {total:>5}")
    return lines
