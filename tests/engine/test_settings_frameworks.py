"""Megatron-LM, Megatron Bridge and TorchTitan: golden values, rules that no plan breaks, words that do not break out."""

from __future__ import annotations

import ast
import dataclasses
import subprocess
import tomllib
import types
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings

from ckptplanner.engine.scenario import Scenario
from ckptplanner.engine.settings import megatron, torchtitan, trimming
from ckptplanner.engine.settings.target import Names, Settings, Target, Written
from tests.engine.build import STEADY
from tests.engine.framework_cases import (
    HOSTILE,
    SCENARIOS,
    TWO_LEVELS,
    by_id,
    content,
    flags_of,
    hostile_settings,
    planned,
    settings_for,
)

MOST = settings(STEADY, max_examples=150)
LM, BRIDGE = (by_id(megatron.TARGETS, name) for name in ("megatron-lm", "megatron-bridge"))
TITAN, OLD_TITAN = (by_id(torchtitan.TARGETS, name) for name in ("torchtitan", "torchtitan-0.2"))
ALL = (LM, BRIDGE, TITAN, OLD_TITAN, *trimming.TARGETS)
SYNC_NEAR = {**TWO_LEVELS, "storage.mode": "sync"}


def section(settings: Settings) -> dict[str, Any]:
    """The checkpoint section of Bridge, by a real YAML reader."""
    whole: dict[str, Any] = yaml.safe_load(content(BRIDGE, settings))
    assert set(whole) <= {"checkpoint", "dist"}
    return {**whole["checkpoint"], **whole.get("dist", {})}


def call(settings: Settings) -> dict[str, Any]:
    """What is replaced in the run's checkpoint settings, by Python's own parser; comm.* where it is set."""
    tree = ast.parse(content(TITAN, settings))
    assert [type(node).__name__ for node in tree.body] == ["Import", "FunctionDef"]
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    assert len(calls) == 1
    assert ast.unparse(calls[0].func) == "dataclasses.replace"
    assert [ast.unparse(argument) for argument in calls[0].args] == ["config.checkpoint"]
    found = {word.arg or "": ast.literal_eval(word.value) for word in calls[0].keywords}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]).startswith("config.comm."):
            found["train_timeout_seconds"] = ast.literal_eval(node.value)
    return found


def table(settings: Settings) -> dict[str, Any]:
    """The TOML, by Python's own reader."""
    whole = tomllib.loads(content(OLD_TITAN, settings))
    assert set(whole) <= {"checkpoint", "comm"}
    return {**whole["checkpoint"], **whole.get("comm", {})}


def said(written: Written) -> dict[str, str]:
    return {one.path: one.message for one in written.findings}


# ---------------------------------------------------------------- golden


def test_the_five_minute_plan_for_megatron_lm() -> None:
    """The sample of ECOSYSTEM 2.1, with the plan's 268 steps of 10 s."""
    assert flags_of(content(LM, settings_for())) == {
        "--save": "/fsx/checkpoints", "--load": "/fsx/checkpoints", "--save-interval": "268", "--ckpt-format": "torch_dist",
        "--async-save": "", "--async-strategy": "nvrx", "--use-persistent-ckpt-worker": "", "--ckpt-fully-parallel-load": "",
        "--ckpt-assume-constant-structure": "",
    }  # fmt: skip


def test_bash_reads_the_same_arguments(tmp_path: Path) -> None:
    file = tmp_path / "args.sh"
    file.write_text(content(LM, settings_for(SYNC_NEAR)))
    script = 'source "$1"; printf "%s\\n" "${CHECKPOINT_ARGS[@]}"'
    done = subprocess.run(["bash", "-euc", script, "bash", file], capture_output=True, text=True, check=True, timeout=20)
    words = done.stdout.splitlines()
    assert words[words.index("--non-persistent-save-interval") + 1] == "283"
    assert words[words.index("--replication-jump") + 1 : words.index("--replication-jump") + 4] == [
        "8",
        "--replication-factor",
        "2",
    ]


