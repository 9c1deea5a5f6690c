#include "wire/objects/agent_pod.h"

#include "wire/base/json_words.h"
#include "wire/base/metadata.h"
#include "wire/objects/kind.h"

namespace synergy::wire {

template <>
struct Kind<AgentPod> {
  static constexpr std::string_view kName = "pod";
  static AgentPod Read(FieldReader& fields, Value object, const PodRules&) {
    const Value metadata = fields.Object(object["metadata"]);
    const Value status = fields.Object(object["status"]);
    AgentPod pod;
    pod.uid = ReadText(fields, metadata["uid"]);
    pod.node = ReadText(fields, fields.Object(object["spec"])["nodeName"]);
    pod.address = ReadText(fields, status["podIP"]);
    fields.Array(status["conditions"]).ForEachElement([&](Value condition) {
      condition = fields.Object(condition);
      if (fields.Text(condition["type"]) == "Ready")
        pod.ready = fields.Text(condition["status"]) == "True";
    });
    if (ReadDeleting(fields, metadata)) pod.ready = false;
    return pod;
  }
};

template struct KindReader<AgentPod>;

}  // namespace synergy::wire
