# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""Rank statistics for small paired samples: exact where n allows, ties and zeros included. No scipy, for speed of import."""

from __future__ import annotations

import dataclasses
import functools
import math
import typing as t

__all__ = [
    "Interval",
    "drift_test",
    "hodges_lehmann",
    "holm",
    "median",
    "median_interval",
    "minimum_blocks",
    "signed_rank_p",
]

# Above this many pairs the normal approximation is closer than a double can tell from the exact distribution.
_EXACT_LIMIT = 200
# Log ratios closer than this are the same measurement written twice; rounding must not make a rank of them.
_TIE = 1e-12


@dataclasses.dataclass(frozen=True)
class Interval:
    """A confidence interval; C(level) is the coverage it truly has (at least what was asked)."""

    low: float
    high: float
    level: float


def median(values: t.Sequence[float]) -> float:
    """The middle value; raises ValueError for an empty list."""
    ordered = sorted(values)
    if not ordered:
        raise ValueError("a median needs at least one value")
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


@functools.lru_cache(maxsize=512)
def _order_rank(n: int, alpha: float) -> tuple[int, float] | None:
    """Rank k (from 1) and coverage of the narrowest interval (k-th smallest, k-th largest); None when n is too small."""
    tail, best = 0.0, None
    for k in range(1, n // 2 + 1):
        tail += math.exp(math.lgamma(n + 1) - math.lgamma(k) - math.lgamma(n - k + 2) - n * math.log(2))
        if 2 * tail > alpha:
            break
        best = (k, 1 - 2 * tail)
    return best


def median_interval(values: t.Sequence[float], alpha: float = 0.05) -> Interval | None:
    """Distribution-free interval of the median from order statistics; None below six values at 5 %."""
    rank = _order_rank(len(values), alpha)
    if rank is None:
        return None
    ordered = sorted(values)
    return Interval(ordered[rank[0] - 1], ordered[-rank[0]], rank[1])


def _convolve(doubled_ranks: t.Iterable[int]) -> t.Any:
    """Cumulative null distribution of the doubled positive rank sum, over all sign flips of these ranks."""
    import numpy as np

    mass = np.ones(1)
    for rank in doubled_ranks:
        grown = np.zeros(len(mass) + rank)
        grown[: len(mass)] += mass / 2
        grown[rank:] += mass / 2
        mass = grown
    return np.cumsum(mass)


@functools.lru_cache(maxsize=256)
def _untied(n: int) -> t.Any:
    return _convolve(range(2, 2 * n + 1, 2))


def _midranks(magnitudes: t.Sequence[float]) -> list[int]:
    """Doubled midranks (so that they are integers), in the order given."""
    order = sorted(range(len(magnitudes)), key=magnitudes.__getitem__)
    ranks = [0] * len(magnitudes)
    start = 0
    while start < len(order):
        end = start
        while end + 1 < len(order) and magnitudes[order[end + 1]] - magnitudes[order[start]] <= _TIE:
            end += 1
        for place in order[start : end + 1]:
            ranks[place] = start + end + 2
        start = end + 1
    return ranks


def signed_rank_p(differences: t.Sequence[float], alternative: str = "two-sided") -> float:
    """P value of the Wilcoxon signed rank test that the differences lie around zero.

    C(alternative) is C(two-sided), C(greater) or C(less). Exact up to 200 pairs, given the ties; zeros take part in the
    ranking and are then left out (Pratt). 1.0 when nothing differs.
    """
    magnitudes = [abs(d) for d in differences]
    ranks = _midranks(magnitudes)
    kept = [(rank, d) for rank, d, size in zip(ranks, differences, magnitudes) if size > _TIE]
    if not kept:
        return 1.0
    positive = sum(rank for rank, d in kept if d > 0)
    total = sum(rank for rank, _d in kept)
    if alternative == "greater":
        return _upper_tail([rank for rank, _d in kept], positive)
    if alternative == "less":
        return _upper_tail([rank for rank, _d in kept], total - positive)
    return min(1.0, 2 * _upper_tail([rank for rank, _d in kept], max(positive, total - positive)))


def _upper_tail(doubled_ranks: list[int], statistic: int) -> float:
    """P(S >= statistic) for the sum S of those ranks whose fair coin shows heads."""
    n = len(doubled_ranks)
    if n > _EXACT_LIMIT:
        spread = math.sqrt(sum(rank * rank for rank in doubled_ranks)) / 2
        z = (statistic - 1 - sum(doubled_ranks) / 2) / spread
        return 0.5 * math.erfc(z / math.sqrt(2))
    plain = sorted(doubled_ranks) == list(range(2, 2 * n + 1, 2))
    cumulative = _untied(n) if plain else _convolve(doubled_ranks)
    below = float(cumulative[statistic - 1]) if statistic > 0 else 0.0
    return max(1.0 - below, 0.5**n)


@functools.lru_cache(maxsize=512)
def _walsh_rank(n: int, alpha: float) -> tuple[int, float] | None:
    """Rank k and coverage of the interval (k-th smallest, k-th largest Walsh average); None when n is too small."""
    if n > _EXACT_LIMIT:
        spread = math.sqrt(n * (n + 1) * (2 * n + 1) / 24)
        z = 1.959964 if alpha == 0.05 else _normal_quantile(1 - alpha / 2)
        return max(1, math.floor(n * (n + 1) / 4 - z * spread)), 1 - alpha
    cumulative = _untied(n)
    best = None
    for k in range(1, n * (n + 1) // 4 + 1):
        tail = float(cumulative[2 * (k - 1)])
        if 2 * tail > alpha:
            break
        best = (k, 1 - 2 * tail)
    return best


def _normal_quantile(p: float) -> float:
    import statistics as standard

    return standard.NormalDist().inv_cdf(p)


def hodges_lehmann(differences: t.Sequence[float], alpha: float = 0.05) -> tuple[float, Interval | None]:
    """The median of all pairwise means and its exact signed-rank interval (None below six pairs at 5 %)."""
    import numpy as np

    if not len(differences):
        raise ValueError("an estimate needs at least one pair")
    values = np.asarray(differences, dtype=float)
    rows, columns = np.triu_indices(len(values))
    walsh = np.sort((values[rows] + values[columns]) / 2)
    rank = _walsh_rank(len(values), alpha)
    interval = None if rank is None else Interval(float(walsh[rank[0] - 1]), float(walsh[-rank[0]]), rank[1])
    return float(np.median(walsh)), interval


def holm(p_values: t.Sequence[float], family: int | None = None) -> list[float]:
    """P values adjusted for C(family) comparisons (default: as many as given), in the order given."""
    m = max(family or 0, len(p_values))
    adjusted, running = [1.0] * len(p_values), 0.0
    for step, place in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        running = max(running, min(1.0, (m - step) * p_values[place]))
        adjusted[place] = running
    return adjusted


def minimum_blocks(comparisons: int, alpha: float = 0.05) -> int:
    """The fewest pairs with which the most extreme outcome can still pass Holm's first step."""
    return 1 + math.ceil(math.log2(max(1, comparisons) / alpha) - 1e-9)


def drift_test(times: t.Sequence[float], values: t.Sequence[float]) -> tuple[float, float]:
    """Theil-Sen slope per unit of time and the two-sided p value of Kendall's trend test (normal approximation)."""
    import numpy as np

    if len(times) < 4:
        return 0.0, 1.0
    x, y = np.asarray(times, dtype=float), np.asarray(values, dtype=float)
    if len(x) > 2000:
        pick = np.linspace(0, len(x) - 1, 2000).astype(int)
        x, y = x[pick], y[pick]
    rows, columns = np.triu_indices(len(x), k=1)
    apart = x[columns] != x[rows]
    dx, dy = (x[columns] - x[rows])[apart], (y[columns] - y[rows])[apart]
    if not len(dx):
        return 0.0, 1.0
    score = float(np.sum(np.sign(dx) * np.sign(dy)))
    n = len(x)
    spread = math.sqrt(n * (n - 1) * (2 * n + 5) / 18)
    z = max(0.0, abs(score) - 1) / spread
    return float(np.median(dy / dx)), math.erfc(z / math.sqrt(2))
