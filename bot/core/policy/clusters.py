"""What clusters.yaml may say: which resources are accelerators, what they are called, and which queues may lend."""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field

from bot.core.policy.scalars import NOT_EMPTY, Count, KubernetesName, Name, ResourceName, Strict, Switch, Words

_Word = Annotated[str, Field(min_length=1, max_length=20)]


class Accelerator(Strict):
    """How a resource is counted in words."""

    one: _Word
    """Such as GPU or slice."""
    many: _Word
    alias: Name | None = None
    """A shorter name that people may type for the resource."""


class Lender(Strict):
    """What a queue may lend."""

    at_most: Count | None = None
    """Devices on loan at a time, over all its loans of a flavor and resource; None: all of its nominalQuota."""
    consent: Literal["lead", "none"] = "lead"
    """`lead`: a lead of the queue's team approves each loan. `none`: nobody is asked, only unreserved quota is lent."""
    only_idle: Switch = False
    """True: only what is not reserved at the moment is lent."""


class QueueRules(Strict):
    """How the bot treats one queue."""

    write: Literal["apply", "propose"] = "apply"
    """`propose`: its quota is written in Git. The bot never writes the queue: it posts the difference that somebody is
    to merge, and reads whether that is in force."""


class FlavorNote(Strict):
    """What people are told about a flavor."""

    note: Words


class Cluster(Strict):
    """One Kubernetes cluster."""

    context: Annotated[str, Field(min_length=1)] | None = None
    """Context of the kubeconfig; None: the current one, or the cluster the bot runs in."""
    accelerators: Annotated[Mapping[ResourceName, Accelerator], NOT_EMPTY]
    default_flavor: KubernetesName | None = None
    default_flavors: Mapping[KubernetesName, KubernetesName] = Field(default_factory=dict)
    """By queue; goes before default_flavor."""
    lenders: Mapping[KubernetesName, Lender] = Field(default_factory=dict)
    """Queues that may lend by transfer. A queue that is not here never does."""
    flavors: Mapping[KubernetesName, FlavorNote] = Field(default_factory=dict)
    queues: Mapping[KubernetesName, QueueRules] = Field(default_factory=dict)
    """A queue that is not here has the defaults."""

    def resource_named(self, word: str) -> str | None:
        """The accelerator that somebody means by its name, its alias, or what follows the slash; None if none is."""
        wanted = word.casefold()
        for name, accelerator in self.accelerators.items():
            alias = accelerator.alias.casefold() if accelerator.alias else None
            if wanted in (name.casefold(), alias, name.rpartition("/")[2].casefold()):
                return name
        return None

    def unit(self, resource: str, amount: int) -> str:
        """The word for this many of a resource; the resource's own name if it is not an accelerator."""
        words = self.accelerators.get(resource)
        if words is None:
            return resource
        return words.one if amount == 1 else words.many

    def proposes(self, queue: str) -> bool:
        """Whether this queue's quota is written in Git, and never by the bot."""
        rules = self.queues.get(queue)
        return rules is not None and rules.write == "propose"

    def lends_freely(self, queue: str) -> bool:
        """Whether loans from this queue need nobody's consent."""
        lender = self.lenders.get(queue)
        return lender is not None and lender.consent == "none"


class ClustersFile(Strict):
    """The whole of clusters.yaml."""

    clusters: Annotated[Mapping[Name, Cluster], NOT_EMPTY]
