"""The cards, the smaller line and the sentence: what they say more once the inputs beyond the articles are given."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, get_args

import pytest

from ckptplanner.data import catalog
from ckptplanner.engine.cards import Card, cards, small_line
from ckptplanner.engine.cost import Basis
from ckptplanner.engine.derivation.case import Case
from ckptplanner.engine.derivation.figures import FIGURES, read_figure
from ckptplanner.engine.evaluate import evaluate
from ckptplanner.engine.operations import SaveRow
from ckptplanner.engine.plan import Plan
from ckptplanner.engine.scenario import Scenario
from ckptplanner.engine.sentence import sentence
from ckptplanner.frozen import with_value
from ckptplanner.text import Text
from ckptplanner.units import UNKNOWN
from tests.engine.calculator import worked_out
from tests.engine.cases import MODELS, SCENARIOS, examples, named

BASES = get_args(Basis)
SAVES = (SaveRow(kind="permanent", every_s=86_400.0),)


def plan_of(**changes: Any) -> Plan:
    scenario = Scenario()
    for path, value in changes.items():
        scenario = with_value(scenario, path.replace("__", "."), value)
    return evaluate(scenario)


def card(plan: Plan, title: str) -> Card:
    return next(one for one in cards(plan) if str(one.title) == title)


def plain(words: Text) -> str:
    return str(words).replace("\u00a0", " ")


def test_fits_shows_the_node_before_the_file_system() -> None:
    shares = card(plan_of(), "FITS").shares
    assert [(share.figure, str(share.name)) for share in shares] == [
        ("host_ram", "host RAM"), ("network_fraction", "network"), ("fill_fraction", "file system"),
        ("quota_fraction", "quota"),
    ]  # fmt: skip
    # the ledger: a tenth of 4,096 GiB for the job, two shares of 54.4 GB; 5 Gbps to each of five servers
    assert [share.shown.replace("\u00a0", " ") for share in shares] == ["12 %", "5.8 %", "54 %", "12 %"]


def test_a_bar_that_is_not_known_is_left_out() -> None:
    node = catalog.node("p6-b300.48xlarge").model_copy(update={"host_ram_gib": None})
    assert next(share.figure for share in card(plan_of(workload__node=node), "FITS").shares) == "network_fraction"


def test_nothing_else_is_new_while_the_inputs_are_neutral() -> None:
    plan = plan_of()
    assert [plain(line) for line in card(plan, "COSTS").lines] == ["storage $4,080", "lost GPU time $17.9k"]
    assert plain(card(plan, "IF IT BREAKS").lines[1]) == "can go back 2 h 14 min"
    assert len(small_line(plan)) == 7
    assert "goodput 99.46 %" in [plain(line) for line in small_line(plan)]


def test_planned_stops_stand_before_goodput_and_count_in_it() -> None:
    lines = [plain(line) for line in small_line(plan_of(planned__every_s=86_400.0))]
    assert lines[5:7] == ["planned stops 1.37 %", "goodput 98.10 %"]


def test_lost_gpu_time_counts_planned_stops() -> None:
    before, after = plan_of(), plan_of(planned__every_s=86_400.0)
    assert before.cost is not None
    assert after.cost is not None
    assert plain(card(after, "COSTS").lines[1]) == "lost GPU time $63.3k"
    assert after.cost.total_usd_per_year == pytest.approx(
        (before.cost.total_usd_per_year or 0.0) + (after.cost.planned_usd_per_year or 0.0)
    )


def test_other_dollars_have_a_line() -> None:
    lines = [plain(line) for line in card(plan_of(saves=SAVES, run__days=90.0), "COSTS").lines]
    assert lines[2] == "S3, spares, zones $1,783"  # 44.5 of the 90 whose bill is 3,607 $ a month (SPEC 13) lie there on average


def test_unknown_other_dollars_are_a_dash() -> None:
    assert plain(card(plan_of(network__same_zone=False), "COSTS").lines[2]) == "S3, spares, zones –"


def test_one_can_go_back_to_the_oldest_permanent_save() -> None:
    assert plain(card(plan_of(saves=SAVES, run__days=90.0), "IF IT BREAKS").lines[1]) == "can go back 90 d"


def test_every_value_of_the_cards_leads_to_a_figure() -> None:
    plan = plan_of(saves=SAVES, planned__every_s=86_400.0)
    words = [*small_line(plan), sentence(plan), *(line for one in cards(plan) for line in one.lines)]
    names = {name for text in words for name, value in text.values if isinstance(value, str)}
    names |= {share.figure for one in cards(plan) for share in one.shares} | {one.figure for one in cards(plan)}
    assert names <= set(FIGURES)


@pytest.mark.parametrize("mode", ["async", "sync"])
def test_the_sentence_says_that_a_notice_is_too_short(mode: str) -> None:
    short = plan_of(storage__mode=mode, planned__every_s=86_400.0, planned__notice_s=60.0)
    assert "1 min of notice is too short for a last save (" in plain(sentence(short))
    assert "each planned stop loses " in plain(sentence(short))
    names = {name for name, value in sentence(short).values if isinstance(value, str)}
    assert names <= set(FIGURES)


@pytest.mark.parametrize("notice_s", [None, 3600.0])
def test_the_sentence_is_as_it_was_where_a_last_save_fits(notice_s: float | None) -> None:
    assert sentence(plan_of(planned__every_s=86_400.0, planned__notice_s=notice_s)) == sentence(plan_of())


# ---------------------------------------------------------------- what is shown is what the figure says


def _shown_values(plan: Plan, basis: Basis) -> Iterator[tuple[str, str]]:
    """Every link of the window: the figure it asks for and what is written on it."""
    for one in cards(plan, basis):
        yield from [(one.figure, one.large)] if one.large else []
        yield from ((share.figure, share.shown) for share in one.shares)
        for line in (one.words, *one.lines):
            yield from ((name, value) for name, value in line.values if isinstance(value, str))
    for line in (sentence(plan), *small_line(plan, basis)):
        yield from ((name, value) for name, value in line.values if isinstance(value, str))


def _read(shown: str, figure: str) -> tuple[float, float]:
    """The number that is written, and half a step of its last digit: in the unit of `read_figure`."""
    said = shown.partition(" = ")[0].removesuffix(" EFA").lstrip("+")  # a size is said twice
    scale = 86_400.0 if said.endswith("\u00a0d") else 1e-6 if figure == "throughput_mb_per_s_per_tib" else 1.0
    number = list(re.finditer(r"\d[\d,]*(?:\.\d+)?", said))[-1]
    whole, _, decimals = number[0].replace(",", "").partition(".")
    rounded = len(whole) - {"%": 2, "years": 3}.get(said.rpartition("\u00a0")[2], len(whole))
    more = f"{float(whole + '.' + decimals) + 10.0 ** max(rounded, -len(decimals)):.{len(decimals)}f}"
    value, next_one = worked_out(said), worked_out(said[: number.start()] + more + said[number.end() :])
    return value * scale, abs(next_one - value) * scale / 2


LINKED = {**examples(), **{name: named(changes) for name, changes in {**SCENARIOS, **MODELS}.items()}}


@pytest.mark.parametrize("name", LINKED)
def test_every_link_leads_to_a_figure_that_says_the_same(name: str) -> None:
    plan = evaluate(LINKED[name].scenario)
    for basis in BASES:
        case = Case(LINKED[name], basis)
        for figure, shown in _shown_values(plan, basis):
            value = read_figure(case, figure)
            if shown == UNKNOWN:
                assert value is None, figure
                continue
            assert value is not None, figure
            written, half = _read(shown, figure)
            assert written == pytest.approx(value, abs=half * (1 + 1e-9) + 1e-12), (figure, shown)


def test_two_levels_say_how_many_local_saves_go_to_shared_storage() -> None:
    some, each = (
        [plain(line) for line in card(evaluate(named(MODELS[name]).scenario), "SAVE EVERY").lines]
        for name in ("two levels, ratio given", "two levels, each save to both")
    )
    assert some[0].startswith("shared: one in 5, every ")
    assert each[0] == "shared: each of them, 10 s of stop in all"


def test_waiting_of_shared_saves_is_said_as_such() -> None:
    said = plain(sentence(evaluate(named(MODELS["two levels, waits"]).scenario)))
    assert said.startswith("A shared save every 3 min 25 s makes training wait for the write: one begins every 5 min 5 s")


def test_each_local_save_that_goes_to_both_has_one_interval() -> None:
    """T1 leaves the shared stop out that follows each local one: card, sentence and smaller line say what really passes."""
    plan = plan_of(local__enabled=True)
    assert plan.levels is not None
    assert plan.levels.ratio == 1
    every = card(plan, "SAVE EVERY")
    assert (every.figure, every.large) == ("interval_s", "63\u00a0min")
    assert "every 63 min" in plain(sentence(plan)).lower()
    assert any("best shared interval" in plain(one) and "before rounding" in plain(one) for one in small_line(plan))
    assert any(plain(one).startswith("best interval") for one in small_line(plan_of()))


def test_a_mean_restart_says_that_it_is_one() -> None:
    def lines(plan: Plan) -> str:
        return " ".join(map(plain, card(plan, "IF IT BREAKS").lines))

    assert "on average" not in lines(plan_of())
    assert "on average" in lines(plan_of(local__enabled=True))
