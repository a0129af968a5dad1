# The one entry for people and for CI. What a target does stands in the script of its name.
.DEFAULT_GOAL := help
.PHONY: help setup setup-dev demo demo-stop test proof lint schema bench bench-storage bench-month package fuzz clean

help: ## say what there is
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: ## install what is missing: packages, PostgreSQL with its development files, TimescaleDB where it is packaged
	@scripts/setup.sh

setup-dev: ## install also what changing the code takes: shellcheck, cargo-pgrx, cargo-deny
	@scripts/setup.sh dev

demo: setup ## a simulated day of a Lustre cluster in a private database, and what an admin asks of it
	@scripts/demo.sh

demo-stop: ## stop the demo's database server and remove its files
	@scripts/demo.sh stop

test: setup ## run all tests, or some: make test PARTS="core regress:extension"
	@scripts/test.sh $(PARTS)

proof: setup ## show that the numbers add up: known work through shipper, feed and reading functions, compared with the truth
	@scripts/proof.sh

lint: setup-dev ## check format, lints, documentation and shell scripts
	@scripts/lint.sh

schema: setup-dev ## write the install script anew, extension/sql/jobstats--VERSION.sql; after every change of SQL in extension/src
	@scripts/schema.sh write

bench: setup ## measure reading and comparing large texts, feeding, the aggregates, the shipper, the reading functions
	@cargo bench -p jobstats-core --bench '*'
	@bench/feed.sh
	@bench/day.sh
	@bench/cancel.sh
	@bench/counter_agg.sh
	@bench/shipper.sh
	@bench/reading.sh

bench-storage: setup ## measure what the store takes, beside tables as others keep them, and chunks: bench/storage.md, chunks.md
	@bench/storage.sh
	@bench/chunks.sh

bench-month: setup ## fill a store with a month of a large cluster and time the queries of a dashboard: bench/month.md
	@bench/month.sh

fuzz: setup ## call all functions at random for ten minutes, by a role with each grant
	@scripts/install.sh
	@scripts/fuzz.sh

package: setup ## make a tarball of the extension and the shipper
	@scripts/package.sh

clean: ## remove what was built
	@cargo clean
