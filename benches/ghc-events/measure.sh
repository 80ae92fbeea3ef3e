#!/bin/sh
# Time and memory of other tools for the same logs, an object of JSON for each:
#   sh benches/ghc-events/measure.sh FILE [count] [keep] [sort] [threadscope]
# Needs GHC with ghc-events (Debian: libghc-ghc-events-dev) and GNU time; for
# ThreadScope threadscope and xvfb. SECONDS_AT_MOST (600) ends what takes longer.
set -eu
src=$(cd "$(dirname "$0")" && pwd)
file=$1
shift
build=$(mktemp -d)
trap 'rm -rf "$build"' EXIT
limit=${SECONDS_AT_MOST:-600}
bytes=$(stat -c %s "$file")

ms() { awk "BEGIN { print int(($1) * 1000) }"; }

# measured NAME COMMAND...: runs it, prints seconds and the most memory.
measured() {
  name=$1
  shift
  status=0
  /usr/bin/time -o "$build/time" -f '%e %U %S %M' timeout "$limit" "$@" >"$build/out" 2>"$build/err" || status=$?
  read -r seconds user system kib <<END
$(tail -n 1 "$build/time")
END
  printf '{"kind":"peer","tool":"%s","file":"%s","bytes":%s,"ms":%s,"cpu_ms":%s,"peak_mib":%s,"says":"%s","status":%s}\n' \
    "$name" "$(basename "$file")" "$bytes" "$(ms "$seconds")" "$(ms "$user + $system")" "$((kib / 1024))" \
    "$(head -c 200 "$build/out" "$build/err" | tr -d '"\\' | grep -v '^==>' | tr '\n' ' ')" "$status"
}

# ThreadScope shows a window when the log is read: until then, and what it took.
# It computes on after that; its own process is asked for its memory.
threadscope_shows() {
  xvfb-run -a sh -c '
    threadscope "$1" >/dev/null 2>&1 &
    pid=$!
    begun=$(date +%s%N)
    while kill -0 $pid 2>/dev/null; do
      # The title has the name of the file when it is loaded.
      if xwininfo -root -tree 2>/dev/null | grep -q "\"ThreadScope.*$(basename "$1")\|$(basename "$1").*ThreadScope"; then break; fi
      [ $(($(date +%s%N) - begun)) -lt $(($2 * 1000000000)) ] || break
      sleep 0.1
    done
    shown=$(date +%s%N)
    sleep 3
    echo $(((shown - begun) / 1000000)) $(awk "/VmHWM/ {print int(\$2 / 1024)}" /proc/$pid/status)
    kill $pid' sh "$file" "$limit"
}

for what in "$@"; do
  case $what in
    count | keep | sort)
      [ -x "$build/peer" ] || ghc -v0 -O2 -rtsopts -outputdir "$build" "$src/Peer.hs" -o "$build/peer"
      measured "ghc-events $what" "$build/peer" "$what" "$file" ;;
    threadscope)
      read -r ms mib <<END
$(threadscope_shows)
END
      printf '{"kind":"peer","tool":"ThreadScope","file":"%s","bytes":%s,"ms":%s,"peak_mib":%s,"says":"","status":0}\n' \
        "$(basename "$file")" "$bytes" "$ms" "${mib:-0}" ;;
  esac
done
