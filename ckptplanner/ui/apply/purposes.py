"""What each target is for, in one sentence."""

from __future__ import annotations

from ckptplanner.engine.settings.target import Target
from ckptplanner.ui.words import say, say_text


def purpose(target: Target) -> str:
    """One sentence; the title where there is none."""
    known = {
        "megatron-lm": say("Arguments for the command that starts training."),
        "megatron-bridge": say("The checkpoint part of the recipe, as YAML that overrides it."),
        "torchtitan": say("A run is a Python function here: the checkpoint part of its configuration."),
        "torchtitan-0.2": say("The checkpoint part of the TOML file that older versions read."),
        "hf-trainer": say("Arguments of the Trainer, read from a file."),
        "lightning": say("Callbacks and a strategy for the Trainer."),
        "nemo2": say("The logger and the strategy of a NeMo run."),
        "deepspeed": say("The checkpoint part of the configuration, and the lines that save."),
        "nvrx": say("Local saves with copies on other nodes, and the launcher that starts training again."),
        "dcp": say("Lines for a training loop of your own, with PyTorch's distributed checkpoints."),
        "fsx-cli": say("Creates the file system from the command line."),
        "fsx-cloudformation": say("Creates the file system as part of a stack."),
        "fsx-terraform": say("Creates the file system with Terraform or OpenTofu."),
        "s3-dra": say("Links a folder of the file system with a bucket, so that checkpoints are copied there."),
        "slurm": say("Lines of a batch script: start again after an interruption, a signal before the end."),
        "jobset": say("Parts of a JobSet: when the job starts again, and how often."),
        "trim": say("Removes old checkpoints where the framework cannot."),
        "measure": say("Commands for your cluster that settle what this plan only assumes; their output can be read back."),
    }
    return known.get(target.id) or say_text(target.title)


def group_title(group: str) -> str:
    """What a group of targets is called."""
    known = {"framework": say("Frameworks"), "storage": say("Storage"), "scheduler": say("Schedulers")}
    return known.get(group) or say("To measure")
