// The part of the fake API server that answers requests.

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <utility>

#include <fmt/format.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "support/fake_api_server.h"

namespace synergy::testing {
namespace {

// How often a silent watch checks its state.
constexpr std::chrono::seconds kSilence{10};

// Returns the value of `name` in a query like "a=1&b=2", with escapes resolved.
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

// Returns the first string with the key `name` after the key `after`, in simple JSON.
std::string JsonString(const std::string& json, const std::string& after, const std::string& name) {
  const size_t from = json.find("\"" + after + "\"");
  const size_t key = from == std::string::npos ? from : json.find("\"" + name + "\":\"", from);
  if (key == std::string::npos) return {};
  const size_t begin = key + name.size() + 4;
  return json.substr(begin, json.find('"', begin) - begin);
}

// Returns "n/p" for "/api/v1/namespaces/n/pods/p/binding"; empty for any other path.
std::string PodKey(const std::string& path) {
  constexpr std::string_view kStart = "/api/v1/namespaces/";
  if (path.compare(0, kStart.size(), kStart) != 0) return {};
  const size_t pods = path.find("/pods/");
  if (pods == std::string::npos) return {};
  const size_t name = pods + 6;
  return path.substr(kStart.size(), pods - kStart.size()) + "/" +
         path.substr(name, path.find('/', name) - name);
}

// Returns the common prefix of keys in a list of one namespace ("n/" for
// "/api/v1/namespaces/n/pods"); empty for a list of all namespaces.
std::string NamespacePrefix(const std::string& path) {
  constexpr std::string_view kPart = "/namespaces/";
  const size_t start = path.find(kPart);
  if (start == std::string::npos) return {};
  const size_t name = start + kPart.size();
  return path.substr(name, path.find('/', name) - name) + "/";
}

std::pair<int, std::string> Refusal(int code, const std::string& reason,
                                    const std::string& message) {
  return {code, StatusJson(code, reason, message)};
}

}  // namespace

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
        return connection.Write(HttpAnswer(
            trouble->status, StatusJson(trouble->status, "Trouble", "as told"), trouble->headers));
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
  if (request.path.find("/events") != std::string::npos) return CarryEvent(request);
  if (request.path.find("/leases") != std::string::npos) return CarryLease(request);
  const Lock lock(mutex_);
  const auto text = texts_.find(request.path);
  if (text != texts_.end() && request.method != "DELETE") return {200, text->second};
  if (!key.empty()) {
    const auto object = resources_["pods"].objects.find(key);
    if (object == resources_["pods"].objects.end())
      return Refusal(404, "NotFound", "there is no such pod");
    return {200, object->second.json(object->second.version)};
  }
  const auto resource = resources_.find(request.path.substr(request.path.rfind('/') + 1));
  if (request.method != "GET" || resource == resources_.end())
    return Refusal(404, "NotFound", "there is nothing here");
  return List(resource->second, request);
}

std::pair<int, std::string> FakeApiServer::List(Resource& resource, const FakeRequest& request) {
  std::vector<std::string> left;
  if (const std::string token = QueryValue(request.query, "continue"); !token.empty()) {
    const auto pages = resource.pages.find(token);
    if (pages == resource.pages.end())
      return Refusal(410, "Expired", "the continue token is too old");
    left = std::move(pages->second);
    resource.pages.erase(pages);
  } else {
    const bool only_running = !QueryValue(request.query, "fieldSelector").empty();
    const std::string in_namespace = NamespacePrefix(request.path);
    for (const auto& [key, object] : resource.objects) {
      if (only_running && object.terminal) continue;
      if (key.starts_with(in_namespace)) left.push_back(object.json(object.version));
    }
  }
  const size_t limit = std::strtoull(QueryValue(request.query, "limit").c_str(), nullptr, 10);
  const size_t count = limit == 0 ? left.size() : std::min(limit, left.size());
  std::string items;
  for (size_t i = 0; i < count; ++i) items += (i == 0 ? "" : ",") + left[i];
  std::string token;
  if (count < left.size()) {
    // The token has characters that a query must escape.
    token = fmt::format("{}+/={}", version_, left.size() - count);
    resource.pages[token] = {left.begin() + static_cast<std::ptrdiff_t>(count), left.end()};
  }
  return {
      200,
      fmt::format(
          R"({{"kind":"{}List","apiVersion":"v1","metadata":{{"resourceVersion":"{}","continue":"{}"}},)"
          R"("items":[{}]}})",
          resource.kind, version_, token, items)};
}

