# TimescaleDB with jobstats in it:  docker build -t jobstats .  &&  docker run -e POSTGRES_PASSWORD=… -p 5432:5432 jobstats
ARG POSTGRESQL=17
# Any other image with this PostgreSQL, its programs in the path, the user postgres and an entrypoint that runs /docker-entrypoint-initdb.d.
ARG DATABASE=timescale/timescaledb-ha:pg${POSTGRESQL}
ARG RUST=rust:1-slim-bookworm

FROM ${RUST} AS rust

# Built on the image that it will run on, for the same PostgreSQL and the same C library.
FROM ${DATABASE} AS build
ARG POSTGRESQL
USER root
RUN apt-get update \
    && apt-get install -y --no-install-recommends --no-upgrade git make "postgresql-server-dev-${POSTGRESQL}"
COPY --from=rust /usr/local/cargo /usr/local/cargo
COPY --from=rust /usr/local/rustup /usr/local/rustup
ENV CARGO_HOME=/usr/local/cargo RUSTUP_HOME=/usr/local/rustup PATH=/usr/local/cargo/bin:$PATH \
    PG_CONFIG=/usr/lib/postgresql/${POSTGRESQL}/bin/pg_config
WORKDIR /build
# Which packages set-up installs depends on these files alone.
COPY Makefile ./
COPY scripts scripts
RUN make setup
COPY . .
# Without zig and nfpm: the tarball alone, for the image's own C library.
RUN scripts/package.sh && mkdir -p /out/database /out/cluster && tar -C /out/database -xzf target/package/*.tar.gz \
    && cp /out/database/usr/bin/jobstats-shipper target/release/jobstats-simulator packaging/compose/cluster.sh /out/cluster && cargo clean

# A simulated cluster and its shipper, for compose.yaml:  docker build --target cluster .
FROM ${DATABASE} AS cluster
COPY --from=build /out/cluster/ /usr/local/bin/
USER postgres
ENTRYPOINT ["cluster.sh"]

FROM ${DATABASE}
USER root
COPY --from=build /out/database/ /
# After the image's own scripts, in the database that POSTGRES_DB names.
RUN echo 'CREATE EXTENSION jobstats; SELECT jobstats_setup();' >/docker-entrypoint-initdb.d/900_jobstats.sql
USER postgres
