#include "wire/api/certificates.h"

#include <random>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "json/base64.h"
#include "json/text.h"

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
  EXPECT_EQ(WriteSecretPatch(*secret, {{"c", "AB"}}),
            R"({"metadata":{"resourceVersion":"7"},"data":{"c":"QUI="}})");
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

TEST(Base64, EncodedBytesAreDecoded) {
  std::mt19937 random(1);
  for (size_t size = 0; size < 300; ++size) {
    std::string bytes(size, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random() % 256);
    EXPECT_EQ(json::FromBase64(json::ToBase64(bytes)), bytes);
  }
  for (const char* text : {"Q", "QQ", "QQ=", "Q===", "QQ==QQ==", "Q?==", "=QQQ"})
    EXPECT_EQ(json::FromBase64(text), std::nullopt) << text;
}

}  // namespace
}  // namespace synergy::wire
