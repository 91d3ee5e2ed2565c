"""Failures as plain data, which outlives the process that found them, and a folder that stores them.

>>> import tempfile
>>> from lawful.laws import FailureDatabase
>>> with tempfile.TemporaryDirectory() as folder:
...     list(FailureDatabase(folder))
[]
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
import traceback
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, fields
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final

from lawful.core import ArgumentValueError, ClosedJaxpr, Jaxpr, jaxprs_in_params
from lawful.laws._law.case import Case
from lawful.laws._law.effort import Effort, quick, thorough, usual
from lawful.laws._law.implementation import Implementation
from lawful.laws._law.law import LawViolation, laws
from lawful.laws._primitives.call import PrimitiveCall
from lawful.laws._programs.program import Program
from lawful.laws._search.search import Outcome, draw_case, examine, replay_case
from lawful.laws._search.sources import find_source
from lawful.staging import make_jaxpr

#: All efforts by name.
efforts: Final[dict[str, Effort]] = {effort.name: effort for effort in (quick, usual, thorough)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """A case in which a law does not hold, as text and numbers.

    Attributes:
      system: the system's name.
      law: the law's name.
      source: the name of the source that the case is from.
      effort: the effort's name.
      choices: what the case is made of; None if its process died before it could say.
      seed: what it was drawn with, if it was.
      error: the class of what was raised.
      explanation: what was raised.
      program: the case as Python.
      jaxpr: the case as a jaxpr; empty if there is none.
      primitives: what occurs in the jaxpr.
      equations: how many the jaxpr has, those of inner ones included.
      small: whether it was made small.
      backend: what `jit` compiled with, if the case had one of its own.
      versions: what it was found with.

    >>> failure = Failure(system="lawful", law="jvp_linear", source="smooth", effort="quick", choices=(1, 2))
    >>> failure.identity.startswith("jvp_linear-smooth-")
    True
    """

    system: str
    law: str
    source: str
    effort: str
    choices: tuple[int, ...] | None
    seed: int | None = None
    error: str = ""
    explanation: str = ""
    program: str = ""
    jaxpr: str = ""
    primitives: tuple[str, ...] = ()
    equations: int = 0
    small: bool = False
    backend: str = ""
    versions: dict[str, str] = field(default_factory=dict)

    @property
    def identity(self) -> str:
        """A file name without its suffix, equal for the same case, law and system."""
        case: Any = self.choices if self.choices is not None else self.seed
        digest = hashlib.sha256(repr((self.system, self.law, self.source, case)).encode()).hexdigest()
        return re.sub(r"[^\w-]+", "-", f"{self.law}-{self.source}-{digest[:10]}")


def failure_of(
    system: Implementation, outcome: Outcome, effort: Effort, *, small: bool = False, backend: str = ""
) -> Failure:
    """Returns a failed outcome as plain data.

    Args:
      system: the system that it was found in.
      outcome: what a law said of a case, with the verdict ``"failed"``.
      effort: as it was found.
      small: whether it was made small.
      backend: what `jit` compiled with, if the case had one of its own.

    >>> from lawful import ops
    >>> from lawful.laws import Drawn, Outcome
    >>> from lawful.laws.systems import lawful
    >>> drawn = Drawn(PrimitiveCall(ops.sin_p, {}, (0.5,)), "sin", (1, 2))
    >>> failure = failure_of(lawful, Outcome(laws["jvp_linear"], "failed", drawn, LawViolation("unequal")), quick)
    >>> failure.law, failure.error, failure.primitives
    ('jvp_linear', 'LawViolation', ('sin',))
    """
    drawn, error = outcome.drawn, outcome.error
    closed = jaxpr_of(drawn.case)
    counts = {} if closed is None else count_primitives(closed.jaxpr)
    return Failure(
        system=system.name, law=outcome.law.name, source=drawn.source, effort=effort.name,
        choices=drawn.choices, seed=drawn.seed, error=type(error).__name__,
        explanation=_explanation(system, drawn.case, error), program=program_text(system, drawn.case),
        jaxpr=str(closed or ""), primitives=tuple(sorted(counts)), equations=sum(counts.values()), small=small,
        backend=backend, versions=versions(),
    )  # fmt: skip


def jaxpr_of(case: Case) -> ClosedJaxpr | None:
    """Returns a case as a jaxpr of lawful, or None if it cannot be traced."""
    from lawful.laws.systems import lawful

    try:
        closed: ClosedJaxpr = make_jaxpr(case.on(lawful))(*case.args)
    except Exception:  # the failing law may have found a broken rule
        return None
    return closed


def primitives_of(case: Case) -> tuple[str, ...]:
    """Returns the names of the primitives in a case's jaxpr, sorted; none if it cannot be traced.

    >>> from lawful import ops
    >>> import numpy as np
    >>> primitives_of(Case.of(lambda x: ops.sin(x) * x, np.float64(0.5)))
    ('mul', 'sin')
    """
    if isinstance(case, PrimitiveCall):
        return (case.primitive.name,)
    closed = jaxpr_of(case)
    return () if closed is None else tuple(sorted(count_primitives(closed.jaxpr)))


def count_primitives(jaxpr: Jaxpr) -> dict[str, int]:
    """Counts the equations of each primitive in a jaxpr, sub-jaxprs included.

    >>> from lawful import ops
    >>> import numpy as np
    >>> count_primitives(make_jaxpr(lambda x: ops.sin(ops.sin(x)))(np.float64(1.0)).jaxpr)
    {'sin': 2}
    """
    counts: dict[str, int] = {}
    jaxprs = [jaxpr]
    for inner in jaxprs:
        for eqn in inner.eqns:
            counts[eqn.primitive.name] = counts.get(eqn.primitive.name, 0) + 1
            jaxprs.extend(jaxprs_in_params(eqn.params))
    return counts


def _explanation(system: Implementation, case: Case, error: BaseException | None) -> str:
    if isinstance(error, LawViolation):
        return error.message.removesuffix(case.text(system)).strip()
    assert error is not None, "a failure was raised"
    laws_folder = str(Path(__file__).parents[1])
    frames = [f for f in traceback.extract_tb(error.__traceback__) if not f.filename.startswith(laws_folder)]
    # Without notes, which repeat the case.
    return "".join([*traceback.format_list(frames), f"{type(error).__name__}: {error}"]).strip()


def program_text(system: Implementation, case: Case) -> str:
    """Returns a case as Python for a system.

    >>> from lawful import ops
    >>> from lawful.laws.systems import lawful
    >>> program_text(lawful, PrimitiveCall(ops.sin_p, {}, (0.5,)))
    'ops.sin_p.bind(0.5)'
    """
    return case.source(system).strip() if isinstance(case, Program) else repr(case)


@cache
def versions() -> dict[str, str]:
    """Returns the versions of Python and of the libraries on which failures depend most.

    >>> "numpy" in versions(), versions()["python"] == platform.python_version()
    (True, True)
    """
    found = {"python": platform.python_version()}
    for name in ("lawful-laws", "numpy", "hypothesis", "jaxlib"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def examine_again(system: Implementation, failure: Failure) -> Outcome:
    """Returns the outcome of the law on a stored case.

    Raises:
      KeyError: the law or the source is not there any more, such as a primitive that no module has made.
      Inapplicable: the case has come too near to a kink.

    >>> from lawful.laws.systems import lawful
    >>> failure = Failure(system="lawful", law="jvp_linear", source="sin, smooth", effort="quick", choices=None, seed=1)
    >>> examine_again(lawful, failure).verdict
    'passed'
    """
    law, source = laws[failure.law], find_source(failure.source)
    if failure.choices is not None:
        drawn = replay_case(source, failure.choices)
    else:
        assert failure.seed is not None, "a failure has its choices or its seed"
        drawn = draw_case(source, failure.seed)
    return examine(law, system, drawn, efforts.get(failure.effort, usual))


class FailureDatabase:
    """A folder of failures, a JSON file each. Iterating gives them, in the order of their names.

    Args:
      folder: need not be there.

    Attributes:
      unreadable: the files that could not be read, each with the reason; filled by iterating.

    >>> import tempfile
    >>> database = FailureDatabase(tempfile.mkdtemp())
    >>> failure = Failure(system="lawful", law="jvp_linear", source="smooth", effort="quick", choices=(1, 2))
    >>> _ = database.save(failure)
    >>> list(database) == [failure]
    True
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self.unreadable: dict[Path, str] = {}

    def path_of(self, failure: Failure) -> Path:
        """Returns the path of a failure's file, which may not exist."""
        return self.folder / f"{failure.identity}.json"

    def save(self, failure: Failure) -> Path:
        """Stores a failure and returns its file."""
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self.path_of(failure)
        partial = path.with_suffix(f".{os.getpid()}.partial")  # another run must not read a partial file
        partial.write_text(json.dumps(asdict(failure), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        partial.replace(path)
        return path

    def remove(self, failure: Failure) -> None:
        """Deletes a failure's file, if it exists."""
        self.path_of(failure).unlink(missing_ok=True)

    def __iter__(self) -> Iterator[Failure]:
        for path in sorted(self.folder.glob("*.json")):
            try:
                yield _read(path)
            except (OSError, ValueError, TypeError) as error:
                self.unreadable[path] = f"{type(error).__name__}: {error}"


def _read(path: Path) -> Failure:
    data = json.loads(path.read_text(encoding="utf-8"))
    known = {f.name for f in fields(Failure)}
    if not isinstance(data, dict) or not {"system", "law", "source", "effort", "choices"} <= data.keys():
        raise ArgumentValueError(f"{path.name}: expected a failure with its law, source and choices; remove the file")
    data = {name: value for name, value in data.items() if name in known}
    for name in ("choices", "primitives"):
        if data.get(name) is not None:
            data[name] = tuple(data[name])
    return Failure(**data)
