"""Break-evens in sentences: one for each bar, and the one under the cards that names the two which matter most.

    “5 min” costs less than “20 min” while a GPU-hour is worth more than $6.31.
    It beats “20 min” while a GPU-hour is worth more than $6.31, and jobs of 32 nodes are
    interrupted more often than every 566 h.

What matters most is the flip that is nearest to today's value, counted in shares of the input's range, so that times and
prices can be compared. Inputs that nobody decides come first: nobody is surprised by the number of nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from ckptplanner.engine.evaluate import evaluate
from ckptplanner.engine.flips import FlipBar, Segment, Winner, flip_bars
from ckptplanner.engine.levers import BYTES_EACH, GPU_VALUE, RESTART_BASE, STORAGE_PRICE
from ckptplanner.engine.ranges import Range, ranges_of
from ckptplanner.engine.same_job import same_job
from ckptplanner.engine.scenario import NamedScenario
from ckptplanner.text import Text, listed, text
from ckptplanner.units import BYTES_PER_PARAM, COUNT, NBSP, SHOWN_STEPS, Unit, brief, grouped, significant

_MOST_DIGITS = 9
NAMED = 2  # in the sentence under the cards


@dataclass(frozen=True, slots=True)
class _Words:
    """How one says that an input is above, below or between values."""

    above: Text
    below: Text
    between: Text


_WORDS: Mapping[str, _Words] = {
    GPU_VALUE: _Words(
        text("a GPU-hour is worth more than {low}"), text("a GPU-hour is worth less than {high}"),
        text("a GPU-hour is worth between {low} and {high}")),
    "failures.mtbi_s": _Words(
        text("{nodes} are interrupted less often than every {low}"),
        text("{nodes} are interrupted more often than every {high}"),
        text("{nodes} are interrupted every {low} to {high}")),
    "workload.nodes": _Words(
        text("the job has {low} nodes or more"), text("the job has fewer than {high} nodes"),
        text("the job has at least {low} and fewer than {high} nodes")),
    "workload.total_params": _Words(
        text("the model has more than {low} parameters"), text("the model has fewer than {high} parameters"),
        text("the model has between {low} and {high} parameters")),
    "workload.measured_bytes": _Words(
        text("a checkpoint takes more than {low}"), text("a checkpoint takes less than {high}"),
        text("a checkpoint takes between {low} and {high}")),
    BYTES_EACH: _Words(
        text("more than {low} are saved for each parameter"), text("less than {high} are saved for each parameter"),
        text("between {low} and {high} are saved for each parameter")),
    STORAGE_PRICE: _Words(
        text("a GiB of storage costs more than {low} a month"), text("a GiB of storage costs less than {high} a month"),
        text("a GiB of storage costs between {low} and {high} a month")),
    "storage.blocking_s": _Words(
        text("a save stops training for more than {low}"), text("a save stops training for less than {high}"),
        text("a save stops training for between {low} and {high}")),
    "storage.write_s": _Words(
        text("a write may take more than {low}"), text("a write may take less than {high}"),
        text("a write may take between {low} and {high}")),
    "storage.write_efficiency": _Words(
        text("saves reach more than {low} of the baseline"), text("saves reach less than {high} of the baseline"),
        text("saves reach between {low} and {high} of the baseline")),
    "storage.read_efficiency": _Words(
        text("restarts reach more than {low} of the baseline"), text("restarts reach less than {high} of the baseline"),
        text("restarts reach between {low} and {high} of the baseline")),
    RESTART_BASE: _Words(
        text("a restart takes more than {low} before the read"), text("a restart takes less than {high} before the read"),
        text("a restart takes between {low} and {high} before the read")),
    "storage.generations_kept": _Words(
        text("{low} generations or more are kept"), text("fewer than {high} generations are kept"),
        text("at least {low} and fewer than {high} generations are kept")),
}  # fmt: skip
_ANY = _Words(
    text("“{title}” is above {low}"), text("“{title}” is below {high}"), text("“{title}” is between {low} and {high}")
)
_ANY_WHOLE = _Words(
    text("“{title}” is {low} or more"), text("“{title}” is below {high}"), text("“{title}” is at least {low} and below {high}")
)


_EXACTLY: Mapping[str, Text] = {
    "workload.nodes": text("the job has exactly {low} nodes"),
    "storage.generations_kept": text("exactly {low} generations are kept"),
}
_ANY_EXACTLY = text("“{title}” is {low}")
_FEW = 3  # pieces that one sentence names


def amount(value: float, unit: Unit, digits: int = 3) -> str:
    """A value as one says it in a sentence: $6.31, 566 h, 309 B; more digits where the usual three are not enough."""
    if unit.kind == "usd":
        return ("−$" if value < 0 else "$") + significant(abs(value), digits)
    if unit is COUNT:
        return grouped(round(value))
    if unit is BYTES_PER_PARAM:
        return f"{significant(value, digits)}{NBSP}B"
    if digits > 3:
        steps = SHOWN_STEPS.get(unit.kind, ())
        name, scale = next((step for step in steps if abs(value) >= step[1]), ("", 1.0))
        if name:
            return f"{significant(value / scale, digits)}{NBSP}{name}"
    return brief(value, unit, digits)


def amounts(values: Sequence[float], unit: Unit) -> tuple[str, ...]:
    """Values of one input, each with as many digits as it takes to tell neighbours apart; three at least."""
    for digits in range(3, _MOST_DIGITS + 1):
        shown = tuple(amount(value, unit, digits) for value in values)
        if len(set(shown)) == len(set(values)):
            break
    return shown


def condition(bar: FlipBar, piece: Segment) -> Text | None:
    """What has to hold for an input to lie in a piece of its bar; None where the piece is the whole range."""
    over, nodes, shown = bar.range, bar.mtbi_nodes, _shown(bar)
    words = _WORDS.get(over.path, _ANY_WHOLE if over.lever.is_whole else _ANY)
    from_start, to_end = piece == bar.segments[0], piece == bar.segments[-1]
    if from_start and to_end:
        return None
    template = words.below if from_start else words.above if to_end else words.between
    if over.lever.is_whole and not (from_start or to_end) and piece.high - piece.low <= 1.0:
        template = _EXACTLY.get(over.path, _ANY_EXACTLY)
    counted = text("jobs of {count} nodes", count=grouped(nodes)) if nodes > 1 else text("jobs of 1 node")
    values: dict[str, object] = {
        "low": shown.get(piece.low, ""), "high": shown.get(piece.high, ""), "title": over.lever.title, "nodes": counted,
    }  # fmt: skip
    used = {name: value for name, value in values.items() if f"{{{name}}}" in template.template}
    return Text(template.template, text("", **used).values)


def _shown(bar: FlipBar) -> dict[float, str]:
    values = [flip.value for flip in bar.flips]
    return dict(zip(values, amounts(values, bar.range.lever.unit), strict=True))


def _either(conditions: Sequence[Text]) -> Text:
    """One condition or another."""
    if len(conditions) == 1:
        return conditions[0]
    return text("{these}, or {last}", these=listed(conditions[:-1]), last=conditions[-1])


def _names(bar: FlipBar, winner: Winner) -> dict[str, str]:
    pair = (bar.first, bar.second) if winner == "first" else (bar.second, bar.first)
    return {"winner": pair[0], "loser": pair[1]}


def _spoken_for(bar: FlipBar) -> Winner:
    """Whose pieces the sentence lists: today's winner, or whoever wins somewhere."""
    winners = (bar.today.winner, *(piece.winner for piece in bar.segments))
    return next((winner for winner in winners if winner in ("first", "second")), bar.today.winner)


