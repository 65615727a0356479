"""FSx for Lustre and its link to S3: what is written is what AWS sells, and the real validators take it."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from botocore.loaders import Loader
from botocore.model import ServiceModel
from botocore.validate import ParamValidator
from cfnlint.api import lint
from cfnlint.config import ManualArgs
from hypothesis import assume, given, settings

from ckptplanner.data import catalog
from ckptplanner.engine.evaluate import plan_of
from ckptplanner.engine.operations import SaveRow
from ckptplanner.engine.scenario import CustomStorage, NamedScenario, Scenario, Source
from ckptplanner.engine.settings import fsx_files, s3_dra
from ckptplanner.engine.settings.doing import told
from ckptplanner.engine.settings.file_system import cautions, file_system_of, mount_of
from ckptplanner.engine.settings.target import Names, Settings, Written, settings_of
from tests.engine.build import STEADY, scenario
from tests.engine.settings_cases import HOSTILE, hostile_names, scenarios, settings_for, settings_or_none

CLI, CLOUDFORMATION, TERRAFORM = fsx_files.TARGETS
(DRA,) = s3_dra.TARGETS
ALL = (CLI, CLOUDFORMATION, TERRAFORM, DRA)
README = f"{fsx_files.CLI_NAME}.README.txt"
SYNC = {"storage.mode": "sync", "storage.write_s": 60.0}

# the sizes on sale, written down once more: throughput -> step with and without EFA
STEPS = {125: 38_400, 250: 19_200, 500: 9_600, 1000: 4_800}


def is_sold(throughput: int, capacity: int, *, efa: bool) -> bool:
    step = STEPS.get(throughput)
    if step is None:
        return False
    return capacity >= step and capacity % step == 0 if efa else capacity == 1200 or (capacity >= 2400 and capacity % 2400 == 0)


def content(written: Written, name: str) -> Any:
    return json.loads(next(file.content for file in written.files if file.name == name))


def words(written: Written, name: str) -> str:
    return next(file.content for file in written.files if file.name == name)


# ---------------------------------------------------------------- botocore

MODEL = ServiceModel(Loader().load_service_model("fsx", "service-2"))


def complaints(operation: str, value: dict[str, Any]) -> str:
    shape = MODEL.operation_model(operation).input_shape
    return str(ParamValidator().validate(value, shape).generate_report())


PLANS: dict[str, Scenario] = {
    "5 min": Scenario(),
    "60 s, EFA": scenario(SYNC),
    "20 min": scenario({"storage.write_s": 1200.0}),
    "6 bytes": scenario({"workload.layout": "bf16-6"}),
    "one node": scenario({"workload.nodes": 1, "workload.total_params": 7e9}),
    "huge": scenario({"workload.nodes": 16_384, "workload.total_params": 1e13}),
    **{tier.id: scenario({"storage.tier": f"{tier.id.removesuffix('-efa')}-{tier.step_gib:.0f}{'-efa' if tier.efa else ''}"})
       for tier in catalog.fsx_tiers()},
    "1,200": scenario({"storage.tier": "p2-1000-1200", "workload.total_params": 1e9}),
}  # fmt: skip


@pytest.mark.parametrize("name", PLANS)
def test_requests_are_accepted_by_botocore(name: str) -> None:
    made = settings_for(PLANS[name])
    assert complaints("CreateFileSystem", content(CLI.write(made), fsx_files.CLI_NAME)) == ""
    assert complaints("CreateDataRepositoryAssociation", content(DRA.write(made), s3_dra.NAME)) == ""


def test_botocore_does_look() -> None:
    request = content(CLI.write(settings_for()), fsx_files.CLI_NAME)
    assert "Unknown parameter" in complaints("CreateFileSystem", request | {"StorageSize": 1})
    assert "Invalid type" in complaints("CreateFileSystem", request | {"StorageCapacity": "12000"})
    request["LustreConfiguration"]["PerUnitStorageThroughput"] = 333
    assert complaints("CreateFileSystem", request | {"StorageCapacity": 33_601}) == "", "sizes are ours to know"


# ---------------------------------------------------------------- golden


def sample(capacity: int, lustre: dict[str, Any]) -> dict[str, Any]:
    """The validated requests for 500 x 12,000 and EFA 1000 x 33,600, without their token and tags."""
    return {
        "FileSystemType": "LUSTRE", "StorageType": "SSD", "SubnetIds": ["subnet-0123456789abcdef0"],
        "SecurityGroupIds": ["sg-0123456789abcdef0"], "FileSystemTypeVersion": "2.15", "StorageCapacity": capacity,
        "LustreConfiguration": {"DeploymentType": "PERSISTENT_2", "DataCompressionType": "NONE", **lustre},
    }  # fmt: skip


def without(request: dict[str, Any], *keys: str) -> dict[str, Any]:
    return {key: value for key, value in request.items() if key not in keys}


def test_the_five_minute_plan_is_the_sample() -> None:
    request = content(CLI.write(settings_for()), fsx_files.CLI_NAME)
    lustre = {"PerUnitStorageThroughput": 500, "MetadataConfiguration": {"Mode": "AUTOMATIC"}}
    assert without(request, "ClientRequestToken", "Tags") == sample(12_000, lustre)


def test_the_sixty_second_plan_is_the_sample_with_automatic_metadata() -> None:
    """The sample has 12,000 IOPS USER_PROVISIONED: what AUTOMATIC gives at 33,600 GiB, and follows when it grows."""
    made = settings_for(scenario(SYNC))
    request = content(CLI.write(made), fsx_files.CLI_NAME)
    lustre = {"PerUnitStorageThroughput": 1000, "EfaEnabled": True, "MetadataConfiguration": {"Mode": "AUTOMATIC"}}
    assert without(request, "ClientRequestToken", "Tags") == sample(33_600, lustre)
    found = file_system_of(made.plan)
    assert found is not None
    assert found.metadata_iops == 12_000


def test_metadata_iops_end_at_what_the_service_sells() -> None:
    """1.56 million GiB once said 780,000 IOPS, and more when it grows."""
    huge = {"workload.total_params": 30e12}
    settings = settings_for(scenario(huge))
    written = next(one for one in fsx_files.TARGETS if one.id == "fsx-cli").write(settings)
    text = "\n".join(file.content for file in written.files)
    assert "192,000 IOPS at this capacity, the most there is" in text
    assert "780,000" not in text
    slow = settings_for(scenario(huge, {"workload.nodes": 16_384, "workload.gpus_per_node": 72, "storage.write_s": 20.0}))
    found = file_system_of(slow.plan)
    assert found is not None
    (message,) = [one.message for one in cautions(slow, found) if one.path == "storage.latency_s"]
    assert "at 192,000 metadata IOPS, the most there is" in message
    assert "USER_PROVISIONED" not in message


@pytest.mark.parametrize(
    ("capacity", "iops"),
    [
        (1200, 1500),
        (2400, 3000),
        (4800, 6000),
        (9600, 6000),
        (12_000, 12_000),
        (45_600, 12_000),
        (48_000, 24_000),
        (72_000, 36_000),
    ],
)
def test_automatic_metadata(capacity: int, iops: int) -> None:
    found = file_system_of(settings_for(scenario({"storage.tier": f"p2-1000-{capacity}"})).plan)
    assert found is not None
    assert found.metadata_iops == iops


def test_the_template_has_the_values_of_the_request() -> None:
    for made in (settings_for(), settings_for(scenario(SYNC))):
        request = content(CLI.write(made), fsx_files.CLI_NAME)
        resource = content(CLOUDFORMATION.write(made), fsx_files.CLOUDFORMATION_NAME)["Resources"]["CheckpointFs"]
        assert (resource["DeletionPolicy"], resource["UpdateReplacePolicy"]) == ("Retain", "Retain")
        keys = ("SubnetIds", "SecurityGroupIds", "ClientRequestToken")
        assert without(resource["Properties"], *keys) == without(request, *keys)
        assert not {"LogConfiguration", "RootSquashConfiguration"} & set(resource["Properties"]["LustreConfiguration"])
        remarks = resource["Metadata"]["ckptplanner"]
        assert set(resource["Properties"]["LustreConfiguration"]) <= set(remarks)
        assert {"StorageCapacity", "FileSystemTypeVersion", "Tags"} <= set(remarks)


# ---------------------------------------------------------------- cfn-lint


def lint_of(template: str) -> list[str]:
    return [f"{match.rule.id} {match.message}" for match in lint(template, config=ManualArgs(regions=["us-west-2"]))]


@pytest.mark.parametrize("name", ["5 min", "60 s, EFA", "one node", "p2-125-efa", "1,200"])
def test_templates_pass_cfn_lint(name: str) -> None:
    given_names = Names(subnet_id="subnet-0aaaaaaaaaaaaaaaa", security_group_id="sg-0aaaaaaaaaaaaaaaa")
    for names in (Names(), given_names, hostile_names()):
        made = settings_for(PLANS[name], name=HOSTILE, names=names)
        assert lint_of(words(CLOUDFORMATION.write(made), fsx_files.CLOUDFORMATION_NAME)) == []


def test_cfn_lint_does_look() -> None:
    template = content(CLOUDFORMATION.write(settings_for()), fsx_files.CLOUDFORMATION_NAME)
    lustre = template["Resources"]["CheckpointFs"]["Properties"]["LustreConfiguration"]
    lustre["RootSquashConfiguration"] = {"RootSquash": "1:1"}
    assert any("E3002" in line for line in lint_of(json.dumps(template)))
    del lustre["RootSquashConfiguration"]
    lustre["PerUnitStorageThroughput"] = 333
    assert lint_of(json.dumps(template)) == [], "sizes and throughputs are ours to know"


def test_ids_that_the_user_has_given_become_defaults() -> None:
    names = Names(subnet_id="subnet-0aaaaaaaaaaaaaaaa", security_group_id="nonsense")
    made = settings_for(names=names)
    parameters = content(CLOUDFORMATION.write(made), fsx_files.CLOUDFORMATION_NAME)["Parameters"]
    assert parameters["SubnetId"]["Default"] == "subnet-0aaaaaaaaaaaaaaaa"
    assert "Default" not in parameters["SecurityGroupId"]
    variables = content(TERRAFORM.write(made), fsx_files.TERRAFORM_NAME)["variable"]
    assert variables["checkpoint_subnet_id"]["default"] == "subnet-0aaaaaaaaaaaaaaaa"
    assert any("nonsense is no id of a security group" in one.message for one in CLI.write(made).findings)


# ---------------------------------------------------------------- Terraform

# aws_fsx_lustre_file_system: what can be set, with its JSON type. hashicorp/aws @06ee53d9 internal/service/fsx/
# lustre_file_system.go; efa_enabled and metadata_configuration {mode, iops} are newer than that commit
ARGUMENTS: dict[str, type] = {
    "subnet_ids": list, "security_group_ids": list, "storage_capacity": int, "storage_type": str, "deployment_type": str,
    "per_unit_storage_throughput": int, "file_system_type_version": str, "data_compression_type": str, "tags": dict,
    "efa_enabled": bool, "metadata_configuration": list,
}  # fmt: skip
REQUIRED = {"subnet_ids"}  # by the schema
NEEDED = {"deployment_type", "storage_capacity", "per_unit_storage_throughput", "metadata_configuration"}  # by the service


@pytest.mark.parametrize("name", PLANS)
def test_terraform_has_all_arguments(name: str) -> None:
    module = content(TERRAFORM.write(settings_for(PLANS[name])), fsx_files.TERRAFORM_NAME)
    (resource,) = module["resource"]["aws_fsx_lustre_file_system"].values()
    remarks, lifecycle = resource.pop("//"), resource.pop("lifecycle")
    assert lifecycle == {"prevent_destroy": True}
    assert set(resource) >= REQUIRED | NEEDED
    for argument, value in resource.items():
        assert type(value) is ARGUMENTS[argument], argument
        assert argument in {part for key in remarks for part in key.split(", ")} | {"storage_type"}, "each line says its figure"
    assert len(resource["subnet_ids"]) == 1
    assert resource["deployment_type"] == "PERSISTENT_2", "the provider's default is SCRATCH_1"
    assert {key: value for key, value in resource["tags"].items() if not isinstance(value, str)} == {}


def test_terraform_and_request_order_the_same() -> None:
    for made in (settings_for(), settings_for(scenario(SYNC))):
        request = content(CLI.write(made), fsx_files.CLI_NAME)
        module = content(TERRAFORM.write(made), fsx_files.TERRAFORM_NAME)
        resource = module["resource"]["aws_fsx_lustre_file_system"]["checkpoints"]
        lustre = request["LustreConfiguration"]
        assert resource["storage_capacity"] == request["StorageCapacity"]
        assert resource["per_unit_storage_throughput"] == lustre["PerUnitStorageThroughput"]
        assert resource.get("efa_enabled") == lustre.get("EfaEnabled")
        assert resource["metadata_configuration"] == [{"mode": lustre["MetadataConfiguration"]["Mode"]}]
        assert resource["tags"] == {tag["Key"]: tag["Value"] for tag in request["Tags"]}


def is_plain(value: Any) -> bool:
    """Whether Terraform finds nothing to put into a value: the key "//" is left out by it."""
    if isinstance(value, dict):
        return all(key == "//" or is_plain(inner) for key, inner in value.items())
    if isinstance(value, list):
        return all(is_plain(inner) for inner in value)
    own = re.compile(r"\$\{(var\.checkpoint_\w+|aws_fsx_lustre_file_system\.checkpoints\.\w+)\}")
    return not isinstance(value, str) or ("${" not in own.sub("", value) and "%{" not in value)


def test_no_name_becomes_a_template_of_terraform() -> None:
    assert not is_plain({"a": "${x}"})
    module = content(TERRAFORM.write(settings_for(name=HOSTILE, names=hostile_names())), fsx_files.TERRAFORM_NAME)
    assert is_plain(module)


@pytest.mark.skipif(shutil.which("terraform") is None, reason="terraform is not installed; the JSON is checked all the same")
@pytest.mark.parametrize("name", ["5 min", "60 s, EFA"])
def test_terraform_reads_it(name: str, tmp_path: Path) -> None:
    """`terraform get` reads the whole module, variables, outputs and lifecycle, and needs no provider."""
    made = settings_for(PLANS[name], name=HOSTILE, names=hostile_names())
    file = tmp_path / fsx_files.TERRAFORM_NAME
    file.write_text(words(TERRAFORM.write(made), fsx_files.TERRAFORM_NAME), encoding="utf-8")

    def run() -> subprocess.CompletedProcess[str]:
        command = ["terraform", f"-chdir={tmp_path}", "get", "-no-color"]
        quiet = os.environ | {"CHECKPOINT_DISABLE": "1"}
        return subprocess.run(command, env=quiet, capture_output=True, text=True, check=False, timeout=60)

    assert run().returncode == 0
    file.write_text(file.read_text(encoding="utf-8").replace('"type": "string"', '"type": "strong"'), encoding="utf-8")
    assert "Invalid type specification" in run().stderr, "it does look"


# ---------------------------------------------------------------- what cannot be made


def said(written: Written) -> str:
    assert written.files == ()
    (one,) = written.findings
    assert one.severity == "warning"
    return one.message


@pytest.mark.parametrize(
    ("tier", "sentence"),
    [
        ("p2-333-12000", "FSx sells no Persistent 2 of 333 MB/s/TiB"),
        ("p2-500-33601", "the next sizes are 33,600, 36,000"),
        ("p2-1000-33601-efa", "the next sizes are 33,600, 38,400"),
        ("p2-1000-1200-efa", "the next sizes are 4,800"),
        ("p2-500-999999999", "FSx sells no 999,999,999 GiB"),
    ],
)
@pytest.mark.parametrize("target", ALL, ids=lambda target: target.id)
def test_what_is_not_sold_is_not_written(target: Any, tier: str, sentence: str) -> None:
    made = settings_or_none(scenario({"storage.tier": tier}))
    assert made is not None
    message = said(target.write(made))
    assert sentence in message


def test_a_plan_that_brings_its_own_tiers_orders_none_of_them() -> None:
    """A plan's file holds the rows of the catalog; one that was changed does not change what AWS sells."""
    made = Scenario()
    rows = tuple(
        row.model_copy(update={"throughput_mb_per_s_per_tib": 333.0, "step_gib": 1000.0}) for row in made.storage.tiers
    )
    made = made.model_copy(update={"storage": made.storage.model_copy(update={"tiers": rows, "tier": "p2-333-33000"})})
    assert "333" in said(CLI.write(settings_for(made)))


