"""Quantities as engineers write them, and back: every print reads back, every refusal says what would be accepted."""

from __future__ import annotations

import math

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ckptplanner import units
from ckptplanner.units import Unit, UnitError, brief, exact, parse, rough, unit_of
from tests.engine.build import STEADY

UNITS = {
    name: value for name, value in vars(units).items() if isinstance(value, Unit)
}  # SECONDS, BYTES, ...: all that the module names
ALL_UNITS = pytest.mark.parametrize("unit", list({unit.symbol + unit.kind: unit for unit in UNITS.values()}.values()), ids=str)


def spaced(text: str) -> str:
    return text.replace(units.NBSP, " ")


# ---------------------------------------------------------------- parse


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("90 min", 5400), ("1.5h", 5400), ("2,5 h", 9000), ("５ min", 300), ("５　min", 300), ("4 min 50 s", 290),
        ("1h 30m", 5400),
        ("250 ms", 0.25), ("5", 5), ("1e3", 1000), ("12 000", 12_000), ("12,000 s", 12_000), ("2 h 14 min", 8040),
        ("1 d", 86_400),
        ("2 weeks", 1_209_600), ("5分", 300), ("2時間", 7200), ("3日", 259_200), ("90 MIN", 5400), (" 5 min ", 300),
    ],
)  # fmt: skip
def test_times(text: str, value: float) -> None:
    assert parse(text, units.SECONDS) == pytest.approx(value, rel=1e-15)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("54 GB", 54e9), ("1.742 TB", 1.742e12), ("7.2 TiB", 7.2 * 2**40), ("395.74 GiB", 395.74 * 2**30), ("2 PB", 2e15),
        ("1024", 1024), ("1 kB", 1000), ("1 KiB", 1024), ("3 bytes", 3), ("５４ ＧＢ", 54e9),
    ],
)  # fmt: skip
def test_sizes(text: str, value: float) -> None:
    assert parse(text, units.BYTES) == pytest.approx(value, rel=1e-15)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("11 GB/s", 11e9), ("350 Gbps", 43.75e9), ("350 Gbit/s", 43.75e9), ("350 Gb/s", 43.75e9), ("5.4 GiB/s", 5.4 * 2**30),
        ("1.6 TB/s", 1.6e12), ("100 MBps", 100e6), ("100 Mbps", 12.5e6), ("1000", 1000), ("250 GB / s", 250e9),
    ],
)  # fmt: skip
def test_rates(text: str, value: float) -> None:
    assert parse(text, units.BYTES_PER_S) == pytest.approx(value, rel=1e-15)


@pytest.mark.parametrize(
    ("text", "unit", "value"),
    [
        ("124.5B", units.PARAMS, 124.5e9), ("124.45 B", units.PARAMS, 124.45e9), ("671e9", units.PARAMS, 671e9),
        ("8,030,261,248", units.PARAMS, 8_030_261_248), ("10T", units.PARAMS, 1e13), ("125M", units.PARAMS, 125e6),
        ("405 billion", units.PARAMS, 405e9), ("1000億", units.PARAMS, 1e11), ("14", units.BYTES_PER_PARAM, 14),
        ("14 B", units.BYTES_PER_PARAM, 14), ("2.5", units.BYTES_PER_PARAM, 2.5),
        ("$142.4/h", units.USD_PER_H, 142.4), ("142.416", units.USD_PER_H, 142.416), ("$1,512", units.USD_PER_MONTH, 1512),
        ("$0.34", units.USD_PER_GIB_MONTH, 0.34), ("85 %", units.FRACTION, 0.85), ("0.85", units.FRACTION, 0.85),
        ("85％", units.FRACTION, 0.85), ("7.2 TiB", units.GIBS, 7372.8), ("12,000 GiB", units.GIBS, 12_000),
        ("12 000", units.GIBS, 12_000), ("2,048", units.COUNT, 2048), ("32", units.COUNT, 32), ("90", units.DAYS, 90),
        ("2 weeks", units.DAYS, 14), ("36 h", units.DAYS, 1.5), ("500 MB/s/TiB", units.TIER, 500), ("0.7", units.NUMBER, 0.7),
    ],
)  # fmt: skip
def test_the_other_kinds(text: str, unit: Unit, value: float) -> None:
    assert parse(text, unit) == pytest.approx(value, rel=1e-15)


def test_gb_is_no_gib_and_bits_are_no_bytes() -> None:
    assert parse("1 GiB", units.BYTES) / parse("1 GB", units.BYTES) == 1.073741824
    assert parse("8 Gbps", units.BYTES_PER_S) == parse("1 GB/s", units.BYTES_PER_S)


def test_a_comma_groups_thousands_or_marks_decimals() -> None:
    assert parse("1,500", units.SECONDS) == 1500
    assert parse("1,5", units.SECONDS) == 1.5
    assert parse("0,34", units.USD_PER_GIB_MONTH) == 0.34


def test_a_count_is_an_int() -> None:
    assert isinstance(parse("32", units.COUNT), int)


