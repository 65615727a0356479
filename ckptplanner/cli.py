"""The commands: open the window, `plan`, `export`, `import`, `simulate`, `optimize`, `apply`. Qt is loaded to draw only.

Exit 0: done. Exit 2: the command, a file, a path or a value is refused; one line on standard error says which, and what
would be accepted. Exit 3: the plan has an error finding; everything else is still printed.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, NoReturn

from ckptplanner import __version__
from ckptplanner.data.readers.errors import ReaderError
from ckptplanner.engine.document import plan_document
from ckptplanner.engine.edits import EditError, edit, value_from_text
from ckptplanner.engine.evaluate import plan_of
from ckptplanner.engine.plan import Plan, Schedule
from ckptplanner.engine.scenario import NamedScenario, Workbook
from ckptplanner.engine.sentence import option_name, sentence
from ckptplanner.engine.workbook_file import WorkbookError, read
from ckptplanner.executors import ExecutorError
from ckptplanner.units import BYTES, BYTES_PER_S, FRACTION, SECONDS, USD, brief, rough

OK, REFUSED, PLAN_HAS_ERRORS = 0, 2, 3
COMMANDS = ("plan", "export", "import", "simulate", "optimize", "apply")


class _Parser(argparse.ArgumentParser):
    """argparse with one line on standard error and nothing else."""

    def error(self, message: str) -> NoReturn:
        raise SystemExit(_refuse(f"{self.prog}: {message}"))


def _refuse(message: str) -> int:
    print(" ".join(message.split()), file=sys.stderr)
    return REFUSED


def _parser(wanted: str) -> _Parser:
    parser = _Parser(
        prog="ckptplanner",
        usage="%(prog)s [-h] [--version] [FILE | {plan,export,import,simulate,optimize,apply} ...]",
        description="Plan the checkpoints of large model training. Without a command the window opens: ckptplanner [FILE] "
        "[--screenshot PNG], where FILE is a plan (*.ckptplan.json) or a model's config.json, index, weights or folder.",
    )
    parser.add_argument("--version", action="version", version=f"ckptplanner {__version__}")
    commands = parser.add_subparsers(dest="command", parser_class=_Parser, prog="ckptplanner")
    plan = commands.add_parser("plan", help="print the plan of a file")
    plan.add_argument("--json", action="store_true", help="print one JSON object")
    plan.add_argument(
        "--compare", action="store_true",
        help="all scenarios beside the base; --set changes all of them, or the one that --scenario names",
    )  # fmt: skip
    export = commands.add_parser("export", help="write report.pdf, the CSV files and the pictures")
    export.add_argument("--out", required=True, metavar="DIR", type=Path)
    export.add_argument("--paper", choices=("a4", "letter"), default="a4")
    from ckptplanner import cli_simulate

    simulate = commands.add_parser("simulate", help="play the plan many times over and compare it with its formula")
    cli_simulate.add_arguments(simulate)
    optimize = commands.add_parser("optimize", help="search for the best plan, and what comes close")
    if wanted == "optimize":
        from ckptplanner import cli_optimize

        cli_optimize.add_arguments(optimize)
    evidence = commands.add_parser("import", help="say what files and folders hold: logs, checkpoints, benchmarks")
    if wanted == "import":
        from ckptplanner import cli_import

        cli_import.add_arguments(evidence)
    settings = commands.add_parser("apply", help="write settings for frameworks, clouds and schedulers")
    if wanted == "apply":
        from ckptplanner import cli_apply

        cli_apply.add_arguments(settings)
    for command in (plan, export, simulate, optimize, settings):
        command.add_argument("file", metavar="FILE", type=Path)
        command.add_argument("--scenario", metavar="NAME", help="which scenario; the current one if left out")
        command.add_argument("--set", metavar="PATH=VALUE", action="append", default=[], dest="settings")
    return parser


def _window_parser() -> _Parser:
    parser = _Parser(prog="ckptplanner")
    parser.add_argument("file", metavar="FILE", nargs="?", type=Path, help="a plan, or a model's file or folder")
    parser.add_argument("--screenshot", metavar="PNG", type=Path, help="write a picture of the window and end")
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    if not arguments or (arguments[0] not in COMMANDS and not arguments[0].startswith(("-h", "--help", "--version"))):
        return _open_window(_window_parser().parse_args(arguments))
    options = _parser(arguments[0]).parse_args(arguments)
    if options.command == "import":
        return _import(options)
    is_comparison = options.command == "plan" and options.compare
    try:
        workbook = _workbook(options.file, options.scenario, options.settings, changes_all=is_comparison)
    except (WorkbookError, EditError) as error:
        return _refuse(str(error))
    if is_comparison:
        return _compare(workbook, as_json=options.json)
    try:
        return _run(workbook, options)
    except ExecutorError as error:
        return _refuse(str(error))


def _run(workbook: Workbook, options: argparse.Namespace) -> int:
    """What a command does with the scenario that is shown."""
    named = workbook.shown
    if options.command == "optimize":
        from ckptplanner import cli_optimize

        words, is_found = cli_optimize.optimised(named, options)
        _print(words)
        return OK if is_found else PLAN_HAS_ERRORS
    plan = plan_of(named)
    if options.command == "apply":
        return _apply(named, plan, options)
    if options.command == "export":
        code = _export(workbook, options.out, options.paper)
        if code != OK:
            return code
    elif options.command == "simulate":
        from ckptplanner import cli_simulate

        _print(cli_simulate.simulated(named, plan, options))
    elif options.json:
        _print(json.dumps(plan_document(plan), ensure_ascii=False, indent=1, allow_nan=False))
    else:
        _print(_as_text(named, plan))
    return PLAN_HAS_ERRORS if plan.count("error") else OK


def _apply(named: NamedScenario, plan: Plan, options: argparse.Namespace) -> int:
    """The plan as settings of other programs, in files."""
    from ckptplanner import cli_apply
    from ckptplanner.engine.settings.registry import TARGETS, write_all

    try:
        words, has_errors = cli_apply.applied(
            named, plan, options, TARGETS, lambda settings, one: write_all(settings, [one.id])
        )
    except cli_apply.ApplyError as error:
        return _refuse(f"ckptplanner apply: {error}")
    _print(words)
    return PLAN_HAS_ERRORS if has_errors else OK


def _import(options: argparse.Namespace) -> int:
    """What files and folders hold."""
    from ckptplanner import cli_import

    try:
        _print(cli_import.imported(options))
    except (WorkbookError, EditError, cli_import.ImportRefused) as error:
        return _refuse(str(error))
    return OK


def _print(text: str) -> None:
    """Print; a reader that has seen enough (`| head`) is no error."""
    try:
        print(text, flush=True)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _workbook(file: Path, name: str | None, settings: Sequence[str], *, changes_all: bool) -> Workbook:
    """The plan file, its chosen scenario as the current one, with the settings of the command line put in.

    Settings change the current scenario; in a comparison all of them, unless one was named.
    """
    workbook = read(file)
    if name is not None:
        try:
            workbook = workbook.model_copy(update={"current": workbook.named(name).name})
        except KeyError as error:
            raise WorkbookError(f"{file}: {error.args[0]}") from error
    changed = {one.name for one in workbook.scenarios} if changes_all and name is None else {workbook.current}
    scenarios = tuple(_with(file, one, settings) if one.name in changed else one for one in workbook.scenarios)
    return workbook.model_copy(update={"scenarios": scenarios})


def _with(file: Path, named: NamedScenario, settings: Sequence[str]) -> NamedScenario:
    """A scenario with the settings of the command line put in."""
    for setting in settings:
        path, equals, written = setting.partition("=")
        if not equals:
            raise WorkbookError(f'{file}: --set {setting!r}: PATH=VALUE is expected, storage.write_s="5 min" for example')
        try:
            named = edit(named, path.strip(), _value(path.strip(), written))
        except (EditError, ReaderError) as error:
            raise WorkbookError(f"{file}: {error}") from error
    return named


def _compare(workbook: Workbook, *, as_json: bool) -> int:
    """Print all scenarios beside the base."""
    from ckptplanner.engine.compare import cases_of, comparison, comparison_document
    from ckptplanner.engine.compare_words import as_text

    cases = cases_of(workbook)
    if as_json:
        _print(json.dumps(comparison_document(workbook), ensure_ascii=False, indent=1, allow_nan=False))
    else:
        lines = [as_text(comparison(cases, workbook.base, "month"))]
        for case in cases:
            errors = [finding for finding in case.plan.findings if finding.severity == "error"]
            lines += [f"error: {case.named.name}: {finding.path}: {finding.message}" for finding in errors]
        _print("\n".join(lines))
    return PLAN_HAS_ERRORS if any(case.plan.count("error") for case in cases) else OK


def _value(path: str, written: str) -> object:
    """What was written for a path; a model may be a file or a folder that holds one."""
    if path == "workload.model" and Path(written).exists():
        from ckptplanner.data.readers.models import read_model

        return read_model(Path(written))
    return value_from_text(path, written)


def _as_text(named: NamedScenario, plan: Plan) -> str:
    """The plan for people: the sentence, the figures, the findings."""
    lines = [named.name, str(sentence(plan)), ""]
    lines += [f"{title:<28}{value}" for title, value in _figures(plan)]
    if plan.findings:
        lines += ["", *(f"{finding.severity}: {finding.path}: {finding.message}" for finding in plan.findings)]
    return "\n".join(lines)


def _figures(plan: Plan) -> list[tuple[str, str]]:
    rows = [
        ("One checkpoint", brief(plan.checkpoint.checkpoint_bytes, BYTES)),
        ("Needed write rate", brief(plan.storage.required_write_bytes_per_s, BYTES_PER_S)),
    ]
    chosen, schedule, waste, cost = plan.storage.chosen, plan.schedule, plan.waste, plan.cost
    if chosen is not None:
        price = "price unknown" if chosen.usd_per_month is None else f"{brief(chosen.usd_per_month, USD)} a month"
        rows.append(("File system", f"{option_name(chosen)}, {price}"))
    if schedule is not None:
        rows += [("Interrupted every", rough(schedule.mtbi_s, SECONDS)), *_saves(plan, schedule)]
    if waste is not None:
        first, exact = (
            "unknown" if value is None else brief(value, FRACTION)
            for value in (waste.first_order_fraction, waste.exact_fraction)
        )
        model = {"renewal": " (renewal model)", "two_levels": " (two levels)"}.get(waste.exact_model, "")
        rows += [
            ("Waste", f"{exact} exact{model}, {first} first order"),
            ("Rework", f"{rough(waste.mean_rework_s, SECONDS)} mean, {rough(waste.worst_rework_s, SECONDS)} at worst"),
        ]
    if cost is not None and cost.total_usd_per_year is not None:
        rows.append(("Costs", f"{brief(cost.total_usd_per_year / 12, USD)} a month with lost GPU time"))
    return rows


def _saves(plan: Plan, schedule: Schedule) -> list[tuple[str, str]]:
    """How often to save and how long a restart takes; of two levels each by itself."""
    every, restart = brief(schedule.period_s, SECONDS), brief(schedule.restart_s, SECONDS)
    if plan.levels is None:
        return [("Save every", f"{every} ({schedule.interval_steps:,} steps)"), ("Restart takes", restart)]
    local, shared = plan.levels.local, plan.levels.shared
    own, far = brief(local.restart_s, SECONDS), brief(shared.restart_s, SECONDS)
    takes = ("Restart takes", f"{own} from the drives, {far} from shared storage, {restart} on average")
    if plan.levels.ratio == 1:  # T1 leaves the shared stop out that comes after each local one
        return [("Save every", f"{every}, to the drives and to shared storage"), takes]
    return [
        ("Save locally every", brief(local.interval_s, SECONDS)),
        ("To shared storage every", f"{every} (one in {plan.levels.ratio})"),
        takes,
    ]


def _export(workbook: Workbook, folder: Path, paper: Literal["a4", "letter"]) -> int:
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    from ckptplanner.engine.csv_files import ExportError
    from ckptplanner.ui.headless import export

    try:
        export(workbook, folder, paper)
    except ExportError as error:
        return _refuse(str(error))
    return OK


def _open_window(options: argparse.Namespace) -> int:
    if options.screenshot is not None:
        os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    elif sys.platform == "linux" and not any(
        os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")
    ):
        return _refuse(
            "ckptplanner: no screen was found (DISPLAY and WAYLAND_DISPLAY are not set); "
            "on a machine without one use `ckptplanner plan FILE` or `ckptplanner export FILE --out DIR`"
        )
    gc.disable()  # until the window is complete: what a start imports and builds is kept anyway
    from ckptplanner.ui.app import run

    return run(options.file, options.screenshot)
