"""Commands that write one checkpoint as the plan does and read it back: fio, IOR and elbencho, from all nodes, three times.

The requirement sheet accepts a file system by them, the check-list of a plan measures one; both have them from here.
"""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from ckptplanner.engine.plan import Plan
from ckptplanner.text import Text, text
from ckptplanner.units import MIB, NBSP, UNKNOWN, grouped

FOLDER = "/mnt/fs/accept"
REPEATS = 3
_BLOCK_MIB = 16
NODE = "$SLURM_NODEID"  # what stands in a name where each node has its own


@dataclass(frozen=True, slots=True)
class Line:
    """A command that accepts the file system: the tool with the version whose options it names, and when it passes."""

    tool: str
    version: str
    what: Text
    command: str
    passes: Text


@dataclass(frozen=True, slots=True)
class Shape:
    """One checkpoint as files: who writes how many of which size, in which blocks."""

    nodes: int
    tasks: int  # of a node
    files: int
    each_mib: int
    block_mib: int

    @property
    def words(self) -> Text:
        """The files in words."""
        values = {"files": grouped(self.files), "size": grouped(self.each_mib)}
        if self.nodes > 1:
            return text("{files} files of {size} MiB from {nodes} nodes", **values, nodes=grouped(self.nodes))
        return text("{files} files of {size} MiB from one node", **values)


def clients(plan: Plan) -> int:
    """Nodes that write."""
    return plan.scenario.workload.nodes if plan.scenario.workload.writer == "sharded" else 1


def writers(plan: Plan) -> int:
    """Ranks that write a file each."""
    work = plan.scenario.workload
    return work.nodes * work.gpus_per_node if work.writer == "sharded" else 1


