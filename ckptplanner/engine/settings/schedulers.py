"""A plan as what the scheduler must know: nodes, restarts, the signal before the end. Slurm and Kubernetes JobSet."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ckptplanner.engine.plan import Finding, finding
from ckptplanner.engine.settings.doing import told
from ckptplanner.engine.settings.stops import (
    MOST_RESTARTS,
    final_save_s,
    has_short_notice,
    notice_s,
    planned_stops,
    restarts_expected,
    restarts_to_allow,
    run_s,
    shown,
)
from ckptplanner.engine.settings.target import Settings, SettingsFile, Target, Written
from ckptplanner.engine.settings.writing import aligned, comment, double_quoted, head, one_line
from ckptplanner.text import text
from ckptplanner.units import grouped

SLURM = "Slurm 22.05 and newer"
SLURM_CHECKED = "options read by sbatch 22.05.8; the script run by bash with a stand-in for srun"
MOST_SIGNAL_S = 65_535  # sbatch --signal
JOBSET = "JobSet v1alpha2"
JOBSET_CHECKED = "Job and Pod read without loss by the Kubernetes Python client 37.0.2; JobSet's own fields by its documents"
SAVE_AT_SIGNAL = frozenset({"Megatron-LM", "Megatron Bridge", "Hugging Face Trainer"})  # with the settings written for them
MOST_NAME = 40  # a pod is named after JobSet, job and two numbers, in 63 characters


# ---------------------------------------------------------------- Slurm


def write_slurm(settings: Settings) -> Written:
    """An sbatch script that is given the training command."""
    findings = tuple(_slurm_said(settings))
    return Written((SettingsFile("slurm_job.sbatch", "shell", _slurm(told(settings, findings))),), findings)


def _limit_s(settings: Settings) -> int | None:
    """The time limit in whole minutes, as Slurm counts. [s]"""
    every_s = settings.plan.scenario.planned.every_s
    return None if every_s is None else max(int(every_s // 60) * 60, 60)


def _signal_s(settings: Settings) -> int | None:
    """How long before the end Slurm is to send its signal; None where it cannot. [s]"""
    asked, limit = notice_s(settings), _limit_s(settings)
    return None if asked > MOST_SIGNAL_S or (limit is not None and asked >= limit) else asked


def _slurm_said(settings: Settings) -> Iterator[Finding]:
    asked, planned = notice_s(settings), settings.plan.scenario.planned
    if _signal_s(settings) is None:
        yield finding(
            "warning", "planned.every_s" if asked <= MOST_SIGNAL_S else "storage.write_s",
            "A last save needs a signal {asked} before the end, and Slurm can give {most}: none is asked for. Plan a "
            "shorter write time, or a longer time limit.",
            asked=shown(asked), most=shown(min(MOST_SIGNAL_S, _limit_s(settings) or MOST_SIGNAL_S)),
        )  # fmt: skip
    elif has_short_notice(settings):
        yield finding(
            "info", "planned.notice_s",
            "The plan counts on {notice} of notice, too short for a last save with its margin; the script asks for {asked}.",
            notice=shown(planned.notice_s or 0.0), asked=shown(asked),
        )  # fmt: skip
    yield from _no_last_save(settings)


def _no_last_save(settings: Settings) -> Iterator[Finding]:
    """Where the framework ends at the signal without a save; said by both."""
    framework, planned = settings.plan.scenario.workload.framework, settings.plan.scenario.planned
    if planned.every_s is not None and framework.id not in SAVE_AT_SIGNAL:
        yield finding(
            "warning", "workload.framework",
            "{name} makes no last save at the signal: each planned stop loses half an interval, {half} on average. The "
            "nearest: lines of your own that save and end at SIGTERM.",
            name=framework.name, half=shown(settings.interval_s / 2.0),
        )  # fmt: skip


def _stops_s(settings: Settings) -> int | None:
    """From one planned stop to the next: training ends at the signal. [s]"""
    limit = _limit_s(settings)
    return None if limit is None else limit - (_signal_s(settings) or 0)


def _signal_remark(settings: Settings) -> str:
    return f"from the plan: a last save takes {shown(final_save_s(settings))}, and a fifth more"


def _slurm(settings: Settings) -> str:
    scenario = settings.plan.scenario
    spares, nodes = scenario.spares.nodes, scenario.workload.nodes
    stops = planned_stops(settings, _stops_s(settings))
    restarts = min(restarts_to_allow(settings, run_s(settings)) + stops, MOST_RESTARTS)
    log = f"{settings.names.log_folder.rstrip('/')}/%x-%j.out"
    rows = [
        (f"#SBATCH --job-name={_quoted(settings.names.job)}", ""),
        (f"#SBATCH --nodes={nodes + spares}", f"from the plan: {grouped(nodes)} that train"
         + (f" and {grouped(spares)} spare" if spares else "")),
        ("#SBATCH --ntasks-per-node=1", "one launcher (torchrun, ft_launcher) a node"),
        (f"#SBATCH --gpus-per-node={scenario.workload.gpus_per_node}", "from the plan: GPUs of a node"),
        ("#SBATCH --exclusive", ""),
        ("#SBATCH --requeue", "a lost node puts the job back into the queue"),
        ("#SBATCH --open-mode=append", "or a restart overwrites the log"),
        (f"#SBATCH --output={_quoted(log)}", ""),
    ]  # fmt: skip
    if (limit := _limit_s(settings)) is not None:
        rows.append((f"#SBATCH --time={_clock(limit)}", f"from the plan: a planned stop every {shown(limit)}"))
    if (signal := _signal_s(settings)) is not None:
        rows.append((f"#SBATCH --signal=B:USR1@{signal}", _signal_remark(settings)))
    if spares:
        rows.append(("#SBATCH --no-kill", "a lost node does not end the job while there are spare ones"))
    expected = grouped(restarts_expected(settings, run_s(settings)), 1)
    values = aligned([
        (f"nodes={nodes}", "from the plan: nodes that train"),
        (f"attempts={spares + 1}", "from the plan: once, and again for each spare node"),
        (f"restarts={restarts}", f"from the plan: {expected} interruptions expected in {shown(run_s(settings))}"
         + (f", {grouped(stops)} planned stops" if stops else "")),
    ])  # fmt: skip
    top = comment(head(settings, "Job for Slurm 22.05 and newer", SLURM_CHECKED, _SLURM_NOTES))
    return f"#!/bin/bash\n{top}{aligned(rows)}\n{values}{_SLURM_BODY}"


_SLURM_NOTES = (
    "Submit it with the training command: sbatch slurm_job.sbatch torchrun ... train.py ...",
    "What happened is read back from all runs of the job, those before a requeue too (leave out the last two in 22.05):",
    "  SLURM_TIME_FORMAT=%s sacct -D -P -a -S 2026-01-01 -o JobIDRaw,JobName,State,ExitCode,Submit,Eligible,Start,End,"
    "ElapsedRaw,NNodes,NodeList,Restarts,FailedNode > sacct.txt",
)

_RANK = "grep -qsz ^LOCAL_RANK= /proc/$1/environ"
_OF_THE_JOB = " && grep -qszx SLURM_JOB_ID=$SLURM_JOB_ID /proc/$1/environ"


def _tell(is_training: str) -> tuple[str, ...]:
    """Commands that send SIGTERM to the training processes alone, on lines of their own or with `;` between them.

    What a launcher started has LOCAL_RANK. What those started has it too and is left out: data loaders would die of it.
    """
    return (
        f"is_training() {{ {is_training}; }}",
        "for one in /proc/[0-9]*; do one=${one##*/}",
        "is_training $one || continue",
        "parent=$(grep -s ^PPid: /proc/$one/status) && parent=${parent##*[!0-9]}",
        "is_training $parent || { kill -TERM $one && echo told $one; }",
        "done",
    )


_SLURM_BODY = """
stopping=no step=-1
# training processes save and end at SIGTERM; torchrun is not told: it would kill them 30 s later, in the middle of a long save
tell='
TELL'
last_save() {
  stopping=yes
  local where told
  where=$(squeue --noheader --steps="$SLURM_JOB_ID.$step" --format=%N)
  told=$(srun --overlap --nodes="$nodes" --ntasks="$nodes" ${where:+--nodelist="$where"} bash -c "$tell")
  [ -n "$told" ] || scancel --signal=TERM "$SLURM_JOB_ID"  # none has LOCAL_RANK, so there is no such launcher: to all
}
trap last_save USR1