@pytest.mark.parametrize(
    ("text", "unit", "examples"),
    [
        ("soon", units.SECONDS, "90 s, 5 min or 1.5 h"), ("5 GB", units.SECONDS, "5 min"), ("", units.SECONDS, "5 min"),
        ("5 M", units.SECONDS, "5 min"), ("nan", units.SECONDS, "5 min"), ("inf", units.SECONDS, "5 min"),
        ("1e999", units.SECONDS, "5 min"), ("5 5 min", units.SECONDS, "5 min"), ("min", units.SECONDS, "5 min"),
        ("5 min", units.BYTES, "54 GB, 1.74 TB or 7.2 TiB"), ("5 GB 3 MB", units.BYTES, "54 GB"),
        ("11 GB", units.BYTES_PER_S, "350 Gbps"), ("many", units.PARAMS, "124.45 B"), ("1.5", units.COUNT, "32"),
        ("85 GB", units.FRACTION, "85 %"), ("a dime", units.USD_PER_H, "$142.416"), ("12,000 GB/s", units.GIBS, "12,000 GiB"),
        ("1.2.3", units.SECONDS, "5 min"), ("5 min later", units.SECONDS, "5 min"), ("--5", units.SECONDS, "5 min"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_refused_with_what_would_be_accepted(text: str, unit: Unit, examples: str) -> None:
    with pytest.raises(UnitError) as refused:
        parse(text, unit)
    sentence = str(refused.value)
    assert examples in sentence
    assert "\n" not in sentence
    assert sentence.startswith("Not a ")


@ALL_UNITS
@settings(STEADY, max_examples=60)
@given(text=st.text(max_size=12))
def test_no_text_breaks_the_parser(unit: Unit, text: str) -> None:
    try:
        value = parse(text, unit)
    except UnitError:
        return
    assert math.isfinite(value)


# ---------------------------------------------------------------- exact, brief, rough


@ALL_UNITS
@settings(STEADY, max_examples=150)
@given(value=st.floats(-1e300, 1e300))
@example(value=0.0)
@example(value=0.1 + 0.2)
@example(value=5e-324)
@example(value=1e300)
@example(value=59.99999999999999)
@example(value=1742300000000.0)
@example(value=-1.5)
def test_what_is_printed_reads_back_to_the_last_bit(unit: Unit, value: float) -> None:
    number = float(int(value)) if unit.kind == "count" else value
    assert parse(exact(number, unit), unit) == number


@ALL_UNITS
@settings(STEADY, max_examples=100)
@given(value=st.floats(1e-6, 1e18))
def test_brief_and_rough_are_near_and_never_fail(unit: Unit, value: float) -> None:
    assert rough(value, unit)
    text = brief(value, unit)
    assert "e+" not in text or value > 1e12


@settings(STEADY, max_examples=150)
@given(value=st.floats(1e-3, 3.5e7))
def test_a_brief_time_reads_back_to_a_percent(value: float) -> None:
    assert parse(brief(value, units.SECONDS), units.SECONDS) == pytest.approx(value, rel=0.01)


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (300.0, units.SECONDS, "5 min"), (290.0, units.SECONDS, "4 min 50 s"), (5400.0, units.SECONDS, "1 h 30 min"),
        (5.0, units.SECONDS, "5 s"), (720_000.0, units.SECONDS, "200 h"), (1.742e12, units.BYTES, "1.742 TB"),
        (14.0, units.BYTES_PER_PARAM, "14 B"), (0.85, units.FRACTION, "85 %"), (12_000.0, units.GIBS, "12,000 GiB"),
        (142.416, units.USD_PER_H, "$142.416/h"), (124.45e9, units.PARAMS, "124.45 B"),
        (43.75e9, units.BYTES_PER_S, "43.75 GB/s"),
    ],
)  # fmt: skip
def test_exact_text(value: float, unit: Unit, text: str) -> None:
    assert spaced(exact(value, unit)) == text


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (0.00538, units.FRACTION, "0.538 %"), (1.7423e12, units.BYTES, "1.74 TB"), (5.8077e9, units.BYTES_PER_S, "5.81 GB/s"),
        (4080.0, units.USD_PER_MONTH, "$4,080"), (455_155.0, units.USD_PER_YEAR, "$455k"), (12_000.0, units.GIBS, "12,000 GiB"),
        (0.25, units.SECONDS, "250 ms"), (290.4, units.SECONDS, "4 min 50 s"), (720_000.0, units.SECONDS, "200 h"),
    ],
)  # fmt: skip
def test_brief_text(value: float, unit: Unit, text: str) -> None:
    assert spaced(brief(value, unit)) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (2684.9, "45 min"), (8054.8, "2 h 14 min"), (5.0, "5 s"), (890.4, "15 min"), (59.98, "1 min"), (3599.9, "1 h"),
        (7199.0, "2 h"),
    ],
)  # fmt: skip
def test_times_as_said_in_a_meeting(value: float, text: str) -> None:
    assert spaced(rough(value, units.SECONDS)) == text


@pytest.mark.parametrize(
    ("name", "symbol"),
    [
        ("write_s", "s"), ("required_write_bytes_per_s", "B/s"), ("checkpoint_bytes", "B"), ("bytes_per_node", "B"),
        ("waste_fraction", "1"), ("node_usd_per_h", "USD/h"), ("usd_per_month", "USD/month"), ("capacity_gib", "GiB"),
        ("throughput_mb_per_s_per_tib", "MB/s/TiB"), ("total_params", "params"), ("frozen_bytes_per_param", "B/param"),
    ],
)  # fmt: skip
def test_the_longest_ending_of_a_name_is_its_unit(name: str, symbol: str) -> None:
    unit = unit_of(name)
    assert unit is not None
    assert unit.symbol == symbol


def test_a_name_without_a_unit() -> None:
    assert unit_of("nodes") is None