def test_more_than_a_request_can_hold() -> None:
    made = settings_or_none(scenario({"workload.total_params": 1e16, "storage.generations_kept": 100_000}))
    if made is not None:
        assert said(CLI.write(made))


@pytest.mark.parametrize("target", ALL, ids=lambda target: target.id)
def test_storage_that_exists_names_the_nearest(target: Any) -> None:
    message = said(target.write(settings_for(scenario({"storage.custom": CustomStorage()}))))
    assert "p2-500-12000" in message


def test_above_the_quota_the_quota_is_named() -> None:
    written = CLI.write(settings_for(scenario({"storage.tier": "p2-500-120000"})))
    (one,) = written.findings
    assert (one.severity, one.path) == ("warning", "storage.quota_gib")
    assert "L-8F1B9C74" in one.message
    assert "120,000 GiB" in one.message
    assert "100,800 GiB" in one.message
    raised = scenario({"storage.tier": "p2-500-120000", "storage.quota_gib": 200_000.0})
    assert CLI.write(settings_for(raised)).findings == ()


def test_many_small_files_on_a_small_file_system() -> None:
    made = settings_for(
        scenario(
            {"workload.nodes": 4096, "workload.total_params": 1e9, "storage.write_s": 60.0, "storage.tier": "p2-1000-1200"}
        )
    )
    (one,) = CLI.write(made).findings
    assert (one.severity, one.path) == ("info", "storage.latency_s")
    assert "32,768 files" in one.message
    assert "10.9\u00a0s" in one.message or "11\u00a0s" in one.message, "32,768 files at 2 x 1,500 a second"


