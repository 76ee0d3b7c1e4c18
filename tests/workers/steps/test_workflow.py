"""What two runs of a workflow share: steps in an order, with a placeholder where a value happened to vary."""

import pytest

from nextlevel.workers.steps.workflow import common_steps, generalised

RELEASE = "git pull; make test; make dist; git tag v2.4; git push --tags"


@pytest.mark.parametrize(
    ("one", "other", "both"),
    [
        ("git tag v2.4", "git tag v2.5.1", "git tag v<version>"),
        ("pip install httpx==0.27.0rc1", "pip install httpx==0.28", "pip install httpx==<version>"),
        ("git checkout a1b2c3d", "git checkout 9f8e7d6c", "git checkout <id>"),
        ("gh pr merge 12", "gh pr merge 140", "gh pr merge <number>"),
        ("tar xf backup-2026-06-01.tar", "tar xf backup-2026-06-08.tar", "tar xf backup-<date>.tar"),
        ("ruff check src/app.py", "ruff check src/cli.py", "ruff check src/<name>.py"),
        ("git tag v<version>", "git tag v2.6", "git tag v<version>"),
        ("make   test", "make test", "make test"),
    ],
)
def test_what_varies_in_one_word_becomes_a_placeholder(one, other, both):
    assert both == generalised(one, other) == generalised(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("deploy prod", "deploy staging"),
        ("serve --port 8080", "serve --port 8091"),
        ("PORT=8080 serve", "PORT=8091 serve"),
        ("ssh 10.0.0.1", "ssh 10.0.0.2"),
        ("ssh prod.example.com", "ssh staging.example.com"),
        ("git tag v2.4 main", "git tag v2.5 next"),
        ("make test", "make test -x"),
        ("ruff check src/app.py", "ruff check lib/app.py"),
    ],
)
def test_a_value_that_is_a_choice_is_never_taken_for_one_that_varies(one, other):
    """Made general, "deploy <name>" would send to production what was meant for a test."""
    assert generalised(one, other) is None


def test_steps_that_only_one_run_took_are_left_out():
    other = "git pull; git status; make test; make dist; git tag v2.5; git push --tags"
    assert ["git pull", "make test", "make dist", "git tag v<version>", "git push --tags"] == common_steps(
        RELEASE, other
    )


@pytest.mark.parametrize(
    ("other", "why"),
    [
        ("git push --tags; git tag v2.4; make dist; make test; git pull", "the order is another"),
        ("git pull; make test; npm ci; npm run build; npm publish", "less than 0.7 of the steps are common"),
        ("git pull; make test", "two steps are no workflow"),
        ("git pull; make test; make dist; git tag v2.5; git push --force", "one does otherwise in the same place"),
        (
            "git pull; a; b; c; d; e; make test; f; g; make dist; git tag v2.5; h; i",
            "the longer is a workflow of its own",
        ),
    ],
)
def test_what_is_no_other_run_of_it_shares_nothing(other, why):
    assert [] == common_steps(RELEASE, other), why


def test_told_and_done_are_read_alike():
    assert ["build", "test", "tag"] == common_steps("build, test, then tag", "build; test; tag; announce")
