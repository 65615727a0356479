"""What to measure on the user's cluster: commands with the plan's sizes, what each measures, and where its output goes.

Every output is a file below one folder, which is given back as it is (`ckptplanner import evidence`): the readers in data/
know them by their content. The commands of fio, IOR and elbencho are those of the requirement sheet.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from textwrap import wrap

from ckptplanner.engine import bench_lines
from ckptplanner.engine.bench_lines import NODE, REPEATS, Shape, broken, shape_of
from ckptplanner.engine.plan import Finding, finding
from ckptplanner.engine.settings.doing import told
from ckptplanner.engine.settings.file_system import file_system_of, mount_of
from ckptplanner.engine.settings.target import Settings, SettingsFile, Target, Written
from ckptplanner.engine.settings.writing import comment, head, one_line, shell_word
from ckptplanner.text import Text, text
from ckptplanner.units import BYTES, BYTES_PER_S, GIB, MIB, SECONDS, brief, grouped, rough

NAME = "measure.txt"
DROP = "evidence"  # the folder that all outputs go to
_COPY_MIB = 4096  # the largest buffer of a copy: more says nothing new
_WIDTH = 110
_LISTS = re.compile(r"[:,\[\]]")  # what fio and elbencho read as lists of names
_STORAGE = {"write": "storage.custom.write_bytes_per_s", "read": "storage.custom.read_bytes_per_s"}
_DRIVES = {"write": "datapath.nvme_write_bytes_per_s", "read": "datapath.nvme_read_bytes_per_s"}
_SACCT = "JobIDRaw,JobName,State,ExitCode,Submit,Eligible,Start,End,ElapsedRaw,NNodes,NodeList,Restarts,FailedNode"


@dataclass(frozen=True, slots=True)
class Check:
    """One thing to measure."""

    id: str
    title: Text
    measures: tuple[str, ...]  # paths of fields
    remark: str  # in the file: from which figures of the plan its sizes come, and what to look out for
    commands: tuple[str, ...]
    output: str  # the file that the readers take back; empty: the command says it itself


def check_list(settings: Settings) -> tuple[Check, ...]:
    """What to measure for a plan, the cheapest first."""
    return tuple(_checks(settings))


def _checks(settings: Settings) -> Iterator[Check]:
    yield _log(settings)
    yield _size(settings)
    yield _sacct(settings)
    yield _copies(settings)
    yield _topology()
    if settings.has_local:
        yield from _local_drives(settings)
    yield from _storage(settings)
    if file_system_of(settings.plan) is not None:
        yield _load(settings)


def folder_of(settings: Settings) -> str:
    """A folder beside that of the saves: nothing in it is a checkpoint, and no link to S3 exports it."""
    mount, inside = mount_of(settings.names.shared_folder)
    return f"{mount}/measure" if inside == "/" else f"{mount.rstrip('/')}{inside}-measure"


# ---------------------------------------------------------------- the training job's own log

_LOG_WORDS = {
    "Megatron-LM": (
        "start the job with --log-interval 10: C and t are the lines 'saving', 'scheduled' and 'successfully saved "
        "checkpoint'; older versions print no time stamps there, then the timer save-checkpoint is read",
        "cp {log} {drop}/training.log",
    ),
    "TorchTitan": (
        "the text says how long a save stops training (C, not t where async is on); its structured lines have t too",
        "cp {log} {drop}/training.log && cp -r OUTPUT_FOLDER/structured_logs {drop}/",
    ),
    "Hugging Face Trainer": (
        "the Trainer logs no save: add this callback (trainer.add_callback(SaveTimes())), which prints lines that are read as "
        "those of Megatron-LM; C, t and the write time are the same; an evaluation at the same step is counted in",
        "cp {log} {drop}/training.log",
    ),
}
_ANY_LOG = "print a line with a time stamp before a save, when training goes on (C) and when it is written (t)"
CALLBACK = """\
from datetime import datetime
from transformers import TrainerCallback

