"""Counts the parameters of a Hugging Face `config.json`, exactly or not at all.

A model is embedding + decoder layers + final norm + head; a layer is norms + mixer (attention, Mamba) + MLP or experts:

    config.json -> Shape (checked whole numbers) -> FAMILIES[model_type] -> Part(total, active) -> ModelParts

What is counted is what transformers 5.24.0 builds (nn.Parameter, not buffers such as the routers' correction bias);
tests/data/samples/hf holds its counts, which these formulas meet to the last digit. MTP layers are not in that model:
their tensors are those of the published DeepSeek-V3 files (see `_mtp_params`).
Source: transformers 5.24.0, modeling_*.py of each family; read 2026-11-29.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ckptplanner.data.readers.errors import ReaderError, UnknownFamily, printable, shown
from ckptplanner.data.records import ModelParts

LARGEST_COUNT = 10**9
LARGEST_LAYERS = 10_000
LARGEST_TOTAL = 10**15  # above this a float no longer counts single parameters

EXPERT_COUNT_NAMES = ("num_local_experts", "num_experts", "n_routed_experts")
TEXT_CONFIG_NAMES = ("text_config", "llm_config")

# transformers leaves out of a nested text_config what equals Gemma3TextConfig's own defaults
_GEMMA3_NESTED_DEFAULTS = {"vocab_size": 262_208, "num_attention_heads": 8, "num_key_value_heads": 4, "head_dim": 256}


@dataclass(frozen=True, slots=True)
class Part:
    """Parameters of a piece of the model: all of them, and those that one token uses."""

    total: int
    active: int

    def __add__(self, other: Part) -> Part:
        return Part(self.total + other.total, self.active + other.active)

    def __mul__(self, times: int) -> Part:
        return Part(self.total * times, self.active * times)


def _dense(params: int) -> Part:
    return Part(params, params)


@dataclass(frozen=True, slots=True)
class Shape:
    """One level of a config.json, read key by key; whatever is missing or ill-typed becomes a ReaderError."""

    source: str
    values: Mapping[str, Any]
    where: str = ""
    notes: list[str] = field(default_factory=list)

    def refusal(self, key: str, accepted: str) -> ReaderError:
        """What is said of a missing or ill value under `key`."""
        if key not in self.values:
            return ReaderError(f"{self.source}: the key {self.where}{key} is missing; {accepted} is expected there.")
        return ReaderError(f"{self.source}: {self.where}{key} is {shown(self.values[key])}, where {accepted} is expected.")

    def count(self, *names: str, low: int = 1, most: int = LARGEST_COUNT) -> int:
        """The whole number under the first of `names` that is there."""
        found = [name for name in names if self.values.get(name) is not None]
        key = found[0] if found else names[0]
        value = self.values.get(key)
        if len(names) > 1 and not any(name in self.values for name in names):
            keys = ", ".join(self.where + name for name in names)
            raise ReaderError(f"{self.source}: none of the keys {keys} is there, where a whole number is expected.")
        if type(value) is not int or not low <= value <= most:
            raise self.refusal(key, f"a whole number from {low} to {most:,}")
        if any(self.values[name] != value for name in found[1:]):
            raise ReaderError(
                f"{self.source}: {self.where}{' and '.join(found)} differ, where one and the same number is expected."
            )
        return value

    def count_or_null(self, key: str, *, low: int = 1) -> int | None:
        """The whole number under `key`, which must be there but may be null."""
        if key in self.values and self.values[key] is None:
            return None
        return self.count(key, low=low)

    def flag(self, key: str, *, default: bool = False) -> bool:
        """The true or false under `key`; absent or null means what transformers takes then."""
        value = self.values.get(key)
        if value is None:
            return default
        if not isinstance(value, bool):
            raise self.refusal(key, "true or false")
        return value

    @property
    def hidden(self) -> int:
        """The width of the model."""
        return self.count("hidden_size")

    @property
    def layers(self) -> int:
        """The number of decoder layers, MTP layers not among them."""
        return self.count("num_hidden_layers", most=LARGEST_LAYERS)


def _head_dim(shape: Shape, *, stated: bool) -> int:
    """Width of one attention head; hidden_size / heads where the family allows the key to be absent or null.

    `stated`: the family's own default is another number, so that a file without the key cannot be trusted.
    """
    names = ("head_dim", "attention_head_dim")
    if stated or any(shape.values.get(name) is not None for name in names):
        return shape.count(*names)
    heads = shape.count("num_attention_heads")
    if heads > shape.hidden:
        raise ReaderError(
            f"{shape.source}: num_attention_heads is {heads}, where at most hidden_size ({shape.hidden}) is expected."
        )
    if shape.hidden % heads:
        shape.notes.append(f"head_dim is not given; taken as hidden_size // num_attention_heads = {shape.hidden // heads}.")
    return shape.hidden // heads


def _key_value_heads(shape: Shape, heads: int) -> int:
    """Number of key and value heads; null means as many as query heads, and so does absence in old Llama files."""
    key = "num_key_value_heads"
    absent_is_fine = shape.values.get("model_type") == "llama"
    if shape.values.get(key) is None and (key in shape.values or absent_is_fine):
        shape.notes.append(f"{key} is not given; taken as num_attention_heads = {heads}.")
        return heads
    return shape.count(key, most=heads)


def _attention(
    shape: Shape,
    *,
    qkv_bias: bool = False,
    out_bias: bool = False,
    qk_norm: bool = False,
    sinks: bool = False,
    stated_head_dim: bool = False,
) -> int:
    """Grouped-query attention: projections q, k, v, o, their biases, norms of q and k, one sink for each head."""
    hidden, heads = shape.hidden, shape.count("num_attention_heads")
    head_dim = _head_dim(shape, stated=stated_head_dim)
    query, both = heads * head_dim, 2 * _key_value_heads(shape, heads) * head_dim
    weights = hidden * (query + both) + query * hidden
    biases = (query + both) * qkv_bias + hidden * out_bias
    return weights + biases + 2 * head_dim * qk_norm + heads * sinks


def _latent_attention(shape: Shape) -> int:
    """Multi-head latent attention (DeepSeek): low-rank q and kv with their norms; q_lora_rank null means a full q."""
    hidden, heads, bias = shape.hidden, shape.count("num_attention_heads"), shape.flag("attention_bias")
    nope, rope = shape.count("qk_nope_head_dim"), shape.count("qk_rope_head_dim")
    value, kv_rank = shape.count("v_head_dim"), shape.count("kv_lora_rank")
    q_rank = shape.count_or_null("q_lora_rank")
    query = heads * (nope + rope)
    q_params = hidden * query if q_rank is None else hidden * q_rank + q_rank * bias + q_rank + q_rank * query
    kv_params = (hidden + bias) * (kv_rank + rope) + kv_rank + kv_rank * heads * (nope + value)
    return q_params + kv_params + heads * value * hidden + hidden * bias


def _gated_mlp(hidden: int, width: int, *, bias: bool = False) -> int:
    """gate, up and down."""
    return 3 * hidden * width + (2 * width + hidden) * bias


def _top_k(shape: Shape, experts: int) -> int:
    return shape.count("num_experts_per_tok", "experts_per_token", most=experts)


def _experts(shape: Shape, each: int, *, router_bias: bool = False, always: int = 0) -> Part:
    """A router and its experts of `each` parameters; `always` is what every token uses besides (shared experts)."""
    experts = shape.count(*EXPERT_COUNT_NAMES)
    common = shape.hidden * experts + experts * router_bias + always
    return Part(common + experts * each, common + _top_k(shape, experts) * each)


def _gated_experts_with_shared(shape: Shape) -> Part:
    """DeepSeek's and GLM's experts: `n_shared_experts` of the same width act as one MLP for every token."""
    width = shape.count("moe_intermediate_size")
    shared = shape.count_or_null("n_shared_experts", low=0) or 0
    return _experts(shape, _gated_mlp(shape.hidden, width), always=_gated_mlp(shape.hidden, width * shared))


def _llama_layers(shape: Shape) -> Part:
    bias = shape.flag("attention_bias")
    mlp = _gated_mlp(shape.hidden, shape.count("intermediate_size"), bias=shape.flag("mlp_bias"))
    return _dense(_attention(shape, qkv_bias=bias, out_bias=bias) + mlp + 2 * shape.hidden) * shape.layers


def _plain_layers(*, norms: int = 2, qkv_bias: bool = False, qk_norm: bool = False) -> Callable[[Shape], Part]:
    """Dense layers that differ only in their norms and biases (mistral, qwen2, qwen3, gemma3)."""

    def layers(shape: Shape) -> Part:
        stated = qk_norm
        bias = shape.flag("attention_bias") if stated else False
        mixer = _attention(shape, qkv_bias=bias or qkv_bias, out_bias=bias, qk_norm=qk_norm, stated_head_dim=stated)
        mlp = _gated_mlp(shape.hidden, shape.count("intermediate_size"))
        return _dense(mixer + mlp + norms * shape.hidden) * shape.layers

    return layers


def _mixtral_layers(shape: Shape) -> Part:
    moe = _experts(shape, _gated_mlp(shape.hidden, shape.count("intermediate_size")))
    return (_dense(_attention(shape) + 2 * shape.hidden) + moe) * shape.layers


def _qwen3_moe_layers(shape: Shape) -> Part:
    """Every `decoder_sparse_step`-th layer has experts unless `mlp_only_layers` names it."""
    hidden, count, bias = shape.hidden, shape.layers, shape.flag("attention_bias")
    only = shape.values.get("mlp_only_layers") or []
    if not isinstance(only, list) or any(type(layer) is not int for layer in only):
        raise shape.refusal("mlp_only_layers", "a list of layer numbers")
    dense = frozenset(only)
    step = shape.count("decoder_sparse_step", most=LARGEST_LAYERS)
    sparse = sum(layer not in dense and (layer + 1) % step == 0 for layer in range(count))
    common = _attention(shape, qkv_bias=bias, out_bias=bias, qk_norm=True) + 2 * hidden
    result = _dense(common) * count
    if sparse:
        result += _experts(shape, _gated_mlp(hidden, shape.count("moe_intermediate_size"))) * sparse
    if sparse < count:
        result += _dense(_gated_mlp(hidden, shape.count("intermediate_size"))) * (count - sparse)
    return result


def _first_dense_layers(shape: Shape, mixer: int) -> Part:
    """`first_k_dense_replace` layers with an MLP, then layers with experts."""
    hidden, count = shape.hidden, shape.layers
    if shape.values.get("moe_layer_freq") is not None:
        shape.count("moe_layer_freq", most=1)
    dense = min(shape.count("first_k_dense_replace", low=0), count)
    result = _dense(mixer + 2 * hidden) * count
    if dense:
        result += _dense(_gated_mlp(hidden, shape.count("intermediate_size"))) * dense
    return result + (_gated_experts_with_shared(shape) * (count - dense) if dense < count else _dense(0))


def _deepseek_v3_layers(shape: Shape) -> Part:
    return _first_dense_layers(shape, _latent_attention(shape))


def _glm4_moe_attention(shape: Shape) -> int:
    return _attention(shape, qkv_bias=shape.flag("attention_bias"), qk_norm=shape.flag("use_qk_norm"))


def _glm4_moe_layers(shape: Shape) -> Part:
    return _first_dense_layers(shape, _glm4_moe_attention(shape))


def _gpt_oss_layers(shape: Shape) -> Part:
    """Biases everywhere, one attention sink for each head."""
    hidden, width, bias = shape.hidden, shape.count("intermediate_size"), shape.flag("attention_bias", default=True)
    mixer = _attention(shape, qkv_bias=bias, out_bias=bias, sinks=True, stated_head_dim=True)
    moe = _experts(shape, _gated_mlp(hidden, width, bias=True), router_bias=True)
    return (_dense(mixer + 2 * hidden) + moe) * shape.layers


def _mamba(shape: Shape) -> Part:
    """Mamba-2 mixer: in_proj, conv1d, dt_bias, A_log, D, gated norm, out_proj."""
    hidden, heads = shape.hidden, shape.count("mamba_num_heads")
    inner = heads * shape.count("mamba_head_dim")
    convolved = inner + 2 * shape.count("n_groups", "mamba_n_groups") * shape.count("ssm_state_size")
    kernel, conv_bias = shape.count("conv_kernel", "mamba_d_conv"), shape.flag("use_conv_bias", default=True)
    projected, bias = inner + convolved + heads, shape.flag("use_bias")
    conv = convolved * (kernel + shape.flag("mamba_conv_bias", default=conv_bias))
    return _dense((hidden + bias) * projected + conv + 3 * heads + inner + (inner + bias) * hidden)


def _plain_mlp(shape: Shape, hidden: int, width: int) -> int:
    """up and down, no gate."""
    return 2 * hidden * width + (hidden + width) * shape.flag("mlp_bias")


def _nemotron_attention(shape: Shape) -> Part:
    if shape.flag("attention_bias"):
        raise shape.refusal("attention_bias", "false (the only form of this family that is counted exactly)")
    return _dense(_attention(shape, stated_head_dim=True))


def _nemotron_mlp(shape: Shape) -> Part:
    return _dense(_plain_mlp(shape, shape.hidden, shape.count("intermediate_size")))


def _nemotron_moe(shape: Shape) -> Part:
    """Experts without a gate; `moe_latent_size` narrows them and adds a projection down and one up."""
    hidden, width = shape.hidden, shape.count("moe_intermediate_size")
    shared = _plain_mlp(shape, hidden, shape.count("moe_shared_expert_intermediate_size"))
    latent = None if shape.values.get("moe_latent_size") is None else shape.count("moe_latent_size")
    if latent is None:
        return _experts(shape, 2 * hidden * width, always=shared)
    between = 2 * hidden * latent + (hidden + latent) * shape.flag("mlp_bias")
    return _experts(shape, 2 * latent * width, always=shared + between)


_NEMOTRON_BLOCKS: Mapping[str, Callable[[Shape], Part]] = {
    "linear_attention": _mamba, "mamba": _mamba, "M": _mamba,
    "full_attention": _nemotron_attention, "attention": _nemotron_attention, "*": _nemotron_attention,
    "moe": _nemotron_moe, "E": _nemotron_moe,
    "mlp": _nemotron_mlp, "-": _nemotron_mlp,
}  # fmt: skip


def _nemotron_stack(shape: Shape, list_key: str, pattern_key: str) -> tuple[Part, int]:
    """The blocks that a list, or else the older pattern string, names, one norm before each; and how many."""
    has_list = shape.values.get(list_key) is not None or pattern_key not in shape.values
    key = list_key if has_list else pattern_key
    blocks = shape.values.get(key)
    if not isinstance(blocks, list if has_list else str) or not 1 <= len(blocks) <= LARGEST_LAYERS:
        raise shape.refusal(key, "a list of block types" if has_list else "a pattern such as M*E-")
    counts: dict[str, int] = {}
    for block in blocks:
        if not isinstance(block, str) or block not in _NEMOTRON_BLOCKS:
            accepted = ", ".join(name for name in _NEMOTRON_BLOCKS if (len(name) == 1) == (key == pattern_key))
            raise ReaderError(f"{shape.source}: {shape.where}{key} holds {shown(block)}, where one of {accepted} is expected.")
        counts[block] = counts.get(block, 0) + 1
    total = _dense(shape.hidden * len(blocks))
    for block, times in counts.items():
        total += _NEMOTRON_BLOCKS[block](shape) * times
    return total, len(blocks)


def _nemotron_layers(shape: Shape) -> Part:
    part, count = _nemotron_stack(shape, "layers_block_type", "hybrid_override_pattern")
    if shape.values.get("num_hidden_layers") is not None and shape.layers != count:
        shape.notes.append(f"num_hidden_layers is {shape.layers}, but {count} blocks are listed; the list is counted.")
    return part


def _mtp_glue(shape: Shape) -> int:
    """What an MTP layer has besides its blocks: eh_proj (2h to h), enorm, hnorm and the norm before the shared head."""
    return 2 * shape.hidden**2 + 3 * shape.hidden


def _deepseek_v3_mtp(shape: Shape) -> int:
    return _latent_attention(shape) + 2 * shape.hidden + _gated_experts_with_shared(shape).total + _mtp_glue(shape)


def _glm4_moe_mtp(shape: Shape) -> int:
    return _glm4_moe_attention(shape) + 2 * shape.hidden + _gated_experts_with_shared(shape).total + _mtp_glue(shape)


def _nemotron_mtp(shape: Shape) -> int:
    keys = ("mtp_layers_block_type", "mtp_hybrid_override_pattern")
    return _nemotron_stack(shape, *keys)[0].total + _mtp_glue(shape)


@dataclass(frozen=True, slots=True)
class Family:
    """How a family's decoder layers and one MTP layer are counted, and whether it ties its embeddings by default."""

    layers: Callable[[Shape], Part]
    mtp_layer: Callable[[Shape], int] | None = None
    tied: bool = False


