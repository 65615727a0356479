"""Onto the clipboard: a picture for a slide, a table for a sheet or a mail, the plan as a sheet with live formulas."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape

from PySide6.QtCore import QBuffer, QIODevice, QMimeData, QPoint, QRectF, QSize, Qt
from PySide6.QtGui import QGuiApplication, QImage, QImageWriter, QPainter
from PySide6.QtWidgets import QWidget

from ckptplanner.engine.csv_files import harmless
from ckptplanner.engine.scenario import NamedScenario
from ckptplanner.engine.spreadsheet import spreadsheet
from ckptplanner.engine.tables import Cell
from ckptplanner.ui.words import say_text

SCALE = 2
_BREAKS = str.maketrans("\t\r\n", "   ")


def copy_picture(source: QWidget | Callable[[QPainter, QRectF], None], size: QSize | None = None) -> None:
    """Put a picture at twice its size on the clipboard, as an image and as a PNG file.

    Args:
        source: A widget, or a function that paints into a rectangle.
        size: The size to paint at, in pixels of the screen; needed where `source` is a function.
    """
    image = picture_of(source, size)
    mime = QMimeData()
    mime.setImageData(image)
    mime.setData("image/png", png_of(image))
    QGuiApplication.clipboard().setMimeData(mime)


def copy_table(columns: Sequence[str], rows: Sequence[Sequence[Cell]]) -> None:
    """Put a table on the clipboard, tab-separated and as HTML; a cell that is None stays empty."""
    mime = QMimeData()
    mime.setText(tab_separated(columns, rows))
    mime.setHtml(html_table(columns, rows))
    QGuiApplication.clipboard().setMimeData(mime)


def copy_spreadsheet(named: NamedScenario) -> None:
    """Put the plan with its live formulas on the clipboard."""
    QGuiApplication.clipboard().setText(spreadsheet(named, say_text))


def picture_of(source: QWidget | Callable[[QPainter, QRectF], None], size: QSize | None = None) -> QImage:
    """The picture with twice the pixels, on white where nothing is painted."""
    if size is None:
        if not isinstance(source, QWidget):
            raise TypeError("a function that paints needs a size")
        size = source.size()
    image = QImage(size * SCALE, QImage.Format.Format_RGB32)
    image.setDevicePixelRatio(SCALE)
    image.fill(Qt.GlobalColor.white)
    painter = QPainter(image)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    if isinstance(source, QWidget):
        source.render(painter, QPoint())
    else:
        source(painter, QRectF(0.0, 0.0, size.width(), size.height()))
    painter.end()
    return image


def png_of(image: QImage) -> bytes:
    """The image as the content of a PNG file."""
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    QImageWriter(buffer, b"png").write(image)
    return bytes(buffer.data().data())


def tab_separated(columns: Sequence[str], rows: Sequence[Sequence[Cell]]) -> str:
    """The table as text: numbers to the last digit, no tab or line break inside a cell, nothing taken for a formula."""
    return "".join("\t".join(map(_plain, row)) + "\n" for row in (columns, *rows))


def html_table(columns: Sequence[str], rows: Sequence[Sequence[Cell]]) -> str:
    """The table as HTML, numbers flush right."""
    head = "".join(f"<th>{escape(column)}</th>" for column in columns)
    body = "".join(f"<tr>{''.join(map(_html_cell, row))}</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _html_cell(cell: Cell) -> str:
    align = ' align="right"' if isinstance(cell, int | float) and not isinstance(cell, bool) else ""
    return f"<td{align}>{escape(_plain(cell))}</td>"


def _plain(cell: Cell) -> str:
    if cell is None:
        return ""
    return str(harmless(cell.translate(_BREAKS))) if isinstance(cell, str) else repr(cell)
