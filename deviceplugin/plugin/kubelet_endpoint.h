#pragma once

// Offers one resource to the kubelet: it serves the plugin's socket and registers it. It repeats
// this after restarts of the kubelet, and after a loss of the socket or the stream.
//
//   our socket is gone, or the kubelet knows its name and has no stream -> serve under a new name
//   kubelet.sock exists, and we have not registered since we began to serve -> register
//   the kubelet has not answered in time, but opens its stream -> registered
//
// Each name is registered only once: since 1.37, kubelets identify plugins by their socket's path,
// and may refuse a known path until they restart ("already connected"). The kubelet considers the
// devices unhealthy while no stream is open, so the plugin never risks a live stream: it registers
// again only if there is none. The old server ends before that, because older kubelets close a
// newer stream when an earlier one ends. If that still happens, the end of the newer stream
// triggers another registration.
//
// A guard admits each registration, because another component may offer the resource.
//
// Threading: it has its own thread; any thread may call the methods. Failures: logged if the
// message changes, and retried after 0.1 to 0.5 s.

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include <grpcpp/grpcpp.h>

#include "core/clock.h"
#include "core/log.h"
#include "core/result.h"
#include "deviceplugin/plugin/plugin_service.h"
#include "deviceplugin/plugin/sockets.h"
#include "deviceplugin/sources/folder_watch.h"
#include "metrics/device_metrics.h"

namespace synergy::deviceplugin {

// Admits registrations (advertiser_guard.h). The endpoint's thread calls it.
struct RegistrationGate {
  // `socket`: the name of the socket that the endpoint serves.
  std::function<Result<>(const std::string& resource, const std::string& socket)> may_register;
  std::function<void(const std::string& resource)> on_registered;
};

class KubeletEndpoint {
 public:
  // `folder` is the kubelet's device plugin folder. References must outlive the endpoint.
  KubeletEndpoint(std::string folder, std::string resource, std::shared_ptr<const Offer> offer,
                  RegistrationGate gate, const Clock& clock, Logger& log,
                  metrics::DeviceMetrics& metrics);
  ~KubeletEndpoint();

  void Publish(std::shared_ptr<const Offer> offer);
  // Returns whether the kubelet has an open stream for the resource.
  bool registered() const;

 private:
  void Run(const std::stop_token& stop);
  // Checks everything once and does what is due. An Error states what prevents the registration.
  Result<> Settle(const std::stop_token& stop);
  Result<> Serve();
  void StopServing();
  Result<> Register(const std::stop_token& stop);
  bool IsRegistered() const;
  // Records, once per name, that the kubelet has accepted the registration.
  void Accept();

  const std::string folder_;
  const std::string resource_;
  const RegistrationGate gate_;
  const Clock& clock_;
  Logger& log_;
  metrics::DeviceMetrics& metrics_;
  FolderWatch watch_;

  mutable std::mutex mutex_;
  std::shared_ptr<const Offer> offer_;
  std::unique_ptr<PluginService> service_;  // changed only by the thread

  // Only the thread uses these.
  std::unique_ptr<grpc::Server> server_;
  std::string socket_;  // its name in the folder
  bool known_ = false;  // the kubelet may know this name
  std::optional<FileIdentity> served_;
  std::optional<Instant> asked_at_;  // unless the kubelet has refused
  bool accepted_ = false;            // the kubelet has answered, or opened its stream
  std::jthread thread_;
};

}  // namespace synergy::deviceplugin
