"""`lawful show`: the stages of a program, and what is wrong with a call of it."""

import json
import sys
from pathlib import Path
from typing import Any, NoReturn

import pytest

from lawful.cli import main
from lawful.cli._show._types import parse_types
from lawful.cli._usage import UsageError
from lawful.core import ShapedArray, parse_jaxpr
from lawful.staging import get_backend

MODULE = """
import lawful.numpy as np


def loss(w, x):
    return np.sum(np.tanh(w * x))


def tree(pair, options):
    return {'y': pair[0] * options['scale'], 'n': pair[1]}


def branching(x):
    if x > 0:
        return x
    return -x


number = 3


def counted(x):
    return np.sum(x > 0)


def power(x, n, activation="none"):
    for _ in range(n):
        x = np.sin(x)
    return np.tanh(x) if activation == "tanh" else x


def repeated(w, x):
    return np.sum(np.tanh(w * x) * np.tanh(w * x))


def named(x, *, scale):
    return x * scale


from lawful.staging import jit

power = jit(power, static_argnames=("n", "activation"))
"""


@pytest.fixture(autouse=True)
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "shown.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "shown", raising=False)


def stages(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[dict[str, Any]]:
    assert main(["show", *arguments, "--json"]) == 0
    found: list[dict[str, Any]] = json.loads(capsys.readouterr().out)["stages"]
    return found


def test_show_every_stage_is_printed_in_the_order_of_the_flags(capsys: pytest.CaptureFixture[str]) -> None:
    flags = ["--jvp", "--vmap", "--grad", "--dce", "--stablehlo"]
    assert main(["show", "shown:loss", "--args", "f64[3],f64[]", *flags]) == 0
    printed = capsys.readouterr().out
    titles = [line.split(":")[0] for line in printed.splitlines() if line.startswith("# ")]
    assert titles == [
        "# loss",
        "# jvp(loss)",
        "# vmap(jvp(loss))",
        "# grad(sum of vmap(jvp(loss)))",
        "# dce(grad(sum of vmap(jvp(loss))))",
        "# stablehlo(dce(grad(sum of vmap(jvp(loss)))))",
    ]
    assert printed.startswith("# loss: 3 equations\n{ lambda ; a:f64[3] b:f64[]. let\n")
    assert "stablehlo.tanh" in printed


def test_show_order_of_the_flags_matters(capsys: pytest.CaptureFixture[str]) -> None:
    one = stages(capsys, "shown:loss", "--args", "f64[3],f64[]", "--grad", "--vmap")[-1]
    other = stages(capsys, "shown:loss", "--args", "f64[3],f64[]", "--vmap", "--grad")[-1]
    assert one["title"] == "vmap(grad(loss))"
    assert other["title"] == "grad(sum of vmap(loss))"
    assert one["text"] != other["text"]


def test_show_all_stages_compose_and_every_jaxpr_parses(capsys: pytest.CaptureFixture[str]) -> None:
    flags = ["--linearize", "--vjp", "--jit", "--vmap", "--inline", "--cse", "--dce", "--grad", "--numpy"]
    found = stages(capsys, "shown.py:repeated", "--args", "f64[3],f64[]", *flags, "--axis-size", "5")
    assert [stage["stage"] for stage in found] == ["function", *[flag.removeprefix("--") for flag in flags]]
    for stage in found[:-1]:
        assert len(parse_jaxpr(stage["text"]).jaxpr.eqns) == stage["equations"]
    equations = {stage["stage"]: stage["equations"] for stage in found}
    assert equations["jit"] == 1
    assert equations["inline"] > equations["cse"] >= equations["dce"]
    assert "f64[5,3]" in found[4]["text"]
    assert "def " in found[-1]["text"]


def test_show_trees_and_weak_types(capsys: pytest.CaptureFixture[str]) -> None:
    (shown,) = stages(capsys, "shown:tree", "--args", "(f32[2], i32[]), {'scale': ~f64[]}")
    assert shown["text"].startswith("{ lambda ; a:f32[2] b:i32[] c:~f64[].")


def test_show_integers_have_float0_tangents(capsys: pytest.CaptureFixture[str]) -> None:
    shown = stages(capsys, "shown:tree", "--args", "(f64[2], i32[]), {'scale': f64[]}", "--jvp", "--vjp")
    assert len(shown) == 3


def test_show_gradients_by_several_arguments(capsys: pytest.CaptureFixture[str]) -> None:
    shown = stages(capsys, "shown:loss", "--args", "f64[3],f64[]", "--grad", "--argnums", "0,1")[-1]
    assert shown["title"] == "grad(loss, (0, 1))"
    assert len(parse_jaxpr(shown["text"]).jaxpr.outvars) == 2


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["shown"], "expected module:function or path/to/file.py:function, got 'shown'"),
        (["nowhere:f"], "no module named 'nowhere' here"),
        (["nowhere.py:f"], "no file nowhere.py"),
        (["shown:lost"], "shown has no 'lost'; it has loss\n"),
        (["shown:gone"], "shown has no 'gone'; it has loss, tree, branching"),
        (["lawful.ops:sine"], "lawful.ops has no 'sine'; it has sin, "),
        (["shown:number"], "shown:number is no function but int"),
        (["shown:loss", "--args", "f64[3]"], "TypeError: loss() missing 1 required positional argument: 'x'"),
        (["shown:loss"], "\n--args has a type for each argument, such as 'f64[3], f64[]'\n"),
        (["shown:branching", "--args", "f64[]"], 'shown.py", line 14, in branching'),
        (["shown:loss", "--args", "f64[3],f64[2]"], 'shown.py", line 6, in loss'),
        (["shown:loss", "--args", "f64[3],f64[]", "--grad", "--argnums", "2"], "has 2 arguments: f64[3], f64[]"),
        (["shown:loss", "--args", "f64[3],i64[]", "--grad", "--argnums", "1"], "got i64[] of argument 1 of loss; give"),
        (
            ["shown:counted", "--args", "f64[3]", "--grad"],
            "lawful: --grad: expected a floating result",
        ),
        (["shown:loss", "--args", "i64[3],f64[]", "--vmap", "--grad"], "got i64[2,3] of argument 0 of vmap(loss)"),
    ],
)
def test_show_what_is_wrong_is_said_with_the_users_line(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["show", *arguments]) == 2
    printed = capsys.readouterr().err
    assert said in printed
    assert "_stages.py" not in printed


