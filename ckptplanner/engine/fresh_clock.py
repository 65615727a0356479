"""How many interruptions a run sees that begins right after one, with a fresh clock (docs/models.md 15.1).

The formula is for a run that has gone on for long, with one interruption every M. Gaps that come in bursts make more of them
at the beginning, regular ones fewer: H(t), the renewal function of the law, is not t / M.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from ckptplanner.engine.laws import Law

_POINTS = 4096
_LONGEST = 200.0  # means; after that one comes every mean
_WRAPPED = 1e-8  # what the circle lets through of counts beyond its end


@lru_cache(maxsize=64)
def expected_interruptions(law: Law, span_s: float) -> float:
    """Return the mean number of interruptions within a span that begins with a fresh clock, H(span). [1]

    Args:
        law: Of the gaps.
        span_s: During which the clock runs. [s], >= 0

    The gaps in steps of an even grid, their powers summed by one Fourier transform on a circle a little inside the unit one:
    the lattice method of J. Abate and W. Whitt, Operations Research Letters 12(4), 1992. Within some percent of H(t) - t/M.
    """
    begun_s = min(span_s, _LONGEST * law.mean_s)
    if begun_s <= 0.0:
        return 0.0
    step = begun_s / _POINTS
    alive = law.survival(np.asarray(step * (np.arange(_POINTS + 1) - 0.5)))
    shrink = math.exp(math.log(_WRAPPED) / (2 * _POINTS))
    powers = shrink ** np.arange(_POINTS)
    gaps = np.fft.rfft((alive[:-1] - alive[1:]) * powers, 2 * _POINTS)
    counts = np.fft.irfft(gaps / (1.0 - gaps), 2 * _POINTS)[:_POINTS] / powers
    # half of what falls on the last point of the grid is within the span
    return float(counts.sum() + 0.5 * counts[-1] + (span_s - begun_s) / law.mean_s)
