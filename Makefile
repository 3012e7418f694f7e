# `make` lists the targets. Cargo builds and tests; this file adds the order of the steps, the two compilation targets
# (native and Wasm) and the directory for the results.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
# Cargo is parallel by itself and locks its target directory: parallel recipes would only wait for each other.
.NOTPARALLEL:

CARGO ?= cargo
PYTHON ?= python3
# The compiler for Wasm and for arm64: rustup (or any rustc that has the target), or debian (Debian's rustc-web).
# Empty: the first one found.
CROSS_TOOLCHAIN ?=
# Installs what the machine lacks. SETUP=true skips this step.
SETUP ?= .ci/setup
# Arguments for the test programs, such as part of a test's name: make test ARGS=robots
ARGS ?=
# The number of cases that a property test generates, and the seed. The seed is fixed, so that a failure comes from a
# change of the code. Set another one to look for new faults.
PROPTEST_CASES ?= 500
PROPTEST_RNG_SEED ?= 1
export PROPTEST_CASES PROPTEST_RNG_SEED
# The number of tests that run at a time: most of them wait for servers.
RUST_TEST_THREADS ?= $(shell echo $$((2 * $$(nproc))))
export RUST_TEST_THREADS
# Tests that another program carries out, or that are run again and again, compute more than they wait.
memcheck sanitize mutants test-arm64: RUST_TEST_THREADS := $(shell nproc)
# The core benchmarks to run.
BENCHES ?= prefix_table load systems feeds user_agent robots decide signature
# The number of turns of each candidate in a benchmark of the gates, and the length of a turn in seconds. Without turns, the
# benchmark counts instructions only, which other work on the machine hardly changes.
ROUNDS ?= 9
SECONDS_A_TURN ?= 2
# A part of the names of the candidates in bench-envoy, or of the deliveries in soak-envoy. Empty: all.
ONLY ?=
# The Debian releases that nginx-matrix and test-packages test, such as trixie, and other nginx to build and test. Both empty: all
# releases.
SUITES ?=
SOURCES ?=
# The C library of SOURCES: musl, or empty for this machine's.
LIBC ?=
# The gate of the soak tests: nginx or envoy (the native module); for soak-documents, also wasm (the Wasm filters).
GATE ?= nginx
# Their length in seconds, also that of the random worlds of model, and their seed (default: a random one, which is printed).
SECONDS ?= 300
SEED ?=
# The number of ruleset updates in soak-envoy.
UPDATES ?= 1000
# The time for each fuzz target in seconds, and the targets to run: names, or all.
FUZZ_SECONDS ?= 30
FUZZ_TARGETS ?= all
# The part of all mutants that mutants looks at: another one each day, from all over the core.
MUTANTS ?= $(shell echo $$(($$(date +%-j) % 20)))/20
# The length of the log of report-log.
LINES ?= 10000000

# The source of the programs in the images of test-docker: dist (dist/, which it builds) or source (compiled in the images).
ARTEFACTS ?= dist

# The checks of `make deny`. The database of advisories is on GitHub: CHECKS=advisories downloads it.
CHECKS ?= bans licenses sources

# The directory with the clones that bench-document reads pages from.
CORPORA ?=

# The directory with the CustomResourceDefinitions that test-manifests and test-helm check against.
CRDS ?=
WRITE ?=

# For apt-repo: the directory to create, and the key of gpg.
REPO ?=
KEY ?=

# For soak-reload: the number of reloads, the prefixes in its feed, and the number of refreshes.
RELOADS ?= 1000
PREFIXES ?= 300000
REFRESHES ?= 100
export RELOADS PREFIXES REFRESHES

comma := ,
# The crates that `native` builds.
NATIVE := crawlpike-nginx crawlpike-envoy-module crawlpike
# The profiles of `native`, `wasm` and `arm64`, and what `native` builds besides.
NATIVE_PROFILE := release
# Another target than this machine's, for `native`: x86_64-unknown-linux-musl (see docs/packaging.md).
NATIVE_TARGET :=
WASM_PROFILE := wasm
ARM64_PROFILE := release
BESIDES :=
# Builds all that a demonstration runs in a third of the time, as the tests are built, into a directory of its own: dist/ is
# for users. All native packages are built at once: a package alone has other features, so that cargo would build what it
# shares with others again. The paths stay as they are, because cargo would build again for the tests what has others.
QUICK = NATIVE_PROFILE=dev WASM_PROFILE=dev REMAP= DIST=$(abspath $(TARGET_DIR))/quick BESIDES="crawlpike-tests crawlpike-trim" \
    WASM=$(WASM_POLICIES) WASM_FINISH=$(abspath $(TARGET_DIR))/debug/crawlpike-trim
