"""`lawful show`: the jaxpr of a function at every stage of a stack of transformations."""

from __future__ import annotations

import json
from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from lawful.cli._usage import HOLDS, UsageError, counted

if TYPE_CHECKING:
    from lawful.cli._show._stages import Shown


def show(arguments: Namespace) -> int:
    """Prints the stages; if one fails, those before it. With ``--html`` it writes a page instead."""
    from lawful.cli._imports import find_function
    from lawful.cli._show._stages import stages
    from lawful.cli._show._types import parse_types, with_values

    function, types = with_values(find_function(arguments.function), parse_types(arguments.args))
    options = arguments.stages, arguments.argnums, arguments.axis_size
    shown: list[Shown] = []
    if arguments.html is not None:
        from lawful.cli._show._page import show_page

        size = _write(arguments.html, show_page(function, types, *options, shown.append))
        if not arguments.json:
            print(f"page: {arguments.html} ({counted(len(shown), 'stage')}, {size / 1000:,.0f} kB)")
    else:
        for stage in stages(function, types, *options):
            shown.append(stage)
            if not arguments.json:
                print(f"{'' if len(shown) == 1 else '\n'}# {stage.title}: {_size(stage)}\n{stage.text}", flush=True)
    if arguments.json:
        entries = [
            {"stage": s.name, "title": s.title, "equations": s.equations, "within": s.within, "text": s.text}
            for s in shown
        ]
        document = {"function": arguments.function, "args": arguments.args, "stages": entries}
        if arguments.html is not None:
            document["page"] = str(arguments.html)
        print(json.dumps(document, indent=2))
    return HOLDS


def _write(path: Path, page: str) -> int:
    """Writes a page, and returns its size in bytes."""
    content = page.encode()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    except OSError as error:
        reason = error.strerror or str(error)
        raise UsageError(
            f"--html {path}: the page cannot be written: {reason}; name a file such as page.html"
        ) from None
    return len(content)


def _size(stage: Shown) -> str:
    if stage.equations is None:
        return counted(stage.text.count("\n") + 1, "line")
    size = counted(stage.equations, "equation")
    return size if stage.within == stage.equations else f"{size}, {stage.within} with those inside"
