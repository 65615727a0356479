"""The waste and the best interval when the gaps between interruptions follow any law (docs/models.md 15.1, 15.2).

One clock for the whole job: every interruption sets it back to 0, and it runs on through the restart.
"""

from __future__ import annotations

import math

import numpy as np

from ckptplanner.engine.laws import Empirical, Law
from ckptplanner.engine.save_sums import COARSE_TERMS, FEWEST_TERMS, Grouped, covered_s, grouped, spread_of
from ckptplanner.frozen import FloatArray

_DIRECT_POINTS = 600
_EXACT_POINTS = 8
_TEETH = 400_000
_GROUPS = 256
_TABLE_GROUPS = 128
_COST_STEP, _AGE_STEP = 0.5, 0.25
_TABLE_AS_THEY_ARE = 4
_WIDEN = 8
_STENCIL = 2e-3


# ---------------------------------------------------------------- waste


def renewal_waste_fraction(
    *,
    law: Law,
    interval_s: FloatArray,
    lost_s: FloatArray,
    background_s: FloatArray,
    period_s: FloatArray,
    restart_s: FloatArray,
    downtime_s: FloatArray | float,
) -> FloatArray:
    """Return the exact share of time lost under a renewal law, waiting writers included. [1], in [0, 1], broadcast

    Args:
        law: Of the gaps between interruptions; its mean is M, > 0.
        interval_s: Planned interval T, start to start. [s], > 0
        lost_s: Training lost per save: C, with background loss and slowdown. [s]
        background_s: From the end of the stop until the checkpoint can be restored. [s]
        period_s: max(T, C + t_a). [s]
        restart_s: R, which itself can be interrupted. [s]
        downtime_s: D, free of interruptions. [s]

    goodput = (T - C) (S(R + t_a + T) + S(R + t_a + T + T_p) + ...) / (M + D). 1 where a save costs more than its interval.
    Derived in docs/models.md 15.1 (E4); E1 and E3 for the exponential law. The sum is within 1e-9 of itself for Weibull
    shapes 0.2 to 10 and lognormal shapes 0.05 to 4, and exact for the gaps of a log; beyond 600 points more than 256 gaps
    are put into 256 groups, within 0.3 % of the waste.
    """
    first, period = np.broadcast_arrays(restart_s + background_s + interval_s, period_s)
    if isinstance(law, Empirical) and first.size > _DIRECT_POINTS:
        law = grouped(law, _GROUPS)
    work = np.maximum(interval_s - lost_s, 0.0) / period
    goodput = work * covered_s(law, first, period) / (law.mean_s + downtime_s)
    return np.asarray(np.clip(1.0 - goodput, 0.0, 1.0))


# ---------------------------------------------------------------- the best interval


def _start_s(law: Law, lost_s: FloatArray, offset_s: FloatArray) -> FloatArray:
    """About the best work between saves: Young's interval for the mean gap that is left after the first stop. [s]"""
    age = lost_s + offset_s
    alive = law.survival(age)
    left = np.where(alive > 0.0, law.left_s(age) / np.where(alive > 0.0, alive, 1.0), law.mean_s)
    left = np.maximum(left, 1e-9 * law.mean_s)
    root = np.sqrt(2.0 * lost_s / left)
    return np.asarray(left * root / (1.0 + root))


def _kept(law: Law, lost_s: FloatArray, offset_s: FloatArray, log_work: FloatArray, fewest: int) -> FloatArray:
    """The share of a gap that stays, for work e^`log_work` between saves. [1]"""
    work = np.exp(log_work)
    every = lost_s + work
    return np.asarray(work / every * covered_s(law, offset_s + every, every, fewest) / law.mean_s)


def _coarse(law: Law, lost_s: FloatArray, offset_s: FloatArray, steps: FloatArray) -> FloatArray:
    """ln of the best work on a log grid, which moves on where the best is at its edge. [ln s], (n,)"""
    centre = np.log(_start_s(law, lost_s, offset_s))
    best, open_at = centre.copy(), np.arange(len(centre))
    for _ in range(_WIDEN):
        grid = centre[open_at, None] + steps
        kept = _kept(law, lost_s[open_at, None], offset_s[open_at, None], grid, COARSE_TERMS)
        at = np.argmax(kept, axis=1)
        best[open_at] = grid[np.arange(len(grid)), at]
        # where nothing is kept at all no interval is better than another
        edge = ((at == 0) | (at == len(steps) - 1)) & (kept.max(axis=1) > 0.0)
        open_at = open_at[edge]
        if len(open_at) == 0:
            break
        centre[open_at] = best[open_at]
    return best


