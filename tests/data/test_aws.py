"""What AWS says about file systems, instances and prices, and what it leaves open."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from ckptplanner.data import catalog
from ckptplanner.data.evidence import Fact, FileEvidence
from ckptplanner.data.readers import aws, aws_prices
from ckptplanner.data.readers.errors import ReaderError
from ckptplanner.data.readers.json_stream import members
from ckptplanner.data.readers.source import open_file
from ckptplanner.data.records import NodeType
from ckptplanner.engine.edits import edit
from ckptplanner.engine.scenario import NamedScenario
from ckptplanner.units import GB, GBPS, GIB, MIB

SAMPLES = Path(__file__).parent / "samples" / "aws"
FSX, EC2 = SAMPLES / "fsx-describe-file-systems.json", SAMPLES / "ec2-describe-instance-types-p6-b300.48xlarge.json"
FSX_PRICES = SAMPLES / "pricing-get-products-fsx-constructed.json"
EC2_PRICES = SAMPLES / "pricing-get-products-ec2-constructed.json"


def read(path: Path) -> FileEvidence:
    """By the one reader that knows it."""
    opened = open_file(path)
    (reader,) = [reader for reader in aws.READERS if reader.knows(opened.head)]
    found = reader.read(opened)
    assert found.reader == reader.id
    return found


def said(found: FileEvidence) -> str:
    """All sentences of what was found."""
    return " ".join(str(one) for one in (*found.warnings, *(note for fact in found.facts for note in fact.notes)))


def changed(tmp_path: Path, source: Path, change: Callable[[Any], object]) -> Path:
    """A copy of a sample with something else in it."""
    value = json.loads(source.read_text())
    change(value)
    path = tmp_path / source.name
    path.write_text(json.dumps(value))
    return path


# ---------------------------------------------------------------- file systems


def system(tmp_path: Path, lustre: dict[str, Any] | None = None, **fields: Any) -> FileEvidence:
    """The sample's file system with other values; None takes a key away."""

    def change(value: Any) -> None:
        one = value["FileSystems"][0]
        for target, values in ((one, fields), (one["LustreConfiguration"], lustre or {})):
            target.update(values)
            for key in [key for key, new in values.items() if new is None]:
                del target[key]

    return read(changed(tmp_path, FSX, change))


def only(found: FileEvidence) -> Fact:
    (fact,) = found.facts
    return fact


def test_the_file_system_of_the_sample() -> None:
    found = read(FSX)
    fact = only(found)
    assert (fact.path, fact.value, fact.shown) == ("storage.tier", "p2-500-12000", "Persistent 2, 500 MB/s/TiB, 12,000 GiB")
    assert str(fact.place) == "fsx-describe-file-systems.json, FileSystems[0]"
    assert "Metadata: AUTOMATIC, 12,000 IOPS." in said(found)
    assert found.warnings == ()
    assert edit(NamedScenario(name="x"), "storage.tier", fact.value).scenario.storage.tier == "p2-500-12000"


def test_nothing_that_names_its_owner_leaves_the_file() -> None:
    shown = repr(read(FSX)) + said(read(FSX))
    for secret in ("111122223333", "0123456789abcdef0", "arn:", "amazonaws.com", 'ckpt"', "abcdefgh", "vpc-", "eni-"):
        assert secret not in shown


def test_efa_that_is_absent_is_none(tmp_path: Path) -> None:
    assert only(system(tmp_path, {"EfaEnabled": None})).value == "p2-500-12000"
    assert only(system(tmp_path, {"EfaEnabled": True}, StorageCapacity=19200)).value == "p2-500-19200-efa"
    strange = system(tmp_path, {"EfaEnabled": "yes"})
    assert only(strange).value == "p2-500-12000"
    assert "neither true nor false" in said(strange)


