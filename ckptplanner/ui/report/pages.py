"""The report laid out on pages and painted on any QPainter: a PDF writer, a printer or an image in a test.

One QTextDocument with tables and text; pictures are vector plots that a text object asks their owner to paint. The page
loop is our own: `QTextDocument.print_` would force its margins and page numbers. Measures are pixels at 96 dpi.

    | page k of n: `height` of the document, shifted by k pages |
    | hairline, footer                                     k / n |
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QObject, QRect, QRectF, QSizeF, Qt
from PySide6.QtGui import (
    QColor,
    QFont,
    QPaintDevice,
    QPainter,
    QPen,
    QPyTextObject,
    QTextBlock,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextFormat,
    QTextFrame,
    QTextOption,
    QTextTable,
)

from ckptplanner.ui import theme
from ckptplanner.ui.report.content import PICTURE_SOURCE
from ckptplanner.ui.theme import LIGHT

FOOTER_HEIGHT = 28.0
BODY_PX, FOOTER_PX = 12, 10
ROW_FOOT = 8.0  # below the text of a row: without it Qt takes the taller letters of the row alone to the next page


@dataclass(frozen=True, slots=True)
class HeadingLook:
    """How a heading of one level is set; level 6 is a caption."""

    pixels: int
    bold: bool
    colour: str


_HEADINGS = {
    1: HeadingLook(22, False, LIGHT.text),
    2: HeadingLook(15, True, LIGHT.text),
    3: HeadingLook(12, True, LIGHT.text),
    6: HeadingLook(11, False, LIGHT.muted),
}


@dataclass(frozen=True, slots=True)
class Picture:
    """A plot of the report: `paint` draws it as vectors into the rectangle it is given."""

    title: str
    caption: str
    height_px: float
    paint: Callable[[QPainter, QRectF], None]


def font(pixels: int = BODY_PX, *, bold: bool = False) -> QFont:
    """The bundled font for paper: without its local forms, whose digits a PDF could not be searched for."""
    made = theme.font(pixels, bold=bold)
    made.setFeature(QFont.Tag("locl"), 0)
    return made


class PictureObject(QPyTextObject):
    """Stands in for <img> in the document and hands the painter on to the picture's owner."""

    def __init__(self, pictures: Sequence[Picture], size: QSizeF, parent: QObject) -> None:
        super().__init__(parent)
        self._pictures = pictures
        self._size = size

    def intrinsicSize(self, doc: QTextDocument, pos_in_document: int, format: QTextFormat) -> QSizeF:
        """The size of a picture: the whole width, and no higher than a page with its heading. Override."""
        height = min(self._picture(format).height_px, self._size.height() - 120.0)
        return QSizeF(self._size.width(), height)

    def drawObject(
        self, painter: QPainter, rect: QRectF | QRect, doc: QTextDocument, pos_in_document: int, format: QTextFormat
    ) -> None:
        """Paint a picture. Override."""
        painter.save()
        self._picture(format).paint(painter, QRectF(rect))
        painter.restore()

    def _picture(self, format: QTextFormat) -> Picture:
        name = format.toImageFormat().name()
        return self._pictures[int(name.removeprefix(PICTURE_SOURCE))]


class Pages:
    """The pages of one report."""

    def __init__(
        self, html: str, pictures: Sequence[Picture], size: QSizeF, footer: str, device: QPaintDevice | None = None
    ) -> None:
        """Lay the report out.

        Args:
            html: What `report_html` made.
            pictures: The pictures that it refers to.
            size: The page inside its margins, footer included. [px]
            footer: What stands at the left of every footer.
            device: What will be painted on; its resolution scales the fonts.
        """
        self._size, self._footer = size, footer
        self._body = QSizeF(size.width(), math.floor(size.height() - FOOTER_HEIGHT))
        self._document = QTextDocument()
        layout = self._document.documentLayout()
        if device is not None:
            layout.setPaintDevice(device)
        self._object = PictureObject(pictures, self._body, self._document)
        layout.registerHandler(QTextFormat.ObjectTypes.ImageObject.value, self._object)
        self._fill(html)

    def _fill(self, html: str) -> None:
        document = self._document
        option = QTextOption()
        option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        document.setDefaultTextOption(option)
        document.setDefaultFont(font(BODY_PX))
        document.setDocumentMargin(0.0)
        document.setPageSize(self._body)
        document.setHtml(html)
        _set_headings(document)
        _keep_together(document)

    @property
    def count(self) -> int:
        """How many pages there are."""
        return self._document.pageCount()

    def paint(self, painter: QPainter, index: int) -> None:
        """Paint page `index`, counted from 0, with its top left corner at the painter's origin."""
        height = self._body.height()
        painter.save()
        painter.translate(0.0, -index * height)
        # a clip that touches the next page would put its first line, unseen, into the text of this one
        self._document.drawContents(painter, QRectF(0.0, index * height + 1.0, self._body.width(), height - 2.0))
        painter.restore()
        self._paint_footer(painter, index)

    def _paint_footer(self, painter: QPainter, index: int) -> None:
        top = self._body.height() + 10.0
        painter.save()
        painter.setPen(QPen(QColor(LIGHT.hairline), 1.0))
        painter.drawLine(0, round(top), round(self._size.width()), round(top))
        painter.setPen(QColor(LIGHT.muted))
        painter.setFont(font(FOOTER_PX))
        line = QRectF(0.0, top + 2.0, self._size.width(), FOOTER_HEIGHT - 12.0)
        number = f"{index + 1} / {self.count}"
        room = self._size.width() - painter.fontMetrics().horizontalAdvance(number) - 24
        text = painter.fontMetrics().elidedText(self._footer, Qt.TextElideMode.ElideRight, int(room))
        painter.drawText(line, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, text)
        painter.drawText(line, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, number)
        painter.restore()


