#include "wire/journal/cluster_list.h"

#include <array>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "wire/base/json_words.h"
#include "wire/objects/object_readers.h"
#include "wire/objects/objects.h"

namespace synergy::wire {
namespace {

// Paths of the members to keep. The last step of a path is kept with everything below it. Spaces
// separate steps, because names contain dots. A path passes through the elements of lists. A * at
// the end of a name matches any text.
using Paths = std::span<const std::string_view>;

constexpr std::array<std::string_view, 9> kOfNodes = {
    "metadata name",      "metadata labels", "metadata annotations synergy.io/*",
    "metadata uid",       "spec taints",     "metadata deletionTimestamp",
    "spec unschedulable", "status capacity", "status allocatable"};

constexpr std::array<std::string_view, 43> kOfPods = {
    "metadata name",
    "metadata namespace",
    "metadata uid",
    "metadata resourceVersion",
    "metadata labels",
    "metadata annotations synergy.io/*",
    "metadata deletionTimestamp",
    "metadata managedFields manager",
    "metadata managedFields operation",
    "metadata managedFields subresource",
    "metadata managedFields time",
    "metadata managedFields fieldsV1 f:metadata f:annotations f:synergy.io/*",
    "spec nodeName",
    "spec schedulerName",
    "spec priority",
    "spec nodeSelector",
    "spec affinity nodeAffinity requiredDuringSchedulingIgnoredDuringExecution",
    "spec tolerations",
    "spec schedulingGates",
    "spec overhead",
    "spec resources",
    "spec containers name",
    "spec containers resources",
    "spec initContainers name",
    "spec initContainers resources",
    "spec initContainers restartPolicy",
    "status phase",
    "status conditions type",
    "status conditions status",
    "status conditions reason",
    "status conditions message",
    "status conditions lastTransitionTime",
    "status containerStatuses name",
    "status containerStatuses resources requests",
    "status containerStatuses resources limits",
    "status containerStatuses allocatedResources",
    "status initContainerStatuses name",
    "status initContainerStatuses resources requests",
    "status initContainerStatuses resources limits",
    "status initContainerStatuses allocatedResources",
    "status resources requests",
    "status allocatedResources",
    "spec containers restartPolicy"};

constexpr std::array<std::string_view, 5> kOfProfiles = {
    "metadata name", "metadata namespace", "metadata uid", "metadata generation", "spec"};

constexpr std::array<std::string_view, 2> kOfNamespaces = {"metadata name",
                                                           "metadata labels synergy.io/*"};

struct KindWords {
  std::string_view api_version;
  std::string_view kind;
  Paths kept;
};

constexpr std::array<KindWords, 4> kKinds = {
    {{"v1", "Node", kOfNodes},
     {"v1", "Pod", kOfPods},
     {"synergy.io/v1alpha1", "TrainingProfile", kOfProfiles},
     {"v1", "Namespace", kOfNamespaces}}};

void WriteWhole(Writer& out, Value value) {
  if (value.IsObject()) {
    out.BeginObject();
    value.ForEachMember([&out](std::string_view key, Value member) {
      out.Key(key);
      WriteWhole(out, member);
    });
    out.EndObject();
  } else if (value.IsArray()) {
    out.BeginArray();
    value.ForEachElement([&out](Value element) { WriteWhole(out, element); });
    out.EndArray();
  } else if (value.IsString()) {
    out.Text(value.text());
  } else if (value.IsNumber()) {
    out.Raw(value.text());
  } else if (value.IsBool()) {
    out.Truth(value.truth());
  } else {
    out.Raw("null");
  }
}

bool Matches(std::string_view step, std::string_view key) {
  return step.ends_with('*') ? key.starts_with(step.substr(0, step.size() - 1)) : key == step;
}

void WriteKept(Writer& out, Value value, Paths paths);

void WriteMember(Writer& out, std::string_view key, Value member, Paths paths) {
  bool whole = false;
  std::vector<std::string_view> below;
  for (const std::string_view path : paths) {
    const size_t end = path.find(' ');
    if (!Matches(path.substr(0, end), key)) continue;
    whole |= end == std::string_view::npos;
    if (end != std::string_view::npos) below.push_back(path.substr(end + 1));
  }
  if (!whole && below.empty()) return;
  out.Key(key);
  whole ? WriteWhole(out, member) : WriteKept(out, member, below);
}

void WriteKept(Writer& out, Value value, Paths paths) {
  if (value.IsArray()) {
    out.BeginArray();
    value.ForEachElement([&](Value element) { WriteKept(out, element, paths); });
    out.EndArray();
    return;
  }
  // Keep a value that should have been an object, because the reader reports it.
  if (!value.IsObject()) return WriteWhole(out, value);
  out.BeginObject();
  value.ForEachMember(
      [&](std::string_view key, Value member) { WriteMember(out, key, member, paths); });
  out.EndObject();
}

// Returns text such as "Pod default/train-1".
std::string Describe(std::string_view kind, Value object) {
  const Value metadata = object["metadata"];
  const std::string_view in = metadata["namespace"].text();
  const std::string_view name = metadata["name"].text();
  return fmt::format("{} {}{}{}", kind, in, in.empty() ? "" : "/",
                     name.empty() ? "without a name" : name);
}

// Appends `read(fields, object)`; fails on any finding.
template <class T, class Read>
Result<> AddObject(std::vector<T>& all, std::string_view kind, Value object, bool needs_uid,
                   Read read) {
  FieldReader fields(object);
  T made = read(fields, object);
  const Value metadata = object["metadata"];
  for (const char* name : {"name", "uid"}) {
    if (name == std::string_view("uid") && !needs_uid) continue;
    if (metadata[name].absent())
      fields.ReportMissing(metadata.IsObject() ? metadata : object, name);
  }
  if (!fields.ok()) {
    return Fail(ErrorCode::kInvalid,
                fmt::format("{}: {}", Describe(kind, object), fields.findings().front()));
  }
  all.push_back(std::move(made));
  return {};
}

Result<> AddItem(ClusterList& cluster, Value root, Value item, const PodRules& rules) {
  if (!item.IsObject() || !item["kind"].IsString()) {
    return Fail(ErrorCode::kInvalid,
                fmt::format("{}: {}", root.PathTo(item),
                            item.IsObject() ? "kind is missing" : "must be an object"));
  }
  const std::string_view kind = item["kind"].text();
  if (kind == "Node") {
    return AddObject(cluster.nodes, kind, item, false, [&](FieldReader& fields, Value object) {
      return ReadNodeObject(fields, object, rules.gpu_resource);
    });
  }
  if (kind == "Pod") {
    return AddObject(cluster.pods, kind, item, true, [&](FieldReader& fields, Value object) {
      return ReadPodObject(fields, object, PodUse::kAccounted, rules);
    });
  }
  if (kind == "TrainingProfile") {
    return AddObject(cluster.profiles, kind, item, false, [](FieldReader&, Value object) {
      FieldReader beside(object);  // the rest of a profile does not depend on status.packing
      return ReadProfileObject(beside, object);
    });
  }
  if (kind == "Namespace") {
    return AddObject(cluster.namespaces, kind, item, false, [](FieldReader& fields, Value object) {
      return ReadNamespaceObject(fields, object);
    });
  }
  return {};
}

}  // namespace

Result<ClusterList> ReadClusterList(std::string_view text, const PodRules& rules) {
  const Result<Document> document = Document::Parse(text);
  if (!document) return Fail(document.error());
  const Value root = document->root();
  if (!root.IsObject() || root["kind"].text() != "List" || !root["items"].IsArray()) {
    return Fail(ErrorCode::kInvalid,
                "not a Kubernetes List: use the output of `kubectl get nodes,pods,trainingprofiles "
                "-A -o json`");
  }
  ClusterList cluster;
  Result<> added;
  root["items"].ForEachElement([&](Value item) {
    if (added) added = AddItem(cluster, root, item, rules);
  });
  if (!added) return Fail(added.error());
  return cluster;
}

ClusterListWriter::ClusterListWriter() {
  out_.BeginObject();
  out_.Key("apiVersion");
  out_.Text("v1");
  out_.Key("kind");
  out_.Text("List");
  out_.Key("items");
  out_.BeginArray();
}

Result<std::string> ClusterListWriter::AddPage(ClusterKind kind, std::string_view page) {
  const KindWords& words = kKinds[static_cast<size_t>(kind)];
  const Result<Document> document = Document::Parse(page);
  if (!document) return Fail(document.error());
  const Value root = document->root();
  if (!root["items"].IsArray()) {
    return Fail(ErrorCode::kInvalid, fmt::format("unexpected list of kind {}", words.kind));
  }
  root["items"].ForEachElement([&](Value item) {
    if (!item.IsObject()) return;
    out_.BeginObject();
    out_.Key("apiVersion");
    out_.Text(words.api_version);
    out_.Key("kind");
    out_.Text(words.kind);
    item.ForEachMember(
        [&](std::string_view key, Value member) { WriteMember(out_, key, member, words.kept); });
    out_.EndObject();
  });
  return std::string(root["metadata"]["continue"].text());
}

std::string ClusterListWriter::Take() {
  out_.EndArray();
  out_.EndObject();
  return out_.Take() + "\n";
}

}  // namespace synergy::wire
