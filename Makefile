# Everything runs in .venv, made from hash-pinned requirements. ARGS is passed on: make test ARGS="-k stop"

.DEFAULT_GOAL := help
.PHONY: help run test lint bench chaos requirements clean

UV_VERSION := 0.13.9
PYTHON := .venv/bin/python
PIP_INSTALL := $(PYTHON) -m pip install -qq --disable-pip-version-check --no-input
UV_COMPILE := .venv/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
  --no-emit-index-url --no-emit-find-links --custom-compile-command "make requirements"

# pyright lies in its wheel; the wrapper is not to ask the network for a newer one.
export PYRIGHT_PYTHON_IGNORE_WARNINGS := 1

help: ## list the targets
	@sed -n 's/^\([a-z]*\):.*## /\1	/p' $(MAKEFILE_LIST)

run: .venv/.runtime ## start the bot; without a token, also a Discord on this machine
	@.venv/bin/interlock $(ARGS)

test: .venv/.dev ## run the tests
	@$(PYTHON) -m pytest $(ARGS)

lint: .venv/.dev ## check style, types and import arrows
	@$(PYTHON) -m ruff check
	@$(PYTHON) -m ruff format --check
	@$(PYTHON) -m mypy
	@$(PYTHON) -m pyright
	@.venv/bin/lint-imports --no-logo

bench: .venv-bench/.made ## measure; prints a table and writes build/bench.json
	@.venv-bench/bin/python -m benchmarks $(ARGS)

chaos: .venv/.dev ## prove by force, at length; prints the figures and writes build/chaos.json
	@$(PYTHON) -m chaos $(ARGS)

requirements: .venv/.made ## pin the requirements again; UPGRADE=--upgrade takes newer releases
	@$(PIP_INSTALL) uv==$(UV_VERSION)
	@$(UV_COMPILE) $(UPGRADE) pyproject.toml --extra ai --extra build --extra sandbox \
	  --output-file requirements.txt
	@$(UV_COMPILE) $(UPGRADE) pyproject.toml --all-extras --constraints requirements.txt \
	  --output-file requirements-dev.txt
	@$(UV_COMPILE) $(UPGRADE) pyproject.toml benchmarks/peers.in --extra sandbox \
	  --constraints requirements.txt --output-file requirements-bench.txt

clean: ## remove what the other targets made
	@rm -rf .venv .venv-bench build interlock.egg-info .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis

# ------------------------------------------------------------------------------------------------ .venv

.venv/.made:
	@lacks_venv=; \
	for python in python3 python3.13 python3.12 python3.11; do \
	  "$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || continue; \
	  "$$python" -c 'import ensurepip, venv' 2>/dev/null || { lacks_venv=$$python; continue; }; \
	  "$$python" -m venv --clear .venv && touch $@; \
	  exit; \
	done; \
	if [ "$$lacks_venv" ]; then \
	  echo "interlock: $$lacks_venv has no venv module; on Debian: apt-get install python3-venv" >&2; \
	else \
	  echo "interlock: no Python 3.11 or newer found (tried python3, python3.13, 3.12 and 3.11)" >&2; \
	fi; \
	exit 2

.venv/.runtime: requirements.txt pyproject.toml | .venv/.made
	@echo "Installing what the bot needs into .venv" >&2
	@$(PIP_INSTALL) --require-hashes -r requirements.txt
	@$(PIP_INSTALL) --no-deps --no-build-isolation --editable .
	@touch $@

# The development pins include every runtime pin at the same version, so this brings both up to date.
.venv/.dev: requirements-dev.txt requirements.txt pyproject.toml | .venv/.made
	@echo "Installing what the bot, its tests and its linters need into .venv" >&2
	@$(PIP_INSTALL) --require-hashes -r requirements-dev.txt
	@$(PIP_INSTALL) --no-deps --no-build-isolation --editable .
	@touch .venv/.runtime $@

# What the benchmarks compare with stays out of .venv: the bot and its tests need none of it.
.venv-bench/.made: requirements-bench.txt | .venv/.made
	@echo "Installing the bot and what it is compared with into .venv-bench" >&2
	@$(PYTHON) -m venv --clear .venv-bench
	@.venv-bench/bin/python -m pip install -qq --disable-pip-version-check --no-input \
	  --require-hashes -r requirements-bench.txt
	@touch $@
