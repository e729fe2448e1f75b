"""Who may do what. Off until a token is given: then every request needs one, and every verb a rule."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from bot.demo.kube.route import Target
from bot.demo.kube.status import ApiError, error, unauthorized


@dataclass(frozen=True, slots=True)
class Rule:
    """Verbs on resources ('clusterqueues', 'workloads/status', '*'), of these names only where `names` is given."""

    verbs: tuple[str, ...]
    resources: tuple[str, ...]
    names: tuple[str, ...] = ()

    def allows(self, verb: str, resource: str, name: str) -> bool:
        return (
            ("*" in self.verbs or verb in self.verbs)
            and ("*" in self.resources or resource in self.resources)
            and (not self.names or name in self.names)
        )


EVERYTHING = Rule(("*",), ("*",))


@dataclass
class Access:
    """Tokens with their users, users with their rules."""

    _users: dict[str, str] = field(default_factory=dict)
    _rules: dict[str, tuple[Rule, ...]] = field(default_factory=dict)

    def grant(self, token: str, user: str, rules: Iterable[Rule] = (EVERYTHING,)) -> None:
        """From now on this token is this user, who may do what the rules say (and nothing else)."""
        self._users[token] = user
        self._rules[user] = tuple(rules)

    def revoke(self, token: str) -> None:
        """The token becomes unknown: 401."""
        self._users[token] = ""

    def check(self, headers: Mapping[str, str], target: Target | None, verb: str) -> None:
        """Raises 401 for an unknown token, 403 for a verb that no rule gives. Discovery needs a known token only."""
        if not self._users:
            return
        scheme, _, token = headers.get("authorization", "").partition(" ")
        user = self._users.get(token.strip(), "") if scheme.lower() == "bearer" else ""
        if not user:
            raise unauthorized()
        if target is not None and not self._allowed(user, target, verb):
            raise _forbidden(user, target, verb)

    def _allowed(self, user: str, target: Target, verb: str) -> bool:
        resource = _resource(target)
        return any(rule.allows(verb, resource, target.name) for rule in self._rules[user])


def _resource(target: Target) -> str:
    return f"{target.kind.plural}/{target.subresource}" if target.subresource else target.kind.plural


def _forbidden(user: str, target: Target, verb: str) -> ApiError:
    kind = target.kind
    what = f"{kind.plural}.{kind.group}" if kind.group else kind.plural
    where = f'in the namespace "{target.namespace}"' if target.namespace else "at the cluster scope"
    named = f'{what} "{target.name}"' if target.name else what
    message = (
        f'{named} is forbidden: User "{user}" cannot {verb} resource "{_resource(target)}" '
        f'in API group "{kind.group}" {where}'
    )
    details = {"name": target.name} if target.name else {}
    if kind.group:
        details["group"] = kind.group
    return error(403, "Forbidden", message, {**details, "kind": kind.plural})
