#include "wire/agents/placement_storage.h"

#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "wire/objects/objects.h"

namespace synergy::wire {
namespace {

PublishedStorage Known() {
  return {"7",
          {.bandwidths = {{"gpu-1", 4e7}, {"gpu \"2\"", 0.5}},
           .reads = {{"team", {{"bert", {Gpus(2), Bytes(5), Bytes(7), 2e7}}, {"\\", {}}}},
                     {"others", {}}}}};
}

// Returns what a watch and a read report of a ConfigMap with these data.
PublishedStorage ReadData(const std::string& data) {
  const std::string map = fmt::format(
      R"({{"metadata":{{"name":"synergy-storage","namespace":"ours","uid":"u","resourceVersion":"5"}},"data":{}}})",
      data);
  const Result<PublishedStorage> read = ReadStorage(map);
  const auto event = ObjectReader().ReadWatchEvent<PublishedStorage>(
      R"({"type":"MODIFIED","object":)" + map + "}");
  EXPECT_TRUE(read);
  EXPECT_TRUE(event);
  if (!read || !event) return {};
  EXPECT_EQ(event->object.storage, read->storage);
  EXPECT_EQ(read->resource_version, "5");
  return *read;
}

TEST(PlacementStorageText, IsReadAsItWasWritten) {
  for (const std::string& text : {WriteNewStorage(Known()), WriteStoragePatch(Known())}) {
    const Result<PublishedStorage> read = ReadStorage(text);
    ASSERT_TRUE(read);
    EXPECT_EQ(read->storage, Known().storage);
  }
  EXPECT_EQ(ReadStorage(WriteStoragePatch(Known()))->resource_version, "7");
}

TEST(PlacementStorageText, TextsThatCannotBeReadAreNone) {
  EXPECT_EQ(ReadData(R"({"storage.json":"{\"bandwidths\":{\"a\":7}}"})").storage.bandwidths.at("a"),
            7);
  for (const char* data : {"null", "7", "{}", R"({"storage.json":7})", R"({"storage.json":""})",
                           R"({"storage.json":"{"})", R"({"storage.json":"[]"})",
                           R"({"storage.json":"{\"bandwidths\":7}"})",
                           R"({"storage.json":"{\"bandwidths\":{\"a\":\"much\"}}"})",
                           R"({"storage.json":"{\"reads\":{\"team\":{\"bert\":7}}}"})"}) {
    EXPECT_EQ(ReadData(data).storage, PlacementStorage{}) << data;
  }
  EXPECT_FALSE(ReadStorage("[1"));
}

TEST(PlacementStorageText, TheLargestFitsIntoAConfigMap) {
  PublishedStorage most;
  for (size_t i = 0; i < PlacementStorage::kMostNodes; ++i)
    most.storage.bandwidths[fmt::format("{:0>253}", i)] = 12345678901.234567;
  for (size_t i = 0; i < PlacementStorage::kMostProfiles; ++i)
    most.storage.reads[fmt::format("{:0>63}", i)][std::string(253, 'w')] = {
        Gpus(16), Bytes(1234567890123), Bytes(1234567890123), 12345678901.234567};
  EXPECT_LT(WriteNewStorage(most).size(), size_t{1} << 20);
}

}  // namespace
}  // namespace synergy::wire
