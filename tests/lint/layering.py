#!/usr/bin/env python3
"""Checks that each folder includes only from folders from which it may (docs/ARCHITECTURE.md), and
that its names are in its namespace (CONTRIBUTING.md).

usage: layering.py [TREE]
"""

import re
import sys

import tree

# Folder -> the folders from which it may include, besides itself.
ARROWS = {
    "core": [],
    "profile": ["core"],
    "progress": ["core"],
    "solver": ["core"],
    "gavel": ["core", "solver"],
    "optimus": ["core"],
    "cluster": ["core", "profile"],
    "admission": ["core", "profile", "cluster"],
    "policy": ["core", "profile"],
    "allocation": ["core", "profile", "cluster"],
    "engine": ["core", "profile", "failure", "cluster", "allocation"],
    "queues": ["core", "profile", "gavel", "cluster", "policy", "optimus"],
    "sim": ["core", "profile", "failure", "gavel", "cluster", "admission", "policy", "allocation", "engine",
            "queues"],
    "inventory": ["core"],
    "kubelet": ["core", "inventory"],
    "http": ["core"],
    "json": ["core"],
    "failure": ["core", "progress", "json"],
    "wire": ["core", "inventory", "profile", "cluster", "admission", "allocation", "engine", "queues", "json"],
    "record": ["core", "profile", "cluster", "allocation", "engine", "queues", "wire"],
    "metrics": ["core"],
    "config": ["core", "inventory", "profile", "cluster", "json"],
    "daemon": ["core", "http", "config"],
    "kube": ["core", "inventory", "profile", "cluster", "queues", "http", "json", "wire", "config"],
    "extender": ["core", "cluster", "allocation", "engine", "record", "http", "json", "wire", "metrics", "config",
                 "daemon", "kube"],
    "controller": ["core", "profile", "failure", "gavel", "cluster", "admission", "allocation", "engine", "queues",
                   "record", "http", "json", "wire", "metrics", "config", "daemon", "kube"],
    "deviceplugin": ["core", "inventory", "kubelet", "http", "json", "wire", "metrics", "config", "daemon", "kube"],
    "nodeagent": ["core", "inventory", "kubelet", "profile", "progress", "failure", "cluster", "allocation", "http",
                  "json", "wire", "metrics", "config", "daemon", "kube"],
    "cli": ["core", "profile", "progress", "failure", "cluster", "policy", "allocation", "engine", "queues", "sim",
            "record", "http", "json", "wire", "config", "kube"],
    # Research: no folder above may include from it.
    "research/baseline": ["core", "profile", "solver", "cluster", "policy", "allocation", "sim"],
    "research/reference": ["core", "solver", "sim"],
    "research/tiresias": ["core", "policy", "sim"],
    "research/gavel": ["core", "gavel", "sim"],
    "research/optimus": ["core", "optimus", "queues", "sim", "research/gavel"],
    "research/rounds": ["core", "profile", "policy", "gavel", "sim", "research/baseline", "research/gavel"],
    "research/lab": ["core", "profile", "gavel", "policy", "sim", "json", "config", "cli", "research/baseline",
                     "research/reference",
                     "research/tiresias", "research/gavel", "research/optimus", "research/rounds"],
}
# Folders beside src/, and the one whose subfolders have their own rows in the table.
RESEARCH = "research"
PROGRAMS = ["extender", "controller", "deviceplugin", "nodeagent", "cli"]

# Beginning of a third-party header -> the folders that may include it.
THIRD_PARTY = {
    "fmt/": list(ARROWS),
    "tl/": list(ARROWS),
    "absl/": ["cluster"],
    "httplib.h": ["http"],
    "openssl/": ["http", "config", "kube"],
    "rapidjson/": ["json"],
    "re2/": ["progress", "failure"],
    "yaml-cpp/": ["config", "cli"],
    "prometheus/": ["metrics"],
    "Cbc": ["solver"],
    "Clp": ["solver"],
    "Coin": ["solver"],
    "Osi": ["solver"],
    "grpcpp/": ["deviceplugin", "kubelet"],
    "linux/": ["nodeagent"],
    "CLI/": ["daemon", "cli", "research/lab"],
}

# Folders that only calculate: they use no sockets, files, wall clock, threads of their own or
# environment. The exceptions are the files that provide clock, log and exit to the others.
PURE = ["core", "inventory", "profile", "progress", "failure", "solver", "gavel", "optimus", "cluster", "admission",
        "policy", "allocation", "engine", "queues", "sim",
        "research/baseline", "research/reference", "research/tiresias", "research/gavel", "research/optimus",
        "research/rounds"]
PURE_BUT_FOR = ["src/core/check.cc", "src/core/clock.cc", "src/core/log.cc"]
# System headers that a pure folder may not include, and the folders that are excepted.
IMPURE_HEADERS = {
    "condition_variable": [],
    "csignal": [],
    "cstdio": [],
    "ctime": [],
    "filesystem": [],
    "fstream": [],
    "future": [],
    "iostream": [],
    "mutex": ["cluster", "solver"],
    "random": [],
    "shared_mutex": [],
    "thread": [],
}
IMPURE_WORDS = re.compile(
    r"\b(?:\w+_clock::now|getenv|setenv|std::j?thread|std::async|random_device|sleep_for|sleep_until"
    r"|f?printf|std::cout|std::cerr|std::time|std::rand|SystemClock|StderrSink)\b")
