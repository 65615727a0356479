"""A small calculator for what derivations print: units, roots, sums and the laws of gaps, each worked out in its own way."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.special import erfc

from ckptplanner.engine.beyond import jobs_writing, no_spare_probability
from ckptplanner.engine.derivation.derive import Derivation
from ckptplanner.frozen import FloatArray
from tests.engine.cases import GAPS
from tests.engine.test_fleet import by_equation

CHANCES = ("no_spare_fraction", "node_loss_fraction", "replica_after_first", "replica_loss", "planned_fraction")
SCALES = {
    "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0, "years": 365 * 86400.0, "d": 1.0, "%": 0.01,
    "B": 1.0, "kB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12, "PB": 1e15, "GiB": 1.0,
    "/GB": 1e-9, "MB/s/TiB": 1e6, "B/s": 1.0, "kB/s": 1e3, "MB/s": 1e6, "GB/s": 1e9, "TB/s": 1e12, "PB/s": 1e15,
}  # fmt: skip
QUANTITY = re.compile(r"\$?(\d[\d,]*\.?\d*(?:e[+-]?\d+)?)(?:\u00a0([A-Za-z%/]+))?(/GiB|/GB|/h)?")
MONEY = {"k": 1e3, "M": 1e6, "B": 1e9}


def quantity(match: re.Match[str]) -> str:
    number, unit = match[1].rstrip(","), match[2]
    tail = "," if match[1].endswith(",") else ""
    scale = (SCALES[unit] if unit else 1.0) * SCALES.get(match[3] or "", 1.0)
    return f"({number.replace(',', '')}*{scale!r}){tail}"


SIGNS = {
    "−": "-", " · ": " * ", "√": "sqrt", "⌈": "ceil(", "⌉": ")", "⌊": "floor(", "⌋": ")", "e^": "exp", "^": "**",
}  # fmt: skip


def worked_out(expression: str, unknown: float = math.nan) -> float:
    """The value of a printed line; `unknown` is the T that an argmax looks for."""
    code = re.sub(r"8,760\u00a0h(?= [·/])", "8760", expression)
    code = re.sub(r"\$([\d.,]+)([kMB])(?=$| )", lambda found: str(float(found[1].replace(",", "")) * MONEY[found[2]]), code)
    code = re.sub(
        r"(\d+(?:,\d+)?)\u00a0(h|min)\u00a0(\d+)\u00a0(min|s)", r"(\1\u00a0\2+\3\u00a0\4)".replace("\\u00a0", "\u00a0"), code
    )
    code = QUANTITY.sub(quantity, code)
    for sign, meaning in SIGNS.items():
        code = code.replace(sign, meaning)
    if "Σ " in code:  # the law of the gaps is the last call of its line
        start = code.index("Σ ")
        code = f"{code[:start]}total(lambda j: {code[start + 2 :]})"
    names: dict[str, Any] = {"max": max, "min": min, "round": round, "sqrt": math.sqrt, "exp": _exp, "ceil": math.ceil}
    names |= {"binom": _binom, "poisson": lambda count, mean: no_spare_probability(int(count), mean, 1.0)}
    names |= {"floor": math.floor, "total": _total, "weibull": _weibull, "lognormal": _lognormal, "gaps": _gaps, "T": unknown}
    names["renewals"] = _renewals

    return float(eval(code, {"__builtins__": {}, **names}))  # our own printed line


def _exp(power: float) -> float:
    return math.exp(power) if power < 700 else math.inf


def _total(chance: Callable[[FloatArray], FloatArray]) -> float:
    """The sum over j = 0, 1, 2, ... until nothing more comes."""
    found, size = 0.0, 100_000
    for start in range(0, 40 * size, size):
        terms = chance(np.arange(start, start + size, dtype=float))
        found += float(terms.sum())
        if terms[-1] < 1e-10:
            break
    return found


def _weibull(age: FloatArray, mean: float, shape: float) -> FloatArray:
    return np.exp(-((age * math.gamma(1 + 1 / shape) / mean) ** shape))


def _lognormal(age: FloatArray, mean: float, shape: float) -> FloatArray:
    deviation = (np.log(age / mean) + shape**2 / 2) / shape
    return np.asarray(erfc(deviation / math.sqrt(2)) / 2)


def _gaps(age: FloatArray, mean: float) -> FloatArray:
    """Each gap spread evenly around itself, as wide as from the middle to its neighbour below to that above."""
    gaps = np.array(GAPS)
    middles = (gaps[1:] + gaps[:-1]) / 2
    width = np.diff(np.concatenate((gaps[:1], middles, gaps[-1:]))) * mean / gaps.mean()
    return np.mean(np.clip(((gaps * mean / gaps.mean())[:, None] - age) / width[:, None] + 0.5, 0.0, 1.0), axis=0)


def _renewals(age: float, mean: float, shape: float) -> float:
    """How often a new node fails up to an age: the renewal equation, stepped through."""
    return float(by_equation(shape, age / mean, 2500)[-1])


def _binom(jobs: float, duty: float, point: float) -> float:
    assert point == pytest.approx(0.95)
    return float(jobs_writing(int(jobs), np.array(duty)))


def check(found: Derivation) -> None:
    """The printed left side gives the printed result."""
    if "⇒" in found.substituted:
        equation, result = found.substituted.split(" ⇒ ")
        left, right = map(worked_out, equation.split(" = "))
        assert left == pytest.approx(right, rel=2e-3)
        assert result.endswith(f"= {found.result}")
        return
    if "≤" in found.substituted:
        left, right = map(worked_out, found.substituted.split(" ≤ "))
        assert left <= right * (1 + 1e-4)
        return
    if " = " not in found.substituted:
        assert found.substituted == found.result
        return
    left, right = found.substituted.rsplit(" = ", 1)
    assert right == found.result
    if left.startswith("argmax "):
        check_largest(left.removeprefix("argmax "), worked_out(right))
        return
    result = worked_out(right.lstrip("+"))
    lost_digits = 6e-4 if found.figure not in CHANCES else 1e-12  # a difference from 1 has no more digits than that
    assert worked_out(left) == pytest.approx(result, rel=0.011, abs=lost_digits), found.substituted


def check_largest(expression: str, found: float) -> None:
    """Nothing around the printed T gives more; how a log's gaps are kept at their mean while spread moves the sum a little."""
    best = worked_out(expression, found)
    for factor in (0.5, 0.8, 0.9, 0.97, 1.03, 1.1, 1.25, 2.0):
        assert worked_out(expression, found * factor) <= best * (1 + (5e-3 if "gaps" in expression else 1e-7)), factor
