"""Where a figure's formula holds, and who says so: the two lines at the foot of a derivation."""

from __future__ import annotations

from ckptplanner.data import catalog
from ckptplanner.engine.derivation.case import Case, storage_price
from ckptplanner.text import Text, text

ALWAYS = text("Holds always: it is a definition.")
DEFINITION = text("A definition, docs/models.md 1.")
ARTICLE = text("Article A, section on write throughput; docs/models.md 6.")
FIRST_ORDER_HOLDS = text("C much below T, T much below M, and a write shorter than T. Above 100 % it says nothing.")
YOUNG = text('J. W. Young, "A first order approximation to the optimum checkpoint interval", CACM 17(9), 1974.')
DALY = text('J. T. Daly, "A higher order estimate of the optimum checkpoint interval", FGCS 22(3), 2006.')
DERIVED = text(
    "Exact renewal model, docs/models.md 4: derived, and met by an event simulation. Without a background write it is "
    "Daly's exact time, FGCS 22(3), 2006."
)
GIVEN = text("As it was given.")
SIZE = text("Size of a checkpoint, docs/models.md 2; Article A.")
COSTS = text("Costs, docs/models.md 8.")
WAITING = text("The next save waits for the last, docs/models.md 4.4.")
STEPS = text("Frameworks count in steps, docs/models.md 9.")
NEXT_SAVE = text("Published at the next save, docs/models.md 4.3.")
FIRST_ORDER = text("First-order model, docs/models.md 3.")
RESTART = text("Parts of a restart, docs/models.md 5.3.")
REACH = text("How far one can go back, docs/models.md 3.2.")
FILL = text("Fill, docs/models.md 7.2.")
NEXT_SAVE_EXACT = text("Exact renewal model with t = T, docs/models.md 4.3: derived.")
OPTIMUM = text("Exact renewal model, docs/models.md 4.2: derived and simulated; Daly 2006 is its series.")
SCALING = text("Interruptions, docs/models.md 5.")
TWO_TIMES = text("Two times of a write, docs/models.md 7.3.")
RESTORE = text("Reading it back, docs/models.md 7.4.")
PLANNED = text("Planned stops, docs/models.md 14.1.")
CLASSES = text("Restart classes, docs/models.md 14.2.")
OTHER_SAVES = text("Other saves, docs/models.md 14.3.")
NEIGHBOURS = text("Shared file systems, docs/models.md 14.4.")
SPARES = text("Spares, docs/models.md 14.5.")
ZONES = text("Across zones, docs/models.md 14.6.")
OTHER_COSTS = text("S3, spares and zones, docs/models.md 14.")
COPIES = text("Copies on local drives, docs/models.md 13; Cidon et al., Copysets, USENIX ATC 2013, for scattered copies.")
RAM = text("Ledger of host memory, docs/models.md 13.")
PATH = text("Way of the data, docs/models.md 12.")
LEVEL_RATES = text("Two levels, docs/models.md 16.1.")
LEVELS_FIRST_ORDER = text(
    "First order of two levels, docs/models.md 16.1; Benoit, Cavelan, Le Fevre, Robert and Sun 2017 for the sum over levels."
)
NESTED = text("Nested model of two levels, docs/models.md 16.2: derived, and met by an event simulation.")
CHOICE = text("Intervals of two levels, docs/models.md 16.3.")
RENEWAL = text("Renewal model, docs/models.md 15.1: derived, and met by an event simulation.")
RENEWAL_BEST = text("Best interval of the renewal model, docs/models.md 15.2.")
AGES = text("Nodes that age by themselves, docs/models.md 15.3.")
YEAR = text("A year is 8,760 h. Reserved GPUs cost the same idle: then it is the value of the training that was lost.")


def aws(case: Case) -> Text:
    """The AWS documents that the chosen file system's row was read from."""
    tier = case.tier or next(iter(case.scenario.storage.tiers), None)
    return text("Amazon FSx for Lustre User Guide and FSx API model, {date}.", date=tier.date if tier else "")


def price_source(case: Case) -> Text:
    """Where the storage price comes from: a price list of the catalog, or it was typed."""
    tier = case.tier
    row = catalog.storage_price(case.scenario.prices.region, tier.throughput_mb_per_s_per_tib) if tier else None
    if row is None or row.usd_per_gib_month is None or row.usd_per_gib_month != storage_price(case):
        return text("The price as it was given; a month is billed by capacity.")
    return text("Price: {source}, {date}. A month is billed by capacity.", source=row.source, date=row.date)
