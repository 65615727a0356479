"""Reading and writing `NAME.ckptplan.json`: every input of every scenario with the catalog rows used (docs/models.md 10.1).

A missing field takes its default and is listed; an unknown one is refused, so that nothing a person wrote is dropped.
Writing is atomic: a crash leaves the old file as it was.
"""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from ckptplanner import __version__
from ckptplanner.data import catalog
from ckptplanner.data.catalog import CatalogError
from ckptplanner.data.records import Row
from ckptplanner.engine.ceilings import PAGEABLE
from ckptplanner.engine.edits import accepted_values
from ckptplanner.engine.scenario import PATHS, NamedScenario, Scenario, Workbook
from ckptplanner.frozen import PathError, spec_of

SCHEMA = 1
SUFFIX = ".ckptplan.json"
MAX_BYTES = 20_000_000
_FOR_EVERY_NODE = ("tcp", "s3")  # stages of ceilings that belong to no kind of node
_SECTIONS = tuple(Scenario.model_fields)
_TOP = ("schema", "program_version", "current", "base", "campaign", "scenarios")


class WorkbookError(ValueError):
    """A file that cannot be read or written; one sentence that names it, the place, and what would be accepted."""


def as_document(workbook: Workbook) -> dict[str, Any]:
    """The workbook as it stands in the file."""
    return {
        "schema": SCHEMA,
        "program_version": __version__,
        "current": workbook.current,
        "base": workbook.base,
        **({"campaign": list(workbook.campaign)} if workbook.campaign else {}),
        "scenarios": [
            {
                "name": named.name,
                "note": named.note,
                **_inputs(named.scenario),
                "sources": [source.model_dump(mode="json") for source in named.sources],
            }
            for named in workbook.scenarios
        ],
    }


def _inputs(scenario: Scenario) -> dict[str, Any]:
    """Every input; of the ceilings only the rows that this scenario uses."""
    inputs = scenario.model_dump(mode="json")
    node = scenario.workload.node
    ids = {node.hbm_rate, node.link_rate, node.copy_rate, node.socket_rate, node.nvme_write_rate, node.nvme_read_rate}
    if not scenario.datapath.pinned:
        ids.add(PAGEABLE)
    path = inputs["datapath"]
    path["ceilings"] = [row for row in path["ceilings"] if row["id"] in ids or row["stage"] in _FOR_EVERY_NODE]
    return inputs


def write(workbook: Workbook, path: Path) -> None:
    """Write the file in one step.

    Raises:
        WorkbookError: the place cannot be written; the old file is untouched.
    """
    text = json.dumps(as_document(workbook), ensure_ascii=False, indent=1, allow_nan=False)
    temporary = ""
    try:
        with tempfile.NamedTemporaryFile(
            "w", encoding="utf-8", dir=path.parent, prefix=f".{path.name}.", delete=False
        ) as stream:
            temporary = stream.name
            stream.write(text + "\n")
            stream.flush()
            os.fsync(stream.fileno())
        if path.exists():
            os.chmod(temporary, path.stat().st_mode & 0o777)
        else:
            os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, path)
    except OSError as error:
        if temporary:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
        raise WorkbookError(f"{path}: cannot be written ({error.strerror or error}); choose another folder") from error


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def read(path: Path) -> Workbook:
    """Read a plan file.

    Raises:
        WorkbookError: it cannot be read, is no plan, or a field is refused; the message names file and path.
    """
    try:
        if path.stat().st_size > MAX_BYTES:
            raise WorkbookError(f"{path}: larger than {MAX_BYTES:,} bytes; a plan file is far smaller")
        document = json.loads(path.read_bytes().decode("utf-8-sig"), parse_constant=_no_constant)
    except OSError as error:
        raise WorkbookError(f"{path}: cannot be read ({error.strerror or error})") from error
    except (UnicodeDecodeError, RecursionError) as error:
        raise WorkbookError(f"{path}: not a text file in UTF-8; a {SUFFIX} file is expected") from error
    except ValueError as error:
        if isinstance(error, WorkbookError):
            raise
        raise WorkbookError(f"{path}: not JSON ({error}); a {SUFFIX} file is expected") from error
    try:
        return from_document(document)
    except WorkbookError as error:
        raise WorkbookError(f"{path}: {error}") from error


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is not a number")


