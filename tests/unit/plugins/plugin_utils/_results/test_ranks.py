# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import itertools
import typing as t

import pytest

np = pytest.importorskip("numpy")
from ansible_collections.plumbline.storage.plugins.plugin_utils._results import ranks


@pytest.mark.parametrize("n", [5, 6, 8, 12, 20, 40])
@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_signed_rank_agrees_with_scipy(n: int, alternative: str) -> None:
    stats = pytest.importorskip("scipy.stats")
    differences = np.random.default_rng(n).normal(0.3, 1, n)
    expected = stats.wilcoxon(differences, alternative=alternative, method="exact").pvalue
    assert ranks.signed_rank_p(differences, alternative) == pytest.approx(expected, abs=1e-12)


def _by_enumeration(differences: t.Sequence[float]) -> float:
    """The two-sided p value by trying every sign; midranks with zeros counted in (Pratt)."""
    sizes = [abs(d) for d in differences]
    rank = [sum(other < size for other in sizes) + (sizes.count(size) + 1) / 2 for size in sizes]
    kept = [(r, d) for r, d in zip(rank, differences) if d]
    seen = abs(sum(r if d > 0 else -r for r, d in kept))
    sums = [
        abs(sum(r * s for (r, _d), s in zip(kept, signs))) for signs in itertools.product((1, -1), repeat=len(kept))
    ]
    return sum(total >= seen - 1e-9 for total in sums) / len(sums)


@pytest.mark.parametrize(
    "differences",
    [
        [1, 1, -1, 2, 0, 3, 3, -2],
        [0, 0, 0, 1, 1, 1],
        [2, 2, 2, 2, 2, 2],
        [1, -1, 2, -2, 3],
        [0, 5, 4, 4, 4, -1, -1],
    ],
)
def test_ties_and_zeros_are_exact(differences: list[float]) -> None:
    assert ranks.signed_rank_p(differences) == pytest.approx(_by_enumeration(differences))


def test_nothing_but_zeros_is_no_difference() -> None:
    assert ranks.signed_rank_p([0.0] * 9) == 1.0


def test_large_samples_agree_with_scipy() -> None:
    stats = pytest.importorskip("scipy.stats")
    differences = np.random.default_rng(3).normal(0.1, 1, 300)
    assert ranks.signed_rank_p(differences) == pytest.approx(stats.wilcoxon(differences).pvalue, rel=0.01)


def test_the_interval_and_the_test_agree() -> None:
    """The interval holds exactly the shifts that the two-sided test does not reject."""
    differences = np.random.default_rng(5).normal(0.5, 1, 9)
    estimate, interval = ranks.hodges_lehmann(differences)
    assert interval is not None
    assert interval.low < estimate < interval.high
    alpha = 1 - interval.level
    for end, inwards in ((interval.low, 1e-6), (interval.high, -1e-6)):
        assert ranks.signed_rank_p(differences - (end + inwards)) > alpha + 1e-9
        assert ranks.signed_rank_p(differences - (end - inwards)) <= alpha + 1e-9


@pytest.mark.parametrize(("n", "possible"), [(1, False), (5, False), (6, True), (8, True)])
def test_intervals_need_six_values(n: int, possible: bool) -> None:
    values = [float(v) for v in range(n)]
    assert (ranks.median_interval(values) is not None) is possible
    assert (ranks.hodges_lehmann(values)[1] is not None) is possible


def test_median_interval_is_the_known_order_statistic() -> None:
    """Twelve values: the third smallest to the third largest cover the median with 96.1 %."""
    interval = ranks.median_interval([float(v) for v in range(1, 13)])
    assert interval is not None
    assert (interval.low, interval.high) == (3, 10)
    assert interval.level == pytest.approx(0.9614, abs=1e-4)


def test_holm_steps_down_and_keeps_order() -> None:
    assert ranks.holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert ranks.holm([0.01, 0.04, 0.03], family=4) == pytest.approx([0.04, 0.09, 0.09])
    assert ranks.holm([0.5, 0.6]) == [1.0, 1.0]


@pytest.mark.parametrize(("comparisons", "blocks"), [(1, 6), (2, 7), (4, 8), (8, 9), (20, 10)])
def test_minimum_blocks_is_where_the_best_p_passes(comparisons: int, blocks: int) -> None:
    assert ranks.minimum_blocks(comparisons) == blocks
    assert ranks.signed_rank_p([float(v + 1) for v in range(blocks)]) * comparisons <= 0.05
    assert ranks.signed_rank_p([float(v + 1) for v in range(blocks - 1)]) * comparisons > 0.05


def test_drift_is_found_and_noise_is_not() -> None:
    rng = np.random.default_rng(7)
    hours = np.linspace(0, 2, 48)
    slope, p = ranks.drift_test(hours, 1 + 0.05 * hours + rng.normal(0, 0.01, 48))
    assert slope == pytest.approx(0.05, abs=0.01)
    assert p < 0.001
    assert ranks.drift_test(hours, 1 + rng.normal(0, 0.01, 48))[1] > 0.05
    assert ranks.drift_test([1, 1, 1, 1], [1, 2, 3, 4]) == (0.0, 1.0)