NATIVE_CARGO = $(if $(NATIVE_TARGET),.ci/cargo-for $(NATIVE_TARGET),$(CARGO))
profile_dir = $(patsubst dev,debug,$(1))
# The directory for the results. PANICS=1 builds programs that panic and fail on demand, for tests only.
DIST := dist
PANICS :=
# The filters that the target `wasm` builds, as CRATE:FILE, and the command that makes the file from the linked module. Each is
# built by itself: in one build, the features of a dependency that one of them needs would be in all.
WASM_POLICIES := crawlpike-envoy:crawlpike.wasm
WASM := $(WASM_POLICIES) crawlpike-envoy-documents:crawlpike-documents.wasm
WASM_FINISH := $(CARGO) run -q -p crawlpike-trim --

# Takes a tenth off the policy filter, which has to stay below 1 MB. The features are those that rustc enables.
WASM_OPT := wasm-opt -Oz --enable-bulk-memory --enable-sign-ext --enable-mutable-globals --enable-nontrapping-float-to-int \
    --enable-reference-types --enable-multivalue

WASM_TARGET := wasm32-wasip1
ARM64_TARGET := aarch64-unknown-linux-gnu
TARGET_DIR = $(or $(CARGO_TARGET_DIR),target)
# No path of this machine is in the programs, so that the same sources give the same bytes in every directory.
REMAP = --remap-path-prefix=$(or $(CARGO_HOME),$(HOME)/.cargo)=/cargo --remap-path-prefix=$(CURDIR)=/crawlpike \
    --remap-path-prefix=$(abspath $(TARGET_DIR))=/crawlpike/target

export CROSS_TOOLCHAIN CARGO

.PHONY: help setup build native static wasm wasm-image arm64 check test test-arm64 test-debug mutants coverage model simulation test-panics test-docker test-monitoring test-browsers test-manifests test-helm memcheck sanitize report-log soak soak-documents soak-reload soak-envoy soak-serve deb dist apt-repo test-dist dist-twice nginx-matrix envoy-matrix fuzz nightly demo lint fmt catalog deny book pages pictures conformance released bench bench-core bench-document bench-nginx bench-envoy bench-serve bench-signatures clean test-packages

# A target's group stands in brackets at the start of its description.
help: ## [day] Show this help
	@group() { \
	    printf '%s\n' "$$2"; \
	    sed -n "s/^\([a-z0-9-]*\):.*## \[$$1\] \(.*\)/  \1\t\2/p" $(firstword $(MAKEFILE_LIST)) | expand -t 20; \
	    echo; \
	}; \
	group day 'Every day:'; \
	group lands 'Before a change lands (.ci/run runs these, check and test):'; \
	group nightly 'Nightly and before a release:'; \
	group bench 'Benchmarks:'; \
	group release 'Packages and releases:'
	@echo 'Variables:'
	@echo '  KEEP=1                               demo: leave both servers running, and show how to query them'
	@echo '  ARGS=…                               test: arguments for the test programs, such as part of a test name'
	@echo '  PROPTEST_CASES=500                   test: the number of cases of each property test'
	@echo '  PROPTEST_RNG_SEED=1                  test: the seed of the property tests'
	@echo '  RUST_TEST_THREADS=4                  all tests: how many run at a time (default: two for each processor)'
	@echo '  SUITES=trixie                        nginx-matrix, test-packages: the Debian releases to test (default: all); the latter takes rpm and alpine, too'
	@echo '  SOURCES=DIR/nginx@release-1.31.4     nginx-matrix: other nginx, as REPOSITORY@TAG or as a directory'
	@echo '  BENCHES=prefix_table                 bench-core: the benchmarks to run (default: all)'
	@echo '  ROUNDS=9 SECONDS_A_TURN=2            bench-nginx, bench-envoy: turns of each candidate, and their length'
	@echo '  ONLY=native                          bench-envoy, soak-envoy: measure only what has this in its name'
	@echo '  ARTEFACTS=source                     test-docker: compile the programs in the images (default: dist, takes them from dist/)'
	@echo '  CHECKS=advisories                    deny: the checks to run (default: bans licenses sources)'
	@echo '  CORPORA=DIR                          bench-document: clones of the repositories with the pages (required)'
	@echo '  CRDS=DIR                             test-manifests, test-helm: the CRDs of Istio and of Envoy Gateway'
	@echo '  GATE=envoy SECONDS=300 SEED=1        soak, soak-documents, soak-serve: the gate (default: nginx), the duration and the seed'
	@echo '  UPDATES=1000                         soak-envoy: the number of updates'
	@echo '  REPO=DIR KEY=ID                      apt-repo: the directory to create, and the key of gpg that signs it'
	@echo '  LINES=10000000 SEED=1                report-log: the number of lines and the seed'
	@echo '  MUTANTS=0/20                         mutants: the part of all mutants (default: another one each day)'
	@echo '  FUZZ_SECONDS=30 FUZZ_TARGETS=all     fuzz: the time for each target, and the targets'
	@echo '  RELOADS=1000 PREFIXES=300000         soak-reload: the number of reloads, and the size of the feed'
	@echo '  REFRESHES=100                        soak-reload: the number of refreshes'
	@echo '  CROSS_TOOLCHAIN=rustup|debian        build, arm64: the compiler for Wasm and arm64 (default: the first one found)'
	@echo '  SETUP=true                           all: do not check or install anything'
	@echo '  NGINX_SOURCE_DIR, NGINX_BUILD_DIR    build: your own configured nginx tree (default: like the installed nginx)'

