#include "support/fake_api_server.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <utility>

#include <fmt/format.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "core/check.h"

namespace synergy::testing {
namespace {

constexpr std::chrono::seconds kPatience{10};

// "a=1&b=2" -> the value of `name`, escapes resolved.
std::string QueryValue(const std::string& query, const std::string& name) {
  const std::string padded = "&" + query;
  const size_t start = padded.find("&" + name + "=");
  if (start == std::string::npos) return {};
  const size_t begin = start + name.size() + 2;
  const std::string raw = padded.substr(begin, padded.find('&', begin) - begin);
  std::string value;
  for (size_t i = 0; i < raw.size(); ++i) {
    if (raw[i] == '%' && i + 2 < raw.size()) {
      value += static_cast<char>(std::strtol(raw.substr(i + 1, 2).c_str(), nullptr, 16));
      i += 2;
    } else {
      value += raw[i];
    }
  }
  return value;
}

// The first string called `name` after `after`, in JSON that we know to be simple.
std::string JsonString(const std::string& json, const std::string& after, const std::string& name) {
  const size_t from = json.find("\"" + after + "\"");
  const size_t key = from == std::string::npos ? from : json.find("\"" + name + "\":\"", from);
  if (key == std::string::npos) return {};
  const size_t begin = key + name.size() + 4;
  return json.substr(begin, json.find('"', begin) - begin);
}

// "/api/v1/namespaces/n/pods/p/binding" -> "n/p"; empty for any other path.
std::string PodKey(const std::string& path) {
  constexpr std::string_view kStart = "/api/v1/namespaces/";
  if (path.compare(0, kStart.size(), kStart) != 0) return {};
  const size_t pods = path.find("/pods/");
  if (pods == std::string::npos) return {};
  const size_t name = pods + 6;
  return path.substr(kStart.size(), pods - kStart.size()) + "/" + path.substr(name, path.find('/', name) - name);
}

std::pair<int, std::string> Refusal(int code, const std::string& reason, const std::string& message) {
  return {code, StatusJson(code, reason, message)};
}

template <class T>
std::function<std::string(uint64_t)> Writer(const T& object) {
  return [object](uint64_t version) { return ToJson(object, version); };
}

}  // namespace

FakeApiServer::FakeApiServer(const std::optional<FakeTls>& tls, bool started) : listener_(tls, false) {
  resources_["pods"].kind = "Pod";
  resources_["nodes"].kind = "Node";
  resources_["poddisruptionbudgets"].kind = "PodDisruptionBudget";
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

void FakeApiServer::Serve(FakeConnection& connection) {
  if (!connection.Handshake()) return;
  while (const std::optional<FakeRequest> request = ReadRequest(connection)) {
    {
      const Lock lock(mutex_);
      requests_.push_back(*request);
      if (!request->query.empty()) requests_.back().path += "?" + request->query;
      changed_.notify_all();
    }
    if (!Answer(connection, *request)) return;
  }
}

bool FakeApiServer::Answer(FakeConnection& connection, const FakeRequest& request) {
  if (const std::optional<Trouble> trouble = TakeTrouble(request)) {
    switch (trouble->kind) {
      case Trouble::Kind::kStatus:
        return connection.Write(HttpAnswer(trouble->status, StatusJson(trouble->status, "Trouble", "as told")));
      case Trouble::Kind::kCarryOutAndDrop:
        Carry(request);
        return false;
      case Trouble::Kind::kDrop:
        return false;
      case Trouble::Kind::kIgnore:
        connection.ReadLine();
        return false;
    }
  }
  if (!QueryValue(request.query, "watch").empty()) {
    ServeWatch(connection, request);
    return false;
  }
  const auto [status, body] = Carry(request);
  return connection.Write(HttpAnswer(status, body));
}

std::optional<FakeApiServer::Trouble> FakeApiServer::TakeTrouble(const FakeRequest& request) {
  const Lock lock(mutex_);
  const std::string target = request.path + "?" + request.query;
  for (auto it = troubles_.begin(); it != troubles_.end(); ++it) {
    if (it->method != request.method || target.find(it->part) == std::string::npos) continue;
    const Trouble trouble = *it;
    if (--it->times == 0) troubles_.erase(it);
    return trouble;
  }
  return std::nullopt;
}

std::pair<int, std::string> FakeApiServer::Carry(const FakeRequest& request) {
  const std::string key = PodKey(request.path);
  if (request.method == "POST" && !key.empty()) return Bind(key, request.body);
  const Lock lock(mutex_);
  if (!key.empty()) {
    const auto object = resources_["pods"].objects.find(key);
    if (object == resources_["pods"].objects.end()) return Refusal(404, "NotFound", "there is no such pod");
    return {200, object->second.json(object->second.version)};
  }
  const auto resource = resources_.find(request.path.substr(request.path.rfind('/') + 1));
  if (request.method != "GET" || resource == resources_.end()) return Refusal(404, "NotFound", "there is nothing here");
  return List(resource->second, request);
}

std::pair<int, std::string> FakeApiServer::List(Resource& resource, const FakeRequest& request) {
  std::vector<std::string> left;
  if (const std::string token = QueryValue(request.query, "continue"); !token.empty()) {
    const auto pages = resource.pages.find(token);
    if (pages == resource.pages.end()) return Refusal(410, "Expired", "the continue token is too old");
    left = std::move(pages->second);
    resource.pages.erase(pages);
  } else {
    const bool only_running = !QueryValue(request.query, "fieldSelector").empty();
    for (const auto& [key, object] : resource.objects) {
      if (!only_running || !object.terminal) left.push_back(object.json(object.version));
    }
  }
  const size_t limit = std::strtoull(QueryValue(request.query, "limit").c_str(), nullptr, 10);
  const size_t count = limit == 0 ? left.size() : std::min(limit, left.size());
  std::string items;
  for (size_t i = 0; i < count; ++i) items += (i == 0 ? "" : ",") + left[i];
  std::string token;
  if (count < left.size()) {
    // With characters that a query must escape.
    token = fmt::format("{}+/={}", version_, left.size() - count);
    resource.pages[token] = {left.begin() + static_cast<std::ptrdiff_t>(count), left.end()};
  }
  return {200, fmt::format(R"({{"kind":"{}List","apiVersion":"v1","metadata":{{"resourceVersion":"{}","continue":"{}"}},)"
                           R"("items":[{}]}})",
                           resource.kind, version_, token, items)};
}

std::pair<int, std::string> FakeApiServer::Bind(const std::string& key, const std::string& body) {
  const Lock lock(mutex_);
  const auto found = pods_.find(key);
  if (found == pods_.end()) return Refusal(404, "NotFound", fmt::format("pods {} not found", key));
  FakePod& pod = found->second;
  const FakeBinding binding{key, JsonString(body, "metadata", "uid"), JsonString(body, "target", "name")};
  if (!binding.uid.empty() && binding.uid != pod.Uid()) {
    return Refusal(409, "Conflict", "the UID in the precondition does not match");
  }
  if (!pod.node.empty()) return Refusal(409, "Conflict", fmt::format("pod {} is already assigned to node", key));
  pod.node = binding.node;
  bindings_.push_back(binding);
  Change(lock, "pods", key, Object{0, pod.Terminal(), Writer(pod)});
  return {201, StatusJson(201, "", "")};
}

void FakeApiServer::ServeWatch(FakeConnection& connection, const FakeRequest& request) {
  const uint64_t since = std::strtoull(QueryValue(request.query, "resourceVersion").c_str(), nullptr, 10);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(std::strtoll(
                                                               QueryValue(request.query, "timeoutSeconds").c_str(),
                                                               nullptr, 10));
  const auto chunk = [](const std::string& line) { return fmt::format("{:x}\r\n{}\n\r\n", line.size() + 1, line); };

  Lock lock(mutex_);
  const auto watch = watches_.insert(watches_.end(), Watch{});
  watch->resource = request.path.substr(request.path.rfind('/') + 1);
  watch->only_running = !QueryValue(request.query, "fieldSelector").empty();
  watch->wake_fd = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (since < oldest_) {
    watch->lines.push_back(EventLine("ERROR", StatusJson(410, "Expired", "too old resource version")));
    watch->end = Watch::End::kRegular;
  } else {
    for (const Event& event : resources_[watch->resource].history) {
      if (event.version > since) watch->lines.push_back(LineFor(*watch, event));
    }
  }
  changed_.notify_all();
  bool open = connection.Write("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n");
  while (open) {
    const std::vector<std::string> lines = std::exchange(watch->lines, {});
    const Watch::End end = watch->end;
    const bool silent = watch->silent;
    const int wake_fd = watch->wake_fd;
    lock.unlock();
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    for (const std::string& line : lines) open = open && connection.Write(chunk(line));
    if (end == Watch::End::kBreakInALine) connection.Write("1000\r\n{\"type\":\"MODI");
    if (end == Watch::End::kRegular || (!silent && left.count() <= 0)) {
      connection.Write("0\r\n\r\n");
      open = false;
    }
    open = open && end == Watch::End::kNone;
    if (open) open = !connection.WaitForEnd(wake_fd, silent ? kPatience : left);
    lock.lock();
  }
  ::close(watch->wake_fd);
  watches_.erase(watch);
  changed_.notify_all();
}

std::string FakeApiServer::LineFor(const Watch& watch, const Event& event) {
  // For a watch with a selector, what does not match it any more is gone.
  return EventLine(watch.only_running && event.object.terminal ? "DELETED" : event.type,
                   event.object.json(event.version));
}

void FakeApiServer::Tell(const Lock&, const std::string& resource,
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
  Tell(lock, resource, [&event](const Watch& watch) { return LineFor(watch, event); });
  resources_[resource].history.push_back(std::move(event));
}

void FakeApiServer::Set(const std::string& resource, std::map<std::string, Object> objects) {
  const Lock lock(mutex_);
  for (auto& [key, object] : objects) object.version = ++version_;
  resources_[resource].objects = std::move(objects);
}

void FakeApiServer::SetPods(const std::vector<FakePod>& pods) {
  std::map<std::string, Object> objects;
  for (const FakePod& pod : pods) objects[pod.Key()] = {0, pod.Terminal(), Writer(pod)};
  Set("pods", std::move(objects));
  const Lock lock(mutex_);
  pods_.clear();
  for (const FakePod& pod : pods) pods_[pod.Key()] = pod;
}

void FakeApiServer::SetNodes(const std::vector<FakeNode>& nodes) {
  std::map<std::string, Object> objects;
  for (const FakeNode& node : nodes) objects[node.Key()] = {0, false, Writer(node)};
  Set("nodes", std::move(objects));
}

void FakeApiServer::SetDisruptionBudgets(const std::vector<FakeDisruptionBudget>& budgets) {
  std::map<std::string, Object> objects;
  for (const FakeDisruptionBudget& budget : budgets) objects[budget.Key()] = {0, false, Writer(budget)};
  Set("poddisruptionbudgets", std::move(objects));
}

void FakeApiServer::PutPod(const FakePod& pod) {
  const Lock lock(mutex_);
  pods_[pod.Key()] = pod;
  Change(lock, "pods", pod.Key(), Object{0, pod.Terminal(), Writer(pod)});
}

void FakeApiServer::RemovePod(const std::string& key) {
  const Lock lock(mutex_);
  pods_.erase(key);
  Change(lock, "pods", key, std::nullopt);
}

void FakeApiServer::PutNode(const FakeNode& node) {
  const Lock lock(mutex_);
  Change(lock, "nodes", node.Key(), Object{0, false, Writer(node)});
}

void FakeApiServer::RemoveNode(const std::string& key) {
  const Lock lock(mutex_);
  Change(lock, "nodes", key, std::nullopt);
}

void FakeApiServer::PutDisruptionBudget(const FakeDisruptionBudget& budget) {
  const Lock lock(mutex_);
  Change(lock, "poddisruptionbudgets", budget.Key(), Object{0, false, Writer(budget)});
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
  Tell(lock, resource, [&line](const Watch&) { return line; });
}

void FakeApiServer::SendBookmark(const std::string& resource) {
  const Lock lock(mutex_);
  const std::string object = fmt::format(R"({{"kind":"{}","apiVersion":"v1","metadata":{{"resourceVersion":"{}"}}}})",
                                         resources_[resource].kind, ++version_);
  Tell(lock, resource, [&object](const Watch&) { return EventLine("BOOKMARK", object); });
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

void FakeApiServer::ForgetContinueTokens() {
  const Lock lock(mutex_);
  for (auto& [name, resource] : resources_) resource.pages.clear();
}

void FakeApiServer::FailNext(const std::string& method, const std::string& part, int status, int times) {
  const Lock lock(mutex_);
  troubles_.push_back({Trouble::Kind::kStatus, method, part, status, times});
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

bool FakeApiServer::WaitForRequests(std::string_view part, size_t count) const {
  Lock lock(mutex_);
  return changed_.wait_for(lock, kPatience, [&] {
    return static_cast<size_t>(std::count_if(requests_.begin(), requests_.end(), [&](const FakeRequest& request) {
             return request.path.find(part) != std::string::npos;
           })) >= count;
  });
}

bool FakeApiServer::WaitForWatches(const std::string& resource, size_t count) const {
  Lock lock(mutex_);
  return changed_.wait_for(lock, kPatience, [&] {
    return static_cast<size_t>(std::count_if(watches_.begin(), watches_.end(), [&](const Watch& watch) {
             return watch.resource == resource && watch.end == Watch::End::kNone;
           })) == count;
  });
}

}  // namespace synergy::testing
