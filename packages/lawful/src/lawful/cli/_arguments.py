"""The command line: its subcommands with their options. Nothing here imports what a subcommand needs."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from lawful.cli._usage import EXIT_STATUS

# Names only: each command imports what its options name.
PROFILES: Final = ("quick", "ci", "thorough")

#: Every stage of `lawful show` with its explanation, in the order of the help text.
STAGES: Final = {
    "jvp": "forward mode: of the arguments and their tangents",
    "linearize": "the derivative there: of the arguments and their tangents, to the tangents of the results",
    "vjp": "reverse mode: of the arguments and the cotangents of the results",
    "grad": "the gradient of the sum of the results, by --argnums",
    "vmap": "mapped over a new first axis of every argument, of --axis-size",
    "jit": "as one call of a compiled function",
    "inline": "calls replaced by their programs",
    "cse": "common subexpressions computed once",
    "dce": "what no result needs left out",
    "numpy": "the Python function that the NumPy backend runs; it does not change the program",
    "stablehlo": "what XLA is given; it does not change the program",
}


def parse(argv: Sequence[str] | None) -> argparse.Namespace:
    """Returns the parsed arguments; ends the process with status 2 and a message if they are wrong."""
    return parser().parse_args(argv)


def parser() -> argparse.ArgumentParser:
    """Returns the parser of the command and its subcommands."""
    from importlib.metadata import version

    # Options that may also come after the subcommand.
    parser = argparse.ArgumentParser(
        prog="lawful",
        description="Run the laws, show programs and rules, examine the installation. Alone: the installed layers.",
        epilog=EXIT_STATUS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"lawful {version('lawful')}")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    commands = parser.add_subparsers(dest="command", metavar="command")
    _add_laws(commands)
    _add_show(commands)
    _add_rules(commands)
    _subcommand(
        commands, "doctor", "say what is installed, what works, and what a bug report should contain",
        "Prints the versions, the backends with their devices, the environment and the compilation cache, and runs a\n"
        "self-test of a few seconds.",
    )  # fmt: skip
    return parser


def _subcommand(
    commands: argparse._SubParsersAction[argparse.ArgumentParser], name: str, title: str, description: str
) -> argparse.ArgumentParser:
    parser = commands.add_parser(
        name, help=title, description=description, epilog=EXIT_STATUS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument(
        "--json", action="store_true", default=argparse.SUPPRESS,
        help="print one JSON document to standard output, and everything else to standard error",
    )  # fmt: skip
    return parser


def _add_laws(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = _subcommand(
        commands, "laws", "hold a system to the laws",
        "Draws programs and calls of primitives, holds a system to the laws on each, makes failures small,\n"
        "and writes an HTML report. Failures are saved, and tried first in the next run.",
    )  # fmt: skip
    add = parser.add_argument
    much = parser.add_mutually_exclusive_group()
    much.add_argument("--budget", type=seconds, metavar="TIME", help="how long to look: 90, 90s, 10m, 1h30m")
    much.add_argument("--cases", type=positive, metavar="N", help="how many cases to draw, instead of a time")
    add("--profile", choices=PROFILES, default="quick",
        help="quick: every law on each case, one variant of it, for a minute; ci: several variants, the same 3000 "
             "cases each time; thorough: a sample of laws, variants and backends on each of many cases, for an hour, "
             "with a new seed each time (default: quick)")  # fmt: skip
    add("--jobs", type=positive, metavar="N", help="worker processes (default: the processors)")
    add("--seed", type=int, metavar="N", help="draw the cases of this seed (default: a new one; of ci: 0)")
    add("--primitive", action="append", default=[], metavar="NAME",
        help="only calls of this primitive, and programs in whose jaxpr it occurs; may be repeated")  # fmt: skip
    add("--law", action="append", default=[], metavar="NAME",
        help="only this law, or the laws of this group; may be repeated")  # fmt: skip
    add("--system", default="lawful", metavar="NAME", help="lawful, or another system, such as jax (default: lawful)")
    add("--against", metavar="NAME", help="compare with this system on programs that both can run; with no other law "
        "than that, unless --law names some")  # fmt: skip
    add("--backend", action="append", default=[], metavar="NAME",
        help="what jit of lawful compiles with; may be repeated, then all are compared (default: numpy)")  # fmt: skip
    add("--import", action="append", default=[], dest="modules", metavar="MODULE",
        help="import a module or .py file first: the primitives that it declares are held to the laws too")  # fmt: skip
    add("--database", default=".lawful/failures", metavar="FOLDER", help="saved failures (default: %(default)s)")
    add("--report", default=".lawful/laws.html", metavar="FILE", help="the HTML report (default: %(default)s)")
    add("--no-report", action="store_const", const=None, dest="report", help="write no report")
    add("--no-database", action="store_const", const=None, dest="database", help="save no failures")


def _add_show(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = _subcommand(
        commands, "show", "print the jaxpr at every stage of a stack of transformations",
        "Prints the jaxpr of a function, then after each stage. The stages are applied in the order in which\n"
        "they are written, each to the one before: --jvp --vmap is vmap(jvp(f)). A stage may be repeated.",
    )  # fmt: skip
    parser.add_argument("function", metavar="module:function", help="or path/to/file.py:function")
    parser.add_argument("--args", default="", metavar="TYPES",
                        help="types of the arguments: f64[3],f64[]; trees as in Python: (f64[3], {'a': i32[]}); "
                             "~f64[] for a Python scalar; 3 or 'relu' is given as it is")  # fmt: skip
    parser.add_argument(
        "--argnums", type=numbers, default=(0,), metavar="N[,N…]", help="what --grad is by (default: 0)"
    )
    parser.add_argument(
        "--axis-size", type=positive, default=2, metavar="N", help="the size that --vmap adds (default: 2)"
    )
    parser.add_argument(
        "--html", metavar="FILE", type=Path,
        help="write one page with all stages side by side, where each equation came from, and both backends' programs",
    )  # fmt: skip
    stages = parser.add_argument_group("stages")
    for name, explanation in STAGES.items():
        stages.add_argument(f"--{name}", action="append_const", const=name, dest="stages", help=explanation)
    parser.set_defaults(stages=[])


def _add_rules(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = _subcommand(
        commands, "rules", "print the matrix of primitives and rules",
        "Says of every primitive which rules it has, which are declared absent and why, and which are missing.",
    )  # fmt: skip
    parser.add_argument("primitives", nargs="*", metavar="primitive", help="only these, with the reasons")
    parser.add_argument("--missing", action="store_true", help="only primitives with a missing rule; status 1 if any")
    parser.add_argument("--import", action="append", default=[], dest="modules", metavar="MODULE",
                        help="import a module or a .py file first")  # fmt: skip


def seconds(text: str) -> float:
    """Returns a time in seconds.

    >>> seconds("90"), seconds("10m"), seconds("1h30m"), seconds("0.5s")
    (90.0, 600.0, 5400.0, 0.5)
    """
    number = r"(\d+(?:\.\d*)?)"
    found = re.fullmatch(rf"(?:{number}h)?(?:{number}m)?(?:{number}s?)?", text.strip())
    if not found or not any(found.groups()):
        raise argparse.ArgumentTypeError(f"expected a time such as 90, 90s, 10m or 1h30m, got {text!r}")
    return sum(float(part or 0) * scale for part, scale in zip(found.groups(), (3600, 60, 1), strict=True))


def positive(text: str) -> int:
    """Returns a number that is at least 1."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"expected a number that is at least 1, got {text!r}")
    return int(text)


def numbers(text: str) -> tuple[int, ...]:
    """Returns the numbers between commas."""
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected numbers between commas, got {text!r}") from None
