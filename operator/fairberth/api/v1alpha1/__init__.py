"""The kinds of fairberth.io/v1alpha1, one file each: spec, defaults, validation, status, in this order."""