def test_two_levels_for_megatron_lm_are_synchronous_and_say_so() -> None:
    written = LM.write(settings_for(TWO_LEVELS))
    flags = flags_of(written.files[0].content)
    assert flags == {
        "--save": "/fsx/checkpoints", "--load": "/fsx/checkpoints", "--save-interval": "849", "--ckpt-format": "torch_dist",
        "--ckpt-fully-parallel-load": "", "--ckpt-assume-constant-structure": "", "--non-persistent-ckpt-type": "local",
        "--non-persistent-local-ckpt-dir": "/local/checkpoints", "--non-persistent-save-interval": "283",
        "--non-persistent-local-ckpt-algo": "fully_parallel", "--replication": "", "--replication-jump": "8",
        "--replication-factor": "2", "--distributed-timeout-minutes": "15",
    }  # fmt: skip
    words = said(written)["storage.mode"].replace("\u00a0", " ")
    assert "cannot save asynchronously and to local drives in one run" in words
    assert "stops training for 5 min instead of 5 s, a local one for 1 min 5 s" in words


def test_megatron_lm_keeps_no_last_k_and_gets_the_script() -> None:
    written = LM.write(settings_for())
    assert [file.name for file in written.files] == ["megatron_lm_args.sh", "trim_checkpoints.sh"]
    assert "cannot keep the last 3 checkpoints" in said(written)["storage.generations_kept"]
    assert "# keeps 3 complete generations: trim_checkpoints.sh" in written.files[0].content
    assert "\nkeep=3 " in written.files[1].content


def test_one_generation_is_what_megatron_lm_can_keep_by_itself() -> None:
    written = LM.write(settings_for({"storage.generations_kept": 2}))
    assert [file.name for file in written.files] == ["megatron_lm_args.sh"]
    retain = int(flags_of(written.files[0].content)["--save-retain-interval"])
    assert retain % 268 == 0
    assert retain * 10.0 > 365 * 86_400, "beyond the end of the run: all but the newest go"
    assert written.findings == ()


def test_the_five_minute_plan_for_bridge() -> None:
    """The sample of ECOSYSTEM 2.2."""
    assert section(settings_for()) == {
        "save": "/fsx/checkpoints", "load": "/fsx/checkpoints", "save_interval": 268, "ckpt_format": "torch_dist",
        "async_save": True, "use_persistent_ckpt_worker": True, "most_recent_k": 3, "ckpt_assume_constant_structure": True,
    }  # fmt: skip
    assert BRIDGE.write(settings_for()).findings == ()


def test_two_levels_for_bridge() -> None:
    found = section(settings_for(TWO_LEVELS))
    assert (found["save_interval"], found["non_persistent_save_interval"]) == (849, 283)
    assert (found["replication"], found["replication_jump"], found["replication_factor"]) == (True, 8, 2)
    assert (found["async_save"], found["use_persistent_ckpt_worker"]) == (False, False)
    assert found["distributed_timeout_minutes"] == 15


def test_the_five_minute_plan_for_torchtitan() -> None:
    """The samples of ECOSYSTEM 2.3; an absolute folder is taken as it is."""
    wanted = {
        "enable": True, "folder": "/fsx/checkpoints", "interval": 268, "async_mode": "async_with_pinned_mem",
        "keep_latest_k": 3, "last_save_model_only": False,
    }  # fmt: skip
    assert call(settings_for()) == {**wanted, "load_only": False}
    assert table(settings_for()) == wanted
    assert TITAN.write(settings_for()).findings == ()


@dataclasses.dataclass(kw_only=True, slots=True)
class Checkpoint:
    """As CheckpointManager.Config of torchtitan 0.3.0 is made."""

    enable: bool = False
    folder: str = "checkpoint"
    interval: int = 500
    async_mode: str = "disabled"
    keep_latest_k: int = 10
    last_save_model_only: bool = True
    load_only: bool = False
    initial_load_path: str | None = None
    exclude_from_loading: list[str] = dataclasses.field(default_factory=list)


def test_what_else_a_run_of_torchtitan_has_set_stays() -> None:
    own = Checkpoint(initial_load_path="/fsx/base/step-0", exclude_from_loading=["lr_scheduler"], load_only=True)
    config = types.SimpleNamespace(checkpoint=own, comm=types.SimpleNamespace(train_timeout_seconds=100))
    space: dict[str, Any] = {}
    exec(content(TITAN, settings_for()), space)
    made = space["apply"](config)
    assert made is config
    assert made.checkpoint == Checkpoint(
        enable=True, folder="/fsx/checkpoints", interval=268, async_mode="async_with_pinned_mem", keep_latest_k=3,
        last_save_model_only=False, initial_load_path="/fsx/base/step-0", exclude_from_loading=["lr_scheduler"],
    )  # fmt: skip
    assert made.comm.train_timeout_seconds == 100


