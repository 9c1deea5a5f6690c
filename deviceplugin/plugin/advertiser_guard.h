#pragma once

// Prevents the plugin from offering GPUs that another component of the node offers: it looks for
// signs of one (inventory/other_advertiser.h) before each registration and every ten seconds. After
// a sign, the plugin offers nothing until its pod is replaced, even if the other component
// disappears. Two plugins that offer the GPUs alternately would cost pods their GPUs.
//
//   before the first registration since boot   looks for three seconds, because device plugins of a
//                                                node start at the same time
//   before each further one                    the kubelet must have dropped our devices: if it has
//                                                some while we serve none, another plugin
//                                                registered
//   while registered                           devices that are not ours, sockets, ResourceSlices
//
// A file records which resources were registered with which start of the kubelet. So a new
// container of the plugin can distinguish its predecessor's devices from another plugin's.
//
// Threading: one thread calls Step; any thread may call the rest. Failures: an unreadable source
// counts as no sign. A record that cannot be written is logged once.

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "core/clock.h"
#include "core/log.h"
#include "core/result.h"
#include "inventory/advertisement.h"
#include "inventory/other_advertiser.h"
#include "wire/agents/registration_record.h"

namespace synergy::deviceplugin {

struct AdvertiserGuardOptions {
  std::string plugin_folder;
  std::string record_file;  // empty: nothing is recorded
  // Identifies this plugin's pod. If empty, a stop of the plugin lasts only as long as the process.
  std::string instance;
};

struct AdvertiserSources {
  std::function<Result<std::vector<KubeletDevice>>()> offered;
  std::function<Result<std::vector<DeviceOwner>>()> given;
  // Returns the names of the DRA drivers that have ResourceSlices for the node; an empty function
  // means that there is no API server.
  std::function<Result<std::vector<std::string>>(std::stop_token)> slice_drivers;
};

class AdvertiserGuard {
 public:
  // `clock` and `log` must outlive this object.
  AdvertiserGuard(AdvertiserGuardOptions options, AdvertiserSources sources, const Clock& clock,
                  Logger& log);

  // Adds to this plugin's own devices those that it will offer to the kubelet.
  void AddOwn(const std::map<std::string, std::vector<GpuDevice>, std::less<>>& resources);

  // Checks whether the resource may be registered. REQUIRES: it has no stream. `own_socket`: the
  // name of this plugin's socket for it. Returns kUnavailable if it may not be registered yet, and
  // kDenied if the plugin has stopped.
  Result<> MayRegister(const std::string& resource, const std::string& own_socket);
  // Records the registration with the present kubelet.
  void OnRegistered(const std::string& resource);

  // Looks for signs if a look is due. Call it about once a second.
  void Step(const std::stop_token& stop);

  // Returns why the plugin offers nothing; empty if it may offer.
  std::string stopped() const;

 private:
  AdvertiserEvidence Look() const;
  // Reads the drivers of ResourceSlices from the API server. If that fails, the last answer stays
  // valid.
  void LookForSlices(const std::stop_token& stop);
  std::string KubeletStart() const;

  // REQUIRE: the mutex is held.
  Result<> Judge(const AdvertiserEvidence& evidence);
  Result<> Stop(const std::string& why);
  Result<> AwaitFirst(const std::string& resource, const AdvertiserEvidence& evidence);
  wire::RegisteredResource& Registered(const std::string& resource);
  void Save();

  const AdvertiserGuardOptions options_;
  const AdvertiserSources sources_;
  const Clock& clock_;
  Logger& log_;

  // Only the thread that steps uses these.
  std::optional<Instant> next_look_;
  std::optional<Instant> next_slices_;

  mutable std::mutex mutex_;
  OwnOffer own_;
  wire::RegistrationRecord record_;
  std::string dra_driver_;
  bool slices_known_ = false;
  std::map<std::string, Instant> first_asked_;   // by resource that has not been registered yet
  std::map<std::string, Instant> listed_since_;  // by resource that is listed without us
  std::string stopped_;
  std::string save_problem_;
};

}  // namespace synergy::deviceplugin
