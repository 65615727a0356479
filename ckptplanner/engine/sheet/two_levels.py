"""Two levels as formulas: what goes back where, T1 and n, E6 at both ratios around T3*/T1 and at the one taken, E5's terms.

What each row follows from is in docs/models.md 16.1 to 16.3.
"""

from __future__ import annotations

from ckptplanner.engine.sheet.intervals import daly, half_even
from ckptplanner.engine.sheet.kind import Kind
from ckptplanner.engine.sheet.newton import growth, last_step
from ckptplanner.engine.sheet.rows import Sheet
from ckptplanner.text import Text, text


def rates(sheet: Sheet, kind: Kind) -> None:
    """Which share of the interruptions goes back to each level, and how often that is."""
    if not kind.classes:
        sheet.formulas([
            ("ranks", text("Ranks"), "={nodes}*{gpus_per_node}", ""),
            ("block", text("Ranks of a block of groups"), '={factor}*IF({jump}="",{gpus_per_node},{jump})', ""),
            ("near_share", text("Leave local checkpoints"),
             "=IF({process_share}+{node_share}+{cluster_share}=0,0,"
             "({process_share}+IF({factor}>1,IF(MOD({ranks},{block})=0,{node_share},0),0))"
             "/({process_share}+{node_share}+{cluster_share}))", "1"),
            ("far_share", text("Leave none"), "=1-{near_share}", "1"),
        ])  # fmt: skip
    sheet.formulas([
        ("group_share", text("Lose every copy of a shard"), "=MIN({group_rate}*{mtbi},{near_share})", "1"),
        ("local_share", text("Go back to a local save"), "=MAX({near_share}-{group_share},0)", "1"),
        ("shared_share", text("Go back to a shared save"), "={near_share}+{far_share}-{local_share}", "1"),
        ("local_rate", text("Local restarts, 1/M1"), "={local_share}/{mtbi}", "1/s"),
        ("mtbi_local", text("Goes back to a local save every, M1"), '=IF({local_share}=0,"",{mtbi}/{local_share})', "s"),
        ("mtbi_shared", text("Goes back to a shared save every, M3"), "={mtbi}/MAX({shared_share},1E-9)", "s"),
    ])  # fmt: skip


def restarts(sheet: Sheet, kind: Kind) -> None:
    """R1 and R3, and the mean of both."""
    near, far = "={local_restart_given}", "={base}+{read_s}"
    if kind.classes:
        near, far = "={near_base}+{near_reads}*{read_s}", "={far_base}+{far_reads}*{read_s}"
    sheet.formulas([
        ("local_restart", text("Training again from a local save after, R1"), near, "s"),
        ("shared_restart", text("Training again from a shared save after, R3"), far, "s"),
    ])  # fmt: skip


def intervals(sheet: Sheet) -> None:
    """T1, n and T3."""
    local_best = 'IF({interval_model}="exact",{local_exact},IF({interval_model}="daly",{local_daly},{local_young}))'
    sheet.heading(text("Local and shared saves"))
    sheet.formulas([
        ("local_mean", text("M1, at most 1E15"), "=IF({local_share}=0,1E15,MIN({mtbi}/{local_share},1E15))", "s"),
        ("local_young", text("Young 1974 for the local saves"), "=SQRT(2*{local_stop}*{local_mean})", "s"),
        ("local_daly", text("Daly 2006 for the local saves"), f"={daly('{local_stop}', '{local_mean}', '{local_young}')}", "s"),
        ("local_exact", text("Exact for the local saves"), f"=IF({{local_stop}}>0,{last_step('near')}*{{local_mean}},0)", "s"),
        ("local_best", text("Best local interval, T1*"), f"={local_best}", "s"),
        ("local_save", text("A local save takes"), "={local_stop}+{local_write}", "s"),
        ("local_wanted", text("Local interval asked for"),
         '=IF({local_interval_given}="",MAX(MIN({local_best},{best}-{lost}),{local_save}),{local_interval_given})', "s"),
        ("local_steps", text("Local interval in steps"), "={local_wanted}/{step}", ""),
        ("local_rounded", text("Local interval in whole steps"),
         f"=MAX({half_even('{local_steps}')},"
         'IF({local_interval_given}="",ROUNDUP({local_save}/{step}-1E-9,0),1),1)', ""),
        ("local_held", text("Local interval, from a step to the run"),
         "=MAX(MIN(IF({whole},{step}*{local_rounded},{local_wanted}),{days}*86400),{step})", "s"),
        ("room", text("Left by the interval asked for"),
         '=IF({interval_given}="","",MAX(MAX(MIN({interval_given},{days}*86400),{step})-{lost},{step}))', "s"),
        ("asked_ratio", text("Local intervals in it"),
         f"=IF({{room}}=\"\",\"\",MAX({half_even('({room}/{local_held})')},1))", ""),
        ("most", text("Local intervals in the run"), "=MAX(ROUNDDOWN(({days}*86400-{lost})/{local_held},0),1)", ""),
        ("least", text("Local intervals that a shared write takes"), "=MAX(ROUNDUP({async_write}/{local_held}-1E-9,0),1)", ""),
        ("near_ratio", text("(T3* - C3) / T1"), "=MAX(({best}-{lost})/{local_held},1)", ""),
        ("down_ratio", text("n rounded down"), "=MIN(MAX(ROUNDDOWN({near_ratio}+1E-9,0),{least}),{most})", ""),
        ("up_ratio", text("n rounded up"), "=MIN(MAX(ROUNDUP({near_ratio}-1E-9,0),{least}),{most})", ""),
        ("better_ratio", text("the one that wastes less by E6"),
         "=IF({waste_up}<{waste_down},{up_ratio},{down_ratio})", ""),
        ("ratio", text("Local saves to a shared one, n"),
         '=IF({ratio_given}="",IF({interval_given}="",{better_ratio},{asked_ratio}),{ratio_given})', ""),
        ("local_interval", text("Save locally every, T1"),
         '=IF({interval_given}="",{local_held},IF({local_interval_given}="",{room}/{ratio},{local_held}))', "s"),
        ("interval", text("Save every, T"), "={ratio}*{local_interval}+{lost}", "s"),
        ("period", text("Time that really passes"), "={ratio}*{local_interval}+{stop3_at}", "s"),
        ("durable", text("Restorable after, t"), "={stop}+{late_at}", "s"),
        ("local_durable", text("Restorable locally after"), "={local_save}", "s"),
    ])  # fmt: skip


