"""The counts of config.json and safetensors, to the last digit, and every refusal."""

from __future__ import annotations

import json
import os
import re
import shutil
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from ckptplanner.data.readers.errors import ReaderError, UnknownFamily
from ckptplanner.data.readers.hf_config import FAMILIES, count_config
from ckptplanner.data.readers.models import read_model
from ckptplanner.data.readers.safetensors import read_header
from ckptplanner.data.records import ModelParts
from ckptplanner.frozen import with_value

SAMPLES = Path(__file__).parent / "samples"
EXPECTED = json.loads((SAMPLES / "hf" / "expected_parameters.json").read_text())
VARIANTS = json.loads((SAMPLES / "hf" / "variants.json").read_text())
TINY = SAMPLES / "safetensors" / "tiny-llama-bf16"
TINY_PARAMS = 26_784
SHARD_1, SHARD_2 = "model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"


def config_of(name: str) -> dict[str, Any]:
    return json.loads((SAMPLES / "hf" / f"{name}.config.json").read_text())


def counted(config: Mapping[str, Any]) -> ModelParts:
    return count_config(config, source="config.json")


def with_mtp(parts: ModelParts) -> ModelParts:
    return with_value(parts, "mtp_counted", True)


def header_bytes(header: Mapping[str, Any], data_bytes: int) -> bytes:
    raw = json.dumps(header).encode()
    return struct.pack("<Q", len(raw)) + raw + bytes(data_bytes)


def weights(tensors: Mapping[str, tuple[str, list[int]]]) -> bytes:
    """A .safetensors file of zeros."""
    sizes = {"BF16": 2, "F32": 4, "F8_E4M3": 1, "U8": 1, "I32": 4, "I64": 8, "I8": 1}
    header, place = {}, 0
    for name, (dtype, shape) in tensors.items():
        end = place + sizes[dtype]
        for size in shape:
            end = place + (end - place) * size
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [place, end]}
        place = end
    return header_bytes(header, place)


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    return Path(shutil.copytree(TINY, tmp_path / "tiny"))


# --- config.json: exact


@pytest.mark.parametrize("name", EXPECTED)
def test_count_is_exact(name: str) -> None:
    parts = read_model(SAMPLES / "hf" / f"{name}.config.json")
    assert parts.total_params == EXPECTED[name]["total_parameters"]
    assert parts.source == f"{name}.config.json"
    assert parts.name == name
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", parts.date)


@pytest.mark.parametrize("name", EXPECTED)
def test_embedding_and_head_are_split_off(name: str) -> None:
    parts, by_kind = counted(config_of(name)), EXPECTED[name]["by_kind"]
    matrices = parts.embedding_params + (0 if parts.tied else parts.head_params)
    assert matrices == by_kind["embed"]
    assert parts.body_params == by_kind["other"] + by_kind.get("expert", 0)


@pytest.mark.parametrize("row", VARIANTS, ids=lambda row: row["name"])
def test_variant_is_exact(row: dict[str, Any]) -> None:
    assert counted(row["config"]).total_params == row["total_parameters"]


@pytest.mark.parametrize("name", EXPECTED)
def test_tied_switch_is_exactly_one_matrix(name: str) -> None:
    config = config_of(name)
    parts = counted(config)
    off, on = with_value(parts, "tied", False), with_value(parts, "tied", True)
    assert off.total_params - on.total_params == config["vocab_size"] * config["hidden_size"]


def test_deepseek_v3_mtp_layer() -> None:
    parts = counted(config_of("deepseek_v3"))
    assert with_mtp(parts).total_params - parts.total_params == 11_610_067_968
    assert not parts.mtp_counted
    assert any("names 1 MTP layer of 11,610,067,968 parameters" in note for note in parts.notes)


