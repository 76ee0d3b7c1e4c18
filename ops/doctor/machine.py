"""What is on this machine: the data directory, the embedded stores in it, `up`, the models, the agents' plugins."""

from __future__ import annotations

import asyncio
import contextlib
import json
import shutil
import sys
import time
from pathlib import Path
from typing import Any

import psutil

from nextlevel.errors import EmbedderUnavailable, ModelBusy, UnusableAnswer
from nextlevel.inference import open_embedder, servers
from nextlevel.ops.up import place, postgres, valkey

from .finding import Finding, broken, ok, weak
from .patient import Patient

STUCK_S = 300.0
MODEL_ANSWERS_WITHIN_S = 5.0


async def data_directory(patient: Patient) -> list[Finding]:
    link = "data directory"
    directory = patient.settings.data_dir.resolve()
    if not _is_there(directory):
        if patient.settings.embedded:
            return [weak(link, f"{directory} is not there yet", "`nextlevel up` makes it")]
        return [ok(link, f"{directory} is not there, nor needed with servers of your own")]
    place.prepare(directory)
    return [ok(link, f"{directory}, {shutil.disk_usage(directory).free // 2**30} GiB free")]


def _is_there(path: Path) -> bool:
    """True also where we may not look: what is tried next says why."""
    try:
        return path.exists()
    except PermissionError:
        return True


async def embedded_stores(patient: Patient) -> list[Finding]:
    """Their files, by the rules that `up` itself starts by; the errors have the cure in them."""
    link = "embedded stores"
    if not patient.settings.embedded:
        return [ok(link, "not used: NEXTLEVEL_POSTGRES_DSN is set")]
    if not _is_there(patient.settings.data_dir):
        return [ok(link, "not made yet")]
    where = place.find(patient.settings.data_dir)
    found = [name for name, check in (("postgres", postgres.check), ("valkey", valkey.check)) if check(where)]
    return [ok(link, f"{' and '.join(found)} of this release in {where.describe()}" if found else "not made yet")]


async def running_up(patient: Patient) -> list[Finding]:
    link = "up"
    told = patient.settings.endpoints
    if told is not None and psutil.pid_exists(told.pid):
        return [ok(link, f"runs with pid {told.pid}")]
    if not patient.settings.embedded:
        return [ok(link, "does not run here; servers of your own are set")]
    if told is not None:
        return [
            broken(link, f"was killed (pid {told.pid} is gone)", "start `nextlevel up`: it takes over what is left")
        ]
    return [broken(link, f"nothing runs in {patient.settings.data_dir}", "start `nextlevel up`")]


async def embedder(patient: Patient) -> list[Finding]:
    link = "embedder"
    since = time.monotonic()
    try:
        made = await asyncio.to_thread(open_embedder, patient.settings)
        try:
            loaded = time.monotonic()
            await made.query("Which port does the crm run on?")
        finally:
            await made.close()
    except EmbedderUnavailable as error:
        cure = "install hermes-nextlevel again, for this machine"
        if patient.settings.embed_model is not None:
            cure = "start it, or name another by NEXTLEVEL_EMBED_BASE_URL and NEXTLEVEL_EMBED_MODEL"
        cure += "; meanwhile recall goes by words and graph"
        return [weak(link, str(error), cure)]
    took_ms = (time.monotonic() - loaded) * 1000
    return [ok(link, f"{made.model}, loaded in {loaded - since:.1f} s, a query takes {took_ms:.0f} ms")]


async def model(patient: Patient) -> list[Finding]:
    """The language model, where one is named: it is there under that name. Nothing is asked of it."""
    link, ours = "model", patient.settings
    if ours.llm == "off" or ours.llm_base_url is None:
        return [ok(link, "none is named: extraction goes by rules alone")]
    key = None if ours.llm_api_key is None else ours.llm_api_key.get_secret_value()
    try:
        found = await servers.models(ours.llm_base_url, key, timeout_s=MODEL_ANSWERS_WITHIN_S)
    except (ModelBusy, UnusableAnswer) as error:
        cure = "start it, choose another by `nextlevel setup`, or set NEXTLEVEL_LLM=off to go by rules"
        return [broken(link, f"{error}; turns wait for it", cure)]
    if ours.llm_model not in found:
        cure = "fetch it there, or choose another by `nextlevel setup`"
        return [broken(link, f"{ours.llm_base_url} has no model {ours.llm_model}", cure)]
    return [ok(link, f"{ours.llm_model} at {ours.llm_base_url}")]


async def agents(patient: Patient) -> list[Finding]:
    """The homes that `nextlevel hermes install` wrote to; told by that room's own command, in a process of its own."""
    told = await _homes()
    if not told:
        return [weak("agents", "no Hermes home has the plugin", "`nextlevel hermes install`")]
    return [finding for home in told for finding in _agent(home)]


async def _homes() -> list[dict[str, Any]]:
    command = (
        sys.executable,
        "-c",
        "from nextlevel.ops.cli import main; main()",
        "hermes",
        "status",
        "--all",
        "--json",
    )
    process = await asyncio.create_subprocess_exec(
        *command, stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL
    )
    try:
        said, _ = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    found: list[dict[str, Any]] = json.loads(said) if said else []
    return found


def _agent(home: dict[str, Any]) -> list[Finding]:
    link, path = "agents", home["home"]
    if home.get("fault"):
        return [broken(link, f"{path}: {home['fault']}", "")]
    findings = []
    if home["plugin"] != home["newest"]:
        says = f"{path} has the plugin {home['plugin'] or 'no more'}, this program brings {home['newest']}"
        findings.append(weak(link, says, f"nextlevel hermes install --home {path}"))
    waiting, since = home.get("pending", 0), home.get("oldest_waiting_at")
    if waiting and since and time.time() - since > STUCK_S:
        says = f"{path}: {waiting} turns wait on the disk, the oldest for {(time.time() - since) / 60:.0f} min"
        findings.append(broken(link, says, "start `nextlevel up` or `nextlevel relay` on this machine"))
    if home.get("moved_aside"):
        cure = "delete that file once you miss nothing of it; look at the disk"
        findings.append(weak(link, f"{path}: {home['moved_aside']}; {home['refilled']}", cure))
    if home.get("last_error"):
        findings.append(weak(link, f"{path}: {home['last_error']}", f"nextlevel hermes status --home {path}"))
    for bare in home.get("without_plugin", []):
        says = f"the profile {bare} names nextlevel as its memory, and has no plugin: it remembers nothing"
        findings.append(broken(link, says, f"nextlevel hermes install --home {bare}"))
    if len(pids := _that_have_open(Path(path) / "nextlevel" / "shortterm.db")) > 1:
        says = f"{path} is used by processes {', '.join(map(str, pids))} at once: they take turns at writing"
        findings.append(ok(link, says))
    return findings or [ok(link, f"{path}: plugin {home['plugin']}, {waiting} turns wait")]


def _that_have_open(file: Path) -> list[int]:
    """The processes that have a file open, as far as we may look into them."""
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if any(each.path == str(file) for each in process.open_files()):
                found.append(process.pid)
    return found
