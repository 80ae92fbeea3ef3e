#!/bin/sh
# Builds the example and makes its log in the current folder, with the names of its C functions beside it.
# Needs GHC with the profiling libraries and gcc. A log contains the path of its program: run this in a folder whose
# name may be read by everybody, such as /demo.
set -eu
src=$(cd "$(dirname "$0")" && pwd)
here=$(pwd)
(cd "$src" && ghc -v0 -O1 -threaded -eventlog -rtsopts -prof -fprof-auto-top -fno-prof-count-entries \
  -optc-finstrument-functions -optc-O1 -optc-g Main.hs bar.c -outputdir "$here/build-safescope" -o "$here/safescope")
env -i "$here/safescope" +RTS -l-au -p -N2 -olsafescope.eventlog -RTS
# The names of its functions, as nm prints them, and as an executable without its code.
nm safescope | grep -E ' (bar_c|received|nap)$' > safescope.nm
objcopy --only-keep-debug safescope safescope.debug
objcopy -w -K bar_c -K nap -K received -K bar_wrapper -K 'Main_*_info' -K 'base_GHCziBase_map*_info' --strip-unneeded \
  safescope.debug safescope.symbols
gzip -9nkf safescope.eventlog
ls -l safescope.*
