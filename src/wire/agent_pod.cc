#include "wire/agent_pod.h"

#include "wire/json_words.h"
#include "wire/object_readers.h"

namespace synergy::wire {

AgentPod ReadAgentPodObject(FieldReader& fields, Value object) {
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

}  // namespace synergy::wire
