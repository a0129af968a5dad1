#!/usr/bin/python3
"""Plays `docker compose` with buildah, for the services of compose.yaml that are built here.

compose.py build [OPTION OF buildah bud ...]
compose.py up ADDRESS [VARIABLE=VALUE ...]     starts the services in their order; their names lead to ADDRESS
compose.py exec [-e VARIABLE=VALUE ...] SERVICE COMMAND ...

`up` returns when all are started. The variables replace those of the services. The output of SERVICE is in SERVICE.log in the directory for temporary files.
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import time

import yaml

SERVICES = {name: service for name, service in yaml.safe_load(open("compose.yaml"))["services"].items() if "build" in service}


def build(options):
    for name, service in SERVICES.items():
        made = service["build"] if isinstance(service["build"], dict) else {"context": service["build"]}
        target = ["--target", made["target"]] if "target" in made else []
        buildah("bud", "--tag", image(name), *target, *options, made["context"])


def up(address, replaced):
    replaced = dict(variable.split("=", 1) for variable in replaced)
    started = set()
    while waiting := [name for name in SERVICES if name not in started]:
        ready = [name for name in waiting if started.issuperset(SERVICES[name].get("depends_on", {}))]
        if not ready:
            sys.exit(f"these services wait for each other: {waiting}")
        for name in ready:
            for other, how in SERVICES[name].get("depends_on", {}).items():
                assert how == {"condition": "service_healthy"}, how
                wait_until_healthy(other)
            start(name, address, replaced)
            started.add(name)


def start(name, address, replaced):
    service = SERVICES[name]
    hosts = [f"--add-host={other}:{address}" for other in SERVICES]
    volumes = [f"--volume={pathlib.Path.cwd() / volume}" for volume in service.get("volumes", [])]
    buildah("from", "--name", name, *hosts, *volumes, image(name))
    environment = service["environment"] | {key: value for key, value in replaced.items() if key in service["environment"]}
    buildah("config", *[f"--env={key}={value}" for key, value in environment.items()], name)
    inspected = subprocess.run(["buildah", "inspect", name], check=True, stdout=subprocess.PIPE).stdout
    config = json.loads(inspected)["OCIv1"]["config"]
    with log(name).open("w") as written:
        command = ["buildah", "run", name, "--", *config["Entrypoint"], *(config.get("Cmd") or [])]
        subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=written, stderr=written)


def wait_until_healthy(name):
    check = SERVICES[name]["healthcheck"]
    for _ in range(check["retries"]):
        time.sleep(int(check["interval"].removesuffix("s")))
        if run([], name, ["sh", "-c", check["test"]], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0:
            print(f"{name} is healthy", flush=True)
            return
    sys.exit(f"{name} did not become healthy:\n" + log(name).read_text())


def execute(arguments):
    options = []
    while arguments[0] == "-e":
        options.append(f"--env={arguments[1]}")
        arguments = arguments[2:]
    sys.exit(run(options, arguments[0], arguments[1:]).returncode)


def run(options, name, command, **streams):
    return subprocess.run(["buildah", "run", *options, name, "--", *command], **streams)


def log(name):
    return pathlib.Path(tempfile.gettempdir(), f"{name}.log")


def image(name):
    return f"localhost/jobstats-{name}"


def buildah(*arguments):
    subprocess.run(["buildah", *arguments], check=True, stdout=sys.stderr)


match sys.argv[1:]:
    case ["build", *options]:
        build(options)
    case ["up", address, *replaced]:
        up(address, replaced)
    case ["exec", *arguments]:
        execute(arguments)
    case _:
        sys.exit(__doc__)
