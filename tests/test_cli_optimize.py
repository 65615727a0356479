"""`ckptplanner optimize`: the keys of its JSON, edits that bring the same figures, limits, words and refusals."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Run

E1 = Path(__file__).parents[1] / "resources" / "examples" / "nemotron-3.5-super.ckptplan.json"
P2 = ("--family", "fsx-p2", "--levels", "single")


def found(run: Run, *arguments: object, code: int = 0) -> dict[str, Any]:
    """The JSON of a search."""
    ended, out, err = run("optimize", E1, "--json", *arguments)
    assert (ended, err) == (code, "")
    document: dict[str, Any] = json.loads(out)
    return document


def test_the_json_has_every_key_of_the_contract(run: Run) -> None:
    document = found(run, *P2)
    assert document["objective"] == {"minimise": "cost", "limits": {}}
    for row in (document["best"], *document["runners_up"], *document["frontier"]):
        assert {"set", "usd_per_month", "total_usd_per_year", "waste_fraction", "bound_by"} <= set(row)
    assert document["best"]["set"]["storage.tier"] == document["best"]["id"]
    assert document["reason"] is None
    bills = [row["usd_per_month"] for row in document["frontier"]]
    assert bills == sorted(bills)


@pytest.mark.parametrize("arguments", [P2, ("--levels", "two"), ("--limit", "worst_rework_s=30 min", *P2), ()])
def test_the_edits_bring_the_same_figures(run: Run, arguments: tuple[str, ...]) -> None:
    best = found(run, *arguments)["best"]
    settings: list[str] = []
    for path, value in best["set"].items():
        settings += ["--set", f"{path}={value if isinstance(value, str) else json.dumps(value)}"]
    code, out, _ = run("plan", E1, "--json", *settings)
    plan = json.loads(out)
    assert code == 0
    assert plan["cost"]["total_usd_per_year"] == pytest.approx(best["total_usd_per_year"], rel=1e-9)
    assert plan["storage"]["chosen"]["usd_per_month"] == pytest.approx(best["usd_per_month"], rel=1e-9)
    assert plan["waste"]["exact_fraction"] == pytest.approx(best["waste_fraction"], rel=1e-9)
    assert plan["waste"]["worst_rework_s"] == pytest.approx(best["worst_rework_s"], rel=1e-9)


def test_limits_take_units(run: Run) -> None:
    document = found(run, *P2, "--limit", "waste_fraction=0.6 %", "--limit", "worst_rework_s=55 min")
    assert document["objective"]["limits"] == {"waste_fraction": pytest.approx(0.006), "worst_rework_s": 3300.0}
    assert document["best"]["waste_fraction"] <= 0.006
    assert document["best"]["worst_rework_s"] <= 3300.0


def test_least_waste_within_a_bill(run: Run) -> None:
    document = found(run, *P2, "--minimise", "waste", "--limit", "storage_usd_per_month=1512")
    assert document["best"]["id"] == "p2-250-7200"
    assert document["best"]["bound_by"] == "storage_usd_per_month"


def test_a_limit_that_no_plan_keeps_ends_with_3(run: Run) -> None:
    document = found(run, *P2, "--limit", "waste_fraction=0.1 %", code=3)
    assert document["best"] is None
    assert document["reason"]["limit"] == "waste_fraction"
    assert document["reason"]["least"] > 0.001
    assert document["reason"]["closest"]["waste_fraction"] == pytest.approx(document["reason"]["least"])
    code, out, err = run("optimize", E1, *P2, "--limit", "waste_fraction=0.1 %")
    assert (code, err) == (3, "")
    assert "No plan wastes at most" in out


def test_a_price_that_was_asked_for_can_be_given(run: Run) -> None:
    family = ("--family", "fsx-p1", "--levels", "single")
    asked = {row["id"]: row for row in found(run, *family)["asks"]}
    assert asked["p1-hdd-40"]["suggested_usd"] == 0.083
    document = found(run, *family, "--price", "p1-hdd-40=0.001")
    assert document["best"]["id"].startswith("p1-hdd-40")
    assert "p1-hdd-40" not in {row["id"] for row in document["asks"]}


@pytest.mark.parametrize("price", ["p2-1000=0.11", "p2-1000-efa=0.11"])
def test_a_price_of_persistent_2_goes_into_the_edits(run: Run, price: str) -> None:
    best = found(run, *P2, "--price", price)["best"]
    assert best["set"]["prices.storage_usd_per_gib_month.p2_1000"] == 0.11
    settings: list[str] = []
    for path, value in best["set"].items():
        settings += ["--set", f"{path}={value if isinstance(value, str) else json.dumps(value)}"]
    code, out, _ = run("plan", E1, "--json", *settings)
    assert code == 0
    assert json.loads(out)["storage"]["chosen"]["usd_per_month"] == pytest.approx(best["usd_per_month"], rel=1e-9)


def test_a_class_is_asked_for_once(run: Run) -> None:
    unknown = ("--set", "prices.storage_usd_per_gib_month.p2_1000=null")
    asked = [row["id"] for row in found(run, *P2, *unknown)["asks"]]
    assert asked == ["p2-1000"]


def test_words_for_people(run: Run) -> None:
    code, out, err = run("optimize", E1)
    assert (code, err) == (0, "")
    for part in ("Best:", "What bounds it:", "storage.write_s=", "Best of each family:", "Dollars against waste:", "missing"):
        assert part in out


def test_threads_find_the_same(run: Run) -> None:
    assert found(run, *P2, "--executor", "threads") == found(run, *P2)


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (("--limit", "eta=1"), "waste_fraction"), (("--limit", "waste_fraction=much"), "much"),
        (("--limit", "worst_rework_s=0"), "above 0"), (("--minimise", "time"), "cost"), (("--family", "nfs"), "fsx-p2"),
        (("--price", "p1-hdd-40"), "ID=USD"),
    ],
)  # fmt: skip
def test_what_is_not_taken_is_one_line(run: Run, arguments: tuple[str, ...], part: str) -> None:
    code, out, err = run("optimize", E1, *arguments)
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert part in err