# The only file that declares each of these.
DECLARED = {"SystemClock": "src/core/clock.h", "StderrSink": "src/core/log.h"}

# Namespaces besides a folder's own: beginning of a file's name, or a library that is declared ahead
# -> its namespace.
NAMESPACES = {
    # words of another program: its jobs, clusters and events are not ours
    "research/reference/": "synergy::reference",
    "src/cluster/state/cluster_journal.h": "cluster_change",  # within synergy: the kinds of a ClusterChange
    "src/engine/decisions.": "decision",  # within synergy: the kinds of a Decision
    "src/engine/tuner/tuner_actions.": "tuner_action",  # within synergy: the kinds of a TunerAction
    "src/engine/gangs/preemption_actions.": "preemption_action",  # within synergy: the kinds of a PreemptionAction
    "src/queues/planner/queue_journal.h": "queue_step",  # within synergy: the kinds of a QueueStep
    "src/cluster/annotations.h": "synergy::annotations",  # keys are always qualified
    "src/http/": "httplib",
    "deviceplugin/": "grpc",
    "src/kubelet/": "grpc",
    "research/lab/": "synergy::cli",  # a command line that consists of the same parts
}

INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]')
NAMESPACE = re.compile(r"^namespace\s+([\w:]+)\s*{")
COMMENT = re.compile(r"//.*")


def folder_of(name):
    """Returns the folder in the table to which a file belongs; None if there is none."""
    parts = name.split("/")
    if parts[0] == "src" and len(parts) > 2:
        return parts[1]
    if parts[0] == RESEARCH and len(parts) > 2:
        return None if parts[1] == "tests" else "/".join(parts[:2])
    return parts[0] if parts[0] in PROGRAMS else None


def check_quoted(folder, header):
    parts = header.split("/")
    target = "/".join(parts[:2 if parts[0] == RESEARCH else 1]) if len(parts) > 1 else None
    if target is None:
        return f'"{header}" is included without its folder'
    if target != folder and target not in ARROWS[folder]:
        return f"{folder} may not include from {target}"
    return None


def check_angled(name, folder, header):
    for beginning, folders in THIRD_PARTY.items():
        if header.startswith(beginning):
            return None if folder in folders else f"<{header}> belongs to {', '.join(folders)}"
    if header.split("/")[0] in [*ARROWS, RESEARCH]:
        return f"<{header}> is ours: include it with quotes"
    if header.endswith(".hpp") or ("/" in header and not re.match(r"(sys|netinet|arpa)/", header)):
        return f"<{header}> is of a library that the table does not know"
    if folder in PURE and name not in PURE_BUT_FOR:
        if header.endswith(".h"):
            return f"{folder} is pure: no <{header}>"
        if folder not in IMPURE_HEADERS.get(header, [folder]):
            return f"{folder} is pure: no <{header}>"
    return None


def check_namespace(name, folder, namespace):
    own = "synergy" if folder in PURE else "synergy::" + folder.replace("/", "::")
    if namespace == own or (folder not in PURE and namespace.startswith(own + "::")):
        return None
    if any(name.startswith(beginning) and namespace == other for beginning, other in NAMESPACES.items()):
        return None
    return f"the names of {folder} are in {own}, not in {namespace}"


def check_line(name, folder, line):
    namespace = NAMESPACE.match(line)
    if namespace:
        return check_namespace(name, folder, namespace.group(1))
    include = INCLUDE.match(line)
    if include and include.group(1) == '"':
        return check_quoted(folder, include.group(2))
    if include:
        return check_angled(name, folder, include.group(2))
    if folder in PURE and name not in PURE_BUT_FOR:
        word = IMPURE_WORDS.search(COMMENT.sub("", line))
        if word and DECLARED.get(word.group()) != name:
            return f"{folder} is pure: no {word.group()}"
    return None


def check_tree(root):
    problems = []
    for name in tree.cpp_files(root):
        folder = folder_of(name)
        if folder is None:
            continue
        if folder not in ARROWS:
            problems.append(f"{name}: the folder {folder} is not in the table of tests/lint/layering.py")
            continue
        for number, line in enumerate(tree.read(root, name).splitlines(), 1):
            problem = check_line(name, folder, line)
            if problem:
                problems.append(f"{name}:{number}: {problem}")
    return problems


def check_table(arrows):
    """Checks that the arrows form no cycle."""
    state = {}

    def visit(folder, path):
        if state.get(folder) == "done":
            return []
        if folder in path:
            return [" -> ".join(path[path.index(folder):] + [folder]) + " is a circle"]
        found = [problem for other in arrows[folder] for problem in visit(other, path + [folder])]
        state[folder] = "done"
        return found

    return [problem for folder in arrows for problem in visit(folder, [])]


def main(arguments):
    root = arguments[0] if arguments else "."
    return tree.report(check_table(ARROWS) + check_tree(root))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
