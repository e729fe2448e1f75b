"""Home tabs of everybody: what there can be to see, under any names. For tests of the view."""

from dataclasses import replace

from bot.core.ask_backs import AskBack
from bot.core.loans import LoanKind
from bot.core.messages import Home
from bot.core.pause import Pause
from bot.views.answers.status import QueueUse, TeamStatus
from bot.views.home import AskedFor, HomeFacts, OpenEdit, ToDecide, closed_home, home
from tests.support.view_facts import NAMES, Names, World, at
from tests.support.view_gallery import cards

LINK = "https://example.slack.com/archives/C1/p1796476800000100"


def homes(names: Names = NAMES) -> dict[str, Home]:
    """By a name that says whose."""
    shown = {name: home(facts) for name, facts in home_facts(names).items()}
    return shown | {"guest": closed_home("Guests cannot request.", at("14:05"))}


def home_facts(names: Names = NAMES) -> dict[str, HomeFacts]:
    """What the tabs are made of; a tab of a person with a card in every state is among them."""
    now, world = at("14:05"), World(names)
    states = cards(world) | {f"borrow {name}": one for name, one in cards(World(names, LoanKind.BORROW)).items()}
    use = TeamStatus(names.queue, (QueueUse(names.queue, names.flavor, 20, 16, 12),))
    blind = TeamStatus(names.lender)
    ask = AskBack(7, 142, world.lead.id, at("09:00", 3), names.reason)
    asked_back = AskedFor(ask, world.loan(), world.lead)
    edit = OpenEdit(names.queue, names.flavor, 20, 24, at("14:23"), LINK)
    return {
        "nobody's": HomeFacts(now, in_no_team=True),
        "admin in no team": HomeFacts(now, in_no_team=True, admin=True),
        "new member": HomeFacts(now, teams=(use,)),
        "member": HomeFacts(now, own=(states["waiting"], states["in force"]), teams=(use,)),
        "offered": HomeFacts(now, own=(states["offered"],), asked_back=(asked_back,), teams=(use,)),
        "lead": HomeFacts(
            now,
            decide=(ToDecide(states["waiting"], LINK), ToDecide(states["extension waiting"])),
            team_loans=(states["in force"], states["in force by rule"]),
            lent=(world.loan(),),
            teams=(use, blind),
            leads=True,
        ),
        "new lead": HomeFacts(now, teams=(use,), leads=True),
        "admin": HomeFacts(now, edits=(edit, replace(edit, live=None, expected=None, link=None)), admin=True),
        "not well": HomeFacts(
            now,
            teams=(blind,),
            trouble=("No live figures of default: the API server is not answering", names.vendor),
            pause=Pause("UADMIN", names.admin, at("13:50"), names.reason),
            observe=True,
        ),
        **{f"own: {name}": HomeFacts(now, own=(one,), teams=(use,)) for name, one in states.items()},
    }


def many(names: Names, count: int) -> Home:
    """So many of everything."""
    whole = home_facts(names)
    lead, offered, admin = whole["lead"], whole["offered"], whole["admin"]
    return home(
        replace(
            lead,
            decide=tuple(lead.decide) * count,
            asked_back=tuple(offered.asked_back) * count,
            edits=tuple(admin.edits) * count,
            own=tuple(whole["member"].own) * count,
            decide_left=count,
            team_loans=tuple(lead.team_loans) * count,
            team_left=count,
            lent=tuple(lead.lent) * count,
            teams=tuple(lead.teams) * count,
            trouble=tuple(whole["not well"].trouble) * count,
            pause=whole["not well"].pause,
            admin=True,
        )
    )
