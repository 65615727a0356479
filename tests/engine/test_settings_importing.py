"""Present settings read back: every way people write them, what they really do, and the round trip of what is exported."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ckptplanner.engine.evaluate import plan_of
from ckptplanner.engine.scenario import NamedScenario, Scenario
from ckptplanner.engine.settings import huggingface, megatron, torchtitan
from ckptplanner.engine.settings.importing import (
    ImportedSettings,
    adopted_settings,
    edits_for,
    group_finding,
    read_settings,
)
from ckptplanner.engine.settings.permanent import permanent_steps
from ckptplanner.engine.settings.reading import MAX_CHARACTERS
from ckptplanner.engine.settings.target import Settings, settings_of
from tests.engine.build import STEADY, scenario
from tests.engine.framework_cases import SCENARIOS, TWO_LEVELS, by_id, content, planned, settings_for

MOST = settings(STEADY, max_examples=150)
LM, BRIDGE = (by_id(megatron.TARGETS, name) for name in ("megatron-lm", "megatron-bridge"))
TITAN, OLD_TITAN = (by_id(torchtitan.TARGETS, name) for name in ("torchtitan", "torchtitan-0.2"))


def values(read: ImportedSettings) -> dict[str, Any]:
    return {one.path: one.value for one in read.edits}


def lines(read: ImportedSettings) -> dict[str, int | None]:
    return {one.path: one.line for one in read.edits}


def said(read: ImportedSettings, severity: str = "") -> str:
    return "\n".join(one.message for one in read.findings if severity in {"", one.severity})


# ---------------------------------------------------------------- the ways people write them

ARGUMENTS = (
    "--save /c --save-interval 134 --async-save --use-persistent-ckpt-worker --async-strategy mcore --save-retain-interval 1340"
)
WAYS = {
    "a line": ARGUMENTS,
    "equal signs": "--save=/c --save-interval=134 --async-save --use-persistent-ckpt-worker --async-strategy=mcore"
    " --save-retain-interval=1340",
    "continued": "torchrun pretrain_gpt.py \\\n  " + ARGUMENTS.replace(" --", " \\\n  --") + "\n",
    "a file of arguments": ARGUMENTS.replace(" --", "\n--"),
    "quoted": "--save '/c d' --save-interval \"134\" --async-save --use-persistent-ckpt-worker --async-strategy 'mcore' "
    '--save-retain-interval "1340"',
    "a bash array": f"ARGS=(\n  # --save-interval 7\n  {ARGUMENTS}  # --save-interval 8\n)\n",
    "a string of arguments": f'ARGS="\n    {ARGUMENTS}\n"\ntorchrun x.py $ARGS',
    "a string, continued": 'ARGS="' + ARGUMENTS.replace(" --", " \\\n  --") + '"',
    "variables": "SAVE=/c\nexport N=134\nR=${R:-1340}\n"
    + ARGUMENTS.replace("/c", "$SAVE").replace(" 134 ", " ${N} ").replace("1340", '"$R"'),
    "Windows line ends": ARGUMENTS.replace(" --", "\r\n--"),
    "an alias": ARGUMENTS.replace("--save-interval", "--persistent-save-interval"),
    "the last one counts": "--save-interval 7 " + ARGUMENTS,
    "sbatch": "#!/bin/bash\n#SBATCH --nodes=32\n#SBATCH --job-name=it's\nset -e\n\nsrun --ntasks=1 bash -c \"torchrun x.py "
    + ARGUMENTS + '"\n',
    "a list of Kubernetes": "args:\n- torchrun\n"
    + "".join(f'- "{word}"\n' if word.isdigit() else f"- {word}\n" for word in ARGUMENTS.split()) + "- name: x\n",
    "a list in a container": "  - name: a\n    args: ['x.py']\n  - name: b\n    args:\n"
    + "".join(f"      - {word}\n" for word in ARGUMENTS.split()),
    "a flow list": "command: [" + ", ".join(f'"{word}"' for word in ("x.py " + ARGUMENTS).split()) + "]",
    "a tight list": "command:[" + ",".join(f'"{word}"' for word in ("x.py " + ARGUMENTS).split()) + "]",
    "bare words in a list": "args: [" + ", ".join(ARGUMENTS.split()) + "]",
    "a list in Python": "args = [\n  'x.py',\n" + "".join(f"  '{word}',\n" for word in ARGUMENTS.split()) + "]",
    "lines of a list": "".join(f'  "{word}",\n' for word in ARGUMENTS.replace(" --", "\n--").split("\n"))
    .replace(" /c", '", "/c').replace(" 134", '", "134').replace(" mcore", '", "mcore').replace(" 1340", '", "1340'),
    "a word a line": ARGUMENTS.replace(" ", "\n"),
    "beside another command": f"srun python pretrain_gpt.py {ARGUMENTS}\nsrun python convert.py --save /e",
    "an array beside another command": f"A=(\n{ARGUMENTS}\n)\nsrun python convert.py --save /e; torchrun pretrain.py ${{A[@]}}",
    "what Megatron prints": "[2026-11-29] ------------ arguments ------------\n  save ............................ /c\n"
    "  save_interval ................... 134\n  async_save ...................... True\n"
    "  use_persistent_ckpt_worker ...... True\n  async_strategy .................. mcore\n"
    "  save_retain_interval ............ 1340\n",
    "a YAML dump": "# args\nasync_save: true\nasync_strategy: mcore\nsave: /c\nsave_interval: 134\nsave_retain_interval: 1340\n"
    "use_persistent_ckpt_worker: true\nnon_persistent_ckpt_type: null\n",
    "JSON": json.dumps(
        {"save": "/c", "save_interval": 134, "async_save": True, "use_persistent_ckpt_worker": True, "async_strategy": "mcore",
         "save_retain_interval": 1340}, indent=1,
    ),
}  # fmt: skip


@pytest.mark.parametrize("way", WAYS)
def test_megatron_lm_however_it_is_written(way: str) -> None:
    read = read_settings(WAYS[way])
    assert read.refusal is None
    assert read.dialect == "megatron-lm"
    assert values(read) == {
        "workload.framework": "Megatron-LM", "storage.interval_s": 134, "storage.mode": "async", "storage.generations_kept": 2,
        "local.enabled": False, "replication.factor": 1,
    }  # fmt: skip
    assert read.interval_steps == 134
    text = WAYS[way].replace("\r\n", "\n").split("\n")
    line = lines(read)["storage.interval_s"]
    assert line is not None
    assert "interval" in text[line - 1]
    again = "\nNot read: line 1: --save-interval 7. The same is set again below, and the last one counts."
    expected = "Only the newest complete save stays, and every 1,340 steps one for good."
    assert said(read) == expected + (again if way == "the last one counts" else "")


LOCAL = (
    "--save /c --save-interval 1340 --save-retain-interval 13400 --non-persistent-ckpt-type local "
    "--non-persistent-local-ckpt-dir /l --non-persistent-save-interval 134 --replication "
    "--replication-jump 8 --replication-factor 2"
)


def test_the_sample_with_local_saves() -> None:
    read = read_settings(LOCAL)
    assert values(read) == {
        "workload.framework": "Megatron-LM", "storage.interval_s": 1340, "storage.mode": "sync", "storage.generations_kept": 2,
        "local.enabled": True, "local.interval_s": 134, "local.ratio": 10, "replication.factor": 2, "replication.jump": 8,
    }  # fmt: skip
    assert said(read, "error") == said(read, "warning") == ""


BRIDGE_YAML = """\
model: {num_layers: 4}
checkpoint:
  _target_: megatron.bridge.training.config.CheckpointConfig
  save: /fsx/ckpt
  save_interval: 134  # steps
  async_save: true
  most_recent_k: 3
  inner:
    save_interval: 7
