"""What a record of interruptions says, in sentences: how often, how surely, and what is to be known of it."""

from __future__ import annotations

import math

from ckptplanner.engine.evidence import FailureRecord
from ckptplanner.ui.words import day_count, node_count, say, say_text
from ckptplanner.units import DAY, SECONDS, brief, rough


def long_time(seconds: float) -> str:
    """A length as one says it: in days from three of them on."""
    return day_count(float(f"{seconds / DAY:.3g}")) if seconds >= 3 * DAY else rough(seconds, SECONDS)


def verdict(record: FailureRecord) -> str:
    """How often it was interrupted, over how long, on how many nodes."""
    count = record.count
    what = say("No interruption") if count == 0 else say("1 interruption") if count == 1 else say(
        "{count} interruptions", count=f"{count:,}"
    )  # fmt: skip
    known = {"what": what, "time": long_time(record.exposure_s), "every": _every(record)}
    if math.isfinite(record.nodes) and record.nodes >= 1.0:
        nodes = node_count(round(record.nodes))
        if record.is_exposure_known:
            return say("{what} in {time} of running on {nodes}: {every}.", nodes=nodes, **known)
        return say("{what} in {time} on {nodes}: {every}.", nodes=nodes, **known)
    if record.is_exposure_known:
        return say("{what} in {time} of running: {every}.", **known)
    return say("{what} in {time}: {every}.", **known)


def _every(record: FailureRecord) -> str:
    low, high = brief(record.low_s, SECONDS), brief(record.high_s, SECONDS) if math.isfinite(record.high_s) else ""
    if record.count == 0 or not math.isfinite(record.mtbi_s):
        if not math.isfinite(record.low_s):
            return say("how often cannot be told")
        return say("at most one every {low}, at 90 %", low=low)
    mean = brief(record.mtbi_s, SECONDS)
    if not high:
        return say("one every {mean} (at least {low} at 90 %)", mean=mean, low=low)
    return say("one every {mean} ({low} to {high} at 90 %)", mean=mean, low=low, high=high)


def notes(record: FailureRecord) -> str:
    """What is to be known beside it, in one line: with a published record, what the files lack, whether a law can be told."""
    found: list[str] = []
    if (combined := record.combined) is not None:
        values = {"name": combined.name, "mean": brief(combined.mtbi_s, SECONDS)}
        ends = {"low": brief(combined.low_s, SECONDS), "high": brief(combined.high_s, SECONDS)}
        found.append(say("Together with {name} one every {mean} ({low} to {high}).", **values, **ends))
    found += [_ended(say_text(note)) for note in record.notes]
    if (law := _law(record)) is not None:
        found.append(law)
    return " ".join(found)


def _ended(sentence: str) -> str:
    """A note as a sentence."""
    sentence = sentence[:1].upper() + sentence[1:]
    return sentence if sentence.endswith((".", "。", "?", "!", "…")) else f"{sentence}."


def _law(record: FailureRecord) -> str | None:
    """Whether interruptions come in bursts, where the gaps can tell."""
    shape = record.shape
    if shape is None or not shape.can_tell or shape.low <= 1.0 <= shape.high:
        return None
    return say("They come in bursts.") if shape.shape < 1.0 else say("They come more regularly than by chance.")
