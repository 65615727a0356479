"""Colours, type and measures: the only file that holds a colour.

Two themes of equal standing. `apply_theme` sets the palette, the font and one style sheet; widgets name their role and
state in dynamic properties (`role="muted"`, `state="error"`), so that another theme is one call and no widget knows its
colours. What paints itself (plots, boards) is handed the Theme through its `show_theme(theme)`.

    body 13 px, small 11 px, figure 20 px     a grid of 4 px, hairlines of 1 px, one accent
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from string import Template
from typing import Literal

from PySide6.QtCore import QByteArray, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontDatabase, QIcon, QPainter, QPalette, QPen, QPixmap
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QApplication, QWidget

from ckptplanner.ui.assets import asset_path

FONT_FAMILY = "Noto Sans JP"
FONT_FILE = "fonts/NotoSansJP-Regular-subset.otf"
CODE_FAMILY = "Noto Sans Mono"
CODE_FILE = "fonts/NotoSansMono-Regular-subset.ttf"
BODY_PX, SMALL_PX, FIGURE_PX, CODE_PX = 13, 11, 20, 12
GRID = 4
PANEL_WIDTH, HEADER_HEIGHT, ROW_HEIGHT, FIELD_HEIGHT, LINE_HEIGHT = 320, 28, 24, 20, 16
EDGE, LABEL_WIDTH, EDITOR_WIDTH = 12, 108, 128
ICON_PX = 16

Shape = Literal["circle", "square", "triangle", "diamond"]


@dataclass(frozen=True, slots=True)
class Mark:
    """How one scenario is told from the others, everywhere: a colour, a quiet ground of it, and a shape."""

    colour: str
    ground: str
    shape: Shape


@dataclass(frozen=True, slots=True)
class CodeColours:
    """The words of a settings file, and what a difference took away and put there."""

    keyword: str
    key: str
    string: str
    number: str
    comment: str
    remark: str  # a comment that says from which figure of the plan its line comes
    added: str
    added_ground: str
    removed: str
    removed_ground: str


@dataclass(frozen=True, slots=True)
class Theme:
    """Every colour by what it is for; `#RRGGBB`."""

    name: Literal["light", "dark"]
    window: str
    surface: str
    panel: str
    header: str
    text: str
    muted: str
    hairline: str
    line: str
    edge: str
    selected: str
    hover: str
    accent: str
    accent_ground: str
    accent_text: str
    error: str
    error_ground: str
    warning: str
    disabled_text: str
    use_low: str
    use_middle: str
    use_high: str
    thin: str
    grid: str
    band: str
    hatch: str
    groups: tuple[str, str, str, str]
    causes: tuple[str, ...]
    scenarios: tuple[Mark, ...]
    code: CodeColours

    @property
    def is_dark(self) -> bool:
        """Whether light text stands on a dark ground."""
        return self.name == "dark"

    @property
    def info(self) -> str:
        """What is worth knowing but needs nothing done."""
        return self.accent

    def mark(self, index: int) -> Mark:
        """The mark of the scenario at `index`; from the fifth on the colours return with other shapes."""
        count = len(self.scenarios)
        first, shape = self.scenarios[index % count], self.scenarios[(index + index // count) % count].shape
        return Mark(first.colour, first.ground, shape)


LIGHT = Theme(
    name="light",
    window="#EFF1F4", surface="#FFFFFF", panel="#F8F9FB", header="#EFF1F4",
    text="#18212B", muted="#55606D", hairline="#D8DDE3", line="#AEB7C2", edge="#8A96A3",
    selected="#F3F8FD", hover="#F4F6F8", accent="#1A5FB4", accent_ground="#E6EFFA", accent_text="#FFFFFF",
    error="#B3261E", error_ground="#FCEBEA", warning="#855600", disabled_text="#7C8793",
    use_low="#3E6C9E", use_middle="#93A1B0", use_high="#B04A00", thin="#84909D",
    grid="#EBEEF1", band="#F1F4F8", hatch="#CBD2DA",
    groups=("#E3EAF2", "#D5DFEA", "#C7D4E3", "#EEF2F7"),
    # training, saving, waiting, rework, restart, down, planned: ΔE 19 or more, also under simulated colour blindness
    causes=("#C7D4E3", "#3E6C9E", "#93A1B0", "#B04A00", "#E0A526", "#3B4652", "#9455D3"),
    scenarios=(
        Mark("#00736B", "#D5ECEA", "circle"), Mark("#A84B00", "#F7E3D3", "square"),
        Mark("#7B4397", "#E9DDF0", "triangle"), Mark("#4F1D12", "#EBDEDA", "diamond"),
    ),
    code=CodeColours(
        keyword="#7B4397", key="#1A5FB4", string="#7A4A00", number="#A84B00", comment="#66717E", remark="#00736B",
        added="#0F6A45", added_ground="#E4F3EB", removed="#B3261E", removed_ground="#FCEBEA",
    ),
)  # fmt: skip
DARK = Theme(
    name="dark",
    window="#11151A", surface="#191E25", panel="#151A20", header="#11151A",
    text="#E6EBF0", muted="#9FABB8", hairline="#2A323B", line="#4A5664", edge="#5C6A79",
    selected="#18283A", hover="#1F252D", accent="#74B3FF", accent_ground="#1C314C", accent_text="#0E1722",
    error="#FF8F85", error_ground="#3A2022", warning="#EFB750", disabled_text="#768391",
    use_low="#79A6D8", use_middle="#C3CCD6", use_high="#FF9D4D", thin="#748290",
    grid="#222931", band="#1D242C", hatch="#3A444F",
    groups=("#26323F", "#2F3E4E", "#394B5F", "#1F2833"),
    causes=("#394B5F", "#79A6D8", "#7F8B98", "#EE8434", "#F5E29A", "#E6EBF0", "#B073F5"),
    scenarios=(
        Mark("#3FC9B9", "#17403D", "circle"), Mark("#F2A35A", "#4A3321", "square"),
        Mark("#C79DEC", "#3D2E4A", "triangle"), Mark("#E2F0AE", "#3C422B", "diamond"),
    ),
    code=CodeColours(
        keyword="#C79DEC", key="#74B3FF", string="#E6C58A", number="#F2A35A", comment="#8A97A5", remark="#3FC9B9",
        added="#7FD8AC", added_ground="#15322A", removed="#FF8F85", removed_ground="#3A2022",
    ),
)  # fmt: skip
THEMES: Mapping[str, Theme] = {theme.name: theme for theme in (LIGHT, DARK)}


def font(pixels: int = BODY_PX, *, bold: bool = False) -> QFont:
    """The bundled font at one of the three sizes, without ligatures, which would spoil searching in a PDF."""
    made = QFont(FONT_FAMILY)
    made.setPixelSize(pixels)
    made.setBold(bold)
    made.setFeature(QFont.Tag("liga"), 0)
    made.setFeature(QFont.Tag("locl"), 0)  # it swaps digits for glyphs that a PDF cannot name
    made.setFeature(QFont.Tag("tnum"), 1)
    return made


def code_font(pixels: int = CODE_PX) -> QFont:
    """The bundled font whose letters are all of one width; what it lacks comes from the other one."""
    made = QFont([CODE_FAMILY, FONT_FAMILY])
    made.setPixelSize(pixels)
    made.setFixedPitch(True)
    made.setFeature(QFont.Tag("liga"), 0)
    return made


def load_code_font() -> None:
    """Make the font of settings files known to Qt, once; the window does not wait for it."""
    if CODE_FAMILY not in QFontDatabase.families() and QFontDatabase.addApplicationFont(str(asset_path(CODE_FILE))) < 0:
        raise FileNotFoundError(f"the font {asset_path(CODE_FILE)} is missing or cannot be read")


def load_font() -> None:
    """Make the bundled font known to Qt, once."""
    if FONT_FAMILY in QFontDatabase.families():
        return
    if QFontDatabase.addApplicationFont(str(asset_path(FONT_FILE))) < 0:
        raise FileNotFoundError(f"the font {asset_path(FONT_FILE)} is missing or cannot be read")


def apply_theme(app: QApplication, theme: Theme) -> None:
    """Give the whole application the look of `theme`; may be called again at any time."""
    load_font()
    if app.style().objectName() != "fusion":
        app.setStyle("Fusion")
    # taking the old sheet off first makes a change three times as fast: 40 ms for the three panels
    app.setStyleSheet("")
    app.setFont(font())
    app.setPalette(palette_of(theme))
    app.setStyleSheet(style_sheet(theme))


def palette_of(theme: Theme) -> QPalette:
    """The palette of Qt in the colours of `theme`; widgets that paint themselves read it.

    No text of ours has visited links, so their role carries the amber of a guess.
    """
    role = QPalette.ColorRole
    colours = {
        role.Window: theme.window, role.WindowText: theme.text, role.Base: theme.surface,
        role.AlternateBase: theme.hover, role.Text: theme.text, role.Button: theme.surface,
        role.ButtonText: theme.text, role.PlaceholderText: theme.muted, role.BrightText: theme.error,
        role.ToolTipBase: theme.surface, role.ToolTipText: theme.text, role.Link: theme.accent,
        role.LinkVisited: theme.warning, role.Highlight: theme.accent, role.HighlightedText: theme.accent_text,
        role.Light: theme.surface, role.Midlight: theme.hairline, role.Mid: theme.line, role.Dark: theme.edge,
        role.Shadow: theme.edge, role.Accent: theme.accent,
    }  # fmt: skip
    palette = QPalette()
    for name, colour in colours.items():
        palette.setColor(name, QColor(colour))
    for name in (role.WindowText, role.Text, role.ButtonText):
        palette.setColor(QPalette.ColorGroup.Disabled, name, QColor(theme.disabled_text))
    palette.setColor(QPalette.ColorGroup.Disabled, role.Base, QColor(theme.window))
    return palette


def icon(name: str, theme: Theme, colour: str = "") -> QIcon:
    """One of resources/icons, 16 px, in the colour of text or in `colour`; paler while its action is disabled."""
    made = QIcon()
    made.addPixmap(_pixmap(name, colour or theme.text))
    made.addPixmap(_pixmap(name, theme.line), QIcon.Mode.Disabled)
    return made


def _pixmap(name: str, colour: str, scale: int = 2) -> QPixmap:
    drawing = asset_path(f"icons/{name}.svg").read_text(encoding="utf-8").replace("currentColor", colour)
    pixmap = QPixmap(ICON_PX * scale, ICON_PX * scale)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    QSvgRenderer(QByteArray(drawing.encode())).render(painter)
    painter.end()
    pixmap.setDevicePixelRatio(scale)
    return pixmap


def set_property(widget: QWidget, name: str, value: str) -> None:
    """Set a property that the style sheet looks at; the widget is polished again only when the value is new."""
    if (widget.property(name) or "") == value:
        return
    widget.setProperty(name, value)
    style = widget.style()
    style.unpolish(widget)
    style.polish(widget)
    widget.update()


def paint_guess_edge(widget: QWidget) -> None:
    """Draw the dashed amber edge of a guess. (At 1 px the dashes of a style sheet are dots.)"""
    painter = QPainter(widget)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    pen = QPen(QApplication.palette().color(QPalette.ColorRole.LinkVisited), 1)
    pen.setDashPattern([3, 2])
    painter.setPen(pen)
    painter.drawRoundedRect(QRectF(widget.rect()).adjusted(0.5, 0.5, -0.5, -0.5), 3, 3)


def style_sheet(theme: Theme) -> str:
    """The style sheet in the colours of `theme`."""
    tokens = {field.name: getattr(theme, field.name) for field in fields(theme)}
    return Template(_STYLE).substitute(tokens, body=f"{BODY_PX}px", small=f"{SMALL_PX}px", figure=f"{FIGURE_PX}px")


_STYLE = """
QToolTip { background: $surface; color: $text; border: 1px solid $line; padding: 4px; font-size: $small; }
QMainWindow, QDialog { background: $window; }
QMainWindow::separator { background: $hairline; width: 1px; height: 1px; }
QLabel { background: transparent; }

