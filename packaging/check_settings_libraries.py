"""Whether the real libraries take the settings that are written for them: what is too heavy for the test suite.

    python packaging/check_settings_libraries.py        with a Python that has ckptplanner's own dependencies and as many of
                                                        these as can be had: torch, transformers, accelerate, lightning,
                                                        deepspeed, nvidia-resiliency-ext, PyYAML, kubernetes; and sbatch

Each check that can be made is made on CPU, and says with which version; a library that is missing is said too.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from ckptplanner.engine.evaluate import plan_of  # noqa: E402
from ckptplanner.engine.scenario import NamedScenario, Scenario  # noqa: E402
from ckptplanner.engine.settings.registry import target  # noqa: E402
from ckptplanner.engine.settings.target import Names, Settings, settings_of  # noqa: E402
from ckptplanner.frozen import with_value  # noqa: E402

SYNC = {"storage.mode": "sync", "storage.write_s": 60.0}
SINGLE = {"workload.writer": "single"}
QUICK: dict[str, Any] = {
    "storage.interval_s": 2.0,
    "workload.step_s": 1.0,
    "storage.generations_kept": 3,
    "workload.total_params": 1e6,
}  # every 2 steps, 2 complete
ODD = 'o\'dd "folder" $(x) #1 日本'


def made(folder: Path, *groups: dict[str, Any]) -> Settings:
    scenario = Scenario()
    for group in groups:
        for path, value in group.items():
            scenario = with_value(scenario, path, value)
    named = NamedScenario(name='a "plan"\n$(x)', scenario=scenario)
    places = {name: str(folder / ODD / name) for name in ("shared_folder", "local_folder", "log_folder")}
    return settings_of(named, plan_of(named), Names(**places))


def write(id: str, folder: Path, settings: Settings) -> dict[str, Path]:
    """The files of a target in a folder, by name."""
    found = {}
    for file in target(id).write(settings).files:
        found[file.name] = folder / file.name
        found[file.name].write_text(file.content, encoding="utf-8")
    return found


def load(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


def ranks(count: int, code: str, folder: Path, port: int) -> str:
    """Run a script in `count` processes of one group; returns what rank 0 printed."""
    script = folder / "ranks.py"
    script.write_text(code, encoding="utf-8")
    base = {
        **os.environ,
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(port),
        "WORLD_SIZE": str(count),
        "PYTHONPATH": str(folder),
    }
    started = [
        subprocess.Popen([sys.executable, script], env={**base, "RANK": str(rank)}, stdout=subprocess.PIPE, text=True)
        for rank in range(count)
    ]
    said = [one.communicate(timeout=300)[0] for one in started]
    assert not any(one.returncode for one in started), "\n".join(said)
    return said[0]


# ---------------------------------------------------------------- checks


def check_transformers(folder: Path) -> None:
    import torch
    from transformers import HfArgumentParser, Trainer, TrainingArguments

    settings = made(folder, QUICK)
    path = write("hf-trainer", folder, settings)["hf_training_args.json"]
    (arguments,) = HfArgumentParser(TrainingArguments).parse_json_file(str(path))
    for name, value in json.loads(path.read_text(encoding="utf-8")).items():
        assert getattr(arguments, name) == value, name

    class Model(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = torch.nn.Linear(2, 1)

        def forward(self, x: Any, labels: Any = None) -> Any:
            out = self.layer(x)
            return {"loss": (out - labels).pow(2).mean(), "logits": out}

    arguments.max_steps, arguments.use_cpu, arguments.report_to, arguments.disable_tqdm = 9, True, [], True
    data = [{"x": torch.ones(2), "labels": torch.ones(1)}] * 80
    Trainer(model=Model(), args=arguments, train_dataset=data).train()
    found = sorted(one.name for one in Path(settings.names.shared_folder).glob("checkpoint-*"))
    assert found[-1] in {"checkpoint-8", "checkpoint-9"}, found
    assert len(found) == settings.keep == 2, found


def check_lightning(folder: Path) -> None:
    import lightning
    import torch
    from lightning.pytorch.demos.boring_classes import BoringModel
    from lightning.pytorch.plugins.io import TorchCheckpointIO
    from lightning.pytorch.strategies import FSDPStrategy

    load(write("lightning", folder, made(folder))["lightning_plan.py"])  # sharded: FSDP, made but not trained, needs a GPU
    assert isinstance(sys.modules["lightning_plan"].strategy, FSDPStrategy)

    class Model(BoringModel):
        def training_step(self, *batch: Any) -> Any:
            time.sleep(0.25)  # two steps take longer than a write
            return super().training_step(*batch)

    for name, groups in (
        ("sync", (QUICK, SINGLE, {"storage.mode": "sync", "storage.write_s": 1.0})),
        ("async", (QUICK, SINGLE)),
    ):
        settings = made(folder / name, *groups)
        io = _slow_io(TorchCheckpointIO, Path(settings.names.shared_folder))
        plan = load(write("lightning", folder, settings)["lightning_plan.py"])
        trainer = lightning.Trainer(
            callbacks=[plan.saves], strategy=plan.strategy, plugins=[plan.AsyncCheckpointIO(io)] if name == "async" else [io],
            max_steps=12, accelerator="cpu", devices=1, logger=False, enable_progress_bar=False, enable_model_summary=False,
            limit_val_batches=0,
        )  # fmt: skip
        trainer.fit(Model())
        torch.distributed.destroy_process_group()
        left = _steps(Path(settings.names.shared_folder))
        assert left[-settings.keep :] == [10, 12], left
        assert len(left) <= settings.plan.scenario.storage.generations_kept, left
        assert io.least == settings.keep, "complete ones while another is written, once there are so many"


def _steps(place: Path) -> list[int]:
    return sorted(int(re.findall(r"step=(\d+)", one.name)[0]) for one in place.glob("*.ckpt"))


def _slow_io(base: Any, place: Path) -> Any:
    """A writer that takes its time and counts what is complete at the end of that time."""

    class Slow(base):  # type: ignore[misc]
        least, saves = 1000, 0

        def save_checkpoint(self, *args: Any, **more: Any) -> None:
            time.sleep(0.3)
            self.saves += 1
            if self.saves > 4:
                self.least = min(self.least, len(_steps(place)))
            super().save_checkpoint(*args, **more)

    return Slow()


def check_deepspeed(folder: Path) -> None:
    import torch
    from deepspeed.runtime.config import DeepSpeedConfig

    for groups in ((QUICK,), ({"storage.write_s": 120.0},)):
        settings = made(folder, *groups)
        config = json.loads(write("deepspeed", folder, settings)["deepspeed_checkpoint.json"].read_text(encoding="utf-8"))
        config |= {"train_micro_batch_size_per_gpu": 1, "gradient_accumulation_steps": 1, "train_batch_size": 1}
        read = DeepSpeedConfig(config).checkpoint_config
        assert read["tag_validation"] == "FAIL"
        assert (read["writer"] or {}).get("decoupled", False) == ("writer" in config["checkpoint"])
    import deepspeed

    settings = made(folder, QUICK, {"storage.mode": "sync", "storage.write_s": 1.0})
    files = write("deepspeed", folder, settings)
    config = json.loads(files["deepspeed_checkpoint.json"].read_text(encoding="utf-8"))
    os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29611", "RANK": "0", "WORLD_SIZE": "1", "LOCAL_RANK": "0"}
    code = load(files["deepspeed_saves.py"])
    code.init_distributed()
    model = torch.nn.Linear(2, 1)
    engine, *_ = deepspeed.initialize(
        model=model, optimizer=torch.optim.SGD(model.parameters(), lr=0.1),
        config={**config, "train_micro_batch_size_per_gpu": 1, "gradient_accumulation_steps": 2},
    )  # fmt: skip
    saves = code.Saves(engine)
    for _ in range(18):  # 9 steps
        engine.backward(engine(torch.ones(1, 2)).sum())
        engine.step()
        saves.after_step(engine)
    left = sorted(one.name for one in Path(settings.names.shared_folder).glob("global_step*"))
    assert left == ["global_step6", "global_step8"], left
    assert (Path(settings.names.shared_folder) / "latest").read_text() == "global_step8"
    torch.distributed.destroy_process_group()


DCP_RUN = """
import sys, torch, torch.distributed as dist
from pathlib import Path
import dcp_saves
def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    state = {"w": torch.zeros(1000), "step": torch.zeros(())}
    saves = dcp_saves.Saves()
    left_over = dcp_saves.FOLDER / "step-000000000003"
    if rank == 0:
        left_over.mkdir(parents=True)
        (left_over / "part").write_text("of an interrupted write")
    dist.barrier()
    for step in range(1, 12):
        state["w"] += 1
        state["step"].fill_(step)
        saves.after_step(step, state)
    saves.finish()
    dist.barrier()
    again = {"w": torch.zeros(1000), "step": torch.zeros(())}
    found = dcp_saves.resume(again)
    if rank == 0:
        print(found, again["w"][0].item(), *sorted(p.name for p in dcp_saves.FOLDER.iterdir()))
    dist.destroy_process_group()
