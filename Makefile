# One task runner. `make demo` and `make test` are all a fresh machine needs; each makes .venv from the locked
# requirements once (scripts/venv.sh) and again only when a lock changes. Python >= 3.11 is found by itself: PYTHON=... overrules.

PY := .venv/bin/python
ARGS ?=
SCRIPT ?= loop
UV ?= uv

# One worker more than there are cores, since a third of the time is waiting for servers; at most four, since each of them
# may run a PostgreSQL of its own.
WORKERS := $(shell n=$$(getconf _NPROCESSORS_ONLN) || n=2; [ $$n -lt 3 ] && echo $$((n + 1)) || echo 4)
PYTEST := $(PY) -m pytest -n $(WORKERS) --dist worksteal --durations 15 --durations-min 0.5

.DEFAULT_GOAL := help
.NOTPARALLEL: # one .venv, made by one at a time
.PHONY: help demo story picture fidelity test check format lint types imports drift lock clean

help: ## this list
	@sed -n 's/^\([a-z]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 10

demo: venv-run ## in the browser: simulated Slack and Kubernetes, the real bot (ARGS="--no-browser --port 0")
	@$(PY) -m bot demo $(ARGS)

story: venv-run ## the same as a scripted story in the terminal, which ends by itself (SCRIPT=loop)
	@$(PY) -m bot demo --script $(SCRIPT)

test: venv-test ## all tests; what this machine lacks is skipped and listed at the end (ARGS="-k words")
	@$(PYTEST) $(ARGS)

check: lint types imports drift ## style, types, layers, migration drift

lint: venv-check
	@$(PY) -m ruff check .
	@$(PY) -m ruff format --check .

types: venv-check
	@$(PY) -m mypy

imports: venv-check
	@$(PY) -c 'from importlinter.cli import lint_imports_command; lint_imports_command()' --no-logo

drift: venv-check ## the tables in the code are the tables the migrations make
	@new=$$(mktemp -d) && trap 'rm -rf "$$new"' EXIT && export DATABASE_URL="sqlite:///$$new/drift.db" && \
	$(PY) -m alembic -c alembic/alembic.ini upgrade head && $(PY) -m alembic -c alembic/alembic.ini check

format: venv-check ## let ruff put the files in shape
	@$(PY) -m ruff check --fix .
	@$(PY) -m ruff format .

# The groups are resolved on top of run.txt, so that one package has one version everywhere. UPGRADE=--upgrade takes newer ones.
LOCK = $(UV) pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header $(UPGRADE)
lock: ## write requirements/*.txt again from pyproject.toml (needs uv)
	@command -v $(UV) >/dev/null || { echo "make lock needs uv: put it on the PATH or say UV=/path/to/uv" >&2; exit 1; }
	$(LOCK) pyproject.toml -o requirements/run.txt
	$(LOCK) pyproject.toml --group test -c requirements/run.txt -o requirements/test.txt
	$(LOCK) pyproject.toml --group check -c requirements/test.txt -o requirements/check.txt
	$(LOCK) --group build -c requirements/test.txt -o requirements/build.txt

fidelity: venv-test ## run tests/cluster and write its list into docs/fidelity.md (needs every line: scripts/control-plane.sh build)
	@FIDELITY=docs/fidelity.md $(PYTEST) tests/cluster

picture: venv-test ## make docs/images/demo.png again (needs chromium)
	@PYTHONPATH=. $(PY) scripts/demo_picture.py

clean: ## forget .venv and every cache
	rm -rf .venv build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis

.PHONY: venv-run venv-test venv-check
venv-run venv-test venv-check: venv-%:
	@sh scripts/venv.sh $*
