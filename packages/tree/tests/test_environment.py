"""Switches in the environment: yes, no, a default, other words."""

import pytest

from lawful.tree.base import environment_switch
from lawful.tree.base.errors import ArgumentValueError

NAME = "LAWFUL_SWITCH_OF_THE_TESTS"


@pytest.mark.parametrize(("text", "expected"), [("1", "1"), ("True", "true"), ("off", None), ("0", None), ("", None)])
def test_switch_says_yes_or_no(text: str, expected: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(NAME, text)
    assert environment_switch(NAME) == expected


@pytest.mark.parametrize("text", [None, ""])
def test_switch_that_is_unset_or_empty_has_its_default(text: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    if text is not None:
        monkeypatch.setenv(NAME, text)
    assert environment_switch(NAME, default="1") == "1"


def test_switch_refuses_another_word(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(NAME, "infs")
    assert environment_switch(NAME, "infs") == "infs"
    with pytest.raises(ArgumentValueError, match=f"{NAME} in the environment: expected 1 or 0, got 'infs'"):
        environment_switch(NAME)
