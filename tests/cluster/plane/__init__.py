"""A real control plane for tests: etcd, kube-apiserver, controllers, scheduler and a fake kubelet.

`plane.ControlPlane` starts one, `api.Api` talks to it, `objects` builds what goes in, and
`binaries` builds the programs once and keeps them. `python -m tests.cluster.plane` starts one by hand.
"""