def flip_sentence(bar: FlipBar) -> Text:
    """What a bar says, in one sentence: who costs less and while what holds, every flip named."""
    winner, over = _spoken_for(bar), bar.range
    low, high = amounts((over.low, over.high), over.lever.unit)
    ends: dict[str, object] = {"title": over.lever.title, "low": low, "high": high}
    if winner == "unknown":
        return text("“{first}” and “{second}” cannot be compared: the dollars of one are not known.",
                    first=bar.first, second=bar.second)  # fmt: skip
    if winner == "equal":
        return text("{title} from {low} to {high}: “{first}” and “{second}” cost the same.",
                    first=bar.first, second=bar.second, **ends)  # fmt: skip
    if not bar.flips:
        return text("{title} from {low} to {high}: “{winner}” costs less than “{loser}”.", **_names(bar, winner), **ends)
    pieces = [piece for piece in bar.segments if piece.winner == winner]
    if len(pieces) > _FEW:
        here = bar.today if bar.today.winner == winner else pieces[0]
        return text(
            "“{winner}” costs less than “{loser}” while {condition}, and in {count} other pieces of the range.",
            **_names(bar, winner), condition=condition(bar, here), count=len(pieces) - 1,
        )  # fmt: skip
    conditions = [one for piece in pieces if (one := condition(bar, piece)) is not None]
    return text("“{winner}” costs less than “{loser}” while {condition}.", **_names(bar, winner), condition=_either(conditions))


