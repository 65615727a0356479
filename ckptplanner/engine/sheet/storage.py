"""Size, write rate and the file system, as formulas."""

from __future__ import annotations

from ckptplanner.engine.sheet.rows import Formula, Sheet
from ckptplanner.text import text


def size_and_rate(sheet: Sheet, *, is_custom: bool) -> None:
    """S, and what storage must sustain."""
    allowed = 'IF({pace}="full",{writes_in},{write_given})' if is_custom else "{write_given}"
    sheet.heading(text("Size and write rate"))
    sheet.formulas([
        ("size", text("One checkpoint, S"),
         '=IF({measured}="",MAX({total}-{frozen},0)*{each}+{frozen}*{frozen_each},{measured})', "B"),
        ("writers", text("Nodes that write"), '=IF({writer}="single",1,{nodes})', ""),
        ("share", text("Written by one of them"), "={size}/{writers}", "B"),
        ("allowed", text("Time for the write"), f"={allowed}", "s"),
        ("needed", text("Storage must sustain, W"),
         "=IF({allowed}>{latency},{size}/({allowed}-{latency}),{size}/{allowed})", "B/s"),
    ])  # fmt: skip


_HELD = "({generations}*{size}*{jobs}+{other_held}+{used})/1073741824"


def capacity(sheet: Sheet, *, is_custom: bool) -> None:
    """The file system: sized, or as it is, and what saves and restarts reach on it."""
    sheet.heading(text("File system"))
    sheet.add("held", text("Generations kept need"), Formula(f"={_HELD}/{{fill}}"), "GiB")
    if is_custom:
        sheet.formulas([
            ("capacity", text("Capacity"), "={usable}/1073741824", "GiB"),
            ("own", text("Left for this job's writes"),
             "=MAX(({write_rate}-{load}/{write_share})/{writing},1)*{write_share}", "B/s"),
            ("own_read", text("Left for its reads"), "=MAX({read_rate}*{read_share}-{load},1)", "B/s"),
            ("rate", text("Saves reach"), '=IF({client}="",{own},MIN({own},{writers}*{client}/{skew}))', "B/s"),
            ("read", text("Restarts reach"), '=IF({client}="",{own_read},MIN({own_read},{nodes}*{client}))', "B/s"),
        ])  # fmt: skip
    else:
        sheet.formulas([
            ("fast", text("The write rate needs"), "=1000*({needed}*{writing}+{load})/{write_share}/1000000/{tau}", "GiB"),
            ("need", text("The larger of both"), "=MAX({held},{fast})", "GiB"),
            ("capacity", text("Capacity, the next legal size"),
             '=IF({fixed}="",IF({need}<={small}*(1+1E-9),{small},MAX(ROUNDUP({need}/{growth}-1E-9,0),1)*{growth}),{fixed})',
             "GiB"),
            ("baseline", text("Baseline"), "={capacity}/1000*{tau}*1000000", "B/s"),
            ("servers", text("Storage servers"), "=ROUNDUP({capacity}/{growth},0)", ""),
            ("client", text("One node moves"),
             '=IF({per_server}="",{client_limit},MIN({client_limit},{servers}*{per_server}))', "B/s"),
            ("own", text("Left for this job's writes"),
             "=MAX(({baseline}-{load}/{write_share})/{writing},1)*{write_share}", "B/s"),
            ("own_read", text("Left for its reads"), "=MAX({baseline}*{read_share}-{load},1)", "B/s"),
            ("rate", text("Saves reach"), "=MIN({own},{writers}*{client}/{skew})", "B/s"),
            ("read", text("Restarts reach"), "=MIN({own_read},{nodes}*{client})", "B/s"),
            ("storage_month", text("Storage a month"), '=IF({gib_price}="","",{capacity}*{gib_price})', "USD/month"),
        ])  # fmt: skip
    sheet.formulas([
        ("filled", text("Full"), f"={_HELD}/{{capacity}}", "1"),
        ("writes_in", text("The write takes"), "={latency}+{size}/{rate}", "s"),
    ])  # fmt: skip
