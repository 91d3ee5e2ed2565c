"""`lawful show`: the jaxpr of a function at every stage of a stack of transformations."""

from __future__ import annotations

import json
from argparse import Namespace
from typing import TYPE_CHECKING

from lawful.cli._usage import HOLDS, counted

if TYPE_CHECKING:
    from lawful.cli._show._stages import Shown


def show(arguments: Namespace) -> int:
    """Prints the stages; if one fails, those before it."""
    from lawful.cli._imports import find_function
    from lawful.cli._show._stages import stages
    from lawful.cli._show._types import parse_types

    function, types = find_function(arguments.function), parse_types(arguments.args)
    shown: list[Shown] = []
    for stage in stages(function, types, arguments.stages, arguments.argnums, arguments.axis_size):
        shown.append(stage)
        if not arguments.json:
            print(f"{'' if len(shown) == 1 else '\n'}# {stage.title}: {_size(stage)}\n{stage.text}", flush=True)
    if arguments.json:
        entries = [
            {"stage": s.name, "title": s.title, "equations": s.equations, "within": s.within, "text": s.text}
            for s in shown
        ]
        print(json.dumps({"function": arguments.function, "args": arguments.args, "stages": entries}, indent=2))
    return HOLDS


def _size(stage: Shown) -> str:
    if stage.equations is None:
        return counted(stage.text.count("\n") + 1, "line")
    size = counted(stage.equations, "equation")
    return size if stage.within == stage.equations else f"{size}, {stage.within} with those inside"
