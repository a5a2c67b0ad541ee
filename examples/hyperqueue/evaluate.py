#!/usr/bin/env python3
"""One evaluation as a HyperQueue job: each task runs every N-th cell of the matrix into one shared folder, then `merge` makes the tables.

    hq server start &                                             # on a machine that all workers reach
    hq worker start --cpus 8 &                                    # on each machine, or `hq alloc add slurm ...`
    examples/hyperqueue/evaluate.py MATRIX OUT --shards 64 [options of `planforge evaluate`]

HyperQueue starts the tasks of a worker that was stopped or lost again, and `--resume` continues them: no call is paid for twice. After
failures start the script again: finished cells are only read. HQ and PLANFORGE name the programs where they are not on the PATH.
"""

import argparse
import os
import pathlib
import subprocess
import sys

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("matrix", type=os.path.abspath)
parser.add_argument("out", type=os.path.abspath)
parser.add_argument("--shards", type=int, required=True, help="tasks: several for each worker, so that all workers end at the same time")
parser.add_argument("--cpus", type=int, default=2, help="processors of a task, and calls that it makes at a time [default: 2]")
args, options = parser.parse_known_args()
if args.shards < 1 or args.cpus < 1:
    parser.error("--shards and --cpus are at least 1")

planforge = os.environ.get("PLANFORGE", "planforge")
logs = pathlib.Path(args.out, "shards")
logs.mkdir(parents=True, exist_ok=True)
log = lambda task: logs / f"{task}.log"

submit = [os.environ.get("HQ", "hq"), "submit", "--wait", "--name", "planforge", "--cpus", str(args.cpus), "--crash-limit", "unlimited"]
submit += ["--stdout", "none", "--stderr", str(log("%{TASK_ID}"))]
# `exec`: HyperQueue stops planforge itself, not only a shell around it.
shard = ["bash", "-c", f'exec "$@" --shard "$HQ_TASK_ID/{args.shards}"', "shard"]
shard += [planforge, "evaluate", "--matrix", args.matrix, "--out", args.out, "--resume", "--jobs", str(args.cpus), *options]

tasks, failed = range(1, args.shards + 1), 0
for attempt in range(5):
    failed = subprocess.run([*submit, "--array", ",".join(map(str, tasks)), "--", *shard]).returncode
    # A task of a lost worker may have held the lock of its cell for a moment when the task was started again elsewhere.
    tasks = [task for task in tasks if log(task).exists() and "record.locked" in log(task).read_text()]
    if not tasks:
        break
if failed:
    print(f"some tasks failed: their messages are in {logs}; start the script again to repeat them", file=sys.stderr)
sys.exit(subprocess.run([planforge, "evaluate", "merge", args.out]).returncode or failed)
