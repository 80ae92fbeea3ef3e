#!/bin/sh
# Measures everything that README.md beside it tells, and writes its tables and those of the
# project's README.md anew:
#   sh benches/all.sh [SIZE...]        by default 1M 50M 300M 1G 4G 10G
# Figures go to figures/now.jsonl beside it, or where FIGURES says.
# BENCH_LOGS is a folder for the logs ($TMPDIR/eventscope-bench): 6 GB, and 10
# for the largest, which are deleted when they are done with. SKIP names what
# shall not be measured: tab peers threadscope native frames soak.
# With ADD=1 they are added to those that are there: of several the fastest counts.
# EVENTSCOPE_SITE is another build of the site, measured in place of this one.
# An hour, a third of it for 4 and 10 GB. Nothing else should run meanwhile.
set -eu
cd "$(dirname "$0")/.."
logs=${BENCH_LOGS:-${TMPDIR:-/tmp}/eventscope-bench}
figures=${FIGURES:-benches/figures/now.jsonl}
skip=" ${SKIP:-} "
wanted() { case $skip in *" $1 "*) return 1 ;; esac }
mkdir -p "$logs" "$(dirname "$figures")"
[ "${ADD:-}" ] || : >"$figures"
[ $# -gt 0 ] || set -- 1M 50M 300M 1G 4G 10G

[ "${EVENTSCOPE_SITE:-}" ] || cargo xtask build
node benches/smoke.mjs "${EVENTSCOPE_SITE:-dist}"
chromium=$("${EVENTSCOPE_CHROMIUM:-chromium}" --version | cut -d' ' -f1,2)
printf '{"kind":"machine","cores":%s,"browser":"%s","build":"%s"}\n' \
  "$(nproc)" "$chromium" "$(git rev-parse --short HEAD)" >>"$figures"
rustc --edition 2024 -O -o "$logs/make_big_log" examples/make_big_log.rs
make() { [ -f "$logs/$1.eventlog" ] || "$logs/make_big_log" "$logs/$1.eventlog" "${2:-$1}" ${3:-}; }

for size in "$@"; do
  make "$size"
  log=$logs/$size.eventlog
  case $size in
    1M | 50M | 300M) runs=5 tools="count keep sort" ;;
    1G) runs=3 tools=count ;;
    *) runs=1 tools= ;;
  esac
  if wanted tab; then
    # As many workers as the page thinks good, then one.
    for query in "" workers=1; do
      node benches/tab.mjs "$log" --runs "$runs" --query "$query" --json >>"$figures"
    done
  fi
  if wanted peers && [ -n "$tools" ]; then
    sh benches/ghc-events/measure.sh "$log" $tools >>"$figures"
  fi
  case $size in 50M | 300M) shown=yes ;; *) shown= ;; esac
  if wanted threadscope && [ "$shown" ]; then
    sh benches/ghc-events/measure.sh "$log" threadscope >>"$figures"
  fi
  case $size in *G) rm "$log" ;; esac
done
if wanted native; then
  make 300M
  EVENTSCOPE_BENCH_LOG=$logs/300M.eventlog cargo bench --bench load
  node benches/native.mjs 300M.eventlog >>"$figures"
fi
if wanted frames; then
  make 1M
  make plain 860M --plain
  for log in 1M plain; do node benches/frames.mjs "$logs/$log.eventlog" --runs 3 --json >>"$figures"; done
  rm "$logs/plain.eventlog"
fi
if wanted soak; then
  make 100M
  node benches/soak.mjs "$logs/100M.eventlog" --json >>"$figures" || echo "The soak is not as it should be: see the figures." >&2
fi
node benches/table.mjs
