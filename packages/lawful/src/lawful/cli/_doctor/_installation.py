"""The installation: the system, the versions of packages, and lawful's environment variables."""

from __future__ import annotations

import os
import platform
import re
import sys
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, distributions, requires, version
from typing import Any, Final

#: Packages that lawful can use, or is compared with.
_OPTIONAL: Final = ("jaxlib", "rich", "hypothesis", "matplotlib", "scipy", "jax", "autograd", "torch")
_VARIABLES: Final = re.compile(
    r"LAWFUL_|JAX_|XLA_|TF_CPP_|CUDA_|NVIDIA_VISIBLE|OMP_NUM_THREADS|OPENBLAS_NUM_THREADS|MKL_NUM_THREADS|PYTHONHASHSEED"
)


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the report.

    Attributes:
      name: its subject.
      detail: what was found.
      state: ``"ok"``, ``"bad"`` if it does not work, ``"note"`` if it should be known, or ``""``.
    """

    name: str
    detail: str
    state: str

    def as_dict(self) -> dict[str, Any]:
        """Returns the fields by name."""
        return asdict(self)


def system() -> dict[str, str]:
    """Returns what is known of Python and of the machine."""
    gil = "" if getattr(sys, "_is_gil_enabled", lambda: True)() else ", without the GIL"
    return {
        "Python": f"{platform.python_implementation()} {platform.python_version()}{gil}",
        "system": f"{platform.platform()}, {platform.machine()}",
        "processors": str(os.cpu_count()),
    }


def environment() -> dict[str, str]:
    """Returns the variables that change what lawful, XLA or NumPy's libraries do."""
    return {name: value for name, value in sorted(os.environ.items()) if _VARIABLES.match(name)}


def versions() -> list[Row]:
    """Returns the installed packages with their versions, and whether these are those that lawful needs."""
    own = {each.name: each.version for each in distributions() if each.name.partition("-")[0] == "lawful"}
    wanted = _requirements(own)
    newest = own.get("lawful", max(own.values(), default=""))
    others = {name: number for name, number in own.items() if number != newest}
    rows = [Row("lawful", f"{newest}, {len(own)} packages", "ok")]
    rows += [
        Row(name, f"{number}, and lawful is {newest}: install one version", "bad") for name, number in others.items()
    ]
    names = [name for name in wanted if name not in own]
    for name in dict.fromkeys([*sorted(names), *_OPTIONAL, *_plugins()]):
        rows.append(_row(name, wanted.get(name, "")))
    return rows


def _plugins() -> list[str]:
    """Returns the installed plugins of XLA for other platforms."""
    return sorted({each.name for each in distributions() if re.match(r"jax[-_](cuda|rocm|metal)", each.name or "")})


def _requirements(own: dict[str, str]) -> dict[str, str]:
    """Returns the ranges of versions that the packages of lawful need, by package; without those of extras."""
    found: dict[str, list[str]] = {}
    for each in own:
        for text in requires(each) or ():
            requirement, _, marker = text.partition(";")
            match = re.match(r"\s*([A-Za-z0-9._-]+)\s*\(?([^)]*)\)?", requirement)
            if match and "extra" not in marker:
                found.setdefault(match[1].replace("_", "-").lower(), []).append(match[2].replace(" ", ""))
    return {name: ",".join(dict.fromkeys(part for part in parts if part)) for name, parts in found.items()}


def _row(name: str, wanted: str) -> Row:
    try:
        installed = version(name)
    except PackageNotFoundError:
        return Row(name, f"not installed, needed: {wanted}" if wanted else "not installed", "bad" if wanted else "note")
    if not wanted:
        return Row(name, installed, "")
    if in_range(installed, wanted):
        return Row(name, f"{installed}, needed: {wanted}", "ok")
    return Row(name, f"{installed}, needed: {wanted}; install a version in this range", "bad")


def in_range(installed: str, wanted: str) -> bool:
    """Whether a version satisfies conditions such as ``>=2.1,<3``. A pre-release counts as its release.

    >>> (
    ...     in_range("2.5.1", ">=2.1,<3"),
    ...     in_range("0.13.0", ">=0.11.2,<0.13"),
    ...     in_range("1.10", ">=1.9"),
    ...     in_range("1.0", "!=1"),
    ... )
    (True, False, True, False)
    """
    number = _release(installed)
    return all(_holds(number, condition) for condition in wanted.split(",") if condition)


def _holds(number: tuple[int, ...], condition: str) -> bool:
    match = re.match(r"(>=|<=|==|!=|~=|>|<)(.*)", condition)
    if match is None:
        return True
    operator, bound = match[1], _release(match[2])
    length = max(len(number), len(bound))
    one, other = (x + (0,) * (length - len(x)) for x in (number, bound))
    if operator == "~=":
        return one >= other and number[: len(bound) - 1] == bound[:-1]
    if operator in ("==", "!=") and match[2].endswith(".*"):
        return (number[: len(bound)] == bound) == (operator == "==")
    results = {">=": one >= other, "<=": one <= other, "==": one == other, "!=": one != other, ">": one > other}
    return results.get(operator, one < other)


def _release(text: str) -> tuple[int, ...]:
    match = re.match(r"\d+(\.\d+)*", text.strip())
    return tuple(map(int, match[0].split("."))) if match else ()
