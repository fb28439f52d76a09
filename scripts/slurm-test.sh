#!/bin/bash
# Proves the findings of a program as an array job of a real Slurm, with one shard killed in the middle and tried again, and checks that the
# merged result is that of one machine. Installs Debian's slurm-wlm if it is missing (as root), starts munged, slurmctld and slurmd on
# loopback with files of their own, and ends what it started, by process id.
#
# usage: scripts/slurm-test.sh [RAVEL]        RAVEL: the binary [default: target/debug/ravel]

set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
ravel=$(realpath "${1:-$root/target/debug/ravel}")
[ "$(id -u)" = 0 ] || { echo "slurm-test: Slurm's daemons need root; run this as root" >&2; exit 2; }
if ! command -v slurmctld >/dev/null || ! command -v munged >/dev/null; then
    apt-get update -qq >&2
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends slurm-wlm munge procps python3 >&2
fi
work=$(mktemp -d "${TMPDIR:-/tmp}/ravel-slurm.XXXXXX")
chmod 755 "$work"
started=()

# Ends what was started, each by its id, the newest first.
end_all() {
    local at pid
    for ((at = ${#started[@]} - 1; at >= 0; at--)); do
        pid=${started[$at]}
        kill "$pid" 2>/dev/null || continue
        for _ in $(seq 50); do kill -0 "$pid" 2>/dev/null || break; sleep 0.1; done
        kill -9 "$pid" 2>/dev/null || true
    done
    [ -n "${KEEP:-}" ] || rm -rf "$work"
}
trap end_all EXIT

# Waits until a command succeeds.
await() {
    local what=$1 limit=$2; shift 2
    for _ in $(seq "$((limit * 5))"); do
        "$@" >/dev/null 2>&1 && return
        sleep 0.2
    done
    echo "slurm-test: $what: not within $limit s" >&2
    tail -n 20 "$work"/*.log >&2
    exit 1
}

# Munge, with a key and a socket of its own.
mkdir -p "$work/munge" "$work/state" "$work/spool" "$work/job"
chmod 711 "$work/munge"
dd if=/dev/urandom of="$work/munge/key" bs=1024 count=1 status=none
chown -R munge: "$work/munge"
chmod 600 "$work/munge/key"
runuser -u munge -- munged --foreground --force --key-file="$work/munge/key" --socket="$work/munge/socket" \
    --pid-file="$work/munge/pid" --log-file="$work/munge/log" --seed-file="$work/munge/seed" >"$work/munged.log" 2>&1 &
started+=($!)
await "munged" 20 test -S "$work/munge/socket"

host=$(hostname -s)
cores=$(nproc)
cat >"$work/slurm.conf" <<CONF
ClusterName=ravel
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$work/munge/socket
CredType=cred/munge
SlurmctldPort=${SLURMCTLD_PORT:-16817}
SlurmdPort=${SLURMD_PORT:-16818}
StateSaveLocation=$work/state
SlurmdSpoolDir=$work/spool
SlurmctldPidFile=$work/slurmctld.pid
SlurmdPidFile=$work/slurmd.pid
SlurmctldLogFile=$work/slurmctld.log
SlurmdLogFile=$work/slurmd.log
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SchedulerType=sched/backfill
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
MpiDefault=none
ReturnToService=2
NodeName=$host NodeAddr=127.0.0.1 CPUs=$cores State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
CONF
export SLURM_CONF=$work/slurm.conf
slurmctld -D >"$work/slurmctld.out" 2>&1 &
started+=($!)
slurmd -D -N "$host" >"$work/slurmd.out" 2>&1 &
started+=($!)
await "an idle node" 60 sh -c "sinfo -h -o %T | grep -q idle"
echo "slurm: $(sinfo --version), node $host, $cores cores"

# The program: several findings.
cd "$work/job"
subject=${SUBJECT:-MergeSort}
source=$(find "$root/subjects/bugs" -name "$subject.java" | head -n 1)
"$("$root/scripts/find-jdk.sh")/bin/javac" -g -d classes "$source"
export PATH=$("$root/scripts/find-jdk.sh")/bin:$PATH
package=$(sed -n 's/^package \(.*\);/\1./p' "$source" | head -n 1)
"$ravel" -q record -o t.ravel -- java -cp classes "$package$subject" >/dev/null || true
"$ravel" -q plan t.ravel -o goals

# One machine.
"$ravel" -q prove goals -o one.json
"$ravel" merge one.json --format json >one-merged.json || [ $? = 1 ]

# The array: three shards. The second one is killed in the middle of its first attempt and requeued.
cat >shard.sh <<JOB
#!/bin/bash
echo "attempt \$((1 + \${SLURM_RESTART_COUNT:-0})) of task \$SLURM_ARRAY_TASK_ID, of \$SLURM_ARRAY_TASK_COUNT"
exec "$ravel" -q prove goals
JOB
job=$(sbatch --parsable --requeue --open-mode=append --array=0-2 -n 1 -o 'shard-%a.log' shard.sh)
await "a shard that runs the program" 120 grep -q "attempt 1 of task 1" shard-1.log
# In the middle: a JVM of this task is there, and its result is not.
runs_program() {
    local pid
    for pid in $(pgrep -x "$(basename "$ravel" | cut -c1-15)"); do
        tr '\0' '\n' <"/proc/$pid/environ" 2>/dev/null | grep -qx "SLURM_ARRAY_TASK_ID=1" && pgrep -P "$pid" java && return
    done
    return 1
}
await "its JVM" 30 runs_program
[ ! -e shard-2-of-3.json ] || { echo "slurm-test: task 1 was done too early to kill it" >&2; exit 1; }
scontrol requeue "${job}_1"
echo "slurm: killed and requeued task 1 of job $job"
# A requeued job waits two minutes unless it is told not to.
sleep 3
scontrol update "JobId=${job}_1" StartTime=now
await "the end of the array" "${LIMIT:-600}" sh -c "! squeue -h | grep -q ."
cat shard-*.log
[ "$(grep -c '^attempt' shard-1.log)" = 2 ] || { echo "slurm-test: task 1 was not tried twice" >&2; exit 1; }
ls shard-*-of-3.json

"$ravel" merge shard-*-of-3.json --format json >merged.json || [ $? = 1 ]
evidence() { python3 -c 'import json,sys; r=json.load(open(sys.argv[1])); print(r["complete"]); [print(f["id"], f["evidence"], f["shown"]) for f in sorted(r["findings"], key=lambda f: f["id"])]' "$1"; }
evidence one-merged.json >one.txt
evidence merged.json >merged.txt
cat merged.txt
if ! diff one.txt merged.txt; then
    echo "slurm-test: the merged result differs from that of one machine" >&2
    exit 1
fi
# Without one shard the result is incomplete, and says so.
code=0
"$ravel" merge shard-1-of-3.json shard-3-of-3.json --format json >part.json 2>part.err || code=$?
[ "$code" = 2 ] && grep -q '"complete": false' part.json || { echo "slurm-test: a missing shard went unnoticed ($code)" >&2; exit 1; }
echo "slurm-test: the merged result of 3 shards, one of them killed and tried again, is that of one machine"
