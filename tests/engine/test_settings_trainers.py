"""Hugging Face, Lightning, NeMo 2, DeepSpeed, nvidia-resiliency-ext and DCP: what is written, and what they cannot do.

The real libraries are asked by packaging/check_settings_libraries.py.
"""

from __future__ import annotations

import ast
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from ckptplanner.engine.operations import SaveRow
from ckptplanner.engine.scenario import Scenario
from ckptplanner.engine.settings.nvrx import checkpointing_timeout_s
from ckptplanner.engine.settings.read_back import read
from ckptplanner.engine.settings.registry import target
from ckptplanner.engine.settings.target import Names, Settings, Written
from ckptplanner.frozen import with_value
from tests.engine.settings_cases import settings_for
from tests.engine.settings_plans import EVIL, EVIL_NAMES, content, sentences, settings

SYNC: dict[str, Any] = {"storage.mode": "sync", "storage.write_s": 60.0}
SINGLE: dict[str, Any] = {"workload.writer": "single", "storage.write_s": 600.0}
LOCAL: dict[str, Any] = {"local.enabled": True, "replication.factor": 2}
SAMPLE: dict[str, Any] = {"storage.interval_s": 1340.0}  # 134 steps of 10 s, as in the validated samples


def written(id: str, *groups: dict[str, Any], **more: Any) -> Written:
    return target(id).write(settings(*groups, **more))


def values(done: Written, name: str) -> dict[str, Any]:
    """What a Python or YAML file says, by name."""
    return dict(read(next(file for file in done.files if file.name == name)).values)


# ---------------------------------------------------------------- Hugging Face


def test_hugging_face_takes_the_values_of_the_sample() -> None:
    done = written("hf-trainer", SAMPLE)
    found = json.loads(content(done, "hf_training_args.json"))
    sample = {"save_strategy": "steps", "save_steps": 134, "save_total_limit": 3, "save_only_model": False,
              "enable_jit_checkpoint": True}  # fmt: skip
    assert {name: found[name] for name in sample} == sample
    assert found["ddp_timeout"] == 1800, "its default is above three writes of 5 min"
    assert "save_steps: from the plan, a save every 22 min 20 s" in content(done, "hf_training_args.json.README.txt")
    assert "accepted by transformers 5.24.0" in content(done, "hf_training_args.json.README.txt")


def test_hugging_face_waits_longer_where_a_write_is_longer() -> None:
    found = json.loads(content(written("hf-trainer", storage={"write_s": 1200.0}), "hf_training_args.json"))
    assert found["ddp_timeout"] == 3600


def test_hugging_face_has_no_asynchronous_saving() -> None:
    said = sentences(written("hf-trainer"))
    assert "warning storage.mode Hugging Face Trainer has no asynchronous saving: each save stops training for 5 min" in said
    assert "target dcp" in said
    assert sentences(written("hf-trainer", SYNC)) == ""


@pytest.mark.parametrize("id", ["hf-trainer", "lightning", "nemo2", "deepspeed", "dcp"])
def test_one_level_is_said_where_the_plan_has_two(id: str) -> None:
    assert "has no local saves" in sentences(written(id, LOCAL, SYNC))
    assert "has no local saves" in sentences(written(id, SYNC, {"replication.factor": 2}))
    assert "has no local saves" not in sentences(written(id, SYNC))


# ---------------------------------------------------------------- Lightning and NeMo 2


def test_lightning_keeps_the_newest_by_their_step() -> None:
    found = values(written("lightning", SAMPLE, SYNC), "lightning_plan.py")
    sample = {"dirpath": "/fsx/checkpoints", "every_n_train_steps": 134, "monitor": "step", "mode": "max", "save_top_k": 3}
    assert {name: found[name] for name in sample} == sample
    assert "train_time_interval" not in found, "it excludes every_n_train_steps"


