"""Files, estimates and effects made by hand: what the page "Your files" is shown in tests."""

from __future__ import annotations

from pathlib import Path

from ckptplanner.data.evidence import QUANTITIES, FileEvidence, Gathered, Measured, Place, Question
from ckptplanner.engine.adopting import Effect
from ckptplanner.engine.evidence import Choices, Estimate, Reading
from ckptplanner.engine.observed import Observed
from ckptplanner.text import Text, text
from ckptplanner.ui.evidence.desk import Found, Meaning
from ckptplanner.ui.evidence.found_words import Coverage
from ckptplanner.units import FRACTION, SECONDS

QUESTION = Question(
    "finished saving",
    text("The log says \"Finished saving the checkpoint in X seconds\": is that the stop or the whole write?"),
    (("stop", text("the stop")), ("restorable", text("the whole write"))),
    "stop",
)  # fmt: skip
PARTS = Question("parts", text("Is the column wait the time in the queue?"), (("queue", text("yes")), ("", text("no"))))


def estimate(
    quantity: str,
    value: float,
    low: float | None = None,
    high: float | None = None,
    count: int = 3,
    place: str = "megatron-lm.log, line 3",
    *,
    is_proposed: bool = True,
    notes: tuple[Text, ...] = (),
) -> Estimate:
    """An estimate of one of the quantities."""  # fmt: skip
    row = QUANTITIES[quantity]
    file, _, where = place.partition(", ")
    return Estimate(
        quantity, row.path, row.title, value, row.unit, low, high, count, "measured",
        (Place(file, where), *(Place(file, f"line {10 * at}") for at in range(2, min(count, 4) + 1))), "2026-11-20",
        "values" if low is not None else "", notes=notes, is_proposed=is_proposed,
    )  # fmt: skip