train:
  save_interval: 9
"""


def test_megatron_bridge() -> None:
    read = read_settings(BRIDGE_YAML)
    assert read.dialect == "megatron-bridge"
    assert values(read) == {
        "workload.framework": "Megatron Bridge", "storage.interval_s": 134, "storage.mode": "async",
        "storage.generations_kept": 4, "local.enabled": False, "replication.factor": 1,
    }  # fmt: skip
    assert (lines(read)["storage.interval_s"], lines(read)["storage.generations_kept"]) == (5, 7)
    assert read.findings == ()


def test_megatron_bridge_in_python() -> None:
    written = (
        "cfg = recipe()\ncfg.checkpoint = CheckpointConfig(save='/c', save_interval=10 * 13, async_save=True)\n"
        "cfg.checkpoint.save_interval = 134\ncfg.checkpoint.most_recent_k = 3\n"
    )
    read = read_settings(written)
    assert (read.dialect, read.interval_steps, values(read)["storage.generations_kept"]) == ("megatron-bridge", 134, 4)


TITAN_PYTHON = """\
from torchtitan.components.checkpointer import CheckpointManager
import os; os.system("touch broken")
def llama3():
    return Trainer.Config(
        checkpoint=CheckpointManager.Config(
            enable=True, interval=134,
            async_mode="async_with_pinned_mem",
            keep_latest_k=3, last_save_model_only=False,
        ),
    )