def shape_of(plan: Plan) -> Shape:
    """The plan's checkpoint as files in whole blocks."""
    files, nodes = writers(plan), clients(plan)
    share_mib = plan.checkpoint.checkpoint_bytes / files / MIB
    block = _BLOCK_MIB if share_mib >= _BLOCK_MIB else 1
    return Shape(nodes, max(files // nodes, 1), files, max(math.ceil(share_mib / block), 1) * block, block)


# ---------------------------------------------------------------- the commands


def fio(shape: Shape, folder: str, way: str, output: str = "") -> str:
    """fio on every node: it writes, then another node's files are read.

    Args:
        folder: On the file system; it must be there.
        way: write or read.
        output: A file for the result of each node, with NODE in its name; empty: what it says goes to the screen.
    """
    common = (
        f"--directory={shlex.quote(folder)} --size={shape.each_mib}m --bs={shape.block_mib}m --numjobs={shape.tasks} "
        f"--loops={REPEATS} --ioengine=libaio --iodepth=4 --direct=1 --group_reporting --output-format=json"
    )
    if output:
        common += f" --output={_with_node(output)}"
    options = f"--rw=write --end_fsync=1 --fallocate=none {common}" if way == "write" else f"--rw=read {common}"
    if shape.nodes == 1:
        return f"fio --name=save {options}"
    whose = NODE if way == "write" else f"$(((SLURM_NODEID + 1) % {shape.nodes}))"
    return f"srun -N {shape.nodes} --ntasks-per-node=1 bash -c {shlex.quote(f'fio --name=save-{whose} {options}')}"


def _with_node(name: str) -> str:
    """A file's name as a word for the shell, in which the number of the node is still put in."""
    return NODE.join(shlex.quote(part) if part else "" for part in name.split(NODE))


def ior(shape: Shape, folder: str, output: str = "") -> str:
    """IOR from all nodes; each rank reads what a rank of another node has written."""
    # with one node there is no other to read on: IOR has no way here around what that node still holds in memory
    ways = f"-w -r -C -Q {shape.tasks}" if shape.nodes > 1 else "-w"
    return (
        f"srun -N {shape.nodes} --ntasks-per-node={shape.tasks} ior -a POSIX -F {ways} -e -i {REPEATS} -b {shape.each_mib}m "
        f"-t {shape.block_mib}m -o {shlex.quote(f'{folder}/ior')}"
        + (f" -O summaryFormat=JSON -O summaryFile={shlex.quote(output)}" if output else "")
    )


def elbencho(shape: Shape, folder: str, output: str = "accept.csv") -> str:
    """elbencho from all nodes of nodes.txt; the files are read on the next node."""
    rotate = "--rotatehosts 1 " if shape.nodes > 1 else ""
    return (
        f"elbencho --hostsfile nodes.txt -d -w -r -F -D -t {shape.tasks} -n 1 -N 1 -s {shape.each_mib}m "
        f"-b {shape.block_mib}m --direct {rotate}-i {REPEATS} --csvfile {shlex.quote(output)} {shlex.quote(folder)}"
    )


# ---------------------------------------------------------------- to accept a file system


def accepting(plan: Plan, write: float | None, read: float | None) -> Sequence[Line]:
    """One checkpoint written from all nodes and read back on others, by three tools.

    Args:
        write: What all nodes together must write. [B/s]; None: not known
        read: What they must read. [B/s]
    """
    shape = shape_of(plan)
    what, is_wide = shape.words, shape.nodes > 1
    passes = text("write.bw_bytes of all nodes add up to at least {rate}", rate=_bytes(write))
    lines = [Line("fio", "3.33", what, fio(shape, FOLDER, "write"), passes)]
    if read is not None:
        passes = text("read.bw_bytes of all nodes add up to at least {rate}; then remove the files", rate=_bytes(read))
        again = text("the same files, each read on another node") if is_wide else text("the same files")
        lines.append(Line("fio", "3.33", again, fio(shape, FOLDER, "read"), passes))
    return [
        *lines,
        Line("IOR", "4.0", what, ior(shape, FOLDER), _pass_ior(write, read if is_wide else None)),
        Line("elbencho", "3.0", what, elbencho(shape, FOLDER), _pass_elbencho(write, read)),
    ]


def _bytes(rate: float | None) -> str:
    return UNKNOWN if rate is None else grouped(rate)


def _mib(rate: float | None) -> str:
    return UNKNOWN if rate is None else f"{grouped(math.ceil(rate / MIB))}{NBSP}MiB/s"


def _pass_ior(write: float | None, read: float | None) -> Text:
    if read is None:
        return text("the slowest of the {count} repetitions writes at least {write}", count=REPEATS, write=_mib(write))
    return text(
        "the slowest of the {count} repetitions writes at least {write} and reads at least {read}",
        count=REPEATS, write=_mib(write), read=_mib(read),
    )  # fmt: skip


def _pass_elbencho(write: float | None, read: float | None) -> Text:
    if read is None:
        return text("MiB/s [last] is at least {write} in every row WRITE", write=_mib(write))
    return text(
        "MiB/s [last] is at least {write} in every row WRITE and at least {read} in every row READ",
        write=_mib(write),
        read=_mib(read),
    )


# ---------------------------------------------------------------- as lines

_OPTION = re.compile(r" (?=-)")


def _is_breakable(command: str) -> bool:
    """Whether what looks like an option is one: a name with a hyphen behind a space stays in one piece."""
    words = shlex.split(command)
    script = shlex.split(words.pop()) if "-c" in words else []
    return not any(_OPTION.search(word) for word in (*words, *script))


def broken(command: str, width: int) -> list[str]:
    """A command in lines that are broken before an option only; all but the last end in a backslash, so it can be pasted."""
    if not _is_breakable(command):
        return [command]
    lines = [""]
    for part in _OPTION.split(command):
        if lines[-1] and len(lines[-1]) + len(part) > width:
            lines[-1] += " \\"
            lines.append(f"  {part}")
        else:
            lines[-1] += f" {part}" if lines[-1] else part
    return lines
