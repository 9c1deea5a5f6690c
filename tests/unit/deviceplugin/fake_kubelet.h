#pragma once

// The kubelet's side of the device plugin API, on real sockets in a folder. Like the real one it
// accepts registrations, connects to the plugin during each, keeps a ListAndWatch stream for each,
// and empties the folder when it starts. It accepts each socket name only once.
//
// Threading: every method from any thread. Await... methods return false after two minutes.

#include <condition_variable>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <grpcpp/grpcpp.h>

#include "deviceplugin/plugin/kubelet_endpoint.h"
#include "deviceplugin/protocol/device_plugin.grpc.pb.h"
#include "inventory/kubelet_device.h"

namespace synergy::testing {

// Returns a gate that lets an endpoint register without conditions.
inline deviceplugin::RegistrationGate OpenGate() {
  return {[](const std::string& /*resource*/, const std::string& /*socket*/) { return Result<>(); },
          [](const std::string& /*resource*/) {}};
}

class FakeKubelet {
 public:
  // Device id -> "Healthy" or "Unhealthy".
  using DeviceHealth = std::map<std::string, std::string>;

  explicit FakeKubelet(std::string folder, bool started = true);
  ~FakeKubelet();
  FakeKubelet(const FakeKubelet&) = delete;
  FakeKubelet& operator=(const FakeKubelet&) = delete;

  // Removes every socket in the folder, and starts.
  void Start();
  // Ends streams and connections. A killed kubelet leaves its socket behind.
  void Stop(bool killed = false);
  // Ends the streams, but keeps running.
  void BreakStreams();
  // Refuses registrations from now on, or accepts them again.
  void Refuse(bool refuse);
  // Answers the next registration too late for the plugin.
  void AnswerLate();
  // Opens no streams from now on, or opens those of all registered plugins again.
  void HoldStreams(bool hold);

  size_t registrations() const;
  // Returns the number of lists received over all streams.
  size_t lists() const;
  // Returns the devices of the last list of `resource`.
  DeviceHealth devices(const std::string& resource = "nvidia.com/gpu") const;
  std::map<std::string, int64_t> numa_nodes() const;
  // Returns the healthy devices of plugins whose streams are open.
  std::vector<KubeletDevice> Allocatable() const;

  bool AwaitRegistrations(size_t count) const;
  bool AwaitRefusals(size_t count) const;
  bool AwaitLists(size_t count) const;
  bool AwaitDevices(const DeviceHealth& devices,
                    const std::string& resource = "nvidia.com/gpu") const;

  // Makes the call over the connection of the last registration.
  grpc::Status Allocate(const std::vector<std::string>& ids, v1beta1::AllocateResponse* response,
                        const std::string& resource = "nvidia.com/gpu");
  grpc::Status Prefer(const std::vector<std::string>& available, int size,
                      std::vector<std::string>* chosen);

 private:
  class RegistrationService;
  struct Plugin {
    std::string resource;
    std::unique_ptr<v1beta1::DevicePlugin::Stub> stub;
    std::unique_ptr<grpc::ClientContext> context;
    std::thread listening;
    bool is_live = true;
  };

  grpc::Status Register(const v1beta1::RegisterRequest& request);
  void Listen(Plugin& plugin);
  v1beta1::DevicePlugin::Stub* StubOf(const std::string& resource);
  bool Await(const std::function<bool()>& reached) const;

  const std::string folder_;
  std::unique_ptr<RegistrationService> service_;
  std::unique_ptr<grpc::Server> server_;

  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  bool refusing_ = false;
  bool late_ = false;
  bool holding_ = false;
  std::set<std::string> endpoints_;  // names of sockets that have registered since the start
  size_t refusals_ = 0;
  size_t registrations_ = 0;
  size_t lists_ = 0;
  std::map<std::string, DeviceHealth> devices_;
  std::map<std::string, int64_t> numa_nodes_;
  std::list<Plugin> plugins_;  // in order of registration
};

}  // namespace synergy::testing
