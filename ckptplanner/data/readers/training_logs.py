"""The readers of training logs: Megatron-LM with its forks, TorchTitan's text and its structured lines."""

from __future__ import annotations

from ckptplanner.data.readers import megatron_log, torchtitan_log
from ckptplanner.data.readers.source import Reader

READERS: tuple[Reader, ...] = (
    Reader("megatron-log", megatron_log.TITLE, megatron_log.knows, megatron_log.read),
    Reader("torchtitan-log", torchtitan_log.TITLE, torchtitan_log.knows, torchtitan_log.read),
    Reader("torchtitan-jsonl", torchtitan_log.JSONL_TITLE, torchtitan_log.knows_jsonl, torchtitan_log.read_jsonl),
)
