"""The files of an export: report.pdf and requirement.pdf here, the CSV files by the engine, which needs no Qt.

The PDF is written at 96 dpi, the screen's own, so that plots are exactly the size they were laid out for; coordinates
are real numbers, and nothing in it is a raster. A QGuiApplication must exist.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Literal

from PySide6.QtCore import QBuffer, QIODevice, QMarginsF, QSizeF
from PySide6.QtGui import QPageLayout, QPageSize, QPainter, QPdfWriter

from ckptplanner import __version__
from ckptplanner.engine.cost import Basis
from ckptplanner.engine.csv_files import write_whole
from ckptplanner.engine.plan import Plan
from ckptplanner.engine.requirement import Requirement
from ckptplanner.engine.scenario import NamedScenario, Workbook
from ckptplanner.ui.report.content import Facts, report_html
from ckptplanner.ui.report.pages import Pages, Picture
from ckptplanner.ui.report.requirement import requirement_html
from ckptplanner.ui.theme import load_font

Paper = Literal["a4", "letter"]
DPI = 96
MARGINS_MM = QMarginsF(18.0, 16.0, 18.0, 12.0)
_SIZES = {"a4": QPageSize.PageSizeId.A4, "letter": QPageSize.PageSizeId.Letter}


def content_width_px(paper: Paper) -> int:
    """The width between the margins, at which pictures are drawn at scale 1. [px]"""
    page = QPageSize(_SIZES[paper]).size(QPageSize.Unit.Millimeter).width()
    return int((page - MARGINS_MM.left() - MARGINS_MM.right()) / 25.4 * DPI)


def write_pdf(
    path: Path,
    named: NamedScenario,
    plan: Plan,
    pictures: Sequence[Picture],
    paper: Paper = "a4",
    *,
    created: datetime,
    sentence: str,
    basis: Basis = "month",
    workbook: Workbook | None = None,
) -> Path:
    """Write the report and return its path; the file appears whole or not at all.

    Args:
        path: Where to.
        named: The inputs.
        plan: What follows from them, findings included.
        pictures: The plots, painted by whoever owns them.
        paper: a4 or letter.
        created: The date in the report and its footer.
        sentence: The sentence of the headline: the first line of the report.
        basis: What dollars are counted over.
        workbook: All scenarios, for the page that sets them side by side; None leaves it out.

    Raises:
        ExportError: the file cannot be written.
    """
    facts = Facts(named, plan, sentence, basis, created, workbook)
    write_whole(path, pdf_bytes(facts, pictures, paper))
    return path


def write_requirement(path: Path, sheet: Requirement, paper: Paper = "a4", *, created: datetime) -> Path:
    """Write the requirement sheet and return its path.

    Raises:
        ExportError: the file cannot be written.
    """
    html, footer = requirement_html(sheet, created), _footer(created, sheet.name)
    write_whole(path, _pdf(sheet.name, paper, lambda size, device: Pages(html, (), size, footer, device)))
    return path


def pdf_bytes(facts: Facts, pictures: Sequence[Picture], paper: Paper = "a4") -> bytes:
    """The report as the content of a PDF file."""
    return _pdf(facts.named.name, paper, lambda size, device: pages_of(facts, pictures, size, device))


def _pdf(title: str, paper: Paper, lay_out: Callable[[QSizeF, QPdfWriter], Pages]) -> bytes:
    """Pages as the content of a PDF file."""
    load_font()
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    writer = _writer(buffer, title, paper)
    pages = lay_out(QSizeF(writer.width(), writer.height()), writer)
    painter = QPainter(writer)
    for index in range(pages.count):
        if index:
            writer.newPage()
        pages.paint(painter, index)
    painter.end()
    return bytes(buffer.data().data())


def pages_of(facts: Facts, pictures: Sequence[Picture], size: QSizeF, device: QPdfWriter | None = None) -> Pages:
    """The report laid out for a page of `size` pixels inside its margins."""
    html = report_html(facts, [(picture.title, picture.caption) for picture in pictures])
    return Pages(html, pictures, size, _footer(facts.created, facts.named.name), device)


def _footer(created: datetime, name: str) -> str:
    return f"ckptplanner {__version__}  ·  {created:%Y-%m-%d}  ·  {' '.join(name.split())}"


def _writer(buffer: QBuffer, title: str, paper: Paper) -> QPdfWriter:
    writer = QPdfWriter(buffer)
    writer.setResolution(DPI)
    layout = QPageLayout(QPageSize(_SIZES[paper]), QPageLayout.Orientation.Portrait, MARGINS_MM, QPageLayout.Unit.Millimeter)
    writer.setPageLayout(layout)
    writer.setTitle(title)
    writer.setCreator(f"ckptplanner {__version__}")
    return writer
