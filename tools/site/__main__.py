"""Build the site: `uv run --group docs python -m tools.site`, or `just docs`.

A warning, a link that leads nowhere or a missing reference is an error, and the exit status is 1.
"""

import argparse
import os
import sys
import time
from pathlib import Path

from sphinx.cmd.build import main as sphinx

from tools.site.notebooks import write_notebooks
from tools.site.pages import ROOT, write_pages
from tools.site.reference import write_reference
from tools.site.writing import Folder


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.site", description="Build the site of the documentation.")
    parser.add_argument("--output", type=Path, default=ROOT / "build/site", help="the folder to build in")
    parser.add_argument("--fresh", action="store_true", help="build every page, also those that did not change")
    options = parser.parse_args()
    start = time.perf_counter()
    sources = Folder(options.output / "sources")
    write_pages(sources)
    write_reference(sources)
    write_notebooks(sources, options.output / "pictures")
    sources.sweep()
    status = build(sources.path, options.output, fresh=options.fresh)
    if status == 0:
        print(f"{options.output / 'html/index.html'} in {time.perf_counter() - start:.0f} s")
    return status


def build(sources: Path, output: Path, *, fresh: bool = False, jobs: int | None = None) -> int:
    """Write the pages of Sphinx' sources to ``output / "html"``; return 1 after a warning, else 0.

    More than one of the ``jobs`` are forked processes.
    """
    status: int = sphinx(
        ["--builder", "html", "--conf-dir", str(Path(__file__).parent), "--doctree-dir", str(output / "trees"),
         "--jobs", str(jobs or os.cpu_count() or 1), "--fail-on-warning", "--quiet",
         *(["--fresh-env"] if fresh else []), str(sources), str(output / "html")]
    )  # fmt: skip
    return status


if __name__ == "__main__":
    sys.exit(main())