NANO = {
    "vocab_size": 131_072, "hidden_size": 2688, "num_attention_heads": 32, "num_key_value_heads": 2, "head_dim": 128,
    "hybrid_override_pattern": "MEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEMEM*EMEMEMEME", "ssm_state_size": 128,
    "mamba_num_heads": 64, "mamba_head_dim": 64, "n_groups": 8, "conv_kernel": 4, "n_routed_experts": 128,
    "moe_intermediate_size": 1856, "moe_shared_expert_intermediate_size": 3712, "num_experts_per_tok": 6,
    "num_nextn_predict_layers": 1, "mtp_hybrid_override_pattern": "*E", "model_type": "nemotron_h",
}  # fmt: skip
SUPER = NANO | {
    "hidden_size": 4096, "mamba_num_heads": 128, "n_routed_experts": 512, "moe_intermediate_size": 2688,
    "moe_shared_expert_intermediate_size": 5376, "moe_latent_size": 1024, "num_experts_per_tok": 22,
    "hybrid_override_pattern": "MEMEMEM*EMEMEMEM*EMEMEMEM*EMEMEMEMEM*EMEMEMEMEM*EMEMEMEMEM*EMEMEMEMEM*EMEMEMEM*EMEMEMEME",
}  # fmt: skip
ULTRA = SUPER | {
    "hidden_size": 8192, "num_attention_heads": 64, "mamba_num_heads": 256, "moe_intermediate_size": 5120,
    "moe_shared_expert_intermediate_size": 10_240, "moe_latent_size": 2048,
    "hybrid_override_pattern": "MEMEMEM*EMEMEM*EMEMEMEM*EMEMEMEM*EMEMEM*EMEMEMEM*EMEMEMEM*EMEMEM*EMEMEMEM*EMEMEMEM*EMEMEM*"
    "EMEMEMEM*EMEMEMEME",
}  # fmt: skip
QWEN3_30B = config_of("qwen3_moe") | {"num_hidden_layers": 48, "head_dim": 128}
QWEN3_235B = QWEN3_30B | {
    "num_hidden_layers": 94, "hidden_size": 4096, "num_attention_heads": 64, "moe_intermediate_size": 1536,
}  # fmt: skip
KIMI_K2 = config_of("deepseek_v3") | {
    "model_type": "kimi_k2", "num_attention_heads": 64, "n_routed_experts": 384, "first_k_dense_replace": 1,
    "vocab_size": 163_840, "num_nextn_predict_layers": 0,
}  # fmt: skip
GLM_45 = next(row["config"] for row in VARIANTS if row["name"] == "glm45")


@pytest.mark.parametrize(
    ("config", "total", "active", "mtp"),
    [
        (NANO, 31.578, 3.580, 1.335),
        (SUPER, 120.669, 12.770, 2.942),
        (ULTRA, 549.309, 56.059, 11.216),
        (QWEN3_30B, 30.532, 3.353, 0),
        (QWEN3_235B, 235.094, 22.191, 0),
        (KIMI_K2, 1026.408, 32.861, 0),
        (config_of("mixtral"), 46.703, 12.880, 0),
        (config_of("deepseek_v3"), 671.026, 37.552, 11.610),
        (config_of("gpt_oss"), 116.829, 5.712, 0),
    ],
    ids=["nano", "super", "ultra", "qwen3-30b", "qwen3-235b", "kimi-k2", "mixtral", "deepseek-v3", "gpt-oss"],
)
def test_published_shapes(config: dict[str, Any], total: float, active: float, mtp: float) -> None:
    """Counted from the shapes in config.json, in billions."""
    parts = counted(config)
    assert round(parts.total_params / 1e9, 3) == total
    assert parts.active_params is not None
    assert round(parts.active_params / 1e9, 3) == active
    assert round(parts.mtp_params / 1e9, 3) == mtp


def test_glm_45() -> None:
    """352.8 and 33.6 billion, and an MTP layer of 3.988: eh_proj brings 3.936 to that."""
    parts = counted(GLM_45 | {"num_nextn_predict_layers": 1})
    assert parts.active_params is not None
    assert (round(parts.total_params / 1e9, 1), round(parts.active_params / 1e9, 1)) == (352.8, 33.6)
    assert parts.mtp_params == 3_988_069_632


def test_expert_count_has_three_names() -> None:
    config = config_of("qwen3_moe")
    experts = config.pop("num_local_experts")
    for name in ("num_experts", "n_routed_experts"):
        assert counted(config | {name: experts}).total_params == EXPECTED["qwen3_moe"]["total_parameters"]
    with pytest.raises(ReaderError, match="num_local_experts and num_experts differ"):
        counted(config | {"num_local_experts": 8, "num_experts": 9})