train() {
  step=$((step + 1))
  srun --nodes="$nodes" --ntasks="$nodes" --kill-on-bad-exit=1 "$@" &
  local child=$! status
  while :; do  # a signal ends wait, not the child
    wait "$child"
    status=$?
    kill -0 "$child" 2>/dev/null || return "$status"
  done
}

status=1
while [ "$attempts" -gt 0 ] && [ "$stopping" = no ]; do
  attempts=$((attempts - 1))
  train "$@" && status=0 && break
  status=1
done

if [ "$stopping" = yes ] || [ "$status" -ne 0 ]; then
  if [ "${SLURM_RESTART_COUNT:-0}" -lt "$restarts" ]; then
    scontrol requeue "$SLURM_JOB_ID"
  fi
fi
exit "$status"
""".replace("TELL", "\n".join(_tell(_RANK + _OF_THE_JOB)) + "\n")

# before Kubernetes sends SIGTERM to the launcher: tell the training processes, and wait for them as long as the pod is given
_PRE_STOP = "; ".join((*_tell(_RANK), "while grep -qsz ^LOCAL_RANK= /proc/[0-9]*/environ; do sleep 1; done"))


def _quoted(word: str) -> str:
    """A value of an #SBATCH line: in double quotes, in which sbatch reads a backslash as an escape."""
    return '"' + one_line(word).replace("\\", "\\\\").replace('"', '\\"') + '"'


