"""Answers DNS queries in the test cluster, as far as the pods of a job need that to find each
other. Reads the addresses of Services and of their pods from the EndpointSlices for each query."""

import contextlib
import socket
import struct
import threading

PORT = 53
ADDRESS, INTERNET = 1, 1  # a query's type and class


def name_in(question):
    """Returns the name in a query, and the bytes after the name."""
    labels, at = [], 0
    while question[at]:
        labels.append(question[at + 1:at + 1 + question[at]].decode())
        at += 1 + question[at]
    return labels, question[at + 1:]


class Names:
    def __init__(self, cluster, address):
        self.cluster = cluster
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind((address, PORT))
        self.thread = threading.Thread(target=self.serve)
        self.thread.start()

    def find(self, labels):
        """Returns the addresses of [HOST.]SERVICE.NAMESPACE.svc[.cluster.local]."""
        *host, service, namespace, _ = labels[:labels.index("svc") + 1]
        slices = self.cluster.get("endpointslices", namespace=namespace,
                                  labelSelector=f"kubernetes.io/service-name={service}")["items"]
        return [address for each in slices for endpoint in each["endpoints"] or []
                if not host or endpoint.get("hostname") == host[0] for address in endpoint["addresses"]]

    def answer(self, query):
        labels, rest = name_in(query[12:])
        kind = struct.unpack("!HH", rest[:4])
        found = self.find(labels) if "svc" in labels[2:] else []
        records = [struct.pack("!HHHIH", 0xC00C, ADDRESS, INTERNET, 0, 4) + socket.inet_aton(address)
                   for address in found] if kind == (ADDRESS, INTERNET) else []
        # A name that exists gets no error, even if it has no records of the requested type.
        flags = 0x8400 if found else 0x8403
        header = query[:2] + struct.pack("!HHHHH", flags, 1, len(records), 0, 0)
        return header + query[12:len(query) - len(rest) + 4] + b"".join(records)

    def serve(self):
        while True:
            query, asker = self.socket.recvfrom(512)
            if not query:  # see end()
                self.cluster.api.leave()
                return
            # The pod sends the query again.
            with contextlib.suppress(AssertionError, ValueError, IndexError, struct.error):
                self.socket.sendto(self.answer(query), asker)

    def end(self):
        self.socket.sendto(b"", self.socket.getsockname())
        self.thread.join()
        self.socket.close()