@pytest.mark.parametrize("key", ["text_config", "llm_config"])
def test_nested_text_config(key: str) -> None:
    inner = config_of("llama")
    del inner["tie_word_embeddings"]
    parts = counted({"model_type": "a_vl_model", "tie_word_embeddings": True, key: inner})
    assert parts.tied
    assert parts.total_params == EXPECTED["llama"]["total_parameters"] - parts.head_params


def test_tie_inside_counts_and_outside_wins() -> None:
    inner = config_of("llama_tied")
    assert counted({"text_config": inner}).tied
    parts = counted({"text_config": inner, "tie_word_embeddings": False})
    assert not parts.tied
    assert any("outer one is used" in note for note in parts.notes)


@pytest.mark.parametrize(("name", "tied"), [("gemma3_text", True), ("llama", False)])
def test_tie_default_of_the_family_is_noted(name: str, tied: bool) -> None:
    config = config_of(name)
    del config["tie_word_embeddings"]
    parts = counted(config)
    assert parts.tied is tied
    assert any("does not give tie_word_embeddings" in note for note in parts.notes)


def test_vision_switch() -> None:
    row = next(row for row in VARIANTS if row["name"] == "gemma3-4b")
    parts = counted(row["config"])
    assert parts.vision == "frozen"
    assert parts.frozen_params == parts.vision_params > 4e8
    without = with_value(parts, "vision", "left out")
    assert parts.total_params - without.total_params == parts.vision_params
    assert with_value(parts, "vision", "trained").frozen_params == 0


def test_unknown_vision_is_not_guessed() -> None:
    parts = counted({"model_type": "vl", "text_config": config_of("llama"), "vision_config": {"model_type": "moonvit"}})
    assert parts.vision_params == 0
    assert any("'moonvit'" in note and "must be typed" in note for note in parts.notes)


def test_quantised_export_is_noted() -> None:
    parts = counted(config_of("deepseek_v3") | {"quantization_config": {"quant_method": "fp8"}})
    assert any("'fp8'" in note and "training state" in note for note in parts.notes)
    assert parts.total_params == EXPECTED["deepseek_v3"]["total_parameters"]


def test_mtp_of_a_family_without_a_counter_is_noted() -> None:
    parts = counted(config_of("llama") | {"num_nextn_predict_layers": 2})
    assert parts.mtp_params == 0
    assert any("2 MTP layers" in note for note in parts.notes)


def test_mamba_list_wins_over_layer_number() -> None:
    parts = counted(config_of("nemotron_h") | {"num_hidden_layers": 5})
    assert parts.total_params == EXPECTED["nemotron_h"]["total_parameters"]
    assert any("4 blocks" in note for note in parts.notes)


# --- config.json: refused


@pytest.mark.parametrize("family", ["qwen3_next", "llama4", "deepseek_v32", "deepseek_v4", "minimax_m2", "gpt2", "b\ud800"])
def test_unknown_family_is_named(family: str) -> None:
    with pytest.raises(UnknownFamily) as caught:
        counted(config_of("llama") | {"model_type": family})
    assert ascii(family)[1:-1] in str(caught.value)
    assert "type the total" in str(caught.value)
    assert "model.safetensors.index.json" in str(caught.value)


SHAPE_KEYS = {
    "llama": ("vocab_size", "hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads"),
    "mixtral": ("num_key_value_heads", "num_local_experts", "num_experts_per_tok", "intermediate_size"),
    "qwen3": ("head_dim", "num_key_value_heads"),
    "qwen3_moe": ("moe_intermediate_size", "decoder_sparse_step", "num_experts_per_tok"),
    "deepseek_v3": ("kv_lora_rank", "q_lora_rank", "qk_rope_head_dim", "qk_nope_head_dim", "v_head_dim",
                    "n_routed_experts", "n_shared_experts", "first_k_dense_replace", "moe_intermediate_size"),
    "gpt_oss": ("head_dim",),
    "gemma3_text": ("head_dim",),
    "nemotron_h": ("layers_block_type", "ssm_state_size", "mamba_num_heads", "mamba_head_dim", "n_groups", "conv_kernel",
                   "moe_shared_expert_intermediate_size", "head_dim"),
}  # fmt: skip


@pytest.mark.parametrize(("name", "key"), [(name, key) for name, keys in SHAPE_KEYS.items() for key in keys])
def test_no_silent_default_for_a_shape_key(name: str, key: str) -> None:
    config = config_of(name)
    del config[key]
    with pytest.raises(ReaderError, match=f"config.json: .*\\b{key}\\b.* is expected"):
        counted(config)


