# Two commands do everything: `make serve` and `make test`. Both make .venv first.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
ARGS ?=
# Container images often turn bytecode off: each process would compile its modules again.
unexport PYTHONDONTWRITEBYTECODE
# aiohttp reads all authorities of the system on import: the processes of the tests trust one.
PYTEST := SSL_CERT_FILE=$(CURDIR)/tests/authority.pem $(BIN)/pytest
# Three processes for two cores: some of the time tests wait, for processes, pauses and files left alone.
SPREAD := -n 3 --dist worksteal
# The in-process tests of the packages that must have all branches covered.
ROOMS := tests/engine tests/access tests/loading tests/model tests/reading tests/web $(filter-out %contract.py %examples.py,$(wildcard tests/test_*.py))

.PHONY: serve test test-all test-fast recordings matrix docs coverage mutation interop deploy pictures fuzz audit constraints check lint format types wheel release datasets bench clean help

help: ## list the targets
	@grep -hE '^[a-z%-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 14

serve: $(VENV)/installed ## serve the bundled data; ARGS='--port 9000' for options
	@$(BIN)/store-directory serve $(ARGS)

test: $(VENV)/developed ## run the tests that a change needs; ARGS='tests/web -k docs' for some of them
	$(PYTEST) $(SPREAD) -m 'not ci' $(ARGS)

test-all: $(VENV)/developed ## run all tests, as CI does: some take long
	$(PYTEST) $(SPREAD) $(ARGS)

test-fast: $(VENV)/developed ## run the tests that start no process, open no socket and are not slow: for every save
	$(PYTEST) -n 2 --dist worksteal -m 'not process and not slow and not ci' $(ARGS)

recordings: $(VENV)/developed ## record again what must stay the same: bytes of responses, samples and baked files, and figures of them
	RECORD=1 $(BIN)/pytest tests/baking/test_every_python.py tests/web/test_output_number.py tests/sampling/test_sample.py tests/test_docs.py

matrix: $(VENV)/matrix ## run the tests with the lowest and the latest release of each dependency, on every installed Python
	$(BIN)/python -m tests.matrix --pytest '$(SPREAD)' $(ARGS)

docs: $(VENV)/documented ## make the documentation a site, dist/site; a broken link is an error
	$(BIN)/python -m sphinx -q -W --keep-going -b html -c tools/site -d $(VENV)/doctrees . dist/site
	@echo "The site is in dist/site: open dist/site/index.html"

interop: $(VENV)/documented .interop/installed ## try it with nginx, HAProxy, Varnish, Prometheus, Redis, curl, jq, Chromium and Node, which must be there, with generated clients and object stores
	$(BIN)/pytest -n 2 tests/interop $(ARGS)

deploy: .deploy/installed ## render the Helm chart and check it, and test the alerts with promtool, which must be there
	.deploy/bin/pytest -n 2 tests/deploy $(ARGS)

pictures: $(VENV)/developed ## take the pictures of the documentation, in Chromium
	$(BIN)/python -m tests.interop.pictures docs

coverage: $(VENV)/developed ## require 100 % branch coverage of the packages that serve requests
	$(BIN)/coverage erase
	$(BIN)/coverage run -m pytest $(SPREAD) --hypothesis-profile=thorough $(ROOMS) $(ARGS)
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report

mutation: bench/data/mutation/installed ## mutate the engine and check that a test fails for each mutant
	bench/data/mutation/venv/bin/python -m bench.mutation $(ARGS)

fuzz: $(VENV)/fuzzing ## fuzz requests, random combinations of features and files; ARGS='--seconds 600 csv json' for longer, or some targets
	$(BIN)/python -m tests.fuzz $(ARGS)

# Strict: a package that cannot be looked up is a failure, not one without faults.
audit: $(VENV)/audited ## look the installed packages up among those with known vulnerabilities; needs the internet
	$(BIN)/python -m pip freeze --exclude-editable > $(VENV)/frozen.txt
	$(BIN)/pip-audit --strict --disable-pip --no-deps --progress-spinner off --requirement $(VENV)/frozen.txt $(ARGS)

constraints: $(VENV)/developed ## install the latest dependencies and write their versions to constraints.txt
	$(BIN)/python -m pip install --quiet --upgrade --upgrade-strategy eager --editable '.[dev]'
	sed -n '/^#/p' constraints.txt > $(VENV)/latest.txt
	$(BIN)/python -m pip freeze --exclude-editable >> $(VENV)/latest.txt
	cp $(VENV)/latest.txt constraints.txt

check: lint types test-all ## lint, format, types and all tests: what a change must pass

lint: $(VENV)/developed ## ruff, rules and format
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/developed ## mypy, strict
	$(BIN)/mypy