def test_the_toml_says_which_versions_read_it() -> None:
    """0.1.0 knows enable_checkpoint alone and takes unknown names in silence; 0.2.2 refuses that name, so both cannot stand."""
    assert OLD_TITAN.version == "torchtitan 0.2.0 to 0.2.2"
    text = content(OLD_TITAN, settings_for())
    assert text.startswith("# Checkpoints of torchtitan 0.2.0 to 0.2.2: sections of the run's TOML\n")
    assert "# Not for 0.1.0 and older" in text
    assert "write enable_checkpoint for enable\n" in text
    assert "enable_checkpoint" not in table(settings_for())
    assert "enable_checkpoint" not in content(TITAN, settings_for())


def test_a_synchronous_save_of_torchtitan_outlasts_its_timeout() -> None:
    """100 s is its default after the first step; the stop is 300 s."""
    settings = settings_for({"storage.mode": "sync"})
    assert (call(settings)["async_mode"], call(settings)["train_timeout_seconds"]) == ("disabled", 900)
    assert table(settings)["train_timeout_seconds"] == 900


def test_torchtitan_keeps_at_least_two() -> None:
    for target in (TITAN, OLD_TITAN):
        written = target.write(settings_for({"storage.generations_kept": 2}))
        assert "at least 2 generations" in said(written)["storage.generations_kept"]
    assert call(settings_for({"storage.generations_kept": 2}))["keep_latest_k"] == 2


def test_torchtitan_says_what_to_do_without_local_saves() -> None:
    words = said(TITAN.write(settings_for(TWO_LEVELS)))["local.enabled"].replace("\u00a0", " ")
    assert "the best interval is 44 min 40 s, 268 steps, and wastes 0.537 %" in words
    assert "no copies" in said(TITAN.write(settings_for({"replication.factor": 2})))["replication.factor"]


def test_torchtitan_warns_of_writers_that_wait() -> None:
    assert "storage.write_s" in said(TITAN.write(settings_for({"storage.write_s": 3600.0, "storage.interval_s": 9000.0})))


def test_a_local_save_for_each_shared_one_is_never_made() -> None:
    """The non-persistent save is an elif: it is skipped on a step that saves persistently."""
    settings = settings_for(TWO_LEVELS, {"local.ratio": 1})
    written = LM.write(settings)
    assert "local.ratio" in said(written)
    flags = flags_of(written.files[0].content)
    assert "--non-persistent-save-interval" not in flags
    assert "--async-save" in flags, "without local saves nothing stands against asynchronous ones"


def test_copies_that_cannot_be_formed_are_left_out() -> None:
    settings = settings_for(TWO_LEVELS, {"replication.factor": 3, "local.ratio": 4})
    assert "do not divide 256 ranks" in said(LM.write(settings))["replication.factor"]
    assert "--replication" not in flags_of(content(LM, settings))
    assert "replication" not in section(settings)


@pytest.mark.parametrize("mode", ["async", "sync"])
def test_the_last_save_that_the_plan_counts_on_is_asked_for(mode: str) -> None:
    """Both leave SIGTERM alone by default, and would end without a save."""
    daily = settings_for({"planned.every_s": 86_400.0, "storage.mode": mode})
    assert flags_of(content(LM, daily))["--exit-signal-handler"] == ""
    assert yaml.safe_load(content(BRIDGE, daily))["train"] == {"exit_signal_handler": True}
    assert "must reach the training processes and not torchrun" in content(LM, daily)
    none = settings_for({"storage.mode": mode})
    assert "--exit-signal-handler" not in flags_of(content(LM, none)), "ranks that lost one of them would end 30 s later"
    assert "train" not in yaml.safe_load(content(BRIDGE, none))


def test_permanent_saves() -> None:
    rows = {"saves": ({"kind": "permanent", "every_s": 86_400.0, "to": "shared"},)}
    assert f"\nevery={round(8640 / 268) * 268} " in LM.write(settings_for(rows)).files[1].content
    for target in (BRIDGE, TITAN):
        assert "deletes permanent saves" in said(target.write(settings_for(rows)))["saves"]


def permanent(every_s: float, to: str = "shared") -> dict[str, Any]:
    return {"kind": "permanent", "every_s": every_s, "to": to}


