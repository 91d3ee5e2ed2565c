"""The search for a fault with programs of some size finds it, and nothing where there is none."""

from dataclasses import replace
from typing import Any

import pytest

from lawful.laws import Generation

from . import efforts, sizes
from .catalogue import faults

by_name = {fault.name: fault for fault in faults}


def test_sizes_fault_is_found_after_some_programs() -> None:
    searched = sizes.search(by_name["mul adds"], Generation(max_equations=3), 60.0)
    assert searched.found
    assert searched.programs >= 1
    assert searched.seconds > 0.0


def test_sizes_nothing_is_found_without_a_fault() -> None:
    nothing = replace(by_name["mul adds"], plant=lambda patch: None)
    searched = sizes.search(nothing, Generation(max_equations=3), 0.5)
    assert not searched.found
    assert searched.programs > 1


def test_the_table_tells_each_size(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    assert len(sizes.of_these_laws()) > 100
    monkeypatch.setattr(sizes, "of_these_laws", lambda: [by_name["mul adds"]])
    monkeypatch.setattr(sizes, "WARM_UP", 1)
    sizes.main(["2", "3", "--seconds", "30"])
    printed = capsys.readouterr().out
    assert printed.count("1 of 1") == 2


def test_sizes_efforts_find_a_fault_and_nothing_without(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    nothing = replace(by_name["mul adds"], plant=lambda patch: None)
    assert not efforts.search(nothing, efforts.sampled, 0.5).found
    monkeypatch.setattr(efforts, "faults", [by_name["mul adds"]])
    monkeypatch.setattr(efforts, "WARM_UP", 1)
    efforts.main(["--seconds", "30"])
    assert capsys.readouterr().out.count("1 of 1") == 3
