"""`lawful laws`: holds a system to the laws."""

from __future__ import annotations

import json
import os
import random
import sys
from argparse import Namespace
from pathlib import Path
from typing import Any

from rich.console import Console

from lawful.cli._imports import import_all
from lawful.cli._suite._display import Display, summary
from lawful.cli._suite._profile import profiles
from lawful.cli._suite._report import write_report
from lawful.cli._suite._results import Results, document
from lawful.cli._suite._run import Run
from lawful.cli._suite._sources import cases, check_primitives, chosen_laws, sources_of_calls, sources_of_programs
from lawful.cli._suite._tasks import Setup
from lawful.cli._suite._worker import other_system, system_of
from lawful.cli._usage import FAILS, HOLDS, INTERRUPTED, UsageError
from lawful.laws import FailureDatabase, installed_backends, laws


def run_laws(arguments: Namespace) -> int:
    """Runs the laws as the command line says, and returns the exit status."""
    import_all(arguments.modules)
    check_primitives(arguments.primitive)
    # An uninstalled system is an error before anything is started.
    others = [other_system(arguments.against)] if arguments.against is not None else []
    results = _planned(arguments)
    systems = [system_of(results.setup), *others]
    chosen, wanted = chosen_laws(results.setup.laws), arguments.primitive
    calls = sources_of_calls(wanted, chosen) if {system.name for system in systems} == {"lawful"} else []
    drawn = cases(results.seed, sources_of_programs(systems, wanted, chosen), calls, sparse=bool(wanted))
    database = None if arguments.database is None else FailureDatabase(arguments.database)
    _check_writable(arguments.report, arguments.database)
    with Display(Console(stderr=True)) as display:
        Run(results, drawn, database, display)()
    if arguments.report is not None:
        write_report(results, Path(arguments.report))
    console = Console(stderr=arguments.json)
    summary(results, console)
    if arguments.report is not None:
        console.print(f"report: {arguments.report}", highlight=False, soft_wrap=True)
    if arguments.json:
        _print_json({**document(results), "report": arguments.report, "database": arguments.database})
    if results.interrupted:
        return INTERRUPTED
    return FAILS if results.counterexamples or results.problems else HOLDS


def _planned(arguments: Namespace) -> Results:
    profile = profiles[arguments.profile]
    said = arguments.budget is not None or arguments.cases is not None
    seed = arguments.seed if arguments.seed is not None else profile.seed
    chosen = chosen_laws(arguments.law)
    if arguments.against is not None:
        agreement = laws[f"agrees_with_{arguments.against}"]
        chosen = [agreement, *(law for law in chosen if arguments.law and law is not agreement)]
    if arguments.system != "lawful":  # primitives exist in lawful only
        chosen = [law for law in chosen if law.subject == "function"]
    setup = Setup(
        system=arguments.system,
        backends=_backends(arguments, every=profile.every_backend),
        effort=profile.effort,
        laws=tuple(law.name for law in chosen),
        primitives=tuple(arguments.primitive),
        modules=tuple(arguments.modules),
        against=arguments.against,
        sampled=profile.sampled,
        named=bool(arguments.law) or arguments.against is not None,
    )
    return Results(
        setup,
        arguments.profile,
        seed=random.SystemRandom().randrange(2**16) if seed is None else seed,
        jobs=arguments.jobs or _processors(),
        budget=arguments.budget if said else profile.budget,
        cases=arguments.cases if said else profile.cases,
    )


def _backends(arguments: Namespace, *, every: bool) -> tuple[str, ...]:
    if arguments.system != "lawful":
        if arguments.backend:
            raise UsageError(f"--backend is of lawful only; {arguments.system} compiles with its own")
        return ()
    installed = installed_backends()
    for name in arguments.backend:
        if name not in installed:
            raise UsageError(f"no backend '{name}'; installed are {', '.join(sorted(installed))}")
    return tuple(arguments.backend) or (tuple(sorted(installed)) if every else ())


def _check_writable(report: str | None, database: str | None) -> None:
    """Raises UsageError if the report or failures cannot be written, before the run starts."""
    if database is not None and Path(database).exists() and not Path(database).is_dir():
        raise UsageError(f"--database {database}: is a file; name a folder")
    if report is None:
        return
    try:
        Path(report).parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"--report {report}: {error.strerror}") from None
    if Path(report).is_dir():
        raise UsageError(f"--report {report}: is a folder; name a file")


def _processors() -> int:
    if hasattr(os, "sched_getaffinity"):  # the CPUs that this process may use; not on macOS
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _print_json(value: Any) -> None:
    json.dump(value, sys.stdout, indent=2, ensure_ascii=False)
    print()
