"""Who may talk to the test API server: static tokens, the signing key of service accounts, kubeconfig files."""

import json
import secrets
from dataclasses import dataclass
from pathlib import Path

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

ADMIN = "admin"
CONTROLLER_MANAGER = "system:kube-controller-manager"
SCHEDULER = "system:kube-scheduler"
_GROUPS = {ADMIN: "system:masters", CONTROLLER_MANAGER: "", SCHEDULER: ""}  # the last two: bound by name in RBAC


@dataclass(frozen=True)
class Credentials:
    """Files given to the API server, and the token of each of its static users."""

    tokens_file: Path
    signing_key: Path
    tokens: dict[str, str]


def make_credentials(folder: Path) -> Credentials:
    """Writes a fresh signing key and a token file for the static users into `folder`."""
    tokens = {user: secrets.token_hex(16) for user in _GROUPS}
    lines = [f'{token},{user},{user},"{_GROUPS[user]}"\n' for user, token in tokens.items()]
    credentials = Credentials(folder / "tokens.csv", folder / "service-accounts.key", tokens)
    credentials.tokens_file.write_text("".join(lines))
    credentials.signing_key.write_bytes(_private_key())
    return credentials


def write_kubeconfig(path: Path, url: str, ca_file: Path, token: str) -> Path:
    """Writes a kubeconfig with one context, `test`, that authenticates by `token`; returns `path`."""
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "test", "cluster": {"server": url, "certificate-authority": str(ca_file)}}],
        "users": [{"name": "test", "user": {"token": token}}],
        "contexts": [{"name": "test", "context": {"cluster": "test", "user": "test"}}],
        "current-context": "test",
    }
    path.write_text(json.dumps(config, indent=1))  # JSON is YAML
    path.chmod(0o600)
    return path


def _private_key() -> bytes:
    key = ec.generate_private_key(ec.SECP256R1())
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption()
    )