"""


def test_torchtitan_in_python_is_never_executed(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    read = read_settings(TITAN_PYTHON)
    assert not (tmp_path / "broken").exists()
    assert read.dialect == "torchtitan"
    assert values(read) == {
        "workload.framework": "TorchTitan", "storage.interval_s": 134, "storage.mode": "async", "storage.generations_kept": 4,
        "local.enabled": False, "replication.factor": 1,
    }  # fmt: skip
    assert (lines(read)["storage.interval_s"], lines(read)["storage.mode"]) == (6, 7)
    assert read.findings == ()


@pytest.mark.parametrize(
    "written",
    [
        'config.checkpoint.enable = True\nconfig.checkpoint.interval = 134\nconfig.checkpoint.async_mode = "async"\n',
        "./run_train.sh --checkpoint.enable --checkpoint.interval 134 --checkpoint.async_mode=async",
        '[job]\nx = "o"\n[checkpoint]  # here\nenable = true\ninterval = 134\nasync_mode = "async"\n[comm]\ninterval = 5\n',
    ],
)
def test_torchtitan_in_other_ways(written: str) -> None:
    read = read_settings(written)
    assert read.dialect.startswith("torchtitan")
    assert (values(read)["storage.interval_s"], values(read)["storage.mode"]) == (134, "async")
    assert values(read)["storage.generations_kept"] == 11, "the default of 10, and one more while it is written"
    assert "keep_latest_k is not set: 10 generations stay" in said(read)
    assert "last_save_model_only is on" in said(read)


def test_names_of_torchtitan_before_0_2() -> None:
    """As its parsers had them: interval_type and model_weights_only before 0.1.0, where keep_latest_k was 0 by default."""
    read = read_settings('[checkpoint]\nenable_checkpoint = true\ninterval_type = "seconds"\ninterval = 3600\n')
    assert values(read) == {
        "workload.framework": "TorchTitan", "storage.interval_s": 3600, "storage.mode": "sync", "local.enabled": False,
        "replication.factor": 1,
    }  # fmt: skip
    assert lines(read)["storage.interval_s"] == 4
    assert read.interval_steps is None
    assert dict(edits_for(read, 20.0))["storage.interval_s"] == 3600
    assert said(read, "warning") == "keep_latest_k is not set: nothing is deleted, and the file system fills."
    huge = read_settings(f'[checkpoint]\nenable_checkpoint = true\ninterval_type = "seconds"\ninterval = {10**15}\n')
    adopted_settings(NamedScenario(name="mine"), huge)
    steps = read_settings('[checkpoint]\nenable_checkpoint = true\ninterval_type = "steps"\ninterval = 134\n')
    assert steps.interval_steps == 134


def test_the_command_line_of_torchtitan_0_1() -> None:
    read = read_settings("./run_train.sh --checkpoint.enable_checkpoint --checkpoint.interval 134")
    assert (read.dialect, read.interval_steps) == ("torchtitan", 134)
    assert "storage.generations_kept" not in values(read), "10 in 0.1.0, none deleted before it"
    assert said(read, "warning") == (
        "keep_latest_k is not set: TorchTitan 0.1.0 keeps 10 generations, what is older deletes nothing."
    )
    assert "enable_checkpoint is a name of TorchTitan 0.1.0 and older" in said(read, "info")
    kept = read_settings("[checkpoint]\nenable_checkpoint = true\nkeep_latest_k = 3\n")
    assert values(kept)["storage.generations_kept"] == 4
    assert said(kept, "warning") == ""


HUGGING = {"output_dir": "o", "save_strategy": "steps", "save_steps": 134, "save_total_limit": 3, "save_only_model": False}


@pytest.mark.parametrize(
    "written",
    [
        json.dumps(HUGGING, indent=2),
        json.dumps({"training": HUGGING}),
        "args = TrainingArguments('o', save_strategy='steps', save_steps=134, save_total_limit=3)",
        "cfg = SFTConfig(output_dir='o', save_strategy=IntervalStrategy.STEPS, save_steps=134, save_total_limit=3)",
        "python train.py --save_strategy steps --save_steps 134 --save_total_limit 3",
    ],
)
def test_hugging_face(written: str) -> None:
    read = read_settings(written)
    assert read.dialect == "hf-trainer"
    assert values(read) == {
        "workload.framework": "Hugging Face Trainer", "storage.mode": "sync", "storage.interval_s": 134,
        "storage.generations_kept": 4, "local.enabled": False, "replication.factor": 1,
    }  # fmt: skip
    assert said(read, "error") == ""


# ---------------------------------------------------------------- what they really do

REALLY = [
    ("--save /c --save-interval 5 --async-save", "warning", "switched off, with a line in the log only"),
    ("--save /c --save-interval 5", "warning", "Nothing is deleted"),
    ("--save /c --save-interval 5 --save-retain-interval 5", "warning", "Nothing is deleted"),
    ("--save /c --save-interval 5 --save-retain-interval 12", "error", "not a multiple of save_interval 5"),
    ("--save /c --async-save", "error", "save without save_interval"),
    ("--save-interval 5", "warning", "No folder to save to"),
    ("--save /c --save-interval 5 --most-recent-k 3", "warning", "its parser refuses it"),
    ("--save /c --save-interval 5 --async-save --ckpt-format torch", "error", "need torch_dist"),
    (LOCAL.replace("--replication-jump 8 ", ""), "error", "replication without replication_jump"),
    (LOCAL.replace("--non-persistent-ckpt-type local", ""), "error", "replication without local saves"),
    (LOCAL.replace("--replication ", ""), "warning", "replication_jump without replication is ignored"),
    (LOCAL.replace(" 134 ", " 300 "), "warning", "1,340 steps are not a multiple of 300"),
    (LOCAL.replace(" 134 ", " 1340 "), "warning", "is skipped: none is made"),
    (LOCAL.replace(" 134 ", " 2680 "), "warning", "is skipped: none is made"),
    (LOCAL.replace("--non-persistent-local-ckpt-dir /l", ""), "error", "without non_persistent_local_ckpt_dir"),
    (LOCAL.replace("--non-persistent-save-interval 134", ""), "warning", "none is ever made"),
    (LOCAL.replace("local ", "in_memory ", 1), "error", "in_memory is listed and refused"),
    (LOCAL + " --async-save --use-persistent-ckpt-worker", "warning", "does not save asynchronously and to local drives"),
    (LOCAL + " --use-checkpoint-args", "error", "use_checkpoint_args is refused"),
    (LOCAL.replace("type local", "type global"), "info", "every 134 steps and replace one another"),
    (
        "checkpoint:\n  save: /c\n  save_interval: 5\n  async_save: true\n  use_persistent_ckpt_worker: false", "error",
        "stops at its start",
    ),
    ("checkpoint:\n  save: /c\n  save_interval: 5", "warning", "Nothing is deleted"),
    ("checkpoint:\n  save: /c\n  async_save: true\n", "error", "nothing is saved while training runs"),
    ("checkpoint:\n  save: /c\n  save_interval: 5\n  most_recent_k: 0", "error", "nothing to restart from"),
    ("checkpoint:\n  save: /c\n  save_interval: 5\n  also_save_hf_checkpoint: true", "warning", "while training stands still"),
    ("[checkpoint]\ninterval = 5", "warning", "checkpoints are off by default"),
    ("[checkpoint]\nenable = false", "warning", "enable is off"),
    ("[checkpoint]\nenable = true\nkeep_latest_k = 0", "warning", "keeps every save"),
    ("[checkpoint]\nenable = true\nkeep_latest_k = 1", "error", "at least 2"),
    ("[checkpoint]\nenable = true\nasync_mode = 'yes'", "error", "async_mode yes is refused"),
    ("[checkpoint]\nenable = true\nload_only = true", "warning", "load_only is on"),
    ("[checkpoint]\nenable = true", "info", "0.3.0 and newer read no TOML"),
    ("[checkpoint]\nenable_checkpoint = false", "warning", "enable_checkpoint is off: nothing is saved"),
    ("[checkpoint]\nenable = true\nmodel_weights_only = false", "warning", "enable_checkpoint is not set, and"),
    ("[checkpoint]\nenable_checkpoint = true\nmodel_weights_only = true", "warning", "model_weights_only is on: the last"),
    ("[checkpoint]\nenable_checkpoint = true", "info", "0.2.0 and newer refuse it"),
    ('{"save_steps": 500}', "warning", "save_total_limit is not set"),
    ('{"save_steps": 0.1, "save_total_limit": 2}', "warning", "a share of the whole run"),
    ('{"save_strategy": "epoch"}', "warning", "no fixed number of steps"),
    ('{"save_strategy": "no"}', "warning", "nothing is saved"),
    ('{"save_only_model": true}', "warning", "nothing can resume"),
    ("--save /c --save-interval $N", "warning", "is no number that can be taken from the text"),
    ("--save /c --save-interval 0", "warning", "is no number that can be taken from the text"),
]  # fmt: skip


@pytest.mark.parametrize(("written", "severity", "words"), REALLY)
def test_what_settings_really_do(written: str, severity: str, words: str) -> None:
    assert words in said(read_settings(written), severity)


@pytest.mark.parametrize(
    ("written", "words"),
    [
        (
            "--save /x --save-interval abc --async-save --save-interval 100",
            "line 1: --save-interval abc. The same is set again",
        ),
        ("--save /x\n--save-interval 5\n--save-intervall 7", "line 3: --save-intervall 7. It is no setting"),
        ("--save /x --save-interval 5 --ckpt-every 3", "line 1: --ckpt-every 3. It is no setting"),
        ("checkpoint:\n  save_interval: 5\n  save: /x\n  save_most_recent: 3", "line 4: save_most_recent: 3. It is no setting"),
        ("save_strategy: steps\nsave_step: 500\nsave_total_limit: 2", "line 2: save_step: 500. It is no setting"),
        (
            "[checkpoint]\nenable = true\nsave_interval_steps = 5\ninterval = 6",
            "line 3: save_interval_steps = 5. It is no setting",
        ),
    ],
)
def test_what_looks_like_a_setting_of_checkpoints_is_not_passed_over(written: str, words: str) -> None:
    assert words in said(read_settings(written), "warning")


@pytest.mark.parametrize(
    "more",
    [
        "--lr 3 --bf16 --recompute-granularity full --no-gradient-checkpointing --log-interval 10",
        "--checkpoint-activations --distribute-checkpointed-activations --exit-signal-handler",
        "--no-save-optim --no-load-rng --ckpt-step 5 --use-checkpoint-args --exit-on-missing-checkpoint",
    ],
)
def test_other_arguments_are_silent(more: str) -> None:
    assert "Not read" not in said(read_settings(f"--save /x --save-interval 5 {more}"))


def test_the_list_that_a_program_prints_is_no_choice_of_anybody() -> None:
    listed = "  save_interval ................................... 5\n  some_new_ckpt_flag .............................. None\n"
    assert "Not read" not in said(read_settings(listed))


@pytest.mark.parametrize(
    ("written", "path", "words"),
    [
        ("save_strategy: epoch\nsave_total_limit: 3", "storage.interval_s", "not in steps: the plan's interval stays"),
        ("save_steps: 0.1\nsave_total_limit: 3", "storage.interval_s", "not in steps: the plan's interval stays"),
        ('save_strategy: "no"\nsave_total_limit: 3', "storage.interval_s", "nothing is saved: the plan's interval stays"),
        ("--save /x --save-interval $N", "storage.interval_s", "no whole number: the plan's value stays"),
        (
            "[checkpoint]\ninterval = 5\nkeep_latest_k = 'all'",
            "storage.generations_kept",
            "no whole number: the plan's value stays",
        ),
    ],
)
def test_a_line_without_a_value_says_that_the_plans_stays(written: str, path: str, words: str) -> None:
    read = read_settings(written)
    assert [(one.path, str(one.words)) for one in read.kept] == [(path, words)]
    assert path not in values(read)
    assert str(read.kept[0].where).startswith(f"line {read.kept[0].line}: ")


def test_async_that_is_switched_off_is_a_synchronous_plan() -> None:
    assert values(read_settings("--save /c --save-interval 5 --async-save"))["storage.mode"] == "sync"


def test_what_is_not_said_is_named_with_its_default() -> None:
    unsaid = [str(one) for one in read_settings("[checkpoint]\nenable = true").unsaid]
    assert unsaid[:3] == [
        "No interval: it is 500 steps.",
        "No async_mode: saves are synchronous.",
        "No keep_latest_k: it is 10.",
    ]
    assert "step time" in unsaid[3]
    assert "No save_retain_interval: nothing is deleted." in [str(one) for one in read_settings("--save-interval 5").unsaid]


def test_the_interval_becomes_a_time_with_the_step_time_of_the_plan() -> None:
    read = read_settings(ARGUMENTS)
    assert dict(edits_for(read, 20.0))["storage.interval_s"] == 2680.0
    named = adopted_settings(NamedScenario(name="mine", scenario=scenario(TWO_LEVELS, {"workload.step_s": 20.0})), read)
    assert named.scenario.storage.interval_s == 2680.0
    assert not named.scenario.local.enabled
    source = named.source_of("storage.interval_s")
    assert source is not None
    assert (source.kind, source.text) == ("typed", "line 1: --save-interval 134")


TWO = (
    "srun python convert.py --save /e --save-interval 1 --ckpt-format torch --most-recent-k 2",
    "srun python pretrain_gpt.py --save /d \\\n  --save-interval 500 --async-save --use-persistent-ckpt-worker",
)


@pytest.mark.parametrize("between", ["\n", " ; ", " && ", " | ", " & "])
@pytest.mark.parametrize("turned", [False, True])
def test_two_commands_are_not_mixed(between: str, turned: bool) -> None:
    """The one that trains is read, however much another says, and what that says otherwise is told."""
    written = between.join(reversed(TWO) if turned else TWO)
    read = read_settings(written)
    assert (read.interval_steps, values(read)["storage.mode"]) == (500, "async")
    of = {flag: next(n for n, line in enumerate(written.split("\n"), 1) if flag in line) for flag in (" 500", " 1 ")}
    assert (
        f"Line {of[' 500']}: --save-interval 500 is taken; another command says --save-interval 1 in line {of[' 1 ']}."
    ) in said(read, "warning")
    assert "most_recent_k" not in said(read)


def test_the_command_that_says_most_is_read() -> None:
    read = read_settings(
        "python a.py --save /e --save-interval 1\npython b.py --save /d --save-interval 500 --async-save 2>&1 | tee x"
    )
    assert (read.interval_steps, lines(read)["storage.interval_s"]) == (500, 2)
    assert "--save-interval 1 in line 1" in said(read)
    nested = read_settings(
        'srun bash -c "python a.py --save /d --save-interval 500"\nsrun bash -c "python b.py --save-interval 1"'
    )
    assert (nested.interval_steps, len([one for one in nested.findings if "another command" in one.message])) == (500, 1)
    parts = read_settings("command: ['x.py', '--save', '/d']\nargs: ['--save-interval', '5']")
    assert "No folder" not in said(parts), "a folder in another part of the text is taken where the command has none"
    assert read_settings("python a.py --extra\npython b.py --save-interval 5 --save /d").interval_steps == 5


def test_copies_that_the_ranks_of_the_plan_do_not_allow() -> None:
    named = NamedScenario(name="mine", scenario=scenario({"workload.nodes": 33}))
    found = group_finding(named, read_settings(LOCAL))
    assert found is not None
    assert "do not divide the 264 ranks" in found.message
    assert group_finding(NamedScenario(name="mine"), read_settings(LOCAL)) is None
    assert group_finding(named, read_settings(ARGUMENTS)) is None


# ---------------------------------------------------------------- what is none of these


@pytest.mark.parametrize(
    "written",
    [
        "", " \n", "\0", "=", "'", '"', "\\", "$(", "${", "--", "null", "[]", "{", "{}", '{"a": 1}', "x = 1", "--help",
        "Dear colleague, please save often.", "[checkpoint", "[checkpoint]\n= 1", "checkpoint:\n", "checkpoint:\n  save: /c",
        "print('--hello')", "--save-interval 5" * MAX_CHARACTERS, "f(" * 3000, "[" * 100_000, '{"a":' * 100_000,
        "a = " + "-" * 50_000 + "1", "x.save_steps(" + "1 + " * 20_000 + "1)", "a" + ".a" * 20_000 + " = 1",
    ],
    ids=lambda written: repr(written[:20]),
)  # fmt: skip
def test_an_unknown_text_is_refused_in_one_sentence(written: str) -> None:
    read = read_settings(written)
    assert read.refusal is not None
    assert str(read.refusal).count(".") == 1
    assert (read.edits, read.findings, read.unsaid) == ((), (), ())


PIECES = st.sampled_from(
    [
        "--save-interval", "--async-save", "=", " ", "\n", "\\\n", "'", '"', "#", "\\d", "$A", "${B:-5}", "A=", "(", ")",
        "{", "}", "[checkpoint]", "checkpoint:", "  save_interval: ", "134", "save_steps", ":", ",", "interval=",
        "CheckpointManager.Config(", "日本", "\t", "save_interval ....... 5", "--checkpoint.interval", "keep_latest_k = 3",
        "$(", "`", ";", "|", "--replication", "TrainingArguments(", "-5", "1e9", "0.5", "99" * 20,
    ]
)  # fmt: skip


@given(st.one_of(st.text(max_size=200), st.lists(PIECES, max_size=30).map("".join)))
@settings(STEADY, max_examples=400)
def test_any_text_gives_edits_that_fit_or_one_sentence(written: str) -> None:
    read = read_settings(written)
    if read.refusal is not None:
        return
    adopted_settings(NamedScenario(name="mine"), read)
    count = written.count("\n") + 1
    for one in read.edits:
        assert one.line is None or 1 <= one.line <= count
        assert str(one.where)
    for finding in read.findings:
        assert str(finding.text).endswith(".")


# ---------------------------------------------------------------- there and back


def again(target_file: str, settings: Settings) -> Settings:
    """What the settings of an exported file are in a plan that knew nothing of them."""
    work = settings.plan.scenario.workload
    blank = {"workload.step_s": settings.step_s, "workload.nodes": work.nodes, "workload.gpus_per_node": work.gpus_per_node}
    read = read_settings(target_file)
    assert read.refusal is None
    assert "error" not in {one.severity for one in read.findings}
    named = adopted_settings(NamedScenario(name="back", scenario=scenario(blank)), read)
    return settings_of(named, plan_of(named))


def test_the_round_trip_of_two_levels() -> None:
    settings = settings_for(TWO_LEVELS, {"storage.mode": "sync", "replication.factor": 4, "replication.jump": 16})
    for target in (LM, BRIDGE):
        back = again(content(target, settings), settings)
        assert (back.interval_steps, back.local_steps, back.is_async) == (settings.interval_steps, settings.local_steps, False)
        assert (back.keep, back.factor, back.jump) == (3, 4, 16)


@given(SCENARIOS)
@MOST
def test_what_is_exported_comes_back(made: Scenario) -> None:
    """Interval, mode, retention, F and J; where the target cannot do it, what it says that it writes instead."""
    settings = planned(made)
    if settings is None:
        return
    for target in (LM, BRIDGE, TITAN, OLD_TITAN):
        written = target.write(settings)
        back = again(written.files[0].content, settings)
        told = {one.path for one in written.findings}
        is_megatron = target in (LM, BRIDGE)
        assert back.interval_steps == settings.interval_steps
        assert back.is_async == settings.is_async or "storage.mode" in told
        kept = settings.keep if is_megatron else max(settings.keep, 2)
        nothing_goes = target is LM and kept == 1 and permanent_steps(settings) == (settings.interval_steps,)
        assert back.keep == kept or nothing_goes, "where every save is permanent, no line says how many stay"
        if is_megatron and settings.local_steps != settings.interval_steps:
            assert back.local_steps == settings.local_steps
            if settings.has_local and "replication.factor" not in told:
                assert (back.factor, back.jump if settings.factor > 1 else settings.jump) == (settings.factor, settings.jump)
        else:
            assert not back.has_local


@given(SCENARIOS)
@MOST
def test_what_is_exported_for_hugging_face_comes_back(made: Scenario) -> None:
    """It saves in steps and synchronously, and says so where the plan does not."""
    settings = planned(made)
    if settings is None:
        return
    (target,) = (one for one in huggingface.TARGETS if one.id == "hf-trainer")
    written = target.write(settings)
    back = again(next(file.content for file in written.files if file.language == "json"), settings)
    assert (back.interval_steps, back.keep, back.is_async) == (settings.interval_steps, settings.keep, False)
    assert not settings.is_async or "storage.mode" in {one.path for one in written.findings}


@pytest.mark.parametrize(
    "piece", ["train.", "train_", "[ ", "['", "(", "A=(", "\n- ", "a;", "x --save-interval 5\n", "--a\n", "'a',"]
)
def test_a_long_command_is_read_in_one_pass(piece: str) -> None:
    started = time.perf_counter()
    read_settings("python x.py --save /c --save-interval 5\n" + piece * (200_000 // len(piece)) + "!")
    assert time.perf_counter() - started < 20.0, "a second or less on an idle machine"


def test_a_long_text_is_read_in_one_pass() -> None:
    """A line of each name was sought from the top once: 60,000 of them took minutes."""
    many = "[checkpoint]\nenable = true\n" + "\n".join(f"k{number} = 1" for number in range(60_000)) + "\ninterval = 134\n"
    assert lines(read_settings(many))["storage.interval_s"] == 60_003


@pytest.mark.parametrize("target", [LM, BRIDGE, TITAN, OLD_TITAN, huggingface.TARGETS[0]], ids=lambda one: one.id)
@pytest.mark.parametrize("groups", [{}, TWO_LEVELS], ids=["E1", "two levels"])
def test_nothing_of_what_is_exported_is_left_unread(target: Any, groups: dict[str, Any]) -> None:
    assert "Not read" not in said(read_settings(content(target, settings_for(groups))))