*[role="muted"] { color: $muted; }
*[role="small"] { color: $muted; font-size: $small; }
*[role="small"][kind="guess"] { color: $warning; }
*[role="refusal"] { color: $error; font-size: $small; }
*[role="warning"] { color: $warning; }
*[role="title"] { font-weight: bold; }
*[role="figure"] { font-size: $figure; }
*[role="panel"] { background: $panel; }
*[role="surface"] { background: $surface; }
*[role="rule"] { background: $hairline; }
*[role="header"] { background: $header; border: 0; border-bottom: 1px solid $hairline;
    border-top: 1px solid $hairline; }
QFrame[role="card"] { background: $surface; border: 1px solid $hairline; border-radius: 4px; }

QLineEdit, QComboBox { background: $surface; color: $text; border: 1px solid $edge; border-radius: 3px;
    padding: 0 4px; placeholder-text-color: $muted; selection-background-color: $accent; selection-color: $accent_text; }
QLineEdit:hover, QComboBox:hover { border-color: $muted; }
QLineEdit[state="guess"], QComboBox[state="guess"] { border-color: transparent; }
QLineEdit:focus, QComboBox:focus { border: 2px solid $accent; padding: 0 3px; }
QLineEdit[state="error"], QComboBox[state="error"] { background: $error_ground; border: 1px solid $error; }
QLineEdit[state="error"]:focus, QComboBox[state="error"]:focus { border: 2px solid $error; padding: 0 3px; }
QLineEdit:disabled, QComboBox:disabled { background: $window; color: $disabled_text; border: 1px solid $hairline; }
QComboBox { combobox-popup: 0; }
QComboBox::drop-down { border: 0; width: 20px; }
QComboBox::down-arrow { image: none; }
QComboBox QAbstractItemView, QListView[role="completions"] { background: $surface; color: $text;
    border: 1px solid $line; outline: 0; padding: 2px; selection-background-color: $accent_ground;
    selection-color: $text; }