_QWEN2 = Family(_plain_layers(qkv_bias=True))
_DEEPSEEK_V3 = Family(_deepseek_v3_layers, _deepseek_v3_mtp)
_GEMMA3 = Family(_plain_layers(norms=4, qk_norm=True), tied=True)

# model_type of the text model -> how it is counted; only what was compared with the built model stands here
FAMILIES: Mapping[str, Family] = {
    "llama": Family(_llama_layers),
    "mistral": Family(_plain_layers()),
    "mixtral": Family(_mixtral_layers),
    "qwen2": _QWEN2,
    "qwen2_5_vl": _QWEN2,
    "qwen2_5_vl_text": _QWEN2,
    "qwen3": Family(_plain_layers(qk_norm=True)),
    "qwen3_moe": Family(_qwen3_moe_layers),
    "deepseek_v3": _DEEPSEEK_V3,
    "kimi_k2": _DEEPSEEK_V3,
    "gpt_oss": Family(_gpt_oss_layers),
    "nemotron_h": Family(_nemotron_layers, _nemotron_mtp),
    "gemma3_text": _GEMMA3,
    "gemma3": _GEMMA3,
    "glm4_moe": Family(_glm4_moe_layers, _glm4_moe_mtp),
}


def _mtp_params(shape: Shape, family: Family) -> int:
    """Parameters of the MTP layers that the file names, embedding and head not counted again.

    One layer is a decoder layer with experts, a projection 2h to h and three norms. DeepSeek-V3:
    187,107,328 (attention) + 2 * 7,168 + 11,320,164,352 (experts) + 102,760,448 + 3 * 7,168 = 11,610,067,968.
    """
    key = "num_nextn_predict_layers"
    if shape.values.get(key) is None or (layers := shape.count(key, low=0, most=LARGEST_LAYERS)) == 0:
        return 0
    named = f"The file names {layers} MTP layer{'s' if layers > 1 else ''}"
    if family.mtp_layer is None:
        shape.notes.append(f"{named}, which this family's counter does not know: not counted.")
        return 0
    params = layers * family.mtp_layer(shape)
    shape.notes.append(f"{named} of {params:,} parameters, counted only when the run trains it.")
    return params


