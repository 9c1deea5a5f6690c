#include "json/base64.h"

#include <optional>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "json/text.h"

namespace synergy::json {
namespace {

TEST(Base64, EncodedBytesAreDecoded) {
  std::mt19937 random(1);
  for (size_t size = 0; size < 300; ++size) {
    std::string bytes(size, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random() % 256);
    EXPECT_EQ(FromBase64(ToBase64(bytes)), bytes);
  }
}

TEST(Base64, LinesAreJoined) { EXPECT_EQ(FromBase64("QU\n JD\r\n"), "ABC"); }

TEST(Base64, OtherTextIsRefused) {
  for (const char* text : {"Q", "QQ", "QQ=", "Q===", "QQ==QQ==", "Q?==", "=QQQ"})
    EXPECT_EQ(FromBase64(text), std::nullopt) << text;
}

}  // namespace
}  // namespace synergy::json