def test_efa_in_another_zone() -> None:
    made = settings_for(scenario(SYNC, {"network.same_zone": False}))
    assert [one.path for one in CLI.write(made).findings] == ["network.same_zone"]


# ---------------------------------------------------------------- comments


def test_the_readme_says_where_each_value_comes_from() -> None:
    written = CLI.write(settings_for())
    text = words(written, README)
    request = content(written, fsx_files.CLI_NAME)
    for key in (*request, *request["LustreConfiguration"]):
        if key not in ("FileSystemType", "StorageType", "LustreConfiguration"):
            assert re.search(rf"^(\w+, )*{key}(, \w+)*: ", text, re.MULTILINE), key
    assert "bound by throughput, 5.81 GB/s for a write within 5 min" in text
    assert "12,000 GiB at 500 MB/s/TiB sustain 6 GB/s" in text
    assert "$4,080 a month in us-west-2, at $0.34 a GiB and month (Article A" in text
    assert "2026-11" in text
    assert "botocore" in text
    assert "id " + settings_for().plan_id in text


def test_bound_by_room() -> None:
    text = words(CLI.write(settings_for(scenario({"storage.write_s": 1200.0}))), README)
    assert "7,200 GiB at 250 MB/s/TiB" in text
    assert "bound by room, 6,491 GiB" in text
    assert "fill 90 % of it" in text