def _clock(seconds: int) -> str:
    """D-HH:MM:SS."""
    days, rest = divmod(seconds, 86_400)
    return f"{days}-{rest // 3600:02d}:{rest % 3600 // 60:02d}:00"


# ---------------------------------------------------------------- JobSet


def write_jobset(settings: Settings) -> Written:
    """A JobSet with the restart policy of the plan; image and command are the user's."""
    findings = tuple(_jobset_said(settings))
    return Written((SettingsFile("jobset.yaml", "yaml", _jobset(told(settings, findings))),), findings)


def _jobset_said(settings: Settings) -> Iterator[Finding]:
    scenario, name = settings.plan.scenario, _dns_name(settings.names.job)
    if scenario.spares.nodes:
        yield finding(
            "info", "spares.nodes",
            "JobSet keeps no spare nodes: keep {count} more in the node pool, with pods of low priority on them.",
            count=grouped(scenario.spares.nodes),
        )  # fmt: skip
    if scenario.planned.every_s is not None:
        yield finding(
            "info", "planned.every_s",
            "JobSet makes no planned stops: whoever drains a node does. They do not count as restarts, and pods get {grace} "
            "for a last save.", grace=shown(notice_s(settings)),
        )  # fmt: skip
    if _has_hook(settings):
        yield finding(
            "info", "failures.restart_base_s",
            "Pods are not told why they stop: after an interruption too, those that are left wait for a last save, for "
            "up to {grace} before the restart. Take preStop out where stops are rarer than interruptions.",
            grace=shown(notice_s(settings)),
        )  # fmt: skip
    yield from _no_last_save(settings)
    planned = scenario.planned
    if planned.every_s is not None and has_short_notice(settings):
        yield finding(
            "warning", "planned.notice_s",
            "The plan counts on {notice} of notice, too short for a last save with its margin: where a drain gives no more, "
            "it is lost. {asked} are enough.",
            notice=shown(planned.notice_s or 0.0), asked=shown(notice_s(settings)),
        )  # fmt: skip
    if name != settings.names.job:
        yield finding(
            "info", "workload.nodes",
            "Kubernetes takes no job called {job}: it is called {name}.", job=settings.names.job, name=name,
        )  # fmt: skip


def _has_hook(settings: Settings) -> bool:
    """Whether there is a last save to wait for; else a restart after an interruption would wait for nothing."""
    scenario = settings.plan.scenario
    return scenario.planned.every_s is not None and scenario.workload.framework.id in SAVE_AT_SIGNAL


def _hook() -> tuple[tuple[str, str], ...]:
    """What the kubelet runs in the container before it sends SIGTERM to the launcher."""
    return (
        ("              lifecycle:", "so training processes are told first, and waited for; needs bash and GNU grep"),
        ("                preStop:", ""),
        ("                  exec:", ""),
        ("                    command:", ""),
        ("                    - bash", ""),
        ("                    - -c", ""),
        (f"                    - {double_quoted(_PRE_STOP)}", ""),
    )


