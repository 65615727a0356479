"""What settings of TorchTitan and of the Hugging Face Trainer mean, and what they really do."""

from __future__ import annotations

from ckptplanner.engine.scenario import MAX_S
from ckptplanner.engine.settings.meaning import Meaning
from ckptplanner.engine.settings.reading import OLD_TITAN
from ckptplanner.text import text

TITAN_STEPS, TITAN_KEPT = 500, 10  # its defaults
OLD_LAST = ("model_weights_only", "last_save_model_weights_only")
OLDEST = ("interval_type", "model_weights_only")  # gone in 0.1.0
HUGGING_STEPS = 500
MODES = {"disabled": "sync", "async": "async", "async_with_pinned_mem": "async"}


def torchtitan(meaning: Meaning) -> None:
    """The checkpoint part of TorchTitan, in Python or TOML."""
    meaning.put("workload.framework", "TorchTitan", None, default=text("this is a configuration of TorchTitan"))
    if meaning.found.dialect == "torchtitan-0.2":
        meaning.say(
            "info",
            "workload.framework",
            text("TorchTitan 0.3.0 and newer read no TOML: these settings are for 0.2.2 and older."),
        )
    old = sorted(name for name in OLD_TITAN if meaning.said(name) is not None)
    if old:
        meaning.say(
            "info", "workload.framework",
            text("{name} is a name of TorchTitan 0.1.0 and older: 0.2.0 and newer refuse it.", name=old[0]),
        )  # fmt: skip
    _titan_enable(meaning, "enable_checkpoint" if old else "enable")
    _titan_interval(meaning)
    _titan_mode(meaning)
    _titan_kept(meaning)
    _titan_last(meaning, is_old=bool(old))
    meaning.nothing_local()


def _titan_enable(meaning: Meaning, name: str) -> None:
    path = "storage.interval_s"
    if meaning.said(name) is None:
        meaning.say(
            "warning", path,
            text("{name} is not set, and TorchTitan saves nothing without it: checkpoints are off by default.", name=name),
        )  # fmt: skip
    elif not meaning.is_on(name):
        meaning.say("warning", path, text("{name} is off: nothing is saved.", name=name))
    if meaning.is_on("load_only"):
        meaning.say("warning", path, text("load_only is on: nothing is saved."))


def _titan_interval(meaning: Meaning) -> None:
    path, said, is_steps = "storage.interval_s", meaning.said("interval"), meaning.word("interval_type", "steps") != "seconds"
    count = meaning.whole("interval", path)
    if count is not None or said is None:
        count = count or TITAN_STEPS
        default = text("the default of TorchTitan")
        meaning.put(path, count if is_steps else min(count, MAX_S), said, default=default, is_steps=is_steps)
    if said is None:
        steps, seconds = (
            text("No interval: it is {steps} steps.", steps=TITAN_STEPS),
            text("No interval: it is {seconds} s.", seconds=TITAN_STEPS),
        )
        meaning.miss(steps if is_steps else seconds)


def _titan_last(meaning: Meaning, *, is_old: bool) -> None:
    """The last save may hold the model alone: by default from 0.2.0 on, never by default in 0.1.0 and older."""
    said = [name for name in (*OLD_LAST, "last_save_model_only") if meaning.said(name) is not None]
    for name in said:
        if meaning.is_on(name):
            meaning.say(
                "warning", "workload.framework",
                text("{name} is on: the last save holds the model alone and cannot be resumed from.", name=name),
            )  # fmt: skip
    if not said and not is_old:
        meaning.say(
            "warning", "workload.framework",
            text("last_save_model_only is on, as by default: the last save holds the model alone and cannot be resumed from."),
        )  # fmt: skip


def _titan_mode(meaning: Meaning) -> None:
    said, mode = meaning.said("async_mode"), meaning.word("async_mode", "disabled").lower()
    if mode not in MODES:
        meaning.say(
            "error", "storage.mode",
            text("async_mode {mode} is refused: write disabled, async or async_with_pinned_mem.", mode=mode[:60]),
        )  # fmt: skip
        return
    meaning.put("storage.mode", MODES[mode], said, default=text("async_mode is disabled by default"))
    if said is None:
        meaning.miss(text("No async_mode: saves are synchronous."))


