"""Export without a window: the report with its vector plots, the requirement sheet, the CSV files and the pictures."""

from __future__ import annotations

from datetime import datetime
from functools import partial
from pathlib import Path

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtWidgets import QApplication

from ckptplanner.engine.cost import Basis
from ckptplanner.engine.csv_files import write_comparison, write_csv, write_whole
from ckptplanner.engine.evaluate import plan_of
from ckptplanner.engine.flip_words import headline
from ckptplanner.engine.plan import Plan
from ckptplanner.engine.requirement import requirement, requirement_text
from ckptplanner.engine.scenario import Workbook
from ckptplanner.engine.sentence import sentence
from ckptplanner.ui.diagram.board import paint_board
from ckptplanner.ui.plots.tradeoff import TradeoffPlot
from ckptplanner.ui.plots.write_time import WriteTimePlots
from ckptplanner.ui.report.copying import picture_of, png_of
from ckptplanner.ui.report.export import Paper, content_width_px, write_pdf, write_requirement
from ckptplanner.ui.report.pages import Picture
from ckptplanner.ui.shown import Shown
from ckptplanner.ui.survive.view import paint_survival
from ckptplanner.ui.theme import LIGHT, apply_theme
from ckptplanner.ui.words import say, say_text

PLOTS_HEIGHT, TRADEOFF_HEIGHT, PATH_HEIGHT, SURVIVAL_HEIGHT = 520, 270, 430, 520
PICTURE_NAMES = ("cost-and-waste", "tradeoff", "path", "survive")


def export(workbook: Workbook, folder: Path, paper: Paper = "a4", basis: Basis = "month") -> tuple[Path, ...]:
    """Write report.pdf, the requirement sheet, the CSV files and the pictures into a folder, which is made where it is missing.

    They are those of the current scenario; where there are others, comparison and campaign are of all.

    Raises:
        ExportError: the folder or a file cannot be written.
    """
    app, named = _application(), workbook.shown
    plan = plan_of(named)
    width = content_width_px(paper)
    plots, tradeoff = WriteTimePlots(), TradeoffPlot()
    _lay_out(plots, QSize(width, PLOTS_HEIGHT))
    _lay_out(tradeoff, QSize(width, TRADEOFF_HEIGHT))
    for _ in range(2):  # the second time with the sizes that the first one's axes gave
        plots.show_plans((Shown(named, plan, 0, is_current=True, is_base=True),), basis)
        tradeoff.show_tradeoff(plan.tradeoff)
        QApplication.sendPostedEvents()
    files = [*write_csv(named, plan, folder), *write_comparison(workbook, folder)]
    pictures = [
        Picture(say("Cost and waste over the write time"), _plots_caption(), PLOTS_HEIGHT, plots.paint_on),
        Picture(say("Idle GPUs against storage"), _tradeoff_caption(), TRADEOFF_HEIGHT, tradeoff.paint_on),
        *node_pictures(plan),
    ]
    files.append(
        write_pdf(
            folder / "report.pdf", named, plan, pictures, paper,
            created=datetime.now(), sentence=lead(workbook, plan), basis=basis, workbook=workbook,
        )
    )  # fmt: skip
    files += _requirement(workbook, folder, paper)
    for name, picture in zip(PICTURE_NAMES, pictures, strict=False):
        path = folder / f"{name}.png"
        write_whole(path, png_of(picture_of(picture.paint, QSize(width, int(picture.height_px)))))
        files.append(path)
    for widget in (plots, tradeoff):
        widget.close()
        widget.deleteLater()
    app.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    return tuple(files)


def lead(workbook: Workbook, plan: Plan) -> str:
    """The first line of the report: the sentence under the cards, with the values at which another scenario would be better."""
    others = [named for named in workbook.scenarios if named.name != workbook.current]
    said = (sentence(plan), headline(workbook.shown, others))
    return " ".join(say_text(one) for one in said if one is not None)


def _requirement(workbook: Workbook, folder: Path, paper: Paper) -> tuple[Path, ...]:
    """The page for who sells storage: no price stands in it, so it is a file of its own."""
    named = workbook.shown
    sheet = requirement(named, plan_of(named))
    plain = folder / "requirement.txt"
    write_whole(plain, requirement_text(sheet, say_text).encode("utf-8-sig"))
    return write_requirement(folder / "requirement.pdf", sheet, paper, created=datetime.now()), plain


def node_pictures(plan: Plan) -> list[Picture]:
    """The way of the shared write through a node, and what the loss of a node leaves; none where the plan has neither."""
    pictures = []
    if plan.datapath is not None:
        path = partial(paint_board, plan=plan, phase="shared_write", theme=LIGHT)
        pictures.append(Picture(say("The way of a save to shared storage"), _path_caption(plan), PATH_HEIGHT, path))
    if plan.schedule is not None:
        case = partial(paint_survival, plan=plan, event="node_lost", theme=LIGHT)
        pictures.append(Picture(say("When a node is lost"), _survival_caption(), SURVIVAL_HEIGHT, case))
    return pictures


def _path_caption(plan: Plan) -> str:
    phase = plan.datapath.phase("shared_write") if plan.datapath else None
    return "" if phase is None else f"{say_text(phase.sentence)} {say_text(phase.detail)}"


def _survival_caption() -> str:
    return say("Which tiers survive what, from where training restarts, and one interval to scale.")


def _application() -> QApplication:
    """The application: one of our own where no window runs, and then it must outlive what it draws."""
    running = QApplication.instance()
    if isinstance(running, QApplication):
        return running
    app = QApplication([])
    apply_theme(app, LIGHT)
    return app


def _lay_out(plots: WriteTimePlots | TradeoffPlot, size: QSize) -> None:
    """Give a plot its final size and look off screen: the layout of a widget that was never shown is stale."""
    plots.setAttribute(Qt.WidgetAttribute.WA_DontShowOnScreen)
    plots.setFixedSize(size)
    plots.show_theme(LIGHT)
    plots.show()


def _plots_caption() -> str:
    return say(
        "Bold: the cheapest legal file system at each write time; thin: every throughput with and without EFA. Below: waste of "
        "synchronous (dashed) and asynchronous saving."
    )


def _tradeoff_caption() -> str:
    return say("A year of synchronous saving: storage, GPUs that stand idle, rework and restarts over the stop time.")
