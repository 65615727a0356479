"""What settings of Megatron-LM and Megatron Bridge mean, and what they really do."""

from __future__ import annotations

from ckptplanner.engine.settings.meaning import Meaning
from ckptplanner.text import Text, text
from ckptplanner.units import grouped

DEFAULT_FACTOR = 2  # of --replication-factor
_LM, _BRIDGE = text("Megatron-LM"), text("Megatron Bridge")


def megatron_lm(meaning: Meaning) -> None:
    """Arguments of Megatron-LM."""
    meaning.put("workload.framework", "Megatron-LM", None, default=text("these are arguments of Megatron-LM"))
    steps = _interval(meaning, _LM)
    _lm_mode(meaning)
    _lm_kept(meaning, steps)
    _local(meaning, steps, _LM)


def bridge(meaning: Meaning) -> None:
    """The section `checkpoint` of Megatron Bridge."""
    meaning.put("workload.framework", "Megatron Bridge", None, default=text("this is a configuration of Megatron Bridge"))
    steps = _interval(meaning, _BRIDGE)
    _bridge_mode(meaning)
    _bridge_kept(meaning)
    _local(meaning, steps, _BRIDGE)


# ---------------------------------------------------------------- how often


def _interval(meaning: Meaning, name: Text) -> int | None:
    """Steps between saves to shared storage, put into the plan."""
    key = "save_interval" if meaning.said("save_interval") is not None else "persistent_save_interval"
    steps = meaning.whole(key, "storage.interval_s")
    has_folder = meaning.word("save") != "none"
    if steps is not None and meaning.word("non_persistent_ckpt_type") == "global":
        steps = _global_interval(meaning, key, steps)
    elif steps is not None:
        meaning.put("storage.interval_s", steps, meaning.said(key), is_steps=True)
    elif meaning.said(key) is None and has_folder:
        meaning.say(
            "error", "storage.interval_s",
            text("save without save_interval: Megatron-LM stops at its start.")
            if name is _LM
            else text("save without save_interval: nothing is saved while training runs."),
        )  # fmt: skip
    elif meaning.said(key) is None:
        meaning.miss(text("No save_interval: how often is saved is not said here."))
    if steps is not None and not has_folder:
        meaning.say("warning", "storage.interval_s", text("No folder to save to (save): nothing is saved."))
    return steps


def _global_interval(meaning: Meaning, key: str, steps: int) -> int:
    """Non-persistent global saves go to shared storage too, more often, and the older one is removed."""
    near = meaning.whole("non_persistent_save_interval", "storage.interval_s")
    if near is None or near >= steps:
        meaning.put("storage.interval_s", steps, meaning.said(key), is_steps=True)
        return steps
    meaning.put("storage.interval_s", near, meaning.said("non_persistent_save_interval"), is_steps=True)
    meaning.say(
        "info", "storage.interval_s",
        text(
            "Non-persistent global saves go to shared storage every {near} steps and replace one another; those every {steps} "
            "steps stay.", near=grouped(near), steps=grouped(steps),
        ),
    )  # fmt: skip
    return near


# ---------------------------------------------------------------- synchronous or not


def _lm_mode(meaning: Meaning) -> None:
    said, wanted = meaning.said("async_save"), meaning.is_on("async_save")
    form, worker = meaning.word("ckpt_format", "torch_dist"), meaning.is_on("use_persistent_ckpt_worker")
    if wanted and form == "torch":
        meaning.say("error", "storage.mode", text("async_save with ckpt_format torch: asynchronous saves need torch_dist."))
    if wanted and not worker and form != "torch":
        meaning.say(
            "warning", "storage.mode",
            text(
                "async_save is switched off, with a line in the log only: it needs use_persistent_ckpt_worker. Each save stops "
                "training until it is written."
            ),
        )  # fmt: skip
    is_async = wanted and worker and form != "torch"
    meaning.put(
        "storage.mode", "async" if is_async else "sync", said, default=text("async_save is not set: saves are synchronous")
    )
    if said is None:
        meaning.miss(text("No async_save: saves are synchronous."))
    if is_async and meaning.word("async_strategy", "nvrx") == "nvrx":
        meaning.say(
            "info", "storage.mode",
            text("async_strategy is nvrx: without nvidia-resiliency-ext the run stops; mcore does without it."),
        )  # fmt: skip


def _bridge_mode(meaning: Meaning) -> None:
    said, wanted = meaning.said("async_save"), meaning.is_on("async_save")
    if wanted and not meaning.is_on("use_persistent_ckpt_worker", default=True):
        meaning.say(
            "error", "storage.mode", text("async_save with use_persistent_ckpt_worker off: Megatron Bridge stops at its start.")
        )
    meaning.put(
        "storage.mode", "async" if wanted else "sync", said, default=text("async_save is not set: saves are synchronous")
    )
    if said is None:
        meaning.miss(text("No async_save: saves are synchronous, as in the recipes."))
    if meaning.is_on("also_save_hf_checkpoint"):
        meaning.say(
            "warning", "storage.mode",
            text("also_save_hf_checkpoint writes a second copy while training stands still, however async_save is set."),
        )  # fmt: skip


# ---------------------------------------------------------------- how many


def _all_stay() -> Text:
    return text("Nothing is deleted: every save stays, and the file system fills until someone removes them.")


