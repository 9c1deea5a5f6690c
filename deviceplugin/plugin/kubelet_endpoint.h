#pragma once

// One resource towards the kubelet: serves the plugin's socket and registers it, again and again,
// whatever happens to the kubelet, the sockets and the stream.
//
//   our socket is gone, or the kubelet knows its name and has no stream -> serve under a new name
//   kubelet.sock is there, and not registered since we serve -> register
//
// A name is registered once: kubelets from 1.37 on keep plugins by the path of their socket, and
// may refuse a path that they had before until they are restarted ("already connected"). The
// kubelet takes the devices for unhealthy while no stream is open, so a live stream is never put at
// risk: it is registered again only when there is none. Before it registers, the old server has
// ended: older kubelets close a newer stream with the end of an earlier one. Where that still
// happens, the newer one's end makes us register once more.
//
// Threading: a thread of its own; the methods from any thread.
// Failures: logged when the message changes, and tried again after 0.1 to 0.5 s.

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
#include "deviceplugin/sources/folder_watch.h"
#include "metrics/device_metrics.h"

namespace synergy::deviceplugin {

class KubeletEndpoint {
 public:
  // `folder` is the kubelet's device plugin folder. References outlive the endpoint.
  KubeletEndpoint(std::string folder, std::string resource, std::shared_ptr<const Offer> offer,
                  const Clock& clock, Logger& log, metrics::DeviceMetrics& metrics);
  ~KubeletEndpoint();

  void Publish(std::shared_ptr<const Offer> offer);
  // Registered, and the kubelet listens.
  bool registered() const;

 private:
  // Which file a path names: another one after it was made anew.
  struct FileIdentity {
    uint64_t device = 0;
    uint64_t inode = 0;
    int64_t modified = 0;  // an inode's number may be given to the next file

    bool operator==(const FileIdentity&) const = default;
  };

  static std::optional<FileIdentity> Identify(const std::string& path);
  void Run(const std::stop_token& stop);
  // One look at everything, and what it calls for. An Error is what keeps us from being registered.
  Result<> Settle(const std::stop_token& stop);
  Result<> Serve();
  void StopServing();
  Result<> Register(const std::stop_token& stop);
  bool IsRegistered() const;

  const std::string folder_;
  const std::string resource_;
  const Clock& clock_;
  Logger& log_;
  metrics::DeviceMetrics& metrics_;
  FolderWatch watch_;

  mutable std::mutex mutex_;
  std::shared_ptr<const Offer> offer_;
  std::unique_ptr<PluginService> service_;  // changed by the thread only

  // The thread's own.
  std::unique_ptr<grpc::Server> server_;
  std::string socket_;  // its name in the folder
  bool known_ = false;  // the kubelet may know this name
  std::optional<FileIdentity> served_;
  std::optional<Instant> registered_at_;
  std::jthread thread_;
};

}  // namespace synergy::deviceplugin
