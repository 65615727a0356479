"""What AWS asks for storage and nodes: Price List output (`aws pricing get-products`) and the bulk offer file of a service.

    get-products     {"FormatVersion", "PriceList": [...]}                                each row is JSON in a string
    offer file       {"offerCode", "products": {sku: ...}, "terms": {"OnDemand": {sku: ...}}}     hundreds of MB: streamed

A price is taken where exactly one row of a region carries all its signs, on demand, in USD and in one tier; the row that was
matched stands in the notes. Envelope as in the documented example of the AWS CLI; the signs of FSx rows are second hand
(one third-party test), read 2026-11-29. Matching by deploymentOption would be wrong: sources differ on its value.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from ckptplanner.data import catalog
from ckptplanner.data.evidence import Fact, FileEvidence, Place
from ckptplanner.data.readers.json_stream import members
from ckptplanner.data.readers.json_values import as_list, as_object, as_text, at
from ckptplanner.data.readers.source import Head, Opened, Reader
from ckptplanner.text import Text, text
from ckptplanner.units import USD_PER_GIB_MONTH, USD_PER_H, Unit

MOST_ROWS = 20_000  # that carry the signs of a price
MOST_NODES = 20  # kinds of node in one region; of more, only those that the catalog knows
MOST_WARNINGS = 50
_TITLE_LIST = text("AWS prices (aws pricing get-products)")
_TITLE_OFFER = text("AWS prices (bulk offer file)")
_PRODUCTS, _TERMS = ("products",), ("terms", "OnDemand")
_LIST = re.compile(r'"PriceList"\s*:\s*\[')
_SSD = re.compile(r"(?:^|-)Storage\.SSD\.(\d{2,4})$")
_TYPE = re.compile(r"[a-z][a-z0-9-]{0,20}\.[a-z0-9-]{1,20}")
_DIGITS = re.compile(r"\d{1,7}(\.\d{1,12})?")


@dataclass(frozen=True, slots=True)
class _Row:
    """A product that carries all the signs of one price."""

    what: str  # "fsx" or "ec2"
    id: str  # throughput, or the kind of node
    region: str
    sku: str
    said: str  # the signs, for the note
    unit: str  # of its price
    place: Place


@dataclass
class _Prices:
    """The rows that were matched, and their prices once the terms have been read."""

    opened: Opened
    rows: dict[str, _Row] = field(default_factory=dict)  # by sku
    usd: dict[str, list[float]] = field(default_factory=dict)  # by sku
    dates: list[str] = field(default_factory=list)
    warnings: list[Text] = field(default_factory=list)

    def warn(self, words: Text) -> None:
        """One more sentence, up to a cap."""
        if len(self.warnings) < MOST_WARNINGS and words not in self.warnings:
            self.warnings.append(words)

    def add_product(self, product: dict[str, Any], service: str, sku: str, place: Place) -> None:
        """Keep a product that carries the signs of a price."""
        row = _matched(product, service, sku, place)
        if row is None:
            return
        if len(self.rows) >= MOST_ROWS:
            self.warn(text("Only the first {count} rows that match were read.", count=f"{MOST_ROWS:,}"))
        elif sku in self.rows:
            self.warn(text("The product {sku} stands there twice; the first was read.", sku=sku))
        else:
            self.rows[sku] = row

    def add_terms(self, sku: str, offers: Iterable[Any]) -> None:
        """The prices on demand of a product that was kept."""
        row = self.rows.get(sku)
        if row is None:
            return
        for offer in offers:
            self.dates.append(as_text(at(offer, "effectiveDate"), 10))
            self.usd.setdefault(sku, []).extend(self._of_offer(row, offer))

    def _of_offer(self, row: _Row, offer: Any) -> Iterator[float]:
        dimensions = list(as_object(at(offer, "priceDimensions")).values())
        if len(dimensions) > 1 or any(_is_tiered(one) for one in dimensions):
            self.warn(
                text("{what}, {region}: priced in tiers, which no field takes; left out.", what=row.id, region=row.region)
            )
            return
        for one in dimensions:
            prices = as_object(at(one, "pricePerUnit"))
            usd, unit = as_text(prices.get("USD"), 30), as_text(at(one, "unit"), 30)
            if "USD" not in prices:
                other = as_text(next(iter(prices), "?"), 10)
                self.warn(
                    text(
                        "{what}, {region}: priced in {other}, not in USD; left out.",
                        what=row.id,
                        region=row.region,
                        other=other,
                    )
                )
            elif unit != row.unit:
                self.warn(
                    text("{what}, {region}: priced by {unit}, where {expected} is expected; left out.",
                         what=row.id, region=row.region, unit=unit or "?", expected=row.unit)
                )  # fmt: skip
            elif not _DIGITS.fullmatch(usd):
                self.warn(text("{what}, {region}: its price is no number; left out.", what=row.id, region=row.region))
            elif float(usd) > 0.0:  # rows at nothing belong to reservations
                yield float(usd)

    def facts(self) -> Iterator[Fact]:
        """One for each price that exactly one row gives."""
        groups: dict[tuple[str, str, str], list[tuple[_Row, float]]] = {}
        for sku, row in self.rows.items():
            for usd in self.usd.get(sku, ()):
                groups.setdefault((row.what, row.region, row.id), []).append((row, usd))
        nodes = {key for key in groups if key[0] == "ec2"}
        known = {node.id for node in catalog.nodes()}
        left_out = {key for key in nodes if key[2] not in known} if len(nodes) > MOST_NODES else set()
        if left_out:
            self.warn(
                text("Prices of {count} kinds of node that the catalog does not know were left out.", count=len(left_out))
            )
        for key, found in sorted(groups.items(), key=lambda group: (group[0][:2], len(group[0][2]), group[0][2])):
            if key in left_out:
                continue
            if len(found) > 1:
                self.warn(
                    text("{what}, {region}: {count} rows match ({rows}), so none was taken.", what=key[2],
                         region=key[1] or "?", count=len(found), rows=", ".join(row.sku for row, _ in found[:4]))
                )  # fmt: skip
                continue
            yield _fact(*found[0])


def _is_tiered(dimension: Any) -> bool:
    begin, end = at(dimension, "beginRange"), at(dimension, "endRange")
    return begin not in (None, "", "0", 0) or end not in (None, "", "Inf", "inf")


def _fact(row: _Row, usd: float) -> Fact:
    """The price as a field takes it, with the row that it is from."""
    region = text("Region: {region}.", region=row.region or "?")
    notes = [text("Matched: {row}.", row=row.said), region]
    only_for = [("prices.region", row.region)] if row.region else []
    unit: Unit = USD_PER_H
    if row.what == "ec2":
        path, title = "prices.node_usd_per_h", text("Price of a node, {name}", name=row.id)
        only_for.insert(0, ("workload.node.id", row.id))
    else:
        path, unit = f"prices.storage_usd_per_gib_month.p2_{row.id}", USD_PER_GIB_MONTH
        title = text("Price of Persistent 2, {rate} MB/s/TiB", rate=row.id)
        notes.append(text("Priced by GB-Mo: FSx counts its capacity in GiB, so this is taken as the price of a GiB a month."))
    return Fact(path, title, usd, row.place, unit=unit, notes=tuple(notes), only_for=tuple(only_for))


# ---------------------------------------------------------------- which product is which price


def _matched(product: dict[str, Any], service: str, sku: str, place: Place) -> _Row | None:
    attributes = {str(key)[:60]: as_text(value, 80) for key, value in as_object(product.get("attributes")).items()}
    family = as_text(product.get("productFamily"), 60)
    service = attributes.get("servicecode") or service
    if service == "AmazonFSx":
        return _storage(attributes, family, sku, place)
    return _node(attributes, family, sku, place) if service == "AmazonEC2" else None


def _said(attributes: dict[str, str], sku: str, *names: str) -> str:
    return ", ".join([*(f"{name} {attributes[name]}" for name in names if attributes.get(name)), f"SKU {sku}"])


def _storage(attributes: dict[str, str], family: str, sku: str, place: Place) -> _Row | None:
    """SSD storage of Lustre at a throughput of Persistent 2; 50, 100 and 200 are Persistent 1."""
    usage = _SSD.search(attributes.get("usagetype", ""))
    rates = {rate for rate in (attributes.get("throughputCapacity"), usage and usage[1]) if rate and rate.isdecimal()}
    signs = (
        attributes.get("fileSystemType") == "Lustre",
        attributes.get("storageType", "SSD" if usage else "") == "SSD",
        family in ("", "Storage"),
        "Lustre" in attributes.get("operation", "Lustre"),
        "Backup" not in attributes.get("usagetype", ""),
        len(rates) == 1,
    )
    known = {f"{tier.throughput_mb_per_s_per_tib:.0f}" for tier in catalog.fsx_tiers()}
    if not all(signs) or not rates <= known:
        return None
    said = _said(attributes, sku, "fileSystemType", "storageType", "throughputCapacity", "usagetype", "operation")
    return _Row("fsx", rates.pop(), attributes.get("regionCode", ""), sku, f"{said}, GB-Mo", "GB-Mo", place)


def _node(attributes: dict[str, str], family: str, sku: str, place: Place) -> _Row | None:
    """Linux on shared hardware, nothing installed, in use and not reserved."""
    name = attributes.get("instanceType", "")
    signs = (
        _TYPE.fullmatch(name),
        family.startswith("Compute Instance") or not family,
        attributes.get("operatingSystem") == "Linux",
        attributes.get("tenancy") == "Shared",
        attributes.get("preInstalledSw") == "NA",
        attributes.get("capacitystatus") == "Used",
        attributes.get("marketoption", "OnDemand") == "OnDemand",
        attributes.get("licenseModel", "No License required") == "No License required",
        "BoxUsage" in attributes.get("usagetype", "BoxUsage"),
    )
    if not all(signs):
        return None
    said = _said(attributes, sku, "instanceType", "operatingSystem", "tenancy", "preInstalledSw", "capacitystatus", "usagetype")
    return _Row("ec2", name, attributes.get("regionCode", ""), sku, f"{said}, Hrs", "Hrs", place)


# ---------------------------------------------------------------- the two files


def _knows_list(head: Head) -> bool:
    return head.is_json and _LIST.search(head.text) is not None


def _read_list(opened: Opened) -> FileEvidence:
    prices, broken, date = _Prices(opened), 0, ""
    for index, entry in enumerate(as_list(at(opened.json(), "PriceList"))):
        row = _unpacked(entry)
        if row is None:
            broken += 1
            continue
        product, place = as_object(row.get("product")), opened.place(f"PriceList[{index}]")
        sku = as_text(product.get("sku"), 40) or f"row {index}"
        date = max(date, as_text(row.get("publicationDate"), 10))
        prices.add_product(product, as_text(row.get("serviceCode"), 40), sku, place)
        prices.add_terms(sku, as_object(at(row, "terms", "OnDemand")).values())
    if broken:
        prices.warn(text("{count} entries of PriceList are no JSON objects and were left out.", count=f"{broken:,}"))
    return _evidence(prices, "aws-price-list", _TITLE_LIST, date)


def _unpacked(entry: Any) -> dict[str, Any] | None:
    """An entry of PriceList: a string that holds JSON, or already what it holds."""
    if isinstance(entry, str):
        try:
            entry = json.loads(entry, parse_constant=lambda _: None)
        except (ValueError, RecursionError):
            return None
    return entry if isinstance(entry, dict) else None


def _knows_offer(head: Head) -> bool:
    has_part = head.has('"products"') or head.has('"terms"')
    return head.is_json and head.has('"formatVersion"', '"offerCode"') and has_part and not _knows_list(head)


def _read_offer(opened: Opened) -> FileEvidence:
    """The products first, then the terms of those that were kept; a second pass where the terms come first."""
    prices, head = _Prices(opened), dict[str, str]()
    has_products = is_turned = False
    for path, key, value in members(opened, (_PRODUCTS, _TERMS)):
        if not path:
            head[key] = as_text(value, 40)
        elif path == _PRODUCTS:
            has_products = True
            prices.add_product(
                as_object(value), head.get("offerCode", ""), as_text(key, 40), opened.place(f"products.{as_text(key, 40)}")
            )
        else:
            is_turned = is_turned or not has_products
            prices.add_terms(as_text(key, 40), as_object(value).values())
    if is_turned:
        prices.usd.clear()
        for _, key, value in members(opened, (_TERMS,)):
            prices.add_terms(as_text(key, 40), as_object(value).values())
    return _evidence(prices, "aws-offer-file", _TITLE_OFFER, head.get("publicationDate", "")[:10])


def _evidence(prices: _Prices, reader: str, title: Text, date: str) -> FileEvidence:
    facts = tuple(prices.facts())
    if not facts and not prices.warnings:
        raise prices.opened.refuse(
            "no row is the price of a node (EC2: Linux, Shared, NA, Used, Hrs) or of FSx for Lustre Persistent 2 on SSD "
            "(throughputCapacity 125, 250, 500 or 1000, GB-Mo)"
        )
    day = date if re.fullmatch(r"\d{4}-\d\d-\d\d", date) else max(prices.dates, default="")
    return FileEvidence(
        reader=reader, title=title, file=prices.opened.name, facts=facts, warnings=tuple(prices.warnings),
        date=day if re.fullmatch(r"\d{4}-\d\d-\d\d", day) else prices.opened.date,
    )  # fmt: skip


READERS: tuple[Reader, ...] = (
    Reader("aws-price-list", _TITLE_LIST, _knows_list, _read_list),
    Reader("aws-offer-file", _TITLE_OFFER, _knows_offer, _read_offer),
)
