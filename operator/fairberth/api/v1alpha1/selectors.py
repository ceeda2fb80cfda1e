"""Label selectors and tolerations: parts that mean what they mean everywhere in Kubernetes."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, StringConstraints, model_validator

from fairberth.api.v1alpha1.shared import LABEL_KEY, LabelKey, LabelValue, Model, fit, rules

_VALUES_FIT_OPERATOR = (
    "self.operator in ['In', 'NotIn'] ? has(self.values) && size(self.values) > 0 "
    ": !has(self.values) || size(self.values) == 0",
    "In and NotIn take values, Exists and DoesNotExist take none",
    ".values",
)


class Expression(Model):
    """One expression of a label selector."""

    model_config = {"json_schema_extra": rules(_VALUES_FIT_OPERATOR)}

    key: LabelKey
    """The label."""
    operator: Literal["In", "NotIn", "Exists", "DoesNotExist"]
    """How the label's value relates to the values."""
    values: Annotated[list[LabelValue], Field(max_length=64)] = []
    """The values, for In and NotIn."""

    @model_validator(mode="after")
    def _together(self) -> Self:
        takes = self.operator in ("In", "NotIn")
        fit([("values", _VALUES_FIT_OPERATOR[1])] if takes != bool(self.values) else ())
        return self


class LabelSelector(Model):
    """A label selector, as everywhere in Kubernetes: all of it must match."""

    match_labels: Annotated[dict[str, LabelValue], Field(max_length=32)] = {}
    """Labels with exactly these values."""
    match_expressions: Annotated[list[Expression], Field(max_length=32)] = []
    """Expressions on labels."""


_TOLERATION_RULES = (
    (
        "(has(self.key) && self.key != '') || self.operator == 'Exists'",
        "must be Exists where there is no key",
        ".operator",
    ),
    ("self.operator != 'Exists' || !has(self.value) || self.value == ''", "must be empty with Exists", ".value"),
    (
        "!has(self.tolerationSeconds) || (has(self.effect) && self.effect == 'NoExecute')",
        "is for effect NoExecute only",
        ".tolerationSeconds",
    ),
)


class Toleration(Model):
    """A toleration, as in a pod's spec. What a pod could not carry is refused here, not when pods are admitted."""

    model_config = {"json_schema_extra": rules(*_TOLERATION_RULES)}

    key: Annotated[str, StringConstraints(max_length=317, pattern=rf"^$|{LABEL_KEY}")] = ""
    """The taint's key; none, with Exists, is every taint."""
    operator: Literal["Equal", "Exists"] = "Equal"
    """Whether the taint's value must be equal, or may be any."""
    value: LabelValue = ""
    """The taint's value."""
    effect: Literal["", "NoSchedule", "PreferNoSchedule", "NoExecute"] = ""
    """The taint's effect; none is every effect."""
    toleration_seconds: int | None = None
    """How long a NoExecute taint is tolerated; absent means for ever."""

    @model_validator(mode="after")
    def _together(self) -> Self:
        broken = (
            not self.key and self.operator != "Exists",
            self.operator == "Exists" and self.value != "",
            self.toleration_seconds is not None and self.effect != "NoExecute",
        )
        fit((path[1:], said) for (_, said, path), wrong in zip(_TOLERATION_RULES, broken, strict=True) if wrong)
        return self
