#!/bin/sh
# Of .deb (remove, purge or upgrade) and .rpm (number of versions that stay installed). Unsent scrapes in the spool are
# the only copy of their data, so they are never deleted here.
set -e
spool=/var/lib/jobstats-shipper
case "$1" in
remove | purge | 0)
    if [ -d /run/systemd/system ]; then
        systemctl daemon-reload
    fi
    rm -rf /run/jobstats-shipper
    [ -d "$spool" ] || exit 0
    waiting=$(find "$spool" -name '*.zst*' | wc -l)
    if [ "$waiting" -gt 0 ]; then
        echo "jobstats-shipper: $spool retains $waiting unsent scrapes; to discard them: rm -r $spool"
    elif [ "$1" != remove ]; then
        rm -r "$spool"
    fi
    ;;
esac