def test_what_is_not_sold_is_said(tmp_path: Path) -> None:
    """botocore and cfn-lint accept 333 MB/s/TiB and 33,601 GiB, so the rules are ours."""
    unknown = system(tmp_path, {"PerUnitStorageThroughput": 333})
    assert only(unknown).path is None
    assert "333 MB/s/TiB is no throughput" in said(unknown)
    assert "no capacity that is sold" in said(system(tmp_path, StorageCapacity=33601))
    assert "multiples of 9,600" in said(system(tmp_path, {"EfaEnabled": True})).replace("\u00a0", " ")
    assert "no capacity" not in said(system(tmp_path, StorageCapacity=1200))
    bare = system(tmp_path, {"EfaEnabled": True, "MetadataConfiguration": None}, StorageCapacity=9600)
    assert "EFA without a metadata configuration" in said(bare)
    iops = {"Mode": "USER_PROVISIONED", "Iops": 5000}
    assert "5,000 IOPS are not sold" in said(system(tmp_path, {"MetadataConfiguration": iops}))
    paid = said(system(tmp_path, {"MetadataConfiguration": {**iops, "Iops": 12000}}))
    assert "billed apart" in paid
    assert "not sold" not in paid


def test_compression_and_states(tmp_path: Path) -> None:
    assert "LZ4" in said(system(tmp_path, {"DataCompressionType": "LZ4"}))
    gone = system(tmp_path, Lifecycle="DELETING")
    assert only(gone).path is None
    assert "DELETING" in said(gone)
    assert only(system(tmp_path, Lifecycle="UPDATING")).path == "storage.tier"


def test_other_kinds_are_storage_that_exists(tmp_path: Path) -> None:
    """SPEC: 1,000 GiB count as a TiB; Scratch 2 reads 200 and writes 100 MB/s/TiB; Intelligent-Tiering is bought by MB/s."""
    p1 = only(system(tmp_path, {"DeploymentType": "PERSISTENT_1", "PerUnitStorageThroughput": 200}))
    assert p1.path == "storage.custom"
    assert p1.value == {"write_bytes_per_s": 2.4e9, "read_bytes_per_s": 2.4e9, "usable_bytes": 12000 * GIB}
    custom = edit(NamedScenario(name="x"), "storage.custom", p1.value).scenario.storage.custom
    assert custom is not None
    assert custom.write_bytes_per_s == 2.4e9
    scratch = only(system(tmp_path, {"DeploymentType": "SCRATCH_2", "PerUnitStorageThroughput": None}))
    assert (scratch.value["write_bytes_per_s"], scratch.value["read_bytes_per_s"]) == (1.2e9, 2.4e9)
    lustre = {"PerUnitStorageThroughput": None, "ThroughputCapacity": 8000}
    tiering = only(system(tmp_path, lustre, StorageType="INTELLIGENT_TIERING", StorageCapacity=None))
    assert tiering.value == {"write_bytes_per_s": 8e9, "read_bytes_per_s": 8e9}
    odd = only(system(tmp_path, {"DeploymentType": "PERSISTENT_1", "PerUnitStorageThroughput": 77}))
    assert odd.path is None
    assert "measure it" in " ".join(map(str, odd.notes))


def test_several_file_systems_are_told_apart_by_their_place(tmp_path: Path) -> None:
    def change(value: Any) -> None:
        first = value["FileSystems"][0]
        value["FileSystems"] = [{"FileSystemType": "ONTAP"}, first, {**first, "StorageCapacity": 2400}]

    found = read(changed(tmp_path, FSX, change))
    assert [fact.value for fact in found.facts] == ["p2-500-12000", "p2-500-2400"]
    assert [str(fact.title).replace("\u00a0", " ") for fact in found.facts] == [
        "File system 1, 12,000 GiB",
        "File system 2, 2,400 GiB",
    ]
    assert [fact.place.where for fact in found.facts] == ["FileSystems[1]", "FileSystems[2]"]
    assert "1 file systems are not Lustre" in said(found)


def test_no_lustre_is_refused(tmp_path: Path) -> None:
    path = changed(tmp_path, FSX, lambda value: value["FileSystems"][0].update(FileSystemType="OPENZFS"))
    with pytest.raises(ReaderError, match="no Lustre file system"):
        read(path)


