"""The report's pages about the nodes: the way of the data, host memory, replicas, what survives, other saves and stops."""

from __future__ import annotations

from collections.abc import Sequence

from ckptplanner.engine.node_plan import EVENTS, Event, Hop, Phase
from ckptplanner.engine.plan import Plan
from ckptplanner.engine.survival import restart_tier, tier_states
from ckptplanner.ui.report.html import esc, path_of, table
from ckptplanner.ui.words import say, say_text
from ckptplanner.units import BYTES, BYTES_PER_S, FRACTION, SECONDS, UNKNOWN, USD, brief, grouped, percent, rough


def node_parts(plan: Plan) -> tuple[str, ...]:
    """Every part as HTML; empty where the plan has nothing for it."""
    return (_phases(plan), _hops(plan), _ram(plan), _replication(plan), _survival(plan), _saves(plan), _stops(plan))


def _seconds(seconds: float | None) -> str:
    return UNKNOWN if seconds is None else brief(seconds, SECONDS)


def _rate(rate: float | None) -> str:
    return UNKNOWN if rate is None else brief(rate, BYTES_PER_S)


def _headed(title: str, caption: str, made: str) -> str:
    below = f"<h6 class='caption'>{esc(caption)}</h6>" if caption else ""
    return f"<h2>{esc(title)}</h2>{below}{made}"


# ---------------------------------------------------------------- the way of the data


def _phases(plan: Plan) -> str:
    if plan.datapath is None:
        return ""
    headings = [say("Phase"), say("In this plan"), say("Takes at best"), say("Plan gives"), say("What bounds it")]
    rows = [_phase_row(phase) for phase in plan.datapath.phases]
    made = table(headings, rows, right=(2, 3), widths=(18, 12, 13, 13, 44))
    return _headed(say("The way of the data"), say("Each phase at the speed of its slowest part."), made)


def _phase_row(phase: Phase) -> list[str]:
    limit = phase.limit
    where = "" if limit is None else f"{say_text(limit.name)}, {_rate(limit.ceiling_bytes_per_s)}"
    cells = [
        say_text(phase.title), say("yes") if phase.is_used else say("not set"), _seconds(phase.seconds),
        _seconds(phase.allowed_s) if phase.allowed_s is not None else "", where,
    ]  # fmt: skip
    said = [esc(cell) for cell in cells]
    return said if phase.is_used else [f'<span class="muted">{cell}</span>' for cell in said]


def _hops(plan: Plan) -> str:
    """The parts of the phases that the plan uses; then, once each, how their ceilings are known."""
    if plan.datapath is None:
        return ""
    used = [phase for phase in plan.datapath.phases if phase.is_used]
    headings = [say("Part"), say("Carries"), say("Load"), say("Use")]
    parts = []
    for phase in used:
        rows = [_hop_row(hop, is_limit=hop.id == phase.bottleneck) for hop in phase.hops]
        made = table(headings, rows, right=(1, 2, 3), widths=(46, 20, 20, 14))
        parts.append(f"<h3>{esc(say_text(phase.title))}</h3>{made}")
    return "".join(parts) + _ceilings([hop for phase in used for hop in phase.hops])


def _hop_row(hop: Hop, *, is_limit: bool) -> list[str]:
    name = say_text(hop.name) + (f", {say('all nodes')}" if hop.is_shared else "")
    cells = [esc(cell) for cell in (name, _rate(hop.ceiling_bytes_per_s), _rate(hop.load_bytes_per_s), _use(hop.use_ratio))]
    return [f"<b>{cell}</b>" for cell in cells] if is_limit else cells


def _use(ratio: float | None) -> str:
    """Load by ceiling; below a thousandth it is next to nothing."""
    if ratio is None:
        return UNKNOWN
    return say("less than 0.1 %") if ratio < 0.001 else brief(ratio, FRACTION, 2)


