"""Whether what is written for Megatron-LM, Megatron Bridge and TorchTitan is accepted by the real programs, without a GPU.

    python packaging/check_framework_settings.py write DIR                  with ckptplanner installed
    python packaging/check_framework_settings.py check DIR --lm A --bridge B --titan C --old-titan D

`check` needs torch 2.13.0, what torchtitan 0.3.0 depends on, and einops, in an environment of its own. A to D are folders that
the wheels of megatron-core 0.19.2, megatron-bridge 0.6.2, torchtitan 0.3.0 and torchtitan 0.2.2 were unpacked in (0.2.0 and
0.2.1 pass in its place); each is checked in a process of its own, so any of them may be left out. Stand-ins, since there is
no GPU: the properties of one, and the import of nvidia-resiliency-ext, whose presence alone Megatron's validation asks for.
Of Bridge the class CheckpointConfig alone is run: the rest of its module needs Transformer Engine.
"""

from __future__ import annotations

import argparse
import ast
import itertools
import json
import os
import runpy
import subprocess
import sys
import types
import typing
from pathlib import Path
from typing import Any

CASES = {
    "storage.mode": ("async", "sync"),
    "local.enabled": (False, True),
    "replication.factor": (1, 2, 3),
    "storage.generations_kept": (1, 2, 4),
    "storage.write_s": (60.0, 2400.0),
    "local.ratio": (None, 1),
    "planned.every_s": (None, 86_400.0),
}
MODEL = (
    "--num-layers 2 --hidden-size 64 --num-attention-heads 4 --seq-length 64 --max-position-embeddings 64 --micro-batch-size 1 "
    "--train-iters 1000 --lr 1e-4 --min-lr 1e-5 --bf16 --transformer-impl local"
)


def write(folder: Path) -> int:
    """Every combination of CASES, in files."""
    from ckptplanner.engine.evaluate import plan_of
    from ckptplanner.engine.scenario import NamedScenario, Scenario
    from ckptplanner.engine.settings import megatron, torchtitan
    from ckptplanner.engine.settings.target import Names, settings_of
    from ckptplanner.frozen import with_value

    names = Names(shared_folder='/fsx/it\'s $(a) "b" # c', local_folder="/local/日本")
    for number, values in enumerate(itertools.product(*CASES.values())):
        made = Scenario()
        for path, value in zip(CASES, values, strict=True):
            made = with_value(made, path, value)
        named = NamedScenario(name="case\n$(x)", scenario=made)
        settings = settings_of(named, plan_of(named), names)
        for target in (*megatron.TARGETS, *torchtitan.TARGETS):
            case = folder / target.id / str(number)
            case.mkdir(parents=True, exist_ok=True)
            for file in target.write(settings).files:
                (case / file.name).write_text(file.content, encoding="utf-8")
        known = {
            "steps": settings.interval_steps, "keep": settings.keep, "is_async": settings.is_async,
            "is_told": made.planned.every_s is not None,
        }  # fmt: skip
        (folder / f"{number}.json").write_text(json.dumps(known))
    return 0


