"""Name the machine and the versions, without which a figure says little."""

import os
import platform
import shutil
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

_PACKAGES = ("discord.py", "redis", "pottery", "python-redis-lock", "chat-sdk", "aiosqlite")


def described() -> str:
    """Describe processor, cores, load, and the versions of all that is measured."""
    cores = os.cpu_count()
    load = f"load {os.getloadavg()[0]:.1f} at the start"
    named = [f"{_processor()}, {cores} cores, {load}", f"Python {platform.python_version()}"]
    if server := _server():
        named.append(server)
    for package in _PACKAGES:
        try:
            named.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            continue
    return " · ".join(named)


def _processor() -> str:
    told = Path("/proc/cpuinfo")
    lines = told.read_text().splitlines() if told.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def _server() -> str:
    binary = shutil.which("redis-server")
    if binary is None:
        return ""
    told = subprocess.run([binary, "--version"], capture_output=True, text=True, check=True).stdout  # noqa: S603
    return f"Redis {told.partition('v=')[2].partition(' ')[0]}"
