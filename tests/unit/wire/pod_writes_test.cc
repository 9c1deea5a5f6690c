#include "wire/pods/pod_writes.h"

#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "json/document.h"
#include "wire/objects/objects.h"

namespace synergy::wire {
namespace {

using json::Document;

TEST(WriteBinding, NamesPodUidAndNode) {
  EXPECT_EQ(WriteBinding("team-a", "job-0", "1234-ab", "node-7"),
            R"({"apiVersion":"v1","kind":"Binding",)"
            R"("metadata":{"namespace":"team-a","name":"job-0","uid":"1234-ab"},)"
            R"("target":{"apiVersion":"v1","kind":"Node","name":"node-7"}})");
}

TEST(WriteBinding, MayBeForThePodAsItWasAlone) {
  EXPECT_EQ(WriteBinding("team-a", "job-0", "1234-ab", "node-7", {}, 77),
            R"({"apiVersion":"v1","kind":"Binding","metadata":{"namespace":"team-a",)"
            R"("name":"job-0","uid":"1234-ab","resourceVersion":"77"},)"
            R"("target":{"apiVersion":"v1","kind":"Node","name":"node-7"}})");
}

TEST(WriteBinding, EscapesNames) {
  const Result<Document> document = Document::Parse(WriteBinding("a\"b", "\\", "\n", "\xFF"));
  ASSERT_TRUE(document);
  EXPECT_EQ(document->root()["metadata"]["namespace"].text(), "a\"b");
  EXPECT_EQ(document->root()["target"]["name"].text(), "\uFFFD");
}

TEST(WriteEviction, NamesThePodAndMayBeATrial) {
  EXPECT_EQ(WriteEviction("team-a", "job-0", "1234-ab", false),
            R"({"apiVersion":"policy/v1","kind":"Eviction",)"
            R"("metadata":{"namespace":"team-a","name":"job-0"},)"
            R"("deleteOptions":{"preconditions":{"uid":"1234-ab"}}})");
  const Result<Document> trial = Document::Parse(WriteEviction("a\"b", "\\", "\n", true));
  ASSERT_TRUE(trial);
  EXPECT_EQ(trial->root()["metadata"]["namespace"].text(), "a\"b");
  std::string dry_run;
  trial->root()["deleteOptions"]["dryRun"].ForEachElement(
      [&dry_run](json::Value each) { dry_run += each.text(); });
  EXPECT_EQ(dry_run, "All");
}

// Returns the limit that a resize of memory to 4 GiB sets; empty if it sets none.
std::string LimitSet(const ManagedContainer& fungible) {
  const Result<Document> document =
      Document::Parse(WriteResize("u", fungible, {Gpus(1), Cores(1), GiB(4)}));
  EXPECT_TRUE(document);
  std::string limit;
  document->root()["spec"]["containers"].ForEachElement([&limit](json::Value container) {
    limit = container["resources"]["limits"]["memory"].text();
  });
  return limit;
}

ManagedContainer Running(Enforcement enforcement, std::optional<Bytes> limit) {
  ManagedContainer fungible;
  fungible.container = "train";
  fungible.enforcement = enforcement;
  fungible.requested = {Gpus(1), Cores(1), limit.value_or(GiB(8))};
  fungible.memory_limit = fungible.memory_limit_in_force = limit;
  fungible.reported = true;
  return fungible;
}

TEST(WriteResize, LowersNoMemoryLimitOfARunningContainer) {
  for (const Enforcement enforcement : {Enforcement::kShared, Enforcement::kStrict}) {
    EXPECT_EQ(LimitSet(Running(enforcement, GiB(8))), "8Gi");
    EXPECT_EQ(LimitSet(Running(enforcement, GiB(2))), "4Gi");
    EXPECT_EQ(LimitSet(Running(enforcement, std::nullopt)), "");
  }
}

TEST(WriteResize, TakesBackAStrictLimitThatTheKubeletSetAside) {
  ManagedContainer fungible = Running(Enforcement::kStrict, GiB(9));
  fungible.memory_limit_in_force = GiB(4);
  EXPECT_EQ(LimitSet(fungible), "4Gi");
}

TEST(WriteResize, KeepsTheLimitAtTheRequestBeforeAStrictContainerRuns) {
  ManagedContainer fungible = Running(Enforcement::kStrict, GiB(8));
  fungible.reported = false;
  EXPECT_EQ(LimitSet(fungible), "4Gi");
  fungible.requested.memory = GiB(6);  // the written amount stays
  EXPECT_EQ(LimitSet(fungible), "8Gi");
}

TEST(WriteResize, LowersNoWrittenMemoryLimit) {
  ManagedContainer fungible = Running(Enforcement::kStrict, GiB(8));
  fungible.reported = false;
  fungible.written.memory_limit = GiB(8);
  EXPECT_EQ(LimitSet(fungible), "8Gi");
}

TEST(WriteResize, KeepsTheLimitOfAGuaranteedContainerAtItsRequest) {
  ManagedContainer fungible = Running(Enforcement::kStrict, GiB(8));
  fungible.guaranteed = true;
  fungible.memory_limit_in_force = GiB(8);
  EXPECT_EQ(LimitSet(fungible), "4Gi");
}

TEST(ReadStatus, GivesCodeReasonAndMessage) {
  const std::optional<Status> status = ReadStatus(
      R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure",)"
      R"("message":"pods \"a\" not found","reason":"NotFound","details":{"name":"a"},"code":404})");
  ASSERT_TRUE(status);
  EXPECT_EQ(status->code, 404);
  EXPECT_EQ(status->reason, "NotFound");
  EXPECT_EQ(status->message, "pods \"a\" not found");
}

// The text is kube-apiserver 1.37.2's refusal of a resize.
TEST(ReadStatus, DistinguishesImpossibleResizesFromMissingRights) {
  const std::optional<Status> never = ReadStatus(
      R"({"kind":"Status","status":"Failure","code":403,"reason":"Forbidden","message":"no room",
          "details":{"name":"a","kind":"pods","causes":[{"reason":"NodeCapacity"}]}})");
  ASSERT_TRUE(never);
  EXPECT_EQ(ToErrorCode(403, never), ErrorCode::kInvalid);
  const std::optional<Status> denied = ReadStatus(
      R"({"kind":"Status","code":403,"reason":"Forbidden","message":"exceeded quota: team",
          "details":{"causes":[{"reason":"FieldValueInvalid"},{}]}})");
  ASSERT_TRUE(denied);
  EXPECT_EQ(ToErrorCode(403, denied), ErrorCode::kDenied);
  EXPECT_EQ(ToErrorCode(403), ErrorCode::kDenied);
}

TEST(ReadStatus, IsNoneForOtherTextAndLenientWithParts) {
  EXPECT_FALSE(ReadStatus(""));
  EXPECT_FALSE(ReadStatus("<html>"));
  EXPECT_FALSE(ReadStatus("[]"));
  EXPECT_FALSE(ReadStatus(R"({"kind":"Pod"})"));
  const std::optional<Status> status = ReadStatus(R"({"kind":"Status","code":"410","reason":5})");
  ASSERT_TRUE(status);
  EXPECT_EQ(status->code, 0);
  EXPECT_EQ(status->reason, "");
}

}  // namespace
}  // namespace synergy::wire
