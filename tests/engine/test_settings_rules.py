"""Rules over what files say: the validated samples pass, what validators overlook is refused, and no plan breaks a rule."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import event, given
from hypothesis import settings as how

from ckptplanner.engine.evaluate import plan_of
from ckptplanner.engine.scenario import NamedScenario
from ckptplanner.engine.settings import fsx_rules, registry
from ckptplanner.engine.settings.read_back import Unreadable, read
from ckptplanner.engine.settings.registry import IDS, TARGETS, target, write_all
from ckptplanner.engine.settings.rules import broken_rules
from ckptplanner.engine.settings.target import NotPlanned, Settings, SettingsFile, Written, settings_of
from tests.engine.build import STEADY, scenario
from tests.engine.settings_plans import EVIL, EVIL_NAMES, SCENARIOS, SOUND, settings

SYNC_EFA: dict[str, Any] = {"storage.mode": "sync", "storage.write_s": 60.0}

# ---------------------------------------------------------------- samples: what botocore and cfn-lint accepted

API: dict[str, Any] = {
    "FileSystemType": "LUSTRE", "StorageType": "SSD", "SubnetIds": ["subnet-0123456789abcdef0"],
    "SecurityGroupIds": ["sg-0123456789abcdef0"], "FileSystemTypeVersion": "2.15", "ClientRequestToken": "plan-5min-500",
    "StorageCapacity": 12000,
    "LustreConfiguration": {
        "DeploymentType": "PERSISTENT_2", "PerUnitStorageThroughput": 500, "DataCompressionType": "NONE",
        "MetadataConfiguration": {"Mode": "AUTOMATIC"},
    },
}  # fmt: skip
EFA: dict[str, Any] = {
    **API, "StorageCapacity": 33600,
    "LustreConfiguration": {
        "DeploymentType": "PERSISTENT_2", "PerUnitStorageThroughput": 1000, "EfaEnabled": True,
        "MetadataConfiguration": {"Mode": "USER_PROVISIONED", "Iops": 12000},
    },
}  # fmt: skip


def template(properties: dict[str, Any]) -> dict[str, Any]:
    made = {key: value for key, value in properties.items() if key != "ClientRequestToken"}
    made["SubnetIds"] = [{"Ref": "SubnetId"}]
    return {"Resources": {"Fs": {"Type": "AWS::FSx::FileSystem", "Properties": made}}, "Outputs": {}}


def terraform(properties: dict[str, Any], *, in_lists: bool = False) -> dict[str, Any]:
    lustre = properties["LustreConfiguration"]
    metadata = lustre.get("MetadataConfiguration")
    made = {
        "storage_capacity": properties["StorageCapacity"], "subnet_ids": ["${var.subnet_id}"],
        "deployment_type": lustre.get("DeploymentType"), "storage_type": "SSD",
        "per_unit_storage_throughput": lustre["PerUnitStorageThroughput"], "efa_enabled": lustre.get("EfaEnabled", False),
        "file_system_type_version": properties["FileSystemTypeVersion"],
    }  # fmt: skip
    if metadata is not None:
        block = {key.lower(): value for key, value in metadata.items()}
        made["metadata_configuration"] = [block] if in_lists else block
    group = {"aws_fsx_lustre_file_system": {"checkpoint": [made] if in_lists else made}}
    return {"//": "from the plan", "resource": [group] if in_lists else group}


SHAPES = [
    pytest.param(lambda one: one, id="aws-cli"),
    pytest.param(template, id="cloudformation"),
    pytest.param(terraform, id="terraform"),
    pytest.param(lambda one: terraform(one, in_lists=True), id="terraform with lists"),
]


def changed(base: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """A copy of a request with values replaced, or removed where None; those of LustreConfiguration by their own name."""
    made = json.loads(json.dumps(base))
    for key, value in changes.items():
        part = made if key in made or key not in LUSTRE else made["LustreConfiguration"]
        part.pop(key, None) if value is None else part.update({key: value})
    return made  # type: ignore[no-any-return]


LUSTRE = {"DeploymentType", "PerUnitStorageThroughput", "EfaEnabled", "MetadataConfiguration"}


def judged(document: dict[str, Any], made: Settings | None = None) -> list[str]:
    file = SettingsFile("fsx.json", "json", json.dumps(document))
    found = broken_rules(made or settings(), Written((file,)))
    return [f"{one.severity}: {one.message}".replace("\u00a0", " ") for one in found]


def own(document: dict[str, Any], made: Settings | None = None) -> list[str]:
    """Without the comparison with the plan, which every change breaks too."""
    return [line for line in judged(document, made) if "The plan chose" not in line]


@pytest.mark.parametrize("shape", SHAPES)
def test_the_validated_requests_pass(shape: Any) -> None:
    assert judged(shape(API)) == []
    assert judged(shape(EFA), settings(SYNC_EFA)) == []


ILLEGAL = [
    ({"PerUnitStorageThroughput": 333}, "no throughput of 333 MB/s/TiB; there are 125, 250, 500, 1,000"),
    ({"StorageCapacity": 33601}, "33,601 GiB is refused: 1,200 or multiples of 2,400 GiB"),
    ({"StorageCapacity": 600}, "600 GiB is refused"),
    ({"StorageCapacity": 3600}, "3,600 GiB is refused"),
    ({"EfaEnabled": True, "DeploymentType": "PERSISTENT_1"}, "EFA needs the deployment type PERSISTENT_2, and this is PERS"),
    ({"EfaEnabled": True}, "12,000 GiB is refused: multiples of 9,600 GiB"),
    ({"EfaEnabled": True, "MetadataConfiguration": None, "StorageCapacity": 19200}, "EFA needs a metadata configuration"),
    ({"DeploymentType": "PERSISTENT_9"}, "must be PERSISTENT_2, and this is PERSISTENT_9"),
    ({"DeploymentType": None}, "must be PERSISTENT_2, and this is not given"),
    ({"FileSystemTypeVersion": "2.12"}, "needs version 2.15, and this is 2.12"),
    ({"FileSystemTypeVersion": "2.14"}, "no version 2.14"),
    ({"MetadataConfiguration": {"Mode": "AUTOMATIC", "Iops": 12000}}, "AUTOMATIC takes no number"),
    ({"MetadataConfiguration": {"Mode": "USER_PROVISIONED", "Iops": 13000}}, "13,000 metadata operations a second are refused"),
    ({"MetadataConfiguration": {"Mode": "USER_PROVISIONED", "Iops": 204000}}, "204,000 metadata operations"),
    ({"MetadataConfiguration": {"Mode": "USER_PROVISIONED"}}, "? metadata operations a second are refused"),
    ({"MetadataConfiguration": {"Mode": "USER_PROVISIONED", "Iops": 6000}}, "6,000 metadata operations a second are below"),
    ({"MetadataConfiguration": {"Mode": "ALWAYS"}}, "no metadata mode ALWAYS"),
]  # fmt: skip


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("changes", "said"), ILLEGAL, ids=lambda value: str(value)[:40])
def test_what_validators_overlook_is_refused(shape: Any, changes: dict[str, Any], said: str) -> None:
    found = own(shape(changed(API, **changes)))
    assert any(line.startswith("error") and said in line for line in found), found


def test_more_of_the_api_alone() -> None:
    assert "one subnet, and here are 2" in own(changed(API, SubnetIds=["a", "b"]))[0]
    assert "1 to 63 characters" in own(changed(API, ClientRequestToken="x" * 64))[0]
    assert "Only SSD" in own(changed(API, StorageType="HDD"))[0]
    assert own(changed(API, MetadataConfiguration=None, FileSystemTypeVersion="2.12")) == [], "2.12 without metadata is legal"
    assert own(changed(API, StorageCapacity=1200), settings(workload={"total_params": 1e9})) == []


def test_a_file_that_asks_for_something_else_than_the_plan_is_refused() -> None:
    assert judged(changed(API, StorageCapacity=14400)) == [
        "error: fsx.json: The plan chose p2-500-12000, and the file asks for p2-500-14400."
    ]


def test_quotas() -> None:
    big = changed(API, StorageCapacity=100_800 + 2400)
    assert own(big) == ["warning: fsx.json: 103,200 GiB is above the default quota of 100,800 GiB: ask AWS for it before the "
                        "request is sent."]  # fmt: skip
    assert own(changed(API, StorageCapacity=100_800)) == []
    limited = settings(storage={"quota_gib": 12_000.0})
    assert own(API, limited) == []
    assert own(changed(API, StorageCapacity=14_400), limited)[0].startswith("error: fsx.json: 14,400 GiB is above your quota")


@pytest.mark.parametrize(
    ("capacity", "iops"),
    [(1200, 1500), (2400, 3000), (4800, 6000), (9600, 6000), (12000, 12000), (45600, 12000), (48000, 24000), (72000, 36000),
     (9_600_000, 192_000)],
)  # fmt: skip
def test_metadata_that_aws_gives_by_itself(capacity: int, iops: int) -> None:
    assert fsx_rules.automatic_iops(capacity) == iops


# ---------------------------------------------------------------- samples of frameworks


SAMPLE = settings(storage={"interval_s": 1340.0})  # 134 steps of 10 s

MEGATRON = "--save /fsx/ckpt --save-interval 134 --ckpt-format torch_dist --async-save --save-retain-interval 1340"
LOCAL = "--save-interval 134 --non-persistent-save-interval 67 --replication --replication-jump 8 --replication-factor 2"
TITAN = "from x import CheckpointManager\nc = CheckpointManager.Config(enable=True, interval=134, keep_latest_k=3)\n"


def said(language: Any, text: str, made: Settings = SAMPLE) -> list[str]:
    return [one.message for one in broken_rules(made, Written((SettingsFile("f", language, text),)))]


def test_files_of_all_languages_are_read_back() -> None:
    assert SAMPLE.interval_steps == 134
    for language, text in (
        ("shell", MEGATRON), ("shell", LOCAL), ("python", TITAN), ("json", '{"save_steps": 134, "save_total_limit": 3}'),
        ("yaml", "checkpoint:\n  save_interval: 134  # T\n  most_recent_k: 3\n"),
        ("toml", "[checkpoint]\ninterval = 134\nkeep_latest_k = 3\n"),
    ):  # fmt: skip
        assert said(language, text) == [], text
        assert said(language, text.replace("134", "133")) != [], text


BROKEN = [
    ("shell", MEGATRON.replace("1340", "1341"), "no multiple of 134"),
    ("shell", LOCAL.replace("67", "50"), "do not divide the 134 steps"),
    ("shell", LOCAL.replace("67", "134"), "Local saves every 134 steps fall on the shared ones"),
    ("yaml", "non_persistent_save_interval: 134", "none is made"),
    ("shell", LOCAL.replace("factor 2", "factor 3"), "3 copies with a jump of 8 do not divide 256 ranks"),
    ("shell", "--save-interval 134 --replication", "without a jump"),
    ("shell", "--replication-jump 8 --replication-factor 1", "factor of 2 or more"),
    ("json", '{"save_steps": 134.5}', "134 whole steps"),
    ("yaml", "most_recent_k: -1", "must be kept, not -1"),
    ("toml", "[checkpoint]\nkeep_latest_k = 0", "must be kept, not 0"),
    ("json", '{"save_total_limit": 30}', "31 checkpoints of 1.74"),
    ("yaml", "rank_section_timeouts: {setup: 900, step: 180, checkpointing: 5}", "A timeout of 5 s would end the run"),
    ("python", "config.comm.train_timeout_seconds = 1", "A timeout of 1 s would end the run"),
    ("toml", "[comm]\ntrain_timeout_seconds = 1", "A timeout of 1 s would end the run"),
    ("shell", "#!/bin/bash\n#SBATCH --signal=B:USR1@60  # too late\n", "60 s before the end is too late"),
    ("shell", "#SBATCH --signal=USR1\n", "60 s before the end is too late"),
    ("shell", "#SBATCH --signal=B:USR1@70000\n", "65,535"),
    ("shell", "#SBATCH --signal=B:USR1@900\n#SBATCH --time=0-00:15:00\n", "comes 900 s before the end of 900 s"),
    ("yaml", "terminationGracePeriodSeconds: 30", "30 s are too short"),
    ("yaml", "backoffLimit: 6", "backoffLimit must be 0"),
    ("yaml", "restartPolicy: OnFailure", "restartPolicy must be Never"),
    ("yaml", "maxRestarts: 0", "0 restarts"),
    ("yaml", "parallelism: 31", "parallelism is 31, and the plan has 32"),
    ("shell", "ft_launcher --nnodes=31", "nnodes is 31"),
    ("json", "{", "cannot be read back"),
    ("python", "interval = (", "cannot be read back"),
    ("toml", "interval = ", "cannot be read back"),
    ("yaml", "what is this", "cannot be read back"),
    ("shell", "KEEP=0  # of them", "must be kept, not 0"),
    ("shell", "echo 'open", "cannot be read back"),
]


@pytest.mark.parametrize(("language", "text", "what"), BROKEN, ids=[what for _, _, what in BROKEN])
def test_what_is_wrong_is_found_in_the_file(language: Any, text: str, what: str) -> None:
    found = [line.replace("\u00a0", " ") for line in said(language, text)]
    assert any(what in line for line in found), found


def test_timeouts_of_synchronous_saves_stand_above_the_write() -> None:
    sync = settings(SYNC_EFA)
    assert said("json", '{"ddp_timeout": 80}', sync) != [], "60 s of writing and no margin"
    assert said("json", '{"ddp_timeout": 90}', sync) == []
    assert said("shell", "--distributed-timeout-minutes 1", sync) != []
    assert said("shell", "--distributed-timeout-minutes 2", sync) == []


def test_generations_that_do_not_fit_are_refused() -> None:
    small = settings(storage={"custom": {"write_bytes_per_s": 62e9, "read_bytes_per_s": 1e11, "usable_bytes": 3e12}})
    (found,) = said("json", '{"keep": 1}', small)
    assert "do not fit: there is room for 3 TB" in found.replace("\u00a0", " ")


def test_lightning_counts_the_one_that_is_being_written() -> None:
    """With its asynchronous plugin its number counts that one too, and only where the plugin is really made."""
    for head, fits in (("x = [AsyncCheckpointIO()]", True), ("# AsyncCheckpointIO()", False)):
        assert (said("python", f"{head}\nModelCheckpoint(save_top_k=7)\n") == []) == fits, "7 x 1.74 TB fit, 8 do not"


@pytest.mark.parametrize(
    ("id", "language", "silent", "said_s"),
    [("torchtitan", "python", "c.interval = 30", "config.comm.train_timeout_seconds = 900"),
     ("torchtitan-0.2", "toml", "[checkpoint]\ninterval = 30\n[comm]", "train_timeout_seconds = 900"),
     ("megatron-lm", "shell", "--save-interval 30", "--distributed-timeout-minutes 30"),
     ("megatron-bridge", "yaml", "checkpoint:\n  save_interval: 30\ndist:", "  distributed_timeout_minutes: 30")],
)  # fmt: skip
def test_a_default_timeout_is_judged_where_none_is_written(id: str, language: Any, silent: str, said_s: str) -> None:
    """TorchTitan's is 100 s, Megatron's 10 min; synchronous saves stop training for the whole write."""

    def errors(write_s: float, text: str) -> list[str]:
        made = settings(storage={"mode": "sync", "write_s": write_s, "interval_s": 300.0, "tier": "p2-1000-48000"})
        found = broken_rules(made, Written((SettingsFile("f", language, text),)), id)
        return [one.message for one in found if "would end the run" in one.message]

    is_titan = id.startswith("torchtitan")
    fits, breaks = (60.0, 70.0) if is_titan else (390.0, 410.0)
    assert errors(fits, silent) == []
    (message,) = errors(breaks, silent)
    assert f"the default of {100 if is_titan else 600} s would end the run" in message
    assert errors(breaks, f"{silent}\n{said_s}") == []
    assert broken_rules(settings(), Written(()), id) == ()


def test_the_reader_takes_remarks_and_quotes() -> None:
    text = '#SBATCH --output="/a \\"b\\" \\\\ #c"   # remark\n#SBATCH --requeue # again\nx=3 # 4\n'
    assert dict(read(SettingsFile("f", "shell", text)).values) == {
        "sbatch_output": '/a "b" \\ #c', "sbatch_requeue": None, "x": 3,
    }  # fmt: skip
    text = 'a: "x: 1 # y"  # z\nlist:\n- b: 2\n'
    assert read(SettingsFile("f", "yaml", text)).values == (("a", "x: 1 # y"), ("list", None), ("b", 2))
    with pytest.raises(Unreadable):
        read(SettingsFile("f", "json", "["))


# ---------------------------------------------------------------- all targets, all plans


def test_targets_come_in_the_order_of_the_contract() -> None:
    ids = [one.id for one in TARGETS]
    assert ids == sorted(ids, key=IDS.index)
    assert len(set(ids)) == len(ids)
    assert target("slurm").title.template == "Slurm"
    with pytest.raises(KeyError, match=r"no target 'pbs'; there are .*slurm"):
        target("pbs")


def test_no_two_targets_write_different_files_of_one_name() -> None:
    """The script that trims is written beside what needs it, and by itself: the same bytes."""
    files = {file for one in TARGETS for file in one.write(settings(local={"enabled": True})).files}
    names = [file.name for file in files]
    assert len(set(names)) == len(names)


def test_an_illegal_plan_is_refused() -> None:
    """The interval of such a plan is written; a file system that the service would refuse is not."""
    for tier in ("p2-333-33601", "p2-500-33601", "p2-1000-1200-efa"):
        made = settings(storage={"tier": tier})
        throughput, capacity, efa = (*tier.removeprefix("p2-").split("-"), "")[:3]
        request = changed(EFA if efa else API, StorageCapacity=int(capacity), PerUnitStorageThroughput=int(throughput))
        assert any(line.startswith("error") for line in judged(request, made)), tier


def test_a_target_that_breaks_a_rule_is_left_out_and_why_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    small = settings(storage={"custom": {"write_bytes_per_s": 62e9, "read_bytes_per_s": 1e11, "usable_bytes": 3e12}})
    written = write_all(small, ["hf-trainer", "slurm"])
    assert [file.name for file in written.files] == ["slurm_job.sbatch"]
    assert any(one.severity == "error" and "hf_training_args.json" in one.message for one in written.findings)
    assert registry.write_all(settings(), []) == Written(())


def outcome(changes: dict[str, Any]) -> tuple[bool, list[str]]:
    """Whether a plan is without an error, and which rules the files of all targets break."""
    named = NamedScenario(name=EVIL, scenario=scenario(changes))
    plan = plan_of(named)
    try:
        made = settings_of(named, plan, EVIL_NAMES)
    except NotPlanned:
        return False, []
    found: list[str] = []
    for one in TARGETS:
        written = one.write(made)
        assert written.files or written.findings, f"{one.id} writes nothing and says nothing"
        found += [f"{one.id} {rule.message}" for rule in broken_rules(made, written, one.id) if rule.severity == "error"]
    offered = write_all(made, [one.id for one in TARGETS])
    assert not [rule for rule in broken_rules(made, Written(offered.files)) if rule.severity == "error"]
    return not plan.count("error"), found


@given(changes=SCENARIOS)
@how(STEADY, max_examples=300)
def test_no_plan_makes_a_file_that_breaks_a_rule(changes: dict[str, Any]) -> None:
    """Most of these plans have errors. Generations that do not fit are the plan's own mistake, and refused; nothing else is."""
    is_sound, found = outcome(changes)
    assert [line for line in found if is_sound or "do not fit" not in line] == []


@given(changes=SOUND)
@how(STEADY, max_examples=150)
def test_no_sound_plan_is_refused(changes: dict[str, Any]) -> None:
    is_sound, found = outcome(changes)
    event(f"sound: {is_sound}")
    if changes["storage.generations_kept"] == 2:  # TorchTitan keeps two complete ones at least, which may not fit
        found = [line for line in found if not line.startswith("torchtitan") or "do not fit" not in line]
    assert found == []
