# The one entry for people and for CI. What a target does stands in the script of its name.
.DEFAULT_GOAL := help
.PHONY: help setup setup-dev setup-package demo demo-stop answers test test-long test-faults proof lint bench bench-watch bench-month bench-scale package test-packages test-containers test-schedulers fuzz screenshots clean

help: ## list these commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-15s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: ## install missing packages: PostgreSQL with its development files, TimescaleDB if it is packaged
	@scripts/setup.sh

setup-dev: ## also install what developers need: shellcheck, cargo-deny, Chromium, axe, DuckDB
	@scripts/setup.sh dev

demo: setup ## load two days and today of a simulated Lustre cluster into a private database, and answer an admin's questions
	@scripts/demo.sh

answers: ## write what the demo answers, which must be running, into README.md, docs/questions.md and docs/recipes.md
	@scripts/demo.sh answers

demo-stop: ## stop the demo's database server and remove its files
	@scripts/demo.sh stop

test: setup ## run all tests, or some: make test PARTS="core regress:extension"
	@scripts/test.sh $(PARTS)

test-long: setup ## run all tests, or some, with all cases of each, where `make test` has a part of them: an hour or two
	@JOBSTATS_TEST_LONG=yes scripts/test.sh $(PARTS)

test-faults: setup ## inject 360 faults between lctl and the store, and show that nothing is lost or doubled: 10 to 30 minutes
	@JOBSTATS_PROFILE=dev scripts/install.sh tests
	@scripts/faults.sh $(FAULTS) $(SEED)

proof: setup ## prove that the numbers add up: send known work through shipper, feed and functions, and compare
	@scripts/proof.sh

lint: setup-dev ## check format, lints, documentation and shell scripts
	@scripts/lint.sh

bench: setup ## measure reading and comparing large texts, feeding, the aggregates, the shipper, the reading functions
	@cargo bench -p jobstats-bench-core
	@bench/feed.sh
	@bench/day.sh
	@bench/accounting.sh
	@bench/beside.sh
	@bench/cancel.sh
	@bench/counter_agg.sh
	@bench/shipper.sh
	@bench/reading.sh

bench-watch: setup ## judge the detectors of events on 200 simulated weeks of which every incident is known: bench/watch.md
	@bench/watch.sh

bench-month: setup ## fill a store with a month of a large cluster and time the queries of a dashboard: bench/month.md
	@bench/month.sh

bench-scale: setup ## feed and ask 1, 2 and 4 nodes behind a front, on one machine: bench/scale.md and its picture
	@bench/scale.sh

fuzz: setup ## call all functions at random for ten minutes, as a role with each grant
	@scripts/install.sh
	@scripts/fuzz.sh

setup-package: ## also install what packages are made and checked with: zig, with which the programs run on all systems, nfpm and rpm
	@scripts/setup.sh package

package: setup-package ## make .deb, .rpm and a tarball of the shipper, of the console and of the extension
	@scripts/package.sh

test-packages: ## install, upgrade and remove the packages in new Debian systems; as root, ten minutes
	@scripts/test-packages.sh

test-containers: setup-dev ## build the images of Dockerfile without their registry, and start those of compose.yaml; as root, half an hour
	@scripts/containers.sh

test-schedulers: setup ## read the accounting of Debian's own Slurm and Grid Engine, which run real jobs; as root, five minutes
	@scripts/schedulers.sh $(PARTS)

screenshots: setup-dev ## write the pictures that README shows, of a simulated cluster: docs/pictures
	@scripts/screenshots.sh

clean: ## remove what was built
	@cargo clean
