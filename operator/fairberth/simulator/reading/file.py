"""A scenario file: ordinary Fairberth manifests, nodes, and one document that says who arrives when.

Documents, in any order: `Tenant`, `PrioritySLA`, `FairnessPolicy`, `CapacityPool` as `kubectl apply` takes them
(without a CapacityPool there is one, `default`, of all nodes), v1 `Node` and `Namespace`, and exactly one
`sim.fairberth.io/v1alpha1` `Scenario`. All faults of the file are reported at once, and nothing is half loaded.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from fairberth.api.manifests import API_VERSION, manifest
from fairberth.model.faults import KINDS, Fault, InvalidInput, ObjectKey
from fairberth.model.keys import TYPE
from fairberth.model.objects import CapacityPool
from fairberth.model.workload import Namespace, Node
from fairberth.policy.configuration import Spec, key_of, resolve
from fairberth.policy.snapshot import Setup
from fairberth.simulator.reading.arrivals import Entry, pods_of
from fairberth.simulator.reading.documents import Document, FaultyFile, Found, Place, parse, read
from fairberth.simulator.reading.envelope import faults_around_spec
from fairberth.simulator.reading.fields import Fields
from fairberth.simulator.reading.hosts import read_namespace, read_node
from fairberth.simulator.reading.sketch import GROUP_VERSION, Sketch
from fairberth.simulator.scenario import Scenario, in_order, labelled

DEFAULT_POOL = "default"


def load(path: Path) -> Scenario:
    """Read a scenario file. Raises FaultyFile with every fault."""
    return _Reader(path.name, read(path)).scenario()


def load_text(text: str, file: str = "scenario.yaml") -> Scenario:
    """The same for a text."""
    return _Reader(file, parse(text, file)).scenario()


class _Reader:
    """Reads document by document, collecting what is good and what is not."""

    def __init__(self, file: str, documents: tuple[Document, ...]) -> None:
        self._file = file
        self._found: list[Found] = []
        self._specs: dict[ObjectKey, tuple[Document, Spec]] = {}
        self._nodes: dict[str, Node] = {}
        self._namespaces: dict[str, Namespace] = {}
        self._sketch: tuple[Document, Sketch] | None = None
        for document in documents:
            self._read(document)

    def _fault(self, document: Document, *faults: Fault) -> None:
        self._found += [document.found(fault) for fault in faults]

    def _read(self, document: Document) -> None:
        body = document.body
        if not isinstance(body, dict):
            self._fault(document, Fault("", "is not a Kubernetes object (a mapping with apiVersion and kind)"))
            return
        version, kind = body.get("apiVersion"), body.get("kind")
        if kind in KINDS:
            self._read_spec(document, body)
        elif (version, kind) == (GROUP_VERSION, "Scenario"):
            self._read_scenario(document, body)
        elif (version, kind) == ("v1", "Node"):
            self._read_node(document, body)
        elif (version, kind) == ("v1", "Namespace"):
            self._read_namespace(document, body)
        else:
            known = ", ".join((*KINDS, "v1 Node", "v1 Namespace", f"{GROUP_VERSION} Scenario"))
            self._fault(document, Fault("kind", f"{version} {kind} has no place in a scenario (known: {known})"))

    def _read_spec(self, document: Document, body: Mapping[str, Any]) -> None:
        faults = faults_around_spec(body, API_VERSION)
        try:
            spec = manifest(body) if not faults else None
        except InvalidInput as error:
            faults += error.faults
        if faults or spec is None:
            self._fault(document, *faults)
            return
        key = key_of(spec)
        if key in self._specs:
            number = self._specs[key][0].number
            self._fault(document, Fault("metadata.name", f"{key} is in document {number} already"))
        else:
            self._specs[key] = (document, spec)

    def _read_node(self, document: Document, body: Mapping[str, Any]) -> None:
        try:
            self._add_node(document, "metadata.name", read_node(body))
        except InvalidInput as error:
            self._fault(document, *error.faults)

    def _read_namespace(self, document: Document, body: Mapping[str, Any]) -> None:
        try:
            namespace = read_namespace(body)
            self._namespaces[namespace.name] = namespace
        except InvalidInput as error:
            self._fault(document, *error.faults)

    def _add_node(self, document: Document, path: str, node: Node) -> None:
        if node.name in self._nodes:
            self._fault(document, Fault(path, f"there is a node {node.name!r} already"))
        self._nodes[node.name] = node

    def _read_scenario(self, document: Document, body: Mapping[str, Any]) -> None:
        if self._sketch is not None:
            self._fault(document, Fault("kind", "there is a Scenario already; a file has one"))
            return
        faults: list[Fault] = []
        sketch = Sketch(Fields(body, "", faults))
        self._fault(document, *faults)
        self._sketch = (document, sketch)
        for path, node in sketch.nodes:
            self._add_node(document, path, node)

    # -- joining --------------------------------------------------------------------------------------------------

    def scenario(self) -> Scenario:
        """All of it, or every fault."""
        if self._sketch is None:
            missing = Fault("", f"no document of kind Scenario ({GROUP_VERSION}) says who arrives when")
            raise FaultyFile(self._file, [*self._found, Found(Place(self._file, 1, 0, ""), missing)])
        document, sketch = self._sketch
        if not self._nodes:
            self._fault(document, Fault("spec.nodes", "there is no node at all"))
        if self._found:  # what other objects say about faulty ones would only mislead
            raise FaultyFile(self._file, self._found)
        setup = self._setup()
        namespaces = {name: Namespace(name) for tenant in setup.tenants.values() for name in tenant.namespaces}
        given = {entry.namespace: Namespace(entry.namespace) for entry in sketch.entries if entry.namespace}
        known = labelled(setup, {**namespaces, **given, **self._namespaces}.values())
        owners = {namespace.name: setup.owner_of(namespace) for namespace in known}
        homes = {entry.path: self._home(document, entry, setup, owners) for entry in sketch.entries}
        if self._found:
            raise FaultyFile(self._file, self._found)
        return Scenario(
            name=sketch.name,
            text=sketch.text,
            start=sketch.start,
            end=sketch.end,
            setup=setup,
            namespaces=known,
            nodes=tuple(self._nodes[name] for name in sorted(self._nodes)),
            arrivals=in_order(arrival for entry in sketch.entries for arrival in pods_of(entry, homes[entry.path])),
            moments=tuple(sorted(sketch.moments, key=lambda moment: moment.at)),
            notes=tuple(
                f"Pool {pool.name} may grow, but no nodes are bought here: what is admitted beyond its room never runs."
                for pool in setup.pools.values()
                if pool.grows
            ),
        )

    def _setup(self) -> Setup:
        specs = {key: spec for key, (_, spec) in self._specs.items()}
        if not any(isinstance(spec, CapacityPool) for spec in specs.values()):
            pool = CapacityPool(DEFAULT_POOL)
            specs[key_of(pool)] = pool
        resolution = resolve(specs, {})
        for key, faults in resolution.faults.items():
            self._fault(self._specs[key][0], *faults)
        return resolution.setup

    def _home(self, document: Document, entry: Entry, setup: Setup, owners: Mapping[str, str]) -> str:
        """The namespace that an entry's pods arrive in."""
        self._fault(document, *_unknown_words(entry, setup))
        if entry.namespace:
            if not owners[entry.namespace]:
                self._fault(document, Fault(f"{entry.path}.namespace", f"no Tenant claims {entry.namespace!r}"))
            return entry.namespace
        if entry.tenant not in setup.tenants:
            known = ", ".join(setup.tenants) or "none"
            self._fault(
                document, Fault(f"{entry.path}.tenant", f"there is no Tenant {entry.tenant!r} (known: {known})")
            )
            return ""
        home = next((name for name in sorted(owners) if owners[name] == entry.tenant), "")
        home = next((name for name in setup.tenants[entry.tenant].namespaces if owners[name] == entry.tenant), home)
        if not home:
            self._fault(document, Fault(f"{entry.path}.tenant", f"Tenant {entry.tenant!r} has no namespace here"))
        return home


def _unknown_words(entry: Entry, setup: Setup) -> Iterator[Fault]:
    """Names that nothing defines. The engine would fall back to the tenant's default level without a word."""
    wanted, classes = entry.template.priority_class, [sla.priority_class for sla in setup.slas.values()]
    if wanted and wanted not in classes:
        known = ", ".join(sorted(filter(None, classes)))
        yield Fault(f"{entry.path}.template.priorityClassName", f"no PrioritySLA has {wanted!r} (known: {known})")
    kind, types = entry.template.labels.get(TYPE), setup.policy.types
    if kind is not None and kind not in types:
        known = ", ".join(sorted(types)) or "none"
        path = f"{entry.path}.template.labels.{TYPE}"
        yield Fault(path, f"the FairnessPolicy has no type {kind!r} (known: {known})")
