"""Logs: JSON lines with the keys that Kubernetes' own components use, or plain text for people."""

from __future__ import annotations

import logging
import sys

from pythonjsonlogger.json import JsonFormatter

FORMATS = ("json", "text")


def configure(format: str, level: str = "INFO") -> None:
    """Route every logger (kopf's and aiohttp's too) to standard error in one format."""
    handler = logging.StreamHandler(sys.stderr)
    if format == "json":
        renames = {"asctime": "ts", "levelname": "level", "message": "msg", "name": "logger"}
        fields = "%(asctime)s %(levelname)s %(name)s %(message)s"
        handler.setFormatter(JsonFormatter(fields, rename_fields=renames, datefmt="%Y-%m-%dT%H:%M:%S%z"))
    else:
        handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)-7s %(name)s: %(message)s"))
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level)
    logging.getLogger("kopf.objects").setLevel("WARNING")  # one line per event of ours says nothing new
    logging.getLogger("aiohttp.access").setLevel("WARNING")
