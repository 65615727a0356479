"""Who may import whom (ui -> engine -> data -> units), that the engine stays light, and that numbers say what they count."""

from __future__ import annotations

import ast
import subprocess
import sys
import typing
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel
from pydantic.fields import FieldInfo

import ckptplanner
from ckptplanner.data import records
from ckptplanner.engine import hardware, operations, scenario
from ckptplanner.engine.scenario import PATHS, Scenario
from ckptplanner.frozen import leaf_paths, spec_of
from ckptplanner.units import COUNT, Unit, unit_of

ROOT = Path(ckptplanner.__file__).parent
FILES = sorted(ROOT.rglob("*.py"))
QT_PACKAGES = {"PySide6", "shiboken6", "pyqtgraph"}


def module_of(file: Path) -> str:
    """ckptplanner/engine/fsx.py -> ckptplanner.engine.fsx"""
    return ".".join(("ckptplanner", *file.relative_to(ROOT).with_suffix("").parts)).removesuffix(".__init__")


MODULES = {module_of(file): file for file in FILES}


def imported(nodes: Iterator[ast.AST]) -> set[str]:
    """Names of the modules that these statements import; `from package import module` counts as the module."""
    found: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute here"
            whole = {f"{node.module}.{alias.name}" for alias in node.names}
            inner = whole & set(MODULES)
            found |= inner if inner == whole else inner | {str(node.module)}
    return found


def imports_of(module: str) -> set[str]:
    return imported(ast.walk(ast.parse(MODULES[module].read_text(encoding="utf-8"))))


def own_imports_of(module: str) -> set[str]:
    return {name for name in imports_of(module) if name.split(".")[0] == "ckptplanner"}


def is_below(module: str, *packages: str) -> bool:
    return any(module == package or module.startswith(package + ".") for package in packages)


def test_the_reading_of_imports_sees_what_is_there() -> None:
    """If this walked past the imports, everything below would pass."""
    assert {"ckptplanner.engine.checks", "ckptplanner.engine.checkpoint", "ckptplanner.frozen", "numpy"} <= imports_of(
        "ckptplanner.engine.evaluate"
    )
    assert "ckptplanner.engine.curves" in imports_of("ckptplanner.engine.plan"), "imports inside functions count too"
    assert any(
        is_below(module, "ckptplanner.ui") and QT_PACKAGES & {name.split(".")[0] for name in imports_of(module)}
        for module in MODULES
    )


# ---------------------------------------------------------------- layers

LOW = ("ckptplanner.units", "ckptplanner.frozen", "ckptplanner.text")
MAY_IMPORT = {
    "ckptplanner.units": (),
    "ckptplanner.text": (),
    "ckptplanner.frozen": ("ckptplanner.units",),
    "ckptplanner.data": ("ckptplanner.data", *LOW),
    "ckptplanner.engine": ("ckptplanner.engine", "ckptplanner.data", *LOW),
    "ckptplanner.ui": ("ckptplanner.ui", "ckptplanner.engine", "ckptplanner.data", *LOW),
    "ckptplanner.executors": (),
    "ckptplanner.cli_simulate": ("ckptplanner.executors", "ckptplanner.engine", "ckptplanner.data", *LOW),
    "ckptplanner.cli_import": ("ckptplanner.engine", "ckptplanner.data", *LOW),
    "ckptplanner.cli_optimize": ("ckptplanner.executors", "ckptplanner.engine", "ckptplanner.data", *LOW),
    "ckptplanner.cli_apply": ("ckptplanner.engine", "ckptplanner.data", *LOW),
    "ckptplanner.cli": (
        "ckptplanner.cli_apply",
        "ckptplanner.cli_import",
        "ckptplanner.cli_optimize",
        "ckptplanner.cli_simulate",
        "ckptplanner.executors",
        "ckptplanner.ui",
        "ckptplanner.engine",
        "ckptplanner.data",
        *LOW,
    ),
    "ckptplanner.__main__": ("ckptplanner.cli", "ckptplanner.data.readers.dcp_child"),
}


def test_the_package_itself_imports_nothing() -> None:
    assert imports_of("ckptplanner") <= {"__future__"}


