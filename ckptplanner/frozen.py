"""The base of every input: frozen, hashable, strict about names; changed only by making a changed copy."""

from __future__ import annotations

import os
import types
import typing
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict, Field
from pydantic.fields import FieldInfo

from ckptplanner.units import Unit

# without this the first model reads the entry points of every installed package, in search of plugins that are not wanted
os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]
ModelT = typing.TypeVar("ModelT", bound=BaseModel)


class Frozen(BaseModel):
    """A frozen model that refuses unknown fields, infinity and NaN."""

    model_config = ConfigDict(frozen=True, extra="forbid", validate_default=True, allow_inf_nan=False)


class PathError(LookupError):
    """A dotted path that leads to no field; the message names the accepted ones."""


@dataclass(frozen=True, slots=True)
class FieldSpec:
    """What is known about one field: its words, unit, limits, choices and where its default comes from."""

    path: str
    title: str
    description: str
    unit: Unit | None
    optional: bool
    choices: tuple[str, ...]
    is_integer: bool
    is_bool: bool
    default: Any
    default_source: str
    low: float | None
    high: float | None
    low_excluded: bool


def entry(default: Any, *, title: str, help: str, source: str = "guess", **limits: Any) -> Any:
    """A pydantic field with the words and the origin of its default; the only way a Scenario field is declared.

    Args:
        default: The value used when nothing is given; a callable is called each time.
        title: The label in the form and in the report.
        help: One or two sentences for the tooltip.
        source: Where the default comes from: article, doc, guess or typed.
        limits: ge, gt, le, lt and the like.
    """
    key = "default_factory" if callable(default) else "default"
    options: dict[str, Any] = {key: default, "title": title, "description": help, **limits}
    return Field(json_schema_extra={"source": source}, **options)


def _inner(annotation: Any) -> tuple[Any, bool, tuple[Any, ...]]:
    """Strip `| None` and Annotated: the bare type, whether None is allowed, the metadata found on the way."""
    optional, metadata = False, ()
    if typing.get_origin(annotation) in (typing.Union, types.UnionType):
        args = [arg for arg in typing.get_args(annotation) if arg is not type(None)]
        optional = len(args) < len(typing.get_args(annotation))
        annotation = args[0] if len(args) == 1 else annotation
    if typing.get_origin(annotation) is typing.Annotated:
        annotation, *extra = typing.get_args(annotation)
        metadata = tuple(extra)
    return annotation, optional, metadata


def _limits(parts: tuple[Any, ...]) -> dict[str, float]:
    found: dict[str, float] = {}
    for part in parts:
        for name in ("gt", "ge", "lt", "le"):
            if (value := getattr(part, name, None)) is not None:
                found[name] = float(value)
        found |= _limits(tuple(part.metadata)) if isinstance(part, FieldInfo) else {}
    return found


@lru_cache(maxsize=1024)
def spec_of(model: type[BaseModel], path: str) -> FieldSpec:
    """Describe the field at a dotted path below `model`.

    Raises:
        PathError: no such field; the message lists what stands at that place.
    """
    head, _, rest = path.partition(".")
    info = model.model_fields.get(head)
    if info is None:
        raise PathError(f"{path}: no such field; known here: {', '.join(model.model_fields)}")
    bare, optional, metadata = _inner(info.annotation)
    if rest:
        if not (isinstance(bare, type) and issubclass(bare, BaseModel)):
            raise PathError(f"{path}: {head} has no fields of its own")
        below = spec_of(bare, rest)
        return FieldSpec(path, *(getattr(below, name) for name in FieldSpec.__slots__[1:]))
    parts = (*metadata, *info.metadata)
    limits = _limits(parts)
    extra = info.json_schema_extra if isinstance(info.json_schema_extra, dict) else {}
    return FieldSpec(
        path=path,
        title=info.title or head,
        description=info.description or "",
        unit=next((part for part in parts if isinstance(part, Unit)), None),
        optional=optional,
        choices=tuple(str(arg) for arg in typing.get_args(bare)) if typing.get_origin(bare) is typing.Literal else (),
        is_integer=bare is int,
        is_bool=bare is bool,
        default=info.get_default(call_default_factory=True),
        default_source=str(extra.get("source", "")),
        low=limits.get("ge", limits.get("gt")),
        high=limits.get("le", limits.get("lt")),
        low_excluded="gt" in limits,
    )


def leaf_paths(model: type[BaseModel], prefix: str = "") -> tuple[str, ...]:
    """Every dotted path below `model` that was declared by `entry`, in the order of declaration."""
    paths: list[str] = []
    for name, info in model.model_fields.items():
        bare, _, _ = _inner(info.annotation)
        if isinstance(info.json_schema_extra, dict) and "source" in info.json_schema_extra:
            paths.append(prefix + name)
        elif isinstance(bare, type) and issubclass(bare, BaseModel):
            paths += leaf_paths(bare, f"{prefix}{name}.")
    return tuple(paths)


def value_at(model: BaseModel, path: str) -> Any:
    """The value at a dotted path; None below a part that is None."""
    found: Any = model
    for name in path.split("."):
        if found is None:
            return None
        if name not in type(found).model_fields:
            raise PathError(f"{path}: no such field; known here: {', '.join(type(found).model_fields)}")
        found = getattr(found, name)
    return found


def with_value(model: ModelT, path: str, value: Any) -> ModelT:
    """A copy with the field at `path` replaced, validated on the way (model_copy would skip that).

    Raises:
        PathError: no such field.
        pydantic.ValidationError: the value is out of the field's range.
    """
    head, _, rest = path.partition(".")
    if head not in type(model).model_fields:
        raise PathError(f"{path}: no such field; known here: {', '.join(type(model).model_fields)}")
    if rest:
        below = getattr(model, head)
        if not isinstance(below, BaseModel):
            raise PathError(f"{path}: {head} has no fields of its own yet")
        value = with_value(below, rest, value)
    return type(model).model_validate({**dict(model), head: value})
