#include "controller/tuner/storage_publisher.h"

#include <chrono>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "support/fake_clock.h"
#include "support/silent_log.h"

namespace synergy::controller {
namespace {

class FakeStorageApi final : public kube::StorageApi {
 public:
  Result<PublishedStorage> ReadStorage(std::stop_token) override {
    ++reads;
    if (error) return Fail(*error);
    if (!stored) return Fail(ErrorCode::kNotFound, "none");
    return *stored;
  }
  Result<PublishedStorage> WriteStorage(const PublishedStorage& published,
                                        std::stop_token) override {
    if (error) return Fail(*error);
    if (published.resource_version != (stored ? stored->resource_version : ""))
      return Fail(ErrorCode::kConflict, "another version");
    stored = {std::to_string(++writes), published.storage};
    if (answers_are_lost) return Fail(ErrorCode::kTimeout, "no answer");
    return *stored;
  }

  std::optional<PublishedStorage> stored;  // the ConfigMap
  std::optional<Error> error;              // of all calls
  bool answers_are_lost = false;           // of writes
  int reads = 0;
  int writes = 0;
};

class StoragePublisherTest : public ::testing::Test {
 protected:
  void Offer(double bandwidth) {
    publisher.Offer({.bandwidths = {{"n1", bandwidth}}, .reads = {}});
  }
  void Publish() {
    clock.Advance(StoragePublisher::kInterval);
    publisher.Publish({});
  }
  double Stored() const { return api.stored ? api.stored->storage.bandwidths.at("n1") : 0; }

  FakeStorageApi api;
  testing::FakeClock clock;
  testing::SilentLog log;
  StoragePublisher publisher{api, clock, log.log};
};

TEST_F(StoragePublisherTest, WritesChangesAlone) {
  Publish();
  EXPECT_EQ(api.reads, 0) << "nothing was offered";
  for (const double bandwidth : {1.0, 1.0, 2.0, 2.0}) {
    Offer(bandwidth);
    Publish();
    EXPECT_EQ(Stored(), bandwidth);
  }
  EXPECT_EQ(api.writes, 2);
  EXPECT_EQ(api.reads, 1);
}

TEST_F(StoragePublisherTest, WritesAtMostOnceInAnInterval) {
  Offer(1);
  Publish();
  Offer(2);
  publisher.Publish({});
  EXPECT_EQ(Stored(), 1);
  Publish();
  EXPECT_EQ(Stored(), 2);
}

TEST_F(StoragePublisherTest, ANewLeaderWritesOnlyWhatTheEarlierOneDidNot) {
  api.stored = {"5", {.bandwidths = {{"n1", 1}}, .reads = {}}};
  Offer(1);
  Publish();
  EXPECT_EQ(api.writes, 0);
  api.stored = {"6", {.bandwidths = {{"n1", 3}}, .reads = {}}};
  publisher.StartOver();
  Publish();
  EXPECT_EQ(Stored(), 3) << "it knows nothing yet";
  Offer(1);
  Publish();
  EXPECT_EQ(Stored(), 1);
}

TEST_F(StoragePublisherTest, ReadsAgainAfterEveryErrorAndConflict) {
  Offer(1);
  api.error = Error{ErrorCode::kUnavailable, "away"};
  Publish();
  EXPECT_EQ(Stored(), 0);
  api.error.reset();
  api.answers_are_lost = true;
  Publish();
  api.answers_are_lost = false;
  Publish();
  EXPECT_EQ(api.writes, 1) << "the write had taken effect";
  api.stored->resource_version = "of another client";
  Offer(2);
  Publish();
  EXPECT_EQ(Stored(), 1);
  Publish();
  EXPECT_EQ(Stored(), 2);
}

}  // namespace
}  // namespace synergy::controller
