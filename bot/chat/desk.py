"""Handles one stored arrival: finds who handles it, and turns what goes wrong into words. Called by the worker pool.

An arrival is handled at least once: the flow that changes something marks it as done in the same transaction, so a
second try of the same arrival cannot change anything twice. What only answers is marked here.
"""

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta

import structlog

from bot.core.errors import AlreadyHandled, Refused, Rejected, Stale, Unavailable
from bot.core.inbox import Arrival, InboxItem
from bot.core.messages import Message
from bot.core.notices import NoticeDraft
from bot.flows.refused_with import RefusedWith
from bot.flows.world import World
from bot.views.kinds import NoticeKind
from bot.views.refusals import failed, refused, slow_answer

log = structlog.get_logger(__name__)

CLAIM_IS_OLD = timedelta(minutes=2)
"""After that a claimed arrival is taken by somebody else: its worker is dead or hangs."""
MOST_ATTEMPTS = 3
RESPONSE_URL_LIFE = timedelta(minutes=30)
SLOW = timedelta(seconds=3)
"""After that the one who acted hears that the answer takes a while."""


@dataclass(frozen=True, slots=True)
class Arrived:
    """What a handler works on."""

    world: World
    item: InboxItem

    @property
    def user(self) -> str:
        """Who acted."""
        return str(self.item.payload["user"])

    @property
    def origin(self) -> str:
        """The key that a flow marks as done."""
        return self.item.key

    def get(self, name: str) -> str:
        """A value of the payload as text, "" if it has none."""
        return str(self.item.payload.get(name) or "")


@dataclass(slots=True, eq=False)
class _Awaited:
    """Somebody waits for an answer to this. The lock keeps the answer behind the line that says that it takes long."""

    arrived: Arrived
    lock: threading.Lock = field(default_factory=threading.Lock)
    over: bool = False
    """Answered, or told that it takes long."""


Handler = Callable[[Arrived], Message | None]
"""Answers the one who acted, or None when something else was shown. Raises Refused."""


