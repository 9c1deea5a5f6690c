"""An in-memory registry of images and charts, over HTTP. It implements the part of the OCI
distribution specification with which buildah and Helm push and pull. It refuses an upload whose
digest differs from the stated one."""

import hashlib
import http.server
import json
import re
import threading
import urllib.parse
import uuid

PATH = re.compile(r"/v2/(?P<name>[^?]+)/(?P<what>blobs/uploads|blobs|manifests)/(?P<key>[^/?]*)$")


def digest_of(content):
    return "sha256:" + hashlib.sha256(content).hexdigest()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, format, *arguments):  # pylint: disable=redefined-builtin
        pass

    def body(self):
        if self.headers.get("Transfer-Encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length", 0)))
        content = b""
        while size := int(self.rfile.readline().split(b";")[0], 16):
            content += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return content

    def answer(self, status, headers=(), content=b""):
        self.send_response(status)
        for name, value in dict(headers).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def handle_request(self):
        url = urllib.parse.urlsplit(self.path)
        query = dict(urllib.parse.parse_qsl(url.query))
        content = self.body()
        found = PATH.match(url.path)
        if url.path == "/v2/":
            self.answer(200)
        elif not found:
            self.answer(404)
        elif found["what"] == "blobs/uploads":
            self.upload(found["name"], found["key"], query, content)
        elif self.command == "PUT":
            self.server.registry.manifests.update({
                (found["name"], key): (self.headers["Content-Type"], content)
                for key in (found["key"], digest_of(content))})
            self.answer(201, {"Location": url.path, "Docker-Content-Digest": digest_of(content)})
        else:
            self.give(found)

    do_GET = do_HEAD = do_POST = do_PATCH = do_PUT = handle_request

    def upload(self, name, key, query, content):
        uploads = self.server.registry.uploads
        key = key or str(uuid.uuid4())
        uploads[key] = uploads.get(key, b"") + content
        if self.command != "PUT":
            self.answer(202, {"Location": f"/v2/{name}/blobs/uploads/{key}", "Range": f"0-{len(uploads[key]) - 1}"})
        elif digest_of(uploads[key]) != query["digest"]:
            self.answer(400)
        else:
            self.server.registry.blobs[query["digest"]] = uploads.pop(key)
            self.answer(201,
                        {"Location": f"/v2/{name}/blobs/{query['digest']}", "Docker-Content-Digest": query["digest"]})

    def give(self, found):
        registry, media_type = self.server.registry, "application/octet-stream"
        content = registry.blobs.get(found["key"])
        if found["what"] == "manifests":
            media_type, content = registry.manifests.get((found["name"], found["key"]), (media_type, None))
        if content is None:
            self.answer(404)
        else:
            self.answer(200, {"Content-Type": media_type, "Docker-Content-Digest": digest_of(content)}, content)


class Registry:
    """Serves inside a `with` block. Names of images and charts in it begin with `host`."""

    def __init__(self):
        self.blobs, self.manifests, self.uploads = {}, {}, {}
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.registry = self
        self.host = f"127.0.0.1:{self.server.server_port}"

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()

    def manifest(self, name, reference):
        return json.loads(self.manifests[name, reference][1])