if __name__ == "__main__":
    main()
"""


def check_torch(folder: Path) -> None:
    for port, groups in ((29621, (QUICK,)), (29622, (QUICK, {"storage.mode": "sync", "storage.write_s": 1.0}))):
        place = folder / str(port)
        place.mkdir()
        write("dcp", place, made(place, *groups))
        said = ranks(2, DCP_RUN, place, port).split()
        assert said == ["10", "10.0", "step-000000000008", "step-000000000010"], said


NVRX_RUN = """
import torch.distributed as dist
import nvrx_local
dist.init_process_group("gloo")
manager = nvrx_local.local_manager()
group = manager.repl_strategy.local_group
print(sorted(group.ranks), nvrx_local.newest(manager))
dist.destroy_process_group()
"""


def check_nvidia_resiliency_ext(folder: Path) -> None:
    from nvidia_resiliency_ext.fault_tolerance.config import FaultToleranceConfig
    from nvidia_resiliency_ext.fault_tolerance.launcher import get_args_parser

    small = {"workload.nodes": 2, "workload.gpus_per_node": 2, "replication.factor": 2, "local.enabled": True, **QUICK}
    settings = made(folder, small, {"spares.nodes": 1, "storage.tier": "p2-500-12000"})
    files = write("nvrx", folder, settings)
    read = FaultToleranceConfig.from_yaml_file(str(files["nvrx_ft.yaml"]))
    assert read.rank_section_timeouts["checkpointing"] > settings.stop_s
    assert set(read.rank_section_timeouts) == {"setup", "step", "checkpointing"}
    assert read.rank_heartbeat_timeout is None
    stub = folder / "ft_launcher"
    stub.write_text(f"#!{sys.executable}\nimport json, sys\nprint(json.dumps(sys.argv[1:]))\n")
    stub.chmod(0o755)
    done = subprocess.run(
        ["bash", files["nvrx_launch.sh"], "train.py", "a b"], capture_output=True, text=True, check=True,
        env={**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"},
    )  # fmt: skip
    given = json.loads(done.stdout)
    assert given[-2:] == ["train.py", "a b"]
    newer = ("--ft-cycle-info-dir", "--ft-checkpoint-iteration-file")  # not in 0.4.1
    parsed = get_args_parser().parse_args([one for one in given if not one.startswith(newer)])
    assert (parsed.nnodes, parsed.nproc_per_node) == ("2:3", "2")
    assert parsed.max_restarts >= 3
    assert parsed.ft_cfg_path == "nvrx_ft.yaml"
    assert "[0, 2] (0, None)" in ranks(4, NVRX_RUN, folder, 29631)


def check_kubernetes(folder: Path) -> None:
    import yaml
    from kubernetes import client

    local = {"local.enabled": True, "planned.every_s": 86_400.0}
    jobset = yaml.safe_load(write("jobset", folder, made(folder, local))["jobset.yaml"].read_text(encoding="utf-8"))
    spec = jobset["spec"]["replicatedJobs"][0]["template"]["spec"]

    api = client.ApiClient()
    read = api.deserialize(json.dumps(spec), "V1JobSpec", "application/json")
    back = api.sanitize_for_serialization(read)
    assert back == spec, "the client dropped a field that it does not know"


def check_sbatch(folder: Path) -> None:
    (folder / "slurm.conf").write_text(
        "ClusterName=x\nSlurmctldHost=localhost\nSlurmctldPort=16817\nNodeName=localhost\n"
        "PartitionName=a Nodes=localhost Default=YES\n"
    )
    settings = made(folder, {"spares.nodes": 2, "planned.every_s": 86_400.0})
    path = write("slurm", folder, settings)["slurm_job.sbatch"]
    done = subprocess.run(["sbatch", "-vvv", path, "train"], capture_output=True, text=True, timeout=120, check=False,
                          env={**os.environ, "SLURM_CONF": str(folder / "slurm.conf")})  # fmt: skip
    options = dict(re.findall(r"^sbatch: ([\w-]+) +: (.*)$", done.stderr, re.MULTILINE))
    expected = {"job-name": "pretrain", "nodes": "34", "requeue": "requeue", "open-mode": "a", "time": "1-00:00:00",
                "signal": "B:USR1@378", "no-kill": "set", "output": f"{settings.names.log_folder}/%x-%j.out"}  # fmt: skip
    for name, value in expected.items():
        assert options.get(name) == value, (name, options.get(name), value)


CHECKS: dict[str, tuple[str, Callable[[Path], None]]] = {
    "torch": ("torch", check_torch),
    "transformers": ("transformers", check_transformers),
    "lightning": ("lightning", check_lightning),
    "deepspeed": ("deepspeed", check_deepspeed),
    "nvidia-resiliency-ext": ("nvidia_resiliency_ext", check_nvidia_resiliency_ext),
    "kubernetes": ("kubernetes", check_kubernetes),
}


def main() -> int:
    """Run the checks, each in a process of its own; 1 where one fails."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("names", nargs="*", help=f"which: {', '.join([*CHECKS, 'sbatch'])}; all without")
    parser.add_argument("--here", action="store_true", help="in this process")
    options = parser.parse_args()
    names = options.names or [*CHECKS, "sbatch"]
    if options.here:
        with tempfile.TemporaryDirectory() as folder:
            (check_sbatch if names[0] == "sbatch" else CHECKS[names[0]][1])(Path(folder))
        return 0
    failed = 0
    for name in names:
        is_there = shutil.which("sbatch") if name == "sbatch" else importlib.util.find_spec(CHECKS[name][0])
        if not is_there:
            print(f"{name}: not here")
            continue
        version = "" if name == "sbatch" else importlib.metadata.version(name)
        try:
            done = subprocess.run(
                [sys.executable, __file__, "--here", name], capture_output=True, text=True, timeout=900, check=False
            )
            failed += done.returncode != 0
            print(f"{name} {version}: {'accepted' if done.returncode == 0 else done.stderr[-3000:]}")
        except subprocess.TimeoutExpired:
            failed += 1
            print(f"{name} {version}: no end after 15 min")
    return int(failed > 0)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except AssertionError:
        traceback.print_exc()
        sys.exit(1)
