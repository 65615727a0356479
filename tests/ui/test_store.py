"""The store: one gesture is one step, what is refused changes nothing, scenarios and files go through the same door."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ckptplanner.engine.document import plan_document
from ckptplanner.engine.scenario import NamedScenario, Scenario, Workbook
from ckptplanner.engine.workbook_file import WorkbookError, read
from ckptplanner.frozen import with_value
from ckptplanner.ui.store import Store
from tests.ui.conftest import E1, Heard

PATH = "storage.write_s"


def scenario(write_s: float) -> Scenario:
    return with_value(Scenario(), PATH, write_s)


@pytest.fixture
def store() -> Store:
    """Three scenarios; the first is current and the base."""
    rows = tuple(
        NamedScenario(name=name, scenario=scenario(s)) for name, s in (("5 min", 300.0), ("20 min", 1200.0), ("c", 60.0))
    )
    made = Store(Workbook(scenarios=rows, current="5 min", base="5 min"))
    assert not made.undo_stack.canUndo()
    assert made.undo_stack.isClean()
    return made


def write_s(store: Store) -> float:
    return store.workbook.shown.scenario.storage.write_s


def names(store: Store) -> list[str]:
    return [one.name for one in store.workbook.scenarios]


def drag(store: Store, *values: float, path: str = PATH) -> None:
    for value in values:
        store.edit(path, value)
    store.end_gesture()


# ---------------------------------------------------------------- edits


def test_an_edit_is_told_with_its_plan(store: Store, heard: type[Heard]) -> None:
    workbooks, plans = heard(store.workbook_changed), heard(store.plans_changed)
    store.edit(PATH, 600.0)
    assert [one[0].shown.scenario.storage.write_s for one in workbooks.said] == [600.0]  # type: ignore[attr-defined]
    ((shown,),) = plans.said
    assert [one.plan.scenario.storage.write_s for one in shown] == [600.0, 1200.0, 60.0]  # type: ignore[attr-defined]
    assert [one.is_current for one in shown] == [True, False, False]  # type: ignore[attr-defined]


def test_the_edits_of_one_gesture_are_one_step(store: Store) -> None:
    before = store.workbook
    drag(store, 400.0, 500.0, 600.0)
    assert store.undo_stack.count() == 1
    after = store.workbook
    store.undo_stack.undo()
    assert store.workbook == before
    store.undo_stack.redo()
    assert store.workbook == after
    assert write_s(store) == 600.0


def test_the_next_gesture_is_another_step(store: Store) -> None:
    drag(store, 400.0)
    drag(store, 500.0)
    assert store.undo_stack.count() == 2
    store.undo_stack.undo()
    assert write_s(store) == 400.0


def test_two_fields_in_one_gesture_are_two_steps(store: Store) -> None:
    store.edit(PATH, 400.0)
    store.edit("workload.nodes", 64)
    assert store.undo_stack.count() == 2
    store.undo_stack.undo()
    assert store.workbook.shown.scenario.workload.nodes == 32
    assert write_s(store) == 400.0


def test_a_gesture_that_ends_where_it_began_leaves_no_step(store: Store) -> None:
    before = store.workbook
    drag(store, 400.0, 500.0, 300.0)
    assert store.undo_stack.count() == 0
    assert store.workbook == before
    assert store.undo_stack.isClean()


def test_a_gesture_that_ends_where_it_began_keeps_the_source() -> None:
    """The write time of E1 comes from the article; dragged away and back it still does."""
    store = Store(read(E1))
    before = store.workbook
    drag(store, 400.0, 300.0)
    assert store.workbook == before
    assert store.undo_stack.count() == 0


def test_a_gesture_may_pass_where_it_began(store: Store) -> None:
    before = store.workbook
    drag(store, 400.0, 300.0, 500.0)
    assert store.undo_stack.count() == 1
    assert write_s(store) == 500.0
    store.undo_stack.undo()
    assert store.workbook == before


def test_an_equal_value_is_no_step(store: Store, heard: type[Heard]) -> None:
    told = heard(store.workbook_changed, store.plans_changed)
    store.edit(PATH, 300.0)
    assert store.undo_stack.count() == 0
    assert told.said == []


@pytest.mark.parametrize(
    ("path", "value", "part"),
    [
        (PATH, 0.0, "at most"),
        (PATH, float("nan"), "not accepted"),
        ("storage.mode", "sometimes", "async"),
        ("workload.nodes", 1.5, "at least"),
        ("workload.node", "p99.48xlarge", "p5.48xlarge"),
        ("workload.model.tied", True, "no model has been chosen"),
    ],
)
def test_a_refused_edit_says_why_and_changes_nothing(
    store: Store, heard: type[Heard], path: str, value: object, part: str
) -> None:
    told, rejected, before = heard(store.workbook_changed, store.plans_changed), heard(store.edit_rejected), store.workbook
    store.edit(path, value)
    ((where, why),) = rejected.said
    assert where == path
    assert part in str(why)
    assert "\n" not in str(why)
    assert told.said == []
    assert store.workbook is before
    assert store.undo_stack.count() == 0


def test_a_good_edit_takes_the_refusal_back(store: Store, heard: type[Heard]) -> None:
    store.edit(PATH, 0.0)
    rejected = heard(store.edit_rejected)
    store.edit(PATH, 600.0)
    assert rejected.said == [(PATH, "")]


def test_ideal_and_allowances_are_one_step_each() -> None:
    store = Store(read(E1))
    ideal = store.workbook.shown.scenario
    store.make_ideal(False)
    allowances = store.workbook.shown.scenario
    assert (allowances.storage.max_fill, allowances.failures.detect_s) == (0.85, 600.0)
    assert {store.workbook.shown.source_of(path).kind for path in ("storage.max_fill", "failures.detect_s")} == {"guess"}  # type: ignore[union-attr]
    store.make_ideal(True)
    assert store.workbook.shown.scenario == ideal
    assert store.undo_stack.count() == 2
    store.undo_stack.undo()
    assert store.workbook.shown.scenario == allowances


# ---------------------------------------------------------------- scenarios


def test_a_duplicate_stands_beside_its_origin_and_is_current(store: Store) -> None:
    before = store.workbook
    store.duplicate()
    assert len(names(store)) == 4
    assert len(set(names(store))) == 4
    new = store.workbook.current
    assert new not in {"5 min", "20 min", "c"}
    assert store.workbook.shown.scenario == before.shown.scenario
    assert store.workbook.base == "5 min"
    store.edit(PATH, 700.0)
    assert store.workbook.named("5 min").scenario.storage.write_s == 300.0
    store.undo_stack.undo()
    store.undo_stack.undo()
    assert store.workbook == before


def test_duplicates_of_duplicates_have_names_of_their_own(store: Store) -> None:
    for _ in range(5):
        store.duplicate()
    assert names(store)[3:] == ["5 min copy", "5 min copy 2", "5 min copy 3", "5 min copy 4", "5 min copy 5"]


def test_a_copy_of_the_longest_name_can_be_read_back(store: Store, tmp_path: Path) -> None:
    store.rename("5 min", "名" * 120)
    for _ in range(12):
        store.duplicate()
    file = tmp_path / "long.ckptplan.json"
    store.save(file)
    assert read(file) == store.workbook


def test_a_new_name_holds_for_current_and_base_too(store: Store) -> None:
    before = store.workbook
    store.rename("5 min", "  五分 (比較)  ")
    assert names(store) == ["五分 (比較)", "20 min", "c"]
    assert (store.workbook.current, store.workbook.base) == ("五分 (比較)", "五分 (比較)")
    store.undo_stack.undo()
    assert store.workbook == before


@pytest.mark.parametrize("name", ["", "   ", "20 min", "x" * 121])
def test_a_name_that_cannot_be_is_refused(store: Store, heard: type[Heard], name: str) -> None:
    rejected, before = heard(store.edit_rejected), store.workbook
    store.rename("5 min", name)
    assert len(rejected.said) == 1
    assert store.workbook is before
    assert store.undo_stack.count() == 0


def test_the_same_name_is_no_step(store: Store, heard: type[Heard]) -> None:
    told = heard(store.workbook_changed, store.edit_rejected)
    store.rename("5 min", "5 min")
    assert told.said == []
    assert store.undo_stack.count() == 0


def test_removing_the_current_one_shows_its_neighbour(store: Store) -> None:
    before = store.workbook
    store.remove("5 min")
    assert names(store) == ["20 min", "c"]
    assert (store.workbook.current, store.workbook.base) == ("20 min", "20 min")
    store.undo_stack.undo()
    assert store.workbook == before


def test_the_last_scenario_stays(store: Store) -> None:
    for name in ("5 min", "20 min", "c"):
        store.remove(name)
    assert names(store) == ["c"]
    assert store.undo_stack.count() == 2


def test_another_base_is_one_step(store: Store, heard: type[Heard]) -> None:
    store.make_base("c")
    assert store.workbook.base == "c"
    assert [one.is_base for one in store.shown()] == [False, False, True]
    store.undo_stack.undo()
    assert store.workbook.base == "5 min"


def test_the_base_it_has_already_is_no_step(store: Store) -> None:
    store.make_base("5 min")
    assert store.undo_stack.count() == 0


def test_looking_at_another_scenario_is_no_step(store: Store) -> None:
    store.switch("20 min")
    assert write_s(store) == 1200.0
    assert store.undo_stack.count() == 0
    assert store.undo_stack.isClean()


def test_looking_between_two_edits_ends_the_gesture(store: Store) -> None:
    store.edit(PATH, 400.0)
    store.switch("20 min")
    store.edit(PATH, 1300.0)
    assert store.undo_stack.count() == 2
    store.undo_stack.undo()
    assert store.workbook.named("20 min").scenario.storage.write_s == 1200.0
    assert store.workbook.named("5 min").scenario.storage.write_s == 400.0


def test_a_note_can_be_written_and_taken_back(store: Store) -> None:
    store.note("夜間は混む\n二行目")
    assert store.workbook.shown.note == "夜間は混む\n二行目"
    store.undo_stack.undo()
    assert store.workbook.shown.note == ""


def test_marks_stay_with_their_scenario(store: Store) -> None:
    marks = {one.name: one.index for one in store.shown()}
    assert sorted(marks.values()) == [0, 1, 2]
    store.rename("20 min", "slow")
    store.remove("5 min")
    assert {one.name: one.index for one in store.shown()} == {"slow": marks["20 min"], "c": marks["c"]}
    store.undo_stack.undo()
    store.undo_stack.undo()
    assert {one.name: one.index for one in store.shown()} == marks
    store.duplicate()
    now = {one.name: one.index for one in store.shown()}
    assert len(set(now.values())) == 4
    assert {name: now[name] for name in marks} == marks


# ---------------------------------------------------------------- files


def test_saved_is_clean_and_reads_back_equal(store: Store, tmp_path: Path) -> None:
    file = tmp_path / "a.ckptplan.json"
    store.edit(PATH, 400.0)
    assert not store.undo_stack.isClean()
    store.save(file)
    assert store.undo_stack.isClean()
    assert store.file == file
    other = Store(read(E1))
    other.open(file)
    assert other.workbook == store.workbook
    for mine, theirs in zip(other.shown(), store.shown(), strict=True):
        assert plan_document(mine.plan) == plan_document(theirs.plan)
    store.edit(PATH, 500.0)
    assert store.undo_stack.count() == 2, "an edit after saving is a step of its own"
    store.undo_stack.undo()
    assert store.undo_stack.isClean()
    assert write_s(store) == 400.0


def test_saving_within_a_gesture_ends_it(store: Store, tmp_path: Path) -> None:
    store.edit(PATH, 400.0)
    store.save(tmp_path / "a.ckptplan.json")
    store.edit(PATH, 300.0)
    assert not store.undo_stack.isClean(), "the file says 400 s"
    assert store.undo_stack.count() == 2


def test_a_failing_save_leaves_the_old_file_and_the_changes(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "a.ckptplan.json"
    store.save(file)
    old = file.read_bytes()
    store.edit(PATH, 400.0)

    def full(source: object, target: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(WorkbookError, match="No space left on device"):
        store.save(file)
    assert file.read_bytes() == old
    assert [one.name for one in tmp_path.iterdir()] == [file.name], "no half file stays behind"
    assert not store.undo_stack.isClean()
    assert write_s(store) == 400.0


def test_a_folder_that_is_not_there_is_named(store: Store, tmp_path: Path) -> None:
    file = tmp_path / "gone" / "a.ckptplan.json"
    with pytest.raises(WorkbookError, match="cannot be written"):
        store.save(file)
    assert store.file is None


def test_a_file_that_cannot_be_read_changes_nothing(store: Store, tmp_path: Path, heard: type[Heard]) -> None:
    file = tmp_path / "b.ckptplan.json"
    file.write_text('{"schema": 1, "scenarios": [{"name": "x", "storage": {"write_s": -1}}]}')
    store.edit(PATH, 400.0)
    told, before = heard(store.workbook_changed, store.plans_changed), store.workbook
    with pytest.raises(WorkbookError, match=r"storage\.write_s"):
        store.open(file)
    assert store.workbook is before
    assert store.undo_stack.count() == 1
    assert told.said == []


def test_another_file_begins_with_an_empty_undo(store: Store) -> None:
    store.edit(PATH, 400.0)
    store.open(E1)
    assert store.undo_stack.count() == 0
    assert store.undo_stack.isClean()
    assert names(store) == ["5 min", "20 min", "sync 60 s", "6 B"]
    assert [one.index for one in store.shown()] == [0, 1, 2, 3]


# ---------------------------------------------------------------- order and stages


def test_another_order_is_one_step(store: Store) -> None:
    store.reorder(["c", "5 min", "20 min"])
    assert names(store) == ["c", "5 min", "20 min"]
    assert (store.workbook.current, store.workbook.base) == ("5 min", "5 min")
    store.undo_stack.undo()
    assert names(store) == ["5 min", "20 min", "c"]
    store.reorder(["5 min", "20 min"])
    assert not store.undo_stack.canUndo(), "what is left out stays behind: nothing has moved"


def test_marks_stay_when_the_order_changes(store: Store) -> None:
    before = {one.name: one.index for one in store.shown()}
    store.reorder(["c", "20 min", "5 min"])
    assert {one.name: one.index for one in store.shown()} == before


def test_stages_are_one_step_and_follow_names(store: Store) -> None:
    store.make_campaign(["c", "5 min"])
    assert store.workbook.campaign == ("5 min", "c")
    assert [one.is_stage for one in store.shown()] == [True, False, True]
    store.rename("c", "last")
    assert store.workbook.campaign == ("5 min", "last")
    store.remove("5 min")
    assert store.workbook.campaign == ("last",)
    for _ in range(3):
        store.undo_stack.undo()
    assert store.workbook.campaign == ()


def test_a_field_of_another_scenario_is_a_step_of_its_own(store: Store, heard: type[Heard]) -> None:
    refused = heard(store.edit_rejected)
    store.edit("run.days", 100.0)
    store.edit_of("c", "run.days", 30.0)
    store.edit_of("c", "run.days", 40.0)
    assert [one.scenario.run.days for one in store.workbook.scenarios] == [100.0, 365.0, 40.0]
    assert store.workbook.current == "5 min"
    store.undo_stack.undo()
    assert store.workbook.named("c").scenario.run.days == 30.0
    store.edit_of("c", "run.days", -1.0)
    assert store.workbook.named("c").scenario.run.days == 30.0
    assert refused.said[-1][0] == "run.days"
    assert refused.said[-1][1]


def test_a_plan_is_adopted_in_one_step() -> None:
    """Several fields at once, each typed from now on; undo brings back values and sources."""
    held = Store(read(E1))
    before = held.workbook
    held.adopt((("storage.write_s", 60.0), ("storage.interval_s", 3600.0)))
    shown = held.workbook.shown
    assert (shown.scenario.storage.write_s, shown.scenario.storage.interval_s) == (60.0, 3600.0)
    source = shown.source_of("storage.write_s")
    assert source is not None
    assert source.kind == "typed"
    assert held.undo_stack.count() == 1
    held.undo_stack.undo()
    assert held.workbook == before


def test_a_plan_is_adopted_as_a_new_scenario() -> None:
    held = Store(read(E1))
    before = held.workbook
    for name in ("S3, 44 s", "S3, 44 s 2"):
        held.adopt_as_new("S3, 44 s", (("storage.write_s", 44.0),))
        assert held.workbook.current == name
    assert held.workbook.named("S3, 44 s").scenario.storage.write_s == 44.0
    assert held.workbook.scenarios[:4] == before.scenarios
    held.undo_stack.undo()
    held.undo_stack.undo()
    assert held.workbook == before


def test_a_long_name_for_a_new_scenario_is_cut() -> None:
    held = Store(read(E1))
    held.adopt_as_new("x" * 300, ())
    assert len(held.workbook.current) <= 120
