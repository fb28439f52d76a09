# What people type. Each target does the set-up it needs; the work is in scripts/.

CARGO ?= cargo
export CARGO
# Where rustup puts cargo, for shells that have not been told yet.
export PATH := $(PATH):$(HOME)/.cargo/bin
# How many cases each property test of `make fuzz` tries.
CASES ?= 20000

.PHONY: help setup build demo test bench realworld fuzz evidence

help:
	@echo "make demo       build Ravel and let it find the bug of a built-in program"
	@echo "make test       format, lints and all tests"
	@echo "make bench      what recording and analysing cost"
	@echo "make realworld  record H2, Derby, Lucene, Jetty and a Maven project"
	@echo "make evidence   how far all buggy subjects get, RUNS times each"
	@echo "make fuzz       hostile bytes and random programs, for long"
	@echo "make setup      only check (and as root install) what the others need"

setup:
	@scripts/setup.sh

build: setup
	@scripts/with-jdk.sh $(CARGO) build --locked --release -p ravel

# The profile of the tests, so that nothing is built twice. It ends with 1 because it shows a bug: that is no failure here.
demo: setup
	@scripts/with-jdk.sh $(CARGO) build --locked -p ravel
	@scripts/with-jdk.sh target/debug/ravel demo || [ $$? = 1 ]

test: setup
	@scripts/with-jdk.sh scripts/test.sh

bench: build
	@scripts/setup.sh /usr/bin/time:time
	@scripts/with-jdk.sh scripts/optional.sh benches/run.sh
	@scripts/with-jdk.sh scripts/optional.sh benches/focus.sh

realworld: build
	@scripts/setup.sh /usr/bin/time:time mvn:maven
	@scripts/with-jdk.sh scripts/optional.sh scripts/realworld.sh

# How often each subject is tried; EVIDENCE_SECONDS bounds the whole.
RUNS ?= 1
evidence: setup
	@scripts/with-jdk.sh scripts/evidence.sh $(RUNS)

fuzz: setup
	@CASES=$(CASES) scripts/with-jdk.sh scripts/fuzz.sh