MTBI = Estimate(
    "mtbi", "failures.mtbi_s", text("Interrupted every"), 961_200.0, SECONDS, 723_600.0, 1_303_200.0, 23, "counted",
    (Place("sacct_parsable2.txt", "line 12"), Place("sacct_parsable2.txt", "line 31")), "2026-11-20", "interval",
    with_paths=(("failures.mtbi_nodes", 32),),
)  # fmt: skip
SHAPE = Estimate(
    "shape", "failures.weibull_shape", text("Shape"), 0.71, None, 0.52, 0.95, 23, "derived", (Place("sacct_parsable2.txt"),),
    "2026-11-20", "interval",
)  # fmt: skip
NODE = Estimate(
    "workload.node", "workload.node", text("Node"), "p6-b300.48xlarge", None, None, None, 1, "stated",
    (Place("ec2-describe-instance-types.json", "InstanceTypes[0]"),), "2026-11-02", shown="p6-b300.48xlarge",
)  # fmt: skip
FAR = text("14 B a parameter where the plan has 6: the moments are stored as fp32, whatever the optimizer holds in memory.")
EFFECTS = (
    Effect(MTBI, 720_000.0, "article", -4_212.0, -0.00131, None, ""),
    Effect(SHAPE, 1.0, "article", None, None, None, "the shape is used once the law is Weibull"),
    Effect(estimate("stop", 5.067, 4.972, 5.262), 5.0, "article", 94.0, 0.0000249, None, ""),
    Effect(estimate("write", 293.7, 280.1, 296.0), 300.0, "typed", 12.4, 0.0, None, ""),
    Effect(estimate("restorable", 298.73, 285.06, 301.11), None, "", None, None, None, ""),
    Effect(estimate("step", 10.0, 9.8, 10.9, 812), 10.0, "log", 0.0, 0.0, None, ""),
    Effect(estimate("detect", 121.0, 61.0, 610.0, 23, "sacct_parsable2.txt, line 12"), 60.0, "guess", 310.0, 0.0000847,
           text("2 times what the plan has."), ""),
    Effect(estimate("bytes_per_param", 14.0, count=1, place="run-42/iter_0001000/.metadata"), 6.0, "doc", 1_830.0, 0.00032,
           FAR, ""),
    Effect(estimate("generations", 3, count=1, place="run-42"), None, "", None, None, None, ""),
    Effect(estimate("reads_at", 11.57e9, 11.2e9, 11.9e9, 3, "ior-4.1.json, tests[0].Results[0]", is_proposed=False,
                    notes=(text("Read from the page cache: the file was as large as the memory of one node."),)),
           1.25e11, "guess", 0.0, 0.0, None, ""),
    Effect(NODE, "p6-b300.48xlarge", "doc", 0.0, 0.0, None, ""),
)  # fmt: skip
OBSERVED = (
    Observed(text("Interrupted every"), 720_000.0, 961_200.0, SECONDS, 723_600.0, 1_303_200.0, "off",
             text("267 h, more than planned (200 h).")),
    Observed(text("Stop time"), 5.0, 5.067, SECONDS, 4.972, 5.262, "right", text("5.07 s, as planned (5 s).")),
    Observed(text("Restorable after"), 305.0, 298.73, SECONDS, 285.06, 301.11, "right", text("4 min 59 s, as planned.")),
    Observed(text("Saves every"), 2682.0, 2610.0, SECONDS, None, None, "right", text("43 min 30 s, as planned.")),
    Observed(text("Training again in"), 890.0, 3210.0, SECONDS, None, None, "off", text("53 min 30 s, more than planned.")),
    Observed(text("Goodput"), 0.9946, 0.9931, FRACTION, None, None, "right", text("99.3 %, as planned (99.5 %).")),
)  # fmt: skip
VERDICT = text("The plan is still right: it saves every {every} and wastes {waste}.", every="44 min 42 s", waste="0.54 %")
FILES = (
    FileEvidence("slurm", text("Slurm accounting (sacct)"), "sacct_parsable2.txt", "2026-11-20",
                 warnings=(text("No job repeats: was sacct called with -D? Without it, requeued tries are hidden."),)),
    FileEvidence("megatron", text("Megatron-LM log"), "megatron-lm.log", "2026-11-20",
                 measured=(Measured("stop", (4.972, 5.067, 5.262), Place("megatron-lm.log", "line 3")),)),
    FileEvidence("ior", text("IOR results"), "ior-4.1.json", "2026-10-02",
                 measured=(Measured("reads_at", (11.57e9,), Place("ior-4.1.json", "tests[0]")),)),
)  # fmt: skip
GATHERED = Gathered(
    FILES,
    (
        ("broken.json", "broken.json, line 3: this is no JSON (Expecting ',' delimiter)."),
        ("stops.csv", "stops.csv, line 1: no column is known as a time: say what the columns are."),
    ),
    ("notes.txt", "plot.png"),
    2,
    (text("Only the first {most} files were looked at; {count} more were left out.", most="20,000", count="12"),),
    ("stops.csv",),
)  # fmt: skip


def found(*questions: Question, paths: tuple[Path, ...] = (Path("run-42"), Path("ior-4.1.json")), **others: object) -> Found:
    """All that the page can be shown."""
    reading = Reading(tuple(one.estimate for one in EFFECTS), None, questions)
    coverage = Coverage(
        ("failures.mtbi_s", "storage.blocking_s", "storage.write_s", "failures.detect_s", "workload.layout"),
        ("failures.reschedule_s", "failures.start_s", "workload.nodes"), 10,
    )  # fmt: skip
    meaning = Meaning(EFFECTS, OBSERVED, VERDICT, coverage, (-2_050.0, -0.00091))
    values: dict[str, object] = {"paths": paths, "choices": Choices(), "gathered": GATHERED, "reading": reading,
                                 "meaning": meaning}  # fmt: skip
    return Found(**{**values, **others})  # type: ignore[arg-type]
