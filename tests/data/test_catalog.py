"""The catalog: every fact has a source, the numbers are those of docs/models.md, and a broken file is refused."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable
from importlib import resources
from pathlib import Path

import pytest

from ckptplanner.data import catalog
from ckptplanner.data.catalog import CatalogError
from ckptplanner.data.records import ByteLayout, FsxTier, InterruptionLog, InterruptionRecord, NodePrice, NodeType, Row
from ckptplanner.units import GIB, HOUR, unit_of

TABLES: dict[str, Callable[[], tuple[Row, ...]]] = {
    "layouts.csv": catalog.layouts,
    "frameworks.csv": catalog.frameworks,
    "nodes.csv": catalog.nodes,
    "fsx_tiers.csv": catalog.fsx_tiers,
    "ceilings.csv": catalog.ceilings,
    "storage_prices.csv": catalog.storage_prices,
    "storage_tiers.csv": catalog.storage_tiers,
    "tier_prices.csv": catalog.tier_prices,
    "request_rates.csv": catalog.request_rates,
    "node_prices.csv": catalog.node_prices,
    "interruptions.csv": catalog.interruption_records,
    "interruption_logs.csv": catalog.interruption_logs,
    "published_runs.csv": catalog.published_runs,
    "models.csv": catalog.models,
}
ALL_ROWS = [pytest.param(row, id=f"{file}-{row.id}") for file, read in TABLES.items() for row in read()]
COUNTS = {
    "gpus", "nvme_count", "network_cards", "efa_interfaces", "sockets", "fsx_efa_interfaces", "nodes", "events",
    "default_interval_steps", "requests_per_s",
}  # fmt: skip
HUMAN_UNIT = re.compile(r"_(h|d|gb|mib|gbps|b)(_|$)")


def raw(file: str) -> list[list[str]]:
    text = resources.files("ckptplanner.data").joinpath(file).read_text(encoding="utf-8")
    return list(csv.reader(text.splitlines()))


def is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def test_every_csv_file_of_the_package_is_read() -> None:
    found = {entry.name for entry in resources.files("ckptplanner.data").iterdir() if entry.name.endswith(".csv")}
    assert found == set(TABLES)


@pytest.mark.parametrize("row", ALL_ROWS)
def test_a_row_says_where_it_comes_from(row: Row) -> None:
    assert len(row.source) >= 8
    assert re.fullmatch(r"20\d\d(-(0[1-9]|1[0-2])(-([0-2]\d|3[01]))?)?", row.date)
    assert row.date <= "2026-11-29"
    assert row.name == row.name.strip() != ""


@pytest.mark.parametrize("row", ALL_ROWS)
def test_a_row_holds_no_address_and_no_local_path(row: Row) -> None:
    text = row.model_dump_json()
    assert not re.search(r"https?:|file:|localhost|[\"' ]/[a-z]+/|\.\./|\.py\b|/work\b|shared/|facts/", text)


@pytest.mark.parametrize("row", [p for p in ALL_ROWS if p.values[0].status in {"derived", "unverified"}])  # type: ignore[union-attr]
def test_a_row_that_no_document_states_explains_itself(row: Row) -> None:
    assert row.note


@pytest.mark.parametrize("file", TABLES)
def test_numeric_headings_name_their_unit(file: str) -> None:
    headings, *rows = raw(file)
    assert headings[0] == "id"
    for heading, cells in zip(headings, zip(*rows, strict=True), strict=True):
        filled = [cell for cell in cells if cell]
        if filled and all(is_number(cell) for cell in filled) and heading not in {*COUNTS, "date"}:
            assert HUMAN_UNIT.search(heading) or unit_of(f"_{heading}"), heading


@pytest.mark.parametrize(
    ("row_id", "total"),
    [("megatron-14", 14), ("zero-16", 16), ("fsdp2-12", 12), ("deepseek-10", 10), ("bf16-6", 6), ("weights-2", 2)],
)
def test_layouts_of_spec_2(row_id: str, total: float) -> None:
    assert catalog.layout(row_id).bytes_per_param == total


@pytest.mark.parametrize("layout", [pytest.param(row, id=row.id) for row in catalog.layouts()])
def test_a_layouts_id_ends_in_its_sum(layout: ByteLayout) -> None:
    assert layout.id.endswith(f"-{layout.bytes_per_param:g}")
    assert all(part.what and part.bytes_per_param > 0 for part in layout.parts)


@pytest.mark.parametrize(
    ("name", "steps", "has_async", "unfinished"),
    [
        ("Megatron-LM", None, True, "warns, then waits"),
        ("Megatron Bridge", None, True, "warns, then waits"),
        ("TorchTitan", 500, True, "waits"),
        ("Hugging Face Trainer", 500, False, "sync"),
    ],
)
def test_frameworks_of_spec_9(name: str, steps: int | None, has_async: bool, unfinished: str) -> None:
    row = catalog.framework(name)
    assert (row.default_interval_steps, row.has_async, row.on_unfinished_write) == (steps, has_async, unfinished)
    assert not row.async_by_default
    assert row.id == row.name


@pytest.mark.parametrize(
    ("throughput", "step_efa_gib", "burst", "usd"),
    [(125, 38400, 500, 0.145), (250, 19200, 500, 0.210), (500, 9600, None, 0.340), (1000, 4800, None, 0.600)],
)
def test_file_systems_of_spec_5(throughput: int, step_efa_gib: float, burst: float | None, usd: float) -> None:
    tcp, efa = catalog.fsx_tier(f"p2-{throughput}"), catalog.fsx_tier(f"p2-{throughput}-efa")
    assert (tcp.efa, tcp.step_gib, tcp.small_gib) == (False, 2400, 1200)
    assert (efa.efa, efa.step_gib, efa.small_gib) == (True, step_efa_gib, None)
    assert tcp.burst_mb_per_s_per_tib == efa.burst_mb_per_s_per_tib == burst
    assert (tcp.client_bytes_per_s, tcp.client_server_bytes_per_s) == (12.5e9, 0.625e9)
    assert (efa.client_bytes_per_s, efa.client_server_bytes_per_s) == (87.5e9, None)
    price = catalog.storage_price("us-west-2", throughput)
    assert price is not None
    assert price.usd_per_gib_month == usd
    assert price.status == "article"


@pytest.mark.parametrize("tier", [pytest.param(row, id=row.id) for row in catalog.fsx_tiers() if row.efa])
def test_each_efa_step_is_4800_mb_per_s(tier: FsxTier) -> None:
    assert tier.step_gib / 1000 * tier.throughput_mb_per_s_per_tib == 4800


def test_default_quota() -> None:
    assert len(catalog.fsx_tiers()) == 8
    assert {tier.default_quota_gib for tier in catalog.fsx_tiers()} == {100_800}


@pytest.mark.parametrize(
    ("row_id", "scaled_h"),
    [
        ("meta-rsc-1024", 31.6),
        ("meta-rsc-nodes", 115.4),
        ("opt-all", 53.1),
        ("opt-manual", 159.4),
        ("opt-chronicle", 59.7),
        ("bloom-1", 252.0),
        ("bloom-2", 126.0),
        ("llama3-all", 178.0),
        ("llama3-unexpected", 198.0),
        ("llama3-hardware", 253.7),
        ("megascale", 196.9),
        ("acme", 781.4),
    ],
)
def test_records_of_spec_4_at_32_nodes(row_id: str, scaled_h: float) -> None:
    row = catalog.interruption_record(row_id)
    assert round(row.mtbi_s / HOUR * row.nodes / 32, 1) == scaled_h
    assert row.counted


@pytest.mark.parametrize("record", [pytest.param(r, id=r.id) for r in catalog.interruption_records() if r.events])
def test_a_counted_record_is_not_rounded(record: InterruptionRecord) -> None:
    assert record.period_s is not None
    assert record.events is not None
    assert record.mtbi_s == record.period_s / record.events


def test_rates_as_stated_carry_no_count() -> None:
    bloom = [catalog.interruption_record(row_id) for row_id in ("bloom-1", "bloom-2")]
    assert [(row.nodes, row.mtbi_s / HOUR, row.events) for row in bloom] == [(48, 168, None), (48, 84, None)]
    assert "optimistic" in catalog.interruption_record("acme").note


def test_the_node_of_the_articles() -> None:
    node = catalog.node("p6-b300.48xlarge")
    assert (node.gpus, node.nvme_count, node.nvme_bytes_each) == (8, 8, 3.8e12)
    assert node.host_ram_gib == 4096
    assert node.hbm_bytes_per_gpu == pytest.approx(288.4e9, rel=1e-4)
    assert node.network_bytes_per_s == 800e9
    assert (node.network_cards, node.efa_interfaces) == (17, 16)
    assert node.ena_bytes_per_s == 43.75e9  # 350 Gbps, preferred to 300
    assert "300" in node.note
    assert node.fsx_efa
    assert not node.fsx_gds


def test_which_nodes_reach_fsx_how() -> None:
    with_gds = {row.id for row in catalog.nodes() if row.fsx_gds}
    assert with_gds == {"p5.48xlarge", "p5e.48xlarge", "p5en.48xlarge", "p6-b200.48xlarge"}
    for row_id in ("p4d.24xlarge", "trn2.48xlarge", "trn2u.48xlarge", "dgx-h100"):
        assert not catalog.node(row_id).fsx_efa
    assert "Nitro" in catalog.node("p4d.24xlarge").note


def test_conflicts_of_sources_stay_blank_and_are_told() -> None:
    assert catalog.node("trn2.48xlarge").hbm_bytes_per_gpu is None
    assert catalog.node("dgx-b200").host_ram_gib is None
    assert catalog.node("p5.48xlarge").ena_bytes_per_s is None
    for row_id, words in {"trn2.48xlarge": "96 GB", "dgx-b200": "2 to 4 TB", "p5.48xlarge": "800 Gbps"}.items():
        assert words in catalog.node(row_id).note


def test_generic_is_a_copy_of_the_dgx_h100() -> None:
    words = {"id", "name", "source", "date", "status", "note"}
    generic, dgx = catalog.node("generic"), catalog.node("dgx-h100")
    assert generic.model_dump(exclude=words) == dgx.model_dump(exclude=words)
    assert generic.status == "derived"
    assert "edit" in generic.note


def test_models_with_a_computed_total() -> None:
    assert sum(row.status == "derived" for row in catalog.models()) == 23
    assert catalog.model("llama-3.1-405b").total_params == pytest.approx(405.853e9)
    v3 = catalog.model("deepseek-v3")
    assert v3.total_params == pytest.approx(671.026e9)
    assert v3.mtp_params == pytest.approx(11.610e9)
    assert v3.active_params == pytest.approx(37.552e9)


def test_the_model_of_the_articles() -> None:
    row = catalog.model("nemotron-3.5-super-120b-a12b")
    assert (row.total_params, row.active_params, row.status) == (124.45e9, 12e9, "article")


@pytest.mark.parametrize("node", [pytest.param(row, id=row.id) for row in catalog.nodes()])
def test_nodes_are_plausible(node: NodeType) -> None:
    assert 1 <= node.gpus <= 16
    assert node.hbm_bytes_per_gpu is None or 32e9 < node.hbm_bytes_per_gpu < 300e9
    assert node.host_ram_gib is None or 256 <= node.host_ram_gib <= 4096
    assert (node.nvme_count is None) == (node.nvme_bytes_each is None)
    assert node.nvme_bytes_each is None or 1e12 <= node.nvme_bytes_each <= 8e12
    assert node.network_bytes_per_s is None or 12.5e9 <= node.network_bytes_per_s <= 800e9
    if node.ena_bytes_per_s is not None:
        assert node.network_bytes_per_s is not None
        assert 12.5e9 <= node.ena_bytes_per_s <= node.network_bytes_per_s
    if node.hbm_bytes_per_gpu is not None and node.host_ram_gib is not None:
        assert node.gpus * node.hbm_bytes_per_gpu < 1.5 * node.host_ram_gib * GIB


def test_models_are_plausible() -> None:
    for row in catalog.models():
        assert row.total_params is not None
        assert 1e9 < row.total_params < 5e12, row.id
        assert row.active_params is None or 1e9 < row.active_params <= row.total_params, row.id
        assert row.mtp_params is None or row.mtp_params < 0.05 * row.total_params, row.id
        if digits := re.match(r"([\d.]+)(B|T)", row.total_published):
            published = float(digits[1]) * {"B": 1e9, "T": 1e12}[digits[2]]
            assert row.total_params == pytest.approx(published, rel=0.06), row.id


def test_records_are_plausible() -> None:
    for row in catalog.interruption_records():
        assert 20 < row.mtbi_s / HOUR * row.nodes / 32 < 1000, row.id


def test_names_of_node_prices_are_nodes() -> None:
    for row in catalog.node_prices():
        node = catalog.node(row.node)
        assert row.node_usd_per_h is not None
        assert 1 < row.node_usd_per_h / node.gpus < 20, row.id
        assert row.region in catalog.regions()
        assert row.id == f"{row.region}/{row.node}"


def test_a_known_price_and_an_unknown_one() -> None:
    known = catalog.node_price("us-west-2", "p6-b300.48xlarge")
    assert known is not None
    assert (known.node_usd_per_h, known.date) == (142.416, "2026-11")
    for node_id in ("p5e.48xlarge", "p6e-gb200.36xlarge", "trn2.48xlarge", "dgx-h100", "generic", "no such"):
        assert catalog.node_price("us-east-1", node_id) is None


def test_a_region_without_a_price_can_be_chosen() -> None:
    assert catalog.regions()[0] == "us-west-2"
    assert {"us-east-1", "ap-northeast-1", "eu-west-1"} <= set(catalog.regions())
    tokyo = catalog.storage_price("ap-northeast-1", 500)
    assert tokyo is not None
    assert tokyo.usd_per_gib_month is None
    assert "type the one from your bill" in tokyo.note
    assert catalog.storage_price("us-west-2", 333) is None
    assert catalog.storage_price("mars-north-1", 500) is None
    for region in catalog.regions():
        assert all(catalog.storage_price(region, tier) for tier in (125, 250, 500, 1000))


def test_the_conflicting_price_is_marked() -> None:
    virginia = catalog.storage_price("us-east-1", 500)
    assert virginia is not None
    assert (virginia.usd_per_gib_month, virginia.status, virginia.date) == (0.29, "unverified", "2026-08-06")
    assert "0.340" in virginia.note


@pytest.mark.parametrize(
    ("look_up", "wrong", "near"),
    [
        (catalog.node, "p6-b300", "p6-b300.48xlarge"),
        (catalog.node, "DGX-H10", "dgx-h100"),
        (catalog.layout, "megatron", "megatron-14"),
        (catalog.framework, "torchtitans", "TorchTitan"),
        (catalog.fsx_tier, "p2-500-EFAX", "p2-500-efa"),
        (catalog.model, "qwen3-235b", "qwen3-235b-a22b"),
        (catalog.interruption_record, "zzz", "bloom-1"),
        (catalog.model, "", "deepseek-v3"),
    ],
)
def test_a_wrong_id_names_the_near_ones(look_up: Callable[[str], Row], wrong: str, near: str) -> None:
    with pytest.raises(CatalogError) as caught:
        look_up(wrong)
    assert repr(wrong) in str(caught.value)
    assert near in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("typed", "first"),
    [
        ("qwen3 235", "Qwen3-235B-A22B"),
        ("QWEN3-235b", "Qwen3-235B-A22B"),
        ("235 qwen3", "Qwen3-235B-A22B"),
        ("llama 405", "Llama 3.1 405B"),
        ("llama3.1 8b", "Llama 3.1 8B"),
        ("nemotron 3.5 super", "Nemotron 3.5 Super 120B-A12B"),
        ("moonshotai k3", "Kimi K3"),
        ("ｋｉｍｉ k2", "Kimi K2"),
        ("deepseek v3", "DeepSeek-V3"),
    ],
)
def test_find_models_by_words(typed: str, first: str) -> None:
    assert catalog.find_models(typed)[0].name == first


def test_find_models_wants_every_word() -> None:
    assert {row.name for row in catalog.find_models("nemotron super")} == {
        "Nemotron 3 Super 120B-A12B",
        "Nemotron 3.5 Super 120B-A12B",
    }
    assert catalog.find_models("qwen3 405") == ()


def test_find_models_with_nothing_typed_lists_from_the_top() -> None:
    assert catalog.find_models("  ", limit=3) == catalog.models()[:3]
    assert len(catalog.find_models("b", limit=5)) == 5


GOOD = "id,name,region,node,node_usd_per_h,source,date,status,note\na,A,us-west-2,n,1.5,A source,2026-11,article,\n"


def written(folder: Path, text: str) -> Path:
    file = folder / "prices.csv"
    file.write_text(text, encoding="utf-8")
    return file


def test_a_good_file_is_read(tmp_path: Path) -> None:
    (row,) = catalog.read_rows(written(tmp_path, GOOD), NodePrice)
    assert (row.node_usd_per_h, row.note) == (1.5, "")


@pytest.mark.parametrize(
    ("old", "new", "place"),
    [
        ("1.5", "cheap", "prices.csv:2, column node_usd_per_h"),
        ("1.5", "nan", "prices.csv:2, column node_usd_per_h"),
        ("1.5", "-1.5", "prices.csv:2, column node_usd_per_h"),
        ("A source", "", "prices.csv:2, column source"),
        (",article,", ",hearsay,", "prices.csv:2, column status"),
        (",region,", ",regoin,", "prices.csv:1, column regoin"),
        (",node,", ",region,", "prices.csv:1, column region"),
        (",article,\n", ",article\n", "prices.csv:2"),
        ("A source", '"A source', "prices.csv:2"),
        ("a,A,us", "a,A,us-west-2,n,1,A source,2026-11,article,\na,A,us", "prices.csv:3, column id"),
        ("a,A,us-west-2,n,1.5,A source,2026-11,article,\n", "", "prices.csv:1"),
    ],
)
def test_a_broken_file_is_refused_by_place(tmp_path: Path, old: str, new: str, place: str) -> None:
    assert old in GOOD
    with pytest.raises(CatalogError, match=rf"^{re.escape(place)}\b"):
        catalog.read_rows(written(tmp_path, GOOD.replace(old, new, 1)), NodePrice)


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CatalogError, match=r"^gone\.csv"):
        catalog.read_rows(tmp_path / "gone.csv", NodePrice)


def test_headings_in_human_units_are_converted(tmp_path: Path) -> None:
    text = (
        "id,name,accelerator,gpus,hbm_mib_per_gpu,nvme_gb_each,ena_gbps,source,date,status\n"
        "a,A,H100,8,81920,3800,350,A source,2026,derived\n"
    )
    (row,) = catalog.read_rows(written(tmp_path, text), NodeType)
    assert row.hbm_bytes_per_gpu == 80 * GIB
    assert row.nvme_bytes_each == 3.8e12
    assert row.ena_bytes_per_s == 43.75e9
    with pytest.raises(CatalogError, match=r"prices\.csv:2, column ena_gbps: 'fast'"):
        catalog.read_rows(written(tmp_path, text.replace("350", "fast")), NodeType)


def test_an_id_is_found_in_any_case() -> None:
    assert catalog.node("DGX-H100").id == "dgx-h100"
    assert catalog.framework("torchtitan").id == "TorchTitan"


@pytest.mark.parametrize("gaps", ["53 x 7", "53 0 7", "53 1.5", ""])
def test_a_log_with_a_bad_gap_is_refused(tmp_path: Path, gaps: str) -> None:
    file = tmp_path / "logs.csv"
    file.write_text(f"id,name,nodes,gaps_min,source,date,status,note\na,A,4,{gaps},a source,2005,derived,x\n", encoding="utf-8")
    with pytest.raises(CatalogError, match=r"^logs\.csv:2, column gaps_min: "):
        catalog.read_rows(file, InterruptionLog)


def test_logs_are_read_as_they_were_written() -> None:
    """System 18: 3,917 gaps in 29,310.4 h, as the reference of its summary."""
    log = next(row for row in catalog.interruption_logs() if row.id == "lanl-18")
    assert (log.nodes, len(log.gaps_min)) == (1024, 3917)
    assert sum(log.gaps_min) / 60 == pytest.approx(29_310.4, abs=0.01)