def _siglip(shape: Shape) -> int:
    """SigLIP image encoder: patch and position embedding, layers with biases, last norm, and the pooling head if any.

    Source: transformers 5.24.0, modeling_siglip.py. `num_channels` is 3 where the file leaves it out.
    """
    hidden, width, patch = shape.hidden, shape.count("intermediate_size"), shape.count("patch_size")
    channels = shape.count("num_channels") if shape.values.get("num_channels") is not None else 3
    positions = (shape.count("image_size", low=patch) // patch) ** 2
    attention, mlp = 4 * (hidden**2 + hidden), 2 * hidden * width + width + hidden
    head = hidden + attention + 2 * hidden + mlp if shape.flag("vision_use_head", default=True) else 0
    embedding = channels * patch**2 * hidden + hidden + positions * hidden
    return embedding + shape.layers * (attention + mlp + 4 * hidden) + 2 * hidden + head


def _gemma3_vision(outer: Shape, vision: Shape, text_hidden: int) -> int:
    """SigLIP and Gemma's projector into the text model (a matrix and a norm)."""
    return _siglip(vision) + vision.hidden * text_hidden + vision.hidden


def _mistral3_vision(outer: Shape, vision: Shape, text_hidden: int) -> int:
    """Pixtral (no biases, no position embedding), then norm, patch merger and two projections."""
    hidden, patch = vision.hidden, vision.count("patch_size")
    layer = 4 * hidden**2 + _gated_mlp(hidden, vision.count("intermediate_size")) + 2 * hidden
    tower = vision.count("num_channels") * patch**2 * hidden + hidden + layer * vision.layers
    chosen = outer.values.get("vision_feature_layer")
    inputs = len(chosen) if isinstance(chosen, list) else 1
    bias = outer.flag("multimodal_projector_bias")
    projections = text_hidden * (hidden * inputs + bias) + text_hidden * (text_hidden + bias)
    return tower + hidden + (outer.count("spatial_merge_size") * hidden) ** 2 + projections


def _qwen2_5_vision(outer: Shape, vision: Shape, text_hidden: int) -> int:
    """Qwen2.5-VL's image encoder (biases but in the patch embedding) and its merger into the text model."""
    hidden, patch = vision.hidden, vision.count("patch_size")
    attention = 4 * (hidden**2 + hidden)
    mlp = _gated_mlp(hidden, vision.count("intermediate_size"), bias=True)
    frames, channels = vision.count("temporal_patch_size"), vision.count("in_channels", "in_chans")
    merged = hidden * vision.count("spatial_merge_size") ** 2
    merger = hidden + merged**2 + merged + (merged + 1) * vision.count("out_hidden_size")
    layers = vision.count("depth", most=LARGEST_LAYERS) * (attention + mlp + 2 * hidden)
    return channels * frames * patch**2 * hidden + layers + merger


# (model_type of the file, model_type of its vision_config) -> counter; anything else is not guessed
VISION: Mapping[tuple[str, str], Callable[[Shape, Shape, int], int]] = {
    ("gemma3", "siglip_vision_model"): _gemma3_vision,
    ("mistral3", "pixtral"): _mistral3_vision,
    ("qwen2_5_vl", "qwen2_5_vl"): _qwen2_5_vision,
    ("qwen2_5_vl", "qwen2_5_vl_vision"): _qwen2_5_vision,
}


def _vision_params(outer: Shape, text_hidden: int) -> int:
    """Parameters of the vision part, 0 with a note when there is one that cannot be counted exactly."""
    for key in ("audio_config", "speech_config", "sound_config"):
        if outer.values.get(key):
            outer.notes.append(f"The file has an audio part ({key}) whose parameters are not counted: type them.")
    values = outer.values.get("vision_config")
    if values is None:
        return 0
    if not isinstance(values, dict):
        raise outer.refusal("vision_config", "an object")
    kind = values.get("model_type", "not named")
    counter = VISION.get((str(outer.values.get("model_type")), kind)) if isinstance(kind, str) else None
    if counter is not None:
        return counter(outer, Shape(outer.source, values, "vision_config.", outer.notes), text_hidden)
    outer.notes.append(
        f"The file has a vision part of type {shown(kind)} whose parameters are not counted and must be typed; "
        "left out, the total has been 3.5 to 6.2 % too small."
    )
    return 0


def text_shape(outer: Shape) -> Shape:
    """The level that describes the text model: the file itself, or its text_config or llm_config."""
    for key in TEXT_CONFIG_NAMES:
        values = outer.values.get(key)
        if values is None:
            continue
        if not isinstance(values, dict):
            raise outer.refusal(key, "an object")
        if outer.values.get("model_type") == "gemma3":
            left_out = [name for name in _GEMMA3_NESTED_DEFAULTS if name not in values]
            values = _GEMMA3_NESTED_DEFAULTS | {"model_type": "gemma3_text"} | values
            if left_out:
                taken = ", ".join(f"{name} = {values[name]}" for name in left_out)
                outer.notes.append(f"{key} leaves out what equals Gemma 3's defaults; taken from there: {taken}.")
        return Shape(outer.source, values, key + ".", outer.notes)
    return outer


def _is_tied(outer: Shape, text: Shape, family: Family) -> bool:
    """Whether head and embedding are one matrix; the outer level wins, as it does in transformers."""
    key = "tie_word_embeddings"
    said = [level.flag(key) for level in (outer, text) if level.values.get(key) is not None]
    if not said:
        word = "tied" if family.tied else "not tied"
        outer.notes.append(f"The file does not give {key}; embedding and head are taken as {word}.")
        return family.tied
    if len(set(said)) > 1:
        outer.notes.append(f"{key} is {said[0]} outside and {said[1]} inside {text.where[:-1]}; the outer one is used.")
    return said[0]


def _family_name(text: Shape) -> str:
    name = text.values.get("model_type")
    if not isinstance(name, str) or not name:
        raise text.refusal("model_type", "the name of a model family such as llama")
    if name not in FAMILIES:
        raise UnknownFamily(text.source, name if name.isidentifier() and name.isascii() and len(name) < 60 else shown(name))
    return name


def _note_quantisation(outer: Shape, text: Shape) -> None:
    for level in (outer, text):
        found = level.values.get("quantization_config")
        if isinstance(found, dict):
            method = shown(found.get("quant_method", "not named"))
            outer.notes.append(
                f"The file describes a quantised export (quant_method {method}): its size says nothing about the size "
                "of a training state."
            )
            return


def count_config(config: Mapping[str, Any], *, source: str, name: str = "", date: str = "") -> ModelParts:
    """Count the parameters of a config.json.

    Args:
        config: The decoded file.
        source: What the messages and the result call it; a file name.
        name: The model's name; the family's when empty.
        date: Date of the file, ISO.

    Returns:
        The parts, with MTP layers off and the vision part frozen. [params], exact.

    Raises:
        UnknownFamily: a family that is not counted exactly here.
        ReaderError: a key is missing or holds what no model could have.
    """
    outer = Shape(source, config)
    text = text_shape(outer)
    family_name = _family_name(text)
    family = FAMILIES[family_name]
    matrix = text.count("vocab_size") * text.hidden
    body = family.layers(text) + _dense(text.hidden)
    mtp, vision = _mtp_params(text, family), _vision_params(outer, text.hidden)
    if body.total + 2 * matrix + mtp + vision > LARGEST_TOTAL:
        raise ReaderError(f"{source}: its shape means more than {LARGEST_TOTAL:.0e} parameters; a real model is expected.")
    tied = _is_tied(outer, text, family)
    _note_quantisation(outer, text)
    return ModelParts(
        name=printable(name) or family_name,
        family=family_name,
        source=printable(source),
        date=date,
        body_params=body.total,
        active_body_params=body.active,
        embedding_params=matrix,
        head_params=matrix,
        tied=tied,
        mtp_params=mtp,
        vision_params=vision,
        notes=tuple(dict.fromkeys(outer.notes)),
    )