EVIL: list[Any] = [None, True, -1, 0, 1e308, 10**30, "", "\ud800", [], {}, [[]], {"a": 1}, float("nan"), float("inf")]


@pytest.mark.parametrize("source", [FSX, EC2, FSX_PRICES, EC2_PRICES], ids=lambda path: path.stem)
def test_whatever_stands_in_the_place_of_a_value(tmp_path: Path, source: Path) -> None:
    """A value or a clean refusal; and no number that is none."""

    def walk(value: Any) -> Iterator[tuple[Any, Any]]:
        for key, inner in list(
            value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else []
        ):
            yield value, key
            yield from walk(inner)

    whole, path = json.loads(source.read_text()), tmp_path / "evil.json"
    for number, (holder, key) in enumerate(list(walk(whole))):
        kept = holder[key]
        for evil in EVIL if number < 12 else (EVIL[number % len(EVIL)],):
            holder[key] = evil
            path.write_text(json.dumps(whole))
            opened = open_file(path)
            for reader in aws.READERS:
                if reader.knows(opened.head):
                    with suppress(ReaderError):
                        found = reader.read(opened)
                        assert not re.search(r"\b(nan|inf)\b", repr(found.facts))
        holder[key] = kept


# ---------------------------------------------------------------- instances


def node_of(found: FileEvidence) -> NodeType:
    value = only(found).value
    assert isinstance(value, NodeType)
    return value


def test_the_instance_of_the_sample_is_that_of_the_article() -> None:
    """ECOSYSTEM 1f: 4 TiB RAM, 8 x 3,800 GB, card 0 at 350 Gbps of 17 cards, 16 EFA."""
    found = read(EC2)
    node = node_of(found)
    assert (node.id, node.gpus, node.accelerator) == ("p6-b300.48xlarge", 8, "B300")
    assert node.host_ram_gib == 4096
    assert (node.nvme_count, node.nvme_bytes_each) == (8, 3800 * GB)
    assert (node.network_cards, node.efa_interfaces) == (17, 16)
    assert node.ena_bytes_per_s == 350 * GBPS
    assert node.network_bytes_per_s == 16 * 400 * GBPS, "card 0 has no EFA"
    assert node.hbm_bytes_per_gpu == 275_040 * MIB
    assert only(found).path == "workload.node"
    assert found.warnings == (), "the catalog has the same numbers"
    assert "350 Gbps of 17 cards with 6,750 Gbps" in said(found)
    named = edit(NamedScenario(name="x"), "workload.node", node)
    assert named.scenario.workload.node.host_ram_gib == 4096
    source = named.source_of("workload.node")
    assert source is not None
    assert EC2.name in source.text


def instance(tmp_path: Path, change: Callable[[Any], object]) -> FileEvidence:
    return read(changed(tmp_path, EC2, lambda value: change(value["InstanceTypes"][0])))


def test_prose_about_the_network_is_not_read(tmp_path: Path) -> None:
    found = instance(tmp_path, lambda one: one["NetworkInfo"].update(NetworkPerformance="9000 Gigabit"))
    assert node_of(found) == node_of(read(EC2))


def test_where_the_catalog_differs_it_is_said(tmp_path: Path) -> None:
    found = instance(tmp_path, lambda one: one["MemoryInfo"].update(SizeInMiB=2 * 1024 * 1024))
    assert node_of(found).host_ram_gib == 2048
    assert "the file has 2,048 GiB RAM, the catalog 4,096. The file's is taken." in said(found)


def test_baselines_that_do_not_add_up_to_what_the_instance_moves(tmp_path: Path) -> None:
    """AWS's data for p6-b200 (as moto 5.2.1 bundles it): 8 cards of 200 Gbps, where EFA carries 3,200 in all."""

    def change(one: Any) -> None:
        cards = one["NetworkInfo"]["NetworkCards"][1:9]
        one.update(InstanceType="p6-b200.48xlarge")
        one["NetworkInfo"].update(NetworkCards=[{**card, "BaselineBandwidthInGbps": 200.0} for card in cards])
        one["NetworkInfo"]["EfaInfo"]["MaximumEfaInterfaces"] = 8

    found = instance(tmp_path, change)
    assert node_of(found).network_bytes_per_s == 3200 * GBPS
    assert "the file has 1,600 Gbps network, the catalog 3,200. The catalog's is kept" in said(found)