format: $(VENV)/developed ## put the code into ruff's format
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

wheel: $(VENV)/developed ## build the wheel, the data set in it, into dist/
	$(BIN)/python -m build --wheel --outdir dist

release: $(VENV)/releasing ## make what is published of a version, in dist/: sdist, wheel, SBOM, notes, checksums; both are installed elsewhere and tried
	$(BIN)/python -m tools.release

datasets: $(VENV)/installed ## generate the bundled data set
	rm -f datasets/stores.csv datasets/companies.csv
	$(BIN)/store-directory sample datasets --stores 5000 --companies 120 --seed 2026 --format csv

bench: $(VENV)/developed bench/data/peers/installed ## compare the service with its peers over HTTP, on 100,000 generated stores; ARGS='--stores 1000000' for more
	$(BIN)/python -m bench.wire $(ARGS)

bench-%: $(VENV)/developed ## one bench: engine, growth, worst, exports, reloads, hostile, fleet, soak or sizing; ARGS=--help for its options
	$(BIN)/python -m bench.$* $(ARGS)

# The peers' packages have their own environment. Without them the bench reports which peers are missing.
bench/data/peers/installed: bench/peers/requirements.txt
	$(PYTHON) -m venv bench/data/peers
	-bench/data/peers/bin/python -m pip install --quiet --disable-pip-version-check --requirement $< && touch $@

# Linters of OpenAPI, generators of clients and object stores stand apart, too. Versions are exact, but of what these need: a lock file would name a registry.
.interop/installed: tests/interop/clients/requirements.txt tests/interop/object_stores.txt tests/interop/clients/package.json
	$(PYTHON) -m venv .interop
	.interop/bin/python -m pip install --quiet --disable-pip-version-check $(addprefix --requirement ,$(filter %.txt,$^))
	cp tests/interop/clients/package.json .interop/package.json
	npm install --prefix .interop --no-package-lock --ignore-scripts --no-audit --no-fund --loglevel error
	touch $@

# The chart is rendered by Helm's library, with the tests' packages beside it: none of the others needs it.
.deploy/installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv .deploy
	.deploy/bin/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev,deploy]'
	touch $@

bench/data/mutation/installed: bench/mutation/requirements.txt pyproject.toml
	$(PYTHON) -m venv bench/data/mutation/venv
	bench/data/mutation/venv/bin/python -m pip install --quiet --disable-pip-version-check --requirement $< --editable '.[dev]'
	touch $@

clean: ## remove what the other targets made
	rm -rf $(VENV) .matrix .interop .deploy dist .mypy_cache .ruff_cache .pytest_cache .hypothesis tests/fuzz/found

# Which Python a program is, if it is new enough; nothing else is printed.
OLDEST := 3, 11
IDENTITY := import sys; sys.version_info >= ($(OLDEST)) and print(sys.base_prefix, *sys.version_info[:2])
MADE_WITH := $(shell $(BIN)/python -c '$(IDENTITY)' 2> /dev/null)
# Without PYTHON the one that .venv was made with will do.
WANTED := $(if $(filter file,$(origin PYTHON)),$(MADE_WITH),$(shell $(PYTHON) -c '$(IDENTITY)' 2> /dev/null))
TOO_OLD := Python %s is too old: %d.%d or later is needed. Name another, as in: make PYTHON=python3.13

# .venv is made again where its Python is gone, is too old, or is not the one that PYTHON names.
ifneq ($(WANTED),$(or $(MADE_WITH),none))
.PHONY: $(VENV)/pyvenv.cfg
endif

$(VENV)/pyvenv.cfg:
	@$(PYTHON) -c 'import sys; sys.version_info >= ($(OLDEST)) or sys.exit("$(TOO_OLD)" % (sys.version.split()[0], $(OLDEST)))'
	$(PYTHON) -m venv --clear $(VENV) || { rm -rf $(VENV); exit 1; }

# Editable, so that a change of the code needs no new installation. constraints.txt has the tested versions.
$(VENV)/installed: pyproject.toml constraints.txt $(VENV)/pyvenv.cfg
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable .
	@touch $@

$(VENV)/developed: pyproject.toml constraints.txt $(VENV)/pyvenv.cfg
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	@touch $@ $(VENV)/installed

$(VENV)/fuzzing: $(VENV)/developed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[fuzz]'
	@touch $@

$(VENV)/matrix: $(VENV)/developed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[matrix]'
	@touch $@

$(VENV)/documented: $(VENV)/developed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[docs]'
	@touch $@

$(VENV)/releasing: $(VENV)/developed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[release]'
	@touch $@

$(VENV)/audited: $(VENV)/developed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[audit]'
	@touch $@
