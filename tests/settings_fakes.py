"""Two targets that nobody else has, for tests of what shows and saves settings."""

from __future__ import annotations

from ckptplanner.engine.plan import finding
from ckptplanner.engine.settings.target import Settings, SettingsFile, Target, Written
from ckptplanner.text import text


def _train(settings: Settings) -> Written:
    lines = (
        f"# plan, {settings.interval_steps}",
        f"--save {settings.names.shared_folder}",
        f"--save-interval {settings.interval_steps}  # from the plan: save every {settings.interval_s:g} s",
        "--quiet",
    )
    cannot = finding("warning", "storage.generations_kept", "Train keeps no last {keep}.", keep=settings.keep)
    return Written((SettingsFile("train.args", "shell", "\n".join(lines) + "\n"),), (cannot,))


def _disk(settings: Settings) -> Written:
    files = (
        SettingsFile("disk.json", "json", f'{{"Subnet": "{settings.names.subnet_id}", "Size": 12000}}\n'),
        SettingsFile("disk.json.README.txt", "text", "Size: from the plan\n"),
    )
    return Written(files)


FAKES = (
    Target("megatron-lm", text("Megatron-LM"), "core 0.19.2", "accepted by a fake", "framework", _train),
    Target("fsx-cli", text("FSx for Lustre (AWS CLI)"), "AWS CLI 2", "", "storage", _disk),
    Target("slurm", text("Slurm"), "22.05", "", "scheduler", lambda _: Written(())),
)


def write(settings: Settings, target: Target) -> Written:
    """As the registry writes one target."""
    return target.write(settings)