class SaveTimes(TrainerCallback):
    def _say(self, state, words):
        if state.is_world_process_zero:
            print(f"[{datetime.now():%Y-%m-%d %H:%M:%S.%f}] {words}", flush=True)
    def on_step_end(self, args, state, control, **_):
        if control.should_save:
            self._say(state, f"saving checkpoint at iteration {state.global_step:7d} to {args.output_dir} in hf format")
    def on_save(self, args, state, control, **_):
        self._say(state, f"successfully saved checkpoint from iteration {state.global_step:7d} to {args.output_dir}")
"""


def _log(settings: Settings) -> Check:
    framework = settings.plan.scenario.workload.framework.id
    known = "Megatron-LM" if framework == "Megatron Bridge" else framework
    remark, command = _LOG_WORDS.get(known, (_ANY_LOG, "cp {log} {drop}/training.log"))
    every = brief(settings.interval_s, SECONDS)
    snippet = (CALLBACK,) if framework == "Hugging Face Trainer" else ()
    return Check(
        "log", text("Stop and write time of real saves"),
        ("storage.blocking_s", "storage.write_s", "storage.interval_s", "workload.step_s", "failures.start_s",
         "storage.background_loss_s"),
        f"{remark}. From the plan: C {brief(settings.stop_s, SECONDS)}, a write {brief(settings.write_s, SECONDS)}, a save "
        f"every {every}: keep the log of ten saves or more, and of one restart",
        (*snippet, command.format(log=f"{shell_word(settings.names.log_folder)}/LOG_OF_RANK_0", drop=DROP)),
        f"{DROP}/training.log",
    )  # fmt: skip


def _size(settings: Settings) -> Check:
    size = brief(settings.plan.checkpoint.checkpoint_bytes, BYTES)
    return Check(
        "checkpoint", text("Size of a checkpoint"), ("workload.measured_bytes",),
        f"from the plan: {size}; looks at names, sizes and headers of the newest checkpoints, and reads no tensors",
        (f"ckptplanner import {shell_word(settings.names.shared_folder)}",), "",
    )  # fmt: skip


def _sacct(settings: Settings) -> Check:
    job = shell_word(settings.names.job)
    return Check(
        "sacct", text("Interruptions of the job"),
        ("failures.mtbi_s", "failures.mtbi_nodes", "failures.reschedule_s", "failures.weibull_shape"),
        "without -D only the newest run of a requeued job is shown; on Slurm 22.05 leave out Restarts and FailedNode; ask for "
        "as many days as the accounting keeps",
        (f"SLURM_TIME_FORMAT=%s sacct -D -P -a --name={job} -S now-90days -o {_SACCT} > {DROP}/sacct.txt",),
        f"{DROP}/sacct.txt",
    )  # fmt: skip


# ---------------------------------------------------------------- inside a node


def _copies(settings: Settings) -> Check:
    plan = settings.plan
    gpus = plan.scenario.workload.gpus_per_node
    share_mib = max(math.ceil(plan.checkpoint.bytes_per_node / gpus / MIB), 1)
    most = "" if share_mib <= _COPY_MIB else f", here {grouped(_COPY_MIB)} MiB of it"
    return Check(
        "nvbandwidth", text("Copies from GPU to host memory"), ("datapath.copy_bytes_per_s",),
        f"all GPUs of a node at once ({grouped(gpus)}), as in a save; from the plan: {grouped(share_mib)} MiB a GPU{most}",
        (f"srun -N 1 -n 1 --gpus-per-node={gpus} nvbandwidth -j -t all_to_host_memcpy_ce -b {min(share_mib, _COPY_MIB)} "
         f"> {DROP}/nvbandwidth.json",),
        f"{DROP}/nvbandwidth.json",
    )  # fmt: skip


def _topology() -> Check:
    return Check(
        "topo", text("Which network cards are near which GPU"), ("workload.gpus_per_node",),
        "PIX and PXB share a switch with the GPU, SYS goes through the other CPU: it decides the path that the diagram draws",
        (f"srun -N 1 -n 1 nvidia-smi topo -m > {DROP}/topo.txt",), f"{DROP}/topo.txt",
    )  # fmt: skip


def _local_drives(settings: Settings) -> Iterator[Check]:
    plan = settings.plan
    work, folder = plan.scenario.workload, f"{one_line(settings.names.local_folder).rstrip('/')}-measure"
    each_mib = math.ceil(plan.checkpoint.bytes_per_node * settings.factor / work.gpus_per_node / MIB)
    block = 16 if each_mib >= 16 else 1
    shape = Shape(1, work.gpus_per_node, work.gpus_per_node, max(math.ceil(each_mib / block), 1) * block, block)
    copies = f", {grouped(settings.factor)} copies of each shard" if settings.factor > 1 else ""
    remark = f"on the drives of one node; from the plan: {shape.words} of what a local save writes there{copies}"
    start = "srun -N 1 -n 1 "
    for way, title in (("write", text("Drives of a node, writing")), ("read", text("Drives of a node, reading"))):
        output = f"{DROP}/fio-drives-{way}.json"
        made = (f"{start}mkdir -p {shell_word(folder)}",) if way == "write" else ()
        gone = (f"{start}rm -r {shell_word(folder)}",) if way == "read" else ()
        yield Check(
            f"drives-{way}", title, (_DRIVES[way],), remark + (" (the same node, read without its memory)" if gone else ""),
            (*made, start + bench_lines.fio(shape, _for_fio(folder), way, output), *gone), output,
        )  # fmt: skip


# ---------------------------------------------------------------- the shared file system


def _storage(settings: Settings) -> Iterator[Check]:
    plan, folder = settings.plan, folder_of(settings)
    shape, size = shape_of(plan), brief(plan.checkpoint.checkpoint_bytes, BYTES)
    needed = brief(plan.storage.required_write_bytes_per_s, BYTES_PER_S)
    remark = (
        f"from the plan: {shape.words}, one checkpoint of {size}, {REPEATS} times; its saves need {needed}. Takes as much "
        f"room and {_takes(settings)}, at all of the file system's speed: do it while nothing trains"
    )
    ratio = "the rates by those on sale are storage.write_efficiency and storage.read_efficiency"
    paths = (_STORAGE["write"], _STORAGE["read"])
    prepared = f"mkdir -p {shell_word(folder)}"
    output = f"{DROP}/ior.json"
    yield Check(
        "ior", text("Shared storage, all nodes (IOR)"), paths if shape.nodes > 1 else paths[:1], f"{remark}; {ratio}",
        (prepared, bench_lines.ior(shape, folder, output)), output,
    )  # fmt: skip
    output = f"{DROP}/elbencho.csv"
    yield Check(
        "elbencho", text("Shared storage, all nodes (elbencho)"), paths,
        f"{remark}. nodes.txt lists the nodes, elbencho --service runs on each; the file must be new",
        (prepared, bench_lines.elbencho(shape, folder, output)), output,
    )  # fmt: skip
    yield from _fio(shape, folder, remark)


def _takes(settings: Settings) -> str:
    """How long it writes and reads at the plan's rates."""
    size, option = settings.plan.checkpoint.checkpoint_bytes, settings.plan.storage.chosen
    if option is None:
        return "an unknown time"
    once = size / option.baseline_bytes_per_s + size / option.read_bytes_per_s
    return f"about {rough(REPEATS * once, SECONDS)}"


