"""From a request to its answer: files, looks, acts and controls. Called by `page` on the request's thread."""

import hashlib
import logging
import threading
import time
from collections.abc import Callable
from typing import Any

import orjson
from pydantic import BaseModel, ValidationError

from bot.demo.kube.people import Refused
from bot.demo.page import picture
from bot.demo.page.acts import ACTS, Desk
from bot.demo.page.controls import CONTROLS, Controls
from bot.demo.page.guard import Guard
from bot.demo.page.outages import Outages
from bot.demo.page.strip import cohort
from bot.demo.page.tempo import Tempo
from bot.demo.page.wire import Answer, Request
from bot.demo.slack import SlackError

_LOG = logging.getLogger(__name__)
LONGEST_LOOK = 20.0
"""Seconds that a look waits for something new before it says that there is nothing."""
BETWEEN_LOOKS = 0.1


class Routes:
    """`files`: path -> answer. `closing` ends looks that wait."""

    def __init__(self, guard: Guard, desk: Desk, outages: Outages, tempo: Tempo, files: dict[str, Answer]) -> None:
        self._guard = guard
        self._desk = desk
        self._outages = outages
        self._tempo = tempo
        self._files = files
        self._controls = Controls(desk.scene, outages, tempo)
        self.closing = threading.Event()

    def answer(self, request: Request) -> Answer:
        refusal = self._guard.refuse(request)
        if refusal is not None:
            return refusal
        try:
            return self._lead(request)
        except ValidationError:
            return _problem(400, "The page sent something that is not understood.")
        except (LookupError, SlackError, Refused) as error:
            return _problem(409, error.args[0] if isinstance(error, LookupError) else str(error))
        except Exception:
            _LOG.exception("the page's server failed")
            return _problem(500, "The demo's server failed; its terminal says why.")

    def _lead(self, request: Request) -> Answer:
        if request.verb != "POST":
            return self._get(request)
        _, _, name = request.path.partition("/api/")
        if name in ACTS:
            model, act = ACTS[name]
            return self._do(request, model, lambda asked: act(self._desk, asked))
        if name in CONTROLS:
            kind, control = CONTROLS[name]
            return self._do(request, kind, lambda asked: control(self._controls, asked))
        return _problem(404, "There is no such thing.")

    def _get(self, request: Request) -> Answer:
        if request.path == "/api/start":
            return _json(picture.first_look(self._desk.scene))
        if request.path == "/api/look":
            return self._look(request.query.get("person", ""), request.query.get("seen", ""))
        return self._files.get(request.path) or _problem(404, "There is no such page.")

    def _do(self, request: Request, model: type[BaseModel], act: Callable[[Any], dict[str, Any]]) -> Answer:
        return _json(act(model.model_validate_json(request.body)))

    def _look(self, person: str, seen: str) -> Answer:
        """What this person sees as soon as it is not what they have seen (`seen` is its name); 204 after a while."""
        deadline = time.monotonic() + LONGEST_LOOK
        while True:
            body = self._drawn(person)
            name = hashlib.sha256(body).hexdigest()[:32]
            if name != seen:
                return Answer(200, b'{"seen":"%s","picture":%s}' % (name.encode(), body), "application/json")
            if time.monotonic() > deadline or self.closing.wait(BETWEEN_LOOKS):
                return Answer(204)

    def _drawn(self, person: str) -> bytes:
        desk = self._desk
        seen = picture.look(desk.scene, person, desk.shown, desk.reads)
        return orjson.dumps(seen | {"cohort": cohort(desk.scene, self._outages, self._tempo)})


def _json(content: dict[str, Any]) -> Answer:
    return Answer(200, orjson.dumps(content), "application/json")


def _problem(status: int, words: str) -> Answer:
    return Answer(status, orjson.dumps({"problem": words}), "application/json")
