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
# The compiler for the Wasm filter: rustup (or any rustc that has the target), or debian (Debian's rustc-web).
# Empty: the first one found.
WASM_TOOLCHAIN ?=
# Installs what the machine lacks. SETUP=true skips this step.
SETUP ?= .ci/setup
# Arguments for the test programs, such as part of a test's name: make test ARGS=robots
ARGS ?=
# The number of cases that a property test generates, and the seed. The seed is fixed, so that a failure comes from a
# change of the code. Set another one to look for new faults.
PROPTEST_CASES ?= 500
PROPTEST_RNG_SEED ?= 1
export PROPTEST_CASES PROPTEST_RNG_SEED
# The core benchmarks to run.
BENCHES ?= prefix_table load feeds user_agent robots decide
# The number of turns of each candidate in a benchmark of the gates, and the length of a turn in seconds. Without turns, the
# benchmark counts instructions only, which other work on the machine hardly changes.
ROUNDS ?= 9
SECONDS_A_TURN ?= 2
# The Debian releases that nginx-matrix tests, such as trixie. Empty: all.
SUITES ?=
# The length of the soak test in seconds, and its seed (default: a random one, which is printed).
SECONDS ?= 300
SEED ?=
# The number of ruleset updates in soak-envoy.
UPDATES ?= 1000
# The time for each fuzz target in seconds, and the targets to run: names, or all.
FUZZ_SECONDS ?= 30
FUZZ_TARGETS ?= all

# What `make deny` checks. The database of advisories is on GitHub: CHECKS=advisories downloads it.
CHECKS ?= bans licenses sources

# The directory with the CustomResourceDefinitions that test-manifests checks against.
CRDS ?=

# For soak-reload: the number of reloads, the prefixes in its feed, and the number of refreshes.
RELOADS ?= 1000
PREFIXES ?= 300000
REFRESHES ?= 100
export RELOADS PREFIXES REFRESHES

comma := ,
# The directory for the results. PANICS=1 builds gates that panic on request, for tests only.
DIST := dist
PANICS :=
# The filter that the target `wasm` builds, its file name, and the command that makes that file from the linked module.
WASM_CRATE := crawlward-envoy
WASM_FILE := crawlward.wasm
WASM_FINISH := $(CARGO) run -q -p crawlward-trim --

WASM_TARGET := wasm32-wasip1
TARGET_DIR = $(or $(CARGO_TARGET_DIR),target)

export WASM_TOOLCHAIN

.PHONY: help setup build native wasm wasm-image test test-panics test-manifests memcheck soak soak-reload soak-envoy deb nginx-matrix envoy-matrix fuzz demo lint fmt catalog deny bench-core bench-nginx bench-envoy clean

help: ## Show this help
	@echo 'Targets:'
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  \1\t\2/p' $(firstword $(MAKEFILE_LIST)) | expand -t 18
	@echo
	@echo 'Variables:'
	@echo '  KEEP=1                               demo: leave both servers running, and show how to query them'
	@echo '  ARGS=…                               test: arguments for the test programs, such as part of a test name'
	@echo '  PROPTEST_CASES=500                   test: the number of cases of each property test'
	@echo '  PROPTEST_RNG_SEED=1                  test: the seed of the property tests'
	@echo '  SUITES=trixie                        nginx-matrix: the Debian releases to test (default: all)'
	@echo '  BENCHES=prefix_table                 bench-core: the benchmarks to run (default: all)'
	@echo '  ROUNDS=9 SECONDS_A_TURN=2            bench-nginx, bench-envoy: turns of each candidate, and their length'
	@echo '  CHECKS=advisories                    deny: the checks to run (default: bans licenses sources)'
	@echo '  CRDS=DIR                             test-manifests: the CRDs of Istio and of Envoy Gateway, in YAML (required)'
	@echo '  SECONDS=300 SEED=1                   soak: the duration and the seed'
	@echo '  UPDATES=1000                         soak-envoy: the number of updates'
	@echo '  FUZZ_SECONDS=30 FUZZ_TARGETS=all     fuzz: the time for each target, and the targets'
	@echo '  RELOADS=1000 PREFIXES=300000         soak-reload: the number of reloads, and the size of the feed'
	@echo '  REFRESHES=100                        soak-reload: the number of refreshes'
	@echo '  WASM_TOOLCHAIN=rustup|debian         build: the compiler for the filter (default: the first one found)'
	@echo '  SETUP=true                           all: do not check or install anything'
	@echo '  NGINX_SOURCE_DIR, NGINX_BUILD_DIR    build: your own configured nginx tree (default: like the installed nginx)'

setup: ## Install nginx with its headers, Envoy and the Wasm target, or print what you need to install
	@$(SETUP)

build: native wasm ## Build the nginx module, Envoy's module and Wasm filter, and the command line, in dist/
	@ls -l dist | awk 'NR > 1 { printf "%10d  dist/%s\n", $$5, $$9 }'

