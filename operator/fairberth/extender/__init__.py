"""kube-scheduler's webhook: filter and prioritize, field for field."""
