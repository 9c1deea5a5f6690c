// Reads the bodies of bind and preempt as trees, because they are small.

#include <limits>
#include <utility>

#include <fmt/format.h>

#include "wire/base/json_words.h"
#include "wire/base/metadata.h"
#include "wire/extender/extender_messages.h"
#include "wire/objects/object_readers.h"

namespace synergy::wire {
namespace {

Result<> Check(const FieldReader& fields) {
  if (fields.ok()) return {};
  return Fail(ErrorCode::kInvalid, fields.findings().front());
}

std::string RequiredText(FieldReader& fields, Value object, std::string_view key) {
  std::string text = ReadText(fields, object[key]);
  if (text.empty() && fields.ok()) fields.ReportMissing(object, key);
  return text;
}

// Reads a whole pod's UID from metadata.uid, and a MetaPod's from UID.
std::vector<std::string> ReadVictimUids(FieldReader& fields, Value victims, bool whole_pods) {
  std::vector<std::string> uids;
  fields.Array(victims["Pods"]).ForEachElement([&](Value pod) {
    uids.push_back(whole_pods ? RequiredText(fields, fields.Object(pod["metadata"]), "uid")
                              : RequiredText(fields, pod, "UID"));
  });
  return uids;
}

}  // namespace

Result<BindingArgs> ReadBindingArgs(std::string_view body) {
  const Result<Document> document = Document::Parse(body);
  if (!document) return Fail(document.error());
  const Value root = document->root();
  if (!root.IsObject()) return Fail(ErrorCode::kInvalid, "the body is not a JSON object");
  FieldReader fields(root);
  BindingArgs args;
  args.pod_name = RequiredText(fields, root, "PodName");
  args.pod_namespace = RequiredText(fields, root, "PodNamespace");
  args.pod_uid = RequiredText(fields, root, "PodUID");
  args.node = RequiredText(fields, root, "Node");
  if (const Result<> checked = Check(fields); !checked) return Fail(checked.error());
  return args;
}

Result<PreemptionArgs> ReadPreemptionArgs(std::string_view body, const ObjectReader& reader) {
  const Result<Document> document = Document::Parse(body);
  if (!document) return Fail(document.error());
  const Value root = document->root();
  if (!root.IsObject()) return Fail(ErrorCode::kInvalid, "the body is not a JSON object");
  FieldReader fields(root);
  PreemptionArgs args;
  if (!root["Pod"].IsObject()) return Fail(ErrorCode::kInvalid, "Pod is missing");
  args.pod = ReadPodObject(fields, root["Pod"], PodUse::kIncoming, reader.pod_rules());
  FieldReader lenient(root);
  args.longest_run = ReadLongestRun(lenient, root["Pod"]["spec"]);
  for (const bool whole_pods : {true, false}) {
    const Value by_node = root[whole_pods ? "NodeNameToVictims" : "NodeNameToMetaVictims"];
    fields.Object(by_node).ForEachMember([&](std::string_view node, Value victims) {
      args.proposed.push_back(
          {std::string(node), ReadVictimUids(fields, victims, whole_pods),
           fields.Integer(victims["NumPDBViolations"], 0, std::numeric_limits<int64_t>::max())});
    });
  }
  if (const Result<> checked = Check(fields); !checked) return Fail(checked.error());
  return args;
}

}  // namespace synergy::wire