def nearest(bars: Sequence[FlipBar], count: int = NAMED) -> tuple[FlipBar, ...]:
    """The bars that matter most: uncertain inputs before decided ones, then the nearest flip by `FlipBar.distance`.

    A decided input with more flips than a sentence can name is left out: its nearest flip says little.
    """
    known = [bar for bar in bars if bar.flips and bar.today.winner in ("first", "second")]
    flipping = [bar for bar in known if bar.range.is_uncertain or len(bar.flips) <= _FEW]
    return tuple(sorted(flipping, key=lambda bar: (not bar.range.is_uncertain, bar.distance)))[:count]


def beats_sentence(bars: Sequence[FlipBar]) -> Text | None:
    """The sentence under the cards about the first plan against the second; None where nothing is known of their dollars.

    Each condition holds with all other inputs as they are.
    """
    known = [bar for bar in bars if bar.today.winner in ("first", "second")]
    if not known:
        return None
    is_first, other = known[0].today.winner == "first", known[0].second
    found = [one for bar in nearest(known) if (one := condition(bar, bar.today)) is not None]
    flipping = listed(text("“{title}”", title=bar.range.lever.title) for bar in known if bar.flips)
    if not found and flipping.values:
        words = {"winner": known[0].first if is_first else other, "loser": other if is_first else known[0].first}
        return text("“{winner}” costs less than “{loser}” with {inputs} as it is.", **words, inputs=flipping)
    if not found and is_first:
        return text("It beats “{other}” over the whole range of every input.", other=other)
    if not found:
        return text("“{other}” costs less over the whole range of every input.", other=other)
    both = found[0] if len(found) == 1 else text("{one}, and {another}", one=found[0], another=found[1])
    if is_first:
        return text("It beats “{other}” while {condition}.", other=other, condition=both)
    return text("“{other}” costs less while {condition}.", other=other, condition=both)


@dataclass(frozen=True, slots=True)
class BreakEven:
    """The sentence under the cards, and the inputs that its conditions are about, in their order."""

    sentence: Text
    paths: tuple[str, ...]

    @property
    def shorter(self) -> BreakEven | None:
        """The same with its first condition alone; None where there is no second one."""
        both = dict(self.sentence.values).get("condition")
        if len(self.paths) < 2 or not isinstance(both, Text):
            return None
        one = dict(both.values)["one"]
        values = tuple((name, one if name == "condition" else value) for name, value in self.sentence.values)
        return BreakEven(Text(self.sentence.template, values), self.paths[:1])


def break_even(
    shown: NamedScenario, others: Sequence[NamedScenario], progress: Callable[[float], None] = lambda _: None
) -> BreakEven | None:
    """The sentence under the cards for a plan among others: None where there is no other plan for the same job.

    Looks at uncertain inputs first, and at decided ones only where those do not give two flips: half a second, as a rule.
    It is for a moment after the first paint and a thread of its own; `progress` may raise to give up.
    """
    other = rival(shown, others)
    if other is None:
        return None
    ranges = ranges_of(shown)
    bars: tuple[FlipBar, ...] = ()
    for is_uncertain in (True, False):
        some = [one for one in ranges if one.is_uncertain == is_uncertain]
        bars += flip_bars(shown, other, some, progress)
        if len(nearest(bars)) == NAMED:
            break
    said = beats_sentence(bars)
    return None if said is None else BreakEven(said, tuple(bar.path for bar in nearest(bars)) if _has_condition(said) else ())


def _has_condition(said: Text) -> bool:
    return any(name == "condition" for name, _ in said.values)


def headline(
    shown: NamedScenario, others: Sequence[NamedScenario], progress: Callable[[float], None] = lambda _: None
) -> Text | None:
    """The sentence of `break_even` alone."""
    found = break_even(shown, others, progress)
    return None if found is None else found.sentence


def never_sentence(bars: Sequence[FlipBar]) -> Text | None:
    """The inputs that do not flip the choice anywhere in their range; None where each of them does."""
    still = [bar for bar in bars if not bar.flips]
    return text("Without effect on the choice: {inputs}.", inputs=listed(_span(bar.range) for bar in still)) if still else None


def _span(over: Range) -> Text:
    low, high = amounts((over.low, over.high), over.lever.unit)
    return text("{title} {low} to {high}", title=over.lever.title, low=low, high=high)


def rival(shown: NamedScenario, others: Sequence[NamedScenario]) -> NamedScenario | None:
    """The plan to compare with under the cards: the cheapest other one for the same job, or None where there is none."""
    same: list[tuple[float, int]] = []
    plans = same_job(shown, others)
    for number, other in enumerate(plans):
        plan = evaluate(other.scenario)
        total = plan.cost.total_usd_per_year if plan.cost else None
        if total is not None and not plan.count("error"):
            same.append((total, number))
    return plans[min(same)[1]] if same else None
