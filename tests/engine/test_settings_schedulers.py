"""Slurm and JobSet: nodes, restarts and the signal before the end; the script is run with stand-ins for Slurm's commands."""

from __future__ import annotations

import math
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
import yaml

from ckptplanner.engine.settings.read_back import read
from ckptplanner.engine.settings.registry import target
from ckptplanner.engine.settings.stops import MOST_RESTARTS, final_save_s, notice_s, restarts_to_allow
from ckptplanner.engine.settings.target import Names, Written
from tests.engine.settings_plans import EVIL, EVIL_NAMES, content, sentences, settings

SYNC: dict[str, Any] = {"storage.mode": "sync", "storage.write_s": 60.0}
DAILY: dict[str, Any] = {"planned.every_s": 86_400.0}


def slurm(*groups: dict[str, Any], **more: Any) -> Written:
    return target("slurm").write(settings(*groups, **more))


def options(done: Written) -> dict[str, Any]:
    return dict(read(done.files[0]).values)


# ---------------------------------------------------------------- the last save


def test_a_last_save_is_a_step_a_stop_and_a_write() -> None:
    made = settings()
    assert final_save_s(made) == 10.0 + 5.0 + 300.0
    assert notice_s(made) == 378, "a fifth above it"
    assert final_save_s(settings(SYNC)) == 10.0 + 60.0
    assert notice_s(settings({"planned.notice_s": 900.0})) == 378, "a longer notice is no reason to stop earlier"
    slow = settings(storage={"custom": {"write_bytes_per_s": 1e9, "read_bytes_per_s": 1e9, "usable_bytes": 1e15}})
    assert final_save_s(slow) == pytest.approx(10.0 + 5.0 + 1742.3), "the storage needs longer than is given"


def test_the_limit_of_restarts_stands_above_what_chance_reaches() -> None:
    made = settings()
    assert restarts_to_allow(made, 0.0) == 3
    assert restarts_to_allow(made, 100 * 720_000.0) == 143
    assert restarts_to_allow(settings(failures={"mtbi_s": 1e-3}), 1e9) == MOST_RESTARTS


# ---------------------------------------------------------------- Slurm


def test_slurm_options_of_the_plan() -> None:
    found = options(slurm(DAILY))
    expected = {
        "sbatch_job_name": "pretrain", "sbatch_nodes": 32, "sbatch_gpus_per_node": 8, "sbatch_requeue": None,
        "sbatch_open_mode": "append", "sbatch_time": "1-00:00:00", "sbatch_signal": "B:USR1@378",
        "sbatch_output": "/fsx/logs/%x-%j.out", "restarts": 74 + 367, "attempts": 1,
    }  # fmt: skip
    assert {name: found[name] for name in expected} == expected
    assert "sbatch_no_kill" not in found
    assert "sbatch_time" not in options(slurm())
    spare = options(slurm({"spares.nodes": 2}))
    assert (spare["sbatch_nodes"], spare["attempts"]) == (34, 3)
    assert "sbatch_no_kill" in spare


