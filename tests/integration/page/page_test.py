"""Tests the page that simulations write with `--html`, in a real browser: its contents, by mouse,
keyboard and screen reader."""

import contextlib
import csv
import json
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

from browser import DRIVER, Browser

ROOT = pathlib.Path(__file__).resolve().parents[3]
DATA = ROOT / "tests/data/synergy/reference"
HOSTILE = ("<img src=x onerror=window.hurt=1>", "</script><script>window.hurt=1</script>")


def page(file, *arguments, profiles=DATA / "profiles.json"):
    """Writes the page, and returns the data in it."""
    command = [str(pathlib.Path(os.environ["SYNERGY_BIN"]) / "synergy-lab"), "rounds", "--quiet", "--html", file,
               "--profiles", profiles, *arguments]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    text = file.read_text(encoding="utf-8")
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL).group(1))


def merged(target, patch):
    """Applies a JSON Merge Patch (RFC 7386)."""
    if not isinstance(patch, dict):
        return patch
    result = dict(target) if isinstance(target, dict) else {}
    for name, value in patch.items():
        if value is None:
            result.pop(name, None)
        else:
            result[name] = merged(result.get(name), value)
    return result


def state_at(run, time):
    state = run["state"]
    for at, patch in run["changes"]:
        if at > time:
            break
        state = merged(state, patch)
    return state


def expected(run, time):
    """Returns what the page should show: pods by node with their amounts, and waiting pods."""
    state = state_at(run, time)
    nodes = {name: {"gpus": 0, "cpu": node["others"]["cpu"], "pods": {}} for name, node in state["nodes"].items()}
    waiting = set()
    for key, pod in state["pods"].items():
        if "node" not in pod:
            waiting.add(key)
            continue
        node = nodes[pod["node"]]
        node["gpus"] += pod["gpus"]
        node["cpu"] += pod["allocation"]["cpu"]
        node["pods"][key] = [round(amount["cpu"], 2) for amount in (pod["allocation"], pod["fairShare"], pod["demand"])]
    return {"nodes": nodes, "waiting": waiting}


# Returns only text that is visible and text that is spoken.
SHOWN = r"""
return [...document.querySelectorAll(".run")].map((run) => ({
  nodes: Object.fromEntries([...run.querySelectorAll(".node")].map((node) => {
    const amounts = [...node.querySelectorAll("p:not([hidden]) > .amount")];
    const [gpus, cpu] = amounts.map((amount) => parseFloat(amount.textContent));
    const pods = Object.fromEntries([...node.querySelectorAll("button.pod")].map((pod) => {
      const words = /; CPU ([\d.]+), fair share ([\d.]+), demand ([\d.]+);/.exec(pod.textContent);
      return [pod.dataset.pod, words.slice(1).map(Number)];
    }));
    return [node.querySelector("h4").textContent, { gpus, cpu, pods }];
  })),
  waiting: [...run.querySelectorAll("tbody button")].map((button) => button.dataset.pod),
}));
"""

READ = ["h1", "#comparison .what", "#comparison .difference", "summary", "thead th", ".node h4", ".amount",
        ".pod .name", ".pod .gpus", "#legend li", "#find-form label"]
# Returns the contrast of the text of each selector's first match, and the page's lightness.
CONTRAST = r"""
const channel = (value) => (value /= 255, value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
const luminance = (color) => {
  const [red, green, blue] = color.match(/[\d.]+/g).map(Number).map(channel);
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
};
const background = (element) => {
  const color = getComputedStyle(element).backgroundColor;
  return color === "rgba(0, 0, 0, 0)" ? background(element.parentElement) : color;
};
const contrasts = arguments[0].map((selector) => {
  const element = document.querySelector(selector);
  const pair = [luminance(getComputedStyle(element).color), luminance(background(element))];
  return [selector, (Math.max(...pair) + 0.05) / (Math.min(...pair) + 0.05)];
});
return [luminance(getComputedStyle(document.body).backgroundColor), contrasts];
"""


