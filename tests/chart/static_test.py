"""Tests the static command line (scripts/static.sh) in a folder with nothing else: it needs no
library, and finds hosts and certificate authorities as any distribution configures them.

SYNERGY_STATIC_ARCHITECTURE names the architecture; if it is not this machine's, it is emulated. The
test runs in its own network namespace, and is the name server and the API server there.
"""

import contextlib
import http.server
import json
import os
import pathlib
import shutil
import socketserver
import ssl
import struct
import subprocess
import sys
import tempfile
import threading
import unittest

import helm

MOST_BYTES = 15_000_000
DYNAMIC = pathlib.Path(os.environ["SYNERGY_BIN"]) / "synergy"
MACHINES = {"amd64": "x86_64", "arm64": "aarch64"}
ARCHITECTURE = os.environ["SYNERGY_STATIC_ARCHITECTURE"]
EMULATOR = ([] if MACHINES[ARCHITECTURE] == os.uname().machine else
            [shutil.which(f"qemu-{MACHINES[ARCHITECTURE]}-static")])
LOG = "".join(f"epoch 1: {n}%|# | {n}/100 [00:{n}<01:{n}, 1.00it/s]\n" for n in (10, 20, 30))
# Files with certificate authorities, one for each distribution.
BUNDLES = ("etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", "etc/pki/tls/certs/ca-bundle.crt",
           "etc/ssl/ca-bundle.pem", "etc/ssl/cert.pem", "etc/ssl/certs/ca-certificates.crt")


def program_headers(content):
    """Yields the types of an ELF file's program headers."""
    offset, = struct.unpack_from("<Q", content, 32)
    size, count = struct.unpack_from("<HH", content, 54)
    for i in range(count):
        yield struct.unpack_from("<I", content, offset + i * size)[0]


class ApiServer(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = json.dumps({"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": 403,
                           "message": "refused by the stand-in"}).encode()
        self.send_response(403)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class NameServer(socketserver.BaseRequestHandler):
    """Answers each query for api.by-dns.test with 127.0.0.1, and queries for other names with an
    error."""

    def handle(self):
        query, sender = self.request
        name, at = [], 12
        while query[at]:
            name.append(query[at + 1:at + 1 + query[at]].decode())
            at += 1 + query[at]
        question = query[12:at + 5]
        kind, = struct.unpack_from(">H", query, at + 1)
        known = ".".join(name) == "api.by-dns.test"
        answer = b"\xc0\x0c" + struct.pack(">HHIH", 1, 1, 60, 4) + bytes((127, 0, 0, 1)) if known and kind == 1 else b""
        flags = 0x8180 if known else 0x8183
        sender.sendto(query[:2] + struct.pack(">HHHHH", flags, 1, int(bool(answer)), 0, 0) + question + answer,
                      self.client_address)


@contextlib.contextmanager
def serving(server):
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class StaticTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.program = helm.ROOT / f"build/static-{ARCHITECTURE}/bin/synergy"
        cls.enterClassContext(serving(socketserver.UDPServer(("127.0.0.1", 53), NameServer)))
        names = "DNS:api.by-file.test,DNS:api.by-dns.test"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
                        "-subj", "/CN=stand-in", "-addext", f"subjectAltName={names}",
                        "-keyout", cls.folder / "key", "-out", cls.folder / "ca"],
                       check=True, capture_output=True)
        api = http.server.ThreadingHTTPServer(("127.0.0.1", 0), ApiServer)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(cls.folder / "ca", cls.folder / "key")
        api.socket = context.wrap_socket(api.socket, server_side=True)
        cls.port = api.server_address[1]
        cls.enterClassContext(serving(api))

    def setUp(self):
        self.root = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        shutil.copy(self.program, self.root / "synergy")
        for emulator in EMULATOR:
            shutil.copy(emulator, self.root / "emulator")

    def write(self, path, text):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def run_alone(self, *arguments, stdin="", **environment):
        emulator = ["/emulator"] if EMULATOR else []
        return subprocess.run([shutil.which("chroot"), self.root, *emulator, "/synergy", *arguments],
                              input=stdin, capture_output=True, text=True, check=False, env=environment, timeout=120)

    def ask(self, host, environment=(), **authority):
        """Runs a command that reads from the API server of that name; returns its error message."""
        self.write("kubeconfig", json.dumps({
            "current-context": "c", "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
            "clusters": [{"name": "c", "cluster": {"server": f"https://{host}:{self.port}", **authority}}],
            "users": [{"name": "u", "user": {"token": "t"}}]}))
        done = self.run_alone("top", "nodes", "--kubeconfig", "/kubeconfig", **dict(environment))
        self.assertEqual(done.returncode, 1, done.stderr)
        return done.stderr

    def test_needs_no_interpreter_and_is_small(self):
        content = self.program.read_bytes()
        self.assertNotIn(3, set(program_headers(content)), "PT_INTERP: it needs a dynamic linker")
        self.assertIn(3, set(program_headers(DYNAMIC.read_bytes())), "the check sees one where it is")
        self.assertLess(len(content), MOST_BYTES)

    def test_is_the_same_program(self):
        for arguments in (("progress", "-", "--output", "json"), ("failure", "-", "--output", "json")):
            expected = subprocess.run([DYNAMIC, *arguments], input=LOG, capture_output=True, text=True,
                                      check=True, env={})
            self.assertEqual(self.run_alone(*arguments, stdin=LOG).stdout, expected.stdout)

    def test_finds_names_in_hosts_and_by_dns(self):
        self.write("etc/hosts", "127.0.0.1 api.by-file.test\n")
        self.write("etc/resolv.conf", "nameserver 127.0.0.1\n")
        self.write("ca", (self.folder / "ca").read_text(encoding="utf-8"))
        # Services of this machine's libc that many distributions list first.
        for services in (None, "hosts: mymachines resolve [!UNAVAIL=return] dns\n", "hosts: sss\n"):
            if services:
                self.write("etc/nsswitch.conf", services)
            for host in ("api.by-file.test", "api.by-dns.test"):
                with self.subTest(host, services=services):
                    self.assertIn("refused by the stand-in", self.ask(host, **{"certificate-authority": "/ca"}))
        self.assertNotIn("refused by the stand-in", self.ask("api.unknown.test", **{"certificate-authority": "/ca"}))

    def test_finds_the_authorities_of_other_distributions(self):
        self.write("etc/hosts", "127.0.0.1 api.by-file.test\n")
        self.assertNotIn("refused by the stand-in", self.ask("api.by-file.test"))
        for bundle in BUNDLES:
            with self.subTest(bundle):
                self.write(bundle, (self.folder / "ca").read_text(encoding="utf-8"))
                self.assertIn("refused by the stand-in", self.ask("api.by-file.test"))
                for variable in ("SSL_CERT_FILE", "SSL_CERT_DIR"):
                    self.assertNotIn("refused by the stand-in",
                                     self.ask("api.by-file.test", {variable: "/nowhere"}), "only these are trusted")
                shutil.rmtree(self.root / "etc/pki", ignore_errors=True)
                shutil.rmtree(self.root / "etc/ssl", ignore_errors=True)


if __name__ == "__main__":
    if "SYNERGY_OWN_NETWORK" in os.environ:
        subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
        unittest.main()
    subprocess.run([helm.ROOT / "scripts/static.sh", "--arch", ARCHITECTURE], check=True)
    os.environ["SYNERGY_OWN_NETWORK"] = "yes"
    os.execvp("unshare", ["unshare", "--net", sys.executable, *sys.argv])