setup: ## [day] Install nginx with its headers, Envoy and the Wasm target, or print what you need to install
	@$(SETUP)

build: native wasm ## [day] Build the nginx module, Envoy's module and Wasm filters, and the command line, in dist/
	@ls -l dist | awk 'NR > 1 { printf "%10d  dist/%s\n", $$5, $$9 }'

# install(1) unlinks the old file first. Writing into a module that a running nginx has mapped would crash it. With -C, it
# leaves a file alone that would not change, which a test may read at this time. A second make in this checkout waits: cargo
# links what it built in the same places for either, also the two builds of the command line.
native: setup
	@mkdir -p $(DIST) $(TARGET_DIR); exec 9>$(TARGET_DIR)/.make-native-lock; flock 9; \
	RUSTFLAGS="$${RUSTFLAGS:-} $(REMAP)" $(NATIVE_CARGO) build --profile $(NATIVE_PROFILE) $(addprefix -p ,$(NATIVE) $(BESIDES)) \
	    $(if $(PANICS),$(patsubst %,--features %/faults-for-tests,$(NATIVE))); \
	cd $(TARGET_DIR)/$(if $(NATIVE_TARGET),$(NATIVE_TARGET)/)$(call profile_dir,$(NATIVE_PROFILE)); for package in $(NATIVE); do case $$package in \
	    crawlpike-nginx) install -C -m 755 libcrawlpike_nginx.so $(abspath $(DIST))/ngx_http_crawlpike_module.so ;; \
	    crawlpike-envoy-module) install -C -m 755 libcrawlpike_envoy_module.so $(abspath $(DIST))/libcrawlpike_envoy.so ;; \
	    crawlpike) install -C -m 755 crawlpike $(abspath $(DIST))/crawlpike ;; \
	esac; done

# For containers without a C library. The C library resolves names by itself in a static program, by /etc/hosts and DNS. Only the
# program is compiled for it: its crates are those of `native`.
STATIC := -C target-feature=+crt-static
static: setup ## [release] Build dist/static/crawlpike, which needs no library
	@mkdir -p $(TARGET_DIR); exec 9>$(TARGET_DIR)/.make-native-lock; flock 9; \
	RUSTFLAGS="$${RUSTFLAGS:-} $(REMAP)" \
	    $(CARGO) rustc --release -p crawlpike --bin crawlpike -- $(STATIC); \
	install -C -D -m 755 $(TARGET_DIR)/release/crawlpike $(DIST)/static/crawlpike

