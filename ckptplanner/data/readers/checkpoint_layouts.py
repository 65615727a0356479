"""Tells which framework wrote a checkpoint folder, what its generations are and which of them are complete.

    parent/                           kind        complete when
      step-N/.metadata                torchtitan  .metadata or model.safetensors.index.json is there
      iter_N/metadata.json            megatron    metadata.json, written last, and .metadata are there
      iter_N/mp_rank_00/              legacy      N is not above latest_checkpointed_iteration.txt
      [session/]R/iter_N_R_local.pt   nvrx        every rank has a file of N without .dirty
      TAG/*_states.pt                 deepspeed   TAG is not newer than `latest` says
      checkpoint-N/trainer_state.json hf          trainer_state.json is there and is JSON
      epoch=..-step=N.ckpt            lightning   the archive has its directory, or .metadata is there
      NAME/weights/ + NAME/context/   nemo        weights/metadata.json is there and no NAME-unfinished

Source: Megatron-LM d98e8a64, TorchTitan b5bcd76c, nvidia-resiliency-ext 0.7.0, DeepSpeed 0.19.8, transformers 5.24.0,
lightning 2.6.6, NeMo 2; read 2026-11-29.
"""

from __future__ import annotations

import json
import os
import re
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from ckptplanner.data.readers.errors import ReaderError, printable
from ckptplanner.data.readers.folder import Names, names_in, regular, small_text
from ckptplanner.data.readers.source import Progress
from ckptplanner.data.readers.torch_zip import read_archive, starts_like_one
from ckptplanner.text import Text, text

Kind = Literal["torchtitan", "megatron", "legacy", "nvrx", "deepspeed", "hf", "lightning", "nemo", "dcp", "export"]
FOLDERS_CAP = 5_000  # children that are looked into
TRACKER_CAP_BYTES = 4_096
STATE_CAP_BYTES = 64_000_000
LARGEST_STEP = 10**12

TRACKERS: Mapping[Kind, str] = {
    "legacy": "latest_checkpointed_iteration.txt",
    "megatron": "latest_checkpointed_iteration.txt",
    "deepspeed": "latest",
}
_STEP = re.compile(r"(?:^|[^a-z])(?:iter_|step[-=_]?|checkpoint-|global_step)(\d{1,12})(?!\d)")
_LAST_NUMBER = re.compile(r"(\d{1,12})$")
_MP_RANK = re.compile(r"mp_rank_\d{2,3}(_\d{3}){0,2}")
_STATES = re.compile(
    r"((zero_pp_rank_\d+_)?mp_rank_\d+_model_states|(bf16_|fp16_)?zero_pp_rank_\d+_mp_rank_\d+_optim_states"
    r"|layer_\d+_expert_\d+_mp_rank_\d+_model_states|expp_rank_\d+_mp_rank_\d+_optim_states|layer_\d+-model_\d+-model_states)\.pt"
)
_HF_PARTS = re.compile(r"(adapter_model|model|pytorch_model)(-\d{5}-of-\d{5})?\.(safetensors|bin)|optimizer\.(pt|bin)")
_HF_FOLDERS = re.compile(r"pytorch_model_fsdp_\d+|optimizer_\d+|global_step\d+")
LOCAL_FILE = re.compile(r"iter_(\d{1,12})_(\d{1,7})_local(\.dirty)?\.pt")


_BESIDE = frozenset({*TRACKERS.values(), "non_persistent", "latest_train_state.pt", "run_config.yaml", "progress.txt"})
_OF_LOGS = (".log", ".out", ".err", ".csv", ".jsonl")


@dataclass(frozen=True, slots=True)
class Generation:
    """One saved state, complete or not."""

    name: str  # below what the user gave, printable; empty where it is that itself
    path: Path
    kind: Kind
    step: int | None
    why_not: Text | None = None  # why it is not complete
    files: tuple[tuple[str, int], ...] = ()  # of NVRx: those of this generation, with their sizes


