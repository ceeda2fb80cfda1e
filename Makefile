# Everything anybody does here. `make` alone lists it.
SHELL := /bin/bash
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
WORKERS := $(shell nproc 2>/dev/null || echo 2)

.DEFAULT_GOAL := help
.PHONY: help demo test unit lint format types imports generate chart guard verify binaries cluster live bench lock clean

help: ## list the commands
	@awk -F':.*## ' '/^[a-z]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(READY): requirements-dev.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or newer is needed: make PYTHON=/path/to/python3.11"; exit 1; }
	@echo "preparing $(VENV) (about a minute, once)"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r requirements-dev.lock
	@$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $(READY)

demo: $(READY) ## the bank's day in the simulator (no cluster, no Go)
	@$(BIN)/fairberth simulate --html out/demo.html

test: $(READY) binaries ## all tests, the real control plane included
	$(BIN)/pytest

unit: $(READY) ## the fast loop: everything that needs no control plane
	$(BIN)/pytest -m "not cluster" tests/unit tests/architecture tests/cases tests/contract

lint: $(READY) guard ## format check, lint, types, import contracts
	$(BIN)/ruff format --check operator tests
	$(BIN)/ruff check operator tests
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(READY) ## format and fix what can be fixed
	$(BIN)/ruff format operator tests
	$(BIN)/ruff check --fix operator tests

generate: $(READY) ## CRDs, the chart's copy of them, reference docs
	$(BIN)/python -m fairberth.api.crdgen crds charts/fairberth/files/crds
	$(BIN)/fairberth docs docs

guard:
	@if [ -e operator/__init__.py ]; then echo "operator/__init__.py must not exist: it would break the standard library's operator"; exit 1; fi

verify: guard $(READY) ## what CI runs: generate, lint, all tests, and nothing left changed
	$(MAKE) generate
	$(MAKE) lint
	$(MAKE) test
	git diff --exit-code
	@test -z "$$(git status --porcelain)" || { git status --short; echo "generated files are missing from the commit"; exit 1; }

binaries: $(READY) ## etcd, kube-apiserver, kube-scheduler, helm, kwok … (the first time about 14 minutes)
	@$(BIN)/python -m tests.cluster.plane.binaries

cluster: $(READY) binaries ## a bare local control plane with kwok nodes, in the foreground
	@$(BIN)/python -m tests.cluster.plane

live: $(READY) binaries ## a local control plane with Fairberth running and two tenants at work
	@$(BIN)/python -m tests.cluster.live

bench: $(READY) binaries ## timings as ratios, measured side by side in one run
	@$(BIN)/python -m tests.bench

lock: $(READY) ## lock the dependencies anew
	$(BIN)/pip-compile --upgrade --no-emit-index-url --no-emit-find-links --generate-hashes --allow-unsafe --strip-extras --extra dev --quiet -o requirements-dev.lock pyproject.toml
	$(BIN)/pip-compile --no-emit-index-url --no-emit-find-links --generate-hashes --allow-unsafe --strip-extras --quiet -c requirements-dev.lock -o requirements.lock pyproject.toml

clean: ## remove what was made here (the binaries' cache stays)
	rm -rf $(VENV) out .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis
