#!/bin/sh
# Of .deb and .rpm alike: the user that the service runs as, with its group and without a home or a shell.
set -e
getent group jobstats-shipper >/dev/null || groupadd --system jobstats-shipper
getent passwd jobstats-shipper >/dev/null ||
    useradd --system --gid jobstats-shipper --no-create-home --home-dir /var/lib/jobstats-shipper \
        --shell /usr/sbin/nologin --comment 'jobstats shipper' jobstats-shipper