def wanted(case: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((case.parents[1] / f"{case.name}.json").read_text())
    return found


def check_lm(case: Path, state: dict[str, Any]) -> None:
    """The parser and the validation of Megatron-LM."""
    if not state:
        import torch

        for name in (
            "nvidia_resiliency_ext", "nvidia_resiliency_ext.checkpointing", "nvidia_resiliency_ext.checkpointing.local",
            "nvidia_resiliency_ext.checkpointing.local.ckpt_managers",
            "nvidia_resiliency_ext.checkpointing.local.ckpt_managers.local_manager",
        ):  # fmt: skip
            state[name] = types.ModuleType(name)
        state[name].LocalCheckpointManager = object
        torch.cuda.get_device_properties = lambda *_: types.SimpleNamespace(major=9, minor=0)
        torch.cuda.get_device_capability = lambda *_: (9, 0)
        os.environ.update(WORLD_SIZE="256", RANK="0", LOCAL_RANK="0")
        from megatron.training import arguments

        state["arguments"] = arguments
    arguments = state["arguments"]
    script = f'source "{case}/megatron_lm_args.sh"; printf "%s\\0" "${{CHECKPOINT_ARGS[@]}}"'
    words = subprocess.run(["bash", "-euc", script], capture_output=True, check=True, text=True).stdout.split("\0")[:-1]
    parser = arguments.add_megatron_arguments(argparse.ArgumentParser(allow_abbrev=False))
    parsed = parser.parse_args([*MODEL.split(), *words])
    parsed.rank, parsed.world_size, parsed.local_rank = 0, 256, 0
    sys.modules.update({name: module for name, module in state.items() if name != "arguments"})
    parsed = arguments.validate_args(parsed)
    known = wanted(case)
    assert parsed.save == '/fsx/it\'s $(a) "b" # c'
    assert parsed.save_interval == known["steps"]
    is_local = parsed.non_persistent_ckpt_type == "local"
    assert parsed.async_save == (known["is_async"] and not is_local)
    assert parsed.exit_signal_handler == known["is_told"]
    assert (parsed.save_retain_interval is not None) == (known["keep"] == 1)
    if is_local:
        assert parsed.save_interval % parsed.non_persistent_save_interval == 0
    if parsed.replication:
        assert 256 % (parsed.replication_jump * parsed.replication_factor) == 0


def check_bridge(case: Path, state: dict[str, Any]) -> None:
    """CheckpointConfig and DistributedInitConfig."""
    import yaml
    from megatron.training import config as base

    if not state:
        source = (Path(state_folder["bridge"]) / "megatron/bridge/training/config.py").read_text(encoding="utf-8")
        node = next(one for one in ast.parse(source).body if isinstance(one, ast.ClassDef) and one.name == "CheckpointConfig")
        import dataclasses

        space = {**vars(typing), **vars(dataclasses), "MTrainCheckpointConfig": base.CheckpointConfig, "__name__": __name__}
        exec(compile(ast.Module([node], []), "config.py", "exec"), space)
        state["class"] = space["CheckpointConfig"]
    tree = yaml.safe_load((case / "megatron_bridge_checkpoint.yaml").read_text(encoding="utf-8"))
    made = state["class"](**tree["checkpoint"])
    made.finalize()
    if "dist" in tree:
        assert base.DistributedInitConfig(**tree["dist"]).distributed_timeout_minutes > 10
    assert base.TrainingConfig(**tree.get("train", {})).exit_signal_handler == wanted(case)["is_told"]
    assert (made.save_interval, made.most_recent_k) == (wanted(case)["steps"], wanted(case)["keep"])
    assert made.async_save == (wanted(case)["is_async"] and made.non_persistent_ckpt_type is None)


def check_titan(case: Path, _: dict[str, Any]) -> None:
    """The function is run on a real Trainer.Config."""
    from torchtitan.trainer import Trainer

    own = Trainer.Config()
    own.checkpoint.initial_load_path, own.checkpoint.exclude_from_loading = "/fsx/base", ["lr_scheduler"]
    config = runpy.run_path(str(case / "torchtitan_plan.py"))["apply"](own)
    assert (config.checkpoint.initial_load_path, config.checkpoint.exclude_from_loading) == ("/fsx/base", ["lr_scheduler"])
    assert not config.checkpoint.load_only
    _same(config.checkpoint, wanted(case))
    assert config.comm.train_timeout_seconds >= 100


def check_old_titan(case: Path, _: dict[str, Any]) -> None:
    """The TOML is read by the ConfigManager into a JobConfig."""
    from torchtitan.config import ConfigManager

    config = ConfigManager().parse_args([f"--job.config_file={case}/torchtitan_checkpoint.toml"])
    _same(config.checkpoint, wanted(case))
    assert config.comm.train_timeout_seconds >= 100


def _same(checkpoint: Any, known: dict[str, Any]) -> None:
    assert checkpoint.enable
    assert checkpoint.folder == '/fsx/it\'s $(a) "b" # c'
    assert checkpoint.interval == known["steps"]
    assert checkpoint.keep_latest_k == max(known["keep"], 2)
    assert (checkpoint.async_mode != "disabled") == known["is_async"]
    assert not checkpoint.last_save_model_only


CHECKS = {
    "lm": ("megatron-lm", check_lm), "bridge": ("megatron-bridge", check_bridge), "titan": ("torchtitan", check_titan),
    "old_titan": ("torchtitan-0.2", check_old_titan),
}  # fmt: skip
state_folder: dict[str, str] = {}


def check_one(folder: Path, kind: str, places: dict[str, str | None]) -> int:
    """All cases of one target, in this process."""
    import typing_extensions

    if not hasattr(typing, "override"):
        typing.override = typing_extensions.override  # type: ignore[attr-defined] # megatron-core 0.19 is for Python 3.12
    state_folder.update({name: place for name, place in places.items() if place})
    sys.path[:0] = [place for place in (places["lm"] if kind == "bridge" else places[kind],) if place]
    target, check = CHECKS[kind]
    state: dict[str, Any] = {}
    cases = sorted((folder / target).iterdir())
    for case in cases:
        check(case, state)
    print(f"{target}: {len(cases)} accepted", file=sys.stderr)
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("what", choices=("write", "check"))
    parser.add_argument("folder", type=Path)
    for name in ("--lm", "--bridge", "--titan", "--old-titan"):
        parser.add_argument(name)
    parser.add_argument("--one", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.what == "write":
        return write(given.folder)
    places = {name: getattr(given, name) for name in CHECKS}
    if given.one:
        return check_one(given.folder, given.one, places)
    return max(
        subprocess.run([sys.executable, *sys.argv, "--one", kind], stdout=subprocess.DEVNULL).returncode
        for kind in CHECKS
        if places[kind]
    )


if __name__ == "__main__":
    raise SystemExit(main())
