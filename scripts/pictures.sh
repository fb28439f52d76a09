#!/usr/bin/env bash
# The pictures in docs/images (make pictures): the HTML report of the demo, wide and on a phone, light and dark.
set -euo pipefail
cd "$(dirname "$0")/.."
ravel=${RAVEL:-$PWD/target/debug/ravel}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
images=$PWD/docs/images
(
    cd "$work"
    "$ravel" demo --keep d >/dev/null || [ $? = 1 ]
    "$ravel" --quiet run --source d/src --out html=report.html -- java -cp d/classes shop.Shop >/dev/null || [ $? = 1 ]
)
for scheme in light dark; do
    scripts/picture.sh "$work/report.html" "$images/report-1280-$scheme.png" 1280 900 $scheme
    scripts/picture.sh "$work/report.html" "$images/report-390-$scheme.png" 390 1100 $scheme
done
ls -l "$images"/report-*.png