def _towards_top(values: FloatArray, step: float) -> FloatArray:
    """How far the top of the parabola through three values is from the middle one, at most two steps. [step], (n,)"""
    low, middle, high = values[:, 0], values[:, 1], values[:, 2]
    bend = 2.0 * middle - low - high
    return np.where(bend > 0.0, np.clip(0.5 * (high - low) / np.where(bend > 0.0, bend, 1.0), -1.0, 1.0), 0.0) * step


def _search_s(law: Law, lost_s: FloatArray, offset_s: FloatArray) -> FloatArray:
    """The best interval of a smooth law: a log grid, parabolas, and a last step by differences of fourth order. [s], (n,)"""
    count = min(max(33, round(20.0 / spread_of(law))), 401)
    steps = np.linspace(math.log(0.15), math.log(8.0), count)
    at = _coarse(law, lost_s, offset_s, steps)
    width = float(steps[1] - steps[0])
    lost, offset = lost_s[:, None], offset_s[:, None]
    for step in (width, width / 3.0, width / 12.0, width / 48.0):
        around = at[:, None] + step * np.array([-1.0, 0.0, 1.0])
        at = at + _towards_top(_kept(law, lost, offset, around, FEWEST_TERMS), step)
    five = _kept(law, lost, offset, at[:, None] + _STENCIL * np.arange(-2, 3), FEWEST_TERMS)
    slope = five @ np.array([1.0, -8.0, 0.0, 8.0, -1.0]) / 12.0
    bend = five @ np.array([1.0, -16.0, 30.0, -16.0, 1.0]) / 12.0
    move = np.where(bend > 0.0, np.clip(slope / np.where(bend > 0.0, bend, 1.0), -1.0, 1.0), 0.0)
    return np.asarray(lost_s + np.exp(at + _STENCIL * move))


def _tooth_s(law: Empirical, lost_s: float, offset_s: float) -> float:
    """The best interval for the gaps of a log: one that puts the last save right at the end of some gap. [s]

    What is kept rises with T until a save no longer fits into its gap, at T = (gap - offset) / j. The number of saves that
    fit is the number of such teeth from T on, so the sorted teeth hold every candidate with its count.
    """
    low = lost_s + 0.2 * float(_start_s(law, np.asarray(lost_s), np.asarray(offset_s)))
    room = law.sorted_s - offset_s
    best = 0.0
    for _ in range(_WIDEN):
        fit = np.floor(np.maximum(room, 0.0) / low).astype(np.int64)
        if fit.sum() > _TEETH:
            break
        saves = np.arange(fit.sum()) - np.repeat(np.cumsum(fit) - fit, fit) + 1
        teeth = np.sort(np.repeat(room, fit) / saves)[::-1]
        if len(teeth) > 0:
            kept = (teeth - lost_s) * np.arange(1, len(teeth) + 1)
            best = float(teeth[np.argmax(kept)])
            if best > 1.5 * low:
                break
        low = lost_s + 0.4 * (low - lost_s)
    # a hair below the tooth, so that rounding does not lose the save
    return best * (1.0 - 1e-12)


def _smoothed_s(law: Empirical, lost_s: FloatArray, offset_s: FloatArray, groups: int) -> FloatArray:
    """The best interval for the gaps of a log in groups; where there are no more gaps than that, the best of 400. [s], (n,)"""
    coarser = grouped(law, groups)
    if isinstance(coarser, Grouped):
        return _search_s(coarser, lost_s, offset_s)
    return np.asarray(lost_s + np.exp(_coarse(law, lost_s, offset_s, np.linspace(math.log(0.2), math.log(8.0), 400))))