wasm: setup
	@mkdir -p $(DIST) $(TARGET_DIR); exec 9>$(TARGET_DIR)/.make-wasm-lock; flock 9; \
	folder=$$(.ci/cargo-for $(WASM_TARGET) --folder)/$(call profile_dir,$(WASM_PROFILE)); \
	for filter in $(WASM); do \
	    crate=$${filter%:*}; \
	    RUSTFLAGS="$${RUSTFLAGS:-} $(REMAP)" .ci/cargo-for $(WASM_TARGET) build --profile $(WASM_PROFILE) \
	        $(if $(PANICS),--features faults-for-tests) -p "$$crate"; \
	    finished=$$folder/$${filter#*:}; \
	    $(WASM_FINISH) "$$folder/$${crate//-/_}.wasm" "$$finished"; \
	    if [[ $(WASM_PROFILE)/$$crate == wasm/crawlpike-envoy ]]; then $(WASM_OPT) "$$finished" -o "$$finished"; fi; \
	    install -C -m 644 "$$finished" "$(DIST)/$${filter#*:}"; \
	done

# The command line needs no library, as that of `static`.
arm64: ## [nightly] Build the command line, the nginx module for Debian 12, and Envoy's module for arm64, in dist/arm64/
	@$(SETUP) arm64
	RUSTFLAGS="$${RUSTFLAGS:-} $(REMAP)" .ci/cargo-for $(ARM64_TARGET) build --profile $(ARM64_PROFILE) \
	    -p crawlpike-nginx -p crawlpike-envoy-module
	@mkdir -p $(DIST)/arm64/static; \
	folder=$$(.ci/cargo-for $(ARM64_TARGET) --folder)/$(call profile_dir,$(ARM64_PROFILE)); \
	install -m 755 "$$folder/libcrawlpike_nginx.so" $(DIST)/arm64/ngx_http_crawlpike_module.so; \
	install -m 755 "$$folder/libcrawlpike_envoy_module.so" $(DIST)/arm64/libcrawlpike_envoy.so; \
	RUSTFLAGS="$${RUSTFLAGS:-} $(REMAP)" \
	    .ci/cargo-for $(ARM64_TARGET) rustc --profile $(ARM64_PROFILE) -p crawlpike --bin crawlpike -- $(STATIC); \
	install -m 755 "$$folder/crawlpike" $(DIST)/arm64/static/crawlpike

wasm-image: wasm ## [release] Make dist/wasm-image, an OCI image layout of dist/crawlpike.wasm for Istio and Envoy Gateway
	@packaging/wasm-image $(DIST)/crawlpike.wasm $(DIST)/wasm-image \
	    "$$(sed -n 's/^version *= *"\(.*\)".*/\1/p' Cargo.toml | head -n 1)"

# The unit tests need no server. All other tests are in crawlpike-tests and in the `tests` folders of the crates.
check: setup ## [day] Check the format, run clippy and the unit tests: the quick tier, at most 3 minutes after the first time
	$(CARGO) fmt --all --check
	$(CARGO) clippy -q --workspace --all-targets -- -D warnings
	$(CARGO) test -q --workspace --exclude crawlpike-tests --lib --bins -- $(ARGS)

# Cargo's output is unchanged; the last line is the sum of its "test result:" lines.
test: build ## [day] Build, then run all tests: unit tests, doc tests, the table of cases, and the tests with real servers
	@status=0; \
	$(CARGO) test --workspace --no-fail-fast -- $(ARGS) 2>&1 | tee $(TARGET_DIR)/test.log || status=$$?; \
	awk '/^test result:/ { passed += $$4; failed += $$6; ignored += $$8 } \
	    END { printf "%d passed, %d failed, %d skipped\n", passed, failed, ignored }' $(TARGET_DIR)/test.log; \
	exit $$status

fuzz: ## [nightly] Run each fuzz target of the core for FUZZ_SECONDS (needs stable Rust and g++)
	@$(SETUP) fuzz
	@tests/fuzz/run $(FUZZ_SECONDS) $(filter-out all,$(FUZZ_TARGETS))

mutants: setup ## [nightly] Change the core in one place after the other, and see whether the tests notice (an hour or two)
	@$(SETUP) mutants
	@tests/mutants/run $(MUTANTS)

coverage: setup ## [nightly] Print the share of the core's lines that its own tests, the model and the table of cases run
	@$(SETUP) coverage
	@export PATH="$$PWD/target/tools/cargo-llvm-cov/bin:$$PATH"; \
	$(CARGO) llvm-cov clean --workspace; \
	$(CARGO) llvm-cov -q --no-report -p crawlpike-core --lib --tests >&2; \
	$(CARGO) llvm-cov -q --no-report -p crawlpike-model >&2; \
	$(CARGO) llvm-cov -q --no-report -p crawlpike-tests --test cases -- core >&2; \
	$(CARGO) llvm-cov report --json --summary-only | $(PYTHON) tests/coverage.py | tee $(TARGET_DIR)/coverage.md

model: ## [nightly] Compare the core with the model of its decisions: all bounded worlds, then random ones for SECONDS
	@CRAWLPIKE_MODEL=whole CRAWLPIKE_MODEL_SECONDS=$(SECONDS) $(CARGO) test -q --profile model --workspace --test model -- --nocapture | tee $(TARGET_DIR)/model.txt

simulation: ## [nightly] Let 1,000 edges update 100 feeds of publishers that err for a year, and print the tables of docs/simulation.md
	@$(CARGO) run -q --profile model -p crawlpike-simulation | tee $(TARGET_DIR)/simulation.md

# The programs that panic and fail on demand have their own directory: dist/ is for users. The native ones are built as the tests
# are, so that they share most crates with them.
PANICKING = $(abspath $(TARGET_DIR))/panicking
test-panics: setup ## [lands] Build gates and a command line that fail on demand, and test that no panic and no failed call takes one down
	@$(MAKE) --no-print-directory native SETUP=true PANICS=1 DIST=$(PANICKING) NATIVE_PROFILE=dev REMAP=
	@$(MAKE) --no-print-directory wasm SETUP=true PANICS=1 DIST=$(PANICKING)
	CRAWLPIKE_DIST=$(PANICKING) $(CARGO) test --workspace --test panics --test faults -- $(ARGS)

test-monitoring: build ## [lands] Test the dashboard and the alerts in examples/monitoring with Prometheus
	@$(SETUP) monitoring
	$(CARGO) test --workspace --test monitoring -- $(ARGS)

test-browsers: build ## [nightly] Test that no request of Chromium and Firefox is inconsistent; RECORD=1 records them
	@$(SETUP) browsers
	RECORD=$(RECORD) $(CARGO) test --workspace --test browsers -- $(ARGS)

# The networks have fixed prefixes, so the tests run one after the other. What is in dist/ is what the tests compare with, and
# the package.
test-docker: ## [lands] Test the images, compose.yaml and the package in containers (needs a Docker engine)
	@if docker version >/dev/null 2>&1; then \
	    $(SETUP) images deb; \
	    $(MAKE) --no-print-directory build static; \
	    ARTEFACTS=$(ARTEFACTS) $(CARGO) test --workspace --test docker -- --test-threads=1 $(ARGS); \
	elif [[ -n "$${CI:-}" && -S /var/run/docker.sock ]]; then \
	    echo 'test-docker: the Docker engine of this machine does not answer' >&2; exit 1; \
	else \
	    echo 'test-docker: no Docker engine answers, skipping the tests in containers'; \
	fi

test-manifests: ## [lands] Check the manifests in examples against the CRDs in the directory CRDS=DIR
	@[[ -d "$(CRDS)" ]] || { echo 'test-manifests: CRDS must name a directory with the CRDs of Istio and of Envoy Gateway' \
	    '(docs/mesh.md lists the files): make test-manifests CRDS=DIR' >&2; exit 1; }
	@$(SETUP)
	CRAWLPIKE_CRDS=$(abspath $(CRDS)) $(CARGO) test --workspace --features crawlpike-tests/manifests --test crds -- $(ARGS)

# With WRITE=1, it writes the table of values into the chart's README.
test-helm: build ## [lands] Check the Helm chart: what it renders, and that the real servers take it; CRDS=DIR checks CRDs, too
	@$(SETUP) helm
	$(if $(CRDS),CRAWLPIKE_CRDS=$(abspath $(CRDS))) $(if $(WRITE),CRAWLPIKE_WRITE=1) \
	    $(CARGO) test --workspace --features crawlpike-tests/manifests --test helm -- $(ARGS)

memcheck: build ## [nightly] Run tests of nginx, and some of the native module in Envoy, under valgrind (takes some minutes)
	@tests/memcheck/run $(ARGS)

sanitize: native ## [nightly] Run tests of nginx with the AddressSanitizer and helgrind (needs a nightly compiler; takes some minutes)
	@tests/sanitize/run $(ARGS)

deb: ## [release] Build the Debian packages for the nginx of this Debian, in dist/
	@$(SETUP) deb
	@$(MAKE) --no-print-directory native
	@packaging/debian/build

# What `.ci/setup arm64` makes shows that this machine builds for arm64.
dist: build static wasm-image $(if $(wildcard target/arm64/.complete),arm64) ## [release] Make dist/release: archives, packages, bill of materials and digests of this version
	@$(SETUP) deb dist
	@packaging/release/build

apt-repo: ## [release] Make a repository for apt from dist/release in REPO=DIR, signed by the key of gpg that KEY names
	@[[ -n "$(REPO)" ]] || { echo 'apt-repo: REPO must name the directory to create: make apt-repo REPO=DIR KEY=ID' >&2; exit 1; }
	@packaging/release/apt-repo "$(REPO)" $(KEY)

test-dist: dist ## [lands] Test what a release consists of: contents, digests, packages, bill of materials
	$(CARGO) test --workspace --test dist -- $(ARGS)

dist-twice: ## [nightly] Build the release in two directories, and compare all files (takes many minutes)
	@packaging/release/twice

# Needs root to create the Debian roots and to chroot into them.
nginx-matrix: native ## [nightly] Build and test the module for the nginx of each Debian release from 12 on, or for SOURCES (as root)
	@$(SETUP) matrix deb $(LIBC)
	@LIBC=$(LIBC) tests/matrix/run $(SUITES) $(SOURCES)

# Needs root to create the roots and to chroot into them.
test-packages: ## [nightly] Build and test packages from the source, in new roots of Debian 12, 13 and sid, by RPM and for Alpine (as root)
	@$(SETUP) packages
	@tests/packages/run $(SUITES)

test-arm64: native arm64 ## [nightly] Test what is built for arm64, emulated
	@$(SETUP) deb
	@tests/arm64/run

# The Envoy of the other tests is the newest one.
envoy-matrix: native ## [lands] Run the table of cases with the native module in older versions of Envoy
	@$(SETUP) envoy envoys
	@for envoy in target/tools/envoy-*; do \
	    echo "$$envoy"; \
	    ENVOY="$$PWD/$$envoy" $(CARGO) test -q --workspace --test cases -- envoy_native; \
	done

# What .ci/run has no time for: long fuzzing, other seeds, another processor, memory checkers, soaks, a second build.
nightly: build ## [nightly] Run everything that takes too long for each change (some hours)
	$(MAKE) --no-print-directory test PROPTEST_CASES=5000 PROPTEST_RNG_SEED=$$RANDOM$$RANDOM
	$(MAKE) --no-print-directory model SECONDS=3600 PROPTEST_RNG_SEED=$$RANDOM$$RANDOM
	$(MAKE) --no-print-directory simulation
	$(MAKE) --no-print-directory mutants
	$(MAKE) --no-print-directory coverage
	$(MAKE) --no-print-directory fuzz FUZZ_SECONDS=120
	$(MAKE) --no-print-directory test-arm64 ARM64_PROFILE=dev
	$(MAKE) --no-print-directory memcheck
	$(MAKE) --no-print-directory sanitize
	$(MAKE) --no-print-directory test-debug
	$(MAKE) --no-print-directory test-browsers
	$(MAKE) --no-print-directory soak
	$(MAKE) --no-print-directory soak GATE=envoy
	for gate in nginx envoy wasm; do $(MAKE) --no-print-directory soak-documents GATE=$$gate; done
	$(MAKE) --no-print-directory soak-reload
	$(MAKE) --no-print-directory soak-envoy
	$(MAKE) --no-print-directory soak-serve
	$(MAKE) --no-print-directory nginx-matrix
	$(MAKE) --no-print-directory test-packages DEB_BUILD_OPTIONS=noopt
	$(CARGO) install -q --locked --path cli --root $(TARGET_DIR)/installed && $(TARGET_DIR)/installed/bin/crawlpike --version
	$(MAKE) --no-print-directory dist-twice

# Debug builds of the native module also check in which calls Envoy enters its hooks.
test-debug: setup ## [nightly] Run the tests of the native module in Envoy with a debug build
	@$(MAKE) --no-print-directory native SETUP=true NATIVE_PROFILE=dev REMAP= DIST=$(abspath $(TARGET_DIR))/quick
	CRAWLPIKE_DIST=$(abspath $(TARGET_DIR))/quick $(CARGO) test --workspace --test envoy -- names native $(ARGS)

demo: setup ## [day] Watch nginx and Envoy tell real crawlers from impostors
	@$(MAKE) --no-print-directory native wasm SETUP=true $(QUICK)
	@CRAWLPIKE_DIST=$(abspath $(TARGET_DIR))/quick $(TARGET_DIR)/debug/demo

lint: setup ## [day] Check the formatting, the shell scripts and the catalog, and run clippy for both targets (warnings are errors)
	@for tool in fmt clippy; do $(CARGO) $$tool --version >/dev/null 2>&1 || \
	    { echo "lint: 'cargo $$tool' is not installed: rustup component add rustfmt clippy" >&2; exit 1; }; done
	@if command -v shellcheck >/dev/null; then set -x; shellcheck .ci/setup .ci/run .ci/cargo-for .ci/arm64/* .ci/musl/cc packaging/wasm-image \
	    packaging/debian/{build,changelog,documents,source,debian/tests/decisions} packaging/nginx-modules/crawlpike/prebuild packaging/release/{apt-repo,build,completions,licences,twice,vendored} tests/*/run conformance/compare docs/book/build packaging/docker/{base,build,check,healthcheck,*/entrypoint} tests/matrix/{in-root,module,package,source}; fi
	$(PYTHON) core/data/make_catalog.py --check
	$(PYTHON) docs/book/pictures.py --check
	$(CARGO) fmt --all --check
	$(CARGO) clippy -q --workspace --all-targets -- -D warnings
	$(CARGO) check -q --locked --manifest-path tests/fuzz/Cargo.toml --target-dir $(TARGET_DIR)/fuzz-check
	@if compgen -G "$$(rustc --print target-libdir --target $(WASM_TARGET))/libstd-*.rlib" >/dev/null; then \
	    set -x; $(CARGO) clippy -q -p crawlpike-core -p crawlpike-envoy -p crawlpike-envoy-documents --target $(WASM_TARGET) -- -D warnings; \
	else \
	    echo 'lint: clippy has no target $(WASM_TARGET) here; the filters are checked for the native target only'; \
	fi

fmt: ## [day] Format the code
	$(CARGO) fmt --all

catalog: ## [release] Make the built-in agent catalog from core/data/sources (needs Python 3.11)
	$(PYTHON) core/data/make_catalog.py

deny: ## [lands] Check the licences, sources and versions of the dependencies by deny.toml, or what CHECKS names
	@$(SETUP) deny
	@PATH="$(CURDIR)/target/tools:$$PATH"; \
	$(CARGO) deny --version >/dev/null 2>&1 || { echo "deny: 'cargo deny' is not installed: .ci/setup deny" >&2; exit 1; }; \
	set -x; $(CARGO) deny check $(CHECKS)

pages: ## [day] Rewrite the pages that are made from the code: docs/configuration.md, docs/conformance.md
	@$(CARGO) run -q -p crawlpike-tests --bin pages

conformance: ## [release] Check the corpus by its schema, and print who passes it: the table of docs/conformance-corpus.md
	@$(SETUP) conformance
	@$(CARGO) build -q --locked --manifest-path conformance/adapters/rust/Cargo.toml --target-dir $(TARGET_DIR)/conformance-rust
	@target/conformance/bin/check-jsonschema -q --schemafile conformance/schema.json conformance/cases/*.json
	@conformance/compare $(abspath $(DIST))/crawlpike $(abspath target/conformance/bin/python) \
	    $(abspath $(TARGET_DIR))/conformance-rust/debug/conformance-adapters

released: ## [release] Record the names that users rely on in tests/released.json: a step of a release
	@$(CARGO) run -q -p crawlpike-tests --bin pages -- released

pictures: ## [release] Redraw the pictures and plots in docs/pictures
	@$(PYTHON) docs/book/pictures.py

book: ## [lands] Build the documentation as a book, in target/book/html
	@$(SETUP) book
	@docs/book/build

bench: ## [bench] Run all benchmarks on an idle machine, and write target/bench.md (bench-document only with CORPORA=DIR)
	@rm -f $(TARGET_DIR)/bench-{core.txt,nginx.md,envoy.md,serve.md,signatures.md,document.md}
	@$(MAKE) --no-print-directory bench-core
	@$(MAKE) --no-print-directory bench-nginx
	@$(MAKE) --no-print-directory bench-envoy
	@$(MAKE) --no-print-directory bench-serve
	@$(MAKE) --no-print-directory bench-signatures
	@$(if $(CORPORA),$(MAKE) --no-print-directory bench-document)
	@$(PYTHON) tests/bench/report.py $(TARGET_DIR) | tee $(TARGET_DIR)/bench.md

# Cargo writes its own messages to stderr, so stdout holds only the report.
bench-core: ## [bench] Benchmark the core against published crates, without servers
	@for bench in $(BENCHES); do \
	    printf '\n== %s ==\n' "$$bench"; \
	    $(CARGO) bench -q -p crawlpike-core -p crawlpike-files --bench "$$bench"; \
	done | tee $(TARGET_DIR)/bench-core.txt

# The peers are not in the workspace: some have licences or versions that the product may not have.
bench-document: ## [bench] Compare documents with those of other tools, on corpora in clones in CORPORA=DIR (takes many minutes)
	@[[ -d "$(CORPORA)" ]] || { echo 'bench-document: CORPORA must name a directory with clones, as OWNER/NAME' \
	    '(tests/bench/documents/corpora.py lists them): make bench-document CORPORA=DIR' >&2; exit 1; }
	@$(SETUP) peers bench
	@$(PYTHON) tests/bench/documents/corpora.py $(CORPORA) $(TARGET_DIR)/corpora
	@for truth in $(TARGET_DIR)/corpora/*/truth.json; do corpus=$${truth%/*}; \
	    target/document-peers/bin/python tests/bench/documents/peers.py "$$corpus" "$$corpus/peers"; \
	done
	@CRAWLPIKE_CORPORA=$(abspath $(TARGET_DIR))/corpora $(CARGO) test -q -p crawlpike-document --lib html::standard >&2
	@CARGO_TARGET_DIR=$(abspath $(TARGET_DIR))/document-bench $(CARGO) run -q --release \
	    --manifest-path tests/bench/documents/Cargo.toml -- $(TARGET_DIR)/corpora | tee $(TARGET_DIR)/bench-document.md

bench-nginx: build ## [bench] Benchmark the nginx gate against bare nginx and hand-written rules (takes some minutes)
	@$(SETUP) nginx bench
	@$(CARGO) run -q -p crawlpike-tests --bin bench -- nginx --rounds $(ROUNDS) --seconds $(SECONDS_A_TURN) | tee $(TARGET_DIR)/bench-nginx.md

bench-serve: build ## [bench] Benchmark nginx and Envoy that ask `crawlpike serve` against the gates (takes some minutes)
	@$(SETUP) nginx envoy bench
	@$(CARGO) build -q --release -p crawlpike-empty-authz
	@install -D -m 755 $(TARGET_DIR)/release/crawlpike-empty-authz $(TARGET_DIR)/bench/empty-authz
	@$(CARGO) run -q -p crawlpike-tests --bin bench -- serve --rounds $(ROUNDS) --seconds $(SECONDS_A_TURN) \
	    --empty-gates $(abspath $(TARGET_DIR))/bench | tee $(TARGET_DIR)/bench-serve.md

bench-signatures: build ## [bench] Measure what signatures cost the gates (takes some minutes)
	@$(SETUP) nginx envoy bench
	@$(CARGO) run -q -p crawlpike-tests --bin bench -- signatures --rounds $(ROUNDS) | tee $(TARGET_DIR)/bench-signatures.md
	@$(CARGO) run -q -p crawlpike-tests --bin bench -- attack | tee $(TARGET_DIR)/bench-attack.md

# The empty filter, module and server are baselines for the benchmarks, so they stay out of dist/.
bench-envoy: build ## [bench] Benchmark the Envoy gates against bare Envoy, an empty filter and module, Lua and RBAC (takes some minutes)
	@$(SETUP) envoy bench
	@$(MAKE) --no-print-directory wasm SETUP=true WASM=crawlpike-empty-filter:empty-filter.wasm WASM_FINISH='install -m 644' DIST=$(abspath $(TARGET_DIR))/bench
	@$(CARGO) build -q --release -p crawlpike-empty-module
	@install -m 755 $(TARGET_DIR)/release/libcrawlpike_empty_module.so $(TARGET_DIR)/bench/libempty_module.so
	@$(CARGO) run -q -p crawlpike-tests --bin bench -- envoy --rounds $(ROUNDS) --seconds $(SECONDS_A_TURN) \
	    --empty-gates $(abspath $(TARGET_DIR))/bench --only '$(ONLY)' | tee $(TARGET_DIR)/bench-envoy.md

report-log: native ## [nightly] Draw an access log of LINES lines, and compare what `crawlpike report` counts with what was drawn
	@$(CARGO) run -q -p crawlpike-tests --bin report-log -- $(LINES) $(or $(SEED),1) $(abspath $(TARGET_DIR))/report-log

soak: build ## [nightly] Change, break and kill nginx or Envoy for SECONDS, and check each response against the core
	@$(CARGO) run -q -p crawlpike-tests --bin soak -- --gate $(GATE) --seconds $(SECONDS) $(if $(SEED),--seed $(SEED)) | tee $(TARGET_DIR)/soak-of-$(GATE).md

soak-documents: build ## [nightly] Ask nginx or Envoy for documents of pages that break off for SECONDS, and check each response
	@$(CARGO) run -q -p crawlpike-tests --bin soak -- --documents --gate $(GATE) --seconds $(SECONDS) $(if $(SEED),--seed $(SEED)) | tee $(TARGET_DIR)/soak-documents-of-$(GATE).md

soak-reload: native ## [nightly] Reload nginx RELOADS times with PREFIXES prefixes, refresh it, and report its memory
	@$(CARGO) run -q -p crawlpike-tests --bin soak-reload | tee $(TARGET_DIR)/soak-reload.md

soak-envoy: build ## [nightly] Replace a ruleset of 300,000 prefixes UPDATES times under load, in both gates of Envoy, and report its memory
	@$(CARGO) run -q -p crawlpike-tests --bin bench -- envoy-updates --updates $(UPDATES) --only '$(ONLY)' | tee $(TARGET_DIR)/soak-envoy.md

soak-serve: native ## [nightly] Replace the ruleset of `crawlpike serve` under load in both protocols for SECONDS, and report its memory
	@$(CARGO) run -q -p crawlpike-tests --bin soak-serve -- $(SECONDS) | tee $(TARGET_DIR)/soak-serve.md

clean: ## [day] Remove all build results, and what setup installed under target/
	$(CARGO) clean
	rm -rf dist
