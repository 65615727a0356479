"""What was found in the user's files, in words and in order: groups of rows, values, ranges, places and what they change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ckptplanner.engine.adopting import COUNTED_DIGITS, DIGITS, Effect
from ckptplanner.engine.compare_words import dollars
from ckptplanner.engine.evidence import Estimate
from ckptplanner.engine.readings import LEAST_FOR_QUANTILES
from ckptplanner.engine.value_words import VALUE_WORDS
from ckptplanner.ui.evidence.card import capital
from ckptplanner.ui.words import say, say_text
from ckptplanner.units import COUNT, HOUR, SECONDS, UNKNOWN, Unit, brief, grouped, significant

Group = Literal["interruptions", "saves", "restart", "size", "rates", "platform"]
GROUPS: tuple[Group, ...] = ("interruptions", "saves", "restart", "size", "rates", "platform")
Tone = Literal["proposed", "doubtful", "refused", "reading"]
_TONES: tuple[Tone, ...] = ("proposed", "doubtful", "refused", "reading")

_OF_QUANTITY: Mapping[str, Group] = {
    **dict.fromkeys(
        ("stop", "restorable", "write", "interval", "background_loss", "slowdown", "local_stop", "local_write",
         "local_interval", "step"), "saves",
    ),
    **dict.fromkeys(("detect", "reschedule", "start", "restore_read", "restart", "lost_steps", "queue"), "restart"),
    **dict.fromkeys(("checkpoint", "bytes_per_param", "params", "generations", "nodes"), "size"),
    **dict.fromkeys(
        ("writes_at", "reads_at", "drives_write", "drives_read", "copy", "exchange", "shared_load"), "rates",
    ),
    **dict.fromkeys(("mtbi", "shape"), "interruptions"),
}  # fmt: skip
_OF_PATH: tuple[tuple[str, Group], ...] = (
    ("failures.", "interruptions"), ("workload.model", "size"), ("workload.layout", "size"), ("workload.total", "size"),
    ("workload.active", "size"), ("restore.", "restart"), ("local.", "saves"),
)  # fmt: skip
_LEAST_USD, _LEAST_WASTE = 0.5, 5e-7  # a month; below them a change is none


def group_of(estimate: Estimate) -> Group:
    """Under which heading a value stands."""
    if estimate.id in _OF_QUANTITY:
        return _OF_QUANTITY[estimate.id]
    return next((group for start, group in _OF_PATH if (estimate.path or "").startswith(start)), "platform")


def group_title(group: Group) -> str:
    """The heading of a group."""
    return {
        "interruptions": say("Interruptions"), "saves": say("Saves"), "restart": say("Restart"), "size": say("Size"),
        "rates": say("Rates"), "platform": say("Platform"),
    }[group]  # fmt: skip


def key_of(effect: Effect) -> str:
    """What tells one value from all others."""
    return f"{effect.estimate.id} {place_words(effect.estimate)}"


def in_order(effects: Sequence[Effect], before: Sequence[Effect] = ()) -> tuple[Effect, ...]:
    """Groups by the most dollars that a proposed value settles, and so inside them; then what is doubtful or for reading only.

    The same values as `before` keep their places, so that none jumps from under a hand that adopts one after the other.
    """
    places = {key_of(effect): at for at, effect in enumerate(before)}
    if places and set(places) == {key_of(effect) for effect in effects}:
        return tuple(sorted(effects, key=lambda effect: places[key_of(effect)]))

    def weight(effect: Effect) -> float:
        return abs(effect.usd_per_month or 0.0) if tone_of(effect) == "proposed" else 0.0

    most = {group: max((weight(one) for one in effects if group_of(one.estimate) == group), default=0.0) for group in GROUPS}

    def place(effect: Effect) -> tuple[float, int, int, float]:
        group = group_of(effect.estimate)
        return (-most[group], GROUPS.index(group), _TONES.index(tone_of(effect)), -weight(effect))

    return tuple(sorted(effects, key=place))


def tone_of(effect: Effect) -> Tone:
    """Whether a value is proposed, doubtful, for reading only or impossible to take over."""
    if effect.estimate.path is None:
        return "reading"
    if effect.refusal:
        return "refused"
    return "proposed" if effect.estimate.is_proposed else "doubtful"


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_same(effect: Effect) -> bool:
    """Whether the plan has this value already, from wherever: it does where taking it over would change nothing."""
    value, now, one = effect.estimate.value, effect.in_use, effect.estimate
    if one.path is None or now is None:
        return False
    if not (_is_number(value) and _is_number(now)):
        return bool(value == now)
    digits = COUNTED_DIGITS if one.basis == "counted" else DIGITS
    scale = HOUR if one.unit is SECONDS and value >= HOUR else 1.0
    taken = round(value) if isinstance(now, int) else float(f"{value / scale:.{digits}g}") * scale  # as adopting rounds it
    return bool(abs(value - now) <= 1e-3 * abs(now) or abs(taken - now) <= 1e-9 * abs(now))


def is_in_use(effect: Effect) -> bool:
    """Whether there is nothing to take over: the plan has this value, and has it from files."""
    return _is_same(effect) and not is_confirmed(effect)


def is_confirmed(effect: Effect) -> bool:
    """Whether the files say the number that the plan has from elsewhere: taking it over makes them its source."""
    return effect.in_use_source != "log" and _is_number(effect.estimate.value) and _is_same(effect)


def can_adopt(effect: Effect) -> bool:
    """Whether there is something to take over."""
    return tone_of(effect) in ("proposed", "doubtful") and not is_in_use(effect)


def is_for_all(effect: Effect) -> bool:
    """Whether "adopt all proposed" takes it along."""
    return tone_of(effect) == "proposed" and not is_in_use(effect)


# ---------------------------------------------------------------- words


def _said(value: Any, path: str | None, unit: Unit | None) -> str:
    if value is None:
        return UNKNOWN
    if isinstance(value, bool):
        return say("yes") if value else say("no")
    if isinstance(value, str):
        words = VALUE_WORDS.get(path or "", {}).get(value)
        return say_text(words) if words is not None else value
    if isinstance(value, int | float):
        if unit is None:
            return significant(float(value), 4)
        return grouped(value, 0 if value == int(value) else 1) if unit is COUNT else brief(float(value), unit)
    return str(getattr(value, "name", "")) or UNKNOWN


def found_words(estimate: Estimate) -> str:
    """The value that was found."""
    return estimate.shown or _said(estimate.value, estimate.path, estimate.unit)


def in_use_words(effect: Effect) -> str:
    """The value that the plan has."""
    return _said(effect.in_use, effect.estimate.path, effect.estimate.unit)


def range_words(estimate: Estimate) -> str:
    """The ends of the interval or of most values; empty where they are not known."""
    low, high, unit = estimate.low, estimate.high, estimate.unit
    ends = [_said(end, estimate.path, unit) for end in (low, high) if end is not None and abs(end) < float("inf")]
    if len(ends) == 2:
        return ends[0] if ends[0] == ends[1] else say("{low} to {high}", low=ends[0], high=ends[1])
    if not ends:
        return ""
    return say("at least {low}", low=ends[0]) if low is not None else say("at most {high}", high=ends[0])


def spread_words(estimate: Estimate) -> str:
    """What that range is."""
    if not range_words(estimate):
        return ""
    values = say("9 in 10 values") if estimate.count >= LEAST_FOR_QUANTILES else say("least to greatest")
    return {"interval": say("90 % interval"), "values": values}.get(estimate.spread, "")


def basis_words(estimate: Estimate) -> str:
    """What the value rests on: 23 interruptions, 3 values, stated."""
    count = grouped(estimate.count)
    if estimate.basis == "counted":
        return say("1 interruption") if estimate.count == 1 else say("{count} interruptions", count=count)
    if estimate.basis == "stated":
        return say("stated")
    if estimate.basis == "derived" and estimate.count <= 1:
        return say("worked out")
    return say("1 value") if estimate.count == 1 else say("{count} values", count=count)


def place_words(estimate: Estimate) -> str:
    """The first place, and how many more there are."""
    if not estimate.places:
        return ""
    first, more = str(estimate.places[0]), len(estimate.places) - 1
    return first if not more else say("{place} and {count} more", place=first, count=more)


def money_change(usd_per_month: float | None) -> str:
    """What the total changes by, with its sign."""
    if usd_per_month is None:
        return UNKNOWN
    if abs(usd_per_month) < _LEAST_USD:
        return say("none")
    return ("+" if usd_per_month > 0 else "−") + dollars(abs(usd_per_month))


def waste_change(fraction: float | None) -> str:
    """What the waste changes by, in points of a hundred, with its sign."""
    if fraction is None:
        return UNKNOWN
    if abs(fraction) < _LEAST_WASTE:
        return say("none")
    size = abs(fraction) * 100
    digits = "0.0001" if size < 1e-4 else significant(size, 2)
    return f"{'+' if fraction > 0 else '−'}{digits}"


def direction(change: float | None, least: float) -> int:
    """−1 for less, 1 for more, 0 for what cannot be seen."""
    if change is None or abs(change) < least:
        return 0
    return 1 if change > 0 else -1


def money_direction(effect: Effect) -> int:
    """Whether the total becomes less or more."""
    return direction(effect.usd_per_month, _LEAST_USD)


def waste_direction(effect: Effect) -> int:
    """Whether the waste becomes less or more."""
    return direction(effect.waste_fraction, _LEAST_WASTE)


def _sentence(words: str) -> str:
    """Words that begin large and end with a stop, so that several can follow one another."""
    whole = words if words.endswith((".", "?", "!", "。", "．")) else f"{words}."
    return capital(whole) if words.split(" ", 1)[0].isalpha() else whole  # the name of a file stays as it is


def remarks(effect: Effect) -> tuple[str, ...]:
    """What is to be known of a value, the gravest first."""
    parts: list[str] = []
    if effect.refusal:
        parts.append(_sentence(say("Cannot be adopted: {why}", why=effect.refusal)))
    if effect.far is not None:
        parts.append(_sentence(say_text(effect.far)))
    notes = [_sentence(say_text(note)) for note in effect.estimate.notes]
    if tone_of(effect) == "doubtful":
        notes = [say("Not proposed. {why}", why=notes[0]), *notes[1:]] if notes else [say("Not proposed: it is doubtful.")]
    return (*parts, *notes)


# ---------------------------------------------------------------- how many inputs are settled


@dataclass(frozen=True, slots=True)
class Coverage:
    """Of the inputs that files can settle: those that they settle, those that are a guess, and how many there are."""

    settled: tuple[str, ...] = ()
    assumed: tuple[str, ...] = ()
    count: int = 0


# what every plan rests on and some file of the user's tells
KEY_INPUTS = (
    "failures.mtbi_s", "storage.blocking_s", "workload.step_s", "failures.detect_s", "failures.reschedule_s",
    "failures.start_s", "workload.total_params", "workload.layout", "workload.nodes", "storage.write_s",
)  # fmt: skip
_SAME = {"workload.bytes_per_param": "workload.layout", "workload.measured_bytes": "workload.layout",
         "workload.model": "workload.total_params", "failures.record": "failures.mtbi_s"}  # fmt: skip


def coverage(effects: Sequence[Effect], sources: Mapping[str, str]) -> Coverage:
    """Count the inputs.

    Args:
        effects: What the files say.
        sources: The source word of every key input of the plan.
    """
    known = (
        _SAME.get(path, path) for one in effects if (path := one.estimate.path) is not None and tone_of(one) in ("proposed",)
    )
    measured = (path for path, word in sources.items() if word == "log")
    settled = tuple(dict.fromkeys((*known, *measured)))
    assumed = tuple(path for path, word in sources.items() if word == "guess" and path not in settled)
    return Coverage(settled, assumed, len({*settled, *sources}))


def title_of(effect: Effect) -> str:
    """What the value is."""
    return say_text(effect.estimate.title)
