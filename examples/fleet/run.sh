#!/bin/sh
# Everything of this recipe on one machine, in a new folder:
#
#   run.sh FOLDER
#
# Needs ghc, zstd and eventscope; with duckdb, it also asks questions. Variables: GHC, EVENTSCOPE, DUCKDB name other
# programs, FLAGS other flags of the runtime, SECONDS_PER_DAY and ROTATE the length of a run and of a log.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
[ $# = 1 ] || { echo "usage: $0 FOLDER" >&2; exit 2; }
[ ! -e "$1" ] || { echo "$1 exists: name a new folder" >&2; exit 2; }
mkdir -p "$1"
folder=$(cd "$1" && pwd)
ghc=${GHC:-ghc} eventscope=${EVENTSCOPE:-eventscope} duckdb=${DUCKDB:-duckdb}
flags=${FLAGS:--l} seconds=${SECONDS_PER_DAY:-5} rotate=${ROTATE:-1}
case $("$ghc" --numeric-version) in
    8.* | 9.0.*) link=-eventlog ;;
    9.2.*) link=-eventlog flags="$flags --eventlog-flush-interval=1" ;;
    *) link='' flags="$flags --eventlog-flush-interval=1" ;;
esac
step() { printf '\n== %s\n' "$*"; }

step "Build the service"
mkdir "$folder/build"
cp "$here/Service.hs" "$here/rotate.c" "$here/rotate.h" "$folder/build"
(cd "$folder/build" && "$ghc" -v0 -O -threaded -rtsopts $link -o "$folder/service" Service.hs rotate.c)

# Five hosts for four days, each a run of some seconds. Version 1.1 is deployed on the third day.
hosts="web-1 web-2 web-3 web-4 web-5"
for day in 1 2 3 4; do
    version=1.0
    [ $day -lt 3 ] || version=1.1
    step "Day $day: version $version runs on five hosts"
    pids=
    for host in $hosts; do
        spool=$folder/spool/$host/version=$version
        mkdir -p "$spool"
        # -ol/dev/null: what the runtime logs before the service takes over.
        # shellcheck disable=SC2086
        (cd "$spool" && APP_VERSION=$version exec "$folder/service" . "$rotate" "$seconds" \
            +RTS $flags -ol/dev/null -RTS >>"$folder/service.out") &
        pids="$pids $!"
    done
    # On the last day, a host dies: its last log has no end.
    if [ $day = 4 ]; then
        sleep $((seconds - 1))
        kill -9 "${pids##* }"
    fi
    for pid in $pids; do wait "$pid" || echo "process $pid was killed"; done
    for host in $hosts; do
        HOSTNAME=$host SHIP_DAY=2026-11-0$day SHIP_PART_MINUTES=0 \
            "$here/ship.sh" "$folder/spool/$host" "$folder/bucket"
    done
    step "Day $day: add the new logs to the data set"
    "$eventscope" export --dataset "$folder/data" --partition app,version,host,day --set app=shop \
        "$folder/bucket/day=2026-11-0$day"
done

step "Merge the small files of the data set"
"$eventscope" compact "$folder/data"

step "Ask in SQL"
if command -v "$duckdb" >/dev/null; then
    "$duckdb" -init "$folder/data/views.sql" -batch <"$here/questions.sql"
else
    echo "duckdb is not installed: skipped"
fi

step "Write the page"
"$eventscope" fleet "$folder/data" --title "Shop" -o "$folder/fleet.html"
echo "$folder/fleet.html"
