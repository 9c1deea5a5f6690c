#include "wire/agents/registration_record.h"

#include <fmt/format.h>

#include "wire/base/member_text.h"

namespace synergy::wire {

void Members(auto& each, Like<RegisteredResource> auto& registered) {
  auto& [resource, kubelet, ids] = registered;
  each("resource", resource);
  each("kubelet", kubelet);
  each("ids", ids);
}

void Members(auto& each, Like<RegistrationRecord> auto& record) {
  auto& [resources, stopped, instance] = record;
  each("resources", resources);
  each("stopped", stopped);
  each("instance", instance);
}

std::string WriteRegistrationRecord(const RegistrationRecord& record) {
  return WriteMembers(record);
}

Result<RegistrationRecord> ReadRegistrationRecord(std::string_view text) {
  if (text.size() > kLongestRegistrationRecord)
    return Fail(ErrorCode::kInvalid,
                fmt::format("longer than {} bytes", kLongestRegistrationRecord));
  return ReadMembers<RegistrationRecord>(text);
}

}  // namespace synergy::wire
