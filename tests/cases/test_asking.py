"""Cases of what can be asked, by whom, and what is said when it cannot."""

import pytest

from tests.support.marks import case
from tests.support.play import Play


@case("QUO-08")
@pytest.mark.parametrize(
    "line",
    [
        "4 h100 as borrow for 2d",
        "4 h100 for 2d",
        "1 h100 as transfer from nlp for 2d",
        "16 h100 as borrow until fri",
    ],
)
def test_a_queue_without_cohort_is_refused_before_anybody_is_asked(play: Play, line: str) -> None:
    play.kube.ensure("resourceflavors", "h100")
    if "solo" not in {version.name for version in play.kube.history}:
        play.kube.add_cluster_queue("solo", {"h100": 4})
        play.kube.reconcile()
        play.own_queue("robotics", "solo")
    before = len(play.slack.messages(play.stage.channels["gpu-approvals"]))
    said = play.says(
        "ravi",
        f"/gpu-quota request {line.replace(' for', ' in solo for').replace(' until', ' in solo until')}",
    )
    assert said.startswith("solo is in no cohort, so ")
    assert "webhook" not in said
    assert len(play.slack.messages(play.stage.channels["gpu-approvals"])) == before


@case("QUO-12")
@pytest.mark.parametrize("flavor", ["gpu-a40", "gpu-a100", ""])
def test_one_value_is_touched_and_its_neighbours_stay_byte_for_byte(play: Play, flavor: str) -> None:
    """Two resource groups, two flavors, and quantities that are no GPU counts."""
    if "many" not in {version.name for version in play.kube.history}:
        others = [{"name": "cpu", "nominalQuota": "10k"}, {"name": "memory", "nominalQuota": "2Ti"}]
        gpus = [
            {"name": name, "resources": [{"name": "nvidia.com/gpu", "nominalQuota": 4, "borrowingLimit": "0"}]}
            for name in ("gpu-a40", "gpu-a100")
        ]
        for name in ("gpu-a40", "gpu-a100", "default"):
            play.kube.ensure("resourceflavors", name)
        groups = [
            {"coveredResources": ["cpu", "memory"], "flavors": [{"name": "default", "resources": others}]},
            {"coveredResources": ["nvidia.com/gpu"], "flavors": gpus},
        ]
        spec = {"cohortName": "many", "namespaceSelector": {}, "resourceGroups": groups}
        play.kube.add("clusterqueues", "many", {"spec": spec})
        play.kube.reconcile()
        play.own_queue("robotics", "many")
    if not flavor:
        said = play.says("ravi", "/gpu-quota request 2 in many for 2d because x")
        assert "Which flavor? many lists gpu-a40 and gpu-a100" in said
        return
    before = play.kube.queue("many")["spec"]["resourceGroups"]
    number = play.in_force(f"2 {flavor} as borrow in many for 2d because x", "ada", who="ravi")
    play.limit_is("many", 2, flavor)
    after = play.kube.queue("many")["spec"]["resourceGroups"]
    assert after[0] == before[0]
    assert [one["coveredResources"] for one in after] == [one["coveredResources"] for one in before]
    other = "gpu-a100" if flavor == "gpu-a40" else "gpu-a40"
    assert [one for one in after[1]["flavors"] if one["name"] == other] == [
        one for one in before[1]["flavors"] if one["name"] == other
    ]
    play.says("ravi", f"/gpu-quota return Q-{number} 2")
    play.limit_is("many", 0, flavor)


@case("QUO-13")
@pytest.mark.parametrize("typed", ["4", " 4 ", "4x", "4 gpus"])
def test_whole_numbers_are_taken(play: Play, typed: str) -> None:
    number = play.asks(f"{typed} a100 as borrow for 2d because x")
    assert "4 a100 for vision" in play.stage.text(play.card(number))
    play.says("mira", f"/gpu-quota withdraw Q-{number}")


@case("QUO-13")
@pytest.mark.parametrize(
    "typed",
    ["0.5", "1500m", "4k", "1e3", "8E", "4Gi", "-4", "0", "1_000", "٤", "NaN", "inf", "0x8", "17", "4.0", "+4", "½"],
)
def test_everything_else_is_refused_in_words(play: Play, typed: str) -> None:
    said = play.says("mira", f"/gpu-quota request {typed} a100 for 2d because x")
    assert "Q-" not in said.replace("/gpu-quota", "")
    assert "Try: /gpu-quota request" in said or "policy" in said or "limit" in said or "16" in said


