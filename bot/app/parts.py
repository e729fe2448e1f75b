"""Makes the adapters from the settings. Called by app/run; what cannot work is said with what to do about it."""

import random
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any

from slack_bolt import App, BoltRequest, BoltResponse
from slack_bolt.authorization import AuthorizeResult

from bot.adapters.db.inbox_writer import InboxWriter
from bot.adapters.db.migrate import checked
from bot.adapters.db.unit_of_work import SqlStore
from bot.adapters.kube.client import connect
from bot.adapters.kube.cluster import KubeCluster
from bot.adapters.policy_files import Broken, PolicyFiles, Unchanged
from bot.adapters.slack.calls import web_client
from bot.adapters.slack.chat import SlackChat
from bot.adapters.slack.directory import Directory
from bot.core.incidents.facts import Kind
from bot.core.policy import Policy
from bot.flows.keep_policy import PolicyProblem
from bot.ports.clock import Clock
from bot.ports.watching import Source
from bot.settings import Convergence, Settings
from bot.workers import Urgent


@dataclass(slots=True)
class Parts:
    """The adapters of one process."""

    store: SqlStore
    inbox: InboxWriter
    policies: PolicyFiles
    chat: SlackChat
    clusters: Mapping[str, KubeCluster]
    sources: Sequence[Source]
    """What is watched: each kind of each cluster."""
    policy_is_good: bool = True
    """False while the files on disk cannot be used."""

    def reload_policy(self) -> Sequence[PolicyProblem] | None:
        """Look at the policy files again, in the words of flows/keep_policy."""
        looked = self.policies.reload_if_changed()
        if not isinstance(looked, Unchanged):
            self.policy_is_good = not isinstance(looked, Broken)
        if isinstance(looked, Broken):
            return [PolicyProblem(one.file, one.line, one.message) for one in looked.problems]
        return None if isinstance(looked, Unchanged) else ()

    def close(self) -> None:
        """Let go of threads and connections, the database last."""
        self.inbox.stop()
        for cluster in self.clusters.values():
            cluster.close()
        self.store.close()


def make_parts(settings: Settings, clock: Clock, acknowledging: Urgent) -> Parts:
    """`acknowledging`: who is on the way into the inbox. Raises Refused, PolicyError or Unavailable with what to do."""
    policies = PolicyFiles(settings.policies_dir)
    store = SqlStore(checked(settings.database_url.get_secret_value()))
    try:
        return _on(store, policies, settings, clock, acknowledging)
    except BaseException:
        store.close()
        raise


def _on(store: SqlStore, policies: PolicyFiles, settings: Settings, clock: Clock, acknowledging: Urgent) -> Parts:
    client = web_client(settings.slack_bot_token.get_secret_value(), settings.slack_api_url)
    clusters = make_clusters(settings, policies.policy, clock)
    kinds = [kind for kind in Kind if f"{kind.value.lower()}s" in settings.watched]
    return Parts(
        store=store,
        inbox=InboxWriter(store, lambda: acknowledging.count),
        policies=policies,
        chat=SlackChat(client, Directory(client, clock)),
        clusters=clusters,
        sources=[one.source(kind, random.random) for one in clusters.values() for kind in kinds],
    )


def make_clusters(settings: Convergence, policy: Policy, clock: Clock) -> dict[str, KubeCluster]:
    """One per cluster of clusters.yaml; its own context goes before KUBE_CONTEXT."""
    return {
        name: KubeCluster(name, connect(settings.kubeconfig, cluster.context or settings.kube_context), clock)
        for name, cluster in policy.clusters.clusters.items()
    }


class _CountedApp(App):
    """Bolt, whichever way a payload comes, counts as urgent from its arrival to the acknowledgement."""

    def __init__(self, urgent: Urgent, **options: Any) -> None:
        super().__init__(**options)
        self._urgent = urgent

    def dispatch(self, req: BoltRequest) -> BoltResponse:
        with self._urgent:
            return super().dispatch(req)


def make_bolt(settings: Settings, executor: Executor, urgent: Urgent) -> App:
    """The Bolt app. It makes no call at start: a Slack that is down must not keep the bot from giving quota back.

    Listeners only store and acknowledge, so they run on the thread that dispatches (`process_before_response`): Bolt
    would otherwise hand each to another thread and look every 10 ms whether it has acknowledged.
    """
    token = settings.slack_bot_token.get_secret_value()

    def authorize(enterprise_id: str | None, team_id: str | None) -> AuthorizeResult:
        return AuthorizeResult(enterprise_id=enterprise_id, team_id=team_id, bot_token=token)

    http = settings.slack_app_token is None
    secret = settings.slack_signing_secret
    return _CountedApp(
        urgent,
        client=web_client(None, settings.slack_api_url),
        signing_secret=secret.get_secret_value() if secret else "",
        authorize=authorize,
        request_verification_enabled=http,
        ssl_check_enabled=http,
        process_before_response=True,
        listener_executor=executor,
    )