# install(1) unlinks the old file first. Writing into a module that a running nginx has mapped would crash it.
native: setup
	$(CARGO) build --release -p crawlward-nginx -p crawlward-envoy-module -p crawlward \
	    $(if $(PANICS),--features crawlward-nginx/panic-for-tests$(comma)crawlward-envoy-module/panic-for-tests)
	@install -D -m 755 $(TARGET_DIR)/release/libcrawlward_nginx.so $(DIST)/ngx_http_crawlward_module.so
	@install -D -m 755 $(TARGET_DIR)/release/libcrawlward_envoy_module.so $(DIST)/libcrawlward_envoy.so
	@install -D -m 755 $(TARGET_DIR)/release/crawlward $(DIST)/crawlward

# Debian's rustc-web has only the source of the standard library for this target, so cargo builds that as well. The flag
# for it is nightly-only and needs RUSTC_BOOTSTRAP. This build has its own target directory: two compilers that share one
# discard each other's results.
wasm: setup
	@if [[ "$$WASM_TOOLCHAIN" != debian ]] && \
	    compgen -G "$$(rustc --print target-libdir --target $(WASM_TARGET))/libstd-*.rlib" >/dev/null; then \
	    out=$(TARGET_DIR); \
	    run=($(CARGO) build); \
	else \
	    out=$(TARGET_DIR)/wasm-debian; \
	    run=(env RUSTC_BOOTSTRAP=1 RUSTC=/usr/bin/rustc CARGO_TARGET_DIR="$$out" \
	        CARGO_TARGET_WASM32_WASIP1_LINKER=wasm-ld \
	        RUSTFLAGS="$${RUSTFLAGS:-} -L /usr/lib/wasm32-wasi" \
	        /usr/bin/cargo build -Zbuild-std=std,panic_abort); \
	fi; \
	run+=(--profile wasm -p $(WASM_CRATE) $(if $(PANICS),--features panic-for-tests) --target $(WASM_TARGET)); \
	printf '%q ' "$${run[@]}"; echo; \
	"$${run[@]}"; \
	mkdir -p $(DIST); \
	$(WASM_FINISH) "$$out/$(WASM_TARGET)/wasm/$(subst -,_,$(WASM_CRATE)).wasm" $(DIST)/$(WASM_FILE)

wasm-image: wasm ## Make dist/wasm-image, an OCI image layout of dist/crawlward.wasm for Istio and Envoy Gateway
	@envoy-filter/wasm-image $(DIST)/crawlward.wasm $(DIST)/wasm-image \
	    "$$(sed -n 's/^version *= *"\(.*\)".*/\1/p' Cargo.toml | head -n 1)"

# Cargo's output is unchanged; the last line is the sum of its "test result:" lines.
test: build ## Build, then run all tests: unit tests, doc tests, the table of cases, and the tests with real servers
	@status=0; \
	$(CARGO) test --workspace --no-fail-fast -- $(ARGS) 2>&1 | tee $(TARGET_DIR)/test.log || status=$$?; \
	awk '/^test result:/ { passed += $$4; failed += $$6; ignored += $$8 } \
	    END { printf "%d passed, %d failed, %d skipped\n", passed, failed, ignored }' $(TARGET_DIR)/test.log; \
	exit $$status

fuzz: ## Run each fuzz target of the core for FUZZ_SECONDS (needs stable Rust and g++)
	@$(SETUP) fuzz
	@core/fuzz/run $(FUZZ_SECONDS) $(filter-out all,$(FUZZ_TARGETS))

# The gates that panic on request have their own directory: dist/ is for users.
test-panics: setup ## Build gates that panic on request, and test that a panic takes no server down
	@$(MAKE) --no-print-directory native wasm SETUP=true PANICS=1 DIST=$(abspath $(TARGET_DIR))/panicking
	CRAWLWARD_DIST=$(abspath $(TARGET_DIR))/panicking $(CARGO) test -p crawlward-tests --features panics --test panics -- $(ARGS)

test-manifests: ## Check the manifests in examples/envoy against the CRDs in the directory CRDS=DIR
	@[[ -d "$(CRDS)" ]] || { echo 'test-manifests: CRDS must name a directory with the CRDs of Istio and of Envoy Gateway' \
	    '(docs/mesh.md lists the files): make test-manifests CRDS=DIR' >&2; exit 1; }
	@$(SETUP)
	CRAWLWARD_CRDS=$(abspath $(CRDS)) $(CARGO) test -p crawlward-tests --features crds --test crds -- $(ARGS)

memcheck: build ## Run the nginx tests under valgrind (needs valgrind; takes some minutes)
	@tests/memcheck/run $(ARGS)

deb: ## Build dist/libnginx-mod-http-crawlward_*.deb for the nginx of this Debian
	@$(SETUP) deb
	@$(MAKE) --no-print-directory native
	@nginx-module/debian/build

# Needs root to create the Debian roots and to chroot into them.
nginx-matrix: native ## Build and test the module for the nginx of each Debian release from 12 on (as root)
	@$(SETUP) matrix deb
	@tests/matrix/run $(SUITES)