def test_an_instance_that_the_catalog_does_not_know(tmp_path: Path) -> None:
    found = instance(tmp_path, lambda one: one.update(InstanceType="p9.48xlarge"))
    node = node_of(found)
    assert (node.id, node.gpus, node.hbm_rate, node.host_link) == ("p9.48xlarge", 8, "", "")
    assert node.network_bytes_per_s == 6400 * GBPS
    assert found.warnings == ()


def test_drives_that_differ_and_sums_that_do_not_fit(tmp_path: Path) -> None:
    def mixed(one: Any) -> None:
        one["InstanceType"] = "p9.48xlarge"
        one["InstanceStorageInfo"]["Disks"].append({"SizeInGB": 900, "Count": 1, "Type": "ssd"})

    found = instance(tmp_path, mixed)
    assert node_of(found).nvme_count is None
    assert "not all alike" in said(found)
    wrong = instance(tmp_path, lambda one: one["InstanceStorageInfo"].update(TotalSizeInGB=1))
    assert "do not add up" in said(wrong)
    none = instance(tmp_path, lambda one: one.update(InstanceStorageSupported=False))
    assert node_of(none).nvme_count == 0


def test_instances_without_accelerators_are_counted(tmp_path: Path) -> None:
    plain = {"InstanceType": "m5.large", "MemoryInfo": {"SizeInMiB": 8192}}
    path = changed(tmp_path, EC2, lambda value: value["InstanceTypes"].insert(0, plain))
    found = read(path)
    assert only(found).place.where == "InstanceTypes[1]"
    assert "1 instance types without accelerators" in said(found)
    with pytest.raises(ReaderError, match="no instance type with GPUs"):
        read(changed(tmp_path, EC2, lambda value: value["InstanceTypes"].__setitem__(0, plain)))


# ---------------------------------------------------------------- prices


def rows_of(path: Path) -> list[Any]:
    return [json.loads(row) for row in json.loads(path.read_text())["PriceList"]]


def price_list(tmp_path: Path, rows: list[Any]) -> Path:
    path = tmp_path / "prices.json"
    path.write_text(json.dumps({"FormatVersion": "aws_v1", "PriceList": [json.dumps(row) for row in rows]}))
    return path


def term_of(row: Any) -> Any:
    """The one offer of a row."""
    return next(iter(row["terms"]["OnDemand"].values()))


def dimension_of(row: Any) -> Any:
    return next(iter(term_of(row)["priceDimensions"].values()))


def test_storage_prices_of_the_sample_are_the_catalogs() -> None:
    found = read(FSX_PRICES)
    assert {fact.path: fact.value for fact in found.facts} == {
        "prices.storage_usd_per_gib_month.p2_125": 0.145,
        "prices.storage_usd_per_gib_month.p2_250": 0.21,
        "prices.storage_usd_per_gib_month.p2_500": 0.34,
        "prices.storage_usd_per_gib_month.p2_1000": 0.6,
    }
    for fact in found.facts:
        row = catalog.storage_price("us-west-2", float(str(fact.path).rpartition("_")[2]))
        assert row is not None
        assert row.usd_per_gib_month == fact.value
        assert fact.only_for == (("prices.region", "us-west-2"),)
        edit(NamedScenario(name="x"), str(fact.path), fact.value)
    assert found.date == "2026-11-01"
    assert "usagetype USW2-Storage.SSD.500" in said(found), "the matched row is shown"
    assert "FSx counts its capacity in GiB" in said(found)