def _titan_kept(meaning: Meaning) -> None:
    path, said = "storage.generations_kept", meaning.said("keep_latest_k")
    if said is None and any(meaning.said(name) is not None for name in OLD_TITAN):
        _old_kept(meaning)
        return
    kept = TITAN_KEPT if said is None else meaning.whole("keep_latest_k", path, least=0)
    if kept is None:
        return
    if kept == 0:
        meaning.say("warning", path, text("keep_latest_k 0 keeps every save: nothing is deleted, and the file system fills."))
        return
    if kept == 1:
        meaning.say("error", path, text("keep_latest_k 1 is refused: TorchTitan keeps at least 2."))
        return
    meaning.put(path, kept + 1, said, default=text("the default of TorchTitan"))
    if said is None:
        meaning.miss(text("No keep_latest_k: it is {kept}.", kept=TITAN_KEPT))
        meaning.say(
            "warning", path,
            text("keep_latest_k is not set: {kept} generations stay, and one more while it is written.", kept=TITAN_KEPT),
        )  # fmt: skip


def _old_kept(meaning: Meaning) -> None:
    """Without keep_latest_k: 0.1.0 keeps ten; what came before it, and knows interval_type, keeps every save."""
    path = "storage.generations_kept"
    if any(meaning.said(name) is not None for name in OLDEST):
        meaning.say("warning", path, text("keep_latest_k is not set: nothing is deleted, and the file system fills."))
        meaning.miss(text("No keep_latest_k: every save stays."))
        return
    meaning.say(
        "warning", path,
        text(
            "keep_latest_k is not set: TorchTitan 0.1.0 keeps {kept} generations, what is older deletes nothing.",
            kept=TITAN_KEPT,
        ),
    )  # fmt: skip
    meaning.miss(text("No keep_latest_k: whether anything is deleted depends on the version."))


def hugging_face(meaning: Meaning) -> None:
    """Arguments of the Hugging Face Trainer."""
    meaning.put(
        "workload.framework", "Hugging Face Trainer", None, default=text("these are arguments of the Hugging Face Trainer")
    )
    meaning.put("storage.mode", "sync", None, default=text("the Trainer has no asynchronous saving"))
    strategy = meaning.word("save_strategy", "steps").rpartition(".")[2].lower()
    if strategy == "steps":
        _hugging_interval(meaning)
    elif strategy == "no":
        meaning.say("warning", "storage.interval_s", text("save_strategy is no: nothing is saved."))
        said = meaning.said("save_strategy")
        meaning.keep("storage.interval_s", said, text("nothing is saved: the plan's interval stays"))
    else:
        meaning.say(
            "warning", "storage.interval_s",
            text("save_strategy {kind} saves at no fixed number of steps: write steps, and save_steps.", kind=strategy[:60]),
        )  # fmt: skip
        said = meaning.said("save_strategy")
        meaning.keep("storage.interval_s", said, text("not in steps: the plan's interval stays"))
    _hugging_kept(meaning)
    if meaning.is_on("save_only_model"):
        meaning.say("warning", "workload.framework", text("save_only_model is on: nothing can resume from these saves."))
    meaning.nothing_local()


def _hugging_interval(meaning: Meaning) -> None:
    path, said = "storage.interval_s", meaning.said("save_steps")
    share = None if said is None else _share(said.value)
    if share is not None:
        meaning.say(
            "warning",
            path,
            text("save_steps {share} is a share of the whole run: how many steps that is is not said.", share=share),
        )
        meaning.keep(path, said, text("not in steps: the plan's interval stays"))
        return
    if said is not None and said.value.endswith(".0"):
        steps: int | None = int(float(said.value)) if float(said.value) <= 1e15 else None
    else:
        steps = meaning.whole("save_steps", path)
    if steps is not None or said is None:
        meaning.put(path, steps or HUGGING_STEPS, said, default=text("the default of the Trainer"), is_steps=True)
    if said is None:
        meaning.miss(text("No save_steps: it is {steps}.", steps=HUGGING_STEPS))


def _share(value: str) -> str | None:
    """The value where it is a share of the run: a number below 1."""
    try:
        number = float(value)
    except ValueError:
        return None
    return value if 0 < number < 1 else None


def _hugging_kept(meaning: Meaning) -> None:
    path, said = "storage.generations_kept", meaning.said("save_total_limit")
    kept = meaning.whole("save_total_limit", path)
    if kept is not None:
        meaning.put(path, kept + 1, said)
        return
    if said is None or said.value in {"none", "null"}:
        meaning.say("warning", path, text("save_total_limit is not set: nothing is deleted, and the file system fills."))
        meaning.miss(text("No save_total_limit: every save stays."))
