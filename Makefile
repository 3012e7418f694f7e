# `make help` tells what there is. Cargo does the work; this file knows the order, the two targets (native and
# Wasm) and where the results go.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
# Cargo runs in parallel by itself and locks its folder: recipes side by side would only wait for each other.
.NOTPARALLEL:

CARGO ?= cargo
# Which compiler builds the Wasm filter: rustup (or any rustc that has the target) or debian (Debian's rustc-web).
# Empty: the first that is there.
WASM_TOOLCHAIN ?=
# What brings the machine into shape; SETUP=true where you have seen to that yourself.
SETUP ?= .ci/setup
# Arguments for the test programs, such as a name to select by: make test ARGS=robots
ARGS ?=
# How many cases the tests of properties make up, and where that begins: always the same, so that what fails a test is
# what was changed. Whoever looks for faults tries others.
PROPTEST_CASES ?= 500
PROPTEST_RNG_SEED ?= 1
export PROPTEST_CASES PROPTEST_RNG_SEED
# Which benchmarks of the core to run.
BENCHES ?= prefix_table load feeds user_agent robots decide
# How often each candidate in a benchmark of the gates has its turn, and how long a turn is, in seconds.
ROUNDS ?= 9
SECONDS_A_TURN ?= 2
# Which Debians nginx-matrix tests: names such as trixie, or empty for all.
SUITES ?=
# How long the soak lasts, and where its randomness begins (default: anywhere; it is printed).
SECONDS ?= 300
SEED ?=
# How often soak-envoy replaces its ruleset.
UPDATES ?= 1000
# How long each fuzz target runs, and which: names, or all.
FUZZ_SECONDS ?= 30
FUZZ_TARGETS ?= all

# A folder with CustomResourceDefinitions, as their projects publish them, for test-manifests.
CRDS ?= ../shared/data/crds

# How often soak-reload reloads nginx, how large its feed is, and how often it is refreshed.
RELOADS ?= 1000
PREFIXES ?= 300000
REFRESHES ?= 100
export RELOADS PREFIXES REFRESHES

# Where the results go; and whether the gates panic on demand, which is for tests only.
DIST := dist
PANICS :=
# Which filter the target `wasm` builds, and how it is called there.
WASM_CRATE := crawlward-envoy
WASM_FILE := crawlward.wasm

WASM_TARGET := wasm32-wasip1
TARGET_DIR = $(or $(CARGO_TARGET_DIR),target)

export WASM_TOOLCHAIN

.PHONY: help setup build native wasm wasm-image test test-panics test-manifests memcheck soak soak-reload soak-envoy deb nginx-matrix fuzz demo lint fmt deny bench-core bench-nginx bench-envoy clean

help: ## Show this help
	@echo 'Targets:'
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  \1\t\2/p' $(firstword $(MAKEFILE_LIST)) | expand -t 16
	@echo
	@echo 'Variables:'
	@echo '  KEEP=1                               demo: leave both servers running, and tell how to talk to them'
	@echo '  ARGS=…                               test: passed to the test programs, such as a name to select by'
	@echo '  PROPTEST_CASES=500                   test: how many cases the tests of properties make up'
	@echo '  PROPTEST_RNG_SEED=1                  test: where their randomness begins'
	@echo '  SUITES=trixie                        nginx-matrix: which Debians (default: all)'
	@echo '  BENCHES=prefix_table                 bench-core: which benchmarks to run (default: all)'
	@echo '  ROUNDS=9 SECONDS_A_TURN=2            bench-nginx, bench-envoy: how often and how long each candidate is measured'
	@echo '  CRDS=DIR                             test-manifests: the CRDs of Istio and of Envoy Gateway, in YAML'
	@echo '  SECONDS=300 SEED=1                   soak: how long, and where its randomness begins'
	@echo '  UPDATES=1000                         soak-envoy: how often'
	@echo '  FUZZ_SECONDS=30 FUZZ_TARGETS=all     fuzz: how long each target runs, and which'
	@echo '  RELOADS=1000 PREFIXES=300000         soak-reload: how often nginx is reloaded, and with how large a feed'
	@echo '  WASM_TOOLCHAIN=rustup|debian         build: the compiler for the filter (default: what is there)'
	@echo '  SETUP=true                           all: install and check nothing, the machine is as it should be'
	@echo '  NGINX_SOURCE_DIR, NGINX_BUILD_DIR    build: a configured nginx of your own (default: as the installed nginx)'