QComboBox QAbstractItemView::item, QListView[role="completions"]::item { min-height: 22px; padding: 0 6px; }

QPushButton { background: $surface; color: $text; border: 1px solid $edge; border-radius: 4px; padding: 2px 10px; }
QPushButton:hover { background: $hover; border-color: $muted; }
QPushButton:pressed { background: $accent_ground; }
QPushButton:focus { border: 1px solid $accent; }
QPushButton:disabled { color: $disabled_text; border-color: $hairline; background: transparent; }
QPushButton[role="primary"] { background: $accent; color: $accent_text; border-color: $accent; }
QPushButton[role="primary"]:disabled { background: transparent; color: $disabled_text; border-color: $hairline; }
QPushButton[role="primary"]:hover { border-color: $text; }
QPushButton[role="link"] { background: transparent; border: 0; color: $accent; padding: 0; font-size: $small; }
QPushButton[role="link"]:disabled { color: $disabled_text; }
QPushButton[role="link"]:hover, QPushButton[role="link"]:focus { text-decoration: underline; }

QPushButton[role="segment"] { padding: 0 2px; border-radius: 0; border-left-width: 0; }
QPushButton[role="segment"][place="first"] { border-left-width: 1px; border-top-left-radius: 3px;
    border-bottom-left-radius: 3px; }
