# Everything a developer needs. `make demo` and `make test` set up .venv themselves.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready
RUNS   := $(VENV)/.runs

# Where this is set, every process of the tests would compile all of Tacit anew.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help demo test thorough check format lint types release versions slow attacks parity engines audit bench sklearns torch lock page clean docs pages

help:            ## this list
	@grep -E '^[a-z]+: .*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## */  make \1\t/' | expand -t 16

$(RUNS): requirements-demo.lock pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Tacit needs Python 3.11 or newer: make PYTHON=python3.12 ...")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r requirements-demo.lock
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

$(READY): requirements.lock $(RUNS)
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	@touch $@

demo: $(RUNS)    ## from a CSV to private answers: the whole story on a generated table, in demo-output/
	$(BIN)/tacit demo

test: $(READY)   ## the tests
	$(BIN)/python -m pytest -m "not thorough and not slow and not attacks and not parity and not engines" -n auto -q

thorough: $(READY) ## audits by many draws and fuzz of many made-up statements: four minutes; CI runs them too
	$(BIN)/python -m pytest -m "thorough and not slow and not attacks and not parity and not engines" -n auto -q

check: lint types test thorough  ## what CI runs: format, lint, strict types, tests

format: $(READY) ## rewrite the code in the house format
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

lint: $(READY)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: $(READY)
	$(BIN)/mypy

pages: $(READY)  ## write the pages that are made from code, help texts and bench/results
	$(BIN)/python docs/pages/make_pages.py

docs: $(READY)   ## the site, in site/: pages checked first, dead links fail
	$(BIN)/python docs/pages/make_pages.py --check
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict   # not --quiet: it would not count warnings, and dead links are warnings

release: $(READY) ## wheel and sdist in dist/: built twice with the same bytes, checked, listed, tried in an empty environment
	$(BIN)/python .ci/release.py
	bash .ci/first_steps

versions:        ## the tests on Python 3.12 and 3.13, where they are installed
	bash .ci/versions

sklearns:        ## scikit-learn's own checks of our estimators on scikit-learn 1.5 to the newest, each in an environment of its own
	bash .ci/sklearns

torch:           ## noisy gradient descent with the real Opacus, in an environment of its own (PyTorch is large)
	bash .ci/torch

slow: $(READY)   ## the long suites: a million draws per claim, big arrays
	$(BIN)/python -m pytest -m slow -q

attacks: $(READY) ## the whole corpus of attacks, the bombs and the kills, against the clock: an hour or so
	$(BIN)/python -m pytest -m "attacks and not engines" -q
	bash .ci/engines -m "attacks and engines"

parity: $(READY) ## the same integers on PostgreSQL 15 (Debian's), 16 and 18 and on Spark as the row oracle's, in many questions
	$(BIN)/python -m pytest -m "parity and not engines" -q tests/contracts/test_parity.py
	bash .ci/engines -m "parity and engines"

engines: $(READY) ## a sample of the engines' contract on Spark, in an environment of its own (600 MB, and a Java); CI runs it too
	bash .ci/engines

audit: $(READY)  ## every mechanism of ours: 10^7 samples, fewer where two minutes do not allow them
	$(BIN)/tacit audit --all --samples 10000000 --seconds 120 --confidence 0.9999999

bench: $(READY)  ## side by side with the peers, in an environment of their own
	$(PYTHON) bench/run.py

lock: $(READY)   ## pin the dependencies anew
	$(BIN)/pip install --quiet uv
	$(BIN)/uv pip compile --universal --python-version 3.11 --generate-hashes --no-annotate --no-header \
	    --group dev --extra plots --extra frames --extra learn --extra excel --extra postgres --extra server pyproject.toml -o requirements.lock
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/python .ci/demo_lock.py

page:            ## the editor of the service's page, bundled from page/package-lock.json (needs Node)
	cd page && npm ci --no-audit --no-fund && npx esbuild editor.js --bundle --minify --format=iife \
	    --legal-comments=none --target=es2020 --outfile=../src/tacit/server/static/editor.js

clean:           ## remove what the other targets made
	rm -rf $(VENV) dist site .venv-bench .venv-spark .venv-torch .venv-sklearn-* .venv-3.* .pytest_cache .mypy_cache .ruff_cache .hypothesis demo-output
