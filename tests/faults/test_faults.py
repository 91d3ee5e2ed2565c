"""Every fault of the catalogue is found by a law, and the table of faults and laws is current."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from lawful import ops
from lawful.core import primitives_by_name
from lawful.laws import check_grads, laws, quick

from . import law_table, table
from ._examination import found_by_check_grads, kills_of
from ._fault import Fault
from .catalogue import chapters, faults

rows = table.read()


def of_each(found: Sequence[Fault]) -> pytest.MarkDecorator:
    """Returns the mark of a test of each fault; those of accelerators need accelerators."""
    params = [pytest.param(x, marks=pytest.mark.fast if x.only_fast else (), id=x.slug) for x in found]
    return pytest.mark.parametrize("fault", params)


# Every sixth of the faults that check_grads finds is tried again.
SAMPLE = 6


@of_each(faults)
def test_a_law_finds_the_fault_and_holds_without_it(fault: Fault) -> None:
    if fault.name in rows and table.is_found_by_laws(fault, rows[fault.name]):
        return
    found = rows[fault.name].laws if fault.name in rows else {}
    # The generator of cases may have changed since the table was written. The laws of the table find the fault soonest.
    is_found_again = kills_of(fault, table.MOST_CASES, quick, enough=1, only=found)
    assert is_found_again or kills_of(fault, table.MOST_CASES, quick, enough=1), "no law finds it"


def test_the_catalogue_is_large_and_each_fault_is_in_it_once() -> None:
    assert len(faults) >= 70
    assert len({fault.slug for fault in faults}) == len(faults)
    assert all(chapters.values())


def test_table_lists_every_fault_with_a_law() -> None:
    """The table has the faults of the catalogue, and a law that finds each."""
    assert list(rows) == [fault.name for fault in faults], "run python -m tests.faults.table --missing"
    assert not [name for name, row in rows.items() if not row.laws]
    assert {law for row in rows.values() for law in row.laws} <= set(laws)


def test_faults_page_shows_the_table() -> None:
    assert table.PAGE.read_text(encoding="utf-8") == table.page(rows), "run python -m tests.faults.table"


def test_law_table_shows_every_law() -> None:
    text = law_table.PAGE.read_text(encoding="utf-8")
    assert text == law_table.page(rows), "run python -m tests.faults.table"
    assert [name for name in laws if text.count(f"| `{name}` |") != 1] == []
    assert [name for name, law in laws.items() if not law_table.statement(law).endswith(".")] == []


def test_faults_are_gone_afterwards() -> None:
    before = {name: dict(primitive.rules) for name, primitive in primitives_by_name.items()}
    for fault in faults:
        with fault.planted():
            pass
    assert {name: dict(primitive.rules) for name, primitive in primitives_by_name.items()} == before


by_check_grads = [fault for fault in faults if fault.name in rows and rows[fault.name].check_grads]


@of_each(by_check_grads[::SAMPLE])
def test_check_grads_finds_what_the_table_says(fault: Fault) -> None:
    # The generator of cases may have changed since the table was written.
    is_found = table.is_found_by_check_grads(fault, rows[fault.name])
    assert is_found or found_by_check_grads(fault, table.MOST_CASES), "check_grads does not find it"


def test_check_grads_is_tried_in_earnest() -> None:
    (fault,) = [fault for fault in faults if fault.name == "the derivative of sin is negated"]
    x = np.array([0.3, 1.0])
    check_grads(lambda x: [ops.sin(x)], (x,), order=2)
    with fault.planted(), pytest.raises(AssertionError):
        check_grads(lambda x: [ops.sin(x)], (x,), order=2)
