#!/bin/sh
# Of .deb (configure [OLD VERSION]) and .rpm (number of installed versions). Starts nothing that was not running.
set -e
config=/etc/jobstats/shipper.conf
spool=/var/lib/jobstats-shipper

# Not in the package, so that removing it leaves unsent scrapes.
[ -d "$spool" ] || install -d -m 0700 -o jobstats-shipper -g jobstats-shipper "$spool"
# As tmpfiles.d makes it when the machine starts.
install -d -m 0755 -o jobstats-shipper -g jobstats-shipper /run/jobstats-shipper
case "$1:$2" in
configure: | 1:)
    [ ! -e "$config" ] || chown root:jobstats-shipper "$config"
    echo "jobstats-shipper: set the database in $config, then run: systemctl enable --now jobstats-shipper.timer"
    ;;
esac
if [ -d /run/systemd/system ]; then
    systemctl daemon-reload
    # Permanently running shippers continue with the new program.
    systemctl try-restart 'jobstats-shipper*.service' || true
fi
