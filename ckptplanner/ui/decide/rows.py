"""A comparison or a campaign as the grid of the table: the same words as report and command line, nothing computed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from ckptplanner.engine.campaign import Campaign, Stage
from ckptplanner.engine.compare import Change, Comparison, DifferingInput, FigureRow
from ckptplanner.engine.compare_words import difference_text, dollars, is_seen, share_text, value_text
from ckptplanner.engine.sentence import option_name
from ckptplanner.ui.decide.grid import Cell, Grid, Head, Row, Tone
from ckptplanner.ui.shown import Shown
from ckptplanner.ui.words import say, say_text
from ckptplanner.units import BYTES, BYTES_PER_S, DAYS, FRACTION, SECONDS, UNKNOWN, brief, exact, grouped, percent, rough

INPUTS, FIGURES, NEEDS, DOLLARS = "inputs", "figures", "needs", "dollars"


def source_word(kind: str) -> str:
    """The short word that says where a value comes from."""
    return {
        "log": say("log"), "doc": say("doc"), "article": say("article"), "guess": say("guess"), "typed": say("typed"),
    }.get(kind, "")  # fmt: skip


# ---------------------------------------------------------------- side by side


def comparison_grid(found: Comparison, shown: Sequence[Shown], pinned: frozenset[str]) -> Grid:
    """Inputs that differ on top, then what follows; columns in the order of the comparison."""
    heads = tuple(
        Head(one.name, one.index, one.is_base, one.is_current, one.name in pinned, is_broken=at in found.broken)
        for at, one in enumerate(shown)
    )
    basis = {
        "month": say("What follows, dollars a month"), "run": say("What follows, dollars for the run"),
        "year": say("What follows, dollars a year"),
    }[found.basis]  # fmt: skip
    groups = {row.figure.group for row in found.figures}
    rows = [Row(INPUTS, say("What differs") if found.inputs else say("No input differs"), "group")]
    rows += [_input(found, one) for one in found.inputs]
    rows.append(Row(FIGURES, basis, "group"))
    for row in found.figures:
        begins = row.figure.group in groups and row.figure.group != "money"
        groups.discard(row.figure.group)
        rows.append(_figure(found, row, begins=begins))
    return Grid(heads, tuple(rows))


def _input(found: Comparison, one: DifferingInput) -> Row:
    cells = tuple(
        Cell(
            shown=one.shown[at] or UNKNOWN,
            difference=source_word(one.sources[at]) if one.differs[at] or at == found.base else "",
            is_strong=one.differs[at],
            is_marked=one.differs[at],
            is_quiet=not one.differs[at] and at != found.base,
            in_words=say("{name}: {title} {value}", name=name, title=one.title, value=one.in_full[at] or UNKNOWN),
        )
        for at, name in enumerate(found.names)
    )  # fmt: skip
    sort = tuple(float(value) if isinstance(value, int | float) else None for value in one.values)
    can_sort = any(value is not None for value in sort) and not any(isinstance(value, bool) for value in one.values)
    return Row(one.path, one.title, "input", cells, sort=sort if can_sort else ())


def _figure(found: Comparison, row: FigureRow, *, begins: bool) -> Row:
    best = row.best(found.broken)
    cells = tuple(_figure_cell(found, row, at, is_best=at in best) for at in range(len(found.names)))
    sort = tuple(float(value) if isinstance(value, int | float) else None for value in row.values)
    return Row(
        row.figure.path, say_text(row.figure.title), "figure", cells, is_part=row.figure.is_part, begins=begins,
        sort=sort if row.figure.unit is not None else (), more_is_better=row.figure.better == "more",
    )  # fmt: skip


def _figure_cell(found: Comparison, row: FigureRow, at: int, *, is_best: bool) -> Cell:
    shown, title = say_text(value_text(row.figure, row.values[at])), say_text(row.figure.title)
    change = row.changes[at]
    if change is None or not is_seen(row, found.base, at):
        words = say("{name}: {title} {value}", name=found.names[at], title=title, value=shown)
        is_same = at != found.base and row.values[at] == row.values[found.base]
        return Cell(shown, is_strong=is_best, is_quiet=is_same and not is_best, in_words=words)
    difference, share = say_text(difference_text(row.figure, change)), share_text(row.figure, change)
    words = say(
        "{name}: {title} {value}, {difference} to {base}", name=found.names[at], title=title, value=shown,
        difference=", ".join(part for part in (difference, share) if part), base=found.names[found.base],
    )  # fmt: skip
    return Cell(shown, difference, share, _tone(change), is_strong=is_best, in_words=_with_tone(words, change))


def _tone(change: Change) -> Tone:
    if change.is_better is None:
        return ""
    return "better" if change.is_better else "worse"


def _with_tone(words: str, change: Change) -> str:
    if change.is_better is None:
        return words
    return say("{what}: better", what=words) if change.is_better else say("{what}: worse", what=words)


# ---------------------------------------------------------------- one campaign


def campaign_grid(found: Campaign | None, shown: Sequence[Shown]) -> Grid:
    """All stages first, then every scenario; those that are no stages are pale."""
    heads = (Head(say("All stages")), *(Head(one.name, one.index, is_current=one.is_current) for one in shown))
    stages = {stage.name: stage for stage in found.stages} if found is not None else {}
    order = [one.name for one in shown if one.name in stages]

    def row(row_id: str, title: str, whole: str, read: Callable[[Stage], str], *, begins: bool = False) -> Row:
        each = (read(stages[one.name]) if one.name in stages else "" for one in shown)
        titles = (head.name for head in heads)
        cells = (
            Cell(said, is_strong=row_id == "total_usd",
                 in_words=say("{name}: {title} {value}", name=name, title=title, value=said or UNKNOWN))
            for name, said in zip(titles, (whole, *each), strict=True)
        )  # fmt: skip
        return Row(row_id, title, "figure", tuple(cells), begins=begins)

    def total(name: str, write: Callable[[float], str]) -> str:
        return _known(found.total(name) if found is not None else None, write)

    def largest(name: str, write: Callable[[float], str]) -> str:
        return _known(max((getattr(stage, name) for stage in stages.values()), default=None), write)

    money = {
        "storage_usd": say("Storage"), "lost_gpu_usd": say("Lost GPU time"), "other_usd": say("S3, spares, zones"),
        "total_usd": say("Costs in all"), "own_storage_usd": say("Storage, each its own"),
        "own_total_usd": say("In all, each its own"),
    }  # fmt: skip
    if not any(stage.other_usd for stage in stages.values()):
        del money["other_usd"]
    rows = [
        Row("stages", say("Stages"), "group"),
        _stages(shown, order),
        _days(shown, found),
        Row(NEEDS, say("One file system for all"), "group"),
        row("needed_write_bytes_per_s", say("Needs to write"), largest("needed_write_bytes_per_s", _rate),
            lambda stage: _rate(stage.needed_write_bytes_per_s)),
        row("needed_bytes", say("Needs to hold"), largest("needed_bytes", _size), lambda stage: _size(stage.needed_bytes)),
        row("fill_ratio", say("Full"), "", lambda stage: _fill(stage)),
        row("writes_in_s", say("Writes in"), "", lambda stage: _writes(stage)),
        row("period_s", say("Save every"), "", lambda stage: _every(stage)),
        row("waste_fraction", say("Waste, stops included"), _known(found.waste_fraction if found else None, percent),
            lambda stage: _known(stage.waste_fraction, percent)),
        row("saves", say("Saves"), total("saves", grouped), lambda stage: _known(stage.saves, grouped)),
        row("written_bytes", say("Written"), total("written_bytes", _size), lambda stage: _known(stage.written_bytes, _size)),
        Row(DOLLARS, say("Dollars over the days"), "group"),
    ]  # fmt: skip
    for name, title in money.items():
        rows.append(row(name, title, total(name, dollars), partial(_usd, name), begins=name == "own_storage_usd"))
    return Grid(heads, tuple(rows))


def _stages(shown: Sequence[Shown], order: Sequence[str]) -> Row:
    cells = [Cell(grouped(len(order)), in_words=say("{count} stages", count=len(order)))]
    for one in shown:
        said = say("stage {number}", number=order.index(one.name) + 1) if one.name in order else say("left out")
        words = say("{name}: {what}; a click or Space takes it in or leaves it out", name=one.name, what=said)
        cells.append(Cell(said, is_strong=one.name in order, is_marked=one.name in order, is_quiet=one.name not in order,
                          in_words=words))  # fmt: skip
    return Row("stage", say("Part of the campaign"), "stage", tuple(cells))


def _days(shown: Sequence[Shown], found: Campaign | None) -> Row:
    whole = brief(found.days, DAYS) if found is not None else UNKNOWN
    cells = [Cell(whole, in_words=say("All stages: {days}", days=whole))]
    for one in shown:
        said = exact(one.named.scenario.run.days, DAYS)
        words = say("{name}: {days}; Enter or a double click changes it", name=one.name, days=said)
        cells.append(Cell(said, is_quiet=not one.is_stage, in_words=words))
    return Row("days", say("Days"), "days", tuple(cells))


def _known(value: float | None, write: Callable[[float], str]) -> str:
    return UNKNOWN if value is None else write(value)


def _usd(name: str, stage: Stage) -> str:
    return _known(getattr(stage, name), dollars)


def _rate(value: float) -> str:
    return brief(value, BYTES_PER_S)


def _size(value: float) -> str:
    return brief(value, BYTES)


def _fill(stage: Stage) -> str:
    chosen = stage.plan.storage.chosen
    return UNKNOWN if chosen is None else brief(chosen.fill_ratio, FRACTION, 2)


def _writes(stage: Stage) -> str:
    chosen = stage.plan.storage.chosen
    return UNKNOWN if chosen is None else rough(chosen.writes_in_s, SECONDS)


def _every(stage: Stage) -> str:
    schedule = stage.plan.schedule
    return UNKNOWN if schedule is None else rough(schedule.period_s, SECONDS)


def campaign_words(found: Campaign | None) -> str:
    """What the campaign comes to, in a sentence or two."""
    if found is None:
        return say("No scenario is a stage yet: click one in the first row.")
    if found.reason is not None or found.option is None:
        return say_text(found.reason) if found.reason is not None else say("No file system on offer serves every stage.")
    if found.broken:
        return say("{names}: this plan has an error on {system}; show the scenario and look at its findings.",
                   names=", ".join(found.broken), system=say_text(option_name(found.option)))  # fmt: skip
    total, own = found.total("total_usd"), found.total("own_total_usd")
    values = {"name": say_text(option_name(found.option)), "days": brief(found.days, DAYS),
              "written": _known(found.total("written_bytes"), _size)}  # fmt: skip
    if total is None or own is None:
        return say("In {days} on {name}: {written} are written. What it costs is not known.", **values)
    change = total - own
    if abs(change) < 1:
        return say("In {days} on {name}: {total} in all, {written} written.", **values, total=dollars(total))
    if change > 0:
        return say(
            "In {days} on {name}: {total} in all, {written} written. A file system for each stage would cost {less} less.",
            **values, total=dollars(total), less=dollars(change),
        )  # fmt: skip
    return say(
        "In {days} on {name}: {total} in all, {written} written. A file system for each stage would cost {more} more.",
        **values, total=dollars(total), more=dollars(-change),
    )  # fmt: skip
