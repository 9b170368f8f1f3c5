#!/usr/bin/env bash
# A client of Store Directory with curl and jq: API_KEY=sd_… ./stores.sh http://127.0.0.1:8080
set -euo pipefail
[ -n "${API_KEY:-}" ] || { echo 'API_KEY is not set: API_KEY=sd_… ./stores.sh' >&2; exit 2; }
service=${1:-http://127.0.0.1:8080} city=${2:-Toronto} near=${3:-43.65,-79.38} limit=${4:-1000}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The key is passed in a file: the arguments of a process can be seen by others.
(umask 077 && printf 'x-api-key: %s\n' "$API_KEY" >"$work/key")

# Send a request, with more options of curl; the status is in $status, the rest in $work/head and $work/body.
# After 429 and 503 wait as long as the service says, and try again. 304 and 412 are for the caller.
get() {
    local attempt seconds
    for attempt in 1 2 3 4 5; do
        status=$(curl --silent --show-error --max-time 30 --header @"$work/key" \
            --dump-header "$work/head" --output "$work/body" --write-out '%{http_code}' "$@")
        case $status in
            200 | 304 | 412) return ;;
            429 | 503) ;;
            *) break ;;
        esac
        seconds=$(header Retry-After)
        echo "status $status, trying again in ${seconds:=$attempt} s" >&2
        sleep "$seconds"
    done
    echo "status $status: $(cat "$work/body")" >&2
    exit 1
}

header() { # the value of a header field of the last response; empty without it
    tr -d '\r' <"$work/head" | sed -n "s/^$1: //ip"
}

# The URL of the next page; empty after the last. Link has it as a query, relative to the URL of this page.
next_url() {
    local query
    query=$(header Link | grep -o '<[^>]*>; rel="next"' | sed 's/^<\(.*\)>.*/\1/') || return 0
    echo "$service/stores$query"
}

get --get "$service/stores" --data-urlencode "city=$city" --data is_open=true --data sort_by=name
jq -r --arg city "$city" '"\(.total_count) open stores in \($city): \([.data[].name] | join(", "))"' "$work/body"

# Walk all pages. Data that changes meanwhile may repeat or leave out stores.
everything="$service/stores?limit=$limit" stores=0 pages=0
url=$everything
while [ -n "$url" ]; do
    get "$url"
    stores=$((stores + $(jq '.data | length' "$work/body"))) pages=$((pages + 1))
    url=$(next_url)
done
echo "$stores stores on $pages pages"

# Walk the pages of one data version; start again if the data changes on the way.
url=$everything version=
: >"$work/stores"
while [ -n "$url" ]; do
    get "$url" ${version:+--header "X-Dataset-Version: $version"}
    if [ "$status" = 412 ]; then
        echo 'the data has changed, starting again' >&2
        url=$everything version=
        : >"$work/stores"
        continue
    fi
    version=$(header X-Dataset-Version)
    jq -c '.data[]' "$work/body" >>"$work/stores"
    url=$(next_url)
done
echo "$(wc -l <"$work/stores") stores of version $version"

get "$everything"
get "$everything" --header "If-None-Match: $(header ETag)"
[ "$status" = 304 ] && echo 'the first page is unchanged' || echo 'the first page has changed'

get --get "$service/stores" --data-urlencode "near=$near" --data radius=10000 --data limit=3
jq -r '.data[] | "\(.distance) m: \(.name)"' "$work/body"
