#include "deviceplugin/sources/file_source.h"

#include <atomic>
#include <chrono>

#include <gtest/gtest.h>

#include "support/background.h"
#include "support/temporary_folder.h"

namespace synergy::testing {
namespace {

using deviceplugin::FileSource;

// Only limits how long a failing test waits.
constexpr std::chrono::milliseconds kLong{10000};

TEST(FileSourceTest, TheFileIsReadEachTime) {
  const TemporaryFolder folder;
  const std::string file = folder.Write("gpus.yaml", "gpus: [{uuid: a, product: x}]");
  FileSource source(file);
  EXPECT_EQ(source.Read().value().probes.at("a").fault, "");
  folder.Write("gpus.yaml", "gpus: [{uuid: a, product: x, unhealthy: fan}]");
  EXPECT_EQ(source.Read().value().probes.at("a").fault, "fan");
}

TEST(FileSourceTest, AFileThatIsWrongOrMissingTakesNoDevicesAway) {
  const TemporaryFolder folder;
  FileSource source(folder.Path("gpus.yaml"));
  EXPECT_EQ(source.Read().error().code, ErrorCode::kNotFound);
  folder.Write("gpus.yaml", "gpus: 7");
  EXPECT_EQ(source.Read().error().code, ErrorCode::kInvalid);
}

TEST(FileSourceTest, AnEditEndsTheWait) {
  const TemporaryFolder folder;
  const std::string file = folder.Write("gpus.yaml", "gpus: []");
  FileSource source(file);
  Background writer([&] { folder.Write("gpus.yaml", "gpus: [{uuid: a, product: x}]"); });
  while (source.Read().value().probes.empty()) source.Wait(kLong, {});
}

TEST(FileSourceTest, OtherFilesOfTheFolderAreNobodysBusiness) {
  const TemporaryFolder folder;
  FileSource source(folder.Write("gpus.yaml", "gpus: []"));
  ASSERT_TRUE(source.Read());
  std::atomic<bool> over = false;
  Background writer([&] {
    while (!over) folder.Write("other", "x");
  });
  const auto start = std::chrono::steady_clock::now();
  source.Wait(std::chrono::milliseconds(50), {});
  over = true;
  EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(50));
}

TEST(FileSourceTest, AWakeAndAStopEndTheWait) {
  const TemporaryFolder folder;
  FileSource source(folder.Write("gpus.yaml", "gpus: []"));
  const auto start = std::chrono::steady_clock::now();
  source.Wake();
  source.Wait(kLong, {});
  std::stop_source stop;
  stop.request_stop();
  source.Wait(kLong, stop.get_token());
  EXPECT_LT(std::chrono::steady_clock::now() - start, kLong);
}

}  // namespace
}  // namespace synergy::testing