def _jobset(settings: Settings) -> str:
    scenario = settings.plan.scenario
    nodes, restarts = scenario.workload.nodes, restarts_to_allow(settings, run_s(settings))
    expected = grouped(restarts_expected(settings, run_s(settings)), 1)
    local = settings.has_local or settings.factor > 1
    rows = [
        ("apiVersion: jobset.x-k8s.io/v1alpha2", ""),
        ("kind: JobSet", ""),
        ("metadata:", ""),
        (f"  name: {_dns_name(settings.names.job)}", ""),
        ("spec:", ""),
        ("  failurePolicy:", ""),
        (f"    maxRestarts: {restarts}", f"from the plan: {expected} interruptions expected in {shown(run_s(settings))}"),
        ("    rules:", ""),
        ("    - action: RestartJobSetAndIgnoreMaxRestarts", "planned stops and taken nodes do not count"),
        ("      onJobFailureReasons: [PodFailurePolicy]", ""),
        ("  replicatedJobs:", ""),
        ("  - name: node", ""),
        ("    replicas: 1", ""),
        ("    template:", ""),
        ("      spec:", ""),
        (f"        parallelism: {nodes}", "from the plan: nodes"),
        (f"        completions: {nodes}", ""),
        ("        backoffLimit: 0", "one lost pod ends the job, and all restart from the newest checkpoint"),
        ("        completionMode: Indexed", ""),
        ("        podFailurePolicy:", ""),
        ("          rules:", ""),
        ("          - action: FailJob", ""),
        ("            onPodConditions:", ""),
        ("            - type: DisruptionTarget", ""),
        ('              status: "True"', ""),
        ("        template:", ""),
        ("          spec:", ""),
        ("            restartPolicy: Never", "a single process cannot join again: JobSet restarts all of them"),
        (f"            terminationGracePeriodSeconds: {notice_s(settings)}",
         _signal_remark(settings)),
        ("            containers:", ""),
        ("            - name: train", ""),
        ('              image: "training:latest"', "yours"),
        ('              command: ["torchrun", "train.py"]', "yours; torchrun would kill a save 30 s after SIGTERM"),
        *(_hook() if _has_hook(settings) else ()),
        ("              resources:", ""),
        ("                limits:", ""),
        (f'                  nvidia.com/gpu: "{scenario.workload.gpus_per_node}"', "from the plan: GPUs of a node"),
        ("              volumeMounts:", ""),
        ("              - name: checkpoints", ""),
        (f"                mountPath: {double_quoted(settings.names.shared_folder)}", ""),
    ]  # fmt: skip
    if local:
        rows += [
            ("              - name: local", ""),
            (f"                mountPath: {double_quoted(settings.names.local_folder)}", ""),
        ]
    rows += [
        ("            volumes:", ""),
        ("            - name: checkpoints", ""),
        ("              persistentVolumeClaim:", ""),
        ("                claimName: checkpoints", "yours"),
    ]
    if local:
        rows += [
            ("            - name: local", ""),
            ("              hostPath:", "outlives the pod; an emptyDir does not"),
            (f"                path: {double_quoted(settings.names.local_folder)}", ""),
            ("                type: DirectoryOrCreate", ""),
        ]
    top = comment(head(settings, "JobSet v1alpha2 (Kubernetes 1.31 and newer)", JOBSET_CHECKED))
    return top + aligned(rows)


def _dns_name(word: str) -> str:
    """A name that Kubernetes takes: small letters, digits and dashes, beginning with a letter."""
    plain = re.sub(r"[^a-z0-9]+", "-", word.lower()).strip("-")[:MOST_NAME].strip("-")
    return plain if plain[:1].isalpha() else f"job-{plain}".strip("-")


TARGETS: tuple[Target, ...] = (
    Target("slurm", text("Slurm"), SLURM, SLURM_CHECKED, "scheduler", write_slurm),
    Target("jobset", text("Kubernetes JobSet"), JOBSET, JOBSET_CHECKED, "scheduler", write_jobset),
)
