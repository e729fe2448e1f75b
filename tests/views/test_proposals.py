"""What is to be merged in Git: the exact difference while it counts, and never after that."""

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from bot.core.convergence.facts import FieldName
from bot.core.convergence.proposals import ProposalEnd
from bot.views.proposals import ProposedChange, proposal, proposal_waits
from bot.views.quota_yaml import difference
from tests.support.view_proposals import GPU, proposed
from tests.support.view_text import seen

FACTS = proposed()["open"]


def test_an_open_one_reads_as_designed() -> None:
    message = proposal(FACTS)
    assert seen(message) == [
        "⏳ vision a100 16 -> 24: to be merged in Git (Q-142)",
        "Q-142 brings 8, until Sat 5 Dec 14:20. Not in force until this is merged",
        "| --- now",
        "| +++ proposed",
        "| @@ -1,10 +1,10 @@",
        "|  kind: ClusterQueue",
        "|  metadata:",
        "|    name: vision",
        "|  spec:",
        "|    resourceGroups:",
        "|    - flavors:",
        "|      - name: a100",
        "|        resources:",
        "|        - name: nvidia.com/gpu",
        "| -        nominalQuota: 16",
        "| +        nominalQuota: 24",
        "The bot does not write this queue. It sees within a minute when this is merged, and says so",
    ]
    assert message.text == "vision a100 16 -&gt; 24: to be merged in Git (Q-142)"


@pytest.mark.parametrize(
    ("state", "line"),
    [
        ("over", "Q-142 is over; its 8 stay here until this is merged"),
        ("lender", "Q-142 lends 8, until Sat 5 Dec 14:20. The borrower gets nothing until this is merged"),
        ("lender", "| -        lendingLimit: 20"),
        ("lender", "| +        lendingLimit: 16"),
        ("part", "Q-142 gives 2 back. Not so until this is merged"),
        ("part", "Q-143 gives 2 back. Not so until this is merged"),
        ("several", "| +        borrowingLimit: 4"),
        ("several", "Managed by Argo CD"),
        ("several", "Its annotation from before counts for nothing here and may be removed"),
        ("many", "and 2 more: gpu-quota-bot converge --dry-run"),
    ],
)
def test_it_says_what_is_true_until_then(state: str, line: str) -> None:
    assert line in seen(proposal(proposed()[state]))


@pytest.mark.parametrize(
    ("how", "lines"),
    [
        (ProposalEnd.MERGED, ["✅ vision a100 16 -> 24 is in force (Q-142)", "Merged, seen 14:40"]),
        (
            ProposalEnd.SUPERSEDED,
            [
                "⚪ vision a100 16 -> 24 is replaced: do not merge it (Q-142)",
                "The newer difference counts, since 14:40",
            ],
        ),
        (
            ProposalEnd.WITHDRAWN,
            [
                "⚪ vision a100 16 -> 24 is withdrawn: do not merge it (Q-142)",
                "Nothing is to be changed, since 14:40",
            ],
        ),
    ],
)
def test_one_that_is_over_has_no_difference_to_merge(how: ProposalEnd, lines: list[str]) -> None:
    assert seen(proposal(proposed()[how.value])) == lines


def test_the_reminder_says_what_waits() -> None:
    assert seen(proposal_waits(FACTS)) == [
        "⏳ vision a100 16 -> 24 is not merged yet (Q-142)",
        "Proposed Wed 2 Dec 14:02",
        "Q-142 waits until then",
    ]


_NAMES = st.sampled_from(["a100", "h100-sxm", "7g.80gb", "true", "a: b", "-"])
_NUMBERS = st.none() | st.integers(0, 2_000)
_CHANGES = st.builds(
    ProposedChange,
    _NAMES,
    st.sampled_from([GPU, "amd.com/gpu"]),
    st.sampled_from(FieldName),
    _NUMBERS,
    _NUMBERS,
).filter(lambda one: one.before != one.after)


def _quotas(document: str) -> dict[tuple[str, str, str], int]:
    read = yaml.safe_load(document)
    return {
        (flavor["name"], resource["name"], key): value
        for flavor in read["spec"]["resourceGroups"][0]["flavors"]
        for resource in flavor["resources"]
        for key, value in resource.items()
        if key != "name"
    }


@given(st.lists(_CHANGES, min_size=1, max_size=6, unique_by=lambda one: (one.flavor, one.resource, one.name)))
def test_the_difference_is_yaml_before_and_after_with_exactly_these_numbers(changes: list[ProposedChange]) -> None:
    body = difference("vision", changes).splitlines()[3:]
    for sign, other, which in (("-", "+", "before"), ("+", "-", "after")):
        document = "\n".join(line[1:] for line in body if not line.startswith(other))
        wanted = {
            (one.flavor, one.resource, "nominalQuota" if one.name is FieldName.NOMINAL else "borrowingLimit"): number
            for one in changes
            if (number := getattr(one, which)) is not None
        }
        assert _quotas(document) == wanted, sign


def test_git_applies_the_difference_to_the_file_that_it_shows(tmp_path: Path) -> None:
    text = difference("vision", [replace(FACTS.changes[0], lending_before=4, lending_after=12)])
    body = text.splitlines()[3:]
    (tmp_path / "vision.yaml").write_text("".join(f"{line[1:]}\n" for line in body if not line.startswith("+")))
    named = text.replace("--- now", "--- a/vision.yaml").replace("+++ proposed", "+++ b/vision.yaml")
    subprocess.run(["git", "apply", "-"], cwd=tmp_path, input=f"{named}\n", text=True, check=True)
    assert _quotas((tmp_path / "vision.yaml").read_text()) == {
        ("a100", GPU, "nominalQuota"): 24,
        ("a100", GPU, "lendingLimit"): 12,
    }
