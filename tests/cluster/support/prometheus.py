"""Runs Debian's Prometheus beside a cluster, with the chart's alerts.

Debian's build cannot discover pods through Kubernetes. A thread writes the pods that the
PodMonitors would find to a file.
"""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import threading
import urllib.parse
import urllib.request

import yaml

from cluster import free_port, wait_for, write_whole

import dashboards


def address_of(pod):
    """Returns the address of a pod's metrics; None if it has none."""
    spec, address = pod["spec"], pod["status"].get("podIP")
    ports = [port["containerPort"] for container in [*spec.get("initContainers", []), *spec["containers"]]
             for port in container.get("ports", []) if port["name"] == "http"]
    return f"{address}:{ports[0]}" if ports and address else None


class Prometheus:
    def __init__(self, cluster, pods):
        """`pods` returns Synergy's pods as the API server has them."""
        self.cluster = cluster
        self.folder = cluster.folder / "prometheus"
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir()
        self.pods = pods
        self.stop = threading.Event()
        self.discovery = threading.Thread(target=self.discover)
        self.discovery.start()
        self.url = f"http://127.0.0.1:{free_port()}"
        rules = yaml.safe_load(dashboards.ALERTS.read_text(encoding="utf-8"))
        for rule in rules["groups"][0]["rules"]:
            # promtool's tests check how long a fault has to last.
            rule.pop("for", None)
            rule["expr"] = rule["expr"].replace("staleness_seconds > 120", "staleness_seconds > 20")
        (self.folder / "rules.yaml").write_text(yaml.safe_dump(rules), encoding="utf-8")
        (self.folder / "prometheus.yaml").write_text(yaml.safe_dump(self.configuration()), encoding="utf-8")
        with open(self.folder / "log", "ab") as log:
            self.process = subprocess.Popen(
                ["prometheus", "--config.file", str(self.folder / "prometheus.yaml"), "--storage.tsdb.path",
                 str(self.folder / "data"),
                 "--web.listen-address", self.url.removeprefix("http://"), "--log.level", "warn"], stdout=log,
                stderr=log)
        wait_for("Prometheus", self.is_ready)

    def configuration(self):
        return {
            "global": {"scrape_interval": "2s", "scrape_timeout": "2s", "evaluation_interval": "1s"},
            "rule_files": ["rules.yaml"],
            "scrape_configs": [{
                "job_name": "synergy",
                "honor_labels": True,
                # As in the PodMonitors with `metrics.authorization`.
                "scheme": "https",
                "tls_config": {"insecure_skip_verify": True},
                "authorization": {"credentials": self.cluster.kubectl(
                    "create", "token", "synergy-metrics-reader", "--namespace=synergy-system",
                    "--duration=24h").strip()},
                "file_sd_configs": [{"files": ["targets.json"], "refresh_interval": "1s"}],
            }, self.api_server()],
        }

    def api_server(self):
        kubeconfig = yaml.safe_load(pathlib.Path(self.cluster.environment["KUBECONFIG"]).read_text(encoding="utf-8"))
        server, user = kubeconfig["clusters"][0]["cluster"], kubeconfig["users"][0]["user"]
        return {
            "job_name": "kube-apiserver",
            "scheme": "https",
            "static_configs": [{"targets": [server["server"].removeprefix("https://")]}],
            "tls_config": {"ca_file": server["certificate-authority"], "cert_file": user["client-certificate"],
                           "key_file": user["client-key"]},
            # The API server has thousands of series.
            "metric_relabel_configs": [{"source_labels": ["__name__"],
                                        "regex": "apiserver_admission_webhook_fail_open_count", "action": "keep"}],
        }

    def discover(self):
        while not self.stop.wait(1):
            targets = []
            try:
                pods = self.pods()
            except (AssertionError, OSError):
                continue  # the API server will come back, or the test has ended
            for pod in pods:
                spec, status = pod["spec"], pod["status"]
                if (address := address_of(pod)) and status["phase"] == "Running":
                    targets.append({"targets": [address],
                                    "labels": {"pod": pod["metadata"]["name"],
                                               "namespace": pod["metadata"]["namespace"], "node": spec["nodeName"]}})
            write_whole(self.folder / "targets.json", json.dumps(targets))

    def get(self, path, **query):
        with urllib.request.urlopen(f"{self.url}{path}?{urllib.parse.urlencode(query)}", timeout=20) as answer:
            return json.loads(answer.read())["data"]

    def is_ready(self):
        if self.process.poll() is not None:
            raise AssertionError(f"Prometheus ended: see {self.folder}/log")
        try:
            with urllib.request.urlopen(f"{self.url}/-/ready", timeout=5):
                return True
        except OSError:
            return False

    def query(self, expression):
        return self.get("/api/v1/query", query=expression)["result"]

    def range(self, expression, start, end, step):
        return self.get("/api/v1/query_range", query=expression, start=start, end=end, step=step)["result"]

    def firing(self):
        return {alert["labels"]["alertname"]
                for alert in self.get("/api/v1/alerts")["alerts"] if alert["state"] == "firing"}

    def end(self):
        self.stop.set()
        self.discovery.join()
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(timeout=30)


def draw(prometheus, folder, start, end):
    """Draws every dashboard in `folder` with gnuplot, each as one picture of its panels from
    `start` to `end`."""
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for file in dashboards.DASHBOARDS:
        dashboard = dashboards.load(file)
        shown = dashboards.panels(dashboard)
        rows = (len(shown) + 2) // 3
        script = [f"set terminal pngcairo size 1500,{rows * 260} font 'sans,9'",
                  f"set output '{folder / file.stem}.png'",
                  f"set multiplot layout {rows},3", "set key below font ',7'", "set grid", "set yrange [0:*]",
                  "set xlabel 's' font ',7'"]
        for panel in shown:
            lines = []
            for target in panel["targets"]:
                for series in prometheus.range(dashboards.plain(target["expr"]), start, end, 2):
                    name = target["legendFormat"]
                    for key, value in series["metric"].items():
                        name = name.replace("{{%s}}" % key, value)
                    points = [f"{float(at) - start:.1f} {value}" for at, value in series["values"] if value != "NaN"]
                    if points:
                        lines.append((name, points))
            script.append("set title \"%s\"" % panel["title"].replace('"', "'"))
            if not lines:
                script.append(
                    "set label 1 'no data' at graph 0.5,0.5 center; plot [0:1][0:1] NaN notitle; unset label 1")
                continue
            for number, (_, points) in enumerate(lines[:8]):
                script += [f"$d{number} << EOD", *points, "EOD"]
            script.append("plot " + ", ".join(
                f"$d{number} using 1:2 with steps lw 2 title \"{name}\" noenhanced"
                for number, (name, _) in enumerate(lines[:8])))
        subprocess.run(["gnuplot"], input="\n".join([*script, "unset multiplot", ""]), text=True, check=True,
                       cwd=folder)


def wanted_pictures():
    """Returns the folder of the documentation's pictures if they are to be drawn again."""
    return os.environ.get("SYNERGY_PICTURES")
