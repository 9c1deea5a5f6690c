#!/usr/bin/env python3
"""Makes the chart of a release from the source tree's, in place.

usage: released_chart.py CHART REGISTRY SOURCE IMAGE=DIGEST...

Writes the registry and the digests of the images into the values, and the release's source and
images into Chart.yaml.
"""

import pathlib
import re
import sys


def replace(text, pattern, new):
    text, count = re.subn(pattern, lambda found: found[1] + new, text, flags=re.MULTILINE)
    if count != 1:
        raise SystemExit(f"the chart has {count} places for {new}, not one")
    return text


def main(chart, registry, source, *pairs):
    digests = dict(pair.split("=", 1) for pair in pairs)
    file = pathlib.Path(chart, "values.yaml")
    text = replace(file.read_text(encoding="utf-8"), r'^(image:\n(?:  #.*\n)*  registry: )""$', f'"{registry}"')
    shipped = re.findall(r"^ +repository: synergy/(\w+)$", text, re.MULTILINE)
    for image in shipped:
        text = replace(text, rf'^( +repository: synergy/{image}\n(?: +#.*\n)* +digest: )""$', f'"{digests[image]}"')
    file.write_text(text, encoding="utf-8")

    file = pathlib.Path(chart, "Chart.yaml")
    text = file.read_text(encoding="utf-8")
    version = re.search(r"^appVersion: (\S+)$", text, re.MULTILINE)[1]
    text = replace(text, r"^(annotations:\n)", "  artifacthub.io/images: |\n" + "".join(
        f"    - name: {image}\n      image: {registry}/synergy/{image}:{version}@{digests[image]}\n"
        for image in shipped))
    icon = f"{source}/raw/v{version}/docs/images/icon.svg"
    file.write_text(f"{text}home: {source}\nsources: [{source}]\nicon: {icon}\n", encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
