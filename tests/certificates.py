"""Certificates of the tests' own, made by the openssl command: an authority, and a server of it."""

import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

# Enough for any run of the tests.
DAYS = "2"

KEY = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes")


@dataclass(frozen=True, slots=True)
class Certificates:
    """Where they lie."""

    directory: Path

    @property
    def authority(self) -> Path:
        """The certificate that those who connect have to trust."""
        return self.directory / "ca.crt"

    @property
    def settings(self) -> Mapping[str, object]:
        """Settings of a server that shows its certificate and asks nobody else for one."""
        return {
            "tls-ca-cert-file": self.authority,
            "tls-cert-file": self.directory / "server.crt",
            "tls-key-file": self.directory / "server.key",
            "tls-auth-clients": "no",
        }


def made(directory: Path) -> Certificates:
    """Make them in *directory*, for servers on 127.0.0.1; without openssl the test is skipped."""
    if shutil.which("openssl") is None:
        if os.environ.get("CI"):
            raise AssertionError("no openssl on PATH")
        pytest.skip("no openssl on PATH")
    extensions = directory / "extensions"
    extensions.write_text("subjectAltName=IP:127.0.0.1\n")
    _openssl(directory, *_request("ca"), "-x509", "-days", DAYS, "-out", "ca.crt")
    _openssl(directory, *_request("server"), "-out", "server.csr")
    signing = ("x509", "-req", "-in", "server.csr", "-CA", "ca.crt", "-CAkey", "ca.key")
    _openssl(
        directory,
        *signing,
        *("-CAcreateserial", "-days", DAYS, "-extfile", "extensions", "-out", "server.crt"),
    )
    return Certificates(directory)


def _request(name: str) -> tuple[str, ...]:
    return ("req", *KEY, "-keyout", f"{name}.key", "-subj", f"/CN=interlock tests {name}")


def _openssl(directory: Path, *arguments: str) -> None:
    done = subprocess.run(
        ["openssl", *arguments], cwd=directory, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