@pytest.mark.parametrize("generations", [2, 4])
def test_permanent_saves_in_s3_do_not_stay_on_the_file_system(generations: int) -> None:
    made = settings_for({"storage.generations_kept": generations, "saves": (permanent(86_400.0, "s3"),)})
    assert f"multiple of {round(8640 / 268) * 268:,} steps to S3" in said(LM.write(made))["saves"]
    for target in (BRIDGE, TITAN, trimming.TARGETS[0]):
        words = said(target.write(made))["saves"]
        assert "to S3 before" in words
        assert "s3-dra" in words
    assert "\nevery=0 " in trimming.trimming_file(made).content
    if generations == 2:
        retain = int(flags_of(content(LM, made))["--save-retain-interval"])
        assert retain * 10.0 > 365 * 86_400, "only the newest stays"


def test_permanent_saves_as_frequent_as_saves_are_not_deleted() -> None:
    for every_s in (1800.0, 2680.0):
        written = LM.write(settings_for({"storage.generations_kept": 2, "saves": (permanent(every_s),)}))
        assert "--save-retain-interval" not in flags_of(written.files[0].content)
        assert "nothing is deleted" in written.files[0].content
        assert len(written.files) == 1
    rare = LM.write(settings_for({"storage.generations_kept": 2, "saves": (permanent(5400.0),)}))
    assert flags_of(rare.files[0].content)["--save-retain-interval"] == str(2 * 268)


def test_of_several_permanent_saves_all_stay() -> None:
    """Megatron-LM keeps multiples of one number alone, so the script is written even where one generation is kept."""
    rows = (permanent(3 * 2680.0), permanent(2 * 2680.0), permanent(4 * 2680.0), permanent(5 * 2680.0, "s3"))
    written = LM.write(settings_for({"storage.generations_kept": 2, "saves": rows}))
    assert "--save-retain-interval" not in flags_of(written.files[0].content)
    assert f"\nevery='{2 * 268} {3 * 268}' " in written.files[1].content
    assert f"multiple of {5 * 268:,} steps to S3" in said(written)["saves"]
    assert "multiple of 536 or 804 steps" in said(BRIDGE.write(settings_for({"saves": rows[:3]})))["saves"]


@pytest.mark.parametrize("target", ALL, ids=lambda target: target.id)
def test_a_file_opens_with_the_plan_and_its_lines_say_where_they_come_from(target: Target) -> None:
    settings = settings_for(SYNC_NEAR)
    for file in target.write(settings).files:
        lines = file.content.splitlines()
        opening = "\n".join(line for line in lines[:12] if line.startswith("#"))
        for words in (
            f"plan '5 min', id {settings.plan_id}",
            "849 steps of 10 s" if settings.interval_steps == 849 else "steps of",
        ):
            assert words in opening, file.name
        assert target.checked in opening or file.name == trimming.NAME
        for figure in (str(settings.interval_steps), str(settings.local_steps)):
            for line in lines:
                if not line.startswith("#") and f" {figure}" in line.partition("#")[0]:
                    assert "# from the plan" in line
        assert file.content.endswith("\n")
        assert "\u00a0" not in file.content


# ---------------------------------------------------------------- what users write


@pytest.mark.parametrize("words", HOSTILE)
def test_names_and_folders_do_not_break_out(words: str) -> None:
    plain, hostile = settings_for(SYNC_NEAR), hostile_settings(words, SYNC_NEAR)
    for read in (section, call, table):
        wanted, found = read(plain), read(hostile)
        assert found.keys() == wanted.keys()
        folders = {"save", "load", "folder", "non_persistent_local_ckpt_dir"}
        assert {key: value for key, value in found.items() if key not in folders} == {
            key: value for key, value in wanted.items() if key not in folders
        }


@pytest.mark.parametrize("words", HOSTILE)
def test_nothing_breaks_out_of_the_shell(words: str, tmp_path: Path) -> None:
    written = LM.write(hostile_settings(words, SYNC_NEAR))
    file = tmp_path / "args.sh"
    file.write_text(written.files[0].content)
    script = 'source "$1"; printf "%s\\0" "${CHECKPOINT_ARGS[@]}"; ls -A'
    done = subprocess.run(
        ["bash", "-euc", script, "bash", file],
        capture_output=True,
        check=True,
        timeout=20,
        cwd=tmp_path,
        env={"PATH": "/usr/bin:/bin"},
    )
    *found, listing = done.stdout.decode().split("\0")
    assert listing.split() == ["args.sh"]
    assert done.stderr == b""
    assert [word for word in found if word.startswith("--") and " " not in word] == [
        *flags_of(content(LM, settings_for(SYNC_NEAR)))
    ]
    one_line = "".join(" " if ord(sign) < 32 or sign in "\x7f\u0085\u2028" else sign for sign in words)
    assert found[1] == found[3] == ("./" if one_line.startswith("-") else "") + one_line
    assert subprocess.run(["bash", "-n"], input=written.files[1].content.encode(), timeout=20).returncode == 0