def test_the_price_and_its_source() -> None:
    path = "prices.storage_usd_per_gib_month.p2_500"
    unknown = words(CLI.write(settings_for(scenario({path: None, "storage.tier": "p2-500-12000"}))), README)
    assert "price not known for us-west-2" in unknown
    made = scenario({path: 0.3})
    named = NamedScenario(
        name="x", scenario=made, sources=(Source(path=path, kind="typed", text="our contract", date="2026-10-01"),)
    )
    text = words(CLI.write(settings_of(named, plan_of(named))), README)
    assert "at $0.3 a GiB and month (our contract, 2026-10-01)" in text
    east = settings_for(scenario({"prices.region": "us-east-1", path: 0.29}))
    assert "2026-08-06, unverified)" in words(CLI.write(east), README)
    assert "(as given in the plan)" in words(CLI.write(settings_for(made)), README)


@pytest.mark.parametrize("target", ALL, ids=lambda target: target.id)
def test_no_name_breaks_out(target: Any) -> None:
    plain = target.write(settings_for(name="x", names=Names()))
    hostile = settings_for(name=HOSTILE, names=hostile_names())
    made = target.write(hostile)
    warned = len(told(hostile, made.findings).assumptions()) - len(hostile.assumptions())
    assert [file.name for file in made.files] == [file.name for file in plain.files]
    for file, same in zip(made.files, plain.files, strict=True):
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f\u2028\u202e]", file.content), "no control characters"
        more = warned if file.name.endswith(".txt") else 0
        assert file.content.count("\n") == same.content.count("\n") + more, "as many lines, but for its warnings"
        if file.language == "json":
            assert shape(json.loads(file.content)) == shape(json.loads(same.content))
        for line in file.content.splitlines():
            if line.startswith("  aws ") or line.startswith("  sudo "):
                assert "$(rm" not in " ".join(word for word in shlex.split(line) if "'" not in word)