def _fio(shape: Shape, folder: str, remark: str) -> Iterator[Check]:
    for way, title in (("write", text("Shared storage, writing (fio)")), ("read", text("Shared storage, reading (fio)"))):
        output = f"{DROP}/fio-{way}.json"
        pieces = f"{folder}/result-{way}-{NODE}.json"
        command = bench_lines.fio(shape, _for_fio(folder), way, output if shape.nodes == 1 else pieces)
        join = f"cat {shell_word(folder)}/result-{way}-*.json > {output}"
        made = (f"mkdir -p {shell_word(folder)}",) if way == "write" else ()
        gone = (f"rm -r {shell_word(folder)}",) if way == "read" else ()
        more = "" if shape.nodes == 1 else "; the results of all nodes in one file add up"
        yield Check(f"fio-{way}", title, (_STORAGE[way],), remark + more,
                    (*made, command, *(() if shape.nodes == 1 else (join,)), *gone), output)  # fmt: skip


def _for_fio(folder: str) -> str:
    """A folder as fio takes it: a colon would begin another one."""
    return folder.replace("\\", "\\\\").replace(":", "\\:")


def _load(settings: Settings) -> Check:
    output = f"{DROP}/cloudwatch-write.json"
    region, system = shell_word(settings.plan.scenario.prices.region), shell_word(settings.names.file_system_id)
    return Check(
        "cloudwatch", text("What the file system has moved"), ("shared.load_bytes_per_s",),
        "bytes written in each minute of the last 23 hours, by this job and others: the others' load while it stands still",
        (f"aws cloudwatch get-metric-statistics --region {region} --namespace AWS/FSx --metric-name DataWriteBytes "
         f"--dimensions Name=FileSystemId,Value={system} --start-time $(date -u -d -23hours +%FT%TZ) "
         f"--end-time $(date -u +%FT%TZ) --period 60 --statistics Sum > {output}",),
        output,
    )  # fmt: skip


