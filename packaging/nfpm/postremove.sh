#!/bin/sh
# Of .deb (remove, purge or upgrade) and .rpm (number of versions that stay installed). Readings that wait in the spool are
# the only copy of what they hold, so that nothing here deletes them.
set -e
spool=/var/lib/jobstats-shipper
case "$1" in
remove | purge | 0)
    if [ -d /run/systemd/system ]; then
        systemctl daemon-reload
    fi
    rmdir "$spool" 2>/dev/null || true
    if [ -d "$spool" ]; then
        waiting=$(find "$spool" -maxdepth 1 -name '*.zst' | wc -l)
        echo "jobstats-shipper: $spool stays, with $waiting readings that were not sent; to give them up: rm -r $spool"
    fi
    ;;
esac
