"""Names in a text that look like settings of checkpoints and are none that are known: a slip of the pen is not passed over."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ckptplanner.engine.plan import Finding, finding
from ckptplanner.engine.settings.reading import HUGGING, MEGATRON, TITAN, Found

_LOOKS = re.compile(
    r"(?:^|_)(?:save|saves|saving|saved|ckpt|ckpts|checkpoint|checkpoints|checkpointing|persistent|replication)"
)
_OTHER = re.compile(r"activation|gradient|recompute|granular|hub_|hf_|_hf|eval|best|wandb|tensorboard|logits|image|log_|_log")
# settings of checkpoints that say nothing of how often, how and how many
_KNOWN = frozenset({
    # Megatron-LM and Megatron Bridge
    "save", "load", "no_save_optim", "no_save_rng", "no_load_optim", "no_load_rng", "save_optim", "save_rng", "load_optim",
    "load_rng", "finetune", "pretrained_checkpoint", "ckpt_step", "use_checkpoint_args", "use_mp_args_from_checkpoint_args",
    "use_tokenizer_model_from_checkpoint_args", "exit_on_missing_checkpoint", "use_dist_ckpt", "use_dist_ckpt_deprecated",
    "auto_detect_ckpt_format", "dist_ckpt_format", "dist_ckpt_format_deprecated", "ckpt_convert_format", "ckpt_convert_save",
    "ckpt_convert_update_legacy_dist_opt_format", "ckpt_fully_parallel_save", "ckpt_fully_parallel_save_deprecated",
    "no_ckpt_fully_parallel_save", "ckpt_fully_parallel_load", "ckpt_fully_parallel_load_exchange_algo",
    "ckpt_fully_parallel_save_process_group", "ckpt_fully_parallel_load_process_group", "ckpt_assume_constant_structure",
    "ckpt_load_validate_sharding_integrity", "dist_ckpt_strictness", "dist_ckpt_save_pre_mcore_014",
    "dist_ckpt_optim_fully_reshardable", "distrib_optim_fully_reshardable_mem_efficient", "load_main_params_from_ckpt",
    "non_persistent_global_ckpt_dir", "non_persistent_local_ckpt_algo", "verify_integrity", "async_ckpt_use_cpu_shm",
    "async_ckpt_use_cached_metadata", "async_write_results_mp_mode", "fully_parallel_save", "fully_parallel_load",
    "also_save_hf_checkpoint", "save_tokenizer_assets", "save_wgrads_interval", "save_dgrads_interval", "save_quantization",
    "strict_fsdp_dtensor_load", "no_strict_fsdp_dtensor_load", "replication_group",
    # TorchTitan
    "enable_checkpoint", "folder", "initial_load_path", "initial_load_model_only", "export_dtype", "exclude_from_loading",
    "enable_first_step_checkpoint", "create_seed_checkpoint", "load_step", "last_save_in_hf", "initial_load_in_hf",
    "enable_ft_dataloader_checkpoints", "thread_pool_size",
    # Hugging Face
    "save_safetensors", "save_on_each_node", "enable_jit_checkpoint", "resume_from_checkpoint", "save_to_disk", "save_dir",
    "restore_callback_states_from_checkpoint", "load_best_model_at_end",
})  # fmt: skip


def unread(found: Found) -> Iterator[Finding]:
    """A warning for each line that would be passed over."""
    for said in found.overruled:
        yield finding(
            "info" if said.value.isdigit() else "warning", "workload.framework",  # a number is overruled on purpose
            "Not read: line {line}: {words}. The same is set again below, and the last one counts.",
            line=said.line, words=said.words,
        )  # fmt: skip
    if found.is_list:
        return  # all that a program has, whatever it is for
    for name, said in found.said.items():
        plain = name.rpartition(".")[2].removeprefix("no_")
        if plain in _KNOWN | MEGATRON | TITAN | HUGGING or name in _KNOWN or not _looks(name.rpartition(".")[2]):
            continue
        yield finding(
            "warning", "workload.framework", "Not read: line {line}: {words}. It is no setting of checkpoints that is known.",
            line=said.line, words=said.words,
        )  # fmt: skip


def _looks(name: str) -> bool:
    return _LOOKS.search(name) is not None and _OTHER.search(name) is None