def shape(value: Any) -> Any:
    """A value's keys and kinds, without its words."""
    if isinstance(value, dict):
        return {key: shape(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [shape(inner) for inner in value]
    return type(value).__name__


def test_a_hostile_region_stays_one_word() -> None:
    made = settings_for(scenario({"prices.region": "x; rm -rf /"}))
    for target, name in ((CLI, fsx_files.CLI_NAME), (DRA, s3_dra.NAME)):
        line = next(line for line in words(target.write(made), f"{name}.README.txt").splitlines() if "  aws " in line)
        assert shlex.split(line)[4] == "x; rm -rf /"


# ---------------------------------------------------------------- the link to S3


def test_the_folder_of_the_saves_is_linked() -> None:
    request = content(DRA.write(settings_for()), s3_dra.NAME)
    assert request["FileSystemPath"] == "/checkpoints", "as the file system has it, without its mount point"
    assert request["DataRepositoryPath"] == "s3://my-checkpoints/pretrain/"
    assert request["S3"] == {"AutoExportPolicy": {"Events": ["NEW", "CHANGED", "DELETED"]}}
    text = words(DRA.write(settings_for()), f"{s3_dra.NAME}.README.txt")
    assert "56.2 TB a day" in text, "1.742 TB every 44 min 40 s"
    assert "t of the plan: 5 min 5 s" in text
    assert "3 complete checkpoints" in text
    assert "LZ4" in text


def test_saves_that_go_to_s3_get_a_folder_of_their_own() -> None:
    made = settings_for(scenario({"saves": (SaveRow(kind="permanent"),)}))
    written = DRA.write(made)
    request = content(written, s3_dra.NAME)
    assert request["FileSystemPath"] == "/checkpoints/permanent"
    assert request["S3"]["AutoExportPolicy"]["Events"] == ["NEW", "CHANGED"], "what is permanent is not deleted"
    assert "1.74 TB a day" in words(written, f"{s3_dra.NAME}.README.txt")
    assert any("/checkpoints/permanent" in one.message for one in written.findings)


@pytest.mark.parametrize(
    ("folder", "mount", "inside"),
    [
        ("/fsx/checkpoints", "/fsx", "/checkpoints"),
        ("/fsx", "/fsx", "/"),
        ("/mnt/fsx/a/b/", "/mnt/fsx", "/a/b"),
        ("/mnt", "/mnt", "/"),
        ("//fsx//a", "/fsx", "/a"),
    ],
)
def test_mount_points(folder: str, mount: str, inside: str) -> None:
    assert mount_of(folder) == (mount, inside)


def test_buckets() -> None:
    named = content(DRA.write(settings_for(names=Names(bucket="s3://team-x/runs/", job="a b"))), s3_dra.NAME)
    assert named["DataRepositoryPath"] == "s3://team-x/runs/a-b/"
    bad = DRA.write(settings_for(names=Names(bucket="My_Bucket")))
    assert any("My_Bucket is no name of a bucket" in one.message for one in bad.findings)


def test_a_single_file_that_is_too_large_for_s3() -> None:
    made = scenario({"workload.writer": "single", "workload.total_params": 1e12, "storage.write_s": 7200.0})
    assert any(one.path == "workload.writer" for one in DRA.write(settings_for(made)).findings)


# ---------------------------------------------------------------- no plan makes a file that breaks a rule

TAG = re.compile(r"[\w .:/=+\-@]*")


def check_request(request: dict[str, Any]) -> None:
    lustre = request["LustreConfiguration"]
    assert lustre["DeploymentType"] == "PERSISTENT_2"
    assert is_sold(lustre["PerUnitStorageThroughput"], request["StorageCapacity"], efa=lustre.get("EfaEnabled", False))
    assert lustre["MetadataConfiguration"] == {"Mode": "AUTOMATIC"}, "EFA is refused without one"
    assert request["FileSystemTypeVersion"] == "2.15"
    assert request["StorageCapacity"] <= 2**31 - 1
    assert len(request["SubnetIds"]) == 1


def check_common(request: dict[str, Any]) -> None:
    assert re.fullmatch(r"[A-Za-z0-9_.-]{1,63}", request["ClientRequestToken"])
    for tag in request["Tags"]:
        assert 1 <= len(tag["Key"]) <= 128
        assert len(tag["Value"]) <= 256
        assert TAG.fullmatch(tag["Value"])


def check_all(made: Settings) -> None:
    written = {target.id: target.write(made) for target in ALL}
    for one in written.values():
        assert bool(one.files) or bool(one.findings), "never silence"
        assert all(found.message and found.severity in ("warning", "info") for found in one.findings)
    if not written["fsx-cli"].files:
        assert all(not one.files for one in written.values())
        return
    request = content(written["fsx-cli"], fsx_files.CLI_NAME)
    link = content(written["s3-dra"], s3_dra.NAME)
    check_request(request)
    check_common(request)
    check_common(link)
    assert complaints("CreateFileSystem", request) == ""
    assert complaints("CreateDataRepositoryAssociation", link) == ""
    assert re.fullmatch(r"/[^\x00\x85\u2028\u2029\r\n]{0,4095}", link["FileSystemPath"])
    assert re.fullmatch(r"s3://[^\x00\x85\u2028\u2029\r\n]{3,4352}", link["DataRepositoryPath"])
    template = content(written["fsx-cloudformation"], fsx_files.CLOUDFORMATION_NAME)
    assert len(template["Description"].encode()) <= 1024
    resource = template["Resources"]["CheckpointFs"]["Properties"]
    assert resource["LustreConfiguration"] == request["LustreConfiguration"]
    assert resource["StorageCapacity"] == request["StorageCapacity"]
    module = content(written["fsx-terraform"], fsx_files.TERRAFORM_NAME)
    assert is_plain(module)
    own = module["resource"]["aws_fsx_lustre_file_system"]["checkpoints"]
    assert is_sold(own["per_unit_storage_throughput"], own["storage_capacity"], efa=own.get("efa_enabled", False))


@settings(STEADY, max_examples=150)
@given(scenarios())
def test_no_plan_makes_a_file_that_breaks_a_rule(made: Scenario) -> None:
    found = settings_or_none(made, name=HOSTILE, names=hostile_names())
    assume(found is not None)
    assert found is not None
    check_all(found)


@pytest.mark.parametrize("throughput", [125, 250, 500, 1000, 333])
@pytest.mark.parametrize("efa", [False, True])
def test_the_same_sizes_as_the_table(throughput: int, efa: bool) -> None:
    """Every size from 600 to 80,000 GiB in steps of 600: written where it is sold, and not where it is not."""
    made = settings_for(scenario({"workload.total_params": 1e9}))
    option = made.plan.storage.chosen
    assert option is not None
    for capacity in (*range(600, 80_001, 600), 33_601):
        other = replace(option, throughput_mb_per_s_per_tib=float(throughput), efa=efa, capacity_gib=float(capacity))
        plan = replace(made.plan, storage=replace(made.plan.storage, chosen=other))
        assert (file_system_of(plan) is not None) == is_sold(throughput, capacity, efa=efa), capacity
