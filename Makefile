# `make demo` and `make test` set up all they need. `make` alone lists the targets.

# Engines and tests run one process per core; a BLAS that starts its own threads only gets in their way.
OPENBLAS_NUM_THREADS ?= 1
VECLIB_MAXIMUM_THREADS ?= 1
export OPENBLAS_NUM_THREADS VECLIB_MAXIMUM_THREADS

BIN := .venv/bin

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: demo test check bench soak accuracy reproduce docs clean help runtime-setup test-setup engine engines browser

demo: runtime-setup engine ## rate the games that ship; writes demo.html
	$(BIN)/skilloscope demo

test: test-setup engines browser ## everything but the slow tests
	$(BIN)/python -m pytest -ra -n auto --dist loadfile -m "not soak"

check: test-setup ## style, format, types and words
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy --strict
	$(BIN)/python tools/check_words.py

soak: test-setup engines browser ## the slow tests: kills, fuzzing, large streams, other random examples
	HYPOTHESIS_PROFILE=random $(BIN)/python -m pytest -ra -m "soak or hypothesis"

bench: test-setup engine ## how fast each part is
	$(BIN)/python -m benchmarks

accuracy: test-setup ## how good the ratings are
	$(BIN)/python tools/accuracy.py
	cd tools && ../$(BIN)/python accuracy_people.py
	cd tools && ../$(BIN)/python alternatives.py
	cd tools && ../$(BIN)/python accuracy_axis.py
	cd tools && ../$(BIN)/python forecast_fused.py
	cd tools && ../$(BIN)/python years_check.py

reproduce: runtime-setup ## the papers' tables beside ours; writes reproduction.html
	$(BIN)/skilloscope papers reproduce --html reproduction.html $(if $(wildcard ../shared/data),--data ../shared/data) \
		$(foreach file,$(wildcard measurements/*.parquet),--import $(file))

docs: test-setup ## the documentation, into site/
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

clean: ## remove all that make has made
	rm -rf .venv .cache .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage dist build site demo.html report.html reproduction.html
	find src tests tools benchmarks -name __pycache__ -prune -exec rm -rf {} +

help: ## this list
	@sed -n 's/^\([a-z]*\):.*## /\1	/p' Makefile | awk -F '\t' '{ printf "  make %-10s %s\n", $$1, $$2 }'

runtime-setup:
	@tools/setup.sh runtime

test-setup:
	@tools/setup.sh test

engine:
	@tools/get-engine.sh

engines:
	@tools/get-engine.sh tests

browser:
	@tools/get-browser.sh