std::pair<int, std::string> FakeApiServer::Bind(const std::string& key, const std::string& body) {
  const Lock lock(mutex_);
  const auto found = pods_.find(key);
  if (found == pods_.end()) return Refusal(404, "NotFound", fmt::format("pods {} not found", key));
  FakePod& pod = found->second;
  const FakeBinding binding{key, JsonString(body, "metadata", "uid"),
                            JsonString(body, "target", "name")};
  if (!binding.uid.empty() && binding.uid != pod.Uid()) {
    return Refusal(409, "Conflict", "the UID in the precondition does not match");
  }
  if (!pod.node.empty())
    return Refusal(409, "Conflict", fmt::format("pod {} is already assigned to node", key));
  pod.node = binding.node;
  bindings_.push_back(binding);
  Change(lock, "pods", key, ToObject(pod));
  return {201, StatusJson(201, "", "")};
}

std::pair<int, std::string> FakeApiServer::CarryEvent(const FakeRequest& request) {
  constexpr std::string_view kStart = "/api/v1/namespaces/";
  const size_t end = request.path.find("/events");
  const std::string place = request.path.substr(kStart.size(), end - kStart.size()) + "/";
  const bool creates = request.method == "POST";
  const std::string key = place + (creates ? JsonString(request.body, "metadata", "name")
                                           : request.path.substr(request.path.rfind('/') + 1));
  const Lock lock(mutex_);
  const bool exists = std::find(events_.begin(), events_.end(), key) != events_.end();
  if (creates == exists) {
    return creates ? Refusal(409, "AlreadyExists", "there is such an event already")
                   : Refusal(404, "NotFound", "there is no such event");
  }
  if (creates) events_.push_back(key);
  return {creates ? 201 : 200, request.body};
}

std::pair<int, std::string> FakeApiServer::CarryLease(const FakeRequest& request) {
  const Lock lock(mutex_);
  const bool creates = request.method == "POST";
  if (creates == lease_.has_value()) {
    return creates ? Refusal(409, "AlreadyExists", "there is such a lease already")
                   : Refusal(404, "NotFound", "there is no such lease");
  }
  if (request.method == "DELETE") {
    lease_.reset();
    return {200, "{}"};
  }
  if (!creates && request.method != "GET" &&
      JsonString(request.body, "metadata", "resourceVersion") != std::to_string(lease_->version)) {
    return Refusal(409, "Conflict", "another client was faster");
  }
  if (request.method != "GET") {
    lease_ = {JsonString(request.body, "spec", "holderIdentity"),
              JsonString(request.body, "spec", "renewTime"), ++version_};
  }
  return {creates ? 201 : 200,
          fmt::format(R"({{"metadata":{{"resourceVersion":"{}"}},"spec":{{"holderIdentity":"{}",)"
                      R"("renewTime":"{}","leaseDurationSeconds":10}}}})",
                      lease_->version, lease_->holder, lease_->renewed)};
}

std::string FakeApiServer::lease_holder() const {
  const std::lock_guard lock(mutex_);
  return lease_ ? lease_->holder : "";
}

void FakeApiServer::ServeWatch(FakeConnection& connection, const FakeRequest& request) {
  const uint64_t since =
      std::strtoull(QueryValue(request.query, "resourceVersion").c_str(), nullptr, 10);
  const auto deadline = std::chrono::steady_clock::now() +
                        std::chrono::seconds(std::strtoll(
                            QueryValue(request.query, "timeoutSeconds").c_str(), nullptr, 10));
  const auto chunk = [](const std::string& line) {
    return fmt::format("{:x}\r\n{}\n\r\n", line.size() + 1, line);
  };

  Lock lock(mutex_);
  const auto watch = watches_.insert(watches_.end(), Watch{});
  watch->resource = request.path.substr(request.path.rfind('/') + 1);
  watch->only_running = !QueryValue(request.query, "fieldSelector").empty();
  watch->wake_fd = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (since < oldest_) {
    watch->lines.push_back(
        EventLine("ERROR", StatusJson(410, "Expired", "too old resource version")));
    watch->end = Watch::End::kRegular;
  } else {
    for (const Event& event : resources_[watch->resource].history) {
      if (event.version > since) watch->lines.push_back(LineFor(*watch, event));
    }
  }
  changed_.notify_all();
  bool open = connection.Write(
      "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n");
  while (open) {
    const std::vector<std::string> lines = std::exchange(watch->lines, {});
    const Watch::End end = watch->end;
    const bool silent = watch->silent;
    const int wake_fd = watch->wake_fd;
    lock.unlock();
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    for (const std::string& line : lines) open = open && connection.Write(chunk(line));
    if (end == Watch::End::kBreakInALine) connection.Write("1000\r\n{\"type\":\"MODI");
    if (end == Watch::End::kRegular || (!silent && left.count() <= 0)) {
      connection.Write("0\r\n\r\n");
      open = false;
    }
    open = open && end == Watch::End::kNone;
    if (open) open = !connection.WaitForEnd(wake_fd, silent ? kSilence : left);
    lock.lock();
  }
  ::close(watch->wake_fd);
  watches_.erase(watch);
  changed_.notify_all();
}

}  // namespace synergy::testing
