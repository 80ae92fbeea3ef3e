#!/bin/sh
# Fills the fuzzers' corpora from the fixtures: whole logs and their first 8 KiB, headers, single payloads.
set -eu
cd "$(dirname "$0")"
mkdir -p corpus/log corpus/heap_report corpus/header corpus/event corpus/symbols corpus/calls corpus/link corpus/queries corpus/slices corpus/cut corpus/live corpus/adversary
for log in ../tests/fixtures/logs/*/*.eventlog; do
  name=$(basename "$(dirname "$log")")-$(basename "$log" .eventlog)
  # The first byte says in which pieces the log is supplied.
  { printf '\377'; head -c 19000 "$log"; } > "corpus/log/$name-start"
  { printf '\020'; head -c 5000 "$log"; } > "corpus/log/$name-pieces"
  { printf '\377'; head -c 19000 "$log" | gzip; } > "corpus/log/$name-gzip"
  if command -v zstd > /dev/null; then
    { printf '\377'; head -c 19000 "$log" | zstd -q --check; } > "corpus/log/$name-zstd"
  fi
  # The first two bytes say how many of the others decide what is asked.
  { printf '\002\000'; head -c 512 "$log" | tr '\000-\377' '\001-\377\000'; head -c 19000 "$log"; } > "corpus/queries/$name"
  cp "corpus/queries/$name" "corpus/slices/$name"
  # The first byte says in which pieces the log comes.
  cp "corpus/log/$name-pieces" "corpus/live/$name"
  tail -c 2000 "$log" > "corpus/adversary/$name"
  # The first four bytes say which part is cut.
  { printf '\103\001\010\000'; head -c 19000 "$log"; } > "corpus/cut/$name"
  head -c 4096 "$log" > "corpus/header/$name"
done
# The first byte says in which pieces the text is supplied; its first four are always the same.
for text in ../tests/fixtures/logs/*/*.hp; do
  { printf '\020'; tail -c +5 "$text" | head -c 5000; } > "corpus/heap_report/$(basename "$text")"
done
# The first two bytes are the type of the event.
for id in 0 2 30 44 53 160 161 163 164 167 169 207 210; do
  printf "\\000\\$(printf '%03o' "$id")\\000\\000\\000\\001\\000\\010ab\\000cd\\000ef\\000gh\\000ij\\000kl\\000" > "corpus/event/$id"
done
# The first eight bytes are an address.
for file in ../tests/fixtures/symbols/*.elf ../tests/fixtures/symbols/*.nm ../tests/fixtures/symbols/movable.*; do
  { printf '\053\001\100\000\000\000\000\000'; cat "$file"; } > "corpus/symbols/$(basename "$file")"
done
cat > corpus/calls/nested <<'END'
START 0 bar
ANN_SCC 0 bar ["Main.main (M.hs:1:1)","Main.bar (M.hs:2:1)"]
ANN_TH 0 bar 71
ANN_CALL_TO 0x410061 0x40ff00 71
START 1 baz
ANN_TH 1 baz 71
ANN_CALL_TO 0x410099 0x410070 71
ANN_CALL_RET 0x410099 0x410070 71
STOP 1 baz
ANN_CALL_RET 0x410061 0x40ff00 71
STOP 0 bar
END
# The examples of the grammar, as one link; and a file of notes.
sed -n 's/^| `\([a-z0-9]*\)` | .* | `\([^`]*\)` |$/\1=\2/p' ../docs/link.md | paste -s -d '&' > corpus/link/all
printf '{"eventscope_notes":1,"log":"9b831.4f0a91c2d7e3","notes":[{"start_ns":1,"end_ns":2,"name":"slow"}]}' > corpus/link/notes
