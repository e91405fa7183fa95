PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: help setup paper demo serve-demo review-demo test test-browser test-proxies test-engines test-faults check format bench docs dist clean

help:  ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

# Modules are compiled to bytecode when they are first imported: most of what is installed never is.
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile -c constraints.txt -e

$(VENV)/made:
	$(PYTHON) -c 'import sys; assert sys.version_info >= (3, 11), "appletaste needs Python 3.11 or newer; set PYTHON=python3.11"'
	$(PYTHON) -m venv $(VENV)
	touch $@

$(VENV)/library: $(VENV)/made pyproject.toml constraints.txt
	$(INSTALL) '.[plot,trees]'
	touch $@

$(VENV)/ready: $(VENV)/made pyproject.toml constraints.txt
	$(INSTALL) '.[dev]'
	$(BIN)/python -m appletaste.cli.warm
	touch $@ $(VENV)/library

setup: $(VENV)/ready  ## make .venv, install everything, compile the kernels

paper: setup  ## every figure and table of the paper, with a report in out/paper; ARGS='--quick --out out/paper-quick' is a smoke test
	$(BIN)/appletaste paper $(ARGS)

DEMO := out/demo-guide
demo: $(VENV)/library  ## the paper's policies beside its Table 1, then docs/guide.md in short: a replay, what is missed, the report
	rm -rf $(DEMO) && mkdir -p $(DEMO)
	$(BIN)/appletaste paper --only table-1 --replications 20 --out $(DEMO)/paper
	$(BIN)/appletaste example $(DEMO)/orders.csv --last-year $(DEMO)/last_year.csv
	$(BIN)/appletaste replay $(DEMO)/orders.csv --history $(DEMO)/last_year.csv --label fraud --drop order \
	  --time placed_at --label-time settled_on --today reviewed --capacity 120/day --audit 2% \
	  --costs 'miss=amount*0.9+15,false_alarm=6,hit=4' --log $(DEMO)/decisions.parquet --stratum payment --seed 2
	$(BIN)/appletaste missed $(DEMO)/decisions.parquet
	$(BIN)/appletaste what-if $(DEMO)/decisions.parquet --threshold 0.5x
	$(BIN)/appletaste report $(DEMO)/decisions.parquet --out $(DEMO)/report --title "Orders, May and June 2024" \
	  --currency EUR --words order,fraud

serve-demo: setup  ## a day of orders through HTTP with late labels, the server killed in the middle, and nothing lost
	$(BIN)/python -m bench.service.serve_demo

review-demo: setup  ## the review page over a shop in fast time: open the printed address, sign in with the printed key
	$(BIN)/python -m bench.service.review_demo $(ARGS)

# Three for two cores: some tests wait for what is to happen after some seconds.
WORKERS ?= $(shell $(PYTHON) -c 'import os; print(3 * len(os.sched_getaffinity(0)) // 2)')
test: setup  ## all tests but those of clusters and browsers, on all cores, each with one thread; a file stays on one core, so that what it plays is played once
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n $(WORKERS) --dist loadfile -m 'not cluster and not browser and not proxies'

$(VENV)/browser: $(VENV)/ready
	$(INSTALL) '.[dev,browser]'
	touch $@

test-browser: $(VENV)/browser  ## the review page in Chromium, which .ci/browser finds or installs; APPLETASTE_PICTURES=1 and ARGS='-k test_views' make the pictures of docs/review-page.md anew
	.ci/browser $(BIN)/python -m pytest tests/browser -m browser $(ARGS)

test-proxies: setup  ## nginx, HAProxy and the systemd unit of docs/operations before two processes; .ci/proxies finds or installs them
	.ci/proxies $(BIN)/python -m pytest tests/proxies -m proxies $(ARGS)

$(VENV)/clusters: $(VENV)/ready
	$(INSTALL) '.[dev,ray,dask]'
	touch $@

test-engines: $(VENV)/clusters  ## local, Ray and Dask give the same numbers, on real clusters
	$(BIN)/python -m pytest tests/engines

test-faults: setup  ## crashes and failing disks in their long forms: 500 kills, 5,000 power cuts, every byte of a file
	APPLETASTE_FAULTS=1 $(BIN)/python -m pytest tests/streams tests/contract/test_replay.py
	APPLETASTE_MUTATIONS=20000 APPLETASTE_EXAMPLES=50 APPLETASTE_KILLS=40 $(BIN)/python -m pytest tests/service

check: setup  ## format, lint, types, import contracts
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: setup  ## put the code in shape
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# One by one: a peer that cannot be built here (contextualbandits needs a C++ compiler) must not keep the others away.
PEERS := vowpalwabbit mabwiser bayesianbandits contextualbandits river
$(VENV)/peers: $(VENV)/ready
	for peer in $(PEERS); do \
	  $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt $$peer || echo "$$peer could not be installed: the bench goes on without it"; \
	done
	touch $@

# Other people's estimators, for a comparison: in an environment of their own, because obp brings PyTorch. Its versions
# from 0.5 on refuse Python 3.11; 0.4.1 is the last that does not.
RIVALS := vw-estimators==0.2.2 obp==0.4.1
$(VENV)-ope/ready:
	$(PYTHON) -m venv $(VENV)-ope
	for rival in $(RIVALS); do \
	  $(VENV)-ope/bin/python -m pip install --quiet --disable-pip-version-check $$rival || echo "$$rival could not be installed: the bench goes on without it"; \
	done
	touch $@

# The plain service that the bench compares with is FastAPI's, which nothing else here needs.
$(VENV)/plain: $(VENV)/ready
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt fastapi || echo "fastapi could not be installed: the bench goes on without it"
	touch $@

# What benches need beside `make setup`; to ask for help needs nothing more.
BENCH := $(if $(filter -h --help,$(ARGS)),,$(firstword $(ARGS)))
for = $(if $(filter $(1),$(BENCH)),$(2))
NEEDS := $(call for,peers files scale sensitivity,$(VENV)/peers) $(call for,coverage,$(VENV)-ope/ready) \
  $(call for,service,$(VENV)/plain) $(call for,page,$(VENV)/browser)
bench: setup $(NEEDS)  ## speed, as ratios measured in one run; ARGS=peers is another bench, ARGS=--help lists all
	$(call for,page,.ci/browser) $(BIN)/python -m bench $(ARGS)

$(VENV)/docs: $(VENV)/ready
	$(INSTALL) '.[dev,docs,dask]'
	touch $@

docs: $(VENV)/docs  ## the site: all pages, the gallery, the reference of all public names, a search that works from a folder; out/site/index.html
	$(BIN)/python -m sphinx -q -W --keep-going -j auto -b html -d out/site-cache docs out/site
	@echo "open out/site/index.html"

PYTHONS ?= $(BIN)/python
dist: setup  ## wheel and sdist in dist/, checked, and the wheel tried in an empty environment; PYTHONS="python3.11 python3.12"
	.ci/dist $(PYTHONS)

clean:  ## remove what was built
	rm -rf $(VENV) $(VENV)-ope build dist out
	find . -name '*.nb[ic]' -delete