@pytest.mark.parametrize("value", [0, -1, 10**12, True, 4096.0, float("nan"), float("inf"), "4096", [], {}])
@pytest.mark.parametrize("key", ["hidden_size", "num_hidden_layers", "vocab_size", "num_key_value_heads"])
def test_ill_number(key: str, value: object) -> None:
    with pytest.raises(ReaderError, match=f"config.json: {key} is .* where a whole number from 1 to .* is expected"):
        counted(config_of("llama") | {key: value})


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("llama", {"attention_bias": 1}, "attention_bias is 1, where true or false"),
        ("llama", {"tie_word_embeddings": "no"}, "true or false"),
        ("llama", {"model_type": None}, "model_type is None"),
        ("llama", {"model_type": ["llama"]}, "name of a model family"),
        ("llama", {"text_config": [1]}, "an object is expected"),
        ("llama", {"vision_config": 3}, "an object is expected"),
        ("llama", {"head_dim": None, "num_attention_heads": 8192}, "at most hidden_size"),
        ("llama", {"vocab_size": 10**9, "hidden_size": 10**9}, "a real model is expected"),
        ("mixtral", {"num_experts_per_tok": 9}, "from 1 to 8"),
        ("qwen3_moe", {"mlp_only_layers": "1"}, "a list of layer numbers"),
        ("deepseek_v3", {"moe_layer_freq": 2}, "from 1 to 1"),
        ("nemotron_h", {"layers_block_type": ["rnn"]}, "holds 'rnn'"),
        ("nemotron_h", {"layers_block_type": [[]]}, "where one of linear_attention"),
        ("nemotron_h", {"layers_block_type": None, "hybrid_override_pattern": "MX"}, "where one of M,"),
        ("nemotron_h", {"layers_block_type": []}, "a list of block types"),
        ("nemotron_h", {"attention_bias": True}, "false"),
    ],
)
def test_ill_config(name: str, change: dict[str, Any], message: str) -> None:
    with pytest.raises(ReaderError, match=re.escape(message)):
        counted(config_of(name) | change)


# --- safetensors and index


@pytest.mark.parametrize("file", ["", "config.json", "model.safetensors.index.json", SHARD_1, SHARD_2])
def test_tiny_llama_by_every_door(file: str) -> None:
    parts = read_model(TINY / file)
    assert parts.total_params == TINY_PARAMS
    assert (parts.embedding_params, parts.head_params, parts.tied) == (4096, 4096, False)
    assert parts.family == "llama"
    assert parts.active_params == TINY_PARAMS
    assert parts.name == "tiny-llama-bf16"
    if file != "config.json":
        assert "The weights take 53,568 bytes BF16." in parts.notes


def test_index_without_config(tiny: Path) -> None:
    (tiny / "config.json").unlink()
    parts = read_model(tiny)
    assert (parts.total_params, parts.embedding_params, parts.head_params) == (TINY_PARAMS, 4096, 4096)


def test_index_alone_gives_the_total(tiny: Path) -> None:
    for name in ("config.json", SHARD_1, SHARD_2):
        (tiny / name).unlink()
    parts = read_model(tiny)
    assert (parts.total_params, parts.body_params) == (TINY_PARAMS, TINY_PARAMS)
    assert any("not told apart" in note for note in parts.notes)


def test_index_total_is_split_by_the_config(tiny: Path) -> None:
    (tiny / SHARD_1).unlink()
    parts = read_model(tiny / "model.safetensors.index.json")
    assert (parts.total_params, parts.embedding_params, parts.active_params) == (TINY_PARAMS, 4096, TINY_PARAMS)


def without_total(folder: Path) -> None:
    index = folder / "model.safetensors.index.json"
    content = json.loads(index.read_text())
    del content["metadata"]["total_parameters"]
    index.write_text(json.dumps(content))


def test_old_index_needs_shards_or_config(tiny: Path) -> None:
    without_total(tiny)
    assert read_model(tiny).total_params == TINY_PARAMS
    (tiny / SHARD_1).unlink()
    parts = read_model(tiny)
    assert parts.total_params == TINY_PARAMS
    assert any("only total_size (53,568 bytes)" in note for note in parts.notes)
    (tiny / "config.json").unlink()
    with pytest.raises(ReaderError, match="not the type of the weights; put the shards"):
        read_model(tiny)


