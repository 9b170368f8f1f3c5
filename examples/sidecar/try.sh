#!/bin/sh
# The service next to a process that rewrites its data every 2 seconds: ./try.sh [SECONDS TO WATCH]
set -eu
here=$(dirname "$0")
work=$(mktemp -d)
refresh= service=
trap 'kill $refresh $service 2>/dev/null || true; wait; rm -rf "$work"' EXIT
trap 'exit 1' INT TERM

await() { # repeat a command until it succeeds, for a minute
    for _ in $(seq 600); do "$@" && return; sleep 0.1; done
    cat "$work/log" >&2
    exit 1
}

python3 "$here/refresh.py" "$work/data" --every 2 & refresh=$!
await [ -e "$work/data/..data/manifest.json" ]

store-directory serve --data "$work/data" --cache "$work/cache" --workers 2 \
    --port 0 --admin 127.0.0.1:0 --api-key example >"$work/out" 2>"$work/log" & service=$!
await grep -qs '^Ready' "$work/out"
admin=$(sed -n 's/^Probes and metrics on //p' "$work/out")

"$here/watch.sh" "$admin" "${1:-7}"
