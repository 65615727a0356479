"""What settings of TorchTitan and of the Hugging Face Trainer mean, and what they really do."""

from __future__ import annotations

from ckptplanner.engine.settings.meaning import Meaning
from ckptplanner.text import text

TITAN_STEPS, TITAN_KEPT = 500, 10  # its defaults
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
    _titan_enable(meaning)
    _titan_interval(meaning)
    _titan_mode(meaning)
    _titan_kept(meaning)
    if meaning.is_on("last_save_model_only", default=True):
        meaning.say(
            "warning", "workload.framework",
            text("last_save_model_only is on, as by default: the last save holds the model alone and cannot be resumed from."),
        )  # fmt: skip
    meaning.nothing_local()


def _titan_enable(meaning: Meaning) -> None:
    path = "storage.interval_s"
    if meaning.said("enable") is None:
        meaning.say(
            "warning", path, text("enable is not set, and TorchTitan saves nothing without it: checkpoints are off by default.")
        )
    elif not meaning.is_on("enable"):
        meaning.say("warning", path, text("enable is off: nothing is saved."))
    if meaning.is_on("load_only"):
        meaning.say("warning", path, text("load_only is on: nothing is saved."))


def _titan_interval(meaning: Meaning) -> None:
    said = meaning.said("interval")
    steps = meaning.whole("interval", "storage.interval_s")
    if steps is not None or said is None:
        meaning.put("storage.interval_s", steps or TITAN_STEPS, said, default=text("the default of TorchTitan"), is_steps=True)
    if said is None:
        meaning.miss(text("No interval: it is {steps} steps.", steps=TITAN_STEPS))


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
