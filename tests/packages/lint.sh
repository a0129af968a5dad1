#!/usr/bin/env bash
# Prints lintian's messages about the .deb packages. Exceptions are explained in packaging/nfpm/shipper.lintian-overrides.
. "$(dirname "$0")/common.sh"

apt-get update -q
apt-get install -q -y --no-install-recommends lintian >/dev/null
# MAINTAINER is for those who give the packages to others.
lintian --allow-root --fail-on error,warning --suppress-tags bogus-mail-host,bogus-mail-host-in-debian-changelog "$packages"/*.deb
passed "lintian"
