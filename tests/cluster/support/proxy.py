"""A proxy for kubeconfig files (`proxy-url`), which can make a connection late."""

import contextlib
import queue
import socket
import socketserver
import threading
import time


class Proxy:
    """Connects to any server and records which. Passes on what servers answer only after `late`
    seconds."""

    def __init__(self, late=0):
        self.asked = []
        proxy = self

        class Handler(socketserver.StreamRequestHandler):
            def handle(self):
                request = self.rfile.readline().decode().split()
                while self.rfile.readline().strip():
                    pass
                proxy.asked.append(request[:2])
                host, port = request[1].rsplit(":", 1)
                with socket.create_connection((host, int(port))) as server:
                    self.wfile.write(b"HTTP/1.1 200 Connected\r\n\r\n")
                    onward = threading.Thread(target=pass_on, args=(server, self.connection, late))
                    onward.start()
                    pass_on(self.connection, server)
                    onward.join()

        self.server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever).start()
        self.url = f"http://me:pa55word@127.0.0.1:{self.server.server_address[1]}"

    def close(self):
        self.server.shutdown()
        self.server.server_close()


def pass_on(source, target, late=0):
    """Passes bytes on until `source` ends."""
    arrived = queue.Queue()

    def send():
        with contextlib.suppress(OSError):
            while (entry := arrived.get())[1]:
                time.sleep(max(0, entry[0] + late - time.monotonic()))
                target.sendall(entry[1])
            target.shutdown(socket.SHUT_WR)
    sender = threading.Thread(target=send)
    sender.start()
    data = b"?"
    while data:
        try:
            data = source.recv(65536)
        except OSError:
            data = b""
        arrived.put((time.monotonic(), data))
    sender.join()
