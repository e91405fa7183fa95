PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: help setup paper paper-quick paper-full demo serve-demo desk-demo desk-pictures test test-browser test-engines test-faults check format bench bench-peers bench-scale bench-exact bench-sensitivity bench-coverage bench-drift bench-files bench-item-costs bench-logs bench-desk bench-blind bench-service bench-page bench-levels bench-lines bench-start docs dist clean

help:  ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

# Modules are compiled to bytecode when they are first imported: most of what is installed never is.
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile -c constraints.txt -e

$(VENV)/made:
	$(PYTHON) -c 'import sys; assert sys.version_info >= (3, 11), "appletaste needs Python 3.11 or newer; set PYTHON=python3.11"'
	$(PYTHON) -m venv $(VENV)
	touch $@

$(VENV)/library: $(VENV)/made pyproject.toml constraints.txt
	$(INSTALL) '.[plot]'
	touch $@

$(VENV)/ready: $(VENV)/made pyproject.toml constraints.txt
	$(INSTALL) '.[dev]'
	$(BIN)/python -m appletaste.cli.warm
	touch $@ $(VENV)/library

setup: $(VENV)/ready  ## make .venv, install everything, compile the kernels

paper: setup  ## rebuild every figure and table of the paper, with a report in out/paper
	$(BIN)/appletaste paper

paper-quick: setup  ## the same at smoke size
	$(BIN)/appletaste paper --quick --out out/paper-quick

paper-full: setup  ## the same with 200 replications
	$(BIN)/appletaste paper --replications 200 --out out/paper-full

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

desk-demo: setup  ## the review desk over a shop in fast time: open the printed address, sign in with the printed key
	$(BIN)/python -m bench.service.desk_demo $(ARGS)

test: setup  ## all tests but those of clusters and browsers, on all cores; a file stays on one, so that what it plays is played once
	$(BIN)/python -m pytest -n auto --dist loadfile -m 'not cluster and not browser'

$(VENV)/browser: $(VENV)/ready
	$(INSTALL) '.[dev,browser]'
	touch $@

test-browser: $(VENV)/browser  ## the review desk in a real browser: journeys, injection, accessibility (.ci/browser finds or installs Chromium)
	.ci/browser $(BIN)/python -m pytest tests/browser -m browser $(ARGS)

desk-pictures: $(VENV)/browser  ## the pictures of docs/desk.md, made anew: docs/pictures
	APPLETASTE_PICTURES=1 .ci/browser $(BIN)/python -m pytest tests/browser/test_views.py -m browser

bench-page: $(VENV)/browser  ## the review desk measured in a browser: first view, live updates, a hundred cases: docs/desk.md
	.ci/browser $(BIN)/python -m bench.service.desk $(ARGS)

$(VENV)/clusters: $(VENV)/ready
	$(INSTALL) '.[dev,ray,dask]'
	touch $@

test-engines: $(VENV)/clusters  ## local, Ray and Dask give the same numbers, on real clusters
	$(BIN)/python -m pytest tests/engines

test-faults: setup  ## crashes and failing disks in their long forms: 500 kills, 5,000 power cuts, every byte of a file
	APPLETASTE_FAULTS=1 $(BIN)/python -m pytest tests/streams
	APPLETASTE_MUTATIONS=20000 APPLETASTE_EXAMPLES=50 APPLETASTE_KILLS=40 $(BIN)/python -m pytest tests/service

check: setup  ## format, lint, types, import contracts
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: setup  ## put the code in shape
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: setup  ## speed, as ratios measured in one run
	OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 $(BIN)/python bench/run.py

bench-start: setup  ## the first minute: compilation, first commands, later starts, each beside its bar; ARGS=--clone adds make demo
	$(BIN)/python bench/start.py $(ARGS)

# One by one: a peer that cannot be built here (contextualbandits needs a C++ compiler) must not keep the others away.
PEERS := vowpalwabbit mabwiser bayesianbandits contextualbandits river
$(VENV)/peers: $(VENV)/ready
	for peer in $(PEERS); do \
	  $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt $$peer || echo "$$peer could not be installed: the bench goes on without it"; \
	done
	touch $@

bench-peers: $(VENV)/peers  ## regret, time and memory beside five other libraries, in half an hour: out/bench-peers/index.html
	OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 $(BIN)/python -m bench.peers $(ARGS)

bench-files: $(VENV)/peers  ## five real files as replay plays them, beside other libraries, in an hour: docs/replay.md
	OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 $(BIN)/python -m bench.files $(ARGS)

bench-exact: setup  ## exact Thompson sampling against PG-TS, paired
	$(BIN)/python bench/exact.py $(ARGS)

bench-sensitivity: $(VENV)/peers  ## what the defaults of voi matter
	$(BIN)/python -m bench.sensitivity $(ARGS)

bench-scale: $(VENV)/peers  ## cost and memory to a million labels, in ten minutes: docs/scale.md
	OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 $(BIN)/python -m bench.scale $(ARGS)

# Other people's estimators, for a comparison: in an environment of their own, because obp brings PyTorch. Its versions
# from 0.5 on refuse Python 3.11; 0.4.1 is the last that does not.
RIVALS := vw-estimators==0.2.2 obp==0.4.1
$(VENV)-ope/ready:
	$(PYTHON) -m venv $(VENV)-ope
	for rival in $(RIVALS); do \
	  $(VENV)-ope/bin/python -m pip install --quiet --disable-pip-version-check $$rival || echo "$$rival could not be installed: the bench goes on without it"; \
	done
	touch $@

bench-coverage: setup $(VENV)-ope/ready  ## do intervals cover the truth? hard streams, public files, every policy; an hour on two cores, parts by ARGS='--part hard': docs/missed.md
	OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 $(BIN)/python -m bench.intervals $(ARGS)

bench-drift: setup  ## forgetting and alarms on streams with a known change, in two minutes: docs/drift.md
	OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 $(BIN)/python -m bench.drift $(ARGS)

bench-item-costs: setup  ## what costs by item are worth, and whether the money missed is covered, in ten minutes: docs/replay.md
	OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 $(BIN)/python -m bench.item_costs $(ARGS)

bench-desk: setup  ## a small-cap desk beside one-sided logistic regression, in half an hour: docs/decisions/0011-pacing.md
	OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 $(BIN)/python -m bench.desk $(ARGS)

bench-blind: setup  ## rare segments that pay: does voi find them, and what does looking cost, in twenty minutes: docs/rules.md
	OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 $(BIN)/python -m bench.blind $(ARGS)

bench-levels: setup  ## columns with thousands of levels, against the levels of the first rows, in five minutes: docs/curves.md
	OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 $(BIN)/python -m bench.levels $(ARGS)

bench-lines: setup  ## what curves cost where nothing bends, in ten minutes: docs/curves.md
	OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 $(BIN)/python -m bench.lines $(ARGS)

# The plain service that the bench compares with is FastAPI's, which nothing else here needs.
$(VENV)/plain: $(VENV)/ready
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt fastapi || echo "fastapi could not be installed: the bench goes on without it"
	touch $@

bench-service: $(VENV)/plain  ## streams in a file and over HTTP: decisions a second, opening and verifying a million: docs/service.md
	OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 $(BIN)/python -m bench.service $(ARGS)

bench-logs: setup  ## missed, what-if, drift and report on ten million decisions, in ten minutes: docs/decision-log.md
	$(BIN)/python -m bench.logs $(ARGS)

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