QPushButton[role="segment"][place="last"] { border-top-right-radius: 3px; border-bottom-right-radius: 3px; }
QPushButton[role="segment"]:hover { border-color: $edge; }
QPushButton[role="segment"]:checked { background: $accent_ground; color: $accent; font-weight: bold; }
QPushButton[role="segment"]:focus { border-color: $accent; }
QWidget[state="guess"] > QPushButton[role="segment"] { border-color: transparent; }
QWidget[state="error"] > QPushButton[role="segment"] { border-color: $error; }

QPushButton[role="source"] { background: transparent; border: 0; padding: 0; color: $muted; font-size: $small;
    text-align: left; }
QPushButton[role="source"][kind="guess"] { color: $warning; }
QPushButton[role="source"][kind="log"] { color: $accent; text-decoration: underline; }
QPushButton[role="source"]:hover { color: $accent; text-decoration: underline; }
QPushButton[role="source"]:disabled { color: $muted; text-decoration: none; }

QPushButton[role="scenario"] { background: transparent; border: 1px solid transparent; padding: 0 10px; }
QPushButton[role="scenario"]:hover { background: $hover; border-color: $hairline; }
QPushButton[role="scenario"]:checked { background: $accent_ground; border-color: $accent; }
QPushButton[role="scenario"]:focus { border-color: $accent; }
QPushButton[role="count"] { background: transparent; border: 1px solid transparent; padding: 2px 4px; }
QPushButton[role="count"]:hover, QPushButton[role="count"]:focus { background: $hover; border-color: $hairline; }
QPushButton[role="finding"] { background: transparent; border: 0; border-bottom: 1px solid $hairline;
    border-radius: 0; text-align: left; padding: 0; }
QPushButton[role="finding"]:hover, QPushButton[role="finding"]:focus { background: $selected; }

QAbstractButton[role="computed"] { border: 0; }

