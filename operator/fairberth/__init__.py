"""Fairberth: fair sharing of one Kubernetes cluster between many tenants."""

__version__ = "0.1.0"
