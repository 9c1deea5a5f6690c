#pragma once

// Short descriptions of Kubernetes objects, and their JSON as the API server writes it.
//
// Threading: values. Fields that end in `_json` are inserted unchanged.

#include <cstdint>
#include <string>

namespace synergy::testing {

struct FakePod {
  std::string name;
  std::string pod_namespace = "default";
  std::string uid;  // if empty, "uid-" and the name
  std::string node;
  std::string phase = "Pending";
  std::string requests_json = R"({"cpu":"1","memory":"1Gi"})";
  std::string labels_json = "{}";
  std::string annotations_json = "{}";
  std::string claims_json = "[]";  // the pod's resourceClaims
  std::string scheduler = "default-scheduler";
  int priority = 0;
  bool deleting = false;

  std::string Uid() const { return uid.empty() ? "uid-" + name : uid; }
  std::string Key() const { return pod_namespace + "/" + name; }
  bool Terminal() const { return phase == "Succeeded" || phase == "Failed"; }
};

struct FakeNode {
  std::string name;
  std::string allocatable_json = R"({"cpu":"8","memory":"32Gi","pods":"110"})";
  std::string labels_json = "{}";
  bool unschedulable = false;

  std::string Key() const { return name; }
};

struct FakeDisruptionBudget {
  std::string name;
  std::string pod_namespace = "default";
  std::string selector_json = "{}";
  int disruptions_allowed = 0;

  std::string Key() const { return pod_namespace + "/" + name; }
};

struct FakeNamespace {
  std::string name;
  std::string labels_json = "{}";

  std::string Key() const { return name; }
};

struct FakeTrainingProfile {
  std::string name;
  std::string pod_namespace = "default";
  std::string spec_json = "{}";

  std::string Key() const { return pod_namespace + "/" + name; }
};

std::string ToJson(const FakePod& pod, uint64_t version);
std::string ToJson(const FakeNode& node, uint64_t version);
std::string ToJson(const FakeDisruptionBudget& budget, uint64_t version);
std::string ToJson(const FakeNamespace& name_space, uint64_t version);
std::string ToJson(const FakeTrainingProfile& profile, uint64_t version);

// Returns one line of a watch, without its newline.
std::string EventLine(const std::string& type, const std::string& object_json);
// Returns a metav1.Status.
std::string StatusJson(int code, const std::string& reason, const std::string& message);

}  // namespace synergy::testing
