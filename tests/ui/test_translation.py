"""Every text that a person reads goes through translation.

A translator that turns every letter it is given into its full-width twin stands in for a language: what still shows up in
plain letters was never asked for. What has no language stays plain: numbers with units, symbols, and names of models,
nodes, files, regions and scenarios.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pyqtgraph as pg
import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QPointF, Qt, QTranslator
from PySide6.QtGui import QAction, QMouseEvent, QTextDocumentFragment
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QComboBox,
    QGraphicsSimpleTextItem,
    QGraphicsTextItem,
    QLabel,
    QLineEdit,
    QMenu,
    QTabBar,
    QTableView,
    QWidget,
)
from pytestqt.qtbot import QtBot
from typing_extensions import override

import ckptplanner
from ckptplanner.data import catalog
from ckptplanner.engine.evaluate import evaluate, plan_of
from ckptplanner.engine.measure import alternatives
from ckptplanner.engine.node_plan import EVENTS
from ckptplanner.engine.requirement import broken, requirement
from ckptplanner.engine.workbook_file import read
from ckptplanner.frozen import with_value
from ckptplanner.ui.bench import Bench
from ckptplanner.ui.check.page import CheckPage
from ckptplanner.ui.decide.best_page import BestPage
from ckptplanner.ui.decide.side_by_side import SideBySidePage
from ckptplanner.ui.decide_view import FLIPS, MAP, MATTERS, SCALE
from ckptplanner.ui.findings_view import FindingRow
from ckptplanner.ui.frontier_page import FrontierPage
from ckptplanner.ui.shown import Shown
from ckptplanner.ui.source_popup import SourcePopup
from ckptplanner.ui.start_dialog import StartDialog
from ckptplanner.ui.survive.view import SurviveView
from ckptplanner.ui.views import DECIDE, Views
from ckptplanner.ui.why import WhyPopup
from ckptplanner.ui.words import CONTEXT, say
from tests.ui.conftest import E1, Open
from tests.ui.hands import child, click, click_figure, figures, press, type_into

# ---------------------------------------------------------------- a language that is easy to see


_KEPT_OR_LETTER = re.compile(r"(\{[^}]*\}|<[^>]*>|&\w+;)|[A-Za-z]")


def foreign(source: str) -> str:
    """A text in the language: letters become full width, places for values and tags stay."""
    return _KEPT_OR_LETTER.sub(lambda found: found[1] or chr(ord(found[0]) + 0xFEE0), source)


class Foreign(QTranslator):
    """Knows every text of ours, in a language that nobody speaks."""

    @override
    def translate(self, context: str, source: str, disambiguation: str | None = None, n: int = -1) -> str:
        return foreign(source) if context == CONTEXT else ""

    @override
    def isEmpty(self) -> bool:
        return False


@pytest.fixture(autouse=True)
def _abroad(qapp: QApplication) -> Iterator[None]:
    translator = Foreign(qapp)
    assert QCoreApplication.installTranslator(translator)
    assert say("Save {n}", n="it") == "Ｓａｖｅ it"
    yield
    QCoreApplication.removeTranslator(translator)
    assert say("Save") == "Save"


BOOK = read(E1)
NAMES = [
    *(one.name for one in BOOK.scenarios), *(one.note for one in BOOK.scenarios),
    *(row.name for row in catalog.nodes()), *(row.id for row in catalog.nodes()),
    *(row.accelerator for row in catalog.nodes()), *catalog.regions(),
    *(row.name for row in catalog.frameworks()), *(row.name for row in catalog.interruption_records()),
    *(row.name for row in catalog.find_models("", 10_000)),
    *(str(model.family) for one in BOOK.scenarios if (model := one.scenario.workload.model) is not None),
    *(file.name.removesuffix(".ckptplan.json").replace("-", " ") for file in E1.parent.glob("*.json")),
    "ckptplanner", "[*]",
]  # fmt: skip
# units, the names of formulas' symbols and functions, and a product's own word
_WORDS = {
    "ms", "min", "kB", "MB", "GB", "TB", "PB", "KiB", "MiB", "GiB", "TiB", "param", "month", "EFA", "years",
    "tb", "td", "tq", "tr", "tw", "Kg", "Ks", "rmean", "rback", "rmax", "max", "round",
}  # fmt: skip
_KEYS = re.compile(r"\((Ctrl\+)?(Shift\+)?(Tab|[A-Z]?\d?)\)$")
_OPTION_ID = re.compile(r"\bp2-\d+-\d+(-efa)?\b")


def bare(text: str) -> str:
    """What of a text has not been asked for: nothing where translation is complete."""
    if re.search(r"<[a-z]+[ />]", text):
        text = QTextDocumentFragment.fromHtml(text).toPlainText()
    text = _OPTION_ID.sub("", _KEYS.sub("", text))
    for name in sorted(filter(None, NAMES), key=len, reverse=True):
        text = text.replace(name, " ")
    words = re.findall(r"(?<![A-Za-zＡ-ｚ])[A-Za-z][A-Za-z]+", text)
    return " ".join(word for word in words if word not in _WORDS)


def texts_of(root: QWidget) -> Iterator[tuple[str, str]]:
    """Every text below a widget, with where it stands."""
    for widget in (root, *root.findChildren(QWidget)):
        yield from ((f"{type(widget).__name__} {widget.objectName()} {kind}", text) for kind, text in _texts(widget))
    for action in root.findChildren(QAction):
        yield f"action {action.text()}", action.text()
        yield f"action {action.text()} tooltip", action.toolTip()


def _texts(widget: QWidget) -> Iterator[tuple[str, str]]:
    yield "tooltip", widget.toolTip()
    yield "accessible name", widget.accessibleName()
    yield "accessible description", widget.accessibleDescription()
    yield "title", widget.windowTitle()
    read = next((read for kind, read in _READERS if isinstance(widget, kind)), None)
    if read is not None:
        yield from read(widget)


def _items(box: QComboBox) -> Iterator[tuple[str, str]]:
    for index in range(box.count()):
        yield "item", box.itemText(index)
        yield "item's tooltip", str(box.itemData(index, Qt.ItemDataRole.ToolTipRole) or "")


def _plot(view: pg.GraphicsLayoutWidget) -> Iterator[tuple[str, str]]:
    for item in view.scene().items():
        if isinstance(item, QGraphicsTextItem):
            yield "word in the plot", item.toPlainText()
        elif isinstance(item, QGraphicsSimpleTextItem):
            yield "word in the plot", item.text()


_READERS: tuple[tuple[type, Callable[..., Iterator[tuple[str, str]]]], ...] = (
    (pg.GraphicsLayoutWidget, _plot),
    (QLabel, lambda label: iter([("text", label.text())])),
    (QAbstractButton, lambda button: iter([("text", button.text())])),
    (QLineEdit, lambda edit: iter([("placeholder", edit.placeholderText())])),
    (QMenu, lambda menu: iter([("title", menu.title())])),
    (QComboBox, _items),
    (QTabBar, lambda bar: iter([("tab", bar.tabText(index)) for index in range(bar.count())])),
    (QTableView, lambda view: _cells(view)),
)


def _cells(view: QTableView) -> Iterator[tuple[str, str]]:
    model = view.model()
    for column in range(model.columnCount()):
        yield "heading", str(model.headerData(column, Qt.Orientation.Horizontal))
        for row in range(model.rowCount()):
            for role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole):
                yield f"column {column}", str(model.index(row, column).data(role) or "")


def untranslated(root: QWidget, *said: str) -> list[str]:
    """Every text below a widget that shows plain words, but for those that are `said` by somebody else."""
    return sorted(
        {f"{where}: {left!r} in {text[:120]!r}" for where, text in texts_of(root) if (left := bare(_without(text, said)))}
    )


def _without(text: str, said: tuple[str, ...]) -> str:
    for words in sorted(said, key=len, reverse=True):
        text = text.replace(words, " ")
    return text


# what the file itself says about its values: titles of papers and pages stay in their language
SOURCES = tuple({part for named in BOOK.scenarios for one in named.sources for part in (one.text, one.note) if part})


def test_what_was_not_asked_for_is_found() -> None:
    assert bare(foreign("Save every")) == ""
    assert bare(f"{foreign('needs')} 5.81 GB/s · $4,080") == ""
    assert bare("Save every 45 min") == "Save every"
    assert bare(f"{foreign('Guesses:')} Step time") == "Step time"
    assert bare(f"<b>loud</b> {foreign('words')}") == "loud"
    assert bare(f"{foreign('Copy')} (Ctrl+Shift+F)") == ""


def test_the_window_is_translated(open_window: Open) -> None:
    window, _ = open_window()
    assert len([text for _, text in texts_of(window) if re.search("[Ａ-ｚ]", text)]) > 200
    assert untranslated(window, *SOURCES) == []


@pytest.mark.parametrize("scenario", ["20 min", "sync 60 s", "6 B"])
def test_other_scenarios_are_translated(open_window: Open, scenario: str) -> None:
    window, _ = open_window(BOOK.model_copy(update={"current": scenario}))
    press(window, Qt.Key.Key_G)
    assert untranslated(window, *SOURCES) == []


def test_the_second_page_is_translated(open_window: Open) -> None:
    window, _ = open_window()
    press(window, Qt.Key.Key_2, Qt.KeyboardModifier.ControlModifier)
    assert untranslated(child(window, QWidget, "plan_view")) == []


@pytest.mark.parametrize("scenario", ["5 min", "sync 60 s"])
def test_the_check_is_translated(qtbot: QtBot, open_window: Open, scenario: str) -> None:
    """Empty, with a result, an old one, a run that is pointed at, and the table that is copied."""
    window, store = open_window(BOOK.model_copy(update={"current": scenario}))
    press(window, Qt.Key.Key_0, Qt.KeyboardModifier.ControlModifier)
    page = window.findChild(CheckPage)
    assert page is not None
    left = untranslated(page)
    page.start()
    qtbot.waitUntil(lambda: not page.is_running, timeout=10_000)
    page.picture.lanes.show_interruption(1)
    frame = page.picture.lanes.frame()
    assert frame is not None
    places = [QPointF(x, y) for x in range(0, window.width(), 40) for y in range(4, page.picture.lanes.height(), 9)]
    said = [page.picture.lanes.words_at(place) for place in (frame.marks.center(), *places)]
    said += [page.picture.strip.words_at(x) for x in range(0, page.picture.strip.width(), 3)]
    said += [page.picture.causes.words_at(place) for place in places]
    said += [text for row in page.texts() for text in row]
    left += [text for text in said if bare(text)]
    left += untranslated(page)
    store.edit("storage.blocking_s", 60.0)
    left += untranslated(page, scenario)
    assert len({text for text in said if text}) > 20
    assert left == []


@pytest.mark.parametrize(
    "path",
    [
        "storage.generations_kept",
        "failures.mtbi_s",
        "workload.step_s",
    ],
)
def test_findings_are_translated(open_window: Open, path: str) -> None:
    window, _ = open_window()
    type_into(window, "storage.generations_kept", "1")
    click(child(window, QAbstractButton, "findings.error"))
    view = child(window, QWidget, "findings_view")
    rows = [row for row in view.findChildren(FindingRow) if row.finding.path == path]
    left = [one for row in rows for one in untranslated(row)]
    view.close()
    assert rows
    assert left == []


def test_a_refusal_is_translated(open_window: Open) -> None:
    window, _ = open_window()
    for path, text in (("storage.write_s", "5 minn"), ("workload.nodes", "0"), ("storage.max_fill", "many")):
        type_into(window, path, text)
    assert untranslated(window, *SOURCES) == []


def _drop(widgets: list[QWidget]) -> None:
    for widget in widgets:
        widget.close()
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


def test_derivations_are_translated(open_window: Open) -> None:
    window, _ = open_window()
    why, left = window.findChild(WhyPopup), []
    assert why is not None
    for figure in dict.fromkeys(figure for figure, _ in figures(window)):
        click_figure(window, figure)
        left += [f"{figure}: {one}" for one in untranslated(why, *SOURCES)]
        _drop([why])
    assert left == []


def test_sources_are_translated(open_window: Open) -> None:
    window, store = open_window()
    source, left = window.findChild(SourcePopup), []
    assert source is not None
    named = store.workbook.shown
    for path in ("storage.write_s", "failures.mtbi_s", "workload.layout", "workload.nodes", "storage.max_fill", "storage.mode"):
        source.show_field(named, path)
        said = [part for other in alternatives(named, path) for part in (other.source, other.note, other.name) if part]
        left += [f"{path}: {one}" for one in untranslated(source, *SOURCES, *said)]
    assert left == []


def test_the_first_questions_are_translated(open_window: Open) -> None:
    window, _ = open_window()
    dialog = StartDialog(window)
    assert untranslated(dialog) == []
    dialog.close()
    dialog.deleteLater()


@pytest.mark.parametrize("factor", [1, 2, 3])
def test_the_survive_view_is_translated(qtbot: QtBot, factor: int) -> None:
    view = SurviveView()
    qtbot.addWidget(view)
    scenario = BOOK.scenarios[0].scenario
    for path, value in (("replication.factor", factor), ("replication.rack_nodes", 8)):
        scenario = with_value(scenario, path, value)
    named = BOOK.scenarios[0].model_copy(update={"scenario": scenario})
    view.resize(1068, 620)
    view.show_plans([Shown(named, evaluate(scenario), 0, True, True)], "month")
    view.show()
    left = []
    for event in EVENTS:
        view.matrix.event_chosen.emit(event)
        left += untranslated(view)
        left += [text for row in view.texts()[1] for text in row if bare(text)]
    assert left == []


def _said_by(page: SideBySidePage) -> list[str]:
    """What the table of scenarios says beside its cells: titles, words for a tooltip, the table that is copied, menus."""
    grid = page.table.grid
    said = [row.title for row in grid.rows] + [cell.in_words for row in grid.rows for cell in row.cells]
    said += [text for row in page.texts()[1] for text in row] + page.texts()[0]
    menus = [page.table.menu_for(column, 6) for column in range(len(grid.heads))]
    return said + [action.text().split("\t")[0] for menu in menus for action in menu.actions()]


# units of time and size that the table writes with the numbers, paths of fields, identifiers of what is measured
_PLAIN = re.compile(r"\b(s|h|d)\b|[a-z_]+(\.[a-z0-9_]+)+|run_")


@pytest.mark.parametrize("file", ["nemotron-3.5-super", "local-and-shared", "full-file-system", "tokyo-by-the-block"])
def test_scenarios_side_by_side_are_translated(open_window: Open, file: str) -> None:
    """As alternatives, sorted and pinned, then as stages with one left out, then with days that are refused."""
    book = read(E1.with_name(f"{file}.ckptplan.json"))
    names = [one.name for one in book.scenarios]
    window, store = open_window(book)
    press(window, Qt.Key.Key_B, Qt.KeyboardModifier.ControlModifier)
    page = window.findChild(SideBySidePage)
    assert page is not None
    left, said = untranslated(page, *names), _said_by(page)
    page.table.sort_requested.emit("cost.total_usd_per_year")
    page.table.pin_requested.emit(names[-1])
    left, said = left + untranslated(page, *names), said + _said_by(page)
    store.make_campaign(names)
    left, said = left + untranslated(page, *names), said + _said_by(page)
    store.make_campaign(names[:-1])
    page.table.days_typed.emit(names[0], "soon")
    left, said = left + untranslated(page, *names), said + _said_by(page)
    left += [text for text in said if bare(_PLAIN.sub("", _without(text, (*names, *SOURCES))))]
    assert len(set(said)) > 80
    assert left == []


def _said_by_best(page: BestPage) -> list[str]:
    """What the ranked plans say, painted and as a table."""
    said = [text for row in page.rows.entries for text in (row.words, row.tag, row.how, row.main, row.beside)]
    return said + [text for row in page.texts()[1] for text in row] + page.texts()[0]


def _products(page: BestPage | FrontierPage) -> tuple[str, ...]:
    """Names and ids of file systems, and what sources of prices are called: they stay as they are."""
    found = page.finder.fresh()
    assert found is not None
    asks = [one.ask for one in found.decision.asks]
    tiers = [part for row in catalog.storage_tiers() for part in (row.name, row.id)]
    return (*tiers, *(part for ask in asks for part in (ask.id, ask.source) if part))


@pytest.mark.parametrize("file", ["nemotron-3.5-super", "tokyo-by-the-block", "local-and-shared", "one-rack-measured"])
def test_the_best_plan_is_translated(qtbot: QtBot, open_window: Open, file: str) -> None:
    """With a winner by money and by waste, then with limits that cannot be met."""
    book = read(E1.with_name(f"{file}.ckptplan.json"))
    window, _ = open_window(book)
    window.resize(1900, 1000)
    names = [one.name for one in book.scenarios]
    press(window, Qt.Key.Key_G, Qt.KeyboardModifier.ControlModifier)
    page = window.findChild(BestPage)
    assert page is not None
    left, said = [], []
    for goal in ({}, {"minimise": "waste"}, {"worst_rework_s": 0.5}, {"worst_rework_s": None, "waste_fraction": 1e-6}):
        page.finder.ask(**goal)
        qtbot.waitUntil(lambda: page.is_fresh and not page.finder.is_running, timeout=30_000)
        kept = (*names, *_products(page))
        left += untranslated(page, *kept)
        said += _said_by_best(page)
        left += [text for text in said if bare(_without(text, kept))]
    assert len(set(said)) > 15
    assert left == []


@pytest.mark.parametrize("file", ["nemotron-3.5-super", "tokyo-by-the-block"])
def test_the_frontier_is_translated(qtbot: QtBot, open_window: Open, file: str) -> None:
    book = read(E1.with_name(f"{file}.ckptplan.json"))
    window, _ = open_window(book)
    window.resize(1900, 1000)
    names = [one.name for one in book.scenarios]
    press(window, Qt.Key.Key_G, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier)
    page = window.findChild(FrontierPage)
    assert page is not None
    left, said = [], []
    for goal in ({"minimise": "waste"}, {"waste_fraction": 1e-6}):
        page.finder.ask(**goal)
        qtbot.waitUntil(lambda: page.is_fresh and not page.finder.is_running, timeout=30_000)
        kept = (*names, *_products(page))
        left += untranslated(page, *kept)
        said += [one.words for one in page.plot.dots] + [one.words for one in page.plot.references]
        said += [text for row in page.texts()[1] for text in row] + page.texts()[0]
        left += [text for text in said if bare(_without(text, kept))]
    assert left == []


def test_the_empty_comparison_is_translated(open_window: Open) -> None:
    window, _ = open_window(read(E1.with_name("one-node-fine-tune.ckptplan.json")))
    press(window, Qt.Key.Key_B, Qt.KeyboardModifier.ControlModifier)
    assert untranslated(child(window, QWidget, "decide_view")) == []


@pytest.mark.parametrize("file", ["nemotron-3.5-super", "one-node-fine-tune", "single-writer-export"])
def test_the_requirement_sheet_is_translated(open_window: Open, file: str) -> None:
    window, store = open_window(read(E1.with_name(f"{file}.ckptplan.json")))
    press(window, Qt.Key.Key_B, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier)
    page = child(window, QWidget, "decide.requirement")
    named = store.workbook.shown
    sheet = requirement(named, plan_of(named))
    lines = {"\n".join(broken(line.command, 120)) for line in sheet.lines}
    said = (*lines, "/mnt/fs/accept", "nodes.txt", "elbencho", "fio", "IOR", "bw_bytes")
    assert untranslated(page, *said) == []


def test_the_break_even_under_the_cards_is_translated(qtbot: QtBot, open_window: Open) -> None:
    window, _ = open_window()
    label = child(window, QLabel, "sentence")
    qtbot.waitUntil(lambda: "6.31" in label.text(), timeout=20_000)
    assert untranslated(child(window, QWidget, "headline"), *SOURCES) == []


def _pointed_at(page: QWidget) -> list[str]:
    """What the painted parts of a page of the Decide view say to a mouse that goes over them."""
    said: list[str] = []
    for part in page.findChildren(QWidget):
        heard = getattr(part, "hovered", None) or getattr(part, "cursor_moved", None)
        if heard is None:
            continue
        heard.connect(said.append)
        for x in range(4, part.width(), 40):
            for y in range(4, part.height(), 12):
                none, place = Qt.MouseButton.NoButton, QPointF(x, y)
                QApplication.sendEvent(part, QMouseEvent(QEvent.Type.MouseMove, place, place, none, none,
                                                         Qt.KeyboardModifier.NoModifier))  # fmt: skip
    return said


@pytest.mark.parametrize("file", ["nemotron-3.5-super", "local-and-shared", "one-node-fine-tune"])
@pytest.mark.parametrize("index", [FLIPS, MATTERS, MAP, SCALE])
def test_the_pages_of_what_if_are_translated(qtbot: QtBot, open_window: Open, file: str, index: int) -> None:
    """While it is worked out, with what was found, pointed at, copied as a table; then with a plan that does not work."""
    book = read(E1.with_name(f"{file}.ckptplan.json"))
    names = [one.name for one in book.scenarios]
    window, store = open_window(book)
    views = window.findChild(Views)
    assert views is not None
    views.show_view(DECIDE)
    views.decide.show_page(index)
    page = views.decide.page(index)
    assert isinstance(page, QWidget)
    bench = page.findChild(Bench)
    assert bench is not None
    records = [row.name for row in catalog.interruption_records()]
    left = untranslated(page, *names)
    qtbot.waitUntil(lambda: not bench.is_running, timeout=30_000)
    commands = [line for label in page.findChildren(QLabel) for line in [label.text()] if "srun" in line or "sacct" in line]
    left += untranslated(page, *names, *commands, *records)
    said = _pointed_at(page)
    heads, rows = page.texts()
    said += [*heads, *(cell for row in rows for cell in row)]
    known = (*names, *records, *(cell for row in rows for cell in row if "srun" in cell or "sacct" in cell))
    left += [text for text in said if bare(_PLAIN.sub("", _without(text, known)))]
    store.edit("storage.generations_kept", 1)
    left += untranslated(page, *names, *commands, *records)
    assert left == []


# ---------------------------------------------------------------- only literals can be looked up

ROOT = Path(ckptplanner.__file__).parent
LOOKED_UP = {"say": "ckptplanner.ui.words", "text": "ckptplanner.text"}
# words that stand in the catalog or in `entry(title=...)`; whoever collects the texts reads them there
OTHER_HOMES = {"row.name", "one.note", "tier.note", "row.counted", "row.title", "part.what", "nudge.label.template"}
# wrappers: plan.finding, whose own calls are looked at below, and refusals that units.py words, one sentence for each unit
WRAPPERS = {
    "plan.py": {"text(template, **values)"},
    "rows_table.py": {"say(str(error))"},
    "side_by_side.py": {"say(str(error))"},
    "quantity_edit.py": {"say(str(error.with_traceback(None)))"},
    "field_row.py": {"say(self._message)"},
}


def looked_up(tree: ast.Module) -> Iterator[ast.Call]:
    """The calls of `say` and `text` in a module that imports them."""
    names = {
        alias.name
        for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)
        for alias in node.names if LOOKED_UP.get(alias.name) == node.module
    }  # fmt: skip
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names:
            yield node


def is_literal(call: ast.Call) -> bool:
    first = call.args[0]
    if isinstance(first, ast.Constant):
        return isinstance(first.value, str)
    if isinstance(first, ast.Attribute):
        return first.attr in {"title", "description"} or ast.unparse(first) in OTHER_HOMES
    return False


def test_the_search_sees_what_is_no_literal() -> None:
    code = (
        "from ckptplanner.ui.words import say\nfrom ckptplanner.text import text\n"
        "say('a')\nsay(f'a {b}')\nsay(b)\ntext('a' + b)\nsay(spec.title)\nother(f'{b}')"
    )
    assert [is_literal(call) for call in looked_up(ast.parse(code))] == [True, False, False, False, True]


def test_only_literals_are_looked_up() -> None:
    calls = [(file, call) for file in sorted(ROOT.rglob("*.py")) for call in looked_up(ast.parse(file.read_text("utf-8")))]
    assert len(calls) > 300
    others = {(file.name, ast.unparse(call)) for file, call in calls if not is_literal(call)}
    assert others == {(name, call) for name, known in WRAPPERS.items() for call in known}


def test_findings_are_literals() -> None:
    names = ("checks.py", "model_checks.py", "node_checks.py")
    trees = [ast.parse((ROOT / "engine" / name).read_text("utf-8")) for name in names]
    nodes = [node for tree in trees for node in ast.walk(tree)]
    said = [node for node in nodes if isinstance(node, ast.Call) and ast.unparse(node.func) == "finding"]
    assert len(said) > 60
    assert [ast.unparse(call) for call in said if not isinstance(call.args[2], ast.Constant)] == []


def test_no_text_is_looked_up_while_modules_are_loaded() -> None:
    """Before the application knows its language: such a text would stay English for good."""
    early: list[str] = []
    for file in sorted((ROOT / "ui").rglob("*.py")):
        tree = ast.parse(file.read_text("utf-8"))
        inside = {id(call) for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.Lambda)
                  for call in ast.walk(node)}  # fmt: skip
        early += [f"{file.name}:{call.lineno}" for call in looked_up(tree) if id(call) not in inside]
    assert early == []