def _set_headings(document: QTextDocument) -> None:
    """Give headings and captions their size: HTML would scale them beside the style sheet."""
    block = document.begin()
    while block.isValid():
        look = _HEADINGS.get(block.blockFormat().headingLevel())
        if look is not None:
            form = QTextCharFormat()
            form.setFont(font(look.pixels, bold=look.bold))
            form.setForeground(QColor(look.colour))
            cursor = QTextCursor(block)
            cursor.select(QTextCursor.SelectionType.BlockUnderCursor)
            cursor.setCharFormat(form)
        block = block.next()


def _keep_together(document: QTextDocument) -> None:
    """Push headings that would stand alone, and table rows that would be cut, to the next page.

    One pass from the top is enough: a push moves only what comes after it.
    """
    block = document.begin()
    while block.isValid():
        if _is_heading(block):
            announced = _announced(document, block)
            if announced is not None and _page(document, block) != _page(document, announced, at_end=True):
                _break_before(block)
        else:
            _keep_row_of(document, block)
        block = block.next()


def _keep_row_of(document: QTextDocument, block: QTextBlock) -> None:
    """Keep the table row together whose first block this is."""
    table = _table_at(document, block)
    if table is None:
        return
    cell = table.cellAt(block.position())
    if cell.column() == 0 and cell.firstCursorPosition().block() == block:
        _keep_row(document, table, cell.row())


def _keep_row(document: QTextDocument, table: QTextTable, row: int) -> None:
    cells = [table.cellAt(row, column) for column in range(table.columns())]
    layout, height = document.documentLayout(), document.pageSize().height()
    top = min(layout.blockBoundingRect(cell.firstCursorPosition().block()).top() for cell in cells)
    bottom = max(layout.blockBoundingRect(cell.lastCursorPosition().block()).bottom() for cell in cells)
    left = height - top % height
    if bottom - top <= left - ROW_FOOT or bottom - top > height / 2.0:
        return
    for cell in cells:
        form = cell.format().toTableCellFormat()
        form.setTopPadding(form.topPadding() + left)
        cell.setFormat(form)


def _break_before(block: QTextBlock) -> None:
    cursor = QTextCursor(block)
    layout = cursor.blockFormat()
    layout.setPageBreakPolicy(QTextFormat.PageBreakFlag.PageBreak_AlwaysBefore)
    cursor.setBlockFormat(layout)


def _is_heading(block: QTextBlock) -> bool:
    return 0 < block.blockFormat().headingLevel() < 6


def _announced(document: QTextDocument, heading: QTextBlock) -> QTextBlock | None:
    """The block that must stand on the heading's page: the paragraph behind it, or the second row of its table."""
    block = heading.next()
    while block.isValid() and block.blockFormat().headingLevel() > 0:
        block = block.next()
    table = _table_at(document, block) if block.isValid() else None
    if table is not None and table.rows() > 1:
        return table.cellAt(min(2, table.rows() - 1), 0).firstCursorPosition().block()
    return block if block.isValid() else None


def _table_at(document: QTextDocument, block: QTextBlock) -> QTextTable | None:
    frame: QTextFrame | None = document.frameAt(block.position())
    return frame if isinstance(frame, QTextTable) else None


def _page(document: QTextDocument, block: QTextBlock, *, at_end: bool = False) -> int:
    box = document.documentLayout().blockBoundingRect(block)
    y = box.bottom() - 1.0 if at_end else box.top()
    return int(y // document.pageSize().height())
