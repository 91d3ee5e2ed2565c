"""The progress of a run and its summary, printed to a given console."""

from __future__ import annotations

import time
from typing import Final

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from lawful.cli._suite._results import Counterexample, Results
from lawful.cli._usage import counted
from lawful.laws import Failure, laws

#: Without a terminal: when the first line is printed, and the interval between lines, in seconds.
_FIRST_LINE: Final = 2.0
_BETWEEN_LINES: Final = 10.0
#: How many failures the live display shows.
_SHOWN: Final = 6


class Display:
    """Shows the progress of a run: a live display on a terminal, occasional lines elsewhere.

    Args:
      console: where to.
    """

    def __init__(self, console: Console) -> None:
        self.console = console
        self.live = Live(console=console, auto_refresh=False, transient=True) if console.is_terminal else None
        self.next_line = 0.0

    def __enter__(self) -> Display:
        if self.live is not None:
            self.live.start()
        return self

    def __exit__(self, *error: object) -> None:
        if self.live is not None:
            self.live.stop()

    def __call__(self, results: Results) -> None:
        """Shows the state of a run."""
        if self.live is not None:
            self.live.update(progress(results), refresh=True)
        elif time.monotonic() >= self.next_line:
            first = not self.next_line
            self.next_line = time.monotonic() + (_FIRST_LINE if first else _BETWEEN_LINES)
            self.console.print(title(results) if first else line(results), highlight=False, soft_wrap=True)


def title(results: Results) -> str:
    """Returns the title: which laws are run on which system."""
    setup = results.setup
    return f"lawful laws · {setup.system} · {results.profile} · seed {results.seed} · {counted(results.jobs, 'job')}"


def line(results: Results) -> str:
    """Returns the progress as one line."""
    states = _states(results)
    return (
        f"{results.seconds:.0f} s: {results.programs} programs ({results.rate():.1f}/s), {results.calls} calls, "
        f"{_laws_passed(results)}, {counted(len(results.counterexamples), 'failure')}"
        f"{', ' + str(states['shrinking']) + ' shrinking' if states['shrinking'] else ''}"
    )


def progress(results: Results) -> RenderableType:
    """Returns the live display."""
    done = results.programs + results.calls + results.nothing
    total = results.cases if results.cases is not None else results.budget or 1.0
    now = done if results.cases is not None else results.seconds
    bar = Table.grid(padding=(0, 1))
    of = f"{done} of {total} cases" if results.cases is not None else f"{_clock(now)} of {_clock(total)}"
    bar.add_row(ProgressBar(total=total, completed=min(now, total), width=46), of)
    states = _states(results)
    numbers = Table.grid(padding=(0, 2))
    numbers.add_column(style="dim")
    numbers.add_row("programs", f"{results.programs:,}", f"{results.rate():.1f} a second")
    numbers.add_row("calls", f"{results.calls:,}", f"{results.calls / max(results.seconds, 0.1):.1f} a second")
    numbers.add_row("laws", _laws_passed(results), f"{results.checks('passed'):,} checks")
    failures = Text(f"{len(results.counterexamples)}", style="bold red" if results.counterexamples else "green")
    doing = [f"{states[state]} {state}" for state in ("shrinking", "waiting", "small") if states[state]]
    numbers.add_row("failures", failures, ", ".join(doing))
    rows: list[RenderableType] = [Text(title(results), style="bold"), bar, numbers]
    for found in list(results.distinct())[:_SHOWN]:
        rows.append(Text(f"✗ {_headline(found)}", style="red", no_wrap=True, overflow="ellipsis"))
    return Group(*rows)


def summary(results: Results, console: Console) -> None:
    """Prints the findings of a run."""
    console.print(_table_of_laws(results))
    told: set[str] = set()
    for found in results.distinct():
        if found.failure.law in told:
            console.print(Text(f"  and {_headline(found)}", style="red"))
            continue
        told.add(found.failure.law)
        console.print()
        console.print(Text(f"✗ {_headline(found)}", style="bold red"))
        for text in (found.failure.explanation, found.failure.program):
            console.print(Text(_indented(text)), soft_wrap=True)
    _say_of_the_database(results, console)
    for problem in results.problems:
        console.print(Text(f"the run itself went wrong: {problem}", style="yellow"), soft_wrap=True)
    console.print()
    console.print(Text(verdict(results), style="bold red" if results.counterexamples else "bold green"))


def verdict(results: Results) -> str:
    """Returns the verdict as one line: which laws hold, on how many cases."""
    drawn = f"{counted(results.programs, 'program')} and {counted(results.calls, 'call')}"
    of = f"{drawn} in {results.seconds:.1f} s, seed {results.seed}"
    cut = "interrupted: " if results.interrupted else ""
    failed = results.failed_laws()
    if failed:
        laws_fail = (
            f"{counted(len(failed), 'law')} of {len(results.setup.laws)} {'fails' if len(failed) == 1 else 'fail'}"
        )
        return f"{cut}{laws_fail}, of {of}"
    if not results.programs + results.calls:
        return f"{cut}nothing was drawn"
    held, all_of_them = len(results.held_laws()), len(results.setup.laws)
    if held < all_of_them:
        return f"{cut}{counted(held, 'law')} held and {all_of_them - held} had nothing to say, of {of}"
    return f"{cut}{f'all {held} laws hold' if held > 1 else 'the law holds'} of {of}"


def _table_of_laws(results: Results) -> Table:
    table = Table("law", "group", box=None, title=title(results), title_justify="left", title_style="bold")
    for name in ("passed", "failed", "inapplicable"):
        table.add_column(name, justify="right")
    failed = results.failed_laws()
    for name in results.setup.laws:
        count = results.laws.get(name)
        numbers = (0, 0, 0) if count is None else (count.passed, count.failed, count.inapplicable)
        style = "red" if name in failed else "dim" if count is None or not count.passed else ""
        table.add_row(name, laws[name].group, *[f"{number:,}" if number else "" for number in numbers], style=style)
    return table


def _say_of_the_database(results: Results, console: Console) -> None:
    said = [
        (f"✓ {_of(failure)}: failed in an earlier run and holds now; forgotten", "green") for failure in results.fixed
    ]
    said += [
        (f"? {_of(failure)}: failed in an earlier run and could not be tried: {reason}", "yellow")
        for failure, reason in results.untried
    ]
    said += [(f"? not a saved failure: {reason}", "yellow") for reason in results.unreadable]
    for text, style in said:
        console.print(Text(text, style=style), soft_wrap=True)


def _headline(found: Counterexample) -> str:
    failure = found.failure
    details = [counted(failure.equations, "equation")] if failure.equations else []
    if found.times > 1:
        details.append(f"{found.times} times")
    details.append("known from an earlier run" if found.known else found.state)
    return f"{_of(failure)} ({', '.join(details)})"


def _of(failure: Failure) -> str:
    return f"{failure.law} of {failure.source}"


def _states(results: Results) -> dict[str, int]:
    states = dict.fromkeys(("waiting", "shrinking", "small", "as found"), 0)
    for found in results.counterexamples.values():
        states[found.state] += 1
    return states


def _laws_passed(results: Results) -> str:
    return f"{len(results.held_laws())} of {len(results.setup.laws)} laws passed"


def _clock(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes}:{rest:02d}"


def _indented(text: str) -> str:
    return "\n".join(f"    {part}" if part else "" for part in text.splitlines())
