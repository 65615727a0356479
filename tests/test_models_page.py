"""docs/models.md names every field and key of the program, and every place that cites one of its sections finds it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import ckptplanner
from ckptplanner.engine.document import plan_document
from ckptplanner.engine.evaluate import evaluate
from ckptplanner.engine.scenario import PATHS, CustomStorage, Scenario
from ckptplanner.frozen import leaf_paths

ROOT = Path(ckptplanner.__file__).parent.parent
PAGE = (ROOT / "docs" / "models.md").read_text(encoding="utf-8")
SECTIONS = set(re.findall(r"^##+ (\d+(?:\.\d+)?)\b", PAGE, re.MULTILINE))
PLACES = [*sorted((ROOT / "ckptplanner").rglob("*.py")), *sorted((ROOT / "tests").rglob("*.py"))]
CITED = [
    pytest.param(section, id=f"{place.relative_to(ROOT)}-{section}")
    for place in PLACES
    for numbers in re.findall(r"docs/models\.md (\d[\d., and]*)", place.read_text(encoding="utf-8"))
    for section in re.findall(r"\d+(?:\.\d+)?", numbers)
]


@pytest.mark.parametrize("path", [*PATHS, *leaf_paths(CustomStorage)])
def test_every_field_is_on_the_page(path: str) -> None:
    assert re.search(rf"[`{{ ,]{re.escape(path)}[`}},]", PAGE)


def keys(part: Any) -> Iterator[str]:
    if isinstance(part, dict):
        for key, value in part.items():
            yield key
            yield from keys(value)
    elif isinstance(part, list):
        yield from keys(part[0] if part else None)


@pytest.mark.parametrize("key", sorted(set(keys(plan_document(evaluate(Scenario()))))))
def test_every_key_of_the_plan_is_on_the_page(key: str) -> None:
    assert f"`{key}`" in PAGE


@pytest.mark.parametrize("section", CITED)
def test_a_cited_section_exists(section: str) -> None:
    assert section in SECTIONS


def test_citations_are_found() -> None:
    assert len(CITED) > 30