def test_lightning_saves_asynchronously_where_one_node_writes() -> None:
    done = written("lightning", SINGLE)
    found = values(done, "lightning_plan.py")
    assert found["save_top_k"] == 4, "Lightning removes the oldest while the newest is being written"
    assert "plugins = [AsyncCheckpointIO()]" in content(done, "lightning_plan.py")
    assert "info storage.mode Lightning's asynchronous saving is experimental" in sentences(done)
    sharded = written("lightning")
    assert "plugins = []" in content(sharded, "lightning_plan.py")
    assert "import AsyncCheckpointIO" not in content(sharded, "lightning_plan.py")
    assert "Lightning's sharded strategy has no asynchronous saving" in sentences(sharded)
    assert values(sharded, "lightning_plan.py")["state_dict_type"] == "sharded"


def test_nemo_reads_steps_from_names() -> None:
    done = written("nemo2", SAMPLE)
    found = values(done, "nemo2_plan.py")
    sample = {"every_n_train_steps": 134, "save_top_k": 3, "ckpt_async_save": True, "save_ckpt_format": "torch_dist",
              "save_last": False, "filename": "{step}-{consumed_samples}"}  # fmt: skip
    assert {name: found[name] for name in sample} == sample
    assert "not run here" in content(done, "nemo2_plan.py")
    assert "target megatron-bridge" in sentences(done)
    assert values(written("nemo2", SYNC), "nemo2_plan.py")["ckpt_async_save"] is False
    assert "has that word in it" in sentences(written("nemo2", names=Names(shared_folder="/fsx/steps")))


# ---------------------------------------------------------------- DeepSpeed


def test_deepspeed_writes_asynchronously_only_below_its_own_timeout() -> None:
    short = written("deepspeed", storage={"write_s": 120.0})
    assert json.loads(content(short, "deepspeed_checkpoint.json"))["checkpoint"]["writer"]["decoupled"] is True
    assert "waits for its asynchronous writer before the next optimizer step" in sentences(short)
    long = written("deepspeed", storage={"write_s": 600.0})
    assert "writer" not in json.loads(content(long, "deepspeed_checkpoint.json"))["checkpoint"]
    assert "ends the run when a write takes 5 min" in sentences(long)
    assert sentences(written("deepspeed", SYNC)) == ""


