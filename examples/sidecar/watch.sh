#!/bin/sh
# Print once a second what is served: ./watch.sh ADMIN-ADDRESS SECONDS
set -eu
fields='"(status|stores|generation|generated_at|age_seconds)":[^,}]*'
for _ in $(seq "$2"); do
    curl -s "$1/ready" | grep -oE "$fields" | tr -d '"' | paste -sd ' '
    sleep 1
done