_NESTED = (
    ("at", text("E6, nested waste at n and T1"), "{ratio}", "{local_interval}"),
    ("down", text("E6 at n rounded down"), "{down_ratio}", "{local_held}"),
    ("up", text("E6 at n rounded up"), "{up_ratio}", "{local_held}"),
)


def nested(sheet: Sheet) -> None:
    """E6 at the ratio taken, and at the two that it was chosen from."""
    for tag, heading, ratio, every in _NESTED:
        _nested_at(sheet, tag, heading, ratio, every)


def _nested_at(sheet: Sheet, tag: str, heading: Text, n: str, every: str) -> None:
    work, goodput, pace, late = (f"{{{name}_{tag}}}" for name in ("work", "g1", "pace", "late"))
    turn, upload, beat = (f"{{{name}_{tag}}}" for name in ("turn", "upload", "beat"))
    stop3, lag = f"{{stop3_{tag}}}", f"{{lag_{tag}}}"
    sheet.heading(heading)
    sheet.formulas([
        (f"stop3_{tag}", text("C3, with waiting for the write"), f"={{lost}}+MAX({{async_write}}-{n}*{every},0)", "s"),
        (f"late_{tag}", text("t3, from the stop until restorable"),
         f'=IF({{published}}="next_save",{n}*{every}+{stop3}-{{stop}},{{async_write}})', "s"),
        (f"work_{tag}", text("w = T1 - C1"), f"=MAX({every}-{{local_stop}},0)", "s"),
        (f"turn_{tag}", text("(T1 + C3/n) / M1"), f"={{local_rate}}*({every}+{stop3}/{n})", ""),
        (f"g1_{tag}", text("g1, goodput of the local level"),
         f"=IF({{local_rate}}>0,{work}*{{local_rate}}*EXP(0-{{local_rate}}*({{local_restart}}+{{local_write}}))"
         f"/({growth(turn)}),{work}/({every}+{stop3}/{n}))/(1+{{local_rate}}*{{down}})", "1"),
        (f"pace_{tag}", text("P3, from a shared save to the next"), f"={n}*{work}/MAX({goodput},1E-300)", "s"),
        (f"upload_{tag}", text("t3 / M1"), f"={late}*{{local_rate}}", ""),
        (f"lag_{tag}", text("t3', with killed uploads"),
         f'=IF({{uploads}}="survive",{late},{late}+{pace}*({growth(upload)}))', "s"),
        (f"beat_{tag}", text("P3 / M3"), f"={pace}/{{mtbi_shared}}", ""),
        (f"waste_{tag}", text("E6"),
         f"=MIN(MAX(1-IF({work}>0,{n}*{work}/{{mtbi_shared}}*EXP(0-MIN(({{shared_restart}}+{lag})/{{mtbi_shared}},700))"
         f"/({growth(beat)})/(1+{{down}}/{{mtbi_shared}}),0),0),1)", "1"),
    ])  # fmt: skip


def level_waste(sheet: Sheet) -> None:
    """E5's term of each level, and the plan's waste split in their proportion."""
    sheet.heading(text("First order of each level, E5"))
    sheet.formulas([
        ("near_waste", text("Local, C1/T1 + (T1/2 + C1 + t1 + R1 + D)/M1"),
         "={local_stop}*{ratio}/{period}"
         "+({period}/{ratio}/2+{local_stop}+{local_write}+{local_restart}+{down})*{local_rate}", "1"),
        ("far_waste", text("Shared, C3/T3 + (T3/2 + C3 + t3 + R3 + D)/M3"),
         "={stop3_at}/{period}+({period}/2+{stop3_at}+{late_at}+{shared_restart}+{down})/{mtbi_shared}", "1"),
        ("local_waste", text("Waste of the local level"),
         '=IF({exact}="","",{exact}*{near_waste}/({near_waste}+{far_waste}))', "1"),
        ("shared_waste", text("Waste of the shared level"), '=IF({exact}="","",{exact}-{local_waste})', "1"),
    ])  # fmt: skip