class Engine:
    """What DeepSpeed's engine does with a folder when it saves synchronously."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.global_steps, self.global_rank = folder, 0, 0

    def save_checkpoint(self, folder: str, client_state: Any) -> None:
        assert Path(folder) == self.folder
        (self.folder / f"global_step{self.global_steps}").mkdir(parents=True)
        (self.folder / "latest").write_text(f"global_step{self.global_steps}")


def run(text: str) -> dict[str, Any]:
    names: dict[str, Any] = {"__name__": "settings"}
    exec(compile(text, "settings", "exec"), names)
    return names


def test_the_lines_for_deepspeed_save_and_trim(tmp_path: Path) -> None:
    folder = tmp_path / "it's $(x)"
    made = settings({**SYNC, "storage.interval_s": 30.0, "storage.generations_kept": 3}, names=Names(shared_folder=str(folder)))
    code = run(content(target("deepspeed").write(made), "deepspeed_saves.py"))
    assert (code["SAVE_EVERY_STEPS"], code["KEEP"]) == (3, 2)
    engine = Engine(folder)
    saves = code["Saves"](engine)
    most = 0
    for micro_step in range(40):
        engine.global_steps = micro_step // 2  # gradient accumulation: the same step twice
        saves.after_step(engine)
        most = max(most, len(list(folder.glob("global_step*"))))
    assert sorted(path.name for path in folder.glob("global_step*")) == ["global_step15", "global_step18"]
    assert most <= 3, "k of the plan"
    (folder / "global_step99").mkdir()  # being written: newer than latest
    (folder / "global_stepx").mkdir()
    code["trim"]()
    assert (folder / "global_step99").is_dir()
    code["trim"](tmp_path / "nowhere")


# ---------------------------------------------------------------- DCP


def test_dcp_holds_the_plan() -> None:
    done = written("dcp", SAMPLE)
    found = values(done, "dcp_saves.py")
    assert (found["save_every_steps"], found["keep"], found["is_async"], found["save_timeout_s"]) == (134, 3, True, 900)
    assert values(written("dcp", SYNC), "dcp_saves.py")["is_async"] is False
    assert sentences(done) == ""
    assert "AsyncCheckpointerType.PROCESS" in content(done, "dcp_saves.py")


# ---------------------------------------------------------------- nvidia-resiliency-ext


def test_the_timeouts_of_nvrx_stand_above_a_save() -> None:
    done = written("nvrx", SYNC)
    found = yaml.safe_load(content(done, "nvrx_ft.yaml"))["fault_tolerance"]
    assert found["rank_section_timeouts"] == {"setup": 900, "step": 180, "checkpointing": 300}
    assert found["checkpoint_iteration_file"] == "/fsx/checkpoints/latest_checkpointed_iteration.txt"
    assert found["max_no_progress_cycles"] == 3
    assert found["rank_heartbeat_timeout"] is None
    slow = settings({**SYNC, "storage.write_s": 1000.0})
    assert checkpointing_timeout_s(slow) == 3000


def test_nvrx_restarts_as_often_as_interruptions_are_expected() -> None:
    found = values(written("nvrx"), "nvrx_launch.sh")
    assert (found["nnodes"], found["nproc_per_node"]) == (32, 8)
    assert found["max_restarts"] == 74, "43.8 expected in a year at 200 h, and four standard deviations"
    spare = values(written("nvrx", {"spares.nodes": 2, "planned.every_s": 86_400.0}), "nvrx_launch.sh")
    assert spare["nnodes"] == "32:34"
    assert spare["max_restarts"] == 5, "the launcher starts anew after each planned stop"


def test_local_checkpoints_of_nvrx() -> None:
    assert [file.name for file in written("nvrx").files] == ["nvrx_ft.yaml", "nvrx_launch.sh"]
    made = settings(LOCAL, SYNC)
    done = target("nvrx").write(made)
    found = values(done, "nvrx_local.py")
    assert (found["replication_jump"], found["replication_factor"]) == (8, 2)
    assert found["save_locally_every_steps"] == made.local_steps
    assert found["save_every_steps"] == made.interval_steps
    assert "keeps one complete local checkpoint" in sentences(done)
    assert "Megatron-LM cannot make local saves" in sentences(written("nvrx", LOCAL))
    assert "cannot make local saves" not in sentences(done)


def test_copies_that_cannot_be_formed_are_left_out_and_said() -> None:
    done = written("nvrx", {"local.enabled": True, "replication.factor": 3})
    assert "replication_factor" not in values(done, "nvrx_local.py")
    assert "CliqueReplicationStrategy" not in content(done, "nvrx_local.py").replace(target("nvrx").checked, "")
    assert "3 copies with a jump of 8 do not divide 256 ranks: local saves are written without copies" in sentences(done)


def test_nvrx_with_a_framework_that_tells_it_nothing() -> None:
    done = written("nvrx", workload={"framework": "TorchTitan"})
    assert "checkpoint_iteration_file" not in content(done, "nvrx_ft.yaml")
    assert "ft-checkpoint-iteration-file" not in content(done, "nvrx_launch.sh")
    assert "TorchTitan does not write its newest iteration into a file" in sentences(done)


# ---------------------------------------------------------------- names that try to break out


def evil(*groups: dict[str, Any]) -> Settings:
    return settings(LOCAL, *groups, name=EVIL, names=EVIL_NAMES)


TRAINERS = ("hf-trainer", "lightning", "nemo2", "deepspeed", "nvrx", "dcp")


@pytest.mark.parametrize("id", TRAINERS)
def test_python_files_hold_evil_names_as_strings(id: str) -> None:
    for file in target(id).write(evil(SYNC)).files:
        if file.language == "python":
            strings = {node.value for node in ast.walk(ast.parse(file.content)) if isinstance(node, ast.Constant)}
            folder = EVIL_NAMES.local_folder if "nvrx" in file.name else EVIL_NAMES.shared_folder
            assert folder in strings
            plain = content(target(id).write(settings(LOCAL, SYNC)), file.name)
            assert shape(file.content) == shape(plain), "nothing but strings differs"


def shape(text: str) -> str:
    """The statements without their strings."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            node.value = ""
    return ast.dump(tree)


