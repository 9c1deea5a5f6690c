#include "support/fake_api_server.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include <fmt/format.h>
#include <sys/eventfd.h>

namespace synergy::testing {
namespace {

constexpr std::chrono::seconds kRequestPatience{120};

}  // namespace

FakeApiServer::FakeApiServer(const std::optional<FakeTls>& tls, bool started)
    : listener_(tls, false) {
  resources_["pods"].kind = "Pod";
  resources_["nodes"].kind = "Node";
  resources_["poddisruptionbudgets"].kind = "PodDisruptionBudget";
  resources_["namespaces"].kind = "Namespace";
  resources_["limitranges"].kind = "LimitRange";
  resources_["resourcequotas"].kind = "ResourceQuota";
  resources_["trainingprofiles"].kind = "TrainingProfile";
  if (started) Start();
}

FakeApiServer::~FakeApiServer() { Stop(); }

config::ClusterAccess FakeApiServer::access() const {
  config::ClusterAccess access;
  access.server = listener_.url();
  return access;
}

void FakeApiServer::Start() {
  {
    const Lock lock(mutex_);
    if (std::exchange(running_, true)) return;
  }
  listener_.Open();
  accepting_ = std::thread([this] { AcceptLoop(); });
}

void FakeApiServer::Stop() {
  {
    const Lock lock(mutex_);
    if (!std::exchange(running_, false)) return;
    listener_.Close();
    for (FakeConnection* connection : connections_) connection->Shutdown();
  }
  accepting_.join();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

void FakeApiServer::AcceptLoop() {
  while (std::shared_ptr<FakeConnection> connection = listener_.Accept()) {
    threads_.emplace_back([this, connection]() mutable {
      std::list<FakeConnection*>::iterator place;
      {
        const Lock lock(mutex_);
        place = connections_.insert(connections_.end(), connection.get());
        if (!running_) connection->Shutdown();
      }
      Serve(*connection);
      const Lock lock(mutex_);
      connections_.erase(place);
      connection.reset();
    });
  }
}

FakeApiServer::Object FakeApiServer::ToObject(const FakePod& pod) {
  return {0, pod.Terminal(), [pod](uint64_t version) { return ToJson(pod, version); }};
}
FakeApiServer::Object FakeApiServer::ToObject(const FakeNode& node) {
  return {0, false, [node](uint64_t version) { return ToJson(node, version); }};
}
FakeApiServer::Object FakeApiServer::ToObject(const FakeDisruptionBudget& budget) {
  return {0, false, [budget](uint64_t version) { return ToJson(budget, version); }};
}

std::string FakeApiServer::LineFor(const Watch& watch, const Event& event) {
  // For a watch with a selector, an object that no longer matches counts as deleted.
  return EventLine(watch.only_running && event.object.terminal ? "DELETED" : event.type,
                   event.object.json(event.version));
}

void FakeApiServer::Notify(const Lock&, const std::string& resource,
                           const std::function<std::string(const Watch&)>& line) {
  for (Watch& watch : watches_) {
    if (watch.resource != resource || watch.silent || watch.end != Watch::End::kNone) continue;
    watch.lines.push_back(line(watch));
    ::eventfd_write(watch.wake_fd, 1);
  }
}

void FakeApiServer::Change(const Lock& lock, const std::string& resource, const std::string& key,
                           std::optional<Object> object) {
  std::map<std::string, Object>& objects = resources_[resource].objects;
  const auto before = objects.find(key);
  const bool existed = before != objects.end();
  if (!object && !existed) return;
  Event event;
  event.version = ++version_;
  event.type = !object ? "DELETED" : existed ? "MODIFIED" : "ADDED";
  event.object = object ? *object : before->second;
  event.object.version = event.version;
  if (object) {
    objects[key] = event.object;
  } else {
    objects.erase(before);
  }
  Notify(lock, resource, [&event](const Watch& watch) { return LineFor(watch, event); });
  resources_[resource].history.push_back(std::move(event));
}

void FakeApiServer::Set(const std::string& resource, std::map<std::string, Object> objects) {
  const Lock lock(mutex_);
  for (auto& [key, object] : objects) object.version = ++version_;
  resources_[resource].objects = std::move(objects);
}

void FakeApiServer::SetPods(const std::vector<FakePod>& pods) {
  std::map<std::string, Object> objects;
  for (const FakePod& pod : pods) objects[pod.Key()] = ToObject(pod);
  Set("pods", std::move(objects));
  const Lock lock(mutex_);
  pods_.clear();
  for (const FakePod& pod : pods) pods_[pod.Key()] = pod;
}

void FakeApiServer::SetNodes(const std::vector<FakeNode>& nodes) {
  std::map<std::string, Object> objects;
  for (const FakeNode& node : nodes) objects[node.Key()] = ToObject(node);
  Set("nodes", std::move(objects));
}

void FakeApiServer::SetDisruptionBudgets(const std::vector<FakeDisruptionBudget>& budgets) {
  std::map<std::string, Object> objects;
  for (const FakeDisruptionBudget& budget : budgets) objects[budget.Key()] = ToObject(budget);
  Set("poddisruptionbudgets", std::move(objects));
}

void FakeApiServer::PutPod(const FakePod& pod) {
  const Lock lock(mutex_);
  pods_[pod.Key()] = pod;
  Change(lock, "pods", pod.Key(), ToObject(pod));
}

void FakeApiServer::RemovePod(const std::string& key) {
  const Lock lock(mutex_);
  pods_.erase(key);
  Change(lock, "pods", key, std::nullopt);
}

void FakeApiServer::PutNode(const FakeNode& node) {
  const Lock lock(mutex_);
  Change(lock, "nodes", node.Key(), ToObject(node));
}

void FakeApiServer::RemoveNode(const std::string& key) {
  const Lock lock(mutex_);
  Change(lock, "nodes", key, std::nullopt);
}

void FakeApiServer::PutNamespace(const FakeNamespace& name_space) {
  const Lock lock(mutex_);
  Change(lock, "namespaces", name_space.Key(),
         Object{0, false, [name_space](uint64_t version) { return ToJson(name_space, version); }});
}

void FakeApiServer::PutText(const std::string& path, const std::string& json) {
  const Lock lock(mutex_);
  texts_[path] = json;
}

void FakeApiServer::PutTrainingProfile(const FakeTrainingProfile& profile) {
  const Lock lock(mutex_);
  Change(lock, "trainingprofiles", profile.Key(),
         Object{0, false, [profile](uint64_t version) { return ToJson(profile, version); }});
}

void FakeApiServer::PutDisruptionBudget(const FakeDisruptionBudget& budget) {
  const Lock lock(mutex_);
  Change(lock, "poddisruptionbudgets", budget.Key(), ToObject(budget));
}

uint64_t FakeApiServer::version() const {
  const Lock lock(mutex_);
  return version_;
}

std::optional<FakePod> FakeApiServer::pod(const std::string& key) const {
  const Lock lock(mutex_);
  const auto found = pods_.find(key);
  return found == pods_.end() ? std::nullopt : std::optional(found->second);
}

void FakeApiServer::SendLine(const std::string& resource, const std::string& line) {
  const Lock lock(mutex_);
  Notify(lock, resource, [&line](const Watch&) { return line; });
}

void FakeApiServer::SendBookmark(const std::string& resource) {
  const Lock lock(mutex_);
  const std::string object =
      fmt::format(R"({{"kind":"{}","apiVersion":"v1","metadata":{{"resourceVersion":"{}"}}}})",
                  resources_[resource].kind, ++version_);
  Notify(lock, resource, [&object](const Watch&) { return EventLine("BOOKMARK", object); });
}

void FakeApiServer::EndWatches(Watch::End end) {
  const Lock lock(mutex_);
  for (Watch& watch : watches_) {
    watch.end = end;
    ::eventfd_write(watch.wake_fd, 1);
  }
}

void FakeApiServer::EndWatches() { EndWatches(Watch::End::kRegular); }
void FakeApiServer::BreakWatches() { EndWatches(Watch::End::kBreak); }
void FakeApiServer::BreakWatchesInALine() { EndWatches(Watch::End::kBreakInALine); }

void FakeApiServer::FallSilent() {
  const Lock lock(mutex_);
  for (Watch& watch : watches_) {
    watch.silent = true;
    ::eventfd_write(watch.wake_fd, 1);
  }
}

void FakeApiServer::ForgetHistory() {
  const Lock lock(mutex_);
  oldest_ = ++version_;
  for (auto& [name, resource] : resources_) resource.history.clear();
}

void FakeApiServer::RestoreVersion(uint64_t version) {
  const Lock lock(mutex_);
  version_ = version;
  for (auto& [name, resource] : resources_) resource.history.clear();
}

void FakeApiServer::ForgetContinueTokens() {
  const Lock lock(mutex_);
  for (auto& [name, resource] : resources_) resource.pages.clear();
}

void FakeApiServer::FailNext(const std::string& method, const std::string& part, int status,
                             int times) {
  const Lock lock(mutex_);
  troubles_.push_back({Trouble::Kind::kStatus, method, part, status, times});
}

void FakeApiServer::OverloadNext(const std::string& method, const std::string& part,
                                 int retry_after_seconds, int times) {
  const Lock lock(mutex_);
  troubles_.push_back({Trouble::Kind::kStatus, method, part, 429, times,
                       fmt::format("Retry-After: {}\r\n", retry_after_seconds)});
}

void FakeApiServer::DropNext(const std::string& method, const std::string& part, bool carried_out) {
  const Lock lock(mutex_);
  troubles_.push_back(
      {carried_out ? Trouble::Kind::kCarryOutAndDrop : Trouble::Kind::kDrop, method, part, 0, 1});
}

void FakeApiServer::IgnoreNext(const std::string& method, const std::string& part) {
  const Lock lock(mutex_);
  troubles_.push_back({Trouble::Kind::kIgnore, method, part, 0, 1});
}

std::vector<FakeRequest> FakeApiServer::requests(std::string_view part) const {
  const Lock lock(mutex_);
  std::vector<FakeRequest> matching;
  for (const FakeRequest& request : requests_) {
    if (request.path.find(part) != std::string::npos) matching.push_back(request);
  }
  return matching;
}

std::vector<FakeBinding> FakeApiServer::bindings() const {
  const Lock lock(mutex_);
  return bindings_;
}

std::vector<std::string> FakeApiServer::event_names() const {
  const Lock lock(mutex_);
  return events_;
}

void FakeApiServer::ForgetEvents() {
  const Lock lock(mutex_);
  events_.clear();
}

bool FakeApiServer::WaitForRequests(std::string_view part, size_t count) const {
  Lock lock(mutex_);
  return changed_.wait_for(lock, kRequestPatience, [&] {
    return static_cast<size_t>(
               std::count_if(requests_.begin(), requests_.end(), [&](const FakeRequest& request) {
                 return request.path.find(part) != std::string::npos;
               })) >= count;
  });
}

bool FakeApiServer::WaitForWatches(const std::string& resource, size_t count) const {
  Lock lock(mutex_);
  return changed_.wait_for(lock, kRequestPatience, [&] {
    return static_cast<size_t>(
               std::count_if(watches_.begin(), watches_.end(), [&](const Watch& watch) {
                 return watch.resource == resource && watch.end == Watch::End::kNone;
               })) == count;
  });
}

}  // namespace synergy::testing
