"""Reads checkpoint folders, archives by torch.save and models' files: S, bytes for each parameter, generations.

    a folder   checkpoint_layouts.find -> its generations -> checkpoint_contents of the newest that is complete -> evidence
    a file     torch.save archive, safetensors, index, config.json -> evidence

A folder is one thing: its size is that of its newest complete generation, by the sizes of its files. Bytes for each parameter
come from what describes the tensors, never from sizes of files, which carry a kilobyte for each tensor besides.
Source: the samples' README and ECOSYSTEM of 2026-11-29; the modules named above have theirs.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

from ckptplanner.data.evidence import Fact, FileEvidence, Measured, Place
from ckptplanner.data.readers.checkpoint_contents import Contents, read_contents, short
from ckptplanner.data.readers.checkpoint_layouts import LARGEST_STEP, Found, Generation, Kind, find, trainer_state
from ckptplanner.data.readers.errors import printable
from ckptplanner.data.readers.folder import ENTRIES_CAP, names_in
from ckptplanner.data.readers.model_files import MODEL_READERS, config_fact
from ckptplanner.data.readers.source import Opened, Progress, Reader
from ckptplanner.data.readers.torch_zip import read_archive, starts_like_one
from ckptplanner.text import Text, listed, text
from ckptplanner.units import COUNT

TRIES = 5  # generations that are opened to find one that is whole
NAMES_SHOWN = 5
TITLES: Mapping[Kind, Text] = {
    "torchtitan": text("TorchTitan checkpoints"),
    "megatron": text("Megatron checkpoints (torch_dist)"),
    "legacy": text("Megatron checkpoints (torch)"),
    "nvrx": text("Local checkpoints (nvidia-resiliency-ext)"),
    "deepspeed": text("DeepSpeed checkpoints"),
    "hf": text("Hugging Face Trainer checkpoints"),
    "lightning": text("Lightning checkpoints"),
    "nemo": text("NeMo checkpoints"),
    "dcp": text("PyTorch distributed checkpoint"),
    "export": text("Model weights (safetensors)"),
}
_PARTS: Mapping[str, Text] = {
    "weights": text("{type} weights {value}"),
    "master": text("{type} master weights {value}"),
    "moments": text("{type} moments {value}"),
    "optimizer": text("{type} optimizer {value}"),
}
_LAYOUTS = (2.0, 6.0, 10.0, 12.0, 14.0, 16.0)  # of the catalog, the ones that have names
_NO_RESUME = text("These are weights without an optimizer: training cannot resume from them as it was.")
_ADAPTER = text("This holds an adapter, not the model: its size is not that of a checkpoint of the whole training state.")


def read_folder(path: Path, name: str, progress: Progress, others: list[str] | None = None) -> FileEvidence | None:
    """What a checkpoint folder says; None where it is none, so that what lies in it is looked at one by one.

    Args:
        path: The folder: one generation, or the parent of several.
        name: What results call it.
        progress: Called on the way; what it raises ends the reading.
        others: Filled with the names of what lies beside the generations and is none of them: logs, results.

    Returns:
        Size, bytes for each parameter, generations; whatever is wrong with the folder is a warning. Nothing is raised for it.
    """
    root = os.path.realpath(path)
    real = Path(root)
    found = find(real, root, progress)
    if found is None:
        return None
    if others is not None:
        others += found.others(real, names_in(real, root))
    newest, contents, generations = _newest_complete(found, root, progress)
    measured: list[Measured] = []
    warnings = [*found.warnings, *_of_incomplete(generations)]
    if newest is None or contents is None:
        warnings.append(text("There is no complete generation in it."))
    else:
        measured += _sizes(found.kind, newest, contents, name)
        warnings += _warnings(found.kind, contents)
    complete = [one for one in generations if one.why_not is None]
    if not found.is_single:
        measured.append(Measured("generations", (float(len(complete)),), Place(name), notes=tuple(_of_local(complete))))
    facts = [*_facts(found, complete, name), *_model_facts(found, newest, root, name)]
    return FileEvidence(
        reader="checkpoint_folder",
        title=TITLES[found.kind],
        file=name,
        date=_date(contents.listing.newest_s if contents else 0.0),
        measured=tuple(measured),
        facts=tuple(facts),
        warnings=tuple(warnings),
    )


def _date(seconds: float) -> str:
    try:
        return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d") if seconds else ""
    except (ValueError, OverflowError, OSError):
        return ""


# ---------------------------------------------------------------- generations


def _newest_complete(
    found: Found, root: str, progress: Progress
) -> tuple[Generation | None, Contents | None, tuple[Generation, ...]]:
    """The newest generation that is whole, what is in it, and all with what was learned on the way."""
    generations = list(found.generations)
    complete = sorted((one for one in generations if one.why_not is None), key=_age)
    for one in complete[: -TRIES - 1 : -1]:
        contents = read_contents(one, root, progress)
        if contents.why_broken is None or found.kind == "export":
            return one, contents, tuple(generations)
        at = generations.index(one)
        generations[at] = Generation(one.name, one.path, one.kind, one.step, contents.why_broken, one.files)
    return None, None, tuple(generations)


def _age(one: Generation) -> tuple[int, float, str]:
    """By the step, else by the time it was written."""
    try:
        written = one.path.stat().st_mtime
    except OSError:
        written = 0.0
    return (-1 if one.step is None else one.step, written, one.name)


def _of_incomplete(generations: tuple[Generation, ...]) -> Iterator[Text]:
    bad = [one for one in generations if one.why_not is not None]
    if not bad:
        return
    shown = listed(
        text("{name} ({why})", name=one.name or printable(one.path.name), why=one.why_not or "") for one in bad[:NAMES_SHOWN]
    )
    if len(bad) == 1:
        yield text("One generation is not complete and is not counted: {names}.", names=shown)
    else:
        yield text("{count} generations are not complete and are not counted: {names}.", count=f"{len(bad):,}", names=shown)


def _of_local(complete: list[Generation]) -> Iterator[Text]:
    inside = sum(one.name.startswith("non_persistent/") for one in complete)
    if inside:
        yield text("{count} of them are under non_persistent.", count=f"{inside:,}")


def _place(name: str, *below: str) -> Place:
    return Place(name, "/".join(part for part in below if part))


def _facts(found: Found, complete: list[Generation], name: str) -> Iterator[Fact]:
    """Steps of the generations and what the tracker says."""
    steps = sorted({one.step for one in complete if one.step is not None and not one.name.startswith("non_persistent/")})
    gaps = [later - earlier for earlier, later in pairwise(steps)]
    if gaps:
        notes = () if len(set(gaps)) == 1 else (text("Between {most} and {least}: old ones are deleted, or it was changed.",
                                                     most=f"{min(gaps):,}", least=f"{max(gaps):,}"),)  # fmt: skip
        yield Fact(None, text("Steps between generations"), float(min(gaps)), Place(name), unit=COUNT, notes=notes)
    if steps:
        shown = ", ".join(f"{step:,}" for step in steps[-20:])
        yield Fact(None, text("Steps of the complete generations"), shown, Place(name), shown=shown)
    if found.tracker:
        yield Fact(None, text("Newest by the tracker"), found.tracker, Place(name), shown=found.tracker)


def _model_facts(found: Found, newest: Generation | None, root: str, name: str) -> Iterator[Fact]:
    """What config.json and trainer_state.json beside the weights say."""
    if newest is None or found.kind not in {"hf", "export"}:
        return
    state = trainer_state(newest.path, root) if found.kind == "hf" else None
    every = None if state is None else state.get("save_steps")
    if type(every) is int and 0 < every <= LARGEST_STEP:
        place = _place(name, newest.name, "trainer_state.json, save_steps")
        yield Fact(None, text("Steps between saves, as set"), float(every), place, unit=COUNT)
    fact = config_fact(newest.path / "config.json", root, _place(name, newest.name, "config.json"))
    if fact is not None:
        yield fact


# ---------------------------------------------------------------- sizes


def _number(value: float) -> str:
    return f"{value:,.2f}".rstrip("0").rstrip(".")


def _parts(contents: Contents) -> Text:
    """fp32 weights 4, fp32 moments 8"""
    rows = []
    for (part, dtype), value in contents.per_param.items():
        whole = text("optimizer {value}", value=_number(value))
        named = Text(_PARTS[part].template, (("type", short(dtype)), ("value", _number(value)))) if dtype else whole
        rows.append(named)
    return listed(rows)


def _between(value: float) -> Text | None:
    """Where a size lies that is none of the named layouts."""
    if any(abs(value - known) <= 0.01 * known for known in _LAYOUTS):
        return None
    below = max((known for known in _LAYOUTS if known < value), default=None)
    above = min((known for known in _LAYOUTS if known > value), default=None)
    if below is None or above is None:
        return None
    return text("{value} lies between {low} and {high}, the nearest usual layouts.",
                value=_number(value), low=_number(below), high=_number(above))  # fmt: skip


def _sizes(kind: Kind, newest: Generation, contents: Contents, name: str) -> Iterator[Measured]:
    """Bytes of the checkpoint, for each parameter, and the parameters."""
    is_doubtful = kind == "nvrx" or contents.is_adapter or _lacks_optimizer(kind, contents) or not contents.listing.is_whole
    notes = tuple(_size_notes(kind, newest, contents))
    if contents.size_bytes > 0:
        size = float(_local_bytes(newest) if kind == "nvrx" else contents.size_bytes)
        yield Measured("checkpoint", (size,), _place(name, newest.name), notes=notes, is_doubtful=is_doubtful)
    if not contents.params or contents.is_adapter:
        return
    place = _place(name, newest.name, printable(contents.params_from))
    yield Measured("params", (float(contents.params),), place, notes=tuple(contents.notes))
    per_param = sum(contents.per_param.values())
    if per_param > 0:
        found = (_parts(contents), _between(per_param))
        yield Measured(
            "bytes_per_param",
            (per_param,),
            place,
            notes=tuple(note for note in found if note is not None),
            is_doubtful=is_doubtful,
        )


def _local_bytes(newest: Generation) -> int:
    """What all ranks that are here have, each once: copies for other ranks are not counted again. [B]"""
    return sum({file.rpartition("_local")[0].rpartition("_")[2]: size for file, size in newest.files}.values())


def _size_notes(kind: Kind, newest: Generation, contents: Contents) -> Iterator[Text]:
    files = len(contents.listing.files)
    if kind == "nvrx":
        ranks = len({file.rpartition("_local")[0].rpartition("_")[2] for file, _ in newest.files})
        yield text("The share of {count} ranks, each once; other nodes have theirs.", count=f"{ranks:,}")
        if files > ranks:
            yield text("{count} of its files are copies for other ranks.", count=f"{files - ranks:,}")
        return
    yield text("{count} files, by their sizes.", count=f"{files:,}")
    tensors = sum(contents.sizes.values()) + sum(contents.archive_bytes.values())
    if tensors:
        yield text("Its tensors take {count} bytes.", count=f"{tensors:,}")
    model, optimizer = contents.archive_bytes["model"], contents.archive_bytes["optimizer"]
    if model and optimizer and not contents.params and optimizer <= 16 * model:
        yield text(
            "Optimizer files hold {ratio} times the bytes of the model files: {value} bytes a parameter if those are bf16.",
            ratio=_number(optimizer / model),
            value=_number(2 + 2 * optimizer / model),
        )


def _lacks_optimizer(kind: Kind, contents: Contents) -> bool:
    """Whether it can be told that nothing of an optimizer is in it."""
    if contents.has_optimizer or kind == "nvrx":
        return False
    return bool(contents.sizes or contents.archive_bytes["model"] or kind == "export")


def _warnings(kind: Kind, contents: Contents) -> Iterator[Text]:
    yield from contents.warnings
    if contents.why_broken is not None:
        yield text("It is not complete: {why}.", why=contents.why_broken)
    if contents.is_adapter:
        yield _ADAPTER
    elif _lacks_optimizer(kind, contents):
        yield _NO_RESUME
    if not contents.listing.is_whole:
        yield text("Only the first {most} files were added up, so it is larger than this.", most=f"{ENTRIES_CAP:,}")
    if contents.listing.links_out:
        yield text("Links that lead out of the folder, not counted: {count}.", count=f"{contents.listing.links_out:,}")
    other, all_sizes = contents.sizes["buffers", ""], sum(contents.sizes.values())
    other += sum(size for (part, _), size in contents.sizes.items() if part in {"buffers", "other"})
    if other > 0.01 * all_sizes:
        yield text("{share} of its tensors are neither parameters nor their optimizer and are not in the bytes a parameter.",
                   share=f"{other / all_sizes:.0%}")  # fmt: skip


# ---------------------------------------------------------------- single files


def _read_archive(opened: Opened) -> FileEvidence:
    """One archive by torch.save: a whole checkpoint only where it says so itself."""
    archive = read_archive(opened.path, opened.name)
    is_whole = {"lightning", "optimizer"} <= archive.says or {"optimizer", "weights"} <= archive.says
    notes = [text("{count} tensors, by the directory of the archive; nothing was unpickled.", count=f"{archive.tensors:,}")]
    warnings: list[Text] = []
    if "adapter" in archive.says:
        warnings.append(_ADAPTER)
    elif not is_whole:
        notes.append(text("Whether this is all that resuming needs the file does not say."))
        if "optimizer" not in archive.says and "weights" in archive.says:
            warnings.append(_NO_RESUME)
    measured = Measured(
        "checkpoint",
        (float(archive.tensor_bytes),),
        opened.place(),
        notes=tuple(notes),
        is_doubtful=not is_whole or "adapter" in archive.says,
    )
    title = text("Lightning checkpoint") if "lightning" in archive.says else text("PyTorch archive (torch.save)")
    found = (measured,) if archive.tensor_bytes else ()
    return FileEvidence("torch_archive", title, opened.name, opened.date, measured=found, warnings=tuple(warnings))


READERS: tuple[Reader, ...] = (
    Reader("torch_archive", text("PyTorch archive (torch.save)"), lambda head: starts_like_one(head.start), _read_archive),
    *MODEL_READERS,
)
