"""A page without a bot (nobody answers, nothing else moves), a client for its server, and one Chromium per module."""

import http.client
import json
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from playwright.sync_api import Browser, sync_playwright

from bot.demo.kube.sim import KubeSim
from bot.demo.page import Command, Page, Role, Scene
from bot.demo.slack import Clocks, Setup, SlackSim

NOON = datetime(2026, 12, 2, 12, 0, tzinfo=UTC)


@dataclass
class Clock:
    moment: datetime = NOON

    def __call__(self) -> datetime:
        return self.moment

    def move(self, by: timedelta) -> None:
        self.moment += by


@dataclass
class Town:
    """Mira and noor share #gpu; noor alone is in #leads; two queues of one cohort."""

    slack: SlackSim
    kube: KubeSim
    clock: Clock
    scene: Scene
    page: Page
    ids: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Client:
    """What a browser would send, and whatever else one likes."""

    page: Page

    @property
    def port(self) -> int:
        return int(self.page.url.rsplit(":", 1)[1].strip("/"))

    def send(
        self, verb: str, path: str, body: bytes | None = None, **headers: str
    ) -> tuple[int, bytes, dict[str, str]]:
        """Header names with `_` for `-`; a header of None-like text is sent as it is."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        try:
            connection.request(verb, path, body, named)
            answer = connection.getresponse()
            return answer.status, answer.read(), {name.lower(): value for name, value in answer.getheaders()}
        finally:
            connection.close()

    def get(self, path: str) -> Any:
        status, body, _ = self.send("GET", path, X_Demo_Token=self.page.token)
        assert status == 200, body
        return json.loads(body)

    def look(self, user: str) -> Any:
        return self.get(f"/api/look?person={user}&seen=")["picture"]

    def post(self, name: str, content: Any) -> tuple[int, Any]:
        body = content if isinstance(content, bytes) else json.dumps(content).encode()
        status, said, _ = self.send(
            "POST", f"/api/{name}", body, X_Demo_Token=self.page.token, Content_Type="application/json"
        )
        return status, json.loads(said) if said.startswith(b"{") else said


@pytest.fixture
def town() -> Iterator[Town]:
    clock = Clock()
    kube = KubeSim(clock=clock)
    for queue, nominal in {"nlp": 8, "vision": 4}.items():
        kube.add_cluster_queue(queue, {"a100": {"nominal": nominal}}, cohort="gpu-pool")
        kube.add_local_queue(f"{queue}-train", "main", queue)
    kube.reconcile()
    with SlackSim(Setup(ack_limit=0.3), Clocks(now=clock)) as slack:
        mira = slack.add_person("mira", tz="Europe/Zurich").id
        noor = slack.add_person("noor", tz="America/New_York", locale="en-GB").id
        gpu = slack.add_channel("gpu", mira, noor).id
        leads = slack.add_channel("leads", noor).id
        roles = [Role(mira, "engineer", gpu, "Ask:", ("/gpu-quota request 8",)), Role(noor, "lead", leads, "Decide:")]
        commands = [Command(name, name, f"About {name}.", ()) for name in ("request", "return", "help")]
        queues = {name: (f"{name}-train", "main") for name in ("nlp", "vision")}
        scene = Scene(slack, kube, clock, clock.move, roles, "a100", queues, commands)
        with Page(scene) as page:
            yield Town(slack, kube, clock, scene, page, {"mira": mira, "noor": noor, "gpu": gpu, "leads": leads})


@pytest.fixture
def client(town: Town) -> Client:
    return Client(town.page)


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """Debian's Chromium; as root it runs only without its sandbox."""
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=arguments)
        yield browser
        browser.close()
