"""One interval to scale: a save, what is lost when a failure strikes, and the clock until training runs again.

    | save starts                     x failure          : next save would start
    [//////////// done again /////////|det|resched|start|read][ catching up ...
    ==== written                                         ====  worst moment
    |-t-|------- then -----------------|---- restart ----|
    0        10        20        30        40        50 min

The failure can be dragged through all moments of an interval: from a save that is just restorable until the next one is.
Then what is done again is the time until restorable, t, and what has passed since: half an interval on average.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from PySide6.QtCore import QLineF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter

from ckptplanner.engine.node_plan import ClockPart
from ckptplanner.ui.ink import box, cross, hatch, lines_of, mix, pen, width_of, write
from ckptplanner.ui.marks import mark_path
from ckptplanner.ui.survive.case import Case, happened
from ckptplanner.ui.theme import BODY_PX, Theme
from ckptplanner.ui.words import say, say_text
from ckptplanner.units import SECONDS, brief, grouped, rough

TITLE, _BAR, _LANE, _SAVE = 24.0, 40.0, 16.0, 8.0  # a line of words is a lane [px]
HEIGHT, LEAST_HEIGHT = 200.0, 174.0  # where it is low, lanes lie a little over one another
_STEPS = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 21_600, 43_200, 86_400, 172_800)
_TICK_ROOM = 84.0


def actor_word(part: ClockPart) -> str:
    """Who acts in a part of the restart."""
    return {
        "monitoring": say("monitoring"), "scheduler": say("scheduler"), "framework": say("framework"), "nobody": say("nobody"),
    }[part.actor]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Scale:
    """Seconds and pixels, and the heights of the lanes."""

    case: Case
    room: QRectF
    begins_s: float
    ends_s: float

    def x(self, seconds: float) -> float:
        """Where a moment lies. [px]"""
        share = (seconds - self.begins_s) / (self.ends_s - self.begins_s)
        return self.room.left() + min(max(share, 0.0), 1.0) * self.room.width()

    def seconds(self, x: float) -> float:
        """The moment at a place. [s]"""
        return self.begins_s + (x - self.room.left()) / self.room.width() * (self.ends_s - self.begins_s)

    @property
    def _tightness(self) -> float:
        """0 in full height, 1 in the least."""
        return min(max((HEIGHT - self.room.height()) / (HEIGHT - LEAST_HEIGHT), 0.0), 1.0)

    def lane(self, number: float) -> QRectF:
        """Two lanes lie above the bar (0, 1), the others below it (2, ...)."""
        pitch = _LANE - round(2 * self._tightness)
        top = self.bar.top() + (number - 2) * pitch + (self.bar.height() if number >= 2 else 0.0)
        return QRectF(self.room.left(), top, self.room.width(), _LANE)

    @property
    def bar(self) -> QRectF:
        """Training and the clock."""
        tight = self._tightness
        top = self.room.top() + TITLE - round(4 * tight) + 2 * (_LANE - round(2 * tight))
        return QRectF(self.room.left(), top, self.room.width(), _BAR - round(6 * tight))

    def between(self, start_s: float, end_s: float) -> QRectF:
        """A stretch of the bar."""
        left, right = self.x(start_s), self.x(end_s)
        return QRectF(left, self.bar.top(), max(right - left, 0.0), self.bar.height())

    def parts(self) -> Iterator[tuple[ClockPart, QRectF]]:
        """The parts of the restart."""
        at = self.case.survival.moment_s
        for part in self.case.survival.clock:
            yield part, self.between(at, at + part.seconds)
            at += part.seconds


def fit(room: QRectF, case: Case) -> Scale | None:
    """The scale holds still while the failure is dragged: it ends where the worst case ends. None: nothing to draw."""
    span, found = case.range_s, case.survival
    if span is None or found.newest_age_s is None:
        return None
    clock = sum(part.seconds for part in found.clock)
    ends = max(max(span[1], found.moment_s) + clock, span[1] * 1.1)
    return Scale(case, room, min(begin_of(case), 0.0), ends)


def begin_of(case: Case) -> float:
    """When the save began that is read back. [s] 0 unless a moment of another interval was asked for."""
    return case.survival.moment_s - case.survival.newest_age_s if case.survival.newest_age_s else 0.0


def axis_steps(span_s: float, width: float) -> float:
    """Seconds from one label of the axis to the next."""
    most = max(width / _TICK_ROOM, 1.0)
    found = next((step for step in _STEPS if span_s / step <= most), None)
    return float(found) if found is not None else 86_400.0 * math.ceil(span_s / most / 86_400.0)


def axis_word(seconds: float, step_s: float) -> str:
    """A moment as the axis says it: in minutes, in seconds or hours where steps are that short or long."""
    name, unit = ("h", 3600.0) if step_s >= 3600 else ("min", 60.0) if step_s >= 60 or seconds % 60 == 0 else ("s", 1.0)
    if step_s < 60:
        name, unit = "s", 1.0
    return f"{grouped(seconds / unit)}\u00a0{name}"


# ---------------------------------------------------------------- drawing


def paint_timeline(
    painter: QPainter, room: QRectF, case: Case, theme: Theme, *, over: str = "", has_grip: bool = False
) -> None:
    """Draw one interval into a rectangle; `over` is the part of the clock under the pointer."""
    _paint_title(painter, room, case, theme)
    scale = fit(room, case)
    if scale is None:
        _paint_nothing(painter, room, case, theme)
        return
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    _paint_work(painter, scale, theme)
    painter.setPen(pen(theme.error, 1.5))
    x = math.floor(scale.x(case.survival.moment_s)) + 0.5
    painter.drawLine(QLineF(x, scale.lane(0).top() + 12, x, scale.lane(5).top() + 2))
    _paint_clock(painter, scale, theme, over)
    _paint_saves(painter, scale, theme)
    if case.survival.newest_age_s:
        _paint_next(painter, scale, theme)
    else:
        _paint_last(painter, scale, theme)
    _paint_failure(painter, scale, theme, has_grip=has_grip)
    _paint_base(painter, scale, theme)
    _paint_brackets(painter, scale, theme)
    _paint_axis(painter, scale, theme)


def _paint_nothing(painter: QPainter, room: QRectF, case: Case, theme: Theme) -> None:
    if case.state is None:
        words = say("Nothing is left to restart from: training starts again from its first step.")
    else:
        words = say("How long a save takes until it can be read back from there is not known: {tier}.",
                    tier=say_text(case.state.title))  # fmt: skip
    top = room.top() + TITLE + 8
    for line in lines_of(words, room.width(), 3, BODY_PX):
        write(painter, QRectF(room.left(), top, room.width(), 20), line, theme.muted, pixels=BODY_PX)
        top += 20


def _paint_title(painter: QPainter, room: QRectF, case: Case, theme: Theme) -> None:
    top = QRectF(room.left(), room.top(), room.width(), 20)
    used = write(painter, top, say("One interval, to scale"), theme.text, pixels=BODY_PX, bold=True)
    if case.range_s is None or not case.survival.worst_rework_s:
        return
    words = say(
        "worst case: just before the next save is restorable, {period} + {after} = {worst}",
        period=brief(case.period_s, SECONDS), after=brief(case.range_s[0], SECONDS), worst=rough(case.range_s[1], SECONDS),
    )  # fmt: skip
    short = say("worst case {worst}", worst=rough(case.range_s[1], SECONDS))
    room_left = room.width() - used - 24
    write(
        painter, top.adjusted(used + 24, 0, 0, 0), words if width_of(words) <= room_left else short, theme.muted, align="right"
    )


def _paint_work(painter: QPainter, scale: Scale, theme: Theme) -> None:
    """What is done again, and what comes after the restart."""
    found = scale.case.survival
    age = found.newest_age_s or 0.0
    done = scale.between(begin_of(scale.case), found.moment_s)
    if age:
        schedule = scale.case.plan.schedule
        stopped_s = min(schedule.blocking_s if schedule else 0.0, age)  # the mark of the stop lies over it
        _paint_rework(painter, done, scale.x(begin_of(scale.case) + stopped_s), rough(age, SECONDS), theme)
    else:
        painter.fillRect(done, QColor(theme.band))
        words = say("a last save is written before the stop: nothing is done again")
        write(painter, done.adjusted(12, 0, -12, 0), words, theme.muted, align="middle")
    after = scale.between(found.moment_s + sum(part.seconds for part in found.clock), scale.ends_s)
    if after.width() <= 1:
        return
    painter.fillRect(after, QColor(theme.band))
    texts = [say("new work")]
    if age:
        texts = [say("catching up the lost {time}, then new work", time=rough(age, SECONDS)), say("catching up")]
    words = next((one for one in texts if width_of(one) <= after.width() - 16), "")
    write(painter, after.adjusted(12, 0, -4, 0), words, theme.muted, align="middle")


def _paint_rework(painter: QPainter, done: QRectF, clear_x: float, time: str, theme: Theme) -> None:
    painter.fillRect(done, QColor(theme.error_ground))
    hatch(painter, done, mix(theme.error, theme.error_ground, 0.35), 8.0)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
    painter.setPen(pen(theme.error))
    painter.drawLine(QLineF(done.left(), done.top(), done.right(), done.top()))
    painter.drawLine(QLineF(done.left(), done.bottom() - 1, done.right(), done.bottom() - 1))
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    left = max(done.left() + 16, clear_x + 8)
    inside = QRectF(left, done.center().y() - 10, max(done.right() - 16 - left, 0.0), 20)
    for words in (say("training that must be done again, {time}", time=time), say("done again, {time}", time=time), time):
        if inside.width() >= width_of(words, bold=True):
            write(painter, inside, words, theme.error, bold=True, align="middle", ground=theme.error_ground)
            return


def _paint_clock(painter: QPainter, scale: Scale, theme: Theme, over: str) -> None:
    """The parts of the restart; one that is too narrow for its name has it below, on a leader."""
    narrow: list[tuple[ClockPart, QRectF]] = []
    has_lane = _paint_actors(painter, scale, theme)
    for part, room in scale.parts():
        is_read, is_over = part.id == "read", part.id == over
        fill = theme.accent_ground if is_read else theme.selected if is_over else theme.panel
        edge = theme.accent if is_read or is_over else theme.line
        if room.width() >= 2:
            box(painter, room.adjusted(0, 0, 1, 0), fill, edge, radius=0.0)
        if not _write_part(painter, part, room, theme, has_actor=not has_lane) and part.seconds > 0:
            narrow.append((part, room))
    found = scale.case.survival
    end = scale.x(found.moment_s + sum(part.seconds for part in found.clock))
    lane = scale.lane(4)
    painter.setPen(pen(theme.text, dashed=found.restart_s is None))
    x = math.floor(end) + 0.5
    painter.drawLine(QLineF(x, scale.bar.top(), x, lane.bottom() - 2))
    if found.restart_s is None:
        words = say("then the checkpoint is read; how long that takes is not known")
    else:
        words = say("training runs again, {time} later", time=brief(found.restart_s, SECONDS))
    room = QRectF(x + 6, lane.top(), lane.right() - x - 6, _LANE)
    if room.width() >= width_of(words, bold=True):
        write(painter, room, words, theme.text, bold=True)
    else:
        room = QRectF(lane.left(), lane.top(), x - 6 - lane.left(), _LANE)
        write(painter, room, words, theme.text, bold=True, align="right")
    _paint_narrow(painter, scale, narrow, theme)


def _paint_actors(painter: QPainter, scale: Scale, theme: Theme) -> bool:
    """Who acts, under the parts of the clock, one word for neighbours; not where the next save is drawn there."""
    case, lane = scale.case, scale.lane(2)
    parts = [(part, room) for part, room in scale.parts() if part.seconds > 0]
    next_x = scale.x(begin_of(case) + case.period_s)
    if not parts or case.survival.moment_s > begin_of(case) + case.period_s or parts[-1][1].right() > next_x - 4:
        return False
    if not case.survival.newest_age_s:
        return False
    joined: list[tuple[str, QRectF]] = []
    for part, room in parts:
        if joined and joined[-1][0] == actor_word(part):
            joined[-1] = (joined[-1][0], joined[-1][1].united(room))
        else:
            joined.append((actor_word(part), room))
    for words, room in joined:
        if room.width() >= width_of(words) + 2:
            write(painter, QRectF(room.left(), lane.top(), room.width(), _LANE), words, theme.muted, align="middle")
    return True


def _write_part(painter: QPainter, part: ClockPart, room: QRectF, theme: Theme, *, has_actor: bool) -> bool:
    name, inside = say_text(part.name), room.adjusted(3, 0, -2, 0)
    middle = inside.center().y()
    time = brief(part.seconds, SECONDS)
    if inside.width() < max(width_of(time), min(width_of(name), 34.0)):
        return False
    write(painter, QRectF(inside.left(), middle - _LANE, inside.width(), _LANE), name, theme.text, align="middle")
    both = f"{time}, {actor_word(part)}"
    line = QRectF(inside.left(), middle, inside.width(), _LANE)
    write(painter, line, both if has_actor and width_of(both) <= line.width() else time, theme.muted, align="middle")
    return True


def _narrow_words(part: ClockPart) -> str:
    return say("{part} {time}, {actor}", part=say_text(part.name), time=brief(part.seconds, SECONDS), actor=actor_word(part))


def _paint_narrow(painter: QPainter, scale: Scale, narrow: list[tuple[ClockPart, QRectF]], theme: Theme) -> None:
    """Names of narrow parts side by side below the bar, each with a line up to its part."""
    lane, gap = scale.lane(3), 14.0
    words = [_narrow_words(part) for part, _ in narrow]
    if sum(width_of(one) + gap for one in words) > lane.width() / 2:
        words = [say("{part} {time}", part=say_text(part.name), time=brief(part.seconds, SECONDS)) for part, _ in narrow]
    total, at, placed = sum(width_of(one) + gap for one in words), lane.left(), []
    for (_, room), one in zip(narrow, words, strict=True):
        x = math.floor(room.center().x()) + 0.5
        at = max(at, min(x + 4, lane.right() - total))
        painter.setPen(pen(theme.line))
        painter.drawLine(QLineF(x, scale.bar.bottom() + 1, x, scale.bar.bottom() + 5))
        painter.drawLine(QLineF(x, scale.bar.bottom() + 5, max(x, at + 2), lane.top() + 2))
        placed.append((at, one))
        at += width_of(one) + gap
        total -= width_of(one) + gap
    for at, one in placed:
        write(painter, QRectF(at, lane.top(), lane.right() - at, _LANE), one, theme.muted, ground=theme.surface)


def _paint_saves(painter: QPainter, scale: Scale, theme: Theme) -> None:
    """When the save that is read back started and stopped training, and until when it was written."""
    case, schedule = scale.case, scale.case.plan.schedule
    assert schedule is not None
    mark, first, begins = theme.mark(case.index).colour, case.restorable_s or 0.0, begin_of(case)
    x0, x1 = math.floor(scale.x(begins)), scale.x(begins + first)
    stop = max(scale.x(begins + schedule.blocking_s) - x0, 2.0)
    painter.fillRect(QRectF(x0, scale.bar.top() - 12, stop, scale.bar.height() + 12 + 4), QColor(mark))
    lane, top = scale.lane(2), scale.lane(1)
    painter.fillRect(QRectF(x0, lane.top() + 4, max(x1 - x0, 2.0), _SAVE), QColor(mark))
    ends, next_x = scale.x(case.survival.moment_s), scale.x(begins + case.period_s)
    time = brief(first, SECONDS)
    texts: tuple[str, ...] = (say("snapshot taken, training goes on; written and restorable after {time}", time=time),
             say("written and restorable after {time}", time=time), say("restorable after {time}", time=time))  # fmt: skip
    if case.survival.source in ("local_nvme", "replica", "host_ram") or schedule.mode == "sync":
        texts = texts[1:]
    over = scale.x(case.survival.moment_s + sum(part.seconds for part in case.survival.clock))
    beside = min(ends, next_x) if case.survival.newest_age_s else _last_x(scale)
    rooms = (QRectF(x1 + 8, lane.top(), beside - x1 - 16, _LANE),
             QRectF(x0 + 5, scale.lane(3).top(), ends - x0 - 13, _LANE),
             QRectF(x0 + 5, scale.lane(4).top(), over - x0 - 13, _LANE))  # fmt: skip
    room = next((one for one in rooms if one.width() >= width_of(texts[-1])), rooms[-1])
    words = next((one for one in texts if width_of(one) <= room.width()), texts[-1])
    write(painter, room, words, mark, ground=theme.surface)
    left = x0 + stop + 5
    right = next_x - 8 if case.survival.newest_age_s else ends
    words = say("save starts, training stops {time}", time=brief(schedule.blocking_s, SECONDS))
    words = words if width_of(words) <= right - left else say("save starts")
    write(painter, QRectF(left, top.top(), max(right - left, 0), _LANE), words, mark, ground=theme.surface)


def _paint_next(painter: QPainter, scale: Scale, theme: Theme) -> None:
    """The next save: begun and lost with the failure, or never begun; at its end lies the worst moment."""
    case, lane, top, begins = scale.case, scale.lane(2), scale.lane(1), begin_of(scale.case)
    mark, starts = theme.mark(case.index).colour, begins + case.period_s
    worst = starts + (case.restorable_s or 0.0)
    has_begun = case.survival.moment_s > starts
    x0, x1 = scale.x(starts), scale.x(worst)
    x = math.floor(x0) + 0.5
    painter.setPen(pen(mark, dashed=not has_begun))
    painter.drawLine(QLineF(x, scale.bar.top() - 12, x, scale.bar.top()))
    painter.drawLine(QLineF(x, scale.bar.bottom(), x, lane.top() + 4))
    room = QRectF(math.floor(x0), lane.top() + 4, max(round(x1 - x0), 3.0), _SAVE)
    if has_begun:
        hatch(painter, QRectF(x0, room.top(), max(scale.x(min(case.survival.moment_s, worst)) - x0, 2.0), _SAVE), mark, 4.0)
    painter.setPen(pen(mark, dashed=True))
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
    painter.drawRect(room.adjusted(0, 0, -1, -1))
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    words = say("worst moment, {time}", time=rough(case.survival.worst_rework_s or 0.0, SECONDS))
    if not has_begun and scale.room.right() - x1 - 8 >= width_of(words):
        room = QRectF(x1 + 8, lane.top(), scale.room.right() - x1 - 8, _LANE)
        write(painter, room, words, theme.muted, ground=theme.surface)
    time = brief(case.period_s, SECONDS)
    words = say("next save starts, {time}", time=time) if has_begun else say("next save would start, {time}", time=time)
    begun = say(
        "save starts, training stops {time}", time=brief(case.plan.schedule.blocking_s if case.plan.schedule else 0, SECONDS)
    )
    taken = scale.x(begins) + width_of(begun) + 24
    if x + 6 + width_of(words) <= top.right():
        write(painter, QRectF(x + 6, top.top(), top.right() - x - 6, _LANE), words, mark, ground=theme.surface)
    elif x - 8 - taken >= width_of(words):
        write(painter, QRectF(taken, top.top(), x - 8 - taken, _LANE), words, mark, align="right", ground=theme.surface)


def _last_s(case: Case) -> float:
    """How long the save before a planned stop takes. [s]"""
    schedule, beyond = case.plan.schedule, case.plan.beyond
    assert schedule is not None
    return beyond.final_save_s if beyond is not None and beyond.final_save_s is not None else schedule.writes_in_s


def _last_x(scale: Scale) -> float:
    """Where the save before a planned stop begins. [px]"""
    at = scale.case.survival.moment_s
    return min(max(scale.x(at - _last_s(scale.case)), scale.x(scale.case.restorable_s or 0.0) + 3), scale.x(at))


def _paint_last(painter: QPainter, scale: Scale, theme: Theme) -> None:
    """The save before a planned stop, which ends with it."""
    case, takes = scale.case, _last_s(scale.case)
    mark, lane = theme.mark(case.index).colour, scale.lane(2)
    left, right = _last_x(scale), scale.x(case.survival.moment_s)
    painter.fillRect(QRectF(left, lane.top() + 4, max(right - left, 2.0), _SAVE), QColor(mark))
    words = say("last save, written in {time}", time=brief(takes, SECONDS))
    below = scale.lane(3)
    write(painter, QRectF(below.left(), below.top(), max(right - below.left() - 6, 0.0), _LANE), words, mark, align="right")


def _paint_failure(painter: QPainter, scale: Scale, theme: Theme, *, has_grip: bool) -> None:
    case, top = scale.case, scale.lane(0)
    x = math.floor(scale.x(case.survival.moment_s)) + 0.5
    cross(painter, x, top.center().y(), theme.error, 1.75, 4.5)
    words = moment_words(case)
    left, right = x - top.left() - 10, top.right() - x - 10
    if right >= width_of(words, bold=True) or right >= left:
        write(painter, QRectF(x + 10, top.top(), right, _LANE), words, theme.error, bold=True)
    else:
        write(painter, QRectF(top.left(), top.top(), left, _LANE), words, theme.error, bold=True, align="right")
    if has_grip:
        grip = QRectF(x - 4.5, scale.bar.center().y() - 9, 9, 18)
        box(painter, grip, theme.accent, "", radius=3.0)
        painter.setPen(pen(theme.accent_text))
        for dx in (-1.5, 1.5):
            painter.drawLine(QLineF(x + dx, grip.top() + 5, x + dx, grip.bottom() - 5))


def base_words(case: Case) -> str:
    """What the plan that is compared with does with the same event."""
    base = case.base
    if base is None:
        return ""
    found = base.survival
    if found.mean_rework_s is None or found.restart_s is None:
        return ""
    return say("{name}: {rework} done again on average, runs again after {restart}", name=base.name,
               rework=rough(found.mean_rework_s, SECONDS), restart=brief(found.restart_s, SECONDS))  # fmt: skip


def _paint_base(painter: QPainter, scale: Scale, theme: Theme) -> None:
    words, lane = base_words(scale.case), scale.lane(4)
    if not words or scale.case.base is None:
        return
    mark = theme.mark(scale.case.base.index)
    wide = scale.x(scale.case.survival.moment_s) - lane.left() - 20
    if wide < 140:
        return
    painter.save()
    painter.translate(lane.left() + 5, lane.center().y() + 0.5)
    painter.setPen(pen(mark.colour, 1.5))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawPath(mark_path(mark.shape, 8))
    painter.restore()
    write(painter, QRectF(lane.left() + 15, lane.top(), wide - 8, _LANE), words, theme.muted)


def moment_words(case: Case) -> str:
    found, span = case.survival, case.range_s
    if span is None or not found.newest_age_s:
        return happened(case)
    near = case.period_s * 0.002
    if abs(found.moment_s - case.mean_moment_s) <= near:
        return say("{what}, at the mean moment", what=happened(case))
    if abs(found.moment_s - span[1]) <= near:
        return say("{what}, at the worst moment", what=happened(case))
    return say("{what}, {time} after the save began", what=happened(case), time=brief(found.newest_age_s, SECONDS))


def _paint_brackets(painter: QPainter, scale: Scale, theme: Theme) -> None:
    """What is done again in two parts, and the restart: t, what has passed since, R."""
    case, found = scale.case, scale.case.survival
    at, begins, first = found.moment_s, begin_of(scale.case), case.restorable_s or 0.0
    stretches: list[tuple[float, float, str]] = []
    if found.newest_age_s:
        stretches += [(begins, begins + first, brief(first, SECONDS)), (begins + first, at, _since(case))]
    if found.restart_s:
        stretches.append((at, at + found.restart_s, say("restart time, {time}", time=brief(found.restart_s, SECONDS))))
    lane = scale.lane(5)
    y, texts = math.floor(lane.top() + 4) + 0.5, []
    for begin, end, words in stretches:
        left, right = scale.x(begin), scale.x(end)
        if right - left < 1:
            continue
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        painter.setPen(pen(theme.muted))
        painter.drawLine(QLineF(left, y, right, y))
        for x in (left, right):
            painter.drawLine(QLineF(x, y, x, y + 4))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        texts.append((left, right, words))
    _write_under(painter, texts, QRectF(lane.left(), y + 5, lane.width(), _LANE), theme)


def _since(case: Case) -> str:
    """What has passed between the moment the save could be restored and the failure."""
    since = max((case.survival.newest_age_s or 0.0) - (case.restorable_s or 0.0), 0.0)
    time, near = brief(since, SECONDS), case.period_s * 0.002
    if abs(since - case.period_s / 2) <= near:
        return say("+ half an interval, {time}", time=time)
    if abs(since - case.period_s) <= near:
        return say("+ a whole interval, {time}", time=time)
    return say("+ {time} since then", time=time)


def _write_under(painter: QPainter, texts: list[tuple[float, float, str]], lane: QRectF, theme: Theme) -> None:
    """Each centred under its stretch, pushed to the right where it would touch the one before, and back from the edge."""
    wide = [width_of(words) for _, _, words in texts]
    lefts: list[float] = []
    for (left, right, _), width in zip(texts, wide, strict=True):
        at = (left + right - width) / 2
        lefts.append(max(at, lane.left() if not lefts else lefts[-1] + wide[len(lefts) - 1] + 16))
    edge = lane.right()
    for index in range(len(lefts) - 1, -1, -1):
        lefts[index] = min(lefts[index], edge - wide[index])
        edge = lefts[index] - 16
    if lefts and lefts[0] < lane.left() - 1:
        words = ", ".join(words for _, _, words in texts)
        write(painter, lane, words, theme.text)
        return
    for at, width, (_, _, words) in zip(lefts, wide, texts, strict=True):
        write(painter, QRectF(at, lane.top(), width + 1, lane.height()), words, theme.text)


def _paint_axis(painter: QPainter, scale: Scale, theme: Theme) -> None:
    lane = scale.lane(6.75)
    y = math.floor(lane.top() + 4) + 0.5
    step = axis_steps(scale.ends_s - scale.begins_s, scale.room.width())
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
    painter.setPen(pen(theme.line))
    painter.drawLine(QLineF(lane.left(), y, lane.right(), y))
    for index in range(math.ceil(scale.begins_s / step), math.floor(scale.ends_s / step) + 1):
        x = scale.x(index * step)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        painter.setPen(pen(theme.line))
        painter.drawLine(QLineF(x, y, x, y + 5))
        words = axis_word(index * step, step)
        wide = width_of(words)
        left = max(x - wide / 2, lane.left())
        if left + wide > lane.right():
            continue
        write(painter, QRectF(left, y + 5, wide + 1, _LANE), words, theme.muted)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