QMenuBar, QToolBar, QStatusBar { background: $window; border: 0; }
QToolBar { border-bottom: 1px solid $hairline; spacing: 4px; padding: 0 8px; }
QStatusBar { border-top: 1px solid $hairline; font-size: $small; color: $muted; }
QStatusBar::item { border: 0; }
QStatusBar QLabel { font-size: $small; color: $muted; padding: 0 8px; }
QToolBar[role="bare"] { padding: 0; border: 0; border-bottom: 1px solid $hairline; background: $surface; }
QMenuBar::item { padding: 4px 8px; background: transparent; border-radius: 4px; }
QMenuBar::item:selected { background: $accent_ground; }
QMenu { background: $surface; border: 1px solid $line; padding: 4px; }
QMenu::item { padding: 4px 24px 4px 12px; border-radius: 3px; }
QMenu::item:selected { background: $accent_ground; color: $text; }
QMenu::item:disabled { color: $disabled_text; }
QMenu::separator { height: 1px; background: $hairline; margin: 4px 8px; }
QToolButton { background: transparent; border: 1px solid transparent; border-radius: 4px; padding: 4px; }
QToolButton:hover { background: $hover; border-color: $hairline; }
QToolButton:checked { background: $accent_ground; border-color: $accent; }
QToolButton:focus { border-color: $accent; }
QToolButton::menu-indicator { image: none; }

QTabBar { qproperty-drawBase: 0; }
QTabBar::tab { background: transparent; color: $muted; padding: 0 12px; height: 28px; border: 0;
    border-bottom: 2px solid transparent; }
QTabBar::tab:hover { color: $text; }
QTabBar::tab:selected { color: $text; border-bottom-color: $accent; }
QTabBar::tab:focus { color: $accent; }
QTabWidget::pane { border: 0; border-top: 1px solid $hairline; background: $surface; }

QTableView, QTreeView, QListView { background: $surface; border: 0; gridline-color: $hairline; outline: 0;
    selection-background-color: $selected; selection-color: $text; }
QTableView::item { padding: 0 6px; }
QTableView::item:hover, QTreeView::item:hover, QListView::item:hover { background: $hover; }
QPlainTextEdit { background: $surface; color: $text; border: 1px solid $hairline; border-radius: 3px; padding: 0;
    selection-background-color: $accent; selection-color: $accent_text; }
QPlainTextEdit:focus { border-color: $accent; }
QTreeView::item { height: 22px; padding: 0 2px; }
QTreeView::item:selected { background: $selected; color: $text; }
QTableView[role="dense"]::item { padding: 0; }
QTableView[role="dense"] QHeaderView::section { padding: 0 3px; }
QTableView[role="lines"] QHeaderView::section { padding: 0 6px 0 12px; }
QTableView[role="lines"] QHeaderView::section:first { padding-left: 28px; }
QHeaderView, QTableCornerButton::section { background: $surface; }
QAbstractScrollArea::corner { background: $surface; border: 0; }
QTableCornerButton::section { border: 0; border-bottom: 1px solid $hairline; }
QHeaderView::section { background: $surface; color: $muted; font-size: $small; border: 0;
    border-bottom: 1px solid $hairline; padding: 0 6px; height: 24px; }

QCheckBox::indicator:unchecked, QTreeView::indicator:unchecked { width: 12px; height: 12px; background: $surface;
    border: 1px solid $edge; border-radius: 3px; }
QCheckBox::indicator:unchecked:hover, QCheckBox::indicator:unchecked:focus,
QTreeView::indicator:unchecked:hover { border-color: $accent; }

QProgressBar { background: $hairline; border: 0; border-radius: 2px; max-height: 4px; }
QProgressBar::chunk { background: $accent; border-radius: 2px; }
QDialogButtonBox, QMessageBox { dialogbuttonbox-buttons-have-icons: 0; }
QScrollArea { background: transparent; border: 0; }
QScrollBar { background: transparent; border: 0; margin: 0; }
QScrollBar:vertical { width: 8px; }
QScrollBar:horizontal { height: 8px; }
QScrollBar::handle { background: $line; border-radius: 3px; margin: 1px; }
QScrollBar::handle:vertical { min-height: 24px; }
QScrollBar::handle:horizontal { min-width: 24px; }
QScrollBar::handle:hover { background: $edge; }
QScrollBar::add-line, QScrollBar::sub-line { width: 0; height: 0; }
QScrollBar::add-page, QScrollBar::sub-page { background: transparent; }
"""