@dataclass(slots=True)
class Desk:
    """Who handles what, by subcommand, action_id or callback_id."""

    world: World
    find: Callable[[InboxItem], Handler]
    worker: str
    """Name of this process, for claims."""
    _awaited: dict[str, _Awaited] = field(default_factory=dict)
    _outages: dict[str, int] = field(default_factory=dict)
    """How many tries of an arrival a database that was down has cost: they say nothing about the arrival."""

    def expect(self, item: InboxItem) -> None:
        """It has just arrived, and will be handled as soon as a worker is free."""
        if item.payload.get("response_url"):
            self._awaited[item.key] = _Awaited(Arrived(self.world, item))

    def tell_slow(self) -> None:
        """Say once to each who waits for more than SLOW that the answer comes. Called every second or so."""
        for awaited in list(self._awaited.values()):
            with awaited.lock:
                waits = self.world.clock() - awaited.arrived.item.received_at
                if awaited.over or not SLOW < waits < RESPONSE_URL_LIFE:
                    continue
                awaited.over = True
                try:
                    self.world.chat.respond(awaited.arrived.get("response_url"), slow_answer())
                except (Unavailable, Rejected) as error:
                    log.warning("cannot say that it takes long", key=awaited.arrived.item.key, why=str(error))

    def handle(self, item: InboxItem) -> None:
        """One arrival; after it nobody waits for an answer any more."""
        try:
            self._take_up(item)
        except Unavailable:
            self._outages[item.key] = self._outages.get(item.key, 0) + 1
            raise
        else:
            self._outages.pop(item.key, None)
        finally:
            self._awaited.pop(item.key, None)

    def _take_up(self, item: InboxItem) -> None:
        """What was never tried has just been stored and is claimed first; the others were taken."""
        if item.attempts - self._outages.get(item.key, 0) > MOST_ATTEMPTS:
            self._give_up(item)
        elif item.attempts or self._claim(item):
            self._handle(item)

    def left(self, limit: int, claim_is_old: timedelta = CLAIM_IS_OLD) -> Sequence[InboxItem]:
        """Take those that nobody handled: stored before a kill, or claimed by a process that is gone.

        A process that is the only one and has not begun may call every claim old.
        """
        with self.world.store.begin() as uow:
            items = uow.inbox.take(self.worker, limit, claim_is_old)
            uow.commit()
        return items

    def _claim(self, item: InboxItem) -> bool:
        with self.world.store.begin() as uow:
            mine = uow.inbox.claim(item.key, self.worker)
            uow.commit()
        return mine

    def _handle(self, item: InboxItem) -> None:
        arrived = Arrived(self.world, item)
        try:
            answer = self._once_more(self.find(item), arrived)
        except RefusedWith as error:
            answer = error.message
        except Refused as error:
            answer = refused(error.sentence)
        except AlreadyHandled:
            return  # by another worker, which answers
        except Stale:
            answer = refused("Somebody else is changing the same. Try again in a moment.")
        except Unavailable as error:
            if error.what == "database":
                raise  # nothing was recorded: the arrival stays, and is tried again
            answer = refused(f"{error.what} is not answering. Nothing was changed. Try again in a few minutes.")
        except Exception:
            reference = self._new_reference()
            log.exception("an arrival could not be handled", key=item.key, name=item.name, reference=reference)
            self._fail(item, reference)
            return
        if answer is not None:
            self._answer(arrived, answer)
        self._settle(item)

    def _once_more(self, handler: Handler, arrived: Arrived) -> Message | None:
        """Who lost a race, or a deadlock, decides again at once by what is stored now."""
        try:
            return handler(arrived)
        except AlreadyHandled:
            raise
        except Stale as lost:
            log.info("handled once more", key=arrived.item.key, why=str(lost))
            return handler(arrived)

    def _give_up(self, item: InboxItem) -> None:
        """Each try ended without a word: its process died, or hung."""
        reference = self._new_reference()
        log.error("an arrival is given up", key=item.key, name=item.name, tries=MOST_ATTEMPTS, reference=reference)
        self._fail(item, reference)

    def _fail(self, item: InboxItem, reference: str) -> None:
        self._answer(Arrived(self.world, item), failed(reference))
        self._settle(item, f"reference {reference}")

    def _new_reference(self) -> str:
        return self.world.new_id()[:6].upper()

    def _answer(self, arrived: Arrived, message: Message) -> None:
        """Where it came from; by DM once that is no longer possible. Nobody waits for an answer to an event."""
        if arrived.item.arrival is Arrival.EVENT:
            return
        awaited = self._awaited.pop(arrived.item.key, None)
        if awaited is not None:
            with awaited.lock:
                awaited.over = True
        url = arrived.get("response_url")
        if url and self.world.clock() - arrived.item.received_at < RESPONSE_URL_LIFE:
            try:
                self.world.chat.respond(url, message)
            except (Unavailable, Rejected) as error:
                log.warning("the answer goes by DM", key=arrived.item.key, why=str(error))
            else:
                return
        facts: Mapping[str, object] = {"text": message.text, "blocks": list(message.blocks)}
        draft = NoticeDraft(f"answer:{arrived.item.key}", NoticeKind.ANSWER, arrived.user, facts)
        with self.world.store.begin() as uow:
            uow.notices.owe_once(draft, self.world.clock())
            uow.commit()
        self.world.wake_delivery()

    def _settle(self, item: InboxItem, failure: str | None = None) -> None:
        with self.world.store.begin() as uow:
            if failure is not None:
                uow.inbox.failed(item.key, failure)
            else:
                _done(uow.inbox.done, item.key)
            uow.commit()


def _done(done: Callable[[str], None], key: str) -> None:
    """A flow may have marked it already, together with what it changed."""
    try:
        done(key)
    except AlreadyHandled:
        return