@unittest.skipUnless(DRIVER, "no chromedriver: scripts/setup.sh installs it")
class PageTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.file = cls.folder / "page.html"
        cls.data = page(cls.file, "--trace", DATA / "dynamic_100job.csv", "--servers", "4",
                        "--mechanism", "proportional,tune,synergy")
        cls.browser = cls.enterClassContext(contextlib.closing(Browser()))

    def setUp(self):
        self.open(self.file)

    def tearDown(self):
        self.assertEqual(self.browser.log(), [])

    def open(self, file, fragment=""):
        self.browser.open("about:blank")
        self.browser.open(file.as_uri() + fragment)
        self.browser.settle()

    def time(self):
        return float(self.browser.run("return document.getElementById('at').value"))

    def go_to(self, time):
        self.browser.run("const at = document.getElementById('at'); at.value = arguments[0]; "
                         "at.dispatchEvent(new Event('input'))", time)
        self.browser.settle()
        return float(self.browser.run("return document.getElementById('at').value"))

    def assert_shows(self, runs, time):
        for run, shown in zip(runs, self.browser.run(SHOWN), strict=True):
            wanted = expected(run, time)
            self.assertEqual(set(shown["waiting"]), wanted["waiting"], f"{run['name']} at {time}")
            self.assertEqual(len(shown["waiting"]), len(wanted["waiting"]))
            self.assertEqual(shown["nodes"].keys(), wanted["nodes"].keys())
            for name, node in wanted["nodes"].items():
                there = shown["nodes"][name]
                self.assertEqual(there["pods"], node["pods"], f"{run['name']}, {name} at {time}")
                self.assertEqual(there["gpus"], node["gpus"])
                self.assertAlmostEqual(there["cpu"], node["cpu"], delta=0.06)

    def focused(self, what="tagName"):
        return self.browser.run(f"return document.activeElement.{what}")

    def test_the_page_shows_the_state_while_jobs_come_and_go(self):
        runs = self.data["runs"][:2]
        end = max(run["changes"][-1][0] for run in runs)
        crowded = max(range(20), key=lambda part: len(expected(runs[0], end * part / 20)["waiting"]))
        self.assertGreater(len(expected(runs[0], end * crowded / 20)["waiting"]), 3)
        # Moves in time forwards, backwards, and to both ends.
        for part in (0.02, 0.1, 0.3, 0.25, 0.7, crowded / 20, 1, 0, 0.5):
            self.assert_shows(runs, self.go_to(end * part))

    def test_the_page_opens_when_the_runs_differ_most(self):
        runs = self.data["runs"][:2]
        end = max(run["changes"][-1][0] for run in runs)

        def difference(time):
            proportional, tuned = (len(expected(run, time)["waiting"]) for run in runs)
            return abs(proportional - tuned)
        most = max(difference(end * part / 50) for part in range(50))
        self.assertGreater(most, 5)
        self.assertGreater(difference(self.time()), 0.7 * most)

    def test_the_comparison_has_the_figures_of_the_runs(self):
        cards = self.browser.run("""return [...document.querySelectorAll("#comparison li")].map((card) => [
            card.querySelector("h2").textContent, [...card.querySelectorAll(".what")].map((name) => name.textContent),
            card.querySelector(".difference").textContent])""")
        runs = self.data["runs"][:2]
        self.assertEqual(len(cards), 6)
        for _, names, _ in cards:
            self.assertEqual(names, [run["name"] for run in runs])
        first, second = (run["figures"]["meanWait"] for run in runs)
        less = f"{round(100 * (1 - second / first))} % less"
        self.assertIn(less, {title: text for title, _, text in cards}["Mean wait"])

    def test_bars_have_names_and_numbers(self):
        run = self.data["runs"][0]
        pods = state_at(run, self.go_to(run["changes"][-1][0] / 2))["pods"]
        shown = self.browser.run(r"""const text = (row) => row.innerText.split(/\s+/).join(" ");
            return [...document.querySelectorAll(".run:first-child button.pod")].map((pod) => [
              pod.dataset.pod, ...[...pod.querySelectorAll(".measure")].map(text)])""")
        self.assertGreater(len(shown), 10)
        for key, cpu, memory in shown:
            self.assertEqual(cpu, f"CPU {pods[key]['allocation']['cpu']:g} of {pods[key]['demand']['cpu']:g}")
            self.assertRegex(memory, r"^memory [\d.]+ GiB of [\d.]+ GiB$")

    def test_a_link_leads_to_what_was_shown(self):
        first, _, third = self.data["runs"]
        time = third["changes"][-1][0] / 3
        self.open(self.file, f"#at={time}&runs=2,0")
        self.assertAlmostEqual(self.time(), time, places=3)
        self.assert_shows([third, first], self.time())
        self.go_to(time / 2)
        self.browser.run("const find = document.getElementById('find'); find.value = 'job-1'; "
                         "find.dispatchEvent(new Event('input'))")
        for _ in range(100):
            link = self.browser.run("return location.hash")
            if "find=job-1" in link:
                break
            self.browser.settle()
        self.assertEqual(link, f"#at={round(time / 2, 3)}&runs=2%2C0&find=job-1")
        shown = self.browser.run(SHOWN)
        self.open(self.file, link)
        self.assertEqual(self.browser.run(SHOWN), shown)
        # A link that others have damaged shows what it can.
        self.open(self.file, "#at=never&runs=7,x&find=")
        self.assert_shows(self.data["runs"][:2], self.time())

    def test_no_pod_is_left_after_the_last_change(self):
        run = self.data["runs"][0]
        self.assertEqual(state_at(run, run["changes"][-1][0])["pods"], {})

    def test_steps_lead_from_change_to_change(self):
        runs = self.data["runs"][:2]
        times = sorted({at for run in runs for at, _ in run["changes"]})
        self.go_to(times[0])
        shown = []
        for button in ("next", "next", "next", "previous"):
            self.browser.run("document.getElementById(arguments[0]).click()", button)
            shown.append(float(self.browser.run("return document.getElementById('at').value")))
        for there, wanted in zip(shown, (times[1], times[2], times[3], times[2]), strict=True):
            self.assertAlmostEqual(there, wanted, places=6)
        self.assert_shows(runs, times[2])

    def test_playing_goes_on_until_it_is_stopped(self):
        self.go_to(0)
        self.browser.run("document.getElementById('play').click()")
        self.browser.settle()
        self.assertGreater(float(self.browser.run("return document.getElementById('at').value")), 0)
        self.browser.run("document.getElementById('play').click()")
        self.browser.settle()
        stopped = self.browser.run("return document.getElementById('at').value")
        self.browser.settle()
        self.assertEqual(self.browser.run("return document.getElementById('at').value"), stopped)

    def test_any_two_runs_stand_side_by_side(self):
        first, _, third = self.data["runs"]
        self.browser.run("const select = document.querySelectorAll('h2 select')[1]; select.value = '2'; "
                         "select.dispatchEvent(new Event('change'))")
        time = self.go_to(third["changes"][-1][0] / 3)
        self.assert_shows([first, third], time)

    def test_every_control_is_reached_with_the_tab_key(self):
        self.go_to(self.data["runs"][0]["changes"][-1][0] / 2)
        name = ("return document.activeElement.id || document.activeElement.tagName + "
                "[...document.querySelectorAll(document.activeElement.tagName)].indexOf(document.activeElement)")
        reached = []
        while len(reached) < 300:
            self.browser.press("Tab")
            at = self.browser.run(name)
            if reached and at in (reached[0], "BODY0"):
                break
            reached.append(at)
        controls = self.browser.run("""
            return [...document.querySelectorAll("input, select, summary, button:not(.pod):not(dialog *)")].filter(
                (control) => control.getClientRects().length).map(
                (control) => control.id
                    || control.tagName + [...document.querySelectorAll(control.tagName)].indexOf(control))""")
        self.assertGreater(len(controls), 10)
        self.assertEqual(set(controls) - set(reached), set())
        # The focus also reaches one pod of each run; the arrow keys move it from there.
        self.assertEqual(self.browser.run(
            "return [...document.querySelectorAll('button.pod')].filter((pod) => pod.tabIndex === 0).length"), 2)

    def test_arrow_keys_reach_every_pod_and_enter_shows_details(self):
        run = self.data["runs"][0]
        time = self.go_to(run["changes"][-1][0] / 2)
        pods = {key: pod for key, pod in state_at(run, time)["pods"].items() if "node" in pod}
        self.browser.run("document.querySelector('button.pod').focus()")
        self.browser.press("Home")
        reached = {self.focused("dataset.pod")}
        for _ in range(len(pods) - 1):
            self.browser.press("ArrowDown")
            reached.add(self.focused("dataset.pod"))
        self.assertEqual(reached, pods.keys())
        self.browser.press("Home", "ArrowRight")
        second = self.focused("closest('.node').querySelector('h4').textContent")
        self.assertNotEqual(second, self.browser.run("return document.querySelector('.node h4').textContent"))
        key = self.focused("dataset.pod")
        self.browser.press("Enter")
        details = self.browser.run("return document.getElementById('details').innerText")
        self.assertTrue(self.browser.run("return document.getElementById('details').open"))
        self.assertIn(f"placed on {second}", details)
        self.assertIn(pods[key]["profile"], details)
        for other in self.data["runs"]:
            self.assertIn(f"With {other['name']}", details)
        self.browser.press("Escape")
        self.assertFalse(self.browser.run("return document.getElementById('details').open"))
        self.assertEqual(self.focused("dataset.pod"), key)
        self.browser.press("Enter")
        self.assertEqual(self.focused("textContent"), "Close")
        self.browser.press("Enter")
        self.assertFalse(self.browser.run("return document.getElementById('details').open"))

    def test_labels_for_screen_readers_match_what_is_visible(self):
        run = self.data["runs"][0]
        time = self.go_to(run["changes"][-1][0] / 2)
        pods = {key: pod for key, pod in state_at(run, time)["pods"].items() if "node" in pod}
        for element in self.browser.call("POST", "/elements",
                                         {"using": "css selector", "value": ".run:first-child button.pod"}):
            path = "/element/" + next(iter(element.values()))
            key = self.browser.call("GET", path + "/attribute/data-pod")
            label = self.browser.call("GET", path + "/computedlabel")
            pod = pods[key]
            more = any(pod["demand"][member] > pod["fairShare"][member] for member in ("cpu", "memory"))
            self.assertRegex(label, rf"^{key} ?{pod['gpus']} GPUs? ?, {'sensitive' if more else 'insensitive'}; CPU ")
        slider = "/element/" + next(
            iter(self.browser.call("POST", "/element", {"using": "css selector", "value": "#at"}).values()))
        self.assertEqual(self.browser.call("GET", slider + "/computedlabel"), "Time")
        self.assertEqual(self.browser.call("GET", slider + "/attribute/aria-valuetext"),
                         self.browser.run("return document.getElementById('clock').textContent"))

    def test_find_highlights_matching_pods(self):
        run = self.data["runs"][0]
        time = self.go_to(run["changes"][-1][0] / 2)
        pod = next(pod for pod in state_at(run, time)["pods"].values() if "node" in pod)
        self.browser.run("document.getElementById('find').focus()")
        self.browser.press(*pod["name"])
        nodes = self.browser.run(
            "return [...document.querySelectorAll('.run:first-child .node h4')].map((node) => node.textContent)")
        self.assertIn(pod["node"], nodes)
        self.assertLess(len(nodes), 4)
        self.assertRegex(self.browser.run("return document.getElementById('found').textContent"),
                         rf"^{len(nodes)} nodes?, \d+ waiting$")

    def test_light_and_dark_can_both_be_read(self):
        with contextlib.closing(Browser(dark=True)) as dark:
            light = self.browser
            backgrounds = []
            for browser in (light, dark):
                browser.open(self.file.as_uri())
                browser.run("const at = document.getElementById('at'); at.value = at.max / 2; "
                            "at.dispatchEvent(new Event('input'))")
                browser.settle()
                background, contrasts = browser.run(CONTRAST, READ)
                backgrounds.append(background)
                for selector, contrast in contrasts:
                    self.assertGreater(contrast, 4.5, selector)  # required by WCAG 2.2, level AA
            self.assertEqual(dark.log(), [])
        self.assertGreater(backgrounds[0], 0.8)
        self.assertLess(backgrounds[1], 0.05)

    def test_text_of_a_trace_is_never_run(self):
        profiles = json.loads((DATA / "profiles.json").read_text(encoding="utf-8"))
        models = {"alexnet": HOSTILE[0], "gnmt": HOSTILE[1]}
        for per_ratio in profiles.values():
            for model, name in models.items():
                if model in per_ratio:
                    per_ratio[name] = per_ratio[model]
        (self.folder / "profiles.json").write_text(json.dumps(profiles), encoding="utf-8")
        with open(DATA / "dynamic_100job.csv", encoding="utf-8") as file:
            jobs = list(csv.DictReader(file))
        with open(self.folder / "<b>trace.csv", "w", encoding="utf-8") as file:
            trace = csv.DictWriter(file, jobs[0].keys())
            trace.writeheader()
            trace.writerows({**job, "model": models.get(job["model"], job["model"])} for job in jobs)
        file = self.folder / "hostile.html"
        data = page(file, "--trace", self.folder / "<b>trace.csv", "--servers", "4", "--mechanism", "tune",
                    profiles=self.folder / "profiles.json")
        self.open(file)
        pods = state_at(data["runs"][0], self.go_to(data["runs"][0]["changes"][-1][0] / 10))["pods"]
        for name in HOSTILE:
            key = next(key for key, pod in pods.items() if pod["profile"] == name)
            self.browser.run("document.querySelector(`[data-pod='${arguments[0]}']`).click()", key)
            self.assertIn(name, self.browser.run("return document.getElementById('details').innerText"))
            self.browser.run("document.getElementById('details').close()")
        self.assertIsNone(self.browser.run("return window.hurt"))
        self.assertEqual(self.browser.run("return document.querySelectorAll('img, script:not([type])').length"), 0)

    def test_untrusted_html_is_refused(self):
        with self.assertRaisesRegex(RuntimeError, "TrustedHTML"):
            self.browser.run("document.body.innerHTML = '<img src=x onerror=window.hurt=1>'")
        self.browser.run("document.body.append(Object.assign(document.createElement('div'), {}))")
        self.assertIn("TrustedHTML", " ".join(self.browser.log()))

    def test_the_page_loads_no_other_resource(self):
        self.assertEqual(self.browser.run("return performance.getEntriesByType('resource').map((entry) => entry.name)"),
                         [])
        self.assertNotRegex(self.file.read_text(encoding="utf-8").replace(json.dumps(self.data), ""), r"(?:src|href)=")

    def test_five_thousand_nodes_fold(self):
        file = self.folder / "large.html"
        data = page(file, "--generate", "rate=4000/h,jobs=400,gpus=philly", "--servers", "5000",
                    "--mechanism", "proportional,tune")
        self.assertEqual(len(data["runs"][0]["state"]["nodes"]), 5000)
        self.open(file)
        drawn = self.browser.run("""const canvas = document.querySelector(".heat canvas");
            const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
            return [canvas.getAttribute("aria-label"),
                    new Set(new Uint32Array(data.buffer)).size, canvas.clientHeight]""")
        self.assertRegex(drawn[0], r"^5000 nodes, \d+ without a free GPU; ")
        self.assertGreater(drawn[1], 2)  # colours
        self.assertLess(drawn[2], 400)
        groups = self.browser.run("return document.querySelectorAll('.run:first-child .map > details').length")
        self.assertEqual(groups, 79)  # groups of 64 nodes
        drawn = self.browser.run("return document.querySelectorAll('.run:first-child .node').length")
        self.assertEqual(drawn, 64)
        self.browser.run("document.querySelectorAll('.run:first-child .map > details > summary')[78].focus()")
        self.browser.press("Enter")
        self.assertEqual(self.browser.run("return document.querySelectorAll('.run:first-child .node').length"),
                         64 + 5000 % 64)
        last = "return [...document.querySelectorAll('.run:first-child .node h4')].pop().textContent"
        self.assertEqual(self.browser.run(last), "node-5000")
        # The map of all nodes leads to one of another group.
        self.browser.run("document.querySelector('.heat canvas').focus()")
        self.browser.press(*["ArrowDown"] * 2)
        self.assertRegex(self.browser.run("return document.querySelector('.heat-text').textContent"),
                         r"^node-0\d+: \d+ of 8 GPUs, ")
        name = self.browser.run("return document.querySelector('.heat-text').textContent").partition(":")[0]
        self.browser.press("Enter")
        self.browser.settle()
        self.assertIn(name, self.browser.run(
            "return [...document.querySelectorAll('.run:first-child .node h4')].map((node) => node.textContent)"))
        times = self.browser.run("""const at = document.getElementById("at");
            return [0.5, 0.51, 0.52, 0.53, 0.2, 0.9, 0.54].map((part) => {
              const begin = performance.now();
              at.value = at.max * part;
              at.dispatchEvent(new Event("input"));
              document.body.offsetHeight;
              return performance.now() - begin;
            })""")
        print("repaint of 2 x 5000 nodes, ms:", *(f"{time:.0f}" for time in times))


if __name__ == "__main__":
    unittest.main()