# The Envoy of the other tests is the newest one.
envoy-matrix: native ## Run the table of cases with the native module in older versions of Envoy
	@$(SETUP) envoy envoys
	@for envoy in target/tools/envoy-*; do \
	    echo "$$envoy"; \
	    ENVOY="$$PWD/$$envoy" $(CARGO) test -q -p crawlward-tests --test cases -- envoy_native; \
	done

demo: build ## Watch nginx and Envoy tell real crawlers from impostors
	@$(CARGO) run -q -p crawlward-tests --bin demo

lint: setup ## Check the formatting, the shell scripts and the catalog, and run clippy for both targets (warnings are errors)
	@for tool in fmt clippy; do $(CARGO) $$tool --version >/dev/null 2>&1 || \
	    { echo "lint: 'cargo $$tool' is not installed: rustup component add rustfmt clippy" >&2; exit 1; }; done
	@if command -v shellcheck >/dev/null; then set -x; shellcheck .ci/setup .ci/run core/fuzz/run envoy-filter/wasm-image \
	    nginx-module/debian/build tests/*/run tests/docker/base tests/matrix/{in-root,package}; fi
	$(PYTHON) core/data/make_catalog.py --check
	$(CARGO) fmt --all --check
	$(CARGO) clippy -q --workspace --all-targets -- -D warnings
	@if compgen -G "$$(rustc --print target-libdir --target $(WASM_TARGET))/libstd-*.rlib" >/dev/null; then \
	    set -x; $(CARGO) clippy -q -p crawlward-core -p crawlward-envoy --target $(WASM_TARGET) -- -D warnings; \
	else \
	    echo 'lint: clippy has no target $(WASM_TARGET) here; the filter is checked for the native target only'; \
	fi

fmt: ## Format the code
	$(CARGO) fmt --all

catalog: ## Make the built-in agent catalog from core/data/sources (needs Python 3.11)
	$(PYTHON) core/data/make_catalog.py

deny: ## Check the licences, sources and versions of the dependencies by deny.toml, or what CHECKS names
	@$(SETUP) deny
	@PATH="$(CURDIR)/target/tools:$$PATH"; \
	$(CARGO) deny --version >/dev/null 2>&1 || { echo "deny: 'cargo deny' is not installed: .ci/setup deny" >&2; exit 1; }; \
	set -x; $(CARGO) deny check $(CHECKS)

# Cargo writes its own messages to stderr, so stdout holds only the report.
bench-core: ## Benchmark the core against published crates, without servers
	@for bench in $(BENCHES); do \
	    printf '\n== %s ==\n' "$$bench"; \
	    $(CARGO) bench -q -p crawlward-core -p crawlward-files --bench "$$bench"; \
	done | tee $(TARGET_DIR)/bench-core.txt

bench-nginx: build ## Benchmark the nginx gate against bare nginx and hand-written rules (takes some minutes)
	@$(SETUP) nginx bench
	@$(CARGO) run -q -p crawlward-tests --bin bench -- nginx --rounds $(ROUNDS) --seconds $(SECONDS_A_TURN) | tee $(TARGET_DIR)/bench-nginx.md

# The empty filter is a baseline for the benchmark, so it stays out of dist/.
bench-envoy: build ## Benchmark the Envoy gate against bare Envoy, an empty Wasm filter, Lua and RBAC (takes some minutes)
	@$(SETUP) envoy bench
	@$(MAKE) --no-print-directory wasm SETUP=true WASM_CRATE=crawlward-empty-filter WASM_FILE=empty-filter.wasm WASM_FINISH='install -m 644' DIST=$(abspath $(TARGET_DIR))/bench
	@$(CARGO) run -q -p crawlward-tests --bin bench -- envoy --rounds $(ROUNDS) --seconds $(SECONDS_A_TURN) \
	    --empty-filter $(abspath $(TARGET_DIR))/bench/empty-filter.wasm | tee $(TARGET_DIR)/bench-envoy.md

soak: build ## Reload, break and kill nginx for SECONDS, and check each response against the core
	@$(CARGO) run -q -p crawlward-tests --bin soak -- --seconds $(SECONDS) $(if $(SEED),--seed $(SEED)) | tee $(TARGET_DIR)/soak.md

soak-reload: native ## Reload nginx RELOADS times with PREFIXES prefixes, refresh it, and report its memory
	@$(CARGO) run -q -p crawlward-tests --bin soak-reload | tee $(TARGET_DIR)/soak-reload.md

soak-envoy: build ## Replace a ruleset of 300,000 prefixes UPDATES times under load, and report Envoy's memory
	@$(CARGO) run -q -p crawlward-tests --bin bench -- envoy-updates --updates $(UPDATES) | tee $(TARGET_DIR)/soak-envoy.md

clean: ## Remove all build results, and what setup installed under target/
	$(CARGO) clean
	rm -rf dist