def test_json_and_yaml_hold_evil_names_as_strings() -> None:
    assert json.loads(content(target("hf-trainer").write(evil()), "hf_training_args.json"))["output_dir"] == EVIL
    found = yaml.safe_load(content(target("nvrx").write(evil()), "nvrx_ft.yaml"))["fault_tolerance"]
    assert found["cycle_info_dir"] == EVIL_NAMES.log_folder
    assert found["checkpoint_iteration_file"] == f"{EVIL}/latest_checkpointed_iteration.txt"
    assert len(found) == 7


@pytest.mark.skipif(shutil.which("bash") is None, reason="the launcher is a script for bash, which is not here")
def test_the_launcher_passes_evil_names_as_one_word(tmp_path: Path) -> None:
    stub = tmp_path / "ft_launcher"
    stub.write_text(f"#!{sys.executable}\nimport json, sys\nprint(json.dumps(sys.argv[1:]))\n")
    stub.chmod(0o755)
    script = tmp_path / "launch.sh"
    script.write_text(content(target("nvrx").write(evil()), "nvrx_launch.sh"), encoding="utf-8")
    done = subprocess.run(["bash", script, "a b"], capture_output=True, text=True, check=True,
                          env={"PATH": f"{tmp_path}:/usr/bin:/bin", "LC_ALL": "C.UTF-8"})  # fmt: skip
    given = json.loads(done.stdout)
    assert len(given) == 7
    assert given[-1] == "a b"
    assert given[4].startswith("--ft-cycle-info-dir=/log/a'b\"c`id`$(rm -rf /) #x */")


@pytest.mark.parametrize("id", [*TRAINERS, "slurm", "jobset"])
def test_every_file_opens_with_the_plan_and_says_what_comes_from_it(id: str) -> None:
    done = target(id).write(evil())
    for file in done.files:
        beside = f"{file.name}.README.txt"
        head = content(done, beside) if file.language == "json" else file.content
        opening = head.splitlines()[:10]
        assert any("by ckptplanner" in line for line in opening), file.name
        assert any("save every" in line for line in opening), file.name
        if file.language in {"shell", "yaml", "python"}:
            assert all(line.startswith("#") for line in opening[:5])
            assert "# from the plan" in file.content
        assert not re.search(r"[\u2028\x00\u00a0\u2009]", file.content), file.name


@pytest.mark.parametrize("id", [*TRAINERS, "slurm", "jobset"])
def test_the_same_plan_gives_the_same_files(id: str) -> None:
    assert target(id).write(evil()) == target(id).write(evil())


@pytest.mark.parametrize("name", ["hf-trainer", "lightning", "nemo2", "deepspeed", "dcp"])
def test_permanent_saves_that_a_target_would_delete_are_said(name: str) -> None:
    """SPEC 13: one permanent save a day; what keeps the newest alone deletes it like any other."""
    plain = settings_for()
    kept = settings_for(with_value(Scenario(), "saves", (SaveRow(kind="permanent", every_s=86_400.0, to="shared"),)))
    said = [one for one in target(name).write(kept).findings if one.path == "saves"]
    assert len(said) == 1
    assert "deletes permanent saves" in str(said[0].text)
    assert not [one for one in target(name).write(plain).findings if one.path == "saves"]
