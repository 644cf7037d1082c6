# Every target does its own set-up; see packaging/setup.sh. ARGS="..." is handed on to the program.
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help run test lint bench soak screenshots lock clean

ARGS ?=
PYTHON := .venv/bin/python
# One stamp for each kind of set-up, named after the locks; what exists is not done again.
STAMPS := $(shell QT_QPA_PLATFORM='$(QT_QPA_PLATFORM)' sh packaging/setup.sh --stamps)
READY_TO_RUN := $(word 1,$(STAMPS))
READY_TO_TEST := $(word 2,$(STAMPS))
READY_FOR_A_SCREEN := $(word 3,$(STAMPS))

$(READY_TO_RUN):
	@sh packaging/setup.sh run

$(READY_TO_TEST):
	@sh packaging/setup.sh test

$(READY_FOR_A_SCREEN):
	@sh packaging/setup.sh screen

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-12s %s\n", $$1, $$2 }' Makefile

run: $(READY_TO_RUN) ## start Muntin (ARGS="--data-dir DIR --offline")
	@$(PYTHON) -m app $(ARGS)

# Tests see neither a display nor anybody's keys.
test: $(READY_TO_TEST) ## run all tests (ARGS="-k words" for some)
	@env -u ANTHROPIC_API_KEY -u ANTHROPIC_AUTH_TOKEN -u ANTHROPIC_BASE_URL \
	  -u OPENAI_API_KEY -u OPENAI_BASE_URL -u OPENAI_ORG_ID -u OPENAI_PROJECT_ID \
	  QT_QPA_PLATFORM=offscreen $(PYTHON) -m pytest -n 2 $(ARGS)

lint: $(READY_TO_TEST) ## check style, types and the layers
	$(PYTHON) -m ruff check
	$(PYTHON) -m ruff format --check
	$(PYTHON) -m mypy
	.venv/bin/lint-imports --no-logo

bench: $(READY_FOR_A_SCREEN) ## measure, and write docs/performance.md
	@sh packaging/virtual_screen.sh $(PYTHON) -m tests.benchmarks $(ARGS)

soak: $(READY_FOR_A_SCREEN) ## kill it again and again, and look what is lost
	@sh packaging/virtual_screen.sh --keyboard $(PYTHON) -m tests.soak $(ARGS)

screenshots: $(READY_FOR_A_SCREEN) ## draw the pictures of the documentation
	@sh packaging/virtual_screen.sh $(PYTHON) -m tests.screenshots $(ARGS)

lock: $(READY_TO_TEST) ## write requirements/*.txt anew (ARGS=--upgrade for newer versions)
	@sh packaging/lock.sh $(ARGS)

clean: ## remove what the other targets made here; chats and settings stay
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache build dist ./*.egg-info
	find app tests packaging -name __pycache__ -prune -exec rm -rf {} +
