#include "deviceplugin/plugin/advertiser_guard.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "config/text_file.h"
#include "deviceplugin/plugin/sockets.h"

namespace synergy::deviceplugin {
namespace {

constexpr Duration kBetweenLooks = std::chrono::seconds(10);
constexpr Duration kBetweenSlices = std::chrono::minutes(10);
constexpr Duration kSlicesRetry = std::chrono::seconds(30);
// Device plugins serve and register within a second after their start.
constexpr Duration kFirstLook = std::chrono::seconds(3);
// The limit if the kubelet or the API server does not answer.
constexpr Duration kLongestFirstLook = std::chrono::seconds(5);
// The kubelet drops devices within milliseconds of the end of their stream.
constexpr Duration kLongestDrop = std::chrono::seconds(5);

}  // namespace

AdvertiserGuard::AdvertiserGuard(AdvertiserGuardOptions options, AdvertiserSources sources,
                                 const Clock& clock, Logger& log)
    : options_(std::move(options)),
      sources_(std::move(sources)),
      clock_(clock),
      log_(log),
      slices_known_(!sources_.slice_drivers) {
  if (options_.record_file.empty()) return;
  auto read = config::ParseTextFile(options_.record_file,
                                    [](const std::string& text, const std::string& /*file*/) {
                                      return wire::ReadRegistrationRecord(text);
                                    });
  if (!read) {
    if (read.error().code != ErrorCode::kNotFound)
      log_.Warn("no record of registrations", {{"error", read.error().message}});
    return;
  }
  record_ = *std::move(read);
  for (const wire::RegisteredResource& registered : record_.resources) {
    own_.resources.insert(registered.resource);
    own_.ids.insert(registered.ids.begin(), registered.ids.end());
  }
  if (!options_.instance.empty() && record_.instance == options_.instance)
    stopped_ = record_.stopped;
}

void AdvertiserGuard::AddOwn(
    const std::map<std::string, std::vector<GpuDevice>, std::less<>>& resources) {
  const std::lock_guard lock(mutex_);
  bool changed = false;
  for (const auto& [resource, devices] : resources) {
    own_.resources.insert(resource);
    wire::RegisteredResource& registered = Registered(resource);
    for (const GpuDevice& device : devices) {
      own_.ids.insert(device.id);
      std::vector<std::string>& ids = registered.ids;
      if (std::find(ids.begin(), ids.end(), device.id) != ids.end()) continue;
      ids.push_back(device.id);
      changed = true;
    }
  }
  if (changed) Save();
}

Result<> AdvertiserGuard::MayRegister(const std::string& resource, const std::string& own_socket) {
  const std::string kubelet = KubeletStart();
  const AdvertiserEvidence evidence = Look();
  if (KubeletStart() != kubelet)
    return Fail(ErrorCode::kUnavailable, "the kubelet is being restarted");
  const std::lock_guard lock(mutex_);
  if (const Result<> judged = Judge(evidence); !judged) return judged;
  for (const std::string& socket : evidence.sockets) {
    if (socket != own_socket && IsSocketNameFor(socket, resource))
      return Fail(ErrorCode::kUnavailable,
                  fmt::format("another synergy-device-plugin serves {}", socket));
  }
  if (!ListsDevices(evidence, resource)) {
    listed_since_.erase(resource);
    return AwaitFirst(resource, evidence);
  }
  if (Registered(resource).kubelet != kubelet) {
    return Stop(fmt::format("the kubelet has devices of {}, which another device plugin registered",
                            resource));
  }
  const Instant since = listed_since_.try_emplace(resource, clock_.Now()).first->second;
  if (clock_.Now() - since >= kLongestDrop) {
    return Stop(fmt::format(
        "the kubelet has devices of {} without this plugin: another one registered it", resource));
  }
  return Fail(ErrorCode::kUnavailable, "the kubelet has not dropped the devices yet");
}

Result<> AdvertiserGuard::AwaitFirst(const std::string& resource,
                                     const AdvertiserEvidence& evidence) {
  if (!Registered(resource).kubelet.empty()) return {};
  const Instant since = first_asked_.try_emplace(resource, clock_.Now()).first->second;
  const Duration wait = slices_known_ && evidence.offered ? kFirstLook : kLongestFirstLook;
  if (clock_.Now() - since >= wait) return {};
  return Fail(ErrorCode::kUnavailable, "checking whether another component offers these GPUs");
}

void AdvertiserGuard::OnRegistered(const std::string& resource) {
  const std::string kubelet = KubeletStart();
  const std::lock_guard lock(mutex_);
  std::string& recorded = Registered(resource).kubelet;
  if (recorded == kubelet) return;
  recorded = kubelet;
  Save();
}

void AdvertiserGuard::Step(const std::stop_token& stop) {
  if (!stopped().empty()) return;
  const Instant now = clock_.Now();
  if (sources_.slice_drivers && (!next_slices_ || now >= *next_slices_)) LookForSlices(stop);
  if (next_look_ && now < *next_look_) return;
  next_look_ = now + kBetweenLooks;
  const AdvertiserEvidence evidence = Look();
  const std::lock_guard lock(mutex_);
  static_cast<void>(Judge(evidence));
}

void AdvertiserGuard::LookForSlices(const std::stop_token& stop) {
  const Result<std::vector<std::string>> drivers = sources_.slice_drivers(stop);
  const bool known = drivers || drivers.error().code == ErrorCode::kNotFound;
  next_slices_ = clock_.Now() + (known ? kBetweenSlices : kSlicesRetry);
  if (!known) {
    log_.Warn("ResourceSlices are not known", {{"error", drivers.error().message}});
    return;
  }
  next_look_.reset();
  const std::lock_guard lock(mutex_);
  slices_known_ = true;
  dra_driver_.clear();
  if (!drivers) return;
  const auto found = std::find_if(drivers->begin(), drivers->end(), IsGpuDriver);
  if (found != drivers->end()) dra_driver_ = *found;
}

std::string AdvertiserGuard::stopped() const {
  const std::lock_guard lock(mutex_);
  return stopped_;
}

AdvertiserEvidence AdvertiserGuard::Look() const {
  AdvertiserEvidence evidence;
  evidence.sockets = ServedSockets(options_.plugin_folder);
  if (auto offered = sources_.offered()) evidence.offered = *std::move(offered);
  if (auto given = sources_.given()) evidence.given = *std::move(given);
  const std::lock_guard lock(mutex_);
  evidence.dra_driver = dra_driver_;
  return evidence;
}

std::string AdvertiserGuard::KubeletStart() const {
  const auto socket = IdentifySocket(options_.plugin_folder + "/" + kKubeletSocket);
  return socket ? fmt::format("{}:{}:{}", socket->device, socket->inode, socket->modified)
                : std::string();
}

Result<> AdvertiserGuard::Judge(const AdvertiserEvidence& evidence) {
  if (!stopped_.empty()) return Fail(ErrorCode::kDenied, stopped_);
  if (const auto found = FindOtherAdvertiser(evidence, own_)) return Stop(*found);
  return {};
}

Result<> AdvertiserGuard::Stop(const std::string& why) {
  stopped_ = why;
  record_.stopped = why;
  record_.instance = options_.instance;
  Save();
  return Fail(ErrorCode::kDenied, why);
}

wire::RegisteredResource& AdvertiserGuard::Registered(const std::string& resource) {
  auto& all = record_.resources;
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const auto& known) { return known.resource == resource; });
  return found != all.end() ? *found : all.emplace_back(wire::RegisteredResource{resource, {}, {}});
}

void AdvertiserGuard::Save() {
  if (options_.record_file.empty()) return;
  const Result<> written =
      config::WriteWholeFile(options_.record_file, wire::WriteRegistrationRecord(record_));
  std::string problem = written ? std::string() : written.error().message;
  if (problem != save_problem_ && !problem.empty())
    log_.Warn("registrations are not recorded", {{"error", problem}});
  save_problem_ = std::move(problem);
}

}  // namespace synergy::deviceplugin