def test_a_long_notice_does_not_end_training_early() -> None:
    long = slurm(DAILY, {"planned.notice_s": 40_000.0})
    assert options(long) == options(slurm(DAILY))
    assert "a last save takes 5 min 15 s, and a fifth more" in content(long, "slurm_job.sbatch").replace("\u00a0", " ")
    assert sentences(long) == ""
    grace = jobset(DAILY, {"planned.notice_s": 40_000.0})["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]
    assert grace["terminationGracePeriodSeconds"] == 378


def test_restarts_are_counted_by_what_really_happens() -> None:
    """A run of a job lasts from its start to the signal, not to the time limit."""
    found = options(slurm({"planned.every_s": 600.0, "run.days": 10.0}))
    assert found["sbatch_signal"] == "B:USR1@378"
    text = content(slurm({"planned.every_s": 600.0, "run.days": 10.0}), "slurm_job.sbatch")
    assert f"{math.ceil(10 * 86_400 / (600 - 378)):,} planned stops" in text


def test_a_notice_that_is_shorter_than_a_last_save_is_said() -> None:
    for id in ("slurm", "jobset"):
        said = sentences(target(id).write(settings(DAILY, {"planned.notice_s": 320.0})))
        assert "planned.notice_s The plan counts on 5 min 20 s of notice, too short" in said, id
        assert "planned.notice_s" not in sentences(target(id).write(settings(DAILY, {"planned.notice_s": 378.0}))), id


def test_slurm_says_how_to_read_it_back() -> None:
    text = content(slurm(), "slurm_job.sbatch")
    assert "sacct -D -P -a -S" in text
    assert "JobIDRaw,JobName,State,ExitCode,Submit,Eligible,Start,End,ElapsedRaw,NNodes,NodeList,Restarts,FailedNode" in text


def test_a_notice_that_slurm_cannot_give_is_said() -> None:
    far = slurm({"storage.write_s": 70_000.0})
    assert "sbatch_signal" not in options(far)
    words = "warning storage.write_s A last save needs a signal 23.3 h before the end, and Slurm can give 18.2 h"
    assert words in sentences(far)
    short = slurm({"planned.every_s": 330.0})
    assert options(short)["sbatch_time"] == "0-00:05:00", "in whole minutes, as Slurm counts"
    assert "sbatch_signal" not in options(short)
    assert "warning planned.every_s" in sentences(short)
    early = slurm(DAILY, {"planned.notice_s": 60.0})
    assert options(early)["sbatch_signal"] == "B:USR1@378"
    assert "The plan counts on 60 s of notice" in sentences(early).replace("1 min of", "60 s of")
    assert sentences(slurm()) == ""


# a launcher that kills what it started once it is told; what it started takes a while to save then, and has a data loader
LAUNCHER = """
trap 'echo "the launcher was told" >> calls; kill -KILL $child; exit 1' TERM
LOCAL_RANK=0 bash -c '
  bash -c "trap \\"echo the data loader was told >> calls\\" TERM; while [ ! -e saved ]; do sleep 0.05; done" &
  trap "sleep 0.5; echo saved >> calls; touch saved; exit 0" TERM
  echo ready > ready
  while :; do sleep 0.05; done' &
child=$!
wait $child
"""
STAND_INS = {
    "srun": 'case $* in\n--overlap*) echo "srun --overlap ${*:2:3}" >> calls; exec "${@:5}" ;; esac\necho "srun $*" >> calls\n'
    'echo $$ > srun.pid\n[ -z "${LAUNCHER-}" ] || exec bash -c "$LAUNCHER"\n'
    'trap "kill %1; echo saved >> calls; exit 0" TERM; sleep "${TRAIN:-0}" & touch ready; wait $!\n'
    'exit "${CODE:-0}"',
    "squeue": 'echo "squeue $*" >> calls; echo "node[1-32]"',
    "scancel": 'echo "scancel $*" >> calls; kill -TERM "$(cat srun.pid)"',
    "scontrol": 'echo "scontrol $*" >> calls',
}


@pytest.fixture
def cluster(tmp_path: Path) -> Path:
    """A folder with stand-ins for Slurm's commands, which write down how they are called."""
    if shutil.which("bash") is None:
        pytest.skip("the job is a script for bash, which is not here")
    for name, body in STAND_INS.items():
        path = tmp_path / name
        path.write_text(f"#!/bin/bash\n{body}\n")
        path.chmod(0o755)
    return tmp_path


def started(folder: Path, done: Written, **environment: str) -> subprocess.Popen[str]:
    (folder / "job.sbatch").write_text(content(done, "slurm_job.sbatch"), encoding="utf-8")
    known = {"PATH": f"{folder}:/usr/bin:/bin", "SLURM_JOB_ID": "77", "LC_ALL": "C.UTF-8", **environment}
    return subprocess.Popen(["bash", "job.sbatch", "torchrun", "train it.py"], cwd=folder, env=known, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)  # fmt: skip


def calls(folder: Path, one: subprocess.Popen[str]) -> list[str]:
    _, trouble = one.communicate(timeout=60)
    assert "error" not in trouble.lower(), trouble
    return (folder / "calls").read_text().splitlines()


TRAIN = "srun --nodes=32 --ntasks=32 --kill-on-bad-exit=1 torchrun train it.py"


def test_a_run_that_ends_is_not_started_again(cluster: Path) -> None:
    one = started(cluster, slurm())
    assert calls(cluster, one) == [TRAIN]
    assert one.returncode == 0


def test_a_run_that_fails_goes_back_into_the_queue(cluster: Path) -> None:
    one = started(cluster, slurm(), CODE="9")
    assert calls(cluster, one) == [TRAIN, "scontrol requeue 77"]
    assert one.returncode == 1


def test_spare_nodes_are_used_up_first(cluster: Path) -> None:
    assert calls(cluster, started(cluster, slurm({"spares.nodes": 2}), CODE="9")) == [TRAIN] * 3 + ["scontrol requeue 77"]


def test_there_is_an_end_to_restarts(cluster: Path) -> None:
    assert calls(cluster, started(cluster, slurm(), CODE="9", SLURM_RESTART_COUNT="74")) == [TRAIN]


def told(folder: Path, one: subprocess.Popen[str]) -> list[str]:
    """What is called after the signal, once training has begun."""
    for _ in range(500):
        if (folder / "ready").exists():
            break
        time.sleep(0.02)
    time.sleep(0.2)
    one.send_signal(signal.SIGUSR1)
    return calls(folder, one)


ASKED = ["squeue --noheader --steps={job}.0 --format=%N", "srun --overlap --nodes=32 --ntasks=32 --nodelist=node[1-32]"]


def test_the_signal_saves_and_then_requeues(cluster: Path) -> None:
    """Training that no launcher started is told by Slurm itself."""
    one = started(cluster, slurm(DAILY, {"spares.nodes": 2}), TRAIN="60")
    asked = [line.format(job=77) for line in ASKED]
    assert told(cluster, one) == [TRAIN, *asked, "scancel --signal=TERM 77", "saved", "scontrol requeue 77"]


def test_the_signal_reaches_training_and_not_its_launcher(cluster: Path) -> None:
    """torchrun kills what it started 30 s after it was told; here at once."""
    job = str(10**9 + os.getpid())
    one = started(cluster, slurm(DAILY), LAUNCHER=LAUNCHER, SLURM_JOB_ID=job)
    asked = [line.format(job=job) for line in ASKED]
    assert told(cluster, one) == [TRAIN, *asked, "saved", f"scontrol requeue {job}"]
    assert one.returncode == 0


def test_the_pod_is_stopped_once_training_has_saved(cluster: Path) -> None:
    """Before Kubernetes tells the launcher."""
    pod = jobset(DAILY)["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]
    words = pod["containers"][0]["lifecycle"]["preStop"]["exec"]["command"]
    assert words[:2] == ["bash", "-c"]
    own = f"RANK_OF_{os.getpid()}"  # here other processes of the machine are to be left alone
    launcher = subprocess.Popen(["bash", "-c", LAUNCHER.replace("LOCAL_RANK", own)], cwd=cluster)
    while not (cluster / "ready").exists():
        time.sleep(0.02)
    time.sleep(0.2)
    subprocess.run(["bash", "-c", words[2].replace("LOCAL_RANK", own)], cwd=cluster, check=False, timeout=30)
    assert (cluster / "calls").read_text() == "saved\n"
    assert launcher.wait(timeout=10) == 0


def test_pods_wait_only_for_a_last_save_that_is_made() -> None:
    """JobSet stops the pods that are left after an interruption in the same way, and they cannot save any more."""
    for groups, has_hook in (((DAILY,), True), ((), False), ((DAILY, {"workload.framework": "TorchTitan"}), False)):
        pod = jobset(*groups)["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]
        assert ("lifecycle" in pod["containers"][0]) == has_hook
        said = sentences(target("jobset").write(settings(*groups)))
        assert ("for up to 6 min 18 s before the restart" in said) == has_hook


def test_a_framework_that_saves_nothing_at_the_signal_is_said() -> None:
    for id in ("slurm", "jobset"):
        titan = {"workload.framework": "TorchTitan"}
        said = sentences(target(id).write(settings(DAILY, titan)))
        assert "warning workload.framework TorchTitan makes no last save at the signal: each planned stop loses half" in said, (
            id
        )
        assert "workload.framework" not in sentences(target(id).write(settings(titan))), "nothing is planned"
        for name in ("Megatron-LM", "Megatron Bridge", "Hugging Face Trainer"):
            assert "workload.framework" not in sentences(target(id).write(settings(DAILY, {"workload.framework": name}))), name


def test_slurm_holds_evil_names_in_their_line() -> None:
    done = slurm(DAILY, name=EVIL, names=EVIL_NAMES)
    plain = content(slurm(DAILY), "slurm_job.sbatch").splitlines()
    lines = content(done, "slurm_job.sbatch").splitlines()
    assert len(lines) == len(plain)
    changed = [line for line, other in zip(lines, plain, strict=True) if line != other]
    assert all(line.startswith("#") for line in changed), changed
    one_line = EVIL.replace("\n", " ").replace("\r", " ").replace("\t", " ").replace("\u2028", " ").replace("\x00", " ")
    assert options(done)["sbatch_job_name"] == one_line
    assert options(done)["sbatch_output"] == f"/log/{one_line}/%x-%j.out"


# ---------------------------------------------------------------- JobSet


def jobset(*groups: dict[str, Any], **more: Any) -> dict[str, Any]:
    found = yaml.safe_load(content(target("jobset").write(settings(*groups, **more)), "jobset.yaml"))
    assert isinstance(found, dict)
    return found


def test_jobset_of_the_plan() -> None:
    found = jobset(DAILY)
    assert (found["apiVersion"], found["kind"]) == ("jobset.x-k8s.io/v1alpha2", "JobSet")
    assert found["spec"]["failurePolicy"]["maxRestarts"] == 74, "planned stops do not count"
    job = found["spec"]["replicatedJobs"][0]["template"]["spec"]
    assert (job["parallelism"], job["completions"], job["backoffLimit"]) == (32, 32, 0)
    assert job["podFailurePolicy"]["rules"][0]["onPodConditions"] == [{"type": "DisruptionTarget", "status": "True"}]
    pod = job["template"]["spec"]
    assert (pod["restartPolicy"], pod["terminationGracePeriodSeconds"]) == ("Never", 378)
    assert pod["containers"][0]["resources"]["limits"] == {"nvidia.com/gpu": "8"}
    assert [one["name"] for one in pod["volumes"]] == ["checkpoints"]


def test_jobset_with_local_saves_keeps_them_on_the_node() -> None:
    pod = jobset({"local.enabled": True})["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]
    assert pod["volumes"][1]["hostPath"] == {"path": "/local/checkpoints", "type": "DirectoryOrCreate"}


def test_what_jobset_cannot_do_is_said() -> None:
    said = sentences(target("jobset").write(settings(DAILY, {"spares.nodes": 2})))
    assert "info spares.nodes JobSet keeps no spare nodes: keep 2 more" in said
    assert "info planned.every_s JobSet makes no planned stops" in said
    assert sentences(target("jobset").write(settings())) == ""


@pytest.mark.parametrize(
    ("given", "name"),
    [("pretrain", "pretrain"), ("My Job_1", "my-job-1"), ("7b", "job-7b"), ("日本", "job"), ("", "job"), ("x" * 90, "x" * 40)],
)
def test_names_that_kubernetes_takes(given: str, name: str) -> None:
    done = target("jobset").write(settings(names=Names(job=given)))
    assert yaml.safe_load(content(done, "jobset.yaml"))["metadata"]["name"] == name
    assert ("Kubernetes takes no job called" in sentences(done)) == (given != name)


def test_jobset_holds_evil_names_as_strings() -> None:
    found = jobset({"local.enabled": True}, name=EVIL, names=EVIL_NAMES)
    pod = found["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]
    assert pod["containers"][0]["volumeMounts"] == [
        {"name": "checkpoints", "mountPath": EVIL}, {"name": "local", "mountPath": EVIL_NAMES.local_folder},
    ]  # fmt: skip
