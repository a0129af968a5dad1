# TimescaleDB with jobstats in it:  docker build -t jobstats .  &&  docker run -e POSTGRES_PASSWORD=… -p 5432:5432 jobstats
ARG POSTGRESQL=17

FROM rust:1-slim-bookworm AS rust

# Built on the image that it will run on, for the same PostgreSQL and the same C library.
FROM timescale/timescaledb-ha:pg${POSTGRESQL} AS build
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
RUN scripts/package.sh && mkdir /out && tar -C /out -xzf target/package/*.tar.gz

# A simulated cluster and its shipper, for compose.yaml:  docker build --target cluster .
FROM timescale/timescaledb-ha:pg${POSTGRESQL} AS cluster
COPY --from=build /out/usr/bin/jobstats-shipper /build/target/release/jobstats-simulator /build/packaging/compose/cluster.sh /usr/local/bin/
USER postgres
ENTRYPOINT ["cluster.sh"]

FROM timescale/timescaledb-ha:pg${POSTGRESQL}
USER root
COPY --from=build /out/ /
# After the image's own scripts, in the database that POSTGRES_DB names.
RUN echo 'CREATE EXTENSION jobstats; SELECT jobstats_setup();' >/docker-entrypoint-initdb.d/900_jobstats.sql
USER postgres
