"""`Page`: the served page as a context manager. Used by demo/run_page and by tests."""

import secrets
from types import TracebackType
from typing import Self

from bot.demo.kube.faults import Refuse
from bot.demo.page.acts import Desk
from bot.demo.page.files import load
from bot.demo.page.guard import HEADERS, Guard
from bot.demo.page.outages import Outages
from bot.demo.page.reads import Reads
from bot.demo.page.routes import Routes
from bot.demo.page.scene import Scene
from bot.demo.page.shown import Shown
from bot.demo.page.tempo import Tempo
from bot.demo.page.wire import Answer, Request, Wire


class PortTaken(Exception):
    """Somebody else serves on that port, or it needs rights."""


class Page:
    """Serves a scene on loopback; port 0 is a free one. Raises PortTaken."""

    def __init__(self, scene: Scene, port: int = 0) -> None:
        self.token = secrets.token_urlsafe(24)
        self.outages = Outages(
            {
                "slack": (scene.slack.go_down, scene.slack.come_back),
                "api": (lambda: scene.kube.faults.plan(Refuse(503), times=None), scene.kube.faults.clear),
            }
        )
        self.tempo = Tempo(scene.move)
        try:
            self._wire = Wire(self._answer, port, HEADERS)
        except OSError as error:
            raise PortTaken(error.strerror) from error
        desk = Desk(scene, Shown(), Reads())
        self._routes = Routes(Guard(self._wire.port, self.token), desk, self.outages, self.tempo, load(self.token))

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._wire.port}/"

    def __enter__(self) -> Self:
        self._wire.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End looks that wait, then everything else."""
        self._routes.closing.set()
        self._wire.stop()
        self.tempo.close()
        self.outages.close()

    def _answer(self, request: Request) -> Answer:
        return self._routes.answer(request)
