#!/usr/bin/env bash
# Installs what building, testing and the demo need. Quick when all is there.
. "$(dirname "$0")/lib.sh"

has_apt() { command -v apt-get >/dev/null; }

# The major version of PostgreSQL that the distribution packages.
distribution_pg_major() {
    apt-cache policy postgresql | sed -n 's/.*Candidate: \([0-9]*\).*/\1/p'
}

wanted_packages() {
    local major
    # libssl-dev: cargo-pgrx links OpenSSL. libclang-dev: bindgen reads PostgreSQL's headers with it.
    printf '%s\n' ca-certificates clang gcc git libc6-dev libclang-dev libssl-dev make pkg-config shellcheck
    if pg_is_complete; then
        major=$(pg_major)
    else
        major=$(distribution_pg_major)
        printf '%s\n' "postgresql-$major" "postgresql-server-dev-$major"
    fi
    if ! { pg_is_complete && have_timescaledb; } && apt-cache show "postgresql-$major-timescaledb" >/dev/null 2>&1; then
        echo "postgresql-$major-timescaledb"
    fi
    if apt-cache show "postgresql-$major-cron" >/dev/null 2>&1; then
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
            say "apt-get install ${packages[*]}"
            as_root env DEBIAN_FRONTEND=noninteractive \
                apt-get install -q -y --no-upgrade --no-install-recommends "${packages[@]}"
        fi
    fi
    PG_CONFIG=${PG_CONFIG:-$(command -v pg_config)}
}

# Where there is no apt: say what is missing, in the words of other distributions' packages.
require_tools() {
    local tool missing=()
    for tool in cc clang git make pkg-config shellcheck; do
        command -v "$tool" >/dev/null || missing+=("$tool")
    done
    pg_is_complete ||
        missing+=("PostgreSQL 15 to 18 with its server and development files (postgresql-server, postgresql-server-devel)")
    [ "${#missing[@]}" -eq 0 ] || die "$(printf 'this system has no apt; install these and run it again:\n'
        printf '  %s\n' "${missing[@]}" "and the development files of libclang and OpenSSL (clang-devel, openssl-devel)")"
}

install_cargo_pgrx() {
    local version
    version=$(pgrx_version)
    [ "$(cargo pgrx --version 2>/dev/null)" = "cargo-pgrx $version" ] && return
    say "cargo install cargo-pgrx $version"
    cargo install cargo-pgrx --version "=$version" --locked --target-dir "$target"
}

# pgrx builds only for a PostgreSQL that it has been told of.
init_cargo_pgrx() {
    local line
    line="pg$(pg_major) = \"$PG_CONFIG\""
    grep -qxF "$line" "${PGRX_HOME:-$HOME/.pgrx}/config.toml" 2>/dev/null && return
    say "cargo pgrx init for PostgreSQL $(pg_major)"
    cargo pgrx init "--pg$(pg_major)=$PG_CONFIG"
}

if has_apt; then
    install_packages
else
    require_tools
fi
command -v cargo >/dev/null || die "Rust is missing: install it from https://rustup.rs and run this again"
install_cargo_pgrx
init_cargo_pgrx