setup: ## Install what is missing (nginx and its headers, Envoy, the Wasm target), or say what to install
	@$(SETUP)

build: native wasm ## Build dist/ngx_http_crawlward_module.so, dist/crawlward.wasm and dist/crawlward
	@ls -l dist | awk 'NR > 1 { printf "%10d  dist/%s\n", $$5, $$9 }'

# install(1) unlinks what it replaces: writing into a module that a running nginx has mapped would kill it.
native: setup
	$(CARGO) build --release -p crawlward-nginx -p crawlward $(if $(PANICS),--features crawlward-nginx/panic-for-tests)
	@install -D -m 755 $(TARGET_DIR)/release/libcrawlward_nginx.so $(DIST)/ngx_http_crawlward_module.so
	@install -D -m 755 $(TARGET_DIR)/release/crawlward $(DIST)/crawlward

# Debian's rustc-web has no standard library for the target, only its source: cargo builds that too (which needs
# RUSTC_BOOTSTRAP), for a nightly-only flag. It has a folder of its own, since both compilers would otherwise
# throw away each other's work.
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
	install -D -m 644 "$$out/$(WASM_TARGET)/wasm/$(subst -,_,$(WASM_CRATE)).wasm" $(DIST)/$(WASM_FILE)

wasm-image: wasm ## Make dist/wasm-image, an OCI image layout of dist/crawlward.wasm for Istio and Envoy Gateway
	@envoy-filter/wasm-image $(DIST)/crawlward.wasm $(DIST)/wasm-image \
	    "$$(sed -n 's/^version *= *"\(.*\)".*/\1/p' Cargo.toml | head -n 1)"

# Cargo's own output stays as it is; the last line adds up its "test result:" lines.
test: build ## Build, then run every test: units, docs, and the table of cases in all four runners
	@status=0; \
	$(CARGO) test --workspace --no-fail-fast -- $(ARGS) 2>&1 | tee $(TARGET_DIR)/test.log || status=$$?; \
	awk '/^test result:/ { passed += $$4; failed += $$6; ignored += $$8 } \
	    END { printf "%d passed, %d failed, %d skipped\n", passed, failed, ignored }' $(TARGET_DIR)/test.log; \
	exit $$status

fuzz: ## Run the fuzz targets of the core, FUZZ_SECONDS each (stable Rust and g++ will do)
	@$(SETUP) fuzz
	@core/fuzz/run $(FUZZ_SECONDS) $(filter-out all,$(FUZZ_TARGETS))

# The gates with a bug on demand are in a folder of their own: what is in dist/ is for users.
test-panics: setup ## Build gates that panic on demand, and test that a panic takes no server down
	@$(MAKE) --no-print-directory native wasm SETUP=true PANICS=1 DIST=$(abspath $(TARGET_DIR))/panicking
	CRAWLWARD_DIST=$(abspath $(TARGET_DIR))/panicking $(CARGO) test -p crawlward-tests --features panics --test panics -- $(ARGS)

test-manifests: setup ## Check the manifests in examples/envoy against the CRDs in the folder CRDS=…
	CRAWLWARD_CRDS=$(abspath $(CRDS)) $(CARGO) test -p crawlward-tests --features crds --test crds -- $(ARGS)

memcheck: build ## Run the tests of nginx under valgrind (needs valgrind; some minutes)
	@tests/memcheck/run $(ARGS)

deb: ## Build dist/libnginx-mod-http-crawlward_*.deb for the nginx of this Debian
	@$(SETUP) deb
	@$(MAKE) --no-print-directory native
	@nginx-module/debian/build

# Both need root: to make the Debians, and to enter them.
nginx-matrix: native ## Build and test the nginx module for every nginx that Debian has, from 12 to the newest (as root)
	@$(SETUP) matrix deb
	@tests/matrix/run $(SUITES)

