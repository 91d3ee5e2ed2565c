"""Each case has its own sample of laws, variants and backends, and every one of them has its turn."""

from collections import Counter

from lawful.laws import laws, quick, sampled_backend, sampled_effort, thorough, usual

SEEDS = range(3000)


def test_sampled_effort_tries_each_law_on_its_share() -> None:
    for law in laws.values():
        tried = sum(sampled_effort(law, "smooth", seed) is not None for seed in range(800))
        assert 0.5 * law.share < tried / 800 < 1.5 * law.share + 1e-9, law.name
    assert {law.name for law in laws.values() if law.share < 1} > {"scan_is_loop", "nothing_survives"}


def test_sampled_effort_tries_few_variants_mostly() -> None:
    tried = Counter(sampled_effort(laws["vjp_transpose"], "smooth", seed) for seed in SEEDS)
    assert tried.keys() == {quick, usual, thorough}
    assert tried[quick] > 10 * tried[usual] > 20 * tried[thorough]


def test_sampled_effort_depends_on_source_seed_and_law() -> None:
    def sample(law: str, source: str) -> list[bool]:
        return [sampled_effort(laws[law], source, seed) is not None for seed in range(200)]

    assert sample("scan_is_loop", "sin") == sample("scan_is_loop", "sin")
    assert sample("scan_is_loop", "sin") != sample("scan_is_loop", "cos")
    assert sample("scan_is_loop", "sin") != sample("while_is_loop", "sin")


def test_sampled_effort_of_a_given_share() -> None:
    assert all(sampled_effort(laws["scan_is_loop"], "smooth", seed, share=1.0) for seed in range(100))


def test_sampled_effort_with_a_slow_backend() -> None:
    """One variant, and a slow law on the square of its share; a law of all cases on all."""
    slow = Counter(sampled_effort(laws["threads_agree"], "sin", seed, backend="xla") for seed in SEEDS)
    assert slow.keys() == {None, quick}
    assert 0.5 / 64 < slow[quick] / len(SEEDS) < 2 / 64
    for options in ({}, {"share": 1.0}):
        law = laws["jit_is_eager" if not options else "threads_agree"]
        assert {sampled_effort(law, "sin", seed, backend="xla", **options) for seed in range(300)} == {quick}
    fast = [sampled_effort(laws["threads_agree"], "sin", seed) for seed in SEEDS]
    assert fast == [sampled_effort(laws["threads_agree"], "sin", seed, backend="") for seed in SEEDS]


def test_sampled_backend_is_numpy_mostly() -> None:
    tried = Counter(sampled_backend(("numpy", "xla"), "smooth", seed) for seed in SEEDS)
    assert 0 < tried["xla"] < tried["numpy"] / 8
    assert {sampled_backend(("numpy",), "smooth", seed) for seed in SEEDS} == {"numpy"}
    assert {sampled_backend(("xla",), "smooth", seed) for seed in SEEDS} == {"xla"}


def test_sampled_backend_of_programs_on_meshes_is_numpy() -> None:
    """NumPy plays their devices."""
    assert {sampled_backend(("numpy", "xla"), "sharded", seed) for seed in SEEDS} == {"numpy"}
