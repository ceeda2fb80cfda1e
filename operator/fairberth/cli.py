"""The command line: parse, call, print. `kubectl fairberth …` is the same program."""

from __future__ import annotations

import sys
from pathlib import Path

import click
from rich.console import Console

from fairberth import __version__
from fairberth.observe import logs, reference

_CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 110}


@click.group(context_settings=_CONTEXT)
@click.version_option(__version__, prog_name="fairberth")
def main() -> None:
    """Fair sharing of one Kubernetes cluster between many tenants.

    \b
    Try first:
      fairberth simulate                the bank's day, in the simulator, without a cluster
      fairberth simulate my-day.yaml    your own tenants, nodes and arrivals
    \b
    In the cluster (the Helm chart starts these):
      fairberth operator                decides turns and admits pods
      fairberth extender                answers kube-scheduler, beside it
    """


_log_format = click.option(
    "--log-format", type=click.Choice(logs.FORMATS), default="text", show_default=True, help="How logs are written."
)
_kubeconfig = click.option(
    "--kubeconfig",
    type=click.Path(exists=True, dir_okay=False),
    help="Which cluster, as which account; without it KUBECONFIG, ~/.kube/config or the pod's own account.",
)


@main.command()
@_kubeconfig
@_log_format
@click.option("--namespace", default="fairberth-system", show_default=True, help="Where we run and keep our Lease.")
@click.option("--lease-name", default="fairberth-operator", show_default=True, help="Name of the Lease to lead by.")
@click.option("--identity", help="Who we are in the Lease; must be of this process alone. Default: host and process.")
@click.option("--lease-seconds", type=click.IntRange(3), default=15, show_default=True, help="How long a lease lasts.")
@click.option(
    "--scheduler-name", default="fairberth-scheduler", show_default=True, help="Whose pods tenants' pods are."
)
@click.option("--webhook-host", default="0.0.0.0", show_default=True, help="Address that the webhook listens on.")
@click.option("--webhook-port", type=int, default=9443, show_default=True, help="Port of the webhook; 0 for none.")
@click.option(
    "--tls-dir", type=click.Path(path_type=Path), help="Folder with tls.crt and tls.key; read again on change."
)
@click.option("--safety-net/--no-safety-net", default=True, help="Whether the MutatingAdmissionPolicy is installed.")
@click.option(
    "--metrics-port", type=int, default=8080, show_default=True, help="Port of metrics and health; 0 for none."
)
def operator(
    kubeconfig: str | None,
    log_format: str,
    namespace: str,
    lease_name: str,
    identity: str | None,
    lease_seconds: int,
    scheduler_name: str,
    webhook_host: str,
    webhook_port: int,
    tls_dir: Path | None,
    safety_net: bool,
    metrics_port: int,
) -> None:
    """Decide turns and admit pods (runs until stopped).

    Several may run: all keep their caches and answer the admission webhook, the one that holds the Lease admits.
    """
    from fairberth import bootstrap

    logs.configure(log_format)
    if webhook_port and tls_dir is None:
        raise click.UsageError("--webhook-port needs --tls-dir (or give --webhook-port 0 for no webhook)")
    options = bootstrap.OperatorOptions(
        kubeconfig=kubeconfig,
        namespace=namespace,
        lease_name=lease_name,
        identity=identity,
        lease_seconds=lease_seconds,
        scheduler_name=scheduler_name,
        webhook_host=webhook_host,
        webhook_port=webhook_port,
        tls_dir=tls_dir,
        safety_net=safety_net,
        metrics_port=metrics_port,
    )
    bootstrap.run_operator(options)


@main.command()
@_kubeconfig
@_log_format
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on; keep it on loopback.")
@click.option("--port", type=int, default=9444, show_default=True, help="Port that kube-scheduler calls.")
@click.option(
    "--metrics-port", type=int, default=8081, show_default=True, help="Port of metrics and health; 0 for none."
)
def extender(kubeconfig: str | None, log_format: str, host: str, port: int, metrics_port: int) -> None:
    """Answer kube-scheduler's filter and prioritize calls (runs until stopped)."""
    from fairberth import bootstrap

    logs.configure(log_format)
    bootstrap.run_extender(bootstrap.ExtenderOptions(kubeconfig, host, port, metrics_port))


@main.command()
@click.argument("scenario", required=False, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--trace", type=click.Choice(("philly", "openb")), help="Replay a real trace instead of a scenario.")
@click.option(
    "--scale", type=float, default=1.0, show_default=True, help="Size of the trace's cluster, 1.0 as published."
)
@click.option(
    "--output", type=click.Choice(("table", "json")), default="table", show_default=True, help="Of the report."
)
@click.option(
    "--html", type=click.Path(dir_okay=False, path_type=Path), help="Write the report as a page with charts, too."
)
@click.option("--traces-dir", type=click.Path(file_okay=False, path_type=Path), help="Where the traces are.")
def simulate(
    scenario: Path | None, trace: str | None, scale: float, output: str, html: Path | None, traces_dir: Path | None
) -> None:
    """Run the production engine under a virtual clock.

    SCENARIO is a YAML file that holds ordinary Fairberth manifests (the same that `kubectl apply` takes), nodes and
    arrivals. Without one, the shipped day of a bank runs.

    \b
    Examples:
      fairberth simulate --html day.html
      fairberth simulate --trace philly --scale 0.35
      fairberth simulate my-day.yaml --output json | jq .tenants
    """
    from fairberth.simulator import command

    if scenario is not None and trace is not None:
        raise click.UsageError("give a SCENARIO or --trace, not both")
    sys.exit(command.simulate(scenario, trace, scale, output, html, Console(), traces_dir))


@main.command(hidden=True)
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
def docs(folder: Path) -> None:
    """Write the reference pages that are generated from the code."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in reference.pages().items():
        (folder / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
