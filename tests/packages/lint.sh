#!/usr/bin/env bash
# What lintian says of the .deb packages. Exceptions are explained in packaging/nfpm/*.lintian-overrides.
. "$(dirname "$0")/common.sh"

apt-get update -q
apt-get install -q -y --no-install-recommends lintian >/dev/null
lintian --allow-root --fail-on error,warning --display-info "$packages"/*.deb
passed "lintian"