@dataclass(frozen=True, slots=True)
class Found:
    """All generations in a folder."""

    kind: Kind
    generations: tuple[Generation, ...]
    is_single: bool  # the folder is itself one generation
    tracker: str = ""  # what the tracker says
    warnings: tuple[Text, ...] = ()

    def others(self, folder: Path, names: Names) -> list[str]:
        """What lies beside the generations and is none of them: logs, results."""
        if self.is_single:
            return []
        heads = _BESIDE | {one.path.relative_to(folder).parts[0] for one in self.generations if one.path != folder}
        beside = [
            name for name in sorted(names.folders) if name not in heads and not (self.kind == "nvrx" and name.isdecimal())
        ]
        files = [name for name in sorted(names.files) if name not in heads and LOCAL_FILE.fullmatch(name) is None]
        if self.kind == "hf":  # the model that training ended with lies there too
            files = [name for name in files if name.endswith(_OF_LOGS)]
        return [*beside, *files]


def step_of(name: str) -> int | None:
    """The step in the name of a generation."""
    match = _STEP.search(name) or _LAST_NUMBER.search(name.removesuffix(".ckpt"))
    return int(match[1]) if match else None


def kind_of(path: Path, names: Names, root: str) -> Kind | None:
    """Which framework's generation this folder is by what lies in it; None where it is none."""
    has_data = any(name.endswith(".distcp") for name in names.files)
    if {"weights", "context"} <= names.folders and _is_dcp(path / "weights", root):
        return "nemo"
    if "meta.pt" in names.files and (has_data or ".metadata" in names.files):
        return "lightning"
    if _is_hf(path.name, names):
        return "hf"
    if _backend(path, root) or (path.name.startswith("iter_") and (has_data or "common.pt" in names.files)):
        return "megatron"
    if any(map(_MP_RANK.fullmatch, names.folders)):
        return "legacy"
    if any(map(_STATES.fullmatch, names.files)):
        return "deepspeed"
    if path.name.endswith(".ckpt") and "checkpoint" in names.folders:
        return "lightning"  # by its DeepSpeed strategy
    if has_data or (".metadata" in names.files and _is_pickle(path / ".metadata", root)):
        return "torchtitan" if re.fullmatch(r"step-\d+", path.name) else "dcp"
    if re.fullmatch(r"step-\d+", path.name) and "model.safetensors.index.json" in names.files:
        return "torchtitan"
    return None


def _is_hf(name: str, names: Names) -> bool:
    """A folder of the Trainer: by its state, or by its name and what a model or an optimizer is saved as."""
    has_parts = any(map(_HF_PARTS.fullmatch, names.files)) or any(map(_HF_FOLDERS.fullmatch, names.folders))
    return has_parts and ("trainer_state.json" in names.files or re.search(r"checkpoint-\d+$", name) is not None)


def is_export(names: Names) -> bool:
    """Whether this folder holds a model as safetensors, without anything of a training."""
    return any(name.endswith((".safetensors", ".safetensors.index.json")) for name in names.files)


def _is_dcp(path: Path, root: str) -> bool:
    names = names_in(path, root)
    return not names.files.isdisjoint({".metadata", "metadata.json"}) or any(name.endswith(".distcp") for name in names.files)


def _is_pickle(path: Path, root: str) -> bool:
    if regular(path, root) is None:
        return False
    try:
        with path.open("rb") as file:
            return file.read(1) == b"\x80"
    except OSError:
        return False


def _backend(path: Path, root: str) -> str:
    """The sharded_backend of Megatron's metadata.json; empty where there is none."""
    words = small_text(path / "metadata.json", root, TRACKER_CAP_BYTES)
    try:
        content = json.loads(words) if words else None
    except (ValueError, RecursionError):
        return ""
    backend = content.get("sharded_backend") if isinstance(content, dict) else None
    return backend[:40] if isinstance(backend, str) else ""


