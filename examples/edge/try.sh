#!/bin/sh
# A service that follows a baked file on an origin server: ./try.sh [nginx|python] [PORT OF THE ORIGIN SERVER]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
server=${1:-nginx}
port=${2:-8090}
work=$(mktemp -d)
origin= service=
trap 'kill $origin $service 2>/dev/null || true; wait; rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
PATH=$PATH:/usr/sbin
mkdir "$work/origin"
chmod 755 "$work" # if root starts nginx, its worker runs as another user

await() { # repeat a command until it succeeds, for a minute
    for _ in $(seq 600); do "$@" && return; sleep 0.1; done
    cat "$work/log" >&2
    exit 1
}

publish() { # write to a temporary name, then rename
    store-directory sample "$work/data-$1" --stores "$1" --companies 10 >/dev/null
    store-directory bake "$work/data-$1" "$work/origin/.next" >/dev/null
    mv "$work/origin/.next" "$work/origin/stores.baked"
}

serve_origin() {
    if [ "$server" = nginx ]; then
        sed "s/8090/$port/" "$here/nginx.conf" >"$work/nginx.conf"
        nginx -e stderr -p "$work" -c nginx.conf & origin=$!
    else # for a demonstration: it supports If-Modified-Since, but no ranges
        python3 -m http.server --bind 127.0.0.1 --directory "$work/origin" "$port" >/dev/null 2>&1 & origin=$!
    fi
    await curl -sfo /dev/null "http://127.0.0.1:$port/stores.baked"
}

start() {
    : >"$work/out"
    store-directory serve --data "http://127.0.0.1:$port/stores.baked" --max-stale 3600 --poll 1 \
        --cache "$work/cache" --port 0 --admin 127.0.0.1:0 --api-key example >"$work/out" 2>>"$work/log" & service=$!
    await grep -qs '^Ready' "$work/out"
    admin=$(sed -n 's/^Probes and metrics on //p' "$work/out")
}

show() {
    printf '%s: ' "$1"
    curl -s "$admin/ready" | grep -oE '"(status|stores|generation|error)":[^,}]*' | tr -d '"' | paste -sd ' '
}

reports() {
    curl -s "$admin/ready" | grep -q "$1"
}

publish 1000
cp "$work/origin/stores.baked" "$work/origin/.first"
serve_origin
start
show 'the first file'
sleep 1 # Last-Modified has whole seconds: a file of the same second looks unchanged
publish 2000
await reports '"stores":2000,'
show 'another file'
kill $origin && wait $origin || true
await reports '"ok":false'
show 'the origin is gone'
kill $service && wait $service
start
show 'restarted without the origin'
cp "$work/origin/.first" "$work/origin/.next" # with a new time: If-Modified-Since ignores an older one
mv "$work/origin/.next" "$work/origin/stores.baked"
serve_origin
await reports '"stores":1000,'
show 'the origin is back'
