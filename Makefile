# What people type. Each target does the set-up it needs; the work is in scripts/.

CARGO ?= cargo
# How many cases each property test of `make fuzz` tries.
CASES ?= 20000

.PHONY: help setup build demo test bench realworld fuzz

help:
	@echo "make demo       build Ravel and let it find the bug of a built-in program"
	@echo "make test       format, lints and all tests"
	@echo "make bench      what recording and analysing cost"
	@echo "make realworld  record H2, Derby, Lucene, Jetty and a Maven project"
	@echo "make fuzz       hostile bytes and random programs, for long"
	@echo "make setup      only check (and as root install) what the others need"

setup:
	@scripts/setup.sh

build: setup
	@scripts/with-jdk.sh $(CARGO) build --locked --release -p ravel

demo: build
	@scripts/with-jdk.sh target/release/ravel demo

test: setup
	@scripts/with-jdk.sh scripts/test.sh

bench: build
	@scripts/with-jdk.sh scripts/optional.sh benches/run.sh

realworld: build
	@scripts/with-jdk.sh scripts/optional.sh scripts/realworld.sh

fuzz: setup
	@CASES=$(CASES) scripts/with-jdk.sh scripts/fuzz.sh
