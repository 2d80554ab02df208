# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# Everything a person types. On a fresh Debian only git and make are needed; setup installs the rest.

GUEST ?= debian13
PROFILE ?= four_sata
BLOCKS ?= 8
LAB_DIR ?= $(if $(XDG_STATE_HOME),$(XDG_STATE_HOME),$(HOME)/.local/state)/plumbline/lab

export ANSIBLE_CONFIG := $(CURDIR)/ansible.cfg
export PATH := $(CURDIR)/.venv/bin:$(PATH)
RUN := .venv/bin/python tests/run.py

.DEFAULT_GOAL := help
.PHONY: help setup compare lab-up lab-down test test-full test-part test-unit lint sanity test-molecule test-compare format clean

help: ## say what can be made
	@sed -n 's/^\([a-z-]*\):.*## /\1|/p' Makefile | awk -F'|' '{ printf "make %-14s %s\n", $$1, $$2 }'

setup: ## install what is missing: Debian packages, and .venv with the Python tools
	@sh tests/ci/setup.sh

compare: setup ## compare md, LVM on md and striped LVM on a virtual machine (BLOCKS=8 GUEST=debian13), report in results/
	@BLOCKS='$(BLOCKS)' GUEST='$(GUEST)' PROFILE='$(PROFILE)' LAB_DIR='$(LAB_DIR)' sh tests/ci/compare_in_lab.sh

lab-up: setup ## boot the virtual machines of a profile (GUEST=debian13 PROFILE=four_sata)
	@ansible-playbook playbooks/lab_up.yml -e lab_guest='$(GUEST)' -e lab_profile='$(PROFILE)' -e lab_dir='$(LAB_DIR)'

lab-down: setup ## end and remove the virtual machines
	@ansible-playbook playbooks/lab_down.yml -e lab_dir='$(LAB_DIR)'

test: ## run the tests, ending with "N passed, N failed"
	@sh tests/ci/setup.sh || { echo '0 passed, 1 failed'; exit 1; }
	@$(RUN)

test-full: ## run every test there is, some hours: all options, power cuts, the grid, both guests
	@sh tests/ci/setup.sh || { echo '0 passed, 1 failed'; exit 1; }
	@$(RUN) --full

test-part: setup ## run parts of the full test by name (PART="md-13 grid-12-1"); an unknown name lists them
	@$(RUN) $(PART)

test-unit: setup ## run the unit tests, the target code's also on Python 3.9 where there is one
	@$(RUN) unit unit-oldest

lint: setup ## run ruff, yamllint, ansible-lint, mypy and shellcheck
	@$(RUN) lint

sanity: setup ## run ansible-test sanity
	@$(RUN) sanity

test-molecule: setup ## run the molecule scenarios on virtual machines of the lab, in both guests
	@$(RUN) molecule molecule-crossed

test-compare: setup ## run a comparison of two blocks in the lab and look at its results
	@$(RUN) compare

format: setup ## format the Python files
	@ruff format . && ruff check --fix .

clean: ## remove what make made here (the lab's cached images stay)
	rm -rf .venv .build .ansible .mypy_cache .pytest_cache .ruff_cache
