# Every target sets itself up: the first one in a fresh clone makes .venv, later ones find it ready.
#
#   make contract                        judge the embedded reference runtime
#   make contract RUNTIME=claude-code    install Claude Code into an environment of its own and judge it, without a network; the
#                                        same with any other shipped profile of a third party: agent-contract profiles
#   make claude-code-known               the same against what is known of it: only a change is red
#   make matrix                          judge all of them, and write docs/matrix anew: about an hour
#   make contract RUNTIME=NAME           judge a runtime of agent-contract.toml, or a mutant:NAME or null:NAME
#   make clients                         play scripts and recordings to Codex CLI, Gemini CLI, openai-agents and pydantic-ai, installed into a throw-away folder
#   make cassettes                       record those clients anew, at a script
#   make test                            lint, types, layers, tests, docs
#   make test-all                        that, and what needs a package registry or more time
#   make kill-matrix                     measure every mutant over its whole suite, and write the matrix
#   make page                            the report page in a real browser, Chromium, with what that needs in a throw-away folder
#   make fuzz COUNT=1000 SEED=1          hostile clients at the provider, 100,000 of them if nothing is said
#   make benchmarks                      the figures that are promised, as ratios; the provider beside its peers

RUNTIME ?= reference
ARGS    ?=
COUNT   ?= 100000
SEED    ?= $(shell date +%s)
START   ?= 0
PYTHON  ?= $(shell for p in python3 python3.13 python3.12 python3.11 python; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
BIN     := .venv/bin

THIRD_PARTIES := $(basename $(notdir $(shell grep -l '^install' pytest_agentcontract/profiles/*.toml)))

.PHONY: ahead contract contract-once contract-in-parallel test test-all readings whole third-parties lint types layers tests slow kill-matrix docs network clients clients-if-possible page page-if-possible cassettes $(THIRD_PARTIES) $(THIRD_PARTIES:=-known) matrix fuzz benchmarks clean

contract: $(or $(filter $(THIRD_PARTIES),$(RUNTIME)),contract-once)

contract-once: .venv/ready
	$(BIN)/pytest --agent-contract --agent-contract-runtime="$(RUNTIME)" $(ARGS)

contract-in-parallel: .venv/ready
	$(BIN)/pytest --agent-contract --agent-contract-runtime=reference -n 2

# What later steps need from registries comes while the tests keep the processors busy.
ahead: .venv/ready
	@mkdir -p .agent-contract
	@(.ci/clients --install; .ci/page --install) >.agent-contract/ahead.log 2>&1 &

test: lint types layers tests docs

test-all: ahead readings whole third-parties contract-in-parallel

# Side by side, as far as one step leaves a processor idle; each step's output stays in one piece.
readings: .venv/ready
	@$(MAKE) --no-print-directory --jobs=2 --output-sync=target lint types layers docs

third-parties: .venv/ready
	@$(MAKE) --no-print-directory --jobs=3 --output-sync=target network clients-if-possible page-if-possible

whole: .venv/ready
	$(BIN)/pytest -q -n 2 -m "not network" $(ARGS)

lint: .venv/ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: .venv/ready
	$(BIN)/mypy

layers: .venv/ready
	$(BIN)/lint-imports

tests: .venv/ready
	$(BIN)/pytest -q -n 2 -m "not network and not slow" $(ARGS)

slow: .venv/ready
	$(BIN)/pytest -q -n 2 -m slow $(shell grep -rl --include='*.py' 'mark\.slow' tests) $(ARGS)

network: .venv/ready
	$(BIN)/pytest -q -m network -rs $(shell grep -rl --include='*.py' --exclude-dir=clients 'mark\.network' tests)

clients: .venv/ready
	.ci/clients $(ARGS)

clients-if-possible: .venv/ready
	.ci/clients --if-possible

page: .venv/ready
	.ci/page $(ARGS)

page-if-possible: .venv/ready
	.ci/page --if-possible $(ARGS)

cassettes: .venv/ready
	.ci/record $(ARGS)

kill-matrix: .venv/ready
	PYTHONPATH=. $(BIN)/python tests/kills.py $(ARGS)
	$(BIN)/python docs/generate.py

docs: .venv/ready
	$(BIN)/sphinx-build -q -W --keep-going -b html docs docs/_build

$(THIRD_PARTIES): .venv/ready
	.ci/runtime $@ $(ARGS)

$(THIRD_PARTIES:=-known): .venv/ready
	.ci/runtime $(@:-known=) --known $(ARGS)

matrix: .venv/ready
	.ci/matrix $(ARGS)

fuzz: .venv/ready
	$(BIN)/python -m tests.provider.fuzz.run $(COUNT) $(SEED) $(START)

benchmarks: .venv/ready
	$(BIN)/python benchmarks/collection.py
	$(BIN)/python benchmarks/provider_start.py
	$(BIN)/python benchmarks/per_case.py
	$(BIN)/python benchmarks/record.py
	$(BIN)/python benchmarks/replay.py
	$(BIN)/python benchmarks/page.py
	$(BIN)/python benchmarks/provider.py --quick --cache .agent-contract/peers

clean:
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .import_linter_cache docs/_build dist

.venv/ready: pyproject.toml
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer was not found; name one: make PYTHON=/path/to/python3.11 $(MAKECMDGOALS)" >&2; exit 2; }
	@echo "Setting up .venv with $(PYTHON) (once)"
	@test -x $(BIN)/python || "$(PYTHON)" -m venv .venv
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[dev]"
	@touch $@