def test_one_shard_alone_is_refused(tiny: Path) -> None:
    (tiny / SHARD_2).unlink()
    (tiny / "config.json").unlink()
    with pytest.raises(ReaderError, match="1 of its 2 shards are not beside it"):
        read_model(tiny / SHARD_1)


@pytest.mark.parametrize("keep_shards", [True, False])
def test_disagreement_is_told_with_both_numbers(tiny: Path, keep_shards: bool) -> None:
    config = json.loads((tiny / "config.json").read_text()) | {"intermediate_size": 65}
    (tiny / "config.json").write_text(json.dumps(config))
    if not keep_shards:
        (tiny / SHARD_1).unlink()
    parts = read_model(tiny)
    assert parts.total_params == TINY_PARAMS
    assert any("26,784" in note and "26,976" in note for note in parts.notes)


def test_index_that_disagrees_with_its_shards(tiny: Path) -> None:
    index = tiny / "model.safetensors.index.json"
    content = json.loads(index.read_text())
    content["metadata"]["total_parameters"] = 30_000
    index.write_text(json.dumps(content))
    parts = read_model(index)
    assert parts.total_params == TINY_PARAMS
    assert any("names 30,000" in note and "26,784" in note for note in parts.notes)


def test_unknown_family_beside_weights_is_counted_by_them(tiny: Path) -> None:
    (tiny / "config.json").write_text(json.dumps({"model_type": "qwen3_next", "num_hidden_layers": 1}))
    parts = read_model(tiny)
    assert parts.mtp_params == 9_280  # the second layer: attention 3,072, MLP 6,144, norms 64
    assert parts.family == "qwen3_next"
    assert any("qwen3_next" in note for note in parts.notes)


def test_split_by_names(tmp_path: Path) -> None:
    path = tmp_path / "m.safetensors"
    path.write_bytes(
        weights(
            {
                "model.language_model.embed_tokens.weight": ("BF16", [10, 4]),
                "model.visual.blocks.0.weight": ("BF16", [3, 3]),
                "model.language_model.layers.0.mlp.weight": ("F8_E4M3", [4, 4]),
                "model.language_model.layers.0.mlp.weight_scale_inv": ("F32", [1, 1]),
                "model.language_model.layers.0.mlp.gate.e_score_correction_bias": ("F32", [4]),
                "mtp.layers.0.weight": ("BF16", [5]),
                "mtp.embed_tokens.weight": ("BF16", [10, 4]),
            }
        )
    )
    parts = read_model(path)
    assert (parts.body_params, parts.embedding_params, parts.vision_params, parts.mtp_params) == (16, 40, 9, 5)
    assert parts.tied
    assert parts.head_params == 40
    assert parts.total_params == 16 + 40 + 9
    notes = " ".join(parts.notes)
    for words in ("1 scale factors", "4 elements are buffers", "40 parameters of the MTP", "FP8 export", "5 MTP"):
        assert words in notes


def test_experts_without_config_leave_the_active_share_open(tmp_path: Path) -> None:
    path = tmp_path / "m.safetensors"
    path.write_bytes(weights({"model.layers.0.mlp.experts.0.up_proj.weight": ("BF16", [4, 4])}))
    assert read_model(path).active_params is None


@pytest.mark.parametrize(
    ("tensors", "message"),
    [
        ({"base_model.model.layers.0.q_proj.lora_A.weight": ("BF16", [2, 2])}, "this is an adapter"),
        ({"model.layers.0.mlp.experts.gate_up_proj_blocks": ("U8", [2, 2])}, "packed quantised export"),
        ({"model.layers.0.q_proj.qweight": ("I32", [2, 2])}, "packed quantised export"),
        ({"model.layers.0.q_proj.weight": ("U8", [2, 2])}, "packs quantised weights"),
        ({"model.layers.0.q_proj.weight": ("I8", [2, 2])}, "packs quantised weights"),
        ({"model.layers.0.position_ids": ("I64", [2])}, "holds 0 parameters"),
        ({}, "holds 0 parameters"),
    ],
)
def test_weights_that_are_no_model(tmp_path: Path, tensors: dict[str, Any], message: str) -> None:
    (tmp_path / "m.safetensors").write_bytes(weights(tensors))
    with pytest.raises(ReaderError, match=message):
        read_model(tmp_path / "m.safetensors")


