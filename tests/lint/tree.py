"""The files of a source tree, as git sees them: tracked ones and new ones that are not ignored."""

import os
import subprocess

CPP_SUFFIXES = (".h", ".cc")
# Folders without sources. They matter for an unpacked archive, for which git gives no list.
NOT_SOURCE = {".git", "build", "out", "__pycache__"}


def files(root):
    """Returns the paths of existing files, relative to `root`, sorted."""
    listed = subprocess.run(
        ["git", "-C", root, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        capture_output=True, check=False)
    if listed.returncode == 0:
        names = listed.stdout.decode().split("\0")
    else:
        names = []
        for folder, subfolders, inside in os.walk(root):
            subfolders[:] = [name for name in subfolders if name not in NOT_SOURCE]
            names += [os.path.relpath(os.path.join(folder, name), root) for name in inside]
    return sorted({name for name in names if name and os.path.isfile(os.path.join(root, name))})


def cpp_files(root):
    return [name for name in files(root) if name.endswith(CPP_SUFFIXES)]


def read(root, name):
    """Returns the file's text; None for a file that is not text."""
    with open(os.path.join(root, name), "rb") as file:
        data = file.read()
    if b"\0" in data:
        return None
    return data.decode("utf-8", errors="replace")


def report(problems):
    """Prints the problems; returns the exit status."""
    for problem in problems:
        print(problem)
    if problems:
        print(f"{len(problems)} problem(s)")
    return 1 if problems else 0
