"""Checking one's own rules: every law that applies to a function, a custom derivative or a primitive, in one call.

>>> import numpy as np
>>> from lawful import ops
>>> report = check(lambda x: ops.sin(x) * x, np.array([0.5, 1.0]), effort=quick)
>>> report.ok
True
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any, Final

from lawful.core import ArgumentTypeError, ArgumentValueError, ConcretizationTypeError, Primitive, shorten
from lawful.laws._checks.examination import Examination, Sample
from lawful.laws._checks.given import (
    Given,
    GivenCase,
    call_text,
    describe,
    moved_to,
    require_arguments,
    require_function,
    require_results,
)
from lawful.laws._checks.report import Refused, Report
from lawful.laws._checks.variants import is_finite, is_mapped, refusal, variants_of
from lawful.laws._law.effort import Effort, default_effort, quick, thorough, usual
from lawful.laws._law.implementation import Implementation
from lawful.laws._law.law import Inapplicable, Law, groups
from lawful.laws._law.law import laws as all_laws
from lawful.laws._primitives.call import PrimitiveCall
from lawful.laws._search.search import Drawn, draw_case
from lawful.laws._search.sources import Source, source_of_calls, source_of_special_calls, source_of_weak_calls
from lawful.laws._staging.evaluation import installed_backends
from lawful.staging import make_jaxpr

_GIVEN: Final = "the given arguments"
# The number of seeds for given arguments, and of calls drawn from each source.
_SEEDS: Final = {quick: 1, usual: 2, thorough: 5}
_DRAWS: Final = {quick: 5, usual: 12, thorough: 25}
_WEAK: Final = "calls drawn with Python numbers"


def check(
    function: Callable[..., Any],
    *args: Any,
    system: Implementation | None = None,
    effort: Effort | None = None,
    seeds: Sequence[int] | None = None,
    laws: Sequence[str] | None = None,
    raise_on_failure: bool = False,
) -> Report:
    """Returns what every law says of a function at example arguments, and at variations of them.

    The variations are: random directions that are drawn again, other values, 32 bits, arrays with no elements and
    with one, 0-dimensional arrays, Python numbers, and the function mapped over every subset of its arguments. A
    variation that the function refuses is reported as not applicable: it refuses what it raises any error for when it
    is called with no transformation running, or a TypeError when it is staged. An error that comes only under a
    transformation is a rule's failure. Nor is one tried for which the function gives NaN or infinity, unless it does
    so for the given arguments. A law that takes as long as four others is tried on a share of the cases, its
    ``share`` in `lawful.laws.laws`. The arguments of a failure are made as small as they can be.

    Args:
      function: of pytrees of arrays and numbers, to such.
      args: an example of its arguments, within its domain and away from kinks.
      system: the system of transformations; by default lawful, with every backend that is installed.
      effort: how many variants of each law are tried; by default ``thorough``, or what ``pytest --laws=…`` says.
      seeds: what directions are drawn from, each of them on the given arguments.
      laws: the names of those that are asked, of `lawful.laws.laws`; by default all that are about functions.
      raise_on_failure: whether to raise LawViolation, with the whole report, if a law fails.

    Raises:
      LawViolation: with ``raise_on_failure``, a law does not hold.
      ArgumentValueError: the function raises an error for the arguments, there are none, or no law has a name.
      ArgumentTypeError: ``function`` is not a function.
      NonArrayError: an argument or a result is not an array.

    >>> import numpy as np
    >>> from lawful import ops
    >>> print(check(lambda x: ops.sin(x) * x, np.array([0.5, 1.0]), laws=["jvp_linear", "vmap_is_loop"]))
    <lambda>(f64[2]) on lawful, thorough: 2 passed
    <BLANKLINE>
    law           verdict         cases
    jvp_linear    passed             13
    vmap_is_loop  passed             12
    <BLANKLINE>
    tried with: the given arguments (5), 0-dimensional arrays (1), ...
    """
    require_function("check", function)
    require_arguments("check", args)
    chosen, system, effort = _chosen_laws("check", laws, "function"), _system(system), _effort(effort)
    case = GivenCase(function, args)
    require_results("check", case, system)
    samples, refused = _given_samples(case, system, effort, seeds)
    return _report(_subject(function, call_text(case)), system, effort, chosen, samples, refused, raise_on_failure)


def check_primitive(
    primitive: Primitive,
    *args: Any,
    system: Implementation | None = None,
    effort: Effort | None = None,
    seeds: Sequence[int] | None = None,
    laws: Sequence[str] | None = None,
    raise_on_failure: bool = False,
    **params: Any,
) -> Report:
    """Returns what every law says of a primitive: of calls that its declaration draws, or of a given one.

    A missing rule is a failure which names the call that defines it; one that is declared absent makes the laws that
    need it not applicable. The type rule says what the primitive takes: arguments for which it raises a TypeError are
    refused, and where it raises none, an error of any rule is a failure.

    Args:
      primitive: the primitive.
      args: an example of its arguments, which is varied as `check` does; needed where there is no declaration.
      system: the system of transformations; by default lawful, with every backend that is installed.
      effort: how many variants of each law are tried; by default ``thorough``, or what ``pytest --laws=…`` says.
      seeds: what calls and directions are drawn from.
      laws: the names of those that are asked; by default all.
      raise_on_failure: whether to raise LawViolation, with the whole report, if a law fails.
      params: the static parameters of the given call.

    Raises:
      LawViolation: with ``raise_on_failure``, a law does not hold.
      ArgumentTypeError: ``primitive`` is not one.
      ArgumentValueError: there is neither a declaration nor an example, or its declaration draws no call.
      NonArrayError: an argument is not an array.

    >>> from lawful import ops
    >>> check_primitive(ops.sin_p, effort=quick).ok
    True
    """
    if not isinstance(primitive, Primitive):
        raise ArgumentTypeError(
            f"check_primitive: expected a primitive, got {shorten(primitive)}; a function is checked by check(f, *args)"
        )
    chosen, effort = _chosen_laws("check_primitive", laws, "primitive"), _effort(effort)
    refused: list[Refused] = []
    if system is None and "lowering" in primitive.absent:
        refused.append(Refused("compiled by other backends than numpy", primitive.absent["lowering"]))
        system = _lawful_with(("numpy",))
    system = _system(system)
    if args:
        require_arguments("check_primitive", args)
        case = PrimitiveCall(primitive, params, args)
        _see_types(case)
        samples, refused_args = _given_samples(case, system, effort, seeds)
        refused += refused_args
    elif primitive.declaration is None:
        raise ArgumentValueError(
            f"check_primitive: expected an example of the arguments of {primitive!r}, which has no declaration to draw "
            f"calls from, got none; give arrays and parameters, check_primitive({primitive!r}, x, axis=0)"
        )
    else:
        samples = _drawn_samples(primitive, effort, seeds)
    name = call_text(samples[0].drawn.case) if args else repr(primitive)  # type: ignore[arg-type]  # a given call
    return _report(name, system, effort, chosen, samples, refused, raise_on_failure)


def _report(
    subject: str,
    system: Implementation,
    effort: Effort,
    chosen: Sequence[Law],
    samples: Sequence[Sample],
    refused: Sequence[Refused],
    raise_on_failure: bool,
) -> Report:
    examination = Examination(system, samples, _needs_values(samples[0].drawn.case, system))
    tried = tuple(Counter(sample.kind for sample in samples).items())
    found = tuple([examination.by(law) for law in chosen])
    report = Report(subject, system.name, effort.name, found, tried, tuple(refused))
    if raise_on_failure:
        report.raise_if_failed()
    return report


def _given_samples(
    case: Given, system: Implementation, effort: Effort, seeds: Sequence[int] | None
) -> tuple[list[Sample], list[Refused]]:
    chosen = range(_SEEDS.get(effort, 2)) if seeds is None else seeds
    cases = [moved_to(case, case.args, seed) for seed in chosen]
    samples = [Sample.of(_GIVEN, given, effort, slow=i == 0) for i, given in enumerate(cases)]
    refused: dict[str, Refused] = {}
    less = effort if effort.most < usual.most else usual
    finite = is_finite(case, system)
    for variant in variants_of(case, effort):
        error = refusal(variant.case, system)
        if error is None and finite and not is_finite(variant.case, system):
            refused[variant.kind] = Refused(variant.kind, "the function gives NaN or infinity for them")
        elif error is None:
            samples.append(Sample.of(variant.kind, variant.case, less))
        elif is_mapped(variant.case):  # a batching rule refuses, not the function
            samples.append(Sample.of(variant.kind, variant.case, less, only=frozenset({"vmap_is_loop"})))
        else:
            refused[variant.kind] = Refused(variant.kind, f"the function refuses them: {describe(error)}")
    return samples, list(refused.values())


def _drawn_samples(primitive: Primitive, effort: Effort, seeds: Sequence[int] | None) -> list[Sample]:
    chosen = range(_DRAWS.get(effort, 12)) if seeds is None else seeds
    less = effort if effort.most < usual.most else usual
    samples = []
    sources = {
        "calls drawn of any dtype": source_of_calls(primitive, smooth=False),
        "calls drawn away from kinks": source_of_calls(primitive, smooth=True),
        "calls drawn with special numbers": source_of_special_calls(primitive),
        _WEAK: source_of_weak_calls(primitive),
    }
    for kind, source in sources.items():
        seeds_of = chosen[: len(chosen) // 2 + 1] if kind == _WEAK else chosen
        cases = [drawn for seed in seeds_of for drawn in _drawn(source, seed)]
        samples += [Sample(kind, drawn, less, source, slow=i == 0) for i, drawn in enumerate(cases)]
    if not samples:
        raise ArgumentValueError(
            f"check_primitive: expected calls of {primitive!r} from its declaration, got none; "
            f"give an example instead, check_primitive({primitive!r}, x)"
        )
    return samples


def _drawn(source: Source, seed: int) -> Iterator[Drawn]:
    """Yields the case of a seed, if there is one."""
    try:
        yield draw_case(source, seed)
    except Inapplicable:
        return
    except Exception as error:
        if source.smooth:  # a rule raises, although the primitive accepts the call; the other source reports it
            return
        raise ArgumentValueError(
            f"check_primitive: expected the declaration of a primitive to draw a call, got {describe(error)}; "
            f"mend `sample` of the declaration"
        ) from error


def _see_types(case: PrimitiveCall) -> None:
    if "abstract_eval" not in case.primitive.rules:
        return
    error = refusal(case, _system(None))
    if error is not None:
        raise ArgumentValueError(
            f"check_primitive: expected arguments that the type rule of {case.primitive!r} accepts, got "
            f"{describe(error)} for {call_text(case)}; give arguments that it can be called with"
        ) from error


def _needs_values(case: Any, system: Implementation) -> ConcretizationTypeError | None:
    """Returns the error if a function cannot be staged because it needs the values of its arguments."""
    if "jaxprs" in system.absent or isinstance(case, PrimitiveCall):
        return None
    try:
        make_jaxpr(case.on(system))(*case.args)
    except ConcretizationTypeError as error:
        return error
    except Exception:  # the laws report it
        return None
    return None


def _chosen_laws(where: str, names: Sequence[str] | None, subject: str) -> list[Law]:
    if isinstance(names, str):
        names = [names]
    unknown = [name for name in names or () if name not in all_laws]
    if unknown:
        raise ArgumentValueError(
            f"{where}: expected names of laws, got {', '.join(map(repr, unknown))}; the laws are {', '.join(all_laws)}"
        )
    ordered = sorted(all_laws.values(), key=lambda law: groups.index(law.group))
    if names is None:
        return [law for law in ordered if law.subject in ("function", subject)]
    return [law for law in ordered if law.name in names]


@cache
def _lawful_with(backends: tuple[str, ...]) -> Implementation:
    from lawful.laws.systems import Lawful

    return Lawful(backends=backends)


def _system(system: Implementation | None) -> Implementation:
    if system is not None and not isinstance(system, Implementation):
        raise ArgumentTypeError(
            f"check: expected a system of lawful.laws.systems, got {shorten(system)}; find_system('lawful') gives one"
        )
    return system or _lawful_with(installed_backends())


def _effort(effort: Effort | None) -> Effort:
    if effort is not None and not isinstance(effort, Effort):
        raise ArgumentTypeError(
            f"check: expected an effort, got {shorten(effort)}; give lawful.laws.quick, usual or thorough"
        )
    return effort or default_effort(thorough)


def _subject(function: Any, call: str) -> str:
    name = getattr(function, "__name__", None)
    return f"{name}({call.partition('(')[2]}" if isinstance(name, str) else call
