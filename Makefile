# Every task of the project, each one command. `make` alone lists them.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: help install demo play serve test check format soak bench clean

help: ## list the tasks
	@grep -E '^[a-z]+:.*##' Makefile | sed -E 's/:.*## /\t/' | expand -t 10

$(READY): requirements.lock pyproject.toml
	@command -v $(PYTHON) >/dev/null || { echo "make: $(PYTHON) is missing; install Python 3.11 or newer, or say make PYTHON=/path/to/python3" >&2; exit 2; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "make: $$($(PYTHON) --version) is too old; samedeal needs Python 3.11 or newer (make PYTHON=python3.12 ...)" >&2; exit 2; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { echo "make: the venv module is missing; on Debian: apt-get install python3-venv" >&2; exit 2; }
	$(PYTHON) -m venv --clear $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

install: $(READY) ## make .venv with everything in it

demo: $(READY) ## two bots race live on one deal
	@$(BIN)/samedeal demo

play: $(READY) ## race in the terminal client, on a private server of this machine
	@$(BIN)/samedeal play --local

serve: $(READY) ## run the server with its own private store
	@$(BIN)/samedeal serve

test: $(READY) ## the whole test suite, with a real Valkey
	$(BIN)/python -m pytest -m "not soak" -n 4 --dist worksteal

check: $(READY) ## format, lint, types, imports, then the tests
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/mypy tests
	$(BIN)/lint-imports
	$(MAKE) test

format: $(READY) ## let the formatter and the safe fixes run
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

soak: $(READY) ## the long sweeps: kills, fuzzing (many minutes)
	$(BIN)/python -m pytest -m soak -s

bench: $(READY) ## load on a fresh server beside a bare echo server
	@$(BIN)/samedeal bench --races 100 --rate 5 --seconds 10

clean: ## remove .venv and caches
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache dist
