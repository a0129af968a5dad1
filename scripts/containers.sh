#!/usr/bin/env bash
# Builds the images of Dockerfile and starts the services of compose.yaml that are built here. Without a registry of images, buildah
# starts with systems of .ci/pristine, with a stand-in for the entrypoint of the public images. Needs root.
#
#   containers.sh          all of Dockerfile, on Debian 13 with PostgreSQL 17 and TimescaleDB: half an hour, 10 GB of disk
#   containers.sh package  its last stages, on Debian 12, from the tarball of `make package`: a minute, 3 GB of memory
export JOBSTATS_PROFILE=dev
. "$(dirname "$0")/lib.sh"

mode=${1:-source} work=${2:-}
compose=tests/containers/compose.py
cache=${XDG_CACHE_HOME:-$HOME/.cache}/jobstats
declare -A systems=([source]=trixie+postgresql+postgresql-17-timescaledb [package]=bookworm+postgresql+libpq-dev)
system=${systems[$mode]}
# The containers share a private network. PostgreSQL wants a password from this address.
address=192.0.2.1
# All that buildah keeps is in one directory.
export CONTAINERS_STORAGE_CONF=$work/storage.conf BUILDAH_ISOLATION=chroot TMPDIR=${work:-/tmp}

# commit NAME CONTAINER [OPTION OF buildah config ...]
commit() {
    buildah config "${@:3}" "$2"
    buildah commit -q --rm "$2" "localhost/$1" >/dev/null
}

# Debian with PostgreSQL, used like the public image.
database_image() {
    local container tree path
    container=$(buildah from scratch)
    tree=$(buildah mount "$container")
    cp -a "$cache/$system/." "$tree"
    rm -rf "$tree"/usr/share/{doc,locale,man} "$tree"/var/{cache/apt,lib/apt/lists}/*
    install -D -m 0755 -t "$tree/usr/local/bin" tests/containers/docker-entrypoint.sh
    mkdir "$tree/docker-entrypoint-initdb.d"
    path=$(cd "$tree" && echo usr/lib/postgresql/*/bin)
    major=$(basename "${path%/bin}")
    commit database "$container" --user postgres --entrypoint '["docker-entrypoint.sh"]' --cmd postgres \
        --env "PATH=/$path:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin" --env PGDATA=/var/lib/postgresql/data --env LANG=C.UTF-8
}

# This machine's Rust, where the public image has it.
rust_image() {
    local container tree toolchain
    container=$(buildah from scratch)
    tree=$(buildah mount "$container")/usr/local
    toolchain=$(rustup show active-toolchain)
    mkdir -p "$tree/cargo/bin" "$tree/rustup"
    find "${CARGO_HOME:-$HOME/.cargo}/bin" \( -name rustup -o -lname rustup \) -exec cp -P -t "$tree/cargo/bin" {} +
    tar -C "$(rustup show home)" -ch --exclude=share/doc settings.toml "toolchains/${toolchain%% *}" | tar -C "$tree/rustup" -x
    commit rust "$container"
}

# Makes what the last stages copy from the stage `build`.
unpack_package() {
    local made=("$target"/package/jobstats-*-pg"$major"-*.tar.gz)
    [ -f "${made[*]}" ] || die "there is no single ${made[*]}: run make package"
    # As tests do, which then need not build it again.
    build_but_core >/dev/null
    mkdir -p "$work"/build/out/{database,cluster}
    tar -C "$work/build/out/database" -xzf "${made[0]}"
    cp "$work/build/out/database/usr/bin/jobstats-shipper" "$built/jobstats-simulator" packaging/compose/cluster.sh "$work/build/out/cluster"
}

# Inside the namespaces.
build_and_start() {
    local options major
    # Everything is read once. On a disk it would be written first.
    [ "$mode" = source ] || mount -t tmpfs tmpfs "$work"
    printf '[storage]\ndriver = "vfs"\ngraphroot = "%s"\nrunroot = "%s"\n' "$work"/{storage,run} >"$CONTAINERS_STORAGE_CONF"
    say "images of Debian"
    database_image
    options=(--build-arg DATABASE=localhost/database --build-arg "POSTGRESQL=$major")
    if [ "$mode" = source ]; then
        rust_image
        say "the stage that compiles (half an hour on two cores)"
        buildah bud --tag localhost/build --target build --build-arg RUST=localhost/rust "${options[@]}" \
            --volume "${CARGO_HOME:-$HOME/.cargo}/registry:/usr/local/cargo/registry" .
        options+=(--build-context build=container-image://localhost/build)
    else
        unpack_package
        options+=(--build-context "build=$work/build")
    fi
    say "images of jobstats"
    "$compose" build "${options[@]}"
    unshare --net "$0" "$mode" "$work" start
}

# query STATEMENT
query() { "$compose" exec -e PGHOST=/var/run/postgresql -e PGDATABASE=jobstats database psql -X -q -At -c "$1"; }

# wait_for WHAT STATEMENT
# Repeats the statement until it returns rows.
wait_for() {
    local answer left=120
    while answer=$(query "$2") || die "this fails: $2"; [ -z "$answer" ]; do
        [ "$((left -= 1))" -gt 0 ] || { tail -n 30 "$work"/*.log >&2 && die "no answer in ten minutes: $2"; }
        sleep 5
    done
    printf 'ok: %s\n%s\n' "$1" "$answer"
}

# Inside the namespaces, without a network.
start() {
    local words shown
    ip link set lo up
    ip address add "$address/32" dev lo
    say "docker compose up"
    "$compose" up "$address" INTERVAL=10
    wait_for 'a reading arrived' "SELECT server, target, last_observation FROM jobstats.health WHERE last_observation IS NOT NULL"
    wait_for 'a question was answered' 'SELECT target, name, operation, formatted FROM jobstats_now()'
    # The command of the page.
    read -ra words < <(sed -n 's/^    docker compose \(exec .*\)/\1/p' docs/packages.md)
    shown=$("$compose" "${words[@]}" --once --width 100)
    [[ $shown == *$'\n  1  '* ]] || die "the console shows: $shown"
    printf 'ok: %s\n%s\n' "${words[*]}" "$shown"
}

if [ -n "$work" ]; then
    "${3:-build_and_start}"
    exit
fi
is_root || die "needs root"
.ci/pristine "$system" true
work=$(mktemp -d -p "$cache")
trap 'rm -rf "$work"' EXIT
unshare --mount --mount-proc --pid --ipc --fork --kill-child "$0" "$mode" "$work"