def test_packed_export_beside_config_is_counted_by_the_config(tiny: Path) -> None:
    for name in (SHARD_1, SHARD_2, "model.safetensors.index.json"):
        (tiny / name).unlink()
    (tiny / "model.safetensors").write_bytes(weights({"model.layers.0.q_proj.qweight": ("I32", [2, 2])}))
    parts = read_model(tiny)
    assert parts.total_params == TINY_PARAMS
    assert any("packed" in note for note in parts.notes)


def entry(**change: Any) -> dict[str, Any]:
    return {"w": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]} | change}


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (header_bytes(entry(), 4), "cut off: its tensors take 8 bytes and 4 are there"),
        (header_bytes(entry(), 9), "1 bytes belong to no tensor"),
        (header_bytes(entry(), 8)[:20], "cut off inside its header"),
        (struct.pack("<Q", 10**9) + b"{}", "at most 100,000,000"),
        (header_bytes(entry(dtype="F3"), 8), "has the type 'F3'"),
        (header_bytes(entry(dtype=None), 8), "has the type None"),
        (header_bytes(entry(shape=[-1]), 8), "has the shape"),
        (header_bytes(entry(shape=[True, 2]), 8), "has the shape"),
        (header_bytes(entry(shape=2), 8), "has the shape"),
        (header_bytes(entry(shape=[3]), 8), "takes 8 bytes, where its shape and type mean 12"),
        (header_bytes(entry(data_offsets=[4, 12]), 12), "begins at 4, where 0 is expected"),
        (header_bytes(entry(data_offsets=[0]), 8), "has the data_offsets"),
        (header_bytes({"w": 3}, 0), "is no object"),
        (struct.pack("<Q", 12) + b'{"a":1,"a":2', "not JSON"),
        (struct.pack("<Q", 13) + b'{"a":1,"a":2}', "the key 'a' stands twice"),
        (struct.pack("<Q", 3) + b"{\xff}", "not UTF-8"),
    ],
)
def test_broken_header(tmp_path: Path, raw: bytes, message: str) -> None:
    (tmp_path / "m.safetensors").write_bytes(raw)
    with pytest.raises(ReaderError, match=f"^m.safetensors: .*{re.escape(message)}"):
        read_model(tmp_path / "m.safetensors")


def test_header_gives_the_tensors() -> None:
    tensors = [tensor for name in (SHARD_1, SHARD_2) for tensor in read_header(TINY / name)]
    assert len(tensors) == 21
    assert sum(tensor.elements for tensor in tensors) == TINY_PARAMS
    assert sum(tensor.size_bytes for tensor in tensors) == 53_568


@pytest.mark.parametrize(
    ("index", "message"),
    [
        ({"weight_map": []}, "weight_map is"),
        ({"weight_map": {}}, "weight_map is"),
        ({"weight_map": {"a": 3}}, "where file names are expected"),
        ({"weight_map": {"a": "../secret.safetensors"}}, "plain file names"),
        ({"weight_map": {"a": "m.safetensors"}, "metadata": 3}, "metadata is 3"),
        ({"weight_map": {"a": "m.safetensors"}, "metadata": {"total_parameters": -1}}, "total_parameters is -1"),
        ({"weight_map": {"a": "m.safetensors"}, "metadata": {"total_parameters": True}}, "is True"),
        ({"weight_map": {"a": "m.safetensors"}, "metadata": {"total_parameters": 10**15 + 1}}, "a real model"),
        ({"weight_map": {"a": "m.safetensors"}}, "no total_parameters; put the shards"),
        ({"weight_map": {"q.qweight": "m.safetensors"}, "metadata": {"total_parameters": 4}}, "packed quantised"),
        ({"weight_map": {"a.lora_A.weight": "m.safetensors"}}, "adapter"),
    ],
)
def test_broken_index(tmp_path: Path, index: dict[str, Any], message: str) -> None:
    (tmp_path / "x.json").write_text(json.dumps(index))
    with pytest.raises(ReaderError, match=re.escape(message)):
        read_model(tmp_path / "x.json")


