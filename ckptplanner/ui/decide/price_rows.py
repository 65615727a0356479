"""File systems whose price no source vouches for: a field for each price, and below what it would win."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QGridLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from ckptplanner.engine.families import Ask
from ckptplanner.ui.decide.goal_bar import limit_spec
from ckptplanner.ui.lines import QuietLine
from ckptplanner.ui.theme import FIELD_HEIGHT
from ckptplanner.ui.widgets.quantity_edit import QuantityEdit
from ckptplanner.ui.words import say, say_text
from ckptplanner.units import USD, brief


@dataclass(frozen=True, slots=True)
class Price:
    """One price that is asked for, or that was typed here."""

    ask: Ask
    value: float | None = None
    wins_below_usd: float | None = None


class PriceRow:
    """One price: what it is of, the field, what would follow."""

    def __init__(self, grid: QGridLayout, at: int, price: Price, rows: PriceRows) -> None:
        self.ask_id = price.ask.id
        self.what = QuietLine()
        self.edit = QuantityEdit(limit_spec(price.ask.id, say_text(price.ask.what), USD, path="price"), say("unknown"))
        self.edit.setFixedSize(96, FIELD_HEIGHT)
        self.edit.edited.connect(rows.on_typed)
        self.take = QPushButton()
        self.take.setProperty("role", "link")
        self.take.setObjectName(f"price.{price.ask.id}.take")
        self.take.clicked.connect(partial(rows.on_taken, price.ask.id))
        self.beside = QuietLine()
        for column, part in enumerate((self.what, self.edit, self.take, self.beside)):
            grid.addWidget(part, at, column)
        grid.setAlignment(self.take, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)

    def show_price(self, price: Price) -> None:
        """Show the price and what is known beside it."""
        ask = price.ask
        what = say_text(ask.what)
        self.what.show_words(what[:1].upper() + what[1:])
        self.edit.show_value(price.value)
        wins = price.wins_below_usd
        self.beside.show_words(
            say("typed here") if price.value is not None
            else say("wins below {price}", price=brief(wins, USD)) if wins is not None else ""
        )  # fmt: skip
        offered = ask.suggested_usd is not None and price.value is None
        self.take.setVisible(offered)
        if ask.suggested_usd is not None:
            self.take.setText(say("take {price}, not verified", price=brief(ask.suggested_usd, USD)))
            self.take.setToolTip(say("{source}, {date}", source=ask.source, date=ask.date))

    def delete(self) -> None:
        """Take it away."""
        for part in (self.what, self.edit, self.take, self.beside):
            part.hide()
            part.deleteLater()


class PriceRows(QWidget):
    """All prices that are asked for; what is typed is said with the question."""

    given = Signal(object, object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("price_rows")
        self.prices: tuple[Price, ...] = ()
        self._rows: list[PriceRow] = []
        head = QLabel(say("Price unknown: type it, and it takes part"))
        head.setProperty("role", "title")
        self._grid = QGridLayout()
        self._grid.setHorizontalSpacing(12)
        self._grid.setVerticalSpacing(4)
        self._grid.setColumnStretch(0, 3)
        self._grid.setColumnStretch(3, 2)
        box = QVBoxLayout(self)
        box.setContentsMargins(16, 14, 16, 4)
        box.setSpacing(6)
        box.addWidget(head, 0, Qt.AlignmentFlag.AlignLeft)
        box.addLayout(self._grid)

    def show_prices(self, prices: Sequence[Price]) -> None:
        """Show prices; where they are of the same things as before, the fields stay what they are."""
        if [row.ask_id for row in self._rows] != [one.ask.id for one in prices]:
            for row in self._rows:
                row.delete()
            self._rows = [PriceRow(self._grid, at, one, self) for at, one in enumerate(prices)]
        self.prices = tuple(prices)
        for row, one in zip(self._rows, prices, strict=True):
            row.show_price(one)
        self.setVisible(bool(prices))

    def on_typed(self, path: str, value: float | None) -> None:
        """A price was typed; empty takes it back."""
        ask = next(one.ask for one in self.prices if path == f"price.{one.ask.id}")
        self.given.emit(ask, value)

    def on_taken(self, ask_id: str) -> None:
        """The unsure price of a source is taken."""
        ask = next(one.ask for one in self.prices if one.ask.id == ask_id)
        self.given.emit(ask, ask.suggested_usd)
