# The commands for users and contributors. Each target does the set-up it needs; the work is in scripts/.

CARGO ?= cargo
export CARGO
# Where rustup puts cargo, for shells that do not have it on their PATH yet.
export PATH := $(PATH):$(HOME)/.cargo/bin
# CI and a fresh clone build everything once: the files that speed up the next compilation only cost time there, a quarter of it for the
# agent. `cargo` without make writes them, and keeps its own results beside these.
export CARGO_INCREMENTAL ?= 0
# How many cases each property test of `make fuzz` tries, and how long each fuzz target runs.
CASES ?= 20000
FUZZ_SECONDS ?= 60

.PHONY: help setup build java jvms msrv demo pictures examples test bench realworld integrations fuzz miri evidence trust slurm dist ship

help:
	@echo "make demo       build Ravel and let it find the bug of a built-in program"
	@echo "make test       format, all tests and lints"
	@echo "make bench      what recording and analysing cost"
	@echo "make realworld  record H2, Derby, Lucene, Jetty and a Maven project"
	@echo "make integrations  install and try ravel-junit and the plugins for Maven and Gradle"
	@echo "make evidence   how far all buggy subjects get, RUNS times each"
	@echo "make trust      what must never be wrong, RUNS times each on a busy machine (docs/trust.md)"
	@echo "make pictures   draw the pictures of docs/images again, in Chromium"
	@echo "make examples   make the sample reports of docs/examples again"
	@echo "make fuzz       hostile bytes and random programs, for long"
	@echo "make miri       unit tests under Miri, which needs a nightly compiler"
	@echo "make java       compile the Java classes of the agent, which are checked in"
	@echo "make jvms       try JDKs 8 to 28, fetched from Debian's unstable archive and installed nowhere"
	@echo "make msrv       check that the oldest supported Rust compiles Ravel"
	@echo "make slurm      prove findings on a Slurm of one node, with a shard killed and tried again"
	@echo "make dist       build the release files with the static binary, in target/release-files"
	@echo "make ship       try all that is shipped in clean Debian systems, from a clean clone, as root (PARTS, BLESS=1 for docs/integration.md)"
	@echo "make setup      only check (and as root install) what the others need"

setup:
	@scripts/setup.sh

build: setup
	@$(CARGO) build --locked --release -p ravel

java:
	@scripts/compile-java.sh

# RELEASES says which JDKs, JDKS where they are kept.
jvms: setup
	@$(CARGO) build --locked -p ravel
	@scripts/with-jdk.sh scripts/jvms-test.sh $(RELEASES)

msrv:
	@scripts/setup.sh --oldest-rust
	@scripts/msrv.sh

# The profile of the tests, so that nothing is built twice. The demo exits with 1 because it shows a bug: here that is success.
demo: setup
	@$(CARGO) build --locked -p ravel
	@scripts/with-jdk.sh target/debug/ravel demo || [ $$? = 1 ]

pictures:
	@scripts/setup.sh --tests
	@$(CARGO) build --locked -p ravel
	@scripts/with-jdk.sh scripts/pictures.sh

examples:
	@scripts/setup.sh --tests pngquant:pngquant
	@$(CARGO) build --locked -p ravel
	@scripts/with-jdk.sh scripts/examples.sh

test:
	@scripts/setup.sh --tests
	@scripts/with-jdk.sh scripts/test.sh

bench: build
	@scripts/setup.sh /usr/bin/time:time
	@scripts/with-jdk.sh scripts/optional.sh benches/run.sh
	@scripts/with-jdk.sh scripts/optional.sh benches/focus.sh

realworld: build
	@scripts/setup.sh /usr/bin/time:time mvn:maven
	@scripts/with-jdk.sh scripts/optional.sh scripts/realworld.sh

integrations: setup
	@$(CARGO) build --locked -p ravel
	@scripts/setup.sh mvn:maven gradle:gradle python3:python3
	@scripts/with-jdk.sh scripts/optional.sh scripts/plugins-test.sh

# How often each subject is tried; EVIDENCE_SECONDS bounds the whole.
RUNS ?= 1
evidence: setup
	@scripts/with-jdk.sh scripts/evidence.sh $(RUNS)

trust: RUNS = 20
trust: setup
	@scripts/setup.sh stress:stress
	@scripts/with-jdk.sh scripts/trust.sh $(RUNS)

fuzz: setup
	@CASES=$(CASES) FUZZ_SECONDS=$(FUZZ_SECONDS) scripts/with-jdk.sh scripts/fuzz.sh

miri: setup
	@scripts/with-jdk.sh scripts/miri.sh

slurm: setup
	@$(CARGO) build --locked -p ravel
	@scripts/with-jdk.sh scripts/slurm-test.sh

dist:
	@TARGET=x86_64-unknown-linux-musl scripts/dist.sh

ship:
	@scripts/ship-test.sh
