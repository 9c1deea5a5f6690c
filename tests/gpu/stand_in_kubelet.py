"""The kubelet's side of the device plugin and pod resources APIs, on sockets in a folder.

It needs grpcio and protobuf, and `kubelet.desc`: protoc's descriptors of both APIs.
"""

import os
import threading
import time
from concurrent import futures

import grpc
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

DEVICE_PLUGIN = "v1beta1."


class Kubelet:
    def __init__(self, folder, descriptors):
        pool = descriptor_pool.DescriptorPool()
        with open(descriptors, "rb") as file:
            for proto in descriptor_pb2.FileDescriptorSet.FromString(file.read()).file:
                pool.AddSerializedFile(proto.SerializeToString())
        self.message = lambda name: message_factory.GetMessageClass(pool.FindMessageTypeByName(name))
        self.plugins, self.pod_resources = f"{folder}/device-plugins", f"{folder}/pod-resources"
        os.makedirs(self.plugins)
        os.makedirs(self.pod_resources)
        self.lists = []  # (time, {id: health})
        self.owned = []  # (pod, ids)
        self.resource = self.channel = None
        self.servers = [
            self._serve(f"{self.plugins}/kubelet.sock", "v1beta1.Registration",
                        {"Register": (self._register, "v1beta1.RegisterRequest")}),
            self._serve(f"{self.pod_resources}/kubelet.sock", "v1.PodResourcesLister",
                        {"List": (self._list, "v1.ListPodResourcesRequest"),
                         "GetAllocatableResources": (self._allocatable, "v1.AllocatableResourcesRequest")})]

    def _serve(self, socket, service, methods):
        server = grpc.server(futures.ThreadPoolExecutor(8))
        handlers = {name: grpc.unary_unary_rpc_method_handler(
            answer, request_deserializer=self.message(request).FromString,
            response_serializer=lambda message: message.SerializeToString())
            for name, (answer, request) in methods.items()}
        server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(service, handlers),))
        server.add_insecure_port("unix:" + socket)
        server.start()
        return server

    def _register(self, request, _context):
        self.resource = request.resource_name
        self.channel = grpc.insecure_channel(f"unix:{self.plugins}/{request.endpoint}")
        threading.Thread(target=self._watch, args=(self.channel,), daemon=True).start()
        return self.message("v1beta1.Empty")()

    def _watch(self, channel):
        call = channel.unary_stream("/v1beta1.DevicePlugin/ListAndWatch",
                                    request_serializer=lambda message: message.SerializeToString(),
                                    response_deserializer=self.message("v1beta1.ListAndWatchResponse").FromString)
        try:
            for answer in call(self.message("v1beta1.Empty")()):
                self.lists.append((time.time(), {device.ID: device.health for device in answer.devices}))
        except grpc.RpcError:
            self.lists.append((time.time(), {}))

    def allocate(self, ids):
        request = self.message("v1beta1.AllocateRequest")()
        request.container_requests.add().devices_ids.extend(ids)
        call = self.channel.unary_unary("/v1beta1.DevicePlugin/Allocate",
                                        request_serializer=lambda message: message.SerializeToString(),
                                        response_deserializer=self.message("v1beta1.AllocateResponse").FromString)
        return call(request, timeout=10).container_responses[0]

    def _list(self, _request, _context):
        answer = self.message("v1.ListPodResourcesResponse")()
        for pod, ids in self.owned:
            entry = answer.pod_resources.add(name=pod, namespace="ml").containers.add(name="train")
            entry.devices.add(resource_name=self.resource).device_ids.extend(ids)
        return answer

    def _allocatable(self, _request, _context):
        answer = self.message("v1.AllocatableResourcesResponse")()
        if self.lists:
            healthy = [device for device, health in self.lists[-1][1].items() if health == "Healthy"]
            answer.devices.add(resource_name=self.resource).device_ids.extend(healthy)
        return answer
