"""What must be said about a plan: fields that do not go together, sizes that the service refuses, models out of range.

Each `_check_*` looks at one matter and yields findings; `findings` runs them all. Nothing here changes a number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from itertools import chain

import numpy as np

from ckptplanner.data import catalog
from ckptplanner.data.records import FsxTier
from ckptplanner.engine import fsx
from ckptplanner.engine.job import Job
from ckptplanner.engine.model_checks import model_findings
from ckptplanner.engine.node_checks import node_findings
from ckptplanner.engine.outcome import can_feed, required_write_bytes_per_s
from ckptplanner.engine.plan import SEVERITIES, Finding, Option, Plan, Schedule, Severity, finding
from ckptplanner.engine.scenario import PATHS, NamedScenario, Scenario, storage_price_path
from ckptplanner.engine.sentence import option_name
from ckptplanner.engine.value_words import nodes_words
from ckptplanner.frozen import spec_of, value_at
from ckptplanner.text import Text, listed, text
from ckptplanner.units import (
    BYTES,
    BYTES_PER_PARAM,
    BYTES_PER_S,
    DAY,
    FRACTION,
    GIB,
    GIBS,
    PARAMS,
    SECONDS,
    USD,
    brief,
    grouped,
    rough,
)

NO_PROGRESS_FRACTION = 0.95
MODELS_PART_FRACTION = 0.02
RARE_STOP_FRACTION = 0.01
LARGE_WASTE_FRACTION = 0.05


def findings(plan: Plan) -> tuple[Finding, ...]:
    """Everything there is to say about a plan, errors first."""
    own = (finding for check in _CHECKS for finding in check(plan))
    return by_severity(chain(own, model_findings(plan), node_findings(plan)))


def by_severity(found: Iterable[Finding]) -> tuple[Finding, ...]:
    """Errors, then warnings, then infos; otherwise in the order they came."""
    return tuple(sorted(found, key=lambda finding: SEVERITIES.index(finding.severity)))


# ---------------------------------------------------------------- workload


@lru_cache(maxsize=1)
def _active_counts() -> tuple[tuple[str, float], ...]:
    """Models whose active count differs from their total, by name."""
    return tuple(
        (row.name, row.active_params)
        for row in catalog.models()
        if row.active_params and row.total_params and row.active_params < 0.9 * row.total_params
    )


def _check_size(plan: Plan) -> Iterator[Finding]:
    work = plan.scenario.workload
    if work.frozen_params > work.total_params:
        yield finding(
            "error", "workload.frozen_params",
            "Frozen parameters ({frozen}) are more than all parameters ({total}): they are counted inside the total.",
            frozen=brief(work.frozen_params, PARAMS), total=brief(work.total_params, PARAMS),
        )  # fmt: skip
    if work.measured_bytes is None and plan.checkpoint.checkpoint_bytes <= 0:
        yield finding("error", "workload.layout", "Nothing is saved: the layout has 0 bytes for a parameter.")
    if work.frozen_params and not work.frozen_bytes_per_param:
        yield finding(
            "info", "workload.frozen_bytes_per_param",
            "Frozen parameters are left out of the checkpoint: a restart needs the base model as well.",
        )  # fmt: skip
    if work.measured_bytes is not None:
        yield _measured(work.measured_bytes, work.total_params)


def _measured(measured: float, params: float) -> Finding:
    """Name the presets around a measured size; within 1 % it is one of them."""
    each = measured / params
    sums = sorted({layout.bytes_per_param for layout in catalog.layouts() if layout.status != "derived"})
    below = max((size for size in sums if size <= each * 1.01), default=None)
    above = min((size for size in sums if size >= each * 0.99), default=None)
    if below is not None and below == above:
        where = text("the preset of {size}", size=brief(below, BYTES_PER_PARAM))
    elif below is None or above is None:
        where = text("beyond every preset")
    else:
        where = text("between {low} and {high}", low=f"{below:g}", high=f"{above:g}")
    return finding(
        "info", "workload.measured_bytes",
        "The measured size is used: {size}, {each} a parameter, {where}.",
        size=brief(measured, BYTES), each=brief(each, BYTES_PER_PARAM), where=where,
    )  # fmt: skip


def _check_active(plan: Plan) -> Iterator[Finding]:
    total = plan.scenario.workload.total_params
    same = [name for name, active in _active_counts() if abs(active / total - 1.0) < 0.005]
    if same:
        yield finding(
            "warning", "workload.total_params",
            "{total} is the active count of {model}; a checkpoint holds all parameters. Give the total.",
            total=brief(total, PARAMS), model=same[0],
        )  # fmt: skip


# ---------------------------------------------------------------- schedule


def _check_generations(plan: Plan) -> Iterator[Finding]:
    if plan.scenario.storage.generations_kept < 2:
        yield finding(
            "error", "storage.generations_kept",
            "With one generation there is nothing to restore from while it is being written: keep 2 or more.",
        )  # fmt: skip


def _check_write_fits(plan: Plan) -> Iterator[Finding]:
    storage = plan.scenario.storage
    if storage.latency_s >= storage.write_s:
        yield finding(
            "error", "storage.latency_s",
            "The fixed time per save ({latency}) leaves nothing of the write time ({write}): allow a longer write.",
            latency=brief(storage.latency_s, SECONDS), write=brief(storage.write_s, SECONDS),
        )  # fmt: skip


def _check_interval(plan: Plan) -> Iterator[Finding]:
    schedule, scenario = plan.schedule, plan.scenario
    if schedule is None:
        return
    run_s, step_s = scenario.run.days * DAY, scenario.workload.step_s
    asked = scenario.storage.interval_s
    wanted = schedule.best_interval_s if asked is None else asked
    save_s = schedule.blocking_s + (schedule.write_s if schedule.mode == "async" else 0.0)
    if wanted > run_s and asked is None:
        yield finding(
            "warning", "run.days", "T* ({best}) is longer than the run ({run}): save once at the end.",
            best=rough(wanted, SECONDS), run=rough(run_s, SECONDS),
        )  # fmt: skip
    elif wanted > run_s:
        yield finding(
            "warning", "storage.interval_s", "The interval ({asked}) is longer than the run ({run}): the run is used.",
            asked=rough(wanted, SECONDS), run=rough(run_s, SECONDS),
        )  # fmt: skip
    if wanted < step_s and schedule.interval_s == step_s:
        yield finding(
            "warning", "storage.interval_s", "The interval ({asked}) is shorter than a step: one step ({step}) is used.",
            asked=brief(wanted, SECONDS), step=brief(step_s, SECONDS),
        )  # fmt: skip
    yield from _overlap(plan, schedule, save_s, run_s)


def _overlap(plan: Plan, schedule: Schedule, save_s: float, run_s: float) -> Iterator[Finding]:
    scenario = plan.scenario
    if save_s > run_s:
        yield finding(
            "error", "storage.write_s", "A save takes {save}, longer than the whole run ({run}).",
            save=rough(save_s, SECONDS), run=rough(run_s, SECONDS),
        )  # fmt: skip
    elif schedule.period_s > schedule.interval_s * (1 + 1e-9) and scenario.workload.framework.has_async:
        yield finding(
            "warning", "storage.interval_s",
            "The next save would begin before the last is written ({save}): {framework} {does}, and training stands "
            "still for {stall} every interval.",
            save=rough(save_s, SECONDS), framework=scenario.workload.framework.name,
            does=scenario.workload.framework.on_unfinished_write,
            stall=brief(schedule.period_s - schedule.interval_s, SECONDS),
        )  # fmt: skip
    elif scenario.storage.interval_s is None and schedule.best_interval_s < save_s <= schedule.interval_s:
        yield finding(
            "info", "storage.interval_s",
            "Saves take {save}, longer than the best interval ({best}): the interval follows the write.",
            save=rough(save_s, SECONDS), best=rough(schedule.best_interval_s, SECONDS),
        )  # fmt: skip


def _check_progress(plan: Plan) -> Iterator[Finding]:
    schedule, waste = plan.schedule, plan.waste
    if schedule is None or waste is None:
        return
    if schedule.interval_s <= schedule.lost_per_save_s:
        yield finding(
            "error", "storage.interval_s",
            "The job makes no progress: each save costs {lost} and the next begins after {interval}.",
            lost=brief(schedule.lost_per_save_s, SECONDS), interval=brief(schedule.interval_s, SECONDS),
        )  # fmt: skip
        return
    for name, value in (("restart", schedule.restart_s), ("stop", schedule.blocking_s)):
        if schedule.mtbi_s <= value:
            yield finding(
                "error", "failures.mtbi_s",
                "The job makes no progress: it is interrupted every {mtbi}, sooner than a {name} takes ({value}).",
                mtbi=rough(schedule.mtbi_s, SECONDS), name=name, value=rough(value, SECONDS),
            )  # fmt: skip
            return
    if waste.exact_fraction is not None and waste.exact_fraction > NO_PROGRESS_FRACTION:
        yield finding(
            "error", "failures.mtbi_s", "The job makes no progress: {waste} of the time is lost.",
            waste=brief(waste.exact_fraction, FRACTION),
        )  # fmt: skip
    elif waste.total_fraction is not None and waste.total_fraction > NO_PROGRESS_FRACTION:
        yield finding(
            "error", "planned.every_s", "The job makes no progress: with planned stops {waste} of the time is lost.",
            waste=brief(waste.total_fraction, FRACTION),
        )  # fmt: skip


def _check_models(plan: Plan) -> Iterator[Finding]:
    """Where the first-order formula stops holding (docs/models.md 4.6)."""
    waste, schedule = plan.waste, plan.schedule
    if waste is None or schedule is None or waste.exact_fraction is None:
        return
    first, exact = waste.first_order_fraction, waste.exact_fraction
    if first is None:
        yield finding(
            "warning", "storage.waste_model",
            "The first-order formula passes 100 % here and holds no more; the exact model gives {exact}.",
            exact=brief(exact, FRACTION),
        )  # fmt: skip
    elif exact and abs(first / exact - 1.0) > MODELS_PART_FRACTION:
        severity: Severity = "warning" if exact > LARGE_WASTE_FRACTION and waste.model == "first_order" else "info"
        yield finding(
            severity, "storage.waste_model",
            "First order says {first}, the exact model {exact}: decisions follow the {model} one.",
            first=brief(first, FRACTION), exact=brief(exact, FRACTION), model=waste.model.replace("_", "-"),
        )  # fmt: skip
    if schedule.lost_per_save_s > RARE_STOP_FRACTION * schedule.mtbi_s:
        yield finding(
            "warning", "failures.mtbi_s",
            "A stop is {share} of the time between interruptions: take that time from a recent log, not from a record.",
            share=brief(schedule.lost_per_save_s / schedule.mtbi_s, FRACTION),
        )  # fmt: skip


def _check_framework(plan: Plan) -> Iterator[Finding]:
    work, storage, schedule = plan.scenario.workload, plan.scenario.storage, plan.schedule
    if storage.mode == "async" and not work.framework.has_async:
        yield finding(
            "error", "storage.mode", "{framework} has no asynchronous saving: choose sync, or another framework.",
            framework=work.framework.name,
        )  # fmt: skip
    if schedule is not None and schedule.blocking_s > work.collective_timeout_s:
        yield finding(
            "warning", "workload.collective_timeout_s",
            "A save stops training for {stop}, longer than the collective timeout of {timeout}: ranks that wait would "
            "end the job. Raise the timeout or save faster.",
            stop=rough(schedule.blocking_s, SECONDS), timeout=rough(work.collective_timeout_s, SECONDS),
        )  # fmt: skip
    if storage.published == "next_save":
        yield finding(
            "warning", "storage.published",
            "A checkpoint counts only from the next save on: an interruption costs up to two intervals.",
        )  # fmt: skip


def _check_notice(plan: Plan) -> Iterator[Finding]:
    notice, schedule = plan.scenario.failures.spot_notice_s, plan.schedule
    chosen = plan.storage.chosen
    if notice is None or schedule is None or chosen is None or plan.checkpoint.checkpoint_bytes <= 0:
        return
    save = schedule.blocking_s if schedule.mode == "sync" else schedule.blocking_s + schedule.writes_in_s
    if save > notice:
        rate = plan.checkpoint.checkpoint_bytes / schedule.writes_in_s
        start = 0.0 if schedule.mode == "sync" else schedule.blocking_s
        yield finding(
            "warning", "failures.spot_notice_s",
            "A save takes {save} and the notice is {notice}: only {fits} of {size} can be written in it.",
            save=rough(save, SECONDS), notice=rough(notice, SECONDS),
            fits=brief(max(notice - start, 0.0) * rate, BYTES), size=brief(plan.checkpoint.checkpoint_bytes, BYTES),
        )  # fmt: skip


# ---------------------------------------------------------------- storage


def illegal_reason(scenario: Scenario, job: Job, tier: FsxTier | None, option: Option) -> Text | None:
    """Why the service, or the nodes, would refuse this file system; None where it is legal."""
    if tier is not None:
        known = {row.throughput_mb_per_s_per_tib for row in scenario.storage.tiers}
        if tier.throughput_mb_per_s_per_tib not in known:
            offered = ", ".join(grouped(value) for value in sorted(known))
            return text("Persistent 2 offers {offered} MB/s/TiB", offered=offered)
        near = fsx.legal_neighbours_gib(option.capacity_gib, tier.step_gib, tier.small_gib)
        if near != (option.capacity_gib,):
            return text("next sizes {sizes} GiB", sizes=", ".join(grouped(size) for size in near))
    client = option.client_bytes_per_s
    needed = required_write_bytes_per_s(scenario, job.checkpoint_bytes, np.asarray(scenario.storage.write_s))
    wanted = needed / scenario.storage.write_efficiency
    if client is None or can_feed(scenario, job, np.asarray(client), wanted, np.asarray(option.baseline_bytes_per_s)):
        return None
    return text(
        "{writers} can write at most {reach}",
        writers=text("one node") if job.writers == 1 else text("{count} nodes", count=grouped(job.writers)),
        reach=brief(job.writers * client, BYTES_PER_S),
    )


def _check_choice(plan: Plan) -> Iterator[Finding]:
    storage, chosen = plan.scenario.storage, plan.storage.chosen
    path = "storage.custom" if storage.custom is not None else "storage.tier"
    if chosen is None:
        yield finding(
            "error", "storage.write_s", "No file system on offer can do this: {reasons}.",
            reasons=_refusals(plan.storage.options) or text("the write time leaves nothing to write in"),
        )  # fmt: skip
        return
    if chosen.illegal_reason is not None:
        yield finding(
            "error", path if chosen.id != "custom" else "workload.writer", "{name} is refused: {reason}.",
            name=_name(chosen), reason=chosen.illegal_reason,
        )  # fmt: skip
    yield from _room(plan, chosen, path)
    yield from _speed(plan, chosen, path)
    if chosen.efa and not plan.scenario.workload.node.fsx_efa:
        yield finding(
            "warning", "storage.efa", "{node} is not known to reach an EFA file system over EFA: check before you buy.",
            node=plan.scenario.workload.node.name,
        )  # fmt: skip


def _refusals(options: Iterable[Option]) -> Text | None:
    """Why none of the options will do, with and without EFA; each reason once."""
    found: dict[str, Text] = {}
    for option in options:
        reason = option.illegal_reason or option.excluded_reason
        if reason is not None:
            said = text("with EFA {reason}", reason=reason) if option.efa else text("without EFA {reason}", reason=reason)
            found.setdefault(str(said), said)
    return listed(found[key] for key in sorted(found)) if found else None


def _name(option: Option) -> Text:
    return text("The storage that exists") if option.throughput_mb_per_s_per_tib is None else option_name(option)


def _room(plan: Plan, chosen: Option, path: str) -> Iterator[Finding]:
    storage, size, others = plan.scenario.storage, plan.checkpoint.checkpoint_bytes, plan.scenario.shared.used_bytes
    if size <= 0:
        return
    beside = chosen.fill_ratio * chosen.capacity_gib * GIB - storage.generations_kept * size  # others, other saves and jobs
    room = chosen.capacity_gib * storage.max_fill * GIB - beside
    if chosen.fill_ratio > storage.max_fill * (1 + 1e-9):
        values = {
            "count": storage.generations_kept, "need": brief(round(storage.generations_kept * size / GIB), GIBS),
            "name": _name(chosen), "room": brief(max(round(room / GIB), 0), GIBS),
        }  # fmt: skip
        if others:
            yield finding(
                "error", "shared.used_bytes",
                "{count} generations need {need}; beside {others} of others {name} has room for {room}. {cure}",
                **values, others=brief(others, BYTES), cure=_cure(plan, chosen, storage.generations_kept * size - room),
            )  # fmt: skip
        else:
            yield finding(
                "error", path, "{count} generations need {need}, {name} has room for {room}: keep {most} or buy more.",
                **values, most=max(int(room / size), 0),
            )  # fmt: skip
    else:
        spare = int(room / size) - storage.generations_kept
        fill = brief(chosen.fill_ratio, FRACTION, 2)
        if spare > 0:
            yield finding(
                "info", "storage.generations_kept",
                "Generations kept, {count}, fill {fill} of the file system: room for {more} more.",
                count=storage.generations_kept, fill=fill, more=grouped(spare),
            )  # fmt: skip
        else:
            yield finding(
                "info", "storage.generations_kept",
                "Generations kept, {count}, fill {fill} of the file system: no room for another.",
                count=storage.generations_kept, fill=fill,
            )  # fmt: skip


def _cure(plan: Plan, chosen: Option, missing_bytes: float) -> Text:
    """The cheapest way to make room on a file system that others fill, and what the local drives are good for."""
    storage = plan.scenario.storage
    tier = next(
        (
            t
            for t in storage.tiers
            if (t.throughput_mb_per_s_per_tib, t.efa) == (chosen.throughput_mb_per_s_per_tib, chosen.efa)
        ),
        None,
    )
    delete = text("delete {size}", size=brief(missing_bytes, BYTES))
    cures = [delete]
    if tier is not None:
        steps = np.ceil(missing_bytes / storage.max_fill / GIB / tier.step_gib)
        more = brief(float(steps) * tier.step_gib, GIBS)
        price = plan.scenario.prices.storage_usd_per_gib_month.at(tier.throughput_mb_per_s_per_tib)
        if price is None:
            cures.append(text("or add {more}", more=more))
        else:
            money = brief(float(steps) * tier.step_gib * price, USD)
            cures.append(text("or add {more} for {money} a month", more=more, money=money))
    node = plan.scenario.workload.node
    local = (node.nvme_count or 0) * (node.nvme_bytes_each or 0.0)
    if local >= storage.generations_kept * plan.checkpoint.bytes_per_node:
        cures.append(text("or save to the local drives, whose checkpoint dies with the node"))
    return text("Before the first save: {cures}.", cures=listed(cures))


def _speed(plan: Plan, chosen: Option, path: str) -> Iterator[Finding]:
    storage = plan.scenario.storage
    given = storage.custom is not None or storage.tier != "auto"
    if given and storage.pace == "within" and chosen.writes_in_s > storage.write_s * (1 + 1e-9):
        yield finding(
            "error", "storage.write_s",
            "{name} needs {needs} for a write; {allowed} is allowed. Allow more, or set the pace to full.",
            name=_name(chosen), needs=rough(chosen.writes_in_s, SECONDS), allowed=rough(storage.write_s, SECONDS),
        )  # fmt: skip
    quota = max((tier.default_quota_gib for tier in storage.tiers), default=None)
    if chosen.id != "custom" and quota is not None and chosen.capacity_gib > quota and storage.quota_gib is None:
        yield finding(
            "warning", path, "{size} is above the default quota of {quota}: ask AWS for it before you plan on it.",
            size=brief(chosen.capacity_gib, GIBS), quota=brief(quota, GIBS),
        )  # fmt: skip
    if storage.quota_gib is not None and chosen.id != "custom" and chosen.capacity_gib > storage.quota_gib:
        yield finding(
            "error", "storage.quota_gib", "{size} is above your quota of {quota}.",
            size=brief(chosen.capacity_gib, GIBS), quota=brief(storage.quota_gib, GIBS),
        )  # fmt: skip


# ---------------------------------------------------------------- prices and sources


def _check_prices(plan: Plan) -> Iterator[Finding]:
    scenario, chosen = plan.scenario, plan.storage.chosen
    prices = scenario.prices
    if prices.region not in catalog.regions():
        yield finding(
            "warning", "prices.region", "The catalog has no region {region}; it knows {known}.",
            region=prices.region, known=", ".join(catalog.regions()),
        )  # fmt: skip
    offered = {tier.throughput_mb_per_s_per_tib for tier in scenario.storage.tiers}
    unknown = [
        option
        for option in plan.storage.options
        if option.usd_per_month is None and option.throughput_mb_per_s_per_tib in offered
    ]
    if scenario.storage.custom is None and unknown:
        tiers = sorted({option.throughput_mb_per_s_per_tib or 0.0 for option in unknown})
        yield finding(
            "warning", storage_price_path(tiers[0]),
            "No price is known for {tiers} MB/s/TiB in {region}: type it from your bill; until then these stay out of "
            "the ranking.",
            tiers=", ".join(grouped(tier) for tier in tiers), region=prices.region,
        )  # fmt: skip
    if chosen is not None and chosen.id == "custom" and chosen.usd_per_month is None:
        yield finding(
            "warning", "storage.custom.usd_per_month",
            "What the storage that exists costs is not known: dollars of storage and the total stay empty.",
        )  # fmt: skip
    if chosen is not None and chosen.usd_per_month == 0:
        yield finding("warning", price_path(chosen), "A storage price of $0: is it free, or not known? Leave it empty then.")
    if prices.node_usd_per_h is None and prices.gpu_value_usd_per_h is None:
        yield Finding("warning", "prices.node_usd_per_h", no_node_price(scenario))


def no_node_price(scenario: Scenario) -> Text:
    """That the node has no known price, and what to do about it."""
    return text(
        "No price is known for {node} in {region}: type one, or the value of a GPU-hour.",
        node=scenario.workload.node.name, region=scenario.prices.region,
    )  # fmt: skip


def price_path(option: Option) -> str:
    """The field that holds the price of a file system."""
    if option.throughput_mb_per_s_per_tib is None:
        return "storage.custom.usd_per_month"
    return storage_price_path(option.throughput_mb_per_s_per_tib)


def source_findings(named: NamedScenario) -> tuple[Finding, ...]:
    """What the sources of the values say: whose interruptions these are, and what is still a guess."""
    found: list[Finding] = []
    if named.missing:
        found.append(
            finding("info", named.missing[0], "Not in the file, defaults are used: {paths}.", paths=", ".join(named.missing))
        )
    if source_kind(named, "failures.mtbi_s") not in {"log", "typed"}:
        records = [row.mtbi_s * row.nodes / named.scenario.workload.nodes for row in catalog.interruption_records()]
        mtbi = named.scenario.failures
        found.append(
            finding(
                "warning", "failures.mtbi_s",
                "{mtbi} is not your own record: published records span {low} to {high} for {nodes}.",
                mtbi=rough(mtbi.mtbi_s * mtbi.mtbi_nodes / named.scenario.workload.nodes, SECONDS),
                low=rough(min(records), SECONDS), high=rough(max(records), SECONDS),
                nodes=nodes_words(named.scenario.workload.nodes),
            )
        )  # fmt: skip
    if guesses := _guessed(named):
        titles = listed(text(spec_of(Scenario, path).title) for path in guesses)
        found.append(finding("info", guesses[0], "Guesses until they are measured: {titles}.", titles=titles))
    return tuple(found)


def _guessed(named: NamedScenario) -> list[str]:
    """The fields whose values are guesses: recorded as one, or left at a default that is one."""
    recorded = {source.path: source.kind for source in named.sources}
    by_default = set(_guesses_by_default())
    found = [path for path in PATHS if recorded.get(path, "guess" if path in by_default else "") == "guess"]
    return [
        path
        for path in found
        if (value := value_at(named.scenario, path)) is not None
        and not _is_idle(named.scenario, path)
        and (path in recorded or value == spec_of(Scenario, path).default)
    ]


def _is_idle(scenario: Scenario, path: str) -> bool:
    """Whether nothing follows from a field in this scenario, so that its guess needs no word."""
    if path.startswith("local.") or path.endswith("_share"):
        return not scenario.local.enabled or (path.endswith("_share") and bool(scenario.restart.classes))
    return path == "failures.lognormal_shape" and scenario.failures.law != "lognormal"


@lru_cache(maxsize=1)
def _guesses_by_default() -> tuple[str, ...]:
    return tuple(path for path in PATHS if spec_of(Scenario, path).default_source == "guess")


def source_kind(named: NamedScenario, path: str) -> str:
    """The short word for where a value comes from: what is recorded, else its default's origin, else typed."""
    recorded = named.source_of(path)
    if recorded is not None:
        return recorded.kind
    spec = spec_of(Scenario, path)
    return spec.default_source if value_at(named.scenario, path) == spec.default else "typed"


_CHECKS: tuple[Callable[[Plan], Iterator[Finding]], ...] = (
    _check_size, _check_active, _check_generations, _check_write_fits, _check_progress, _check_interval, _check_framework,
    _check_choice, _check_models, _check_notice, _check_prices,
)  # fmt: skip
