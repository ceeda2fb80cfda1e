"""A YAML file as documents that know where they stand: file, number, and the line of every field.

YAML as Kubernetes reads it: ``14:55`` and ``2024-01-01`` are texts (YAML 1.1 would make a number and a date of them),
and a key that is given twice is a fault, since one of its values would silently be lost.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from fairberth.model.faults import Fault

_TIMESTAMP = "tag:yaml.org,2002:timestamp"
_INT = "tag:yaml.org,2002:int"
_FLOAT = "tag:yaml.org,2002:float"
_INDEX = re.compile(r"\[(\d+)\]")


class _Loader(yaml.SafeLoader):
    """Without dates and base-60 numbers."""


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag not in (_TIMESTAMP, _INT, _FLOAT)]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_Loader.add_implicit_resolver(_INT, re.compile(r"[-+]?(0|[1-9][0-9]*|0x[0-9a-fA-F]+)$"), list("-+0123456789"))
_Loader.add_implicit_resolver(
    _FLOAT,
    re.compile(r"[-+]?(([0-9]+\.[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?|[0-9]+[eE][-+]?[0-9]+)$"),
    list("-+0123456789."),
)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a fault is."""

    file: str
    line: int
    document: int
    title: str  # ``Tenant/risk``, as far as the document says

    def __str__(self) -> str:
        what = f" ({self.title})" if self.title else ""
        return (
            f"{self.file}:{self.line}: document {self.document}{what}" if self.document else f"{self.file}:{self.line}"
        )


@dataclass(frozen=True, slots=True)
class Found:
    """A fault and its place."""

    place: Place
    fault: Fault

    def __str__(self) -> str:
        return f"{self.place}: {self.fault}" if self.fault.path else f"{self.place}: {self.fault.message}"


class FaultyFile(ValueError):
    """A file with faults; `found` lists all of them in the order of the file."""

    def __init__(self, file: str, found: list[Found]) -> None:
        self.file = file
        self.found = tuple(sorted(found, key=lambda f: (f.place.document, f.place.line, f.fault)))
        super().__init__("\n".join(str(one) for one in self.found))


@dataclass(frozen=True, slots=True)
class Document:
    """One document. `number` counts from 1; `body` is what it holds, as plain values."""

    file: str
    number: int
    root: yaml.Node
    body: Any

    @property
    def title(self) -> str:
        """``Kind/name``, as far as the document says."""
        if not isinstance(self.body, dict):
            return ""
        metadata = self.body.get("metadata")
        name = metadata.get("name") if isinstance(metadata, dict) else None
        return "/".join(str(part) for part in (self.body.get("kind"), name) if part)

    def found(self, fault: Fault) -> Found:
        """A fault in this document, with its line: that of the field, or of the nearest one around it."""
        return Found(Place(self.file, _line(self.root, fault.path), self.number, self.title), fault)


def read(path: Path) -> tuple[Document, ...]:
    """The documents of a file, empty ones left out. Raises FaultyFile where it is no YAML."""
    file = path.name
    try:
        text = path.read_text(encoding="utf-8")
        return parse(text, file)
    except (OSError, UnicodeDecodeError) as error:
        raise FaultyFile(file, [_unplaced(file, 1, f"cannot be read: {error}")]) from None


def parse(text: str, file: str) -> tuple[Document, ...]:
    """The documents of a text. Raises FaultyFile."""
    documents: list[Document] = []
    doubles: list[Found] = []
    loader = _Loader(text)
    try:
        number = 0
        while loader.check_node() and (root := loader.get_node()) is not None:
            number += 1
            document = Document(file, number, root, loader.construct_document(root))
            doubles += [document.found(fault) for fault in _doubles(root, "", set())]
            if document.body is not None:
                documents.append(document)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        what = " ".join(part for part in (error.context, error.problem) if part)
        raise FaultyFile(file, [_unplaced(file, mark.line + 1 if mark else 1, f"not YAML: {what}")]) from None
    except (yaml.YAMLError, ValueError) as error:
        raise FaultyFile(file, [_unplaced(file, 1, f"not YAML: {error}")]) from None
    except RecursionError:
        raise FaultyFile(file, [_unplaced(file, 1, "not YAML that anybody means: nested too deeply")]) from None
    finally:
        loader.dispose()
    if doubles:
        raise FaultyFile(file, doubles)
    return tuple(documents)


def _unplaced(file: str, line: int, message: str) -> Found:
    return Found(Place(file, line, 0, ""), Fault("", message))


def _doubles(node: yaml.Node, path: str, seen_nodes: set[int]) -> Iterator[Fault]:
    if id(node) in seen_nodes:  # an alias: looked at already
        return
    seen_nodes.add(id(node))
    if isinstance(node, yaml.SequenceNode):
        for index, item in enumerate(node.value):
            yield from _doubles(item, f"{path}[{index}]", seen_nodes)
    elif isinstance(node, yaml.MappingNode):
        seen = set()
        for key, value in node.value:
            name = str(key.value) if isinstance(key, yaml.ScalarNode) else "?"
            inner = f"{path}.{name}" if path else name
            if name in seen and name != "<<":
                yield Fault(inner, f"is given twice (again in line {key.start_mark.line + 1})")
            seen.add(name)
            yield from _doubles(value, inner, seen_nodes)


def _line(node: yaml.Node, path: str) -> int:
    """The line of the field at a path, or of the deepest field on the way to it that exists."""
    line = node.start_mark.line + 1
    while path:
        path = path.removeprefix(".")
        step = _step(node, path)
        if step is None:
            break
        line, node, path = step
    return int(line)


def _step(node: yaml.Node, path: str) -> tuple[int, yaml.Node, str] | None:
    if isinstance(node, yaml.SequenceNode):
        index = _INDEX.match(path)
        if index is None or int(index[1]) >= len(node.value):
            return None
        item = node.value[int(index[1])]
        return item.start_mark.line + 1, item, path[index.end() :]
    if not isinstance(node, yaml.MappingNode):
        return None
    # Keys may hold dots themselves (nvidia.com/gpu): the longest that fits is meant.
    fitting = [
        (str(key.value), key, value)
        for key, value in node.value
        if path.startswith(str(key.value)) and path[len(str(key.value)) :][:1] in ("", ".", "[")
    ]
    if not fitting:
        return None
    name, key, value = max(fitting, key=lambda entry: len(entry[0]))
    return key.start_mark.line + 1, value, path[len(name) :]
