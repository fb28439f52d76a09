#!/usr/bin/env bash
# How far the subjects get, and how reliably: `scripts/evidence.sh [RUNS [NAME …]]` (make evidence). Prints the table of
# docs/evidence.md: every buggy program, its corrected twin and the benign shapes, those of subjects/searches too, RUNS times (1) on each JDK found.
#
# EVIDENCE_SECONDS bounds the whole (600), EVIDENCE_JOBS says how many programs are tried at the same time (2), EVIDENCE_LOG
# names a file that keeps all attempts, so that the table can be made in several goes.
set -euo pipefail
cd "$(dirname "$0")/.."
export EVIDENCE_RUNS=${1:-1}
export EVIDENCE_SECONDS=${EVIDENCE_SECONDS:-600}
if [ $# -gt 1 ]; then
    shift
    names=$*
    export EVIDENCE_ONLY=${names// /,}
fi
echo "$(date -u +%F), $(nproc) cores, load $(cut -d' ' -f1 /proc/loadavg) at the start"
echo
${CARGO:-cargo} test -q --release -p ravel --test all -- --ignored --nocapture evidence::
# A proof by directed runs that takes too long for `make test`.
${CARGO:-cargo} test -q --release -p ravel --test all -- --ignored directed::
