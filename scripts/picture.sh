#!/usr/bin/env bash
# A picture of a page as a reader sees it first: `scripts/picture.sh PAGE PNG [WIDTH HEIGHT [light|dark]]`, 1280x900 and light unless
# told. The page is put into a frame: a browser's window cannot be as narrow as a phone, and what lies below its first view is not always
# painted in time. A narrow page is drawn twice as large.
set -euo pipefail
page=$(realpath "$1") png=$(realpath -m "$2") width=${3:-1280} height=${4:-900} scheme=${5:-light}
for name in chromium chromium-browser google-chrome google-chrome-stable; do
    command -v "$name" >/dev/null && browser=$name && break
done
[ -n "${browser:-}" ] || { echo "picture: no Chromium; scripts/setup.sh --tests installs one" >&2; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
scale=1
[ "$width" -ge 500 ] || scale=2
cp "$page" "$work/page.html"
cat >"$work/frame.html" <<FRAME
<!doctype html><meta name="color-scheme" content="light dark"><style>html{overflow:hidden}body{margin:0}
iframe{border:0;width:${width}px;height:${height}px;transform:scale($scale);transform-origin:0 0;will-change:transform}</style><iframe src="page.html"></iframe>
FRAME
preferred=1
[ "$scheme" = dark ] && preferred=0
mkdir -p "$(dirname "$png")"
timeout 120 "$browser" --headless --run-all-compositor-stages-before-draw --no-sandbox --disable-gpu --no-first-run --hide-scrollbars --disable-background-networking \
    --disable-component-update --disable-sync --user-data-dir="$work/profile" --virtual-time-budget=3000 \
    --blink-settings=preferredColorScheme=$preferred --window-size="$((width * scale)),$((height * scale))" --screenshot="$png" "file://$work/frame.html" 2>/dev/null
[ -s "$png" ] || { echo "picture: no picture of $1" >&2; exit 1; }
