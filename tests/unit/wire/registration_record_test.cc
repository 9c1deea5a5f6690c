#include "wire/agents/registration_record.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "wire/objects/resource_slices.h"

namespace synergy::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(RegistrationRecordTest, RecordIsReadBackUnchanged) {
  const wire::RegistrationRecord record{
      {{"nvidia.com/gpu", "1:2:3", {"GPU-0", "GPU-1"}}, {"nvidia.com/t4", "", {}}},
      "NVIDIA's device plugin serves nvidia-gpu.sock",
      "0b1c"};
  const auto read = wire::ReadRegistrationRecord(wire::WriteRegistrationRecord(record));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, record);
}

TEST(RegistrationRecordTest, ErrorsNameTheMemberAndNewMembersAreSkipped) {
  const auto wrong = wire::ReadRegistrationRecord(R"({"resources":[{"ids":[7]}]})");
  ASSERT_FALSE(wrong);
  EXPECT_THAT(wrong.error().message, HasSubstr("ids"));
  EXPECT_FALSE(wire::ReadRegistrationRecord(std::string(2 << 20, ' ')));
  EXPECT_TRUE(wire::ReadRegistrationRecord(R"({"new":{"a":1}})"));
}

TEST(ResourceSlicesTest, DriversAreNamedOnce) {
  const auto drivers = wire::ReadSliceDrivers(R"({"kind":"ResourceSliceList","items":[
    {"spec":{"driver":"gpu.nvidia.com","nodeName":"n1"}},
    {"spec":{"driver":"dra.net"}},
    {"spec":{"driver":"gpu.nvidia.com"}},
    {"spec":{"driver":7}}, {"spec":null}, 3]})");
  ASSERT_TRUE(drivers) << drivers.error().message;
  EXPECT_THAT(*drivers, ElementsAre("dra.net", "gpu.nvidia.com"));
  EXPECT_THAT(*wire::ReadSliceDrivers(R"({"items":[]})"), IsEmpty());
  EXPECT_FALSE(wire::ReadSliceDrivers("not JSON"));
}

}  // namespace
}  // namespace synergy::testing