demo: build ## See real crawlers told from impostors by nginx and by Envoy
	@$(CARGO) run -q -p crawlward-tests --bin demo

lint: setup ## Check formatting, shell scripts, and clippy for both targets, warnings being errors
	@for tool in fmt clippy; do $(CARGO) $$tool --version >/dev/null 2>&1 || \
	    { echo "there is no 'cargo $$tool' here: rustup component add rustfmt clippy" >&2; exit 1; }; done
	@if command -v shellcheck >/dev/null; then set -x; shellcheck .ci/setup .ci/run core/fuzz/run envoy-filter/wasm-image \
	    nginx-module/debian/build tests/*/run tests/docker/base tests/matrix/{in-root,package}; fi
	$(CARGO) fmt --all --check
	$(CARGO) clippy -q --workspace --all-targets -- -D warnings
	@if compgen -G "$$(rustc --print target-libdir --target $(WASM_TARGET))/libstd-*.rlib" >/dev/null; then \
	    set -x; $(CARGO) clippy -q -p crawlward-core -p crawlward-envoy --target $(WASM_TARGET) -- -D warnings; \
	else \
	    echo 'lint: no clippy for $(WASM_TARGET) here; the filter is linted natively only'; \
	fi

fmt: ## Format the code
	$(CARGO) fmt --all

deny: ## Check licences, advisories and sources of the dependencies (needs cargo-deny)
	@$(CARGO) deny --version >/dev/null 2>&1 || { echo 'cargo-deny is not installed: cargo install --locked cargo-deny'; exit 1; }
	$(CARGO) deny check

# Cargo's own lines go to stderr, so the report is all of stdout.
bench-core: ## Measure the core, without servers, beside published crates: one report
	@for bench in $(BENCHES); do \
	    printf '\n== %s ==\n' "$$bench"; \
	    $(CARGO) bench -q -p crawlward-core -p crawlward-host --bench "$$bench"; \
	done | tee $(TARGET_DIR)/bench-core.txt

bench-nginx: build ## Measure the nginx gate beside bare nginx and hand-written rules (some minutes): one report
	@$(SETUP) nginx bench
	@$(CARGO) run -q -p crawlward-tests --bin bench -- nginx --rounds $(ROUNDS) --seconds $(SECONDS_A_TURN) | tee $(TARGET_DIR)/bench-nginx.md

# The filter that does nothing is a peer of ours, not for users.
bench-envoy: build ## Measure the Envoy gate beside bare Envoy, an empty Wasm filter, Lua and RBAC (some minutes): one report
	@$(SETUP) envoy bench
	@$(MAKE) --no-print-directory wasm SETUP=true WASM_CRATE=crawlward-empty-filter WASM_FILE=empty-filter.wasm DIST=$(abspath $(TARGET_DIR))/bench
	@$(CARGO) run -q -p crawlward-tests --bin bench -- envoy --rounds $(ROUNDS) --seconds $(SECONDS_A_TURN) \
	    --empty-filter $(abspath $(TARGET_DIR))/bench/empty-filter.wasm | tee $(TARGET_DIR)/bench-envoy.md

soak: build ## Reload, break and kill nginx for SECONDS, every answer being checked against the core
	@$(CARGO) run -q -p crawlward-tests --bin soak -- --seconds $(SECONDS) $(if $(SEED),--seed $(SEED)) | tee $(TARGET_DIR)/soak.md

soak-reload: native ## Reload nginx RELOADS times with a feed of PREFIXES, refresh it, and look at its memory
	@$(CARGO) run -q -p crawlward-tests --bin soak-reload | tee $(TARGET_DIR)/soak-reload.md

soak-envoy: build ## Replace a ruleset of 300,000 prefixes UPDATES times under load, and look at Envoy's memory
	@$(CARGO) run -q -p crawlward-tests --bin bench -- envoy-updates --updates $(UPDATES) | tee $(TARGET_DIR)/soak-envoy.md

clean: ## Remove all that was built, and what setup put under target/
	$(CARGO) clean
	rm -rf dist
