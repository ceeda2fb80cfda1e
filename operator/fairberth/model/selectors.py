"""Label selectors, tolerations and node affinity, as Kubernetes defines them (frozen and hashable)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

Labels = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Requirement:
    """One expression on a label: ``key operator values`` (In, NotIn, Exists, DoesNotExist, Gt, Lt)."""

    key: str
    operator: str
    values: tuple[str, ...] = ()

    def matches(self, labels: Labels) -> bool:
        """Whether the labels meet it, by the rules of `k8s.io/apimachinery/pkg/labels`."""
        present = self.key in labels
        match self.operator:
            case "In":
                return present and labels[self.key] in self.values
            case "NotIn":
                return not present or labels[self.key] not in self.values
            case "Exists":
                return present
            case "DoesNotExist":
                return not present
            case "Gt" | "Lt":
                return present and self._compares(labels[self.key])
        return False

    def _compares(self, value: str) -> bool:
        try:
            mine, bound = int(value), int(self.values[0])
        except (ValueError, IndexError):
            return False
        return mine > bound if self.operator == "Gt" else mine < bound


@dataclass(frozen=True, slots=True)
class Selector:
    """All requirements must hold; without any it matches everything."""

    requirements: tuple[Requirement, ...] = ()

    @classmethod
    def of(cls, **labels: str) -> Selector:
        """A selector on exact labels."""
        return cls.exact(labels)

    @classmethod
    def exact(cls, labels: Labels) -> Selector:
        """A selector on exact labels, in a canonical order."""
        return cls(tuple(Requirement(key, "In", (labels[key],)) for key in sorted(labels)))

    def matches(self, labels: Labels) -> bool:
        """Whether the labels meet every requirement."""
        return all(requirement.matches(labels) for requirement in self.requirements)


EVERYTHING: Final = Selector()


@dataclass(frozen=True, slots=True)
class Taint:
    """A node's taint. Effects NoSchedule and NoExecute keep pods away; PreferNoSchedule does not."""

    key: str
    value: str = ""
    effect: str = "NoSchedule"

    @property
    def repels(self) -> bool:
        """Whether a pod without a matching toleration may not come."""
        return self.effect in ("NoSchedule", "NoExecute")


@dataclass(frozen=True, slots=True)
class Toleration:
    """A pod's (or a pool's) toleration; an empty key with Exists tolerates everything."""

    key: str = ""
    operator: str = "Equal"  # or Exists; "", as a pod may have it, is Equal too
    value: str = ""
    effect: str = ""
    seconds: int | None = None  # how long a NoExecute taint is tolerated; None: for ever

    def tolerates(self, taint: Taint) -> bool:
        """The rule of `k8s.io/component-helpers/scheduling/corev1`."""
        if self.effect and self.effect != taint.effect:
            return False
        if self.key and self.key != taint.key:
            return False
        if self.operator == "Exists":
            return True
        return self.operator in ("", "Equal") and self.key != "" and self.value == taint.value


@dataclass(frozen=True, slots=True)
class NodeTerm:
    """One term of a required node affinity: all expressions on labels and on fields (`metadata.name`) hold."""

    expressions: tuple[Requirement, ...] = ()
    fields: tuple[Requirement, ...] = ()

    def matches(self, name: str, labels: Labels) -> bool:
        """Whether a node meets it; a term without expressions matches nothing, as in Kubernetes."""
        if not self.expressions and not self.fields:
            return False
        named = {"metadata.name": name}
        return all(e.matches(labels) for e in self.expressions) and all(f.matches(named) for f in self.fields)


@dataclass(frozen=True, slots=True)
class Constraints:
    """Where a pod may go, as far as the engine models it; equal constraints are one value (a cache key).

    `unmodelled` names what the pod asks for beyond that (inter-pod affinity, volumes, …): such a pod gets no
    nomination and takes kube-scheduler's full cycle.
    """

    selector: Selector = EVERYTHING
    terms: tuple[NodeTerm, ...] = ()  # any one must match; without any, all nodes do
    tolerations: tuple[Toleration, ...] = ()
    unmodelled: tuple[str, ...] = ()

    def allow(self, name: str, labels: Labels, taints: tuple[Taint, ...]) -> bool:
        """Whether a node with this name, labels and taints may hold the pod."""
        if not self.selector.matches(labels):
            return False
        if self.terms and not any(term.matches(name, labels) for term in self.terms):
            return False
        return all(not t.repels or any(own.tolerates(t) for own in self.tolerations) for t in taints)

    def tolerating(self, extra: tuple[Toleration, ...]) -> Constraints:
        """The same with more tolerations (those of a pool that the pod is admitted to)."""
        if not extra:
            return self
        return Constraints(self.selector, self.terms, (*self.tolerations, *extra), self.unmodelled)


ANYWHERE: Final = Constraints()
