"""Write `docs/rules.md`: every primitive with every rule, as `lawful rules` knows them.

uv run python tools/rules_page.py --write
uv run python tools/rules_page.py          # says whether the page is up to date
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

PAGE = Path(__file__).resolve().parent.parent / "docs/rules.md"

SIGNS = {"defined": "●", "derived": "○", "missing": "**missing**", "": ""}
HEAD = """# Primitives and their rules

Written by `tools/rules_page.py` from the primitives themselves; `lawful rules` prints the same of what is installed.

● defined, ○ derived from other rules, – declared absent (the reasons stand below), blank: not expected. The slots
after `partial_eval` belong to other packages, which fill them for the primitives that need one.
"""


def page() -> str:
    """Returns the page, from a process of its own: tests give slots and primitives of theirs to this one."""
    command = [str(Path(sys.executable).with_name("lawful")), "rules", "--json"]
    found: dict[str, Any] = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    slots, primitives = found["slots"], found["primitives"]
    lines = [HEAD, f"| primitive | {' | '.join(slots)} |", f"|---|{':-:|' * len(slots)}"]
    reasons: dict[tuple[str, str], list[str]] = {}
    for name, entry in primitives.items():
        cells = []
        for slot in slots:
            mark = entry["rules"][slot]
            cells.append("–" if mark == "absent" else SIGNS[mark])
        for slot, reason in entry["absent"].items():
            reasons.setdefault((slot, reason), []).append(name)
        lines.append(f"| `{name}` | {' | '.join(cells)} |")
    lines += ["", "## Declared absent", ""]
    lines += [f"- {slot}: {reason}: {', '.join(names)}" for (slot, reason), names in sorted(reasons.items())]
    return "\n".join([*lines, ""])


def main() -> int:
    parser = argparse.ArgumentParser(description="The page of primitives and rules.")
    parser.add_argument("--write", action="store_true", help="write the page")
    if parser.parse_args().write:
        PAGE.write_text(page())
        return 0
    is_current = PAGE.read_text() == page()
    print("up to date" if is_current else "not up to date; run with --write")
    return int(not is_current)


if __name__ == "__main__":
    sys.exit(main())
