#include "wire/api/certificates.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace synergy::wire {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

TEST(Certificates, ASecretIsReadAndWritten) {
  const auto secret = ReadSecret(
      R"({"metadata":{"resourceVersion":"7"},"data":{"a":"QUI=","b":"","bad":"?"},"type":"Opaque"})");
  ASSERT_TRUE(secret);
  EXPECT_EQ(secret->resource_version, "7");
  EXPECT_THAT(secret->data, ElementsAre(Pair("a", "AB"), Pair("b", "")));
  EXPECT_EQ(WriteSecretPatch(*secret, {{"a", ""}, {"c", "AB"}}),
            R"({"metadata":{"resourceVersion":"7"},"data":{"a":null,"c":"QUI="}})");
  EXPECT_TRUE(ReadSecret(R"({"metadata":{"resourceVersion":"7"}})")->data.empty());
  EXPECT_FALSE(ReadSecret("[]"));
}

TEST(Certificates, OnlyTheAuthoritiesOfWebhooksAreWritten) {
  const auto seen = ReadWebhookAuthorities(
      R"({"metadata":{"resourceVersion":"8"},"webhooks":[{"name":"a","clientConfig":{"caBundle":"QUI="}},
          {"name":"b","clientConfig":{}}]})");
  ASSERT_TRUE(seen);
  EXPECT_THAT(seen->bundles, ElementsAre("AB", ""));
  EXPECT_EQ(WriteWebhookAuthorities(*seen, "AB"),
            R"([{"op":"test","path":"/metadata/resourceVersion","value":"8"},)"
            R"({"op":"add","path":"/webhooks/0/clientConfig/caBundle","value":"QUI="},)"
            R"({"op":"add","path":"/webhooks/1/clientConfig/caBundle","value":"QUI="}])");
}

}  // namespace
}  // namespace synergy::wire