def _best_s(law: Law, lost_s: FloatArray, offset_s: FloatArray) -> FloatArray:
    """The best interval point by point. [s], (n,)"""
    if not isinstance(law, Empirical) or isinstance(law, Grouped):
        return _search_s(law, lost_s, offset_s)
    if len(lost_s) > _EXACT_POINTS:
        return _smoothed_s(law, lost_s, offset_s, _TABLE_GROUPS)
    teeth = np.array([_tooth_s(law, float(lost), float(offset)) for lost, offset in zip(lost_s, offset_s, strict=True)])
    return np.where(teeth > 0.0, teeth, _smoothed_s(law, lost_s, offset_s, _GROUPS))


def _nodes(values: FloatArray, step: float) -> FloatArray:
    """The values themselves if they are few, else ones about `step` apart over the same range. (k,)"""
    few = np.unique(values)
    if len(few) <= _TABLE_AS_THEY_ARE:
        return few
    return np.linspace(few[0], few[-1], max(math.ceil((few[-1] - few[0]) / step), _TABLE_AS_THEY_ARE) + 1)


def _between(nodes: FloatArray, values: FloatArray) -> tuple[np.ndarray[tuple[int, ...], np.dtype[np.intp]], FloatArray]:
    """The node below each value and how far it is on the way to the next. [1]"""
    if len(nodes) == 1:
        return np.zeros(values.shape, dtype=np.intp), np.zeros(values.shape)
    below = np.clip(np.searchsorted(nodes, values, side="right") - 1, 0, len(nodes) - 2)
    return below, (values - nodes[below]) / (nodes[below + 1] - nodes[below])


def _by_table_s(law: Law, lost_s: FloatArray, offset_s: FloatArray) -> FloatArray:
    """The best interval from a table over ln C and ln(offset + about T/2), linear in logs between its nodes. [s], (n,)"""
    floor = 0.5 * float(np.sqrt(2.0 * lost_s.min() * law.mean_s))
    cost, age = np.log(lost_s), np.log(offset_s + floor)
    costs, ages = _nodes(cost, _COST_STEP), _nodes(age, _AGE_STEP)
    at_cost, at_age = (part.ravel() for part in np.meshgrid(costs, ages, indexing="ij"))
    offsets = np.maximum(np.exp(at_age) - floor, 0.0)
    table = np.log(_best_s(law, np.exp(at_cost), offsets)).reshape(len(costs), len(ages))
    (i, right), (j, up) = _between(costs, cost), _between(ages, age)
    i2, j2 = np.minimum(i + 1, len(costs) - 1), np.minimum(j + 1, len(ages) - 1)
    low = table[i, j] * (1.0 - up) + table[i, j2] * up
    high = table[i2, j] * (1.0 - up) + table[i2, j2] * up
    return np.asarray(np.exp(low * (1.0 - right) + high * right))


def renewal_best_interval_s(*, law: Law, lost_s: FloatArray, background_s: FloatArray, restart_s: FloatArray) -> FloatArray:
    """Return the interval of least waste under a renewal law, as long as the write fits into it. [s], broadcast

    Args:
        law: Of the gaps between interruptions; its mean is M.
        lost_s: Training lost per save, C with background loss. [s], >= 0; 0 gives 0
        background_s: From the end of the stop until the checkpoint can be restored. [s]
        restart_s: R. [s]

    Unlike E2 it depends on R + t_a: an old job with a shape below 1 is safer than a young one. Found by search, to 1e-6 of
    T; more than 600 different points come from a table, within 0.2 % of T, where the waste is flat. For the gaps of a log
    it is the true best, at a tooth of a saw (up to 8 points and 400,000 saves in all gaps); otherwise the best of 400, or for
    128 groups of gaps, whose waste is up to some percent of itself higher, more where gaps are few. docs/models.md 15.2.
    """
    lost, offset = np.broadcast_arrays(np.asarray(lost_s, dtype=float), np.asarray(background_s) + np.asarray(restart_s))
    points, back = np.unique(lost.ravel() + 1j * offset.ravel(), return_inverse=True)
    best = np.zeros(len(points))
    costs = points.real > 0.0
    if costs.any():
        has_teeth = isinstance(law, Empirical) and not isinstance(law, Grouped)
        many = int(costs.sum()) > (_EXACT_POINTS if has_teeth else _DIRECT_POINTS)
        find = _by_table_s if many else _best_s
        best[costs] = find(law, points.real[costs], points.imag[costs])
    return np.asarray(best[back].reshape(lost.shape))
