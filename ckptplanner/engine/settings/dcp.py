"""A plan as a module of PyTorch's distributed checkpoints: save every n steps, keep the newest complete ones, resume."""

from __future__ import annotations

from ckptplanner.engine.settings.doing import as_done
from ckptplanner.engine.settings.permanent import are_deleted
from ckptplanner.engine.settings.stops import collective_timeout_s, has_no_local_level, shown
from ckptplanner.engine.settings.target import Settings, SettingsFile, Target, Written
from ckptplanner.engine.settings.writing import aligned, comment, double_quoted, head
from ckptplanner.text import text

VERSION = "PyTorch 2.13"
CHECKED = "run with torch 2.13.0: two ranks on CPU saved, trimmed and resumed, both ways"


def write(settings: Settings) -> Written:
    """One module to call from the training loop."""
    findings = (
        *has_no_local_level(settings, text("PyTorch's distributed checkpoint")),
        *are_deleted(settings, "KEEP", settings.keep),
    )
    done = as_done(settings, findings, is_local=False)
    values = aligned([
        (f"FOLDER = Path({double_quoted(settings.names.shared_folder)})", ""),
        (f"SAVE_EVERY_STEPS = {settings.interval_steps}", f"from the plan: save every {shown(settings.interval_s)}"),
        (f"KEEP = {settings.keep}", "from the plan: complete checkpoints; one more is there while it is being written"),
        (f"IS_ASYNC = {settings.is_async}", f"from the plan: training stops for {shown(settings.stop_s)}"),
        (f"SAVE_TIMEOUT_S = {collective_timeout_s(settings)}",
         f"from the plan: above the longest save, {shown(settings.save_timeout_s)} with its margin"),
    ])  # fmt: skip
    notes = (
        "A checkpoint is complete when it has a .metadata file, which is written last. The writer is a process of its own, so",
        'that training does not wait for Python\'s lock; start the script under `if __name__ == "__main__":`.',
    )
    top = comment(head(done, "Saves with torch.distributed.checkpoint, for PyTorch 2.13", CHECKED, notes))
    file = SettingsFile("dcp_saves.py", "python", top + _IMPORTS + values + _BODY)
    return Written((file,), findings)


_IMPORTS = """import shutil
from datetime import timedelta
from pathlib import Path

import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from torch.distributed.checkpoint.state_dict_saver import AsyncCheckpointerType

"""

_BODY = '''

class Saves:
    """Make one on every rank after init_process_group; call after_step on every rank, and finish before the end."""

    def __init__(self, folder=FOLDER, writer=AsyncCheckpointerType.PROCESS):
        self.folder, self.writer = Path(folder), writer
        # a group of its own on CPU, whose ranks wait longer than a save takes
        self.group = dist.new_group(backend="gloo", timeout=timedelta(seconds=SAVE_TIMEOUT_S))
        self.pending = None

    def after_step(self, step, state):
        """Save where the step is due; `state` holds what resumes training: model, optimizer, scheduler, step, data."""
        if step % SAVE_EVERY_STEPS == 0:
            self.save(step, state)

    def save(self, step, state):
        """Save now. It waits for the write before it, so that no two overlap."""
        self.finish()
        path = self.folder / f"step-{step:012d}"
        if not IS_ASYNC:
            dcp.save(state, checkpoint_id=path, process_group=self.group)
            self._trim()
            return
        self.pending = dcp.async_save(
            state, checkpoint_id=path, process_group=self.group, async_checkpointer_type=self.writer
        )

    def finish(self):
        """Wait for the write that is under way; also before the process ends and at the signal before a stop."""
        if self.pending is not None:
            pending, self.pending = self.pending, None
            pending.result()
            self._trim()

    def _trim(self):
        """Keep the newest complete checkpoints; called when no write is under way."""
        dist.barrier(group=self.group)
        if dist.get_rank() != 0:
            return
        complete = complete_ones(self.folder)
        for path in sorted(self.folder.glob("step-*")):
            is_left_over = complete and path not in complete and path < complete[-1]  # of an interrupted write
            if is_left_over or path in complete[:-KEEP]:
                shutil.rmtree(path, ignore_errors=True)


def complete_ones(folder=FOLDER):
    """Checkpoints that can be restored, oldest first."""
    return sorted(path for path in Path(folder).glob("step-*") if (path / ".metadata").is_file())


def resume(state, folder=FOLDER):
    """Load the newest complete checkpoint into `state`; returns its step, or 0 where there is none."""
    complete = complete_ones(folder)
    if not complete:
        return 0
    dcp.load(state, checkpoint_id=complete[-1])
    return int(complete[-1].name.removeprefix("step-"))
'''


TARGETS: tuple[Target, ...] = (
    Target("dcp", text("PyTorch distributed checkpoint"), VERSION, CHECKED, "framework", write),
)  # fmt: skip
