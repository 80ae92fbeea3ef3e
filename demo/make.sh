#!/bin/sh
# Builds the three demo programs and makes their logs in the current folder:
#   sh make.sh            all three
#   sh make.sh parallel-sort
# Needs GHC 9.4 or newer with the profiling libraries (the logs in www/demo are by 9.6.6) and a C compiler. A log
# contains the path of its program: run this in a folder whose name may be read by everybody, such as /demo.
# The programs run with an empty environment.
set -eu
src=$(cd "$(dirname "$0")" && pwd)
here=$(pwd)

build() { # NAME SOURCES FLAGS
  name=$1 sources=$2; shift 2
  (cd "$src" && ghc -v0 -O1 -threaded -rtsopts "$@" $sources -outputdir "$here/build-$name" -o "$here/$name")
}

run() { # NAME RTS-FLAGS
  name=$1; shift
  env -i "$here/$name" +RTS "$@" "-ol$name.eventlog" -RTS > /dev/null
  gzip -9nkf "$name.eventlog"
  ls -l "$name.eventlog.gz"
}

for demo in ${*:-web-server parallel-sort profiled-ffi}; do
  case $demo in
    web-server)    build $demo WebServer.hs;    run $demo -N4 -l -A8m ;;
    parallel-sort) build $demo ParallelSort.hs; run $demo -N4 -lsf -A16m ;;
    # -p takes a sample every tick, -V sets the tick; -N3 for the three workers
    profiled-ffi)  build $demo "ProfiledFfi.hs filters.c" -prof -fprof-auto -optc-O2; run $demo -N3 -p -V0.001 -la -A4m ;;
    *) echo "no demo $demo" >&2; exit 2 ;;
  esac
done
