"""A plan as callbacks and plugins of PyTorch Lightning, and of NeMo 2, which is built on it."""

from __future__ import annotations

from ckptplanner.engine.plan import Finding, finding
from ckptplanner.engine.settings.doing import as_done
from ckptplanner.engine.settings.permanent import are_deleted
from ckptplanner.engine.settings.stops import (
    collective_timeout_s,
    has_no_local_level,
    nearest_async,
    shown,
    writes_while_training_stops,
)
from ckptplanner.engine.settings.target import Settings, SettingsFile, Target, Written, counted
from ckptplanner.engine.settings.writing import aligned, comment, double_quoted, head
from ckptplanner.text import text

LIGHTNING = "lightning 2.6.6"
LIGHTNING_CHECKED = (
    "accepted by lightning 2.6.6 and torch 2.13.0: trained on CPU with ModelCheckpoint, AsyncCheckpointIO and DDPStrategy; "
    "FSDPStrategy was made only"
)
NEMO = "NeMo 2"
NEMO_SOURCE = "Written by the source of NeMo (d73511fe) and its documents; not run here."


def write_lightning(settings: Settings) -> Written:
    """A module with what a Trainer is given."""
    is_async = settings.is_async and settings.plan.scenario.workload.writer == "single"
    findings = _said(settings)
    done = as_done(settings, findings, is_async=is_async, is_local=False)
    return Written((SettingsFile("lightning_plan.py", "python", _lightning(done, is_async)),), findings)


def _said(settings: Settings) -> tuple[Finding, ...]:
    name = text("Lightning")
    findings = [*has_no_local_level(settings, name), *are_deleted(settings, "save_top_k", settings.keep)]
    if settings.is_async and settings.plan.scenario.workload.writer == "sharded":
        findings.insert(0, writes_while_training_stops(settings, text("Lightning's sharded strategy"), nearest_async()))
    elif settings.is_async:
        findings.insert(0, finding(
            "info", "storage.mode",
            "Lightning's asynchronous saving is experimental: one thread writes what rank 0 holds, from a copy that takes "
            "memory of its GPU until it is written.",
        ))  # fmt: skip
    return tuple(findings)


def _lightning(settings: Settings, is_async: bool) -> str:
    keep = settings.keep + 1 if is_async else settings.keep
    kept = f"from the plan: {counted(settings.keep, 'complete checkpoint')}" + (
        "; one more, since the oldest goes while the newest is being written" if is_async else ""
    )
    notes = ("Lightning keeps the newest by a monitored quantity: the step. Time-based saving cannot be combined with it.",)
    imports = ["from datetime import timedelta", "", "from lightning.pytorch.callbacks import ModelCheckpoint"]
    if is_async:
        imports.append("from lightning.pytorch.plugins.io import AsyncCheckpointIO")
    is_sharded = settings.plan.scenario.workload.writer == "sharded"
    strategy = "FSDPStrategy" if is_sharded else "DDPStrategy"
    imports.append(f"from lightning.pytorch.strategies import {strategy}")
    saves = aligned([
        (f"dirpath={double_quoted(settings.names.shared_folder)},", ""),
        (f"every_n_train_steps={settings.interval_steps},", f"from the plan: save every {shown(settings.interval_s)}"),
        ('monitor="step",', ""),
        ('mode="max",', ""),
        (f"save_top_k={keep},", kept),
        ("save_last=False,", "the newest is found by its step; a link could point at one that is not complete"),
    ], "    ")  # fmt: skip
    waits = collective_timeout_s(settings)
    way = 'state_dict_type="sharded", ' if is_sharded else ""
    how = "from the plan: every rank writes its share" if is_sharded else "from the plan: one node writes everything"
    return (
        comment(head(settings, "Callbacks and plugins of Lightning, for lightning 2.6.6", LIGHTNING_CHECKED, notes))
        + "\n".join(imports)
        + f"\n\nsaves = ModelCheckpoint(\n{saves})\n"
        + comment((f"{how}; ranks wait for a save of {shown(settings.save_timeout_s)}, its margin included",))
        + f"strategy = {strategy}({way}timeout=timedelta(seconds={waits}))\n"
        + ("# from the plan: asynchronous\nplugins = [AsyncCheckpointIO()]\n" if is_async else "plugins = []\n")
        + "\n# trainer = lightning.Trainer(callbacks=[saves], strategy=strategy, plugins=plugins, ...)\n"
    )


