#!/bin/sh
# Moves the finished eventlogs of a host from SPOOL/version=…/ to STORE/day=…/host=…/version=…/, compressed:
#
#   ship.sh SPOOL STORE
#
# Run it every minute, and once after the service has ended. Here STORE is a folder; for object storage, replace the body
# of `put`. A log that could not be stored stays, and the next run tries again.
set -eu
spool=$1 store=$2
host=${HOSTNAME:-$(uname -n)}

# Stores the file $1 as $2, which appears only when it is complete.
put() {
    mkdir -p "$store/${2%/*}"
    cp "$1" "$store/$2.part"
    mv "$store/$2.part" "$store/$2"
    # aws s3 cp --only-show-errors "$1" "s3://BUCKET/$2"
    # gcloud storage cp "$1" "gs://BUCKET/$2"
    # rclone copyto "$1" "REMOTE:BUCKET/$2"
}

# A process that was killed leaves its last log unfinished. Nothing was added to it for longer than a log lasts. (Whether
# the process exists cannot be seen from another container.)
find "$spool" -name '*.eventlog.part' -mmin "+${SHIP_PART_MINUTES:-60}" | while read -r log; do
    mv "$log" "${log%.part}"
done

for log in "$spool"/version=*/*.eventlog; do
    [ -e "$log" ] || continue
    name=${log##*/}
    version=${log%/*} version=${version##*/}
    day=${SHIP_DAY:-$(echo "$name" | sed 's/^\(....\)\(..\)\(..\).*/\1-\2-\3/')}
    # Is kept until it is stored: a second attempt stores the same bytes, which the data set then recognizes.
    [ -e "$log.zst" ] || { zstd -q -f "$log" -o "$log.zst.part" && mv "$log.zst.part" "$log.zst"; }
    put "$log.zst" "day=$day/host=$host/$version/$name.zst"
    rm "$log" "$log.zst"
done