@pytest.mark.parametrize("module", [module for module in MODULES if module != "ckptplanner"])
def test_imports_point_downward(module: str) -> None:
    layer = next(name for name in MAY_IMPORT if is_below(module, name))
    upward = {name for name in own_imports_of(module) if name != "ckptplanner" and not is_below(name, *MAY_IMPORT[layer])}
    assert upward == set()


FORMULAS = (
    "beyond", "checkpoint", "interval", "interruptions", "fsx", "cost", "replication", "laws", "save_sums", "renewal", "fleet",
    "levels", "replay", "failure_stats",
)  # fmt: skip
FORMULAS_MAY_IMPORT = {
    "__future__",
    "abc",
    "collections.abc",
    "dataclasses",
    "functools",
    "math",
    "typing",
    "numpy",
    "numpy.typing",
    "scipy.optimize",
    "scipy.special",
    *LOW[:2],
    "ckptplanner.data.records",
    "ckptplanner.engine.laws",
    "ckptplanner.engine.save_sums",
}


@pytest.mark.parametrize("name", FORMULAS)
def test_formulas_know_numbers_and_catalog_rows_and_not_one_another(name: str) -> None:
    assert imports_of(f"ckptplanner.engine.{name}") - FORMULAS_MAY_IMPORT == set()


def test_evaluate_never_opens_the_catalog() -> None:
    for name in ("evaluate", "candidates", "job", "losses", "outcome", "curves", "tradeoff", "teeth"):
        assert "ckptplanner.data.catalog" not in imports_of(f"ckptplanner.engine.{name}")


VIEWS = tuple(
    f"ckptplanner.ui.{name}"
    for name in ("panels", "plots", "report", "diagram", "decide", "survive", "check", "evidence", "apply")
)


@pytest.mark.parametrize("module", [module for module in MODULES if is_below(module, *VIEWS)])
def test_views_know_neither_each_other_nor_the_store(module: str) -> None:
    own = next(view for view in VIEWS if is_below(module, view))
    others = (
        *(view for view in VIEWS if view != own),
        "ckptplanner.ui.store",
        "ckptplanner.ui.main_window",
        "ckptplanner.ui.app",
    )
    assert {name for name in own_imports_of(module) if is_below(name, *others)} == set()


@pytest.mark.parametrize("module", [module for module in MODULES if is_below(module, "ckptplanner.ui.widgets")])
def test_widgets_know_no_view(module: str) -> None:
    above = (*VIEWS, "ckptplanner.ui.store", "ckptplanner.ui.main_window", "ckptplanner.ui.app")
    assert {name for name in own_imports_of(module) if is_below(name, *above)} == set()


# ---------------------------------------------------------------- Qt, pandas and scipy


@pytest.mark.parametrize("module", [module for module in MODULES if not is_below(module, "ckptplanner.ui")])
def test_qt_stays_in_the_ui(module: str) -> None:
    assert QT_PACKAGES & {name.split(".")[0] for name in imports_of(module)} == set()


def test_the_command_line_loads_the_ui_only_when_it_is_needed() -> None:
    tree = ast.parse(MODULES["ckptplanner.cli"].read_text(encoding="utf-8"))
    at_once = imported(node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom))
    assert not [name for name in at_once if is_below(name, "ckptplanner.ui")]