def _lm_kept(meaning: Meaning, steps: int | None) -> None:
    path, kept = "storage.generations_kept", meaning.found.kept_by_script
    if meaning.said("most_recent_k") is not None and meaning.word("most_recent_k") not in {"none", "-1"}:
        meaning.say(
            "warning",
            path,
            text("most_recent_k is not among the arguments of Megatron-LM: its parser refuses it, and nothing is deleted."),
        )
    retain = meaning.whole("save_retain_interval", path)
    if kept is not None and retain is None:
        meaning.put(path, int(kept.value) + 1, kept)
        meaning.say(
            "info",
            path,
            text("The script trim_checkpoints.sh keeps {count} generations, while it runs.", count=grouped(int(kept.value))),
        )
        return
    if retain is None:
        meaning.say("warning", path, _all_stay())
        meaning.miss(text("No save_retain_interval: nothing is deleted."))
        return
    if steps is not None and retain % steps:
        meaning.say(
            "error", path,
            text(
                "save_retain_interval {retain} is not a multiple of save_interval {steps}: Megatron-LM stops at its start.",
                retain=grouped(retain), steps=grouped(steps),
            ),
        )  # fmt: skip
        return
    if steps == retain:
        meaning.say("warning", path, _all_stay())
        return
    meaning.put(path, 2, meaning.said("save_retain_interval"))
    meaning.say(
        "info", path,
        text("Only the newest complete save stays, and every {retain} steps one for good.", retain=grouped(retain)),
    )  # fmt: skip


def _bridge_kept(meaning: Meaning) -> None:
    path = "storage.generations_kept"
    kept = meaning.whole("most_recent_k", path, least=-1)
    if kept is None or kept < 0:
        meaning.say("warning", path, _all_stay())
        meaning.miss(text("No most_recent_k: it is -1, and every save stays."))
    elif kept == 0:
        meaning.say("error", path, text("most_recent_k 0 keeps no save at all: there is nothing to restart from."))
    else:
        meaning.put(path, kept + 1, meaning.said("most_recent_k"))


# ---------------------------------------------------------------- local saves and copies


def _local(meaning: Meaning, steps: int | None, name: Text) -> None:
    kind = meaning.word("non_persistent_ckpt_type")
    if kind == "in_memory":
        meaning.say("error", "local.enabled", text("non_persistent_ckpt_type in_memory is listed and refused: use local."))
    near = meaning.whole("non_persistent_save_interval", "local.interval_s") if kind == "local" else None
    if kind == "local" and near is None:
        meaning.say("warning", "local.enabled", text("Local saves without non_persistent_save_interval: none is ever made."))
    if kind == "local" and meaning.word("non_persistent_local_ckpt_dir") == "none":
        meaning.say(
            "error", "local.enabled", text("Local saves without non_persistent_local_ckpt_dir: the run stops at its start.")
        )
    if near is None or not _is_made(meaning, near, steps):
        _no_copies(meaning, kind)
        meaning.nothing_local()
        return
    meaning.put("local.enabled", True, meaning.said("non_persistent_ckpt_type"))
    meaning.put("local.interval_s", near, meaning.said("non_persistent_save_interval"), is_steps=True)
    if steps is not None:
        meaning.put("local.ratio", max(1, round(steps / near)), meaning.said("save_interval"))
    if meaning.is_on("async_save"):
        meaning.say(
            "warning", "storage.mode",
            text(
                "{name} does not save asynchronously and to local drives in one run: the writer that the one needs is the one "
                "that the other refuses. Expect the first local save to fail.", name=name,
            ),
        )  # fmt: skip
    for refused in ("use_checkpoint_args", "dist_ckpt_optim_fully_reshardable"):
        if meaning.is_on(refused):
            meaning.say("error", "local.enabled", text("{flag} is refused together with local saves.", flag=refused))
    if meaning.is_on("also_save_hf_checkpoint"):
        meaning.say(
            "error", "local.enabled", text("{flag} is refused together with local saves.", flag="also_save_hf_checkpoint")
        )
    _copies(meaning)


def _is_made(meaning: Meaning, near: int, steps: int | None) -> bool:
    """Whether a local save is ever made: one that falls on the step of a shared save is skipped."""
    if steps is None:
        return True
    if near % steps == 0:
        meaning.say(
            "warning", "local.enabled",
            text(
                "Each local save falls on the step of a shared one ({near} and {steps} steps) and is skipped: none is made.",
                near=grouped(near), steps=grouped(steps),
            ),
        )  # fmt: skip
        return False
    if steps % near:
        meaning.say(
            "warning", "local.interval_s",
            text(
                "{steps} steps are not a multiple of {near}: local saves come at uneven distances from the shared ones.",
                near=grouped(near), steps=grouped(steps),
            ),
        )  # fmt: skip
    return True


def _no_copies(meaning: Meaning, kind: str) -> None:
    if meaning.is_on("replication") and kind != "local":
        meaning.say("error", "replication.factor", text("replication without local saves: the run stops at its start."))


def _copies(meaning: Meaning) -> None:
    jump, path = meaning.whole("replication_jump", "replication.jump"), "replication.factor"
    if not meaning.is_on("replication"):
        if jump is not None:
            meaning.say("warning", path, text("replication_jump without replication is ignored: no copies are made."))
        meaning.put(path, 1, None, default=text("no copies are set"))
        return
    if meaning.said("replication_jump") is None:
        meaning.say("error", "replication.jump", text("replication without replication_jump: the run stops at its start."))
    factor = meaning.whole("replication_factor", path)
    meaning.put(path, factor or DEFAULT_FACTOR, meaning.said("replication_factor"), default=text("the default of Megatron"))
    if meaning.said("replication_factor") is None:
        meaning.miss(text("No replication_factor: it is {count}.", count=DEFAULT_FACTOR))
    if jump is not None:
        meaning.put("replication.jump", jump, meaning.said("replication_jump"))
