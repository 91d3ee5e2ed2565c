"""A folder holds few Python files of one subject, and a file has few lines, so that readers find their way by them."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]
FOLDERS: Final = ("packages", "tests", "tools", "examples", "benchmarks")
MOST_FILES: Final = 15
MOST_LINES: Final = 400
#: Files of every folder that needs them, whatever its subject.
OF_EVERY_SUBJECT: Final = {"__init__.py", "conftest.py"}
#: The folders that may have more files, each with the reason.
EXCEPTIONS: Final[Mapping[str, str]] = {
    "packages/numpy/src/lawful/special/stats": "Each file is a public module: a distribution, as in `scipy.stats`.",
    "packages/jax-api/src/lawful/jax": "Each file is a public module of JAX of the same name, `jax.lax` and so on.",
    "examples": "Each file is a program that readers start by its path, which README and docs quote.",
}


def files() -> Iterator[Path]:
    """The Python files of the repository, relative to its root."""
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.py")):
            yield path.relative_to(ROOT)


def crowded(paths: Iterable[Path]) -> dict[str, int]:
    """Returns the folders with more than `MOST_FILES` files, and their number."""
    numbers = Counter(path.parent.as_posix() for path in paths if path.name not in OF_EVERY_SUBJECT)
    return {folder: number for folder, number in numbers.items() if number > MOST_FILES}


def test_folders_have_few_files() -> None:
    found = {folder: number for folder, number in crowded(files()).items() if folder not in EXCEPTIONS}
    assert found == {}, f"group their files by subject: a folder has at most {MOST_FILES} Python files"


def test_folders_that_are_exceptions_have_many_files() -> None:
    assert set(EXCEPTIONS) <= set(crowded(files())), "remove the exceptions that are not needed"


def test_crowded_counts_the_files_of_a_subject() -> None:
    paths = [Path("a") / name for name in ("__init__.py", "conftest.py", *(f"x{i}.py" for i in range(MOST_FILES)))]
    assert crowded([*paths, Path("a/b/x.py"), Path("c/x.py")]) == {}
    assert crowded([*paths, Path("a/y.py")]) == {"a": MOST_FILES + 1}


def test_files_have_few_lines() -> None:
    lengths = {path.as_posix(): len((ROOT / path).read_text(encoding="utf-8").splitlines()) for path in files()}
    assert len(lengths) > 1_500
    assert {path: length for path, length in lengths.items() if length > MOST_LINES} == {}
