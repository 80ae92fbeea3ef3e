#!/bin/sh
# Makes a big log for measurements:  sh make-big-log.sh OUTPUT CLASS
#   CLASS   file        events     thread runs   (about; it differs from run to run)
#   100M    101 MB      7.1 M       1.6 M
#   300M    303 MB     21.1 M       4.7 M
#   1G      1012 MB    70.6 M      15.5 M
#   runs    680 MB     40.0 M      20.0 M
# Needs GHC (9.0 or newer) and, for a moment, a place to build in ($TMPDIR).
set -eu
[ $# = 2 ] || { echo "usage: $0 OUTPUT 100M|300M|1G|runs" >&2; exit 2; }
src=$(cd "$(dirname "$0")" && pwd)
build=$(mktemp -d)
trap 'rm -rf "$build"' EXIT
case $2 in
  100M) args="mixed 25000 64" ;;
  300M) args="mixed 75000 64" ;;
  1G)   args="mixed 250000 64" ;;
  runs) args="runs 312500 64" ;;
  *) echo "$0: no class $2" >&2; exit 2 ;;
esac
el=; case $(ghc --numeric-version) in 9.[02].*|8.*) el=-eventlog ;; esac   # has no effect from 9.4 on
ghc -v0 -O1 -threaded $el -rtsopts "$src/BigLog.hs" -outputdir "$build" -o "$build/big-log"
"$build/big-log" $args +RTS -N4 -lsf -A256k "-ol$1" -RTS
ls -l "$1"
