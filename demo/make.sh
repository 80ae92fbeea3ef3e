#!/bin/sh
# Builds the demo programs and makes their logs in the current folder:
#   sh make.sh            those of the site
#   sh make.sh shop-server
#   sh make.sh gallery    more breakdowns of the heap of shop and index, and ticky counters (GHC 9.10)
# Needs GHC 9.4 or newer with the profiling libraries (the logs in www/demo are by 9.6.6, the heap profiles by
# 9.10.3) and a C compiler. A log contains the path of its program: run this in a folder whose name may be read by
# everybody, such as /demo. The programs run with an empty environment.
set -eu
src=$(cd "$(dirname "$0")" && pwd)
here=$(pwd)

build() { # NAME SOURCES FLAGS
  name=$1 sources=$2; shift 2
  (cd "$src" && ghc -v0 -O1 -rtsopts "$@" $sources -outputdir "$here/build-$name" -o "$here/$name")
}

run() { # LOG PROGRAM RTS-FLAGS
  log=$1 program=$2; shift 2
  env -i "$here/$program" ${args:-} +RTS "$@" "-ol$log.eventlog" -RTS > /dev/null
  gzip -9nkf "$log.eventlog"
  ls -l "$log.eventlog.gz"
}

tables="-finfo-table-map -fdistinct-constructor-tables"
for demo in ${*:-web-server parallel-sort profiled-ffi shop-server article-index}; do
  case $demo in
    web-server)    build $demo WebServer.hs -threaded;    run $demo $demo -N4 -l -A8m ;;
    parallel-sort) build $demo ParallelSort.hs -threaded; run $demo $demo -N4 -lsf -A16m ;;
    # -p takes a sample every tick, -V sets the tick; -N3 for the three workers
    profiled-ffi)  build $demo "ProfiledFfi.hs filters.c" -threaded -prof -fprof-auto -optc-O2
                   run $demo $demo -N3 -p -V0.001 -la -A4m ;;
    # -i0 takes a census in each collection, as the interval does not count the time in which a program waits
    shop-server)   build $demo ShopServer.hs -threaded $tables
                   run $demo-hT $demo -hT -i0 -l -A2m
                   run $demo-hi $demo -hi -i0 -l -A2m
                   args=fixed run $demo-fixed-hi $demo -hi -i0 -l -A2m ;;
    article-index) build $demo-prof ArticleIndex.hs -prof -fprof-auto-top
                   run $demo-hc $demo-prof -hc -i0.02 -l -A4m ;;
    gallery)       build shop-server-prof ShopServer.hs -threaded -prof -fprof-auto-top
                   for h in r b; do run shop-server-h$h shop-server-prof -h$h -L500 -i0 -l -A2m; done
                   build article-index-prof ArticleIndex.hs -prof -fprof-auto-top
                   for h in m d y r b; do run article-index-h$h article-index-prof -h$h -L500 -i0.02 -l -A4m; done
                   build article-index-eras ArticleIndex.hs -prof -fprof-auto-top -DERAS
                   run article-index-he article-index-eras -he -i0.02 -l -A4m
                   build article-index-plain ArticleIndex.hs $tables
                   for h in T i; do run article-index-h$h article-index-plain -h$h -i0.02 -l -A4m; done
                   build article-index-ticky ArticleIndex.hs -ticky -ticky-allocd -ticky-dyn-thunk $tables
                   run article-index-ticky article-index-ticky -lagT -A4m ;;
    *) echo "no demo $demo" >&2; exit 2 ;;
  esac
done
