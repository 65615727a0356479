"""A script that keeps the newest complete generations where a framework cannot; for cron, sbatch or by hand.

It deletes nothing unless it is told to, and then only folders `iter_N` and `step-N` right inside the folder it is given that
are complete, older than all that are kept, no newer than what the tracker names, and no multiple of the steps that are to stay
for good.
"""

from __future__ import annotations

from ckptplanner.engine.settings.permanent import leave_for_s3, permanent_steps
from ckptplanner.engine.settings.target import Settings, SettingsFile, Target, Written
from ckptplanner.engine.settings.writing import aligned, comment, head, shell_word
from ckptplanner.text import text
from ckptplanner.units import SECONDS, brief

NAME = "trim_checkpoints.sh"
_DIVISORS = (1, 2, 3, 5, 6, 10, 15, 20, 30)  # of an hour, in minutes
CHECKED = "run with bash 5.2 on folders as Megatron-LM and TorchTitan leave them"

_BODY = r"""
usage="usage: $0 [--folder DIR] [--keep K] [--every R]... [--delete]"
given=
while [ $# -gt 0 ]; do
  case $1 in
    --folder) folder=${2-}; shift 2 || { echo "$usage" >&2; exit 2; } ;;
    --keep) keep=${2-}; shift 2 || { echo "$usage" >&2; exit 2; } ;;
    --every) given="$given ${2-}"; shift 2 || { echo "$usage" >&2; exit 2; } ;;
    --delete) delete=yes; shift ;;
    -h | --help) echo "$usage"; exit 0 ;;
    *) echo "$usage" >&2; exit 2 ;;
  esac
done

fail() { printf '%s\n' "$1" >&2; exit 2; }
number='^[0-9]{1,18}$'
[[ $keep =~ $number ]] && [ "$((10#$keep))" -ge 1 ] || fail "--keep takes a whole number of at least 1"
[ -z "$given" ] || every=${given:1}
[[ $every =~ ^[0-9]{1,18}(\ [0-9]{1,18})*$ ]] || fail "--every takes a whole number, 0 for none"
[[ $folder == /* ]] || fail "the folder must be an absolute path: $folder"
[ -d "$folder" ] || fail "no such folder: $folder"
keep=$((10#$keep))
cd -P -- "$folder"
[ "$PWD" != / ] || fail "refusing to work in /"

# complete: the file that a save writes last is there; with data that is newer by more than clocks differ, a run that was taken
# back to an older step is writing this one again
is_complete() {
  case $1 in
    iter_*)
      [ -f "$1/metadata.json" ] || return 1
      local written
      written=$(stat -c %Y -- "$1/metadata.json")
      [ -z "$(find "./$1" -name "*.distcp" -newermt "@$((written + 60))" -print -quit)" ]
      ;;
    step-*) [ -f "$1/.metadata" ] || [ -f "$1/model.safetensors.index.json" ] ;;
  esac
}

# for good: a multiple of any of these steps
is_permanent() {
  local one
  for one in $every; do
    one=$((10#$one))
    [ "$one" -gt 0 ] && [ $(($1 % one)) -eq 0 ] && return 0
  done
  return 1
}

# what a restart reads: Megatron's tracker names it
tracked=
if [ -f latest_checkpointed_iteration.txt ]; then
  read -r tracked < latest_checkpointed_iteration.txt || true
  tracked=${tracked%$'\r'}
  [[ $tracked =~ $number ]] && tracked=$((10#$tracked)) || tracked=
fi

trim() { # iter_ or step-
  local prefix=$1 name step at=0
  local -a complete=()
  for name in "$prefix"*; do
    [[ ${name#"$prefix"} =~ $number ]] || continue
    [ -d "$name" ] && [ ! -L "$name" ] || continue
    if is_complete "$name"; then
      complete+=("$((10#${name#"$prefix"})) $name")
    else
      echo "incomplete, left alone: $name"
    fi
  done
  [ ${#complete[@]} -gt 0 ] || return 0
  while read -r step name; do
    if [ "$prefix" = iter_ ] && [ -n "$tracked" ] && [ "$step" -gt "$tracked" ]; then
      echo "newer than what the tracker names, left alone: $name"  # of a branch that was given up, or not yet named
      continue
    fi
    at=$((at + 1))
    if [ "$at" -le "$keep" ]; then
      echo "kept: $name"
    elif is_permanent "$step"; then
      echo "kept for good: $name"
    elif [ "$delete" = yes ]; then
      # the file that makes it complete goes first: what is half deleted is never taken for a checkpoint
      rm -f -- "$name/metadata.json" "$name/.metadata" "$name/model.safetensors.index.json"
      rm -rf --one-file-system -- "$name"
      echo "deleted: $name"
    else
      echo "would delete: $name"
    fi
  done < <(printf '%s\n' "${complete[@]}" | sort -k1,1nr)
}

trim iter_
trim step-
[ "$delete" = yes ] || echo "nothing was deleted: add --delete"
"""


def _cron(interval_s: float) -> str:
    """When cron is to run it: at least twice for each save, so that the next one always finds its room."""
    minutes = max((every for every in _DIVISORS if every * 120.0 <= interval_s), default=1)
    return "* * * * *" if minutes == 1 else f"*/{minutes} * * * *"


def trimming_file(settings: Settings) -> SettingsFile:
    """The script with the plan's folder and number of generations in it."""
    steps, often = permanent_steps(settings), brief(settings.interval_s, SECONDS)
    every, stays = " ".join(map(str, steps)) or "0", "0: none stays for good"
    if steps:
        stays = "from the plan's permanent saves on shared storage: multiples of these steps stay for good"
    elif permanent_steps(settings, "s3"):
        stays = "0: the plan's permanent saves stay in S3, copied there before they are deleted here"
    notes = (
        "",
        f"Without --delete it only says what it would do. Run it at least once for each save, every {often} by the plan: until",
        "it has run there is one generation more than planned.",
        f"  cron   {_cron(settings.interval_s)} /path/to/{NAME} --delete",
        f"  Slurm  sbatch {NAME} --delete",
        "Never deleted: incomplete saves, the newest generations, what latest_checkpointed_iteration.txt names, all newer",
        "than it, links, and whatever is not called iter_N or step-N. After a run went back to an older step, what it gave up",
        "stays until it is written again or removed by hand. A job that is about to start from an older generation must have",
        "been started before that generation goes: stop this script first.",
    )
    rows = (
        (f"folder={shell_word(settings.names.shared_folder)}", "your folder on shared storage"),
        (f"keep={settings.keep}", "from the plan: complete generations to keep, beside the one being written"),
        (f"every={shell_word(every)}", stays),
        ("delete=no", "--delete turns it on"),
    )
    content = "".join(
        (
            "#!/usr/bin/env bash\n",
            "#SBATCH --job-name=trim-checkpoints\n#SBATCH --ntasks=1\n#SBATCH --time=00:30:00\n",
            comment(head(settings, "Keeps the newest complete generations of a checkpoint folder", CHECKED, notes)),
            "set -euo pipefail\n\n",
            aligned(rows),
            _BODY,
        )
    )
    return SettingsFile(NAME, "shell", content)


def write(settings: Settings) -> Written:
    """The script alone."""
    return Written((trimming_file(settings),), tuple(leave_for_s3(settings, NAME, settings.keep)))


TARGETS: tuple[Target, ...] = (
    Target("trim", text("Script that trims generations"), "bash 4 and newer", CHECKED, "scheduler", write),
)  # fmt: skip