def test_the_node_price_of_the_sample() -> None:
    fact = only(read(EC2_PRICES))
    assert (fact.path, fact.value) == ("prices.node_usd_per_h", 142.416)
    assert fact.only_for == (("workload.node.id", "p6-b300.48xlarge"), ("prices.region", "us-west-2"))
    assert "Region: us-west-2." in map(str, fact.notes)


def test_rows_that_are_another_price_do_not_match(tmp_path: Path) -> None:
    for name, value in {
        "operatingSystem": "Windows", "tenancy": "Dedicated", "preInstalledSw": "SQL Std", "capacitystatus": "Unused",
        "usagetype": "USW2-Reservation:p6-b300.48xlarge", "licenseModel": "Bring your own license",
    }.items():  # fmt: skip
        (row,) = rows_of(EC2_PRICES)
        row["product"]["attributes"][name] = value
        with pytest.raises(ReaderError, match="no row is the price"):
            read(price_list(tmp_path, [row]))
    for name, value in {
        "fileSystemType": "Windows", "storageType": "HDD", "throughputCapacity": "200", "usagetype": "USW2-BackupUsage",
        "operation": "CreateFileSystem:ONTAP", "servicecode": "AmazonS3",
    }.items():  # fmt: skip
        row = rows_of(FSX_PRICES)[2]
        row["product"]["attributes"][name] = value
        with pytest.raises(ReaderError, match="no row is the price"):
            read(price_list(tmp_path, [row]))


def test_signs_that_are_missing_but_not_wrong(tmp_path: Path) -> None:
    row = rows_of(FSX_PRICES)[2]
    del row["product"]["attributes"]["throughputCapacity"]
    row["product"]["attributes"]["deploymentOption"] = "Persistent"
    assert only(read(price_list(tmp_path, [row]))).value == 0.34


def test_several_matches_are_none(tmp_path: Path) -> None:
    first, second = rows_of(FSX_PRICES)[2], rows_of(FSX_PRICES)[2]
    second["product"]["sku"] = "ANOTHER"
    dimension_of(second)["pricePerUnit"]["USD"] = "0.3500000000"
    found = read(price_list(tmp_path, [first, second]))
    assert found.facts == ()
    assert "2 rows match (FSXSKU0500CONSTR, ANOTHER), so none was taken" in said(found)
    second["product"]["attributes"]["regionCode"] = "us-east-1"
    assert [fact.only_for[0][1] for fact in read(price_list(tmp_path, [first, second])).facts] == ["us-east-1", "us-west-2"]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"pricePerUnit": {"CNY": "2.5"}}, "priced in CNY, not in USD"),
        ({"beginRange": "51200"}, "priced in tiers"),
        ({"endRange": "51200"}, "priced in tiers"),
        ({"unit": "MiBps-Mo"}, "priced by MiBps-Mo, where GB-Mo is expected"),
        ({"pricePerUnit": {"USD": "NaN"}}, "its price is no number"),
    ],
)
def test_prices_that_no_field_takes(tmp_path: Path, change: dict[str, Any], words: str) -> None:
    row = rows_of(FSX_PRICES)[2]
    dimension_of(row).update(change)
    found = read(price_list(tmp_path, [row]))
    assert found.facts == ()
    assert words in said(found)


def test_a_row_at_nothing_is_no_second_match(tmp_path: Path) -> None:
    (row,), (free,) = rows_of(EC2_PRICES), rows_of(EC2_PRICES)
    free["product"]["sku"] = "FREE"
    dimension_of(free)["pricePerUnit"]["USD"] = "0.0000000000"
    assert only(read(price_list(tmp_path, [row, free]))).value == 142.416


def test_entries_that_are_no_json(tmp_path: Path) -> None:
    path = tmp_path / "prices.json"
    rows = json.loads(EC2_PRICES.read_text())["PriceList"]
    path.write_text(json.dumps({"PriceList": ["{", 7, json.loads(rows[0])]}))
    found = read(path)
    assert only(found).value == 142.416
    assert "2 entries of PriceList" in said(found)


