#!/bin/sh
# Builds the program whose runs are compared, and makes the logs of tests/fixtures/compare in the current folder:
#   sh make.sh
# Needs GHC (the logs there are by 9.0.2). The kinds of runs take turns, so that other work on the machine is no
# difference between them. The program runs by a relative name and with an empty environment, as logs contain both.
set -eu
src=$(cd "$(dirname "$0")" && pwd)
(cd "$src" && ghc -v0 -O1 -threaded -rtsopts -eventlog Pipeline.hs -outputdir "$OLDPWD/build" -o "$OLDPWD/pipeline")

run() { # KIND NUMBER
  env -i ./pipeline "$1" +RTS -N2 -A512k -l "-ol$1-$2.eventlog" -RTS > /dev/null
  gzip -9nf "$1-$2.eventlog"
}

for number in 01 02 03 04 05 06 07 08 09 10 11 12 13 14 15 16 17 18 19 20; do
  run plain $number
  if [ "$number" -le 06 ]; then
    for kind in slow leak ballast; do run $kind $number; done
  fi
done
