# make run    open the planner            make bench  how fast it is, against limits
# make test   the tests, without a screen make shots  the pictures in docs/img
# make lint   format, rules, types        make bench-claim  a published claim, simulated
#                                         make bench-simulator  its speed against SimPy
#                                         make bench-optimise  a million plans ranked
# make soak   100,000 damaged files over all readers
#                                         make bench-log  a log of 1 GB, read in one pass
#
# `run` and `test` set up what is missing: packaging/setup.sh says how.

PYTHON := .venv/bin/python
EXAMPLE := resources/examples/nemotron-3.5-super.ckptplan.json

export LANG ?= C.UTF-8
export PYQTGRAPH_QT_LIB := PySide6

.PHONY: run test lint bench bench-claim bench-simulator bench-optimise bench-log soak shots

run: .venv/.desktop
	@$(PYTHON) -m ckptplanner $(EXAMPLE)

test: .venv/.offscreen
	QT_QPA_PLATFORM=offscreen $(PYTHON) -X faulthandler -m pytest -q -n 2

lint: .venv/.offscreen
	$(PYTHON) -m ruff format --check .
	$(PYTHON) -m ruff check .
	$(PYTHON) -m mypy ckptplanner

bench: .venv/.offscreen
	QT_QPA_PLATFORM=offscreen $(PYTHON) tests/bench/bench.py

bench-claim: .venv/.offscreen
	$(PYTHON) tests/bench/claim.py

bench-simulator: .venv/.offscreen
	$(PYTHON) -m tests.bench.simulator

bench-optimise: .venv/.offscreen
	$(PYTHON) tests/bench/optimise.py

bench-log: .venv/.offscreen
	$(PYTHON) -m tests.bench.big_log

soak: .venv/.offscreen
	$(PYTHON) -m tests.soak.readers

shots: .venv/.offscreen
	QT_QPA_PLATFORM=offscreen $(PYTHON) packaging/shots.py

.venv/.offscreen .venv/.desktop: .venv/.%: pyproject.toml packaging/setup.sh
	@sh packaging/setup.sh $*
	@touch $@
