"""The report: the plan's numbers and the person's words on real pages, fonts embedded, nothing raster, nothing clipped."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest
from PySide6.QtCore import QPointF, QRectF, QSize, QSizeF
from PySide6.QtGui import QColor, QGuiApplication, QImage, QPainter, QPen
from PySide6.QtWidgets import QApplication, QLabel
from pytestqt.qtbot import QtBot

from ckptplanner import __version__
from ckptplanner.engine.csv_files import ExportError
from ckptplanner.engine.evaluate import plan_of
from ckptplanner.engine.scenario import NamedScenario, Scenario, Source
from ckptplanner.engine.tables import input_rows
from ckptplanner.frozen import with_value
from ckptplanner.ui.report import copying
from ckptplanner.ui.report.content import Basis, Facts, report_html
from ckptplanner.ui.report.export import Paper, Picture, pages_of, pdf_bytes, write_pdf
from ckptplanner.ui.theme import load_font
from ckptplanner.units import SECONDS, brief, rough
from tests.engine.cases import MODELS, named

SENTENCE = "Save every 45 min; each save stops training for 5 s."
CREATED = datetime(2026, 11, 3, 14, 5)
needs_poppler = pytest.mark.skipif(shutil.which("pdftotext") is None, reason="poppler-utils is not installed")


@pytest.fixture(autouse=True)
def _font(qapp: QApplication) -> Iterator[None]:
    load_font()
    yield
    qapp.clipboard().clear()


def _paint(painter: QPainter, box: QRectF) -> None:
    painter.setPen(QPen(QColor("#00736B"), 1.0))
    painter.drawLine(box.bottomLeft(), box.topRight())
    painter.drawText(box.center(), "picture of a test")


PICTURES = (Picture("Cost", "against write time", 300.0, _paint), Picture("Waste", "", 240.0, _paint))


def _facts(named: NamedScenario, basis: Basis = "month") -> Facts:
    return Facts(named, plan_of(named), SENTENCE, basis, CREATED)


def _write(folder: Path, named: NamedScenario, paper: Paper = "a4", basis: Basis = "month") -> Path:
    return write_pdf(
        folder / "report.pdf", named, plan_of(named), PICTURES, paper, created=CREATED, sentence=SENTENCE, basis=basis
    )


def _tool(*command: str | Path) -> str:
    return subprocess.run([*map(str, command)], capture_output=True, text=True, check=True).stdout


def _text(pdf: Path) -> str:
    """All text of a PDF with single plain spaces."""
    return " ".join(_tool("pdftotext", "-layout", pdf, "-").replace("\u00a0", " ").split())


def _squeezed(text: str) -> str:
    return re.sub(r"\s", "", text)


@needs_poppler
def test_the_figures_are_those_of_the_plan(tmp_path: Path) -> None:
    named = NamedScenario(name="5 min")
    said, plan = _text(_write(tmp_path, named)), plan_of(named)
    assert plan.schedule is not None
    assert SENTENCE in said
    for option in plan.storage.options:
        assert f"{option.usd_per_month:,.0f}" in said
        assert f"{(option.total_usd_per_year or 0) / 12:,.0f}" in said
    assert rough(plan.schedule.interval_s, SECONDS).replace("\u00a0", " ") in said
    for finding in plan.findings:
        assert finding.path in said
    for row in input_rows(named):
        assert _squeezed(row.path)[:20] in said
        assert row.path == "workload.layout" or _squeezed(row.shown) in _squeezed(said)
    assert "picture of a test" in said
    assert f"ckptplanner {__version__} · 2026-11-03 · 5 min" in said


@needs_poppler
def test_every_page_has_a_number(tmp_path: Path) -> None:
    said = _text(_write(tmp_path, NamedScenario(name="a")))
    count = int(re.findall(r"Pages:\s+(\d+)", _tool("pdfinfo", tmp_path / "report.pdf"))[0])
    assert count > 2
    for page in range(1, count + 1):
        assert f"{page}/{count}" in _squeezed(said)


@needs_poppler
@pytest.mark.parametrize(("paper", "size"), [("a4", "595 x 842"), ("letter", "612 x 792")])
def test_paper(paper: Paper, size: str, tmp_path: Path) -> None:
    assert size in _tool("pdfinfo", _write(tmp_path, NamedScenario(name="a"), paper))


@needs_poppler
def test_fonts_are_embedded_and_nothing_is_raster(tmp_path: Path) -> None:
    pdf = _write(tmp_path, NamedScenario(name="名前"))
    fonts = _tool("pdffonts", pdf).splitlines()[2:]
    assert fonts
    for line in fonts:
        assert "NotoSansJP" in line
        embedded, _, unicode = line.split()[-5:-2]
        assert (embedded, unicode) == ("yes", "yes")
    assert len(_tool("pdfimages", "-list", pdf).splitlines()) == 2


@needs_poppler
def test_japanese_and_special_signs_survive(tmp_path: Path) -> None:
    note = "夜間に実行する計画。比較・用途・高速\n<b>not bold</b> & 5 < 6"
    named = NamedScenario(name="5 分ごとの保存 <i>&amp;", note=note)
    named = named.with_source(Source(path="failures.mtbi_s", kind="log", text="<img src='x'> ログ", date="2026-11-02"))
    said = _squeezed(_text(_write(tmp_path, named)))
    for part in (named.name, *note.split("\n"), "<imgsrc='x'>ログ"):
        assert _squeezed(part) in said


@needs_poppler
def test_long_words_and_notes_are_not_clipped(tmp_path: Path) -> None:
    name = "n" * 120
    lines = [f"Line {number} of this note." for number in range(300)]
    note = "\n".join(lines)
    scenario = with_value(Scenario(), "workload.layout", ({"what": "w" * 200, "bytes_per_param": 14.0},))
    named = NamedScenario(name=name, note=note, scenario=scenario)
    pdf = _write(tmp_path, named)
    said = _tool("pdftotext", "-layout", pdf, "-")
    assert [line for line in lines if line not in said] == []
    assert _squeezed(_tool("pdftotext", pdf, "-")).count("w") >= 200
    assert _rightmost(pdf) < 595.0


def _rightmost(pdf: Path) -> float:
    return max(float(x) for x in re.findall(r'xMax="([\d.]+)"', _tool("pdftotext", "-bbox", pdf, "-")))


@needs_poppler
@pytest.mark.parametrize(("basis", "money"), [("month", "$21.9k"), ("run", "$64.9k"), ("year", "$263k")])
def test_money_basis(basis: Basis, money: str, tmp_path: Path) -> None:
    named = NamedScenario(name="a", scenario=with_value(Scenario(), "run.days", 90.0))
    assert money in _text(_write(tmp_path, named, basis=basis))


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("storage.quota_gib", 1.0),
        ("prices.node_usd_per_h", None),
        ("storage.blocking_s", 1e6),
        ("storage.custom", {"write_bytes_per_s": 62e9, "read_bytes_per_s": 125e9, "usable_bytes": 1e15}),
    ],
)
def test_a_plan_with_gaps_makes_a_report(path: str, value: object) -> None:
    named = NamedScenario(name="a", scenario=with_value(Scenario(), path, value))
    html = report_html(_facts(named), [])
    assert not re.search(r"\bnan\b|\binf\b|>None<", html, re.IGNORECASE)
    assert pdf_bytes(_facts(named), []).startswith(b"%PDF")


def test_pages_paint_on_an_image() -> None:
    pages = pages_of(_facts(NamedScenario(name="a")), PICTURES, QSizeF(658.0, 1000.0))
    colours = set()
    for index in range(pages.count):
        image = QImage(658, 1000, QImage.Format.Format_RGB32)
        image.fill(QColor("white"))
        painter = QPainter(image)
        pages.paint(painter, index)
        painter.end()
        colours |= {image.pixelColor(x, y).name() for x in range(0, 658, 2) for y in range(0, 1000, 2)}
    assert "#00736b" in colours
    assert len(colours) > 10


def test_an_unwritable_path_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("here")
    with pytest.raises(ExportError, match=r"report\.pdf could not be written to .*choose a folder"):
        _write(tmp_path / "file", NamedScenario(name="a"))
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_an_old_report_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "report.pdf").write_text("old")
    _write(tmp_path, NamedScenario(name="a"))
    assert (tmp_path / "report.pdf").read_bytes().startswith(b"%PDF")
    assert [path.name for path in tmp_path.iterdir()] == ["report.pdf"]


# ---------------------------------------------------------------- the clipboard


def test_a_picture_is_copied_at_twice_its_size() -> None:
    copying.copy_picture(lambda painter, box: painter.drawLine(QPointF(0, 0), box.bottomRight()), QSize(40, 30))
    mime = QGuiApplication.clipboard().mimeData()
    png = QImage.fromData(mime.data("image/png"))
    assert (png.width(), png.height()) == (80, 60)
    assert mime.hasImage()


def test_a_widget_is_copied(qtbot: QtBot) -> None:
    label = QLabel("数")
    qtbot.addWidget(label)
    label.resize(50, 20)
    image = copying.picture_of(label)
    assert (image.width(), image.height(), image.devicePixelRatio()) == (100, 40, 2.0)


def test_a_table_is_copied_as_text_and_html() -> None:
    copying.copy_table(["name", "usd_per_month"], [["a\tb <c>", 4080.0000000000005], ["=1", None]])
    mime = QGuiApplication.clipboard().mimeData()
    assert mime.text() == "name\tusd_per_month\na b <c>\t4080.0000000000005\n'=1\t\n"
    assert "<td>a b &lt;c&gt;</td>" in mime.html()
    assert '<td align="right">4080.0000000000005</td>' in mime.html()


def test_the_spreadsheet_is_copied() -> None:
    copying.copy_spreadsheet(NamedScenario(name="表"))
    said = QGuiApplication.clipboard().text()
    assert "表" in said.splitlines()[0]
    assert "\t=SQRT(" in said


# ---------------------------------------------------------------- two levels, and interruptions with a memory


def _model(name: str) -> NamedScenario:
    return named(MODELS[name])


def test_two_levels_are_shown_with_both_schedules_and_their_model() -> None:
    plan = plan_of(_model("two levels, copies"))
    assert plan.levels is not None
    html = report_html(_facts(_model("two levels, copies")), [])
    said = html[html.index("Two levels") : html.index("What it costs")]
    for level in (plan.levels.local, plan.levels.shared):
        assert rough(level.interval_s, SECONDS) in said
        assert brief(level.restart_s, SECONDS) in said
    assert f"One in {plan.levels.ratio} local saves" in said
    assert all(word in said for word in ("(E6)", "(E5)", "with shared saves alone"))
    formulas = html[html.index("<h2>Formulas") :]
    assert "P<sub>3</sub> = n w / g<sub>1</sub>" in formulas
    assert "Renewal reward for exponential" not in formulas


def test_one_level_has_no_table_of_levels() -> None:
    html = report_html(_facts(NamedScenario(name="a")), [])
    assert "Two levels" not in html
    assert "Renewal reward for exponential" in html


@pytest.mark.parametrize(
    ("name", "law"),
    [
        ("weibull, shape 0.6", "k = 0.6"), ("lognormal, wide", "lognormal gap of mean M is above u, σ = 2"),
        ("gaps", "share of the 11 measured gaps above u"),
    ],
)  # fmt: skip
def test_the_law_of_the_gaps_is_in_the_formulas(name: str, law: str) -> None:
    formulas = report_html(_facts(_model(name)), []).partition("<h2>Formulas")[2]
    assert law in formulas
    assert "exponential" not in formulas
    assert "T* = the T for which" in formulas


def test_nodes_that_age_have_their_formula() -> None:
    assert "M = L / (N (H(A + L) − H(A)))" in report_html(_facts(_model("nodes that age")), [])
    assert "H(A + L)" not in report_html(_facts(NamedScenario(name="a")), [])


@pytest.mark.parametrize("name", MODELS)
def test_every_model_makes_a_report(name: str) -> None:
    html = report_html(_facts(_model(name)), [])
    assert not re.search(r"\bnan\b|\binf\b|>None<|[{}]", html.partition("</style>")[2], re.IGNORECASE)


def test_no_section_is_called_by_its_path() -> None:
    html = report_html(_facts(NamedScenario(name="a")), [])
    assert not {section for section in re.findall("<h3>(.*?)</h3>", html) if section in Scenario.model_fields}


def test_the_first_line_says_until_when_the_plan_is_the_better_one() -> None:
    """WINDOW: the sentence under the cards is the first line of the report, SPEC 13's 6.31 $ and 566 h included."""
    from ckptplanner.engine.workbook_file import read
    from ckptplanner.ui.headless import lead

    book = read(Path("resources/examples/nemotron-3.5-super.ckptplan.json"))
    line = lead(book, plan_of(book.shown))
    assert line.startswith("Save every")
    assert "$6.31" in line
    assert "566" in line