def test_index_and_shards_of_two_models(tiny: Path) -> None:
    shutil.copy(tiny / SHARD_1, tiny / SHARD_2)
    (tiny / "config.json").unlink()
    with pytest.raises(ReaderError, match="does not place there"):
        read_model(tiny)


# --- the door


def test_content_decides_and_not_the_name(tmp_path: Path) -> None:
    shutil.copy(SAMPLES / "hf" / "llama.config.json", tmp_path / "shape.safetensors")
    assert read_model(tmp_path / "shape.safetensors").total_params == EXPECTED["llama"]["total_parameters"]


def test_bom_and_infinity_are_read(tmp_path: Path) -> None:
    raw = (SAMPLES / "hf" / "nemotron_h_latent.config.json").read_bytes()
    assert b"Infinity" in raw
    (tmp_path / "config.json").write_bytes(b"\xef\xbb\xbf" + raw)
    assert read_model(tmp_path).total_params == EXPECTED["nemotron_h_latent"]["total_parameters"]


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b"", "neither a JSON object nor safetensors"),
        (b"[1]", "neither a JSON object nor safetensors"),
        (b"hello", "neither"),
        (b"{", "not JSON"),
        (b"{}", "the key model_type is missing"),
        (b'{"model_type": "\xff"}', "not UTF-8"),
        (b'{"a": 1, "a": 2}', "stands twice"),
        (b'{"a":' * 100_000, "nested too deeply"),
        (b'{"a":' + b"9" * 5000 + b"}", "not JSON"),
        (b'{"model_type": "llama", "hidden_size": NaN, "vocab_size": 1}', "hidden_size is nan"),
        (b'{"a": "' + b"x" * 5_000_001 + b'"}', "at most 5 MB"),
        (b"PK\x03\x04rest", "zip archive"),
        (b"\x80\x04rest", "a pickle"),
        (b"GGUFrest", "a GGUF file"),
    ],
)
def test_broken_file(tmp_path: Path, raw: bytes, message: str) -> None:
    (tmp_path / "config.json").write_bytes(raw)
    with pytest.raises(ReaderError, match=f"^config.json: .*{re.escape(message)}"):
        read_model(tmp_path / "config.json")


def test_places_without_a_model(tmp_path: Path) -> None:
    for path in (tmp_path / "none.json", "\0", "", tmp_path):
        with pytest.raises(ReaderError, match="is expected"):
            read_model(path)


def test_a_pipe_is_not_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "config.json")
    with pytest.raises(ReaderError, match="no regular file"):
        read_model(tmp_path / "config.json")


def test_adapters_are_refused(tmp_path: Path) -> None:
    (tmp_path / "adapter_config.json").write_text('{"peft_type": "LORA"}')
    (tmp_path / "adapter_model.safetensors").write_bytes(weights({"w": ("BF16", [2])}))
    for path in (tmp_path, *tmp_path.iterdir()):
        with pytest.raises(ReaderError, match="adapter"):
            read_model(path)


def test_two_models_in_one_folder(tmp_path: Path) -> None:
    for name in ("a.safetensors", "b.safetensors"):
        (tmp_path / name).write_bytes(weights({"w": ("BF16", [2])}))
    with pytest.raises(ReaderError, match="holds 2 models"):
        read_model(tmp_path)
    assert read_model(tmp_path / "a.safetensors").total_params == 2


# --- properties


def llama_tensors(c: Mapping[str, Any]) -> list[tuple[int, ...]]:
    """Every weight of a Llama or Mixtral model, one shape each, as the files list them."""
    h, d = c["hidden_size"], c["head_dim"] or c["hidden_size"] // c["num_attention_heads"]
    q, kv, f = c["num_attention_heads"] * d, c["num_key_value_heads"] * d, c["intermediate_size"]
    shapes: list[tuple[int, ...]] = [(c["vocab_size"], h), (h,)]
    if not c["tie_word_embeddings"]:
        shapes.append((c["vocab_size"], h))
    for _ in range(c["num_hidden_layers"]):
        shapes += [(h,), (h,), (q, h), (kv, h), (kv, h), (h, q)]
        if c["model_type"] == "mixtral":
            shapes.append((c["num_local_experts"], h))
        elif c["attention_bias"]:
            shapes += [(q,), (kv,), (kv,), (h,)]
        if c["model_type"] == "llama" and c["mlp_bias"]:
            shapes += [(f,), (f,), (h,)]
        for _ in range(c.get("num_local_experts", 1)):
            shapes += [(f, h), (f, h), (h, f)]
    return shapes