def from_document(document: Any) -> Workbook:
    """Turn the parsed JSON into a workbook; see `read`."""
    if not isinstance(document, dict) or "scenarios" not in document:
        raise WorkbookError(f"not a plan; an object with {', '.join(_TOP)} is expected")
    unknown = [key for key in document if key not in _TOP]
    if unknown:
        raise WorkbookError(f"{unknown[0]}: no such field; there are {', '.join(_TOP)}")
    if document.get("schema", SCHEMA) != SCHEMA:
        raise WorkbookError(f"schema: {document['schema']!r} is not known to version {__version__}; {SCHEMA} is")
    rows = document["scenarios"]
    if not isinstance(rows, list) or not rows:
        raise WorkbookError("scenarios: a list with at least one scenario is expected")
    scenarios = tuple(_scenario(row, index) for index, row in enumerate(rows))
    first = scenarios[0].name
    try:
        return Workbook(
            scenarios=scenarios,
            current=document.get("current", first),
            base=document.get("base", first),
            campaign=document.get("campaign", ()),
        )
    except ValidationError as error:
        trouble = error.errors()[0]
        place = ".".join(str(part) for part in trouble["loc"])
        message = str(trouble["msg"]).removeprefix("Value error, ")
        raise WorkbookError(f"{place}: {message}" if place else message) from error


def _scenario(row: Any, index: int) -> NamedScenario:
    if not isinstance(row, dict):
        raise WorkbookError(f"scenarios.{index}: an object is expected")
    name = row.get("name")
    if not isinstance(name, str) or not name:
        raise WorkbookError(f"scenarios.{index}.name: a name is expected")
    inputs = {key: value for key, value in row.items() if key not in {"name", "note", "sources"}}
    _complete_rows(inputs)
    try:
        scenario = Scenario.model_validate(inputs)
        return NamedScenario(
            name=name,
            note=row.get("note", ""),
            scenario=scenario,
            sources=row.get("sources", ()),
            missing=_missing(row),
        )
    except ValidationError as error:
        raise WorkbookError(f"scenario {name!r}: {refusal(error)}") from error
    except CatalogError as error:
        raise WorkbookError(f"scenario {name!r}: {error}") from error


def _complete_rows(inputs: dict[str, Any]) -> None:
    """Give the catalog rows of a file what older versions did not write into them; what stands there is left alone."""
    work, storage, path = (inputs.get(section) for section in ("workload", "storage", "datapath"))
    if isinstance(work, dict):
        inputs["workload"] = {key: _complete(value, catalog.nodes()) if key == "node" else value for key, value in work.items()}
    if isinstance(storage, dict) and isinstance(storage.get("tiers"), list):
        inputs["storage"] = storage | {"tiers": [_complete(tier, catalog.fsx_tiers()) for tier in storage["tiers"]]}
    if isinstance(path, dict) and isinstance(path.get("ceilings"), list):
        given = [_complete(row, catalog.ceilings()) for row in path["ceilings"]]
        own = {row["id"]: row for row in given if isinstance(row, dict) and isinstance(row.get("id"), str)}
        rows = [own.pop(row.id, row.model_dump(mode="json")) for row in catalog.ceilings()]
        others = [row for row in given if not any(row is one for one in rows)]
        inputs["datapath"] = path | {"ceilings": [*rows, *others]}


def _complete(row: Any, known: Sequence[Row]) -> Any:
    """A row with the fields that it lacks, from the catalog's row of the same id."""
    same = next((one for one in known if isinstance(row, dict) and one.id == row.get("id")), None)
    return row if same is None else same.model_dump(mode="json") | row


def refusal(error: ValidationError) -> str:
    """The first trouble of a validation as "path: what; what would be accepted"."""
    first = error.errors()[0]
    path = ".".join(str(part) for part in first["loc"])
    if first["type"] == "extra_forbidden":
        head = path.rpartition(".")[0]
        near = [known for known in (*PATHS, *_SECTIONS) if known.rpartition(".")[0] == head]
        return f"{path}: no such field; there are {', '.join(near)}"
    if first["type"] == "too_long":
        return f"{path}: {first['ctx']['actual_length']} rows are not accepted; at most {first['ctx']['max_length']} are"
    message = str(first["msg"]).removeprefix("Value error, ")
    try:
        accepted = accepted_values(spec_of(Scenario, path))
    except PathError:
        return f"{path}: {message}"
    if first["type"] == "value_error":
        return f"{path}: {message}"
    return f"{path}: {json.dumps(first['input'], default=str)[:80]} is not accepted; {accepted} is"


def _missing(row: dict[str, Any]) -> tuple[str, ...]:
    """Which contract paths the file leaves out; a whole section by its name alone."""
    absent = [section for section in _SECTIONS if section not in row]
    for path in PATHS:
        section, _, rest = path.partition(".")
        place: Any = row.get(section)
        for part in rest.split("."):
            if not isinstance(place, dict):
                break
            if part not in place:
                absent.append(path)
                break
            place = place[part]
    return tuple(absent)