# ---------------------------------------------------------------- NeMo 2


def write_nemo(settings: Settings) -> Written:
    """A module with the callback and the strategy of NeMo 2."""
    findings = [
        finding(
            "info", "workload.framework",
            "Megatron Bridge has taken the place of NeMo 2: for a new run choose the target megatron-bridge.",
        ),
        *has_no_local_level(settings, text("NeMo 2")),
        *are_deleted(settings, "save_top_k", settings.keep),
    ]  # fmt: skip
    if "step" in settings.names.shared_folder:
        findings.append(finding(
            "warning", "storage.generations_kept",
            'NeMo reads the step of a checkpoint behind the first "step" in its path, and the folder {folder} has that word in '
            "it: after a restart old checkpoints are not removed. Use another folder.", folder=settings.names.shared_folder,
        ))  # fmt: skip
    done = as_done(settings, findings, is_local=False)
    return Written((SettingsFile("nemo2_plan.py", "python", _nemo(done)),), tuple(findings))


def _nemo(settings: Settings) -> str:
    kept = f"from the plan: {counted(settings.keep, 'complete checkpoint')}; NeMo removes after the write"
    saves = aligned([
        ("dirpath=FOLDER,", ""),
        ('filename="{step}-{consumed_samples}",', "NeMo reads the step back from the name when it counts what to keep"),
        (f"every_n_train_steps={settings.interval_steps},", f"from the plan: save every {shown(settings.interval_s)}"),
        ('monitor="step",', ""),
        ('mode="max",', ""),
        (f"save_top_k={settings.keep},", kept),
        ("save_last=False,", "True writes every checkpoint twice"),
        ("save_weights_only=False,", "or there is nothing to resume from"),
    ], "    ")  # fmt: skip
    how = "asynchronous" if settings.is_async else "synchronous"
    strategy = aligned([
        ('save_ckpt_format="torch_dist",', ""),
        (f"ckpt_async_save={settings.is_async},", f"from the plan: {how}, training stops for {shown(settings.stop_s)}"),
        ("ckpt_parallel_save=True,", "every rank writes its share"),
        ("ckpt_parallel_load=True,", ""),
    ], "    ")  # fmt: skip
    return (
        comment(head(settings, "Callback and strategy of NeMo 2", NEMO_SOURCE))
        + "from pathlib import Path\n\nfrom nemo import lightning as nl\n"
        + f"\nFOLDER = {double_quoted(settings.names.shared_folder)}\n\nsaves = nl.ModelCheckpoint(\n{saves})\n"
        + "strategy = nl.MegatronStrategy(  # with the parallel sizes of your model\n"
        + strategy
        + ")\n"
        + _NEMO_RESUME
    )


_NEMO_RESUME = '''

def newest_complete(folder=FOLDER):
    """The newest checkpoint without NeMo's mark of an unfinished one, or None."""
    steps = {}
    for path in Path(folder).glob("step=*"):
        if path.is_dir() and not Path(f"{path}-unfinished").exists():
            steps[int(path.name.removeprefix("step=").partition("-")[0])] = path
    return str(steps[max(steps)]) if steps else None


resume = nl.AutoResume(resume_from_path=newest_complete())
'''


TARGETS: tuple[Target, ...] = (
    Target("lightning", text("Lightning"), LIGHTNING, LIGHTNING_CHECKED, "framework", write_lightning),
    Target("nemo2", text("NeMo 2"), NEMO, "", "framework", write_nemo),
)
