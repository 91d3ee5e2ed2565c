"""Give every package of the workspace a new version, and the changelog its heading.

    uv run python tools/version.py 0.2.0    # all versions, the pins of siblings, and the changelog
    uv run python tools/version.py --check  # says whether they agree

The changelog has a section of changes that are not released, which begins with ``## Unreleased`` or
``## 0.2.0, unreleased``. The new version and the date of today become its heading. The checkout must be clean, so
that the release is one commit and can be undone. A version lower than the present one is refused.
"""

import argparse
import datetime
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CHANGELOG = ROOT / "CHANGELOG.md"

VERSION = re.compile(r"(\d+)\.(\d+)\.(\d+)(?:(a|b|rc)(\d+))?")
OWN = re.compile(r'^version = "[^"]*"$', re.MULTILINE)
SIBLING = re.compile(r'"(?P<name>lawful[\w-]*)(?P<extras>\[[\w,-]*\])?(?P<pin>[^"]*)"')
HEADING = re.compile(r"^## (?P<title>.*)$", re.MULTILINE)
OPEN = re.compile(r"(?:Unreleased|[\w.]+, unreleased)")


class Refused(Exception):
    """The versions stay as they are, for this reason."""


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Give every package of the workspace a new version.")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("version", nargs="?", help="such as 0.2.0 or 0.2.0rc1")
    what.add_argument("--check", action="store_true", help="whether all versions and the changelog agree")
    options = parser.parse_args(arguments)
    if options.check:
        found = list(problems())
        print("\n".join(found) if found else f"all packages have version {present()}")
        return int(bool(found))
    try:
        previous = present()
        release(options.version)
    except Refused as reason:
        print(f"version.py: {reason}", file=sys.stderr)
        return 1
    print(f"{previous} -> {options.version}: every pyproject.toml, and the heading of CHANGELOG.md")
    return 0


def release(version: str) -> None:
    """Write a version everywhere.

    Raises:
      Refused: the version is malformed or lower, the checkout is not clean, or no change waits in the changelog.
    """
    check_version(version)
    check_clean()
    if found := list(problems()):
        raise Refused("expected versions that agree, got\n" + "\n".join(found))
    text = CHANGELOG.read_text()
    heading = HEADING.search(text)
    if heading is None or not OPEN.fullmatch(heading["title"]):
        title = heading and heading["title"]
        raise Refused(
            f"expected the changelog to begin with a section '## Unreleased', got '## {title}': describe there"
        )
    section = text[heading.end() :].split("\n## ")[0]
    if not section.strip():
        raise Refused("expected a description of changes in the first section of CHANGELOG.md, got an empty one")
    for path in projects():
        path.write_text(with_version(path.read_text(), version))
    title = f"## {version}, {datetime.date.today().isoformat()}"
    CHANGELOG.write_text(text[: heading.start()] + title + text[heading.end() :])
    assert not list(problems())


def check_version(version: str) -> None:
    previous = present()
    if not VERSION.fullmatch(version):
        raise Refused(f"expected a version such as 0.2.0 or 0.2.0rc1, got {version}")
    # The version of a first section may stand in the files before it is released.
    if order(version) < order(previous) or (
        version == previous and f"## {version}, unreleased" not in CHANGELOG.read_text()
    ):
        raise Refused(f"expected a version above {previous}, got {version}")


def check_clean() -> None:
    done = subprocess.run(["git", "status", "--porcelain"], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Refused(f"expected a git checkout, got {done.stderr.strip()}")
    if done.stdout:
        raise Refused(f"expected a clean checkout: commit these changes, or undo them\n{done.stdout.rstrip()}")


def order(version: str) -> tuple[int, int, int, str, int]:
    """The key by which versions are ordered: a release comes after its candidates.

    >>> sorted(["0.10.0", "0.2.0", "0.2.0rc1", "0.2.0b3"], key=order)
    ['0.2.0b3', '0.2.0rc1', '0.2.0', '0.10.0']
    """
    match = VERSION.fullmatch(version)
    assert match, version
    major, minor, patch, phase, number = match.groups()
    return int(major), int(minor), int(patch), phase or "release", int(number or 0)


def projects() -> list[Path]:
    return [ROOT / "pyproject.toml", *sorted(ROOT.glob("packages/*/pyproject.toml"))]


def present() -> str:
    version: str = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    return version


def with_version(text: str, version: str) -> str:
    """The text of a pyproject.toml with this version, also where it pins siblings.

    >>> with_version('dependencies = ["lawful-core==0.1.0", "numpy>=2.1"]', "0.2.0")
    'dependencies = ["lawful-core==0.2.0", "numpy>=2.1"]'
    """
    text = OWN.sub(f'version = "{version}"', text, count=1)
    return SIBLING.sub(
        lambda found: (
            f'"{found["name"]}{found["extras"] or ""}=={version}"' if found["pin"].startswith("==") else found[0]
        ),
        text,
    )


def problems() -> Iterator[str]:
    """Yield what does not agree with the version of the workspace."""
    version = present()
    for path in projects():
        name = path.relative_to(ROOT)
        project = tomllib.loads(path.read_text())["project"]
        if project["version"] != version:
            yield f"{name}: expected version {version}, got {project['version']}"
        lists = [project.get("dependencies", []), *project.get("optional-dependencies", {}).values()]
        for line in (line for group in lists for line in group if re.match(r"lawful\b", line)):
            if not line.endswith(f"=={version}"):
                yield f"{name}: expected a sibling of version {version}, got {line}"
    titles = [found["title"] for found in HEADING.finditer(CHANGELOG.read_text())]
    released = titles[1:] if titles[:1] == ["Unreleased"] else titles
    if not released or released[0].split(",")[0] != version:
        yield f"CHANGELOG.md: expected a section {version}, got {released[:1]}"


if __name__ == "__main__":
    sys.exit(main())
