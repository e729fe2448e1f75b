"""`SlackSim`: the simulated workspace with its servers. Started by adapter and fault tests and by the demo."""

from types import TracebackType
from typing import Self

from bot.demo.slack.acting import Acting
from bot.demo.slack.delivery import Courier
from bot.demo.slack.faults import Faults
from bot.demo.slack.http_mode import HttpMode
from bot.demo.slack.looking import Looking
from bot.demo.slack.pacing import Pacer
from bot.demo.slack.socket_mode import SocketMode
from bot.demo.slack.web_api import WebApi
from bot.demo.slack.world import Clocks, Setup, World


class SlackSim(Acting, Looking):
    """A Slack workspace on loopback, strict like the real one.

    The bot talks to it with its real clients: `api_url` is slack_sdk's `base_url`. Without a `request_url` deliveries
    go over Socket Mode; with one they are signed HTTP requests to it.

        with SlackSim() as slack:
            ada = slack.add_person("ada")
            asked = slack.add_channel("gpu", ada.id)
            ...start the bot...
            slack.type_command(ada.id, asked.id, "/gpu-quota request 8")
    """

    def __init__(self, setup: Setup | None = None, clocks: Clocks | None = None) -> None:
        self.world = World(setup or Setup(), clocks or Clocks())
        self._web_api: WebApi | None = None
        self._socket_mode: SocketMode | None = None
        self._http_mode: HttpMode | None = None

    def start(self) -> Self:
        """Open both servers on free loopback ports."""
        self._web_api, self._socket_mode = WebApi(self.world), SocketMode(self.world)
        self._web_api.start()
        self._socket_mode.start()
        return self

    def stop(self) -> None:
        """Close every connection and join every thread. A second call does nothing."""
        if self._socket_mode is not None:
            self._socket_mode.stop()
        if self._web_api is not None:
            self._web_api.stop()
        self._web_api = self._socket_mode = None

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def use_http(self, request_url: str | None) -> None:
        """Deliver to this URL from now on; None goes back to Socket Mode."""
        self._http_mode = HttpMode(self.world, request_url) if request_url is not None else None

    def courier(self) -> Courier:
        return self._http_mode or self._sockets

    @property
    def api_url(self) -> str:
        """The Web API's base URL, with a slash at the end."""
        return f"{self.world.site}/api/"

    @property
    def signing_secret(self) -> str:
        return self.world.setup.signing_secret

    @property
    def bot_token(self) -> str:
        return self.world.setup.bot_token

    @property
    def app_token(self) -> str:
        return self.world.setup.app_token

    @property
    def team_id(self) -> str:
        return self.world.setup.team_id

    @property
    def bot_user_id(self) -> str:
        return self.world.setup.bot_user_id

    @property
    def app_id(self) -> str:
        return self.world.setup.app_id

    @property
    def faults(self) -> Faults:
        """Arm what is to go wrong."""
        return self.world.faults

    @property
    def pacer(self) -> Pacer:
        """Rate limits; `pacer.on = False` lifts them."""
        return self.world.pacer

    @property
    def connections(self) -> int:
        """How many Socket Mode clients are connected."""
        return self._sockets.connections

    def disconnect(self, reason: str = "refresh_requested") -> int:
        """Tell the Socket Mode clients to reconnect, or warn them; returns how many were told."""
        return self._sockets.disconnect(reason)

    def cut_connections(self) -> None:
        """Break the Socket Mode connections without a word."""
        self._sockets.cut()

    def go_down(self) -> None:
        """Slack is away: every connection breaks, nothing is handled, nobody can connect, until `come_back`."""
        for method in ("*", "response_url", "upload"):
            self.faults.drop_before(method, times=None)
        self.faults.refuse_websocket(times=None)
        self._sockets.cut()

    def come_back(self) -> None:
        """Slack is there again; other armed faults are gone with the outage."""
        self.faults.clear()

    @property
    def _sockets(self) -> SocketMode:
        if self._socket_mode is None:
            raise RuntimeError("the simulator is not running")
        return self._socket_mode