def _ceilings(hops: Sequence[Hop]) -> str:
    """Where each ceiling comes from, every part once."""
    once = {(say_text(hop.name), hop.ceiling_bytes_per_s): hop for hop in hops}
    rows = [
        [esc(name), esc(_rate(rate)), esc(kind_word(hop.kind)),
         f'<span class="small">{esc(", ".join(filter(None, (hop.source, hop.date))))}</span>', path_of(hop.path)]
        for (name, rate), hop in once.items()
    ]  # fmt: skip
    headings = [say("Part"), say("Carries"), say("Known as"), say("Source"), say("Field")]
    made = table(headings, rows, right=(1,), widths=(22, 12, 13, 28, 25))
    return f"<h3>{esc(say('How the ceilings are known'))}</h3>{made}"


def kind_word(kind: str) -> str:
    """How a ceiling is known, in one word."""
    return {
        "measured": say("measured"), "documented": say("documented"), "theoretical": say("theoretical"),
        "derived": say("derived"), "assumed": say("assumed"), "typed": say("typed"),
    }[kind]  # fmt: skip


def _ram(plan: Plan) -> str:
    ram = plan.host_ram
    if ram is None:
        return ""
    rows = [
        [esc(say_text(item.name)), esc(brief(item.held_bytes, BYTES)),
         f'<span class="warning">{esc(say("guess"))}</span>' if item.is_guess else "", path_of(item.path)]
        for item in ram.items
    ]  # fmt: skip
    total = [say("Together"), brief(ram.used_bytes, BYTES)]
    rows.append([*(f"<b>{esc(cell)}</b>" for cell in total), "", ""])
    has = UNKNOWN if ram.ram_bytes is None else brief(ram.ram_bytes, BYTES)
    share = "" if ram.fill_ratio is None else brief(ram.fill_ratio, FRACTION, 2)
    caption = say("The most loaded node at its fullest: {used} of {has}, {share}.", used=total[1], has=has, share=share)
    made = table([say("Held in host memory"), say("Size"), "", say("Field")], rows, right=(1,), widths=(44, 16, 12, 28))
    return _headed(say("Host memory"), caption, made)


# ---------------------------------------------------------------- replicas and what survives


def _chance(value: float | None) -> str:
    return UNKNOWN if value is None else brief(value, FRACTION)


def _replication(plan: Plan) -> str:
    found = plan.replication
    if found is None or found.factor == 1:
        return ""
    rows: list[tuple[str, str]] = [
        (say("Copies, jump"), f"{grouped(found.factor)}, {grouped(found.jump)}"),
        (say("Possible numbers of copies"), ", ".join(map(grouped, found.legal_factors))),
        (say("Groups of nodes"), grouped(len(found.node_groups)) if found.is_legal else UNKNOWN),
        (say("On each node's drives, two generations"), brief(found.local_bytes_per_node, BYTES)),
        (say("A group is lost after a first loss"), _chance(found.loss_probability_after_first)),
        (say("The same with copies scattered over all nodes"), _chance(found.scattered_loss_probability)),
        (say("A group is lost during the run"), _chance(found.run_loss_probability)),
        (say("The same with copies scattered over all nodes"), _chance(found.scattered_run_loss_probability)),
    ]
    rows += [
        (say("{count} nodes lost at once are survived with", count=grouped(lost)), _chance(chance))
        for lost, chance in found.survive_probabilities
    ]
    if found.window_needed_s is not None:
        rows.append((say("Until a lost node's copies exist again"), rough(found.window_needed_s, SECONDS)))
    cells = [[esc(name), esc(value)] for name, value in rows]
    return _headed(say("Copies on other nodes"), "", table([say("What"), say("Value")], cells, right=(1,), widths=(64, 36)))


def event_words(event: Event) -> str:
    """What an event is called above a column."""
    return {
        "process_restart": say("process restart"), "node_reboot": say("node reboot"), "node_lost": say("1 node lost"),
        "group_lost": say("group lost"), "rack_lost": say("rack lost"), "cluster_lost": say("all nodes"),
        "planned_stop": say("planned stop"),
    }[event]  # fmt: skip