@pytest.mark.parametrize("module", ["ckptplanner.engine.evaluate", "ckptplanner.engine.curves", "ckptplanner.cli"])
def test_it_loads_neither_qt_nor_pandas_nor_scipy(module: str) -> None:
    code = f"import sys, {module}; print(*sorted({{name.split('.')[0] for name in sys.modules}}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    loaded = set(done.stdout.split())
    assert {"ckptplanner", "numpy"} <= loaded
    assert loaded & (QT_PACKAGES | {"pandas", "scipy", "matplotlib"}) == set()


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="from 3.12 on None is immortal and nothing shows")
def test_qt_drops_no_reference_of_none() -> None:
    """PySide6 6.12.0 loses one at each call that returns None, and aborts after some 100,000."""
    code = (
        "import sys\n"
        "from PySide6.QtCore import QPointF\n"
        "point, before = QPointF(), sys.getrefcount(None)\n"
        "for _ in range(1000): point.setX(1.0)\n"
        "print(before - sys.getrefcount(None))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert int(done.stdout) < 100


# ---------------------------------------------------------------- every number has a unit


def models_in(module: Any) -> list[type[BaseModel]]:
    return [value for value in vars(module).values() if isinstance(value, type) and issubclass(value, BaseModel)]


MODELS = {
    model.__name__: model
    for module in (records, scenario, hardware, operations)
    for model in models_in(module)
    if model.model_fields
}
# the contract's own names (docs/models.md 10.2) and a name whose parent carries the unit
OTHER_ENDINGS = {
    ("TierPrices", "p2_125"), ("TierPrices", "p2_250"), ("TierPrices", "p2_500"), ("TierPrices", "p2_1000"),
    ("NodeType", "hbm_bytes_per_gpu"), ("NodeType", "nvme_bytes_each"), ("LayoutPart", "bytes_per_param"),
    ("SaveRow", "bytes"), ("RestartClass", "share"), ("Source", "low"), ("Source", "high"),
}  # fmt: skip


def number_parts(info: FieldInfo) -> tuple[Any, list[Unit]]:
    """The bare number type of a field, None where it is no number, and the units it carries."""
    bare, found = info.annotation, list(info.metadata)
    if type(None) in typing.get_args(bare):
        (bare,) = (part for part in typing.get_args(bare) if part is not type(None))
    if typing.get_origin(bare) is typing.Annotated:
        bare, *extra = typing.get_args(bare)
        found += extra
    units = [part for part in found if isinstance(part, Unit)]
    return (bare if bare in (int, float) else None), units


NUMBERS = [
    pytest.param(model, field, info, id=f"{model}.{field}")
    for model, made in MODELS.items()
    for field, info in made.model_fields.items()
    if number_parts(info)[0] is not None
]


def test_the_search_for_numbers_finds_them() -> None:
    ids = {param.id for param in NUMBERS}
    assert {"Storage.write_s", "Storage.interval_s", "NodeType.gpus", "FsxTier.burst_mb_per_s_per_tib"} <= ids
    assert len(ids) > 60


@pytest.mark.parametrize(("model", "field", "info"), NUMBERS)
def test_a_number_says_its_unit_in_type_and_name(model: str, field: str, info: FieldInfo) -> None:
    kind, units = number_parts(info)
    assert len(units) == 1, "use the aliases of units.py: Seconds, Bytes, Count ..."
    if kind is int:
        assert units == [COUNT]
    elif (model, field) not in OTHER_ENDINGS:
        assert unit_of(field) == units[0]


def test_the_exceptions_are_needed() -> None:
    for model, field in OTHER_ENDINGS:
        assert unit_of(field) != number_parts(MODELS[model].model_fields[field])[1][0]


@pytest.mark.parametrize("path", [*PATHS, *(f"storage.custom.{name}" for name in leaf_paths(scenario.CustomStorage))])
def test_an_input_has_its_words_and_limits(path: str) -> None:
    spec = spec_of(Scenario, path)
    assert spec.title
    assert spec.title != path.rpartition(".")[2]
    assert spec.description.endswith(".")
    # what is not given comes from nowhere; every default value comes from somewhere
    assert (spec.default is None) == (spec.default_source == "")
    assert spec.default_source in {"", "article", "doc", "guess"}
    if spec.unit is not None:
        assert spec.low is not None
        assert spec.high is not None


def test_every_field_of_a_scenario_is_an_input_or_a_catalog_row() -> None:
    """A field that was not declared by `entry` has no words: only what is filled from the catalog may be so."""
    sections = {name: info.annotation for name, info in Scenario.model_fields.items()}
    silent = [
        f"{section}.{field}"
        for section, model in sections.items()
        if isinstance(model, type) and issubclass(model, BaseModel)
        for field in model.model_fields
        if not any(is_below(path, f"{section}.{field}") for path in PATHS)
    ]
    assert silent == ["storage.tiers", "datapath.ceilings"]