def test_show_stablehlo_needs_the_xla_backend(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def load(point: object) -> NoReturn:
        raise ImportError("lawful.xla_backend")

    get_backend.cache_clear()
    monkeypatch.setattr("lawful.staging._backends._registered", {})
    monkeypatch.setattr("importlib.metadata.EntryPoint.load", load)
    assert main(["show", "shown:loss", "--args", "f64[3],f64[]", "--stablehlo"]) == 2
    assert "pip install lawful-xla-backend" in capsys.readouterr().err


def test_show_types_of_arguments() -> None:
    f, i = ShapedArray((3,), "float64"), ShapedArray((), "int32")
    weak = ShapedArray((), "float64", True)
    assert parse_types("f64[3],i32[]") == (f, i)
    assert parse_types(" (f64[3], {'a': i32[], 2: ~f64[]}) , [int32[]], None") == ((f, {"a": i, 2: weak}), [i], None)
    assert parse_types("(f64[3]), (i32[],), ()") == (f, (i,), ())
    assert parse_types("") == ()
    assert parse_types("bf16[ 2 , 0 ]")[0].shape == (2, 0)


def test_show_values_of_static_arguments(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    [plain] = stages(capsys, "shown:power", "--args", "f64[3], 2, 'tanh'")
    assert (plain["text"].count(" sin "), plain["text"].count(" tanh ")) == (2, 1)
    [_, mapped] = stages(capsys, "shown:power", "--args", "f64[3], 2", "--vmap")
    assert "f64[2,3]" in mapped["text"]
    [scaled] = stages(capsys, "shown:loss", "--args", "-1.5, f64[3]")  # also where nothing is static
    assert "-1.5" in scaled["text"]
    assert main(["show", "shown:power", "--args", "f64[3], 2", "--grad", "--html", str(tmp_path / "page.html")]) == 0
    assert "the argument x" in (tmp_path / "page.html").read_text()


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (
            ("shown:power", "--args", "f64[3], i64[]"),
            "the value of the static argument 1 of power, such as 3",
        ),
        (("shown:named", "--args", "f64[3]"), "it takes scale by name; name a function that gives it"),
        (("shown:loss", "--args", "f64, f64[]"), "got f64, f64[]; write f64[] for a scalar"),
        (("ends.py:f", "--args", "f64[]"), "importing ends.py ends Python, with exit status 3; put what is run"),
    ],
)
def test_show_says_what_to_write(
    arguments: tuple[str, ...], text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "ends.py").write_text("import sys\nsys.exit(3)")
    assert main(["show", *arguments]) == 2
    assert text in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "column", "expected"),
    [
        ("f64[3],g64[]", 8, "a dtype that there is"),
        ("f64[3],f64[-1]", 12, "sizes between commas"),
        ("f64[3] f64[]", 8, "',' or the end"),
        ("(f64[3], ", 10, "a type such as f64[3]"),
        ("{a: f64[]}", 2, "a key such as 'a'"),
        ("{'a': f64[]", 12, "',' or '}'"),
        ("~f32[]", 1, "a type of a Python scalar"),
        ("f64", 1, "a type such as f64[3]"),
        ("[f64[2])", 8, "',' or ']'"),
    ],
)
def test_show_wrong_type_is_pointed_at(text: str, column: int, expected: str) -> None:
    with pytest.raises(UsageError) as raised:
        parse_types(text)
    message = str(raised.value)
    assert f"column {column}: expected {expected}" in message
    assert message.endswith("\n  " + " " * (column - 1) + "^")