@case("QUO-15")
@pytest.mark.parametrize("typed", ["7 mig-1g.5gb", "7 nvidia.com/mig-1g.5gb", "7 MIG-1g.5gb", "7x mig-1g.5gb"])
def test_slices_are_asked_for_by_their_names(play: Play, typed: str) -> None:
    resource = "nvidia.com/mig-1g.5gb"
    if "mig" not in {version.name for version in play.kube.history}:
        play.kube.add_cluster_queue(
            "mig", {"a100-mig": {"nominal": 14, "borrowing": 0}}, cohort="mig", resource=resource
        )
        play.kube.reconcile()
        play.own_queue("robotics", "mig")
        play.accelerator(resource, "slice", "slices")
    said = play.says("ravi", f"/gpu-quota request {typed.replace('slices of ', '')} as borrow in mig for 2d because x")
    assert "7 a100-mig for mig" in said, said
    number = int(said.partition("Q-")[2].partition(":")[0])
    assert "7 a100-mig for mig" in play.stage.text(play.card(number))
    play.says("ravi", f"/gpu-quota withdraw Q-{number}")


@case("APP-07")
@pytest.mark.parametrize("second", ["2 a100 for 24h", "1 a100 for 1h", "2 a100 for 30min"])
def test_a_second_small_request_goes_to_a_person(play: Play, second: str) -> None:
    """The rule looks at what the team has and asks for, so that splitting gains nothing."""
    first = play.asks("2 a100 as borrow for 24h because small", who="mira")
    assert "Approved by rule small-and-short" in play.stage.text(play.card(first, "In force"))
    number = play.asks(f"{second} as borrow because small again", who="tom")
    text = play.stage.text(play.card(number, "Waiting"))
    assert "so a person decides" in text
    play.says("tom", f"/gpu-quota withdraw Q-{number}")
    play.says("mira", f"/gpu-quota return Q-{first} 2")
    play.limit_is("vision", 4)


@case("SLA-04")
@pytest.mark.parametrize(
    "line",
    [
        "4 --for 2d --reason “paper deadline”",
        "4 –for 2d --reason ‘paper deadline’",
        "4 —for=2d reason: «paper deadline»",
        "4 a100 for 2d because paper deadline",
        "4 a100 2d because “paper deadline”",
    ],
)
def test_what_phones_make_of_a_line_is_understood(play: Play, line: str) -> None:
    number = play.asks(line)
    text = play.stage.text(play.card(number))
    assert "4 a100 for vision, 2 days" in text
    assert "@mira · paper deadline\n" in text
    play.says("mira", f"/gpu-quota withdraw Q-{number}")


@case("SEC-05")
@pytest.mark.parametrize(
    "line", ["show nlp", "show hidden-queue", "request 2 a100 in nlp for 1d because x", "status nlp"]
)
def test_what_may_not_be_seen_reads_like_what_is_not_there(play: Play, line: str) -> None:
    play.see("own")
    hidden = play.says("ravi", f"/gpu-quota {line}")
    missing = play.says("ravi", f"/gpu-quota {line.replace('nlp', 'nlq').replace('hidden', 'hidded')}")
    assert hidden.replace("nlp", "nlq").replace("hidden", "hidded") == missing
    play.see("all")


@case("SEC-05")
@pytest.mark.parametrize(
    ("who", "queue", "allowed"), [("ravi", "vision", False), ("noor", "vision", False), ("ada", "vision", True)]
)
def test_one_asks_for_ones_own_team_only_unless_admin(play: Play, who: str, queue: str, allowed: bool) -> None:
    said = play.says(who, f"/gpu-quota request 3 a100 as borrow in {queue} for 2d because x")
    assert ("With the approvers" in said) is allowed, said
    if allowed:
        play.says(who, "/gpu-quota withdraw")


@case("SEC-08")
def test_a_flood_is_stopped_and_the_approvers_are_spared(play: Play) -> None:
    before = len(play.slack.messages(play.stage.channels["gpu-approvals"]))
    answers = [
        play.says("lena", "/gpu-quota request 3 a100 as borrow in vision for 2d because flood") for _ in range(30)
    ]
    assert sum("With the approvers" in one for one in answers) == 5
    assert all("are open. Withdraw one first." in one or "is the limit" in one for one in answers[5:])
    play.at_rest()
    roots = [one for one in play.slack.messages(play.stage.channels["gpu-approvals"]) if not one.is_reply]
    assert len(roots) <= before + 5
    for _ in range(5):
        number = next(int(one.partition("Q-")[2].partition(":")[0]) for one in answers if "With the approvers" in one)
        answers = [one for one in answers if f"Q-{number}:" not in one]
        play.says("lena", f"/gpu-quota withdraw Q-{number}")


@case("SEC-08")
@pytest.mark.parametrize("length", [301, 3000, 20_480])
def test_a_long_reason_is_cut_where_it_says(play: Play, length: int) -> None:
    number = play.asks("3 a100 as borrow for 2d because " + "w" * length)
    text = play.stage.text(play.card(number))
    assert "… (cut, " in text
    assert len(text) < 1200
    play.says("mira", f"/gpu-quota withdraw Q-{number}")