def elements(shapes: list[tuple[int, ...]]) -> int:
    return sum(shape[0] * (shape[1] if len(shape) == 2 else 1) for shape in shapes)


@st.composite
def small_configs(draw: st.DrawFn) -> dict[str, Any]:
    heads = draw(st.integers(1, 8))
    config = {
        "model_type": draw(st.sampled_from(["llama", "mixtral"])),
        "vocab_size": draw(st.integers(1, 5000)),
        "hidden_size": heads * draw(st.integers(1, 64)),
        "intermediate_size": draw(st.integers(1, 600)),
        "num_hidden_layers": draw(st.integers(1, 6)),
        "num_attention_heads": heads,
        "num_key_value_heads": draw(st.integers(1, heads)),
        "head_dim": draw(st.none() | st.integers(1, 64)),
        "tie_word_embeddings": draw(st.booleans()),
    }
    if config["model_type"] == "mixtral":
        experts = draw(st.integers(1, 9))
        return config | {"num_local_experts": experts, "num_experts_per_tok": draw(st.integers(1, experts))}
    return config | {"attention_bias": draw(st.booleans()), "mlp_bias": draw(st.booleans())}


@given(config=small_configs())
def test_count_equals_the_sum_over_the_tensors(config: dict[str, Any]) -> None:
    parts = counted(config)
    assert parts.total_params == elements(llama_tensors(config))
    assert parts.active_params is not None
    if config["model_type"] == "mixtral":
        idle = config["num_local_experts"] - config["num_experts_per_tok"]
        width = 3 * config["hidden_size"] * config["intermediate_size"]
        assert parts.total_params - parts.active_params == idle * width * config["num_hidden_layers"]
    else:
        assert parts.active_params == parts.total_params


def read_quietly(folder: Path, name: str, raw: bytes) -> None:
    """read_model answers with parts or with a ReaderError of one sentence, never with anything else."""
    path = folder / name
    path.write_bytes(raw)
    for place in (path, folder):
        try:
            parts = read_model(place)
        except ReaderError as error:
            message = str(error)
        else:
            message = " ".join(parts.notes)
            assert parts.total_params > 0
        assert "\n" not in message
        message.encode()
    path.unlink()


ANY_FILE = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
KEYS = sorted({key for name in EXPECTED for key in config_of(name)} | {"text_config", "vision_config", "weight_map",
              "metadata", "total_parameters", "hybrid_override_pattern", "quantization_config"})  # fmt: skip
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.sampled_from(sorted(FAMILIES)),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(KEYS) | st.text(), inner, max_size=6),
    max_leaves=20,
)


@ANY_FILE
@given(raw=st.binary(max_size=200), name=st.sampled_from(["config.json", "m.safetensors", "model.safetensors.index.json"]))
@example(raw=b'{"model_type":"llama","hidden_size":' + b"[" * 900 + b"]" * 900 + b',"vocab_size":1}', name="config.json")
def test_any_bytes(tmp_path: Path, raw: bytes, name: str) -> None:
    read_quietly(tmp_path, name, raw)
    read_quietly(tmp_path, name, struct.pack("<Q", len(raw)) + b"{" + raw)


@ANY_FILE
@given(content=JSON, name=st.sampled_from(["config.json", "model.safetensors.index.json"]))
def test_any_json(tmp_path: Path, content: object, name: str) -> None:
    raw = json.dumps(content).encode()
    read_quietly(tmp_path, name, raw)
    read_quietly(tmp_path, "m.safetensors", struct.pack("<Q", len(raw)) + raw)


@ANY_FILE
@given(family=st.sampled_from(sorted(EXPECTED)), key=st.sampled_from(KEYS), value=JSON)
def test_any_value_in_a_real_config(tmp_path: Path, family: str, key: str, value: object) -> None:
    read_quietly(tmp_path, "config.json", json.dumps(config_of(family) | {key: value}).encode())


@ANY_FILE
@given(value=JSON, key=st.sampled_from(["dtype", "shape", "data_offsets"]))
def test_any_value_in_a_header(tmp_path: Path, key: str, value: object) -> None:
    read_quietly(tmp_path, "m.safetensors", header_bytes(entry(**{key: value}), 8))
