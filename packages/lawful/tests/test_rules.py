"""`lawful rules`: the matrix of primitives and rules."""

import json

import pytest

from lawful.cli import main
from lawful.core import Primitive


@pytest.fixture
def half_made() -> Primitive:
    primitive = Primitive("half_made")
    primitive.def_impl(lambda x: x)
    primitive.declare_absent("transpose", "it is made for a test")
    primitive.def_lowering(lambda ctx, x: x, platform="cuda")
    primitive.def_rule("cost", lambda x: 1)
    return primitive


def test_rules_matrix_as_json(capsys: pytest.CaptureFixture[str], half_made: Primitive) -> None:
    assert main(["rules", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["slots"][:6] == ["impl", "abstract_eval", "jvp", "transpose", "batch", "lowering"]
    marks = found["primitives"]["half_made"]["rules"]
    assert marks["impl"] == marks["lowering"] == marks["cost"] == "defined"
    assert marks["transpose"] == "absent"
    assert marks["abstract_eval"] == marks["jvp"] == marks["batch"] == "missing"
    assert marks["linearize"] == "derived"
    assert found["primitives"]["cond"]["rules"]["linearize"] == "defined"
    assert found["primitives"]["sin"]["rules"]["cost"] == ""
    assert found["missing"] >= 3


def test_rules_matrix_as_text(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rules", "sin", "mul"]) == 0
    lines = capsys.readouterr().out.splitlines()
    # After these come the slots that other tests of the process have given to a primitive.
    assert lines[0].split()[:9] == [
        *("primitive", "impl", "abstract_eval", "jvp", "transpose", "batch", "lowering", "linearize", "partial_eval")
    ]
    assert lines[1].split()[:9] == ["mul", *"●●●●●●○○"]
    assert lines[2].split()[:9] == ["sin", *"●●●–●●○○"]
    assert "sin has no transpose: it is not linear in any argument" in lines


def test_missing_rules_are_for_scripts(capsys: pytest.CaptureFixture[str], half_made: Primitive) -> None:
    assert main(["rules", "--missing", "half_made", "sin"]) == 1
    printed = capsys.readouterr().out
    assert "half_made misses jvp: define it with half_made_p.def_jvp" in printed
    assert "1 primitive, 3 missing rules" in printed
    assert "sin " not in printed
    assert main(["rules", "--missing", "sin"]) == 0
    assert "no rule is missing" in capsys.readouterr().out


def test_rules_unknown_primitive(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rules", "cosine"]) == 2
    assert "no primitive 'cosine'; did you mean" in capsys.readouterr().err
