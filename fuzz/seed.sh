#!/bin/sh
# Fills the fuzzers' corpora from the fixtures: whole logs and their first 8 KiB, headers, single payloads.
set -eu
cd "$(dirname "$0")"
mkdir -p corpus/log corpus/header corpus/event
for log in ../tests/fixtures/logs/*/*.eventlog; do
  name=$(basename "$(dirname "$log")")-$(basename "$log" .eventlog)
  # The first byte says in which pieces the log is supplied.
  { printf '\377'; head -c 19000 "$log"; } > "corpus/log/$name-start"
  { printf '\020'; head -c 5000 "$log"; } > "corpus/log/$name-pieces"
  head -c 4096 "$log" > "corpus/header/$name"
done
# The first two bytes are the type of the event.
for id in 0 2 30 44 53 160 161 163 164 167 169 207 210; do
  printf "\\000\\$(printf '%03o' "$id")\\000\\000\\000\\001\\000\\010ab\\000cd\\000ef\\000gh\\000ij\\000kl\\000" > "corpus/event/$id"
done