# ---------------------------------------------------------------- what is missing


def _missing(name: str) -> Text:
    return text("{name} is missing", name=name)


def why_incomplete(path: Path, kind: Kind, names: Names, root: str) -> Text | None:
    """What a generation lacks by its own marker; trackers are looked at by `_tracked`. None where it is complete."""
    if kind == "megatron":
        backend = _backend(path, root)
        if not backend:
            return _missing("metadata.json")
        return _missing(".metadata") if backend == "torch_dist" and ".metadata" not in names.files else None
    if kind == "nemo":
        if os.path.exists(f"{path}-unfinished"):
            return text("it is marked as unfinished")
        return None if regular(path / "weights" / "metadata.json", root) else _missing("weights/metadata.json")
    if kind == "hf":
        return _why_hf(path, names, root)
    if kind in {"torchtitan", "dcp", "lightning"} and "checkpoint" not in names.folders:
        is_there = ".metadata" in names.files or (kind == "torchtitan" and "model.safetensors.index.json" in names.files)
        return None if is_there else _missing(".metadata")
    return None


def _why_hf(path: Path, names: Names, root: str) -> Text | None:
    if path.name.startswith("tmp-"):
        return text("it still has its temporary name")
    if "trainer_state.json" not in names.files:
        return _missing("trainer_state.json")
    return None if trainer_state(path, root) is not None else text("trainer_state.json is cut off")


def trainer_state(path: Path, root: str) -> Mapping[str, object] | None:
    """The trainer_state.json of a generation; None where it is no JSON object of at most 64 MB."""
    words = small_text(path / "trainer_state.json", root, STATE_CAP_BYTES)
    try:
        content = json.loads(words) if words else None
    except (ValueError, RecursionError):
        return None
    return content if isinstance(content, dict) else None


def _why_file(path: Path) -> Text | None:
    """Whether a `.ckpt` file is whole, by its directory."""
    try:
        read_archive(path, path.name)
    except ReaderError:
        return text("it is cut off or broken")
    return None


# ---------------------------------------------------------------- generations


def find(path: Path, root: str, progress: Progress) -> Found | None:
    """The generations in a folder, or the folder itself as one; None where it is no checkpoint folder."""
    names = names_in(path, root)
    own = kind_of(path, names, root)
    is_output = own == "hf" and any(re.fullmatch(r"checkpoint-\d+", name) for name in names.folders)
    if own is not None and not is_output:
        one = Generation("", path, own, step_of(path.name), why_incomplete(path, own, names, root))
        return _tracked(Found(own, (one,), is_single=True), path.parent, root)
    found = _local(path, names, root, progress) or _children(path, names, root, progress) or _archives(path, names)
    if found is None and is_export(names):
        return Found("export", (Generation("", path, "export", None),), is_single=True)
    return found


def _local(path: Path, names: Names, root: str, progress: Progress) -> Found | None:
    """NVRx: the folder of a rank, or of a session with a folder for each rank."""
    holders: dict[str, frozenset[str]] = {"": names.files} if any(map(LOCAL_FILE.fullmatch, names.files)) else {}
    for name in sorted(name for name in names.folders if name.isdecimal())[:FOLDERS_CAP]:
        progress(0.0)
        files = names_in(path / name, root).files
        if any(map(LOCAL_FILE.fullmatch, files)):
            holders[name] = files
    if not holders:
        return None
    clean: defaultdict[int, list[str]] = defaultdict(list)
    steps: set[int] = set()
    for holder, files in holders.items():
        for file in files:
            if (match := LOCAL_FILE.fullmatch(file)) is not None:
                steps.add(int(match[1]))
                if match[3] is None:
                    clean[int(match[1])].append(f"{holder}/{file}" if holder else file)
    return Found("nvrx", tuple(_local_generation(path, step, clean[step], holders, root) for step in sorted(steps)), False)


