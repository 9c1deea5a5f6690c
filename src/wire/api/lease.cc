#include "wire/api/lease.h"

#include <limits>

#include <fmt/format.h>

#include "core/wall_time.h"
#include "wire/base/json_words.h"
#include "wire/base/metadata.h"
#include "wire/objects/objects.h"

namespace synergy::wire {
namespace {

std::string WriteSpec(const std::string& holder, std::chrono::seconds duration, int64_t transitions,
                      bool acquired, WallTime now) {
  std::string out = R"("spec":{"holderIdentity":)";
  AppendJsonString(out, holder);
  out += fmt::format(R"(,"leaseDurationSeconds":{},"renewTime":"{}","leaseTransitions":{})",
                     duration.count(), ToTimeText(now), transitions);
  if (acquired) out += fmt::format(R"(,"acquireTime":"{}")", ToTimeText(now));
  out += '}';
  return out;
}

}  // namespace

Result<Lease> ReadLease(std::string_view text) {
  const Result<Document> document = Document::Parse(text);
  if (!document) return Fail(document.error());
  const Value root = document->root();
  FieldReader fields(root);
  const Value spec = fields.Object(fields.Object(root)["spec"]);
  Lease lease;
  lease.resource_version = ReadText(fields, fields.Object(root["metadata"])["resourceVersion"]);
  lease.holder = ReadText(fields, spec["holderIdentity"]);
  lease.renewed = ReadText(fields, spec["renewTime"]);
  lease.duration = std::chrono::seconds(
      fields.Integer(spec["leaseDurationSeconds"], 0, std::numeric_limits<int32_t>::max()));
  lease.transitions =
      fields.Integer(spec["leaseTransitions"], 0, std::numeric_limits<int32_t>::max());
  if (!fields.ok()) return Fail(ErrorCode::kInvalid, fields.findings().front());
  return lease;
}

std::string WriteNewLease(const std::string& name, const std::string& holder,
                          std::chrono::seconds duration, WallTime now) {
  std::string out = R"({"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":)";
  AppendJsonString(out, name);
  return out + "}," + WriteSpec(holder, duration, 0, true, now) + "}";
}

std::string WriteLeaseChange(const Lease& seen, const std::string& holder,
                             std::chrono::seconds duration, WallTime now) {
  const bool taken = !holder.empty() && holder != seen.holder;
  std::string out = R"({"metadata":{"resourceVersion":)";
  AppendJsonString(out, seen.resource_version);
  return out + "}," + WriteSpec(holder, duration, seen.transitions + (taken ? 1 : 0), taken, now) +
         "}";
}

}  // namespace synergy::wire
