#include "wire/kueue/type_check.h"

#include <fmt/format.h>

#include "core/wall_time.h"
#include "wire/base/json_words.h"
#include "wire/objects/product_affinity.h"

namespace synergy::wire {
namespace {

// Requeue delay of a workload that Kueue evicts at Synergy's request. Without a delay, Kueue could
// admit the workload again before its pods are gone.
constexpr int64_t kRequeueAfterSeconds = 1;

void AppendOperation(Writer& out, std::string_view kind, const std::string& path,
                     std::string_view text) {
  out.BeginObject();
  out.Key("op");
  out.Text(kind);
  out.Key("path");
  out.Text(path);
  out.Key("value");
  out.Text(text);
  out.EndObject();
}

std::string StateOf(const Workload& workload, const std::string& name, const CheckAnswer& answer) {
  Writer out;
  out.BeginObject();
  out.Key("name");
  out.Text(name);
  out.Key("state");
  out.Text(ToString(answer.phase));
  out.Key("lastTransitionTime");
  out.Text(ToTimeText(answer.at));
  out.Key("message");
  out.Text(answer.message);
  if (answer.phase == CheckPhase::kRetry) {
    out.Key("requeueAfterSeconds");
    out.Integer(kRequeueAfterSeconds);
  }
  if (answer.phase == CheckPhase::kReady && !answer.product.empty()) {
    out.Key("podSetUpdates");
    out.BeginArray();
    for (const std::string& set : workload.gpu_sets) {
      out.BeginObject();
      out.Key("name");
      out.Text(set);
      out.Key("nodeSelector");
      out.BeginObject();
      out.Key(kProductLabel);
      out.Text(answer.product);
      out.EndObject();
      out.EndObject();
    }
    out.EndArray();
  }
  out.EndObject();
  return out.Take();
}

}  // namespace

std::string WriteCheckAnswer(const Workload& workload, size_t check, const CheckAnswer& answer) {
  const std::string path = fmt::format("/status/admissionChecks/{}", check);
  const std::string& name = workload.checks[check].name;
  Writer out;
  out.BeginArray();
  AppendOperation(out, "replace", "/metadata/uid", workload.uid);
  AppendOperation(out, "replace", "/metadata/resourceVersion", workload.resource_version);
  out.BeginObject();
  out.Key("op");
  out.Text("replace");
  out.Key("path");
  out.Text(path);
  out.Key("value");
  out.Raw(StateOf(workload, name, answer));
  out.EndObject();
  out.EndArray();
  return out.Take();
}

std::string WriteCheckActive(const AdmissionCheck& check, WallTime at) {
  Writer out;
  out.BeginObject();
  out.Key("metadata");
  out.BeginObject();
  out.Key("uid");
  out.Text(check.uid);
  out.EndObject();
  out.Key("status");
  out.BeginObject();
  out.Key("conditions");
  out.BeginArray();
  out.BeginObject();
  const std::pair<std::string_view, std::string> words[] = {
      {"type", "Active"},
      {"status", "True"},
      {"reason", "Answered"},
      {"message", "synergy-controller answers it"},
      {"lastTransitionTime", ToTimeText(at)}};
  for (const auto& [key, text] : words) {
    out.Key(key);
    out.Text(text);
  }
  out.EndObject();
  out.EndArray();
  out.EndObject();
  out.EndObject();
  return out.Take();
}

}  // namespace synergy::wire