# ---------------------------------------------------------------- as a file


def write(settings: Settings) -> Written:
    """The check-list as a text to paste from, one command after another."""
    work = settings.plan.scenario.workload
    nodes = bench_lines.clients(settings.plan)
    notes = (
        f"Paste the commands one by one; each puts its output below {DROP}, which is given back as it is:",
        f"    ckptplanner import {DROP}",
        "Those with srun belong into one allocation, in a folder that all nodes see:",
        f"    salloc -N {nodes} --exclusive --gpus-per-node={work.gpus_per_node}",
    )
    findings = tuple(_findings(settings))
    title = "What to measure on the cluster, with the sizes of the plan"
    lines = [comment(head(told(settings, findings), title, _CHECKED, notes))]
    lines.append(f"\nmkdir -p {DROP}\n")
    for check in check_list(settings):
        paths = ", ".join(check.measures)
        words = (f"{check.title}: {paths}", one_line(check.remark))
        lines.append("\n" + comment(part for line in words for part in wrap(line, _WIDTH, break_long_words=False)))
        lines += [_command(command) for command in check.commands]
    return Written((SettingsFile(NAME, "shell", "".join(lines)),), findings)


def _command(command: str) -> str:
    if "\n" in command:  # a piece of a program, not of the shell
        return comment(command.splitlines(), "#   ")
    return "\n".join(broken(command, _WIDTH)) + "\n"


def _findings(settings: Settings) -> Iterator[Finding]:
    option, size = settings.plan.storage.chosen, settings.plan.checkpoint.checkpoint_bytes
    if option is not None and (1.0 - option.fill_ratio) * option.capacity_gib * GIB < size:
        yield finding(
            "info", "storage.generations_kept",
            "Beside the checkpoints that are kept there is no room for one more of {size}: measure before the first save.",
            size=brief(size, BYTES),
        )  # fmt: skip
    folders = (folder_of(settings), *((settings.names.local_folder,) if settings.has_local else ()))
    for folder in folders:
        if _LISTS.search(folder):
            yield finding(
                "warning", "storage.custom.write_bytes_per_s",
                "fio and elbencho take a colon, a comma or brackets for a list of names, and the folder {folder} has some: "
                "measure in one without them.",
                folder=one_line(folder),
            )  # fmt: skip
    framework = settings.plan.scenario.workload.framework
    if framework.id == "Hugging Face Trainer":
        yield finding(
            "info", "workload.framework",
            "{framework} does not log its saves: the check-list has a callback that does.",
            framework=framework.name,
        )  # fmt: skip


_CHECKED = "read by bash -n, and run with stand-ins for the tools"
TARGETS: tuple[Target, ...] = (Target("measure", text("Check-list to measure"), "any cluster", _CHECKED, "scheduler", write),)
