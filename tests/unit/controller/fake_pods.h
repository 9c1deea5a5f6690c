#pragma once

// An API server that knows pods and two calls: PATCH of a pod's annotations and PATCH of its
// resources. Pods are kept as the few figures that matter and spelled out as JSON when asked for.

#include <functional>
#include <map>
#include <regex>
#include <string>
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
  int64_t gpus = 1;
  ResourceVector spec;
  ResourceVector in_force;
  ResourceVector floor;
  ResourceVector demand;
  std::string condition;                           // a resize's, as JSON
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
    std::string conditions = condition;
    if (node.empty()) {
      conditions = R"({"type":"PodScheduled","status":"False","reason":"Unschedulable"})";
    }
    return fmt::format(
        R"({{"metadata":{{"name":"{0}","namespace":"team","uid":"uid-{0}","annotations":{{{1}}}}},
        "spec":{{"nodeName":"{2}","schedulerName":"synergy-scheduler","containers":[{{"name":"train",
          "resources":{{"requests":{{"nvidia.com/gpu":"{3}",{4}}},"limits":{{"nvidia.com/gpu":"{3}"}}}}}}]}},
        "status":{{"phase":"Running","conditions":[{5}]{6}}}}})",
        name, notes, node, gpus, amounts(spec), conditions,
        node.empty() ? ""
                     : fmt::format(R"(,"containerStatuses":[{{"name":"train",
          "resources":{{"requests":{{{0}}}}},"allocatedResources":{{{0}}}}}])",
                                   amounts(in_force)));
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

  Result<std::string> Patch(const std::string& path, const std::string&, const std::string& json,
                            std::stop_token) override {
    static const std::regex kName(R"(/pods/([a-z0-9-]+)(/resize)?$)");
    std::smatch match;
    if (!std::regex_search(path, match, kName) || !pods.contains(match[1])) {
      return Fail(ErrorCode::kNotFound, "no such pod");
    }
    FakePod& pod = pods.at(match[1]);
    if (!match[2].matched) {
      calls.push_back("annotate " + pod.name);
      Annotate(pod, json);
      return pod.Json();
    }
    const ResourceVector to = ReadAmounts(json, pod.gpus);
    if (refuse(pod, to)) return Fail(ErrorCode::kDenied, "exceeded quota");
    calls.push_back(fmt::format("resize {} {}", pod.name, DescribeCpuAndMemory(to)));
    pod.spec = to;
    return pod.Json();
  }
  Result<std::string> Get(const std::string&, std::stop_token) override {
    return Fail(ErrorCode::kInvalid, "not expected");
  }
  Result<std::string> Post(const std::string&, const std::string&, std::stop_token) override {
    return Fail(ErrorCode::kInvalid, "not expected");
  }
  Result<> Watch(const std::string&, std::chrono::milliseconds,
                 const std::function<bool(std::string_view)>&, std::stop_token) override {
    return Fail(ErrorCode::kInvalid, "not expected");
  }

 private:
  static ResourceVector ReadAmounts(const std::string& json, int64_t gpus) {
    static const std::regex kAmounts(R"re("requests":\{"cpu":"([^"]+)","memory":"([^"]+)")re");
    std::smatch match;
    std::regex_search(json, match, kAmounts);
    return {Gpus(gpus), MilliCpu(ParseExactQuantity(match[1].str())->exact.ToMilli()),
            Bytes(ParseExactQuantity(match[2].str())->exact.ToUnits())};
  }

  static void Annotate(FakePod& pod, const std::string& json) {
    static const std::regex kNote(R"re("(synergy\.io/[a-z-]+)":(null|"((?:[^"\\]|\\.)*)"))re");
    for (std::sregex_iterator it(json.begin(), json.end(), kNote), end; it != end; ++it) {
      if ((*it)[2] == "null") {
        pod.annotations.erase((*it)[1]);
      } else {
        pod.annotations[(*it)[1]] = (*it)[3];
      }
    }
  }
};

}  // namespace synergy::controller