def _local_generation(path: Path, step: int, files: list[str], holders: Mapping[str, object], root: str) -> Generation:
    missing = len(holders) - len({file.rpartition("/")[0] for file in files})
    why = text("{count} of {all} ranks have no clean file", count=f"{missing:,}", all=f"{len(holders):,}") if missing else None
    sizes = [(file, status.st_size) for file in sorted(files) if (status := regular(path / file, root)) is not None]
    return Generation(f"iter_{step:07d}", path, "nvrx", step, why, tuple(sizes))


def _children(path: Path, names: Names, root: str, progress: Progress) -> Found | None:
    """Generations as folders in a parent, those under non_persistent/ with them."""
    folders = sorted(names.folders)
    if "non_persistent" in names.folders:
        folders += [f"non_persistent/{name}" for name in sorted(names_in(path / "non_persistent", root).folders)]
    found: list[Generation] = []
    for name in folders[:FOLDERS_CAP]:
        progress(0.0)
        child = path / name
        inner = names_in(child, root)
        kind = kind_of(child, inner, root)
        if kind is not None:
            found.append(Generation(printable(name), child, kind, step_of(name), why_incomplete(child, kind, inner, root)))
    tracked = {kind for kind, tracker in TRACKERS.items() if tracker in names.files}
    if not any(one.step is not None or one.kind in tracked for one in found):
        return None
    kinds = Counter(one.kind for one in found)
    kind = kinds.most_common(1)[0][0]
    warnings: list[Text] = []
    if len(kinds) > 1:
        others = ", ".join(one.name for one in found if one.kind != kind)[:200]
        warnings.append(text("Folders of another kind are left out: {names}.", names=others))
    if len(folders) > FOLDERS_CAP or not names.is_whole:
        warnings.append(text("Only the first {count} folders in it were looked at.", count=f"{FOLDERS_CAP:,}"))
    kept = tuple(one for one in found if one.kind == kind)
    return _tracked(Found(kind, kept, is_single=False, warnings=tuple(warnings)), path, root)


def _archives(path: Path, names: Names) -> Found | None:
    """Lightning: each `.ckpt` file is one generation."""
    found = []
    for name in sorted(name for name in names.files if name.endswith(".ckpt"))[:FOLDERS_CAP]:
        if not (path / name).is_symlink() and _is_torch_file(path / name):
            found.append(Generation(printable(name), path / name, "lightning", step_of(name), _why_file(path / name)))
    return Found("lightning", tuple(found), is_single=False) if found else None


def _is_torch_file(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return starts_like_one(file.read(4_096))
    except OSError:
        return False


def _tracked(found: Found, parent: Path, root: str) -> Found:
    """With what the tracker beside the generations says: those above it are not complete where only it can tell."""
    tracker = TRACKERS.get(found.kind)
    if tracker is None:
        return found
    words = small_text(parent / tracker, root, TRACKER_CAP_BYTES)
    said = "" if words is None else printable(words.strip())[:80]
    if not said:
        if found.kind == "megatron" or found.is_single:
            return found
        note = text("{tracker} is missing or empty, so which generations are complete is not known.", tracker=tracker)
        return replace(found, warnings=(*found.warnings, note))
    last = step_of(said)
    is_named = any(
        one.name.rpartition("/")[2] == said or (one.step is not None and one.step == last) for one in found.generations
    )
    warnings = found.warnings
    if not (is_named or found.is_single):
        warnings += (text("{tracker} names {said}, which is not there.", tracker=tracker, said=said),)
    why = text("{tracker} still names {said}", tracker=tracker, said=said)
    generations = tuple(
        replace(one, why_not=one.why_not or why)
        if found.kind != "megatron" and last is not None and one.step is not None and one.step > last
        else one
        for one in found.generations
    )
    return replace(found, generations=generations, tracker=said, warnings=warnings)
