"""Docstrings as reStructuredText: sections in Google's style, and the lines of laws and sources."""

import re

from sphinx.ext.napoleon import Config
from sphinx.ext.napoleon.docstring import GoogleDocstring

_CONFIG = Config(
    napoleon_use_param=True,
    napoleon_use_rtype=False,
    napoleon_use_ivar=True,
    napoleon_use_admonition_for_examples=False,
)
#: Lines that begin so are set off. They may follow a sentence on one line.
_LABEL = re.compile(r"(?:^|(?<=[.)\]`]) )(Laws?|Source|Sources|Cost): ", re.MULTILINE)


#: What reStructuredText would read as markup, and docstrings mean as it stands; and the parts that are code already.
_LITERAL = re.compile(r"(``.+?``|(?<!`)`[^`]+`)")


def restructured(doc: str) -> list[str]:
    """Returns the lines of a docstring, from which common indentation has been taken."""
    text = _LABEL.sub(lambda found: f"\n\n**{found[1]}:** ", _escaped(_apart(doc))).strip()
    # Several lines of an error's text are one element.
    return "\n".join(GoogleDocstring(text, _CONFIG, what="function").lines()).split("\n")


def _escaped(doc: str) -> str:
    """Escapes stars and bars outside of code, and separates code from the letters behind it, as in ``x``s."""
    lines: list[str] = []
    quoted = -1  # the indentation of the line before a quoted block
    for line in doc.splitlines():
        indent = len(line) - len(line.lstrip())
        if line.strip() and indent <= quoted:
            quoted = -1
        is_code = quoted >= 0 or _in_session([*lines, line])
        lines.append(line if is_code else escaped(line))
        if line.rstrip().endswith("::"):
            quoted = indent
    return "\n".join(lines)


def escaped(line: str) -> str:
    """Returns a line, or a sentence, whose stars and bars are themselves."""
    parts = _LITERAL.split(line)
    for i in range(0, len(parts), 2):
        parts[i] = re.sub(r"(?<!\S)\\\*(?= )", "*", re.sub(r"[*|]", r"\\\g<0>", parts[i]))
        if i and parts[i][:1].isalnum():
            parts[i] = "\\ " + parts[i]
    return "".join(parts)


def _apart(doc: str) -> str:
    """Puts an empty line before each session, which a paragraph may otherwise swallow."""
    lines: list[str] = []
    for line in doc.splitlines():
        starts = line.lstrip().startswith(">>> ")
        if starts and lines and lines[-1].strip() and not lines[-1].lstrip().startswith((">>>", "...")):
            indent = len(line) - len(line.lstrip())
            previous = len(lines[-1]) - len(lines[-1].lstrip())
            if indent == previous and not _in_session(lines):
                lines.append("")
        lines.append(line)
    return "\n".join(lines)


def _in_session(lines: list[str]) -> bool:
    """Says whether the last line is in a session: what an example prints."""
    for line in reversed(lines):
        if not line.strip():
            return False
        if line.lstrip().startswith((">>>", "...")):
            return True
    return False