def _survival(plan: Plan) -> str:
    if plan.schedule is None:
        return ""
    sources = {event: restart_tier(plan, event) for event in EVENTS}
    rows = []
    for state in tier_states(plan):
        cells = [esc(say_text(state.title)), esc(_seconds(state.read_s) if state.is_used else say("not set"))]
        for event, survives in zip(EVENTS, state.survives, strict=True):
            if not state.is_used:
                cells.append("")
            elif sources[event] == state.tier:
                cells.append(f"<b>{esc(say('restart'))}</b>")
            else:
                cells.append(esc(say("yes")) if survives else f'<span class="muted">{esc(say("no"))}</span>')
        rows.append(cells)
    headings = [say("Tier"), say("Read in"), *map(event_words, EVENTS)]
    made = table(headings, rows, widths=(20, 10, *(10,) * len(EVENTS)))
    return _headed(say("What survives"), say("Restart: where training restarts from after that event."), made)


# ---------------------------------------------------------------- other saves, stops, neighbours


def _saves(plan: Plan) -> str:
    beyond = plan.beyond
    if beyond is None or not beyond.saves:
        return ""
    kinds = {
        "permanent": say("permanent"), "evaluation": say("evaluation"), "export": say("export"), "final": say("final"),
    }  # fmt: skip
    rows: list[Sequence[str]] = [
        [
            esc(kinds[row.kind]), esc(say("at the end") if row.every_s is None else rough(row.every_s, SECONDS)),
            esc(brief(row.saved_bytes, BYTES)), esc(say("S3") if row.to == "s3" else say("file system")),
            esc(_seconds(row.writes_in_s)), esc(grouped(row.count_in_run)), esc(brief(row.held_bytes, BYTES)),
            esc("" if row.to != "s3" else UNKNOWN if row.usd_per_month is None else brief(row.usd_per_month, USD)),
        ]
        for row in beyond.saves
    ]  # fmt: skip
    headings = [
        say("Save"), say("Every"), say("Size"), say("Goes to"), say("Writes in"), say("In the run"), say("Held at the end"),
        say("S3 a month"),
    ]  # fmt: skip
    caption = say("When all fall together {peak} is asked of the file system.", peak=_rate(beyond.peak_write_bytes_per_s))
    made = table(headings, rows, right=(1, 2, 4, 5, 6, 7), widths=(14, 13, 11, 13, 13, 11, 13, 12))
    return _headed(say("Save schedule"), caption, made)


def _stops(plan: Plan) -> str:
    """Planned stops, neighbours, spares and zones, where there are any."""
    beyond, waste, scenario = plan.beyond, plan.waste, plan.scenario
    if beyond is None or waste is None:
        return ""
    rows: list[tuple[str, str]] = []
    if scenario.planned.every_s is not None:
        rows.append((say("Planned stops take"), percent(waste.planned_fraction or 0.0)))
        rows.append((say("Last save before one"), _seconds(beyond.final_save_s)))
    if scenario.shared.jobs > 1:
        rows.append((say("Jobs that write at once, 95 % of the time no more"), grouped(beyond.jobs_writing)))
        rows.append((say("Runs again after, when all restart at once"), _seconds(beyond.restart_all_s)))
    if beyond.no_spare_probability is not None:
        rows.append((say("No spare left when a node is lost"), brief(beyond.no_spare_probability, FRACTION, 2)))
    if not scenario.network.same_zone:
        rows.append((say("Across zones in a month"), brief(beyond.zone_bytes_per_month, BYTES)))
    if not rows:
        return ""
    cells = [[esc(name), esc(value)] for name, value in rows]
    return _headed(say("Stops and neighbours"), "", table([say("What"), say("Value")], cells, right=(1,), widths=(64, 36)))
