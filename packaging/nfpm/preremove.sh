#!/bin/sh
# Of .deb (remove or upgrade) and .rpm (number of versions that stay installed).
set -e
case "$1" in
remove | 0)
    if [ -d /run/systemd/system ]; then
        systemctl disable --now 'jobstats-shipper*.timer' 'jobstats-shipper*.service' || true
    fi
    ;;
esac