# ---------------------------------------------------------------- no plan makes a file that breaks a rule


def check_local(found: dict[str, int], is_async: bool, is_near: bool, ranks: int) -> None:
    """Rules that both Megatrons share."""
    assert found["save"] >= 1
    assert not (is_async and is_near)
    if is_near:
        assert found["save"] % found["near"] == 0
        assert found["near"] < found["save"]
    if "jump" in found:
        assert is_near
        assert ranks % (found["jump"] * found["factor"]) == 0
        assert found["factor"] > 1


@given(SCENARIOS)
@MOST
def test_no_plan_breaks_a_rule_of_megatron(made: Scenario) -> None:
    settings = planned(made)
    if settings is None:
        return
    flags = flags_of(content(LM, settings))
    names = {
        "save": "--save-interval", "near": "--non-persistent-save-interval", "jump": "--replication-jump",
        "factor": "--replication-factor",
    }  # fmt: skip
    numbers = {short: int(flags[flag]) for short, flag in names.items() if flag in flags}
    check_local(numbers, "--async-save" in flags, "--non-persistent-ckpt-type" in flags, settings.world_size)
    assert ("--async-save" in flags) == ("--use-persistent-ckpt-worker" in flags)
    assert ("--replication" in flags) == ("--replication-jump" in flags) == ("--replication-factor" in flags)
    if "--save-retain-interval" in flags:
        assert int(flags["--save-retain-interval"]) % numbers["save"] == 0
        assert int(flags["--save-retain-interval"]) > numbers["save"]
        assert settings.keep == 1
    stop_s = settings.stop_s if "--async-save" in flags else max(settings.stop_s, settings.write_s)
    assert int(flags.get("--distributed-timeout-minutes", 10)) * 60 > stop_s
    found = section(settings)
    keys = {
        "save": "save_interval", "near": "non_persistent_save_interval", "jump": "replication_jump",
        "factor": "replication_factor",
    }  # fmt: skip
    assert {short: found[key] for short, key in keys.items() if key in found} == numbers
    assert found["async_save"] == found["use_persistent_ckpt_worker"] == ("--async-save" in flags)
    assert found["most_recent_k"] == settings.keep >= 1
    assert found.get("distributed_timeout_minutes", 10) * 60 > stop_s


@given(SCENARIOS)
@MOST
def test_no_plan_breaks_a_rule_of_torchtitan(made: Scenario) -> None:
    settings = planned(made)
    if settings is None:
        return
    found = call(settings)
    assert found.pop("load_only") is False
    assert found == table(settings)
    assert found["enable"] is True
    assert found["interval"] == settings.interval_steps >= 1
    assert found["keep_latest_k"] == max(settings.keep, 2)
    assert found["last_save_model_only"] is False
    stop_s = settings.stop_s if settings.is_async else max(settings.stop_s, settings.write_s)
    assert found.get("train_timeout_seconds", 100) > stop_s
    findings = said(TITAN.write(settings))
    assert ("local.enabled" in findings) == settings.has_local
    assert ("storage.generations_kept" in findings) == (settings.keep < 2)


@given(SCENARIOS)
@MOST
def test_what_is_not_as_planned_is_said(made: Scenario) -> None:
    settings = planned(made)
    if settings is None:
        return
    for target in (LM, BRIDGE):
        written = target.write(settings)
        words, text = said(written), written.files[0].content
        is_async = "--async-save" in text.split("CHECKPOINT_ARGS")[-1] or "async_save: true" in text
        assert is_async == settings.is_async or "storage.mode" in words
        assert (
            settings.has_local == ("save_interval" in text.replace("-", "_").partition("non_persistent")[2])
            or "local.ratio" in words
        )
        if settings.factor > 1:
            replicated = "replication-factor" in text or "replication_factor" in text
            assert replicated or words.keys() & {"replication.factor", "local.ratio"}


def test_the_names_of_the_targets() -> None:
    assert [target.id for target in (*megatron.TARGETS, *torchtitan.TARGETS)] == [
        "megatron-lm", "megatron-bridge", "torchtitan", "torchtitan-0.2",
    ]  # fmt: skip
    assert Names().shared_folder in content(TITAN, settings_for())