def offer_file(tmp_path: Path, *, terms_first: bool = False, padding: int = 0) -> Path:
    """A bulk offer file from the rows of the sample, with much between them that nobody wants."""
    products: dict[str, Any] = {}
    terms: dict[str, Any] = {"Reserved": {f"R{n}": {"x": ['{"[', n] * 20} for n in range(padding)}, "OnDemand": {}}
    for row in rows_of(FSX_PRICES):
        sku = row["product"]["sku"]
        products[sku] = row["product"]
        terms["OnDemand"][sku] = row["terms"]["OnDemand"]
    products |= {f"P{n}": {"sku": f"P{n}", "attributes": {"servicecode": "AmazonFSx", "at": "é" * 300}} for n in range(padding)}
    parts = [f'"products" : {json.dumps(products, ensure_ascii=False)}', f'"terms" : {json.dumps(terms)}']
    head = '"formatVersion" : "v1.0", "offerCode" : "AmazonFSx", "publicationDate" : "2026-11-02T00:00:00Z"'
    path = tmp_path / "index.json"
    path.write_text("{" + ",\n".join([head, *(reversed(parts) if terms_first else parts)]) + "}", encoding="utf-8")
    return path


@pytest.mark.parametrize("terms_first", [False, True])
def test_a_bulk_offer_file_has_the_same_prices(tmp_path: Path, terms_first: bool) -> None:
    path = offer_file(tmp_path, terms_first=terms_first, padding=5000)
    assert path.stat().st_size > 3_000_000, "several pieces"
    found = read(path)
    assert found.reader == "aws-offer-file"
    assert {fact.path: fact.value for fact in found.facts} == {fact.path: fact.value for fact in read(FSX_PRICES).facts}
    assert found.date == "2026-11-02"
    assert found.facts[0].place.where == "products.FSXSKU0125CONSTR"


def test_a_bulk_file_can_be_stopped_and_says_how_far_it_is(tmp_path: Path) -> None:
    path, told = offer_file(tmp_path, padding=5000), list[float]()
    aws_prices.READERS[1].read(open_file(path, progress=told.append))
    assert told == sorted(told)
    assert len(told) > 3
    assert 0.0 < told[0] < told[-1] <= 1.0

    class StoppedError(Exception):
        pass

    def stop(_: float) -> None:
        raise StoppedError

    with pytest.raises(StoppedError):
        aws_prices.READERS[1].read(open_file(path, progress=stop))


def test_a_bulk_file_that_is_cut_or_broken_is_refused(tmp_path: Path) -> None:
    raw = offer_file(tmp_path, padding=200).read_bytes()
    for bad in (
        raw[: len(raw) // 2],
        raw[: raw.index(b'"terms"')],
        raw.replace(b'"terms" :', b'"terms"'),
        raw.replace(b"{", b"[", 2),
    ):
        path = tmp_path / "bad.json"
        path.write_bytes(bad)
        with pytest.raises(ReaderError, match=r"bad\.json"):
            aws_prices.READERS[1].read(open_file(path))


def test_walking_through_json_reads_no_more_than_it_must(tmp_path: Path) -> None:
    path = tmp_path / "walk.json"
    path.write_text('\ufeff{"a": {"x": [1, {"y": "}"}], "deep": {"k": 12, "l": "é\\"{"}}, "v": 3, "b": {"z": {}}} rubbish')
    opened = open_file(path)
    assert list(members(opened, [("a", "deep"), ("b",)])) == [
        (("a", "deep"), "k", 12),
        (("a", "deep"), "l", 'é"{'),
        ((), "v", 3),
        (("b",), "z", {}),
    ]
    assert list(members(opened, [("a", "deep")])) == [(("a", "deep"), "k", 12), (("a", "deep"), "l", 'é"{')]


def test_no_other_file_is_taken_for_one_of_these() -> None:
    for path in sorted((Path(__file__).parent / "samples").rglob("*")):
        if path.is_file():
            known = [reader.id for reader in aws.READERS if reader.knows(open_file(path).head)]
            assert len(known) == (1 if path.parent == SAMPLES and not path.name.startswith("cloudwatch") else 0), path
