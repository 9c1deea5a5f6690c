#pragma once

// An API server that knows pods and two calls: PATCH of a pod's annotations and PATCH of its
// resources. Pods are kept as the few figures that matter and spelled out as JSON when asked for.

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/exact_quantity.h"
#include "core/quantity_text.h"
#include "core/resources.h"
#include "kube/api_client.h"

namespace synergy::controller {

struct FakePod {
  std::string name;
  std::string node;  // empty: waits, Unschedulable
  uint64_t version = 1;
  int priority = 0;
  int64_t gpus = 1;
  ResourceVector spec;
  ResourceVector in_force;
  bool started = true;  // the kubelet has reported its container
  ResourceVector floor;
  ResourceVector demand;
  std::string condition;                           // a resize's, as JSON
  std::set<std::string> resizers;                  // field managers
  std::map<std::string, std::string> annotations;  // values as they stand between quotes

  std::string Json() const {
    const auto amounts = [](const ResourceVector& vector) {
      return fmt::format(R"("cpu":"{}","memory":"{}")", ToQuantityText(vector.cpu),
                         ToQuantityText(vector.memory));
    };
    const auto quoted = [&](const ResourceVector& vector) {
      return fmt::format(R"({{\"cpu\":\"{}\",\"memory\":\"{}\"}})", ToQuantityText(vector.cpu),
                         ToQuantityText(vector.memory));
    };
    std::string notes = fmt::format(
        R"("synergy.io/container":"train","synergy.io/floor":"{}","synergy.io/demand":"{}",
        "synergy.io/profile":"{}","synergy.io/profile-generation":"1")",
        quoted(floor), quoted(demand), profile);
    for (const auto& [key, value] : annotations) notes += fmt::format(R"(,"{}":"{}")", key, value);
    std::string managers;
    for (const std::string& manager : resizers) {
      managers += fmt::format(R"({}{{"manager":"{}","operation":"Update","subresource":"resize"}})",
                              managers.empty() ? "" : ",", manager);
    }
    std::string conditions = condition;
    if (node.empty()) {
      conditions = R"({"type":"PodScheduled","status":"False","reason":"Unschedulable"})";
    }
    return fmt::format(
        R"({{"metadata":{{"name":"{0}","namespace":"team","uid":"uid-{0}","resourceVersion":"{7}","annotations":{{{1}}},
          "managedFields":[{9}]}},
        "spec":{{"nodeName":"{2}","priority":{8},"schedulerName":"synergy-scheduler","containers":[{{"name":"train",
          "resources":{{"requests":{{"nvidia.com/gpu":"{3}",{4}}},"limits":{{"nvidia.com/gpu":"{3}"}}}}}}]}},
        "status":{{"phase":"Running","conditions":[{5}]{6}}}}})",
        name, notes, node, gpus, amounts(spec), conditions,
        node.empty() || !started ? ""
                                 : fmt::format(R"(,"containerStatuses":[{{"name":"train",
          "resources":{{"requests":{{{0}}}}},"allocatedResources":{{{0}}}}}])",
                                               amounts(in_force)),
        version, priority, managers);
  }

  std::string profile = "sensitive";
};

class FakePods final : public kube::ApiClient {
 public:
  std::map<std::string, FakePod> pods;
  std::vector<std::string> calls;  // "annotate a", "resize b cpu 2, memory 1Gi"
  // What resizes are refused with, if they are.
  std::function<bool(const FakePod&, const ResourceVector& to)> refuse = [](auto&, auto&) {
    return false;
  };
  // Called after a pod was changed, and before the caller hears of it.
  std::function<Result<>(FakePod&)> after_change = [](auto&) { return Result<>{}; };

  Result<std::string> Patch(const std::string& path, const std::string&, const std::string& json,
                            std::stop_token) override {
    constexpr std::string_view kResize = "/resize?fieldManager=";
    std::string name = path.substr(path.find("/pods/") + 6);
    const size_t resize = name.find(kResize);
    const std::string manager =
        resize == std::string::npos ? "" : name.substr(resize + kResize.size());
    name.resize(std::min(resize, name.size()));
    if (!pods.contains(name)) return Fail(ErrorCode::kNotFound, "no such pod");
    FakePod& pod = pods.at(name);
    if (const std::string version = TextAfter(json, R"("resourceVersion":")", 0);
        !version.empty() && version != std::to_string(pod.version)) {
      return Fail(ErrorCode::kConflict, "the object has been modified");
    }
    if (manager.empty()) {
      calls.push_back("annotate " + pod.name);
      Annotate(pod, json);
      return Changed(pod);
    }
    const ResourceVector to = ReadAmounts(json, pod.gpus);
    if (refuse(pod, to)) return Fail(ErrorCode::kDenied, "exceeded quota");
    calls.push_back(fmt::format("resize {} {}", pod.name, DescribeCpuAndMemory(to)));
    pod.spec = to;
    pod.resizers = {manager};
    return Changed(pod);
  }
  Result<std::string> Get(const std::string& path, std::stop_token) override {
    const std::string name = path.substr(path.find("/pods/") + 6);
    if (!pods.contains(name)) return Fail(ErrorCode::kNotFound, "no such pod");
    return pods.at(name).Json();
  }
  Result<std::string> Post(const std::string&, const std::string&, std::stop_token) override {
    return Fail(ErrorCode::kInvalid, "not expected");
  }
  Result<> Watch(const std::string&, std::chrono::milliseconds,
                 const std::function<bool(std::string_view)>&, std::stop_token) override {
    return Fail(ErrorCode::kInvalid, "not expected");
  }

 private:
  Result<std::string> Changed(FakePod& pod) {
    ++pod.version;
    const std::string answer = pod.Json();
    if (const Result<> heard = after_change(pod); !heard) return Fail(heard.error());
    return answer;
  }

  // The string that follows `before`, as it stands between its quotes; empty where there is none.
  static std::string TextAfter(const std::string& json, const std::string& before, size_t from) {
    const size_t found = json.find(before, from);
    if (found == std::string::npos) return {};
    const size_t start = found + before.size();
    size_t end = start;
    while (json[end] != '"') end += json[end] == '\\' ? 2 : 1;
    return json.substr(start, end - start);
  }

  static ResourceVector ReadAmounts(const std::string& json, int64_t gpus) {
    const size_t requests = json.find(R"("requests":{)");
    const auto exact = [&](const std::string& before) {
      return ParseExactQuantity(TextAfter(json, before, requests))->exact;
    };
    return {Gpus(gpus), MilliCpu(exact(R"("cpu":")").ToMilli()),
            Bytes(exact(R"("memory":")").ToUnits())};
  }

  static void Annotate(FakePod& pod, const std::string& json) {
    constexpr std::string_view kKey = R"("synergy.io/)";
    for (size_t at = json.find(kKey); at != std::string::npos; at = json.find(kKey, at + 1)) {
      const std::string key = TextAfter(json, "\"", at);
      const size_t value = at + key.size() + 3;  // two quotes and a colon
      if (json[value] == 'n') {
        pod.annotations.erase(key);
      } else {
        pod.annotations[key] = TextAfter(json, "\"", value);
      }
    }
  }
};

}  // namespace synergy::controller
