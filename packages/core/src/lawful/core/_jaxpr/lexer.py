"""The words of a printed jaxpr, and errors that point at one of them."""

from __future__ import annotations

import re
from typing import Final, NoReturn

from lawful.core._errors import JaxprParseError
from lawful.core._jaxpr.print import WORD
from lawful.core._types.scalars import SCALAR

#: How much of a line an error shows.
_SHOWN: Final = 120

_TYPE: Final = rf"~?{WORD}\[[\d,\s]*\](?:\{{V:[^}}\s]*\}})?"

# One word with the blanks before it; a variable or a number with its type is one word. The name of the outermost group
# is the `kind` of the word. Compiled at the first use, because that takes 1 ms.
_TOKEN: Final = rf"""\s*(?:
    (?P<end>\Z)
  | (?P<scalar>(?P<digits>{SCALAR})(?![\w.]|-\w)(?:\s*:\s*(?P<scalar_type>{_TYPE}))?)
  | (?P<binder>(?P<name>{WORD})\s*:\s*(?P<binder_type>{_TYPE}))
  | (?P<type>{_TYPE})
  | (?P<string>'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*")
  | (?P<reference>@{WORD})
  | (?P<word>{WORD})
  | (?P<mark>[{{}}()\[\],;.=])
  | (?P<object><[^>\n]*>?)
  | (?P<unknown>.)
    )"""


class Lexer:
    """Walks along a text word by word: ``kind``, ``word`` and ``match`` are those of the word to be read next."""

    __slots__ = ("_matches", "kind", "match", "text", "word")

    def __init__(self, text: str) -> None:
        self.text = text
        self._matches = re.finditer(_TOKEN, text, re.VERBOSE)
        self.advance()

    def advance(self) -> None:
        """Goes to the next word."""
        self.match = next(self._matches)
        self.kind = self.match.lastgroup
        self.word = self.match[self.kind] if self.kind is not None else ""

    def at(self, word: str) -> bool:
        """Whether the next word is this mark or keyword."""
        return self.word == word and self.kind in ("mark", "word")

    def take(self, *words: str) -> None:
        """Reads some marks and keywords; raises JaxprParseError if another word comes."""
        for word in words:
            if not self.at(word):
                self.fail(f"'{word}'")
            self.advance()

    def take_kind(self, kind: str, expected: str) -> re.Match[str]:
        """Reads a word of a kind and returns it; raises JaxprParseError if one of another kind comes."""
        if self.kind != kind:
            self.fail(expected)
        match = self.match
        self.advance()
        return match

    def fail(
        self, expected: str, advice: str = "", *, match: re.Match[str] | None = None, group: str | None = None
    ) -> NoReturn:
        """Raises JaxprParseError at a word, by default the one to be read next.

        Args:
          expected: what belongs there.
          advice: what to do.
          match: the word.
          group: the part of the word to point at.
        """
        match = self.match if match is None else match
        group = group or match.lastgroup or "end"
        got = match[group] or "the end of the text"
        start = match.start(group)
        number = self.text.count("\n", 0, start) + 1
        line_start = self.text.rfind("\n", 0, start) + 1
        column = start - line_start
        line = self.text[line_start:].split("\n", 1)[0]
        cut = max(0, column - _SHOWN // 2)
        line = line[cut : cut + _SHOWN].replace("\t", " ")
        raise JaxprParseError(
            f"jaxpr, line {number}, column {column + 1}: expected {expected}, got {got}"
            f"{'; ' if advice else ''}{advice}\n  {line}\n  {' ' * (column - cut)}^"
        )
