#include <string>

#include <gtest/gtest.h>

#include "wire/objects/objects.h"
#include "wire/objects/resize_status.h"

namespace synergy::testing {
namespace {

wire::AgentPod ReadPod(const std::string& metadata, const std::string& status) {
  const auto page = wire::ObjectReader().ReadList<wire::AgentPod>(
      R"({"metadata":{"resourceVersion":"1"},"items":[{"metadata":{"name":"p","uid":"u1")" +
      metadata + R"(},"spec":{"nodeName":"n1"},"status":{)" + status + "}}]}");
  EXPECT_TRUE(page) << page.error().message;
  EXPECT_TRUE(page->problems.empty());
  return page->items.at(0);
}

TEST(AgentPodTest, APodThatIsReadyHasANodeAndAnAddress) {
  const std::string ready =
      R"("podIP":"10.0.0.7","conditions":[{"type":"Initialized","status":"True"},)"
      R"({"type":"Ready","status":"True"}])";
  const wire::AgentPod pod = ReadPod("", ready);
  EXPECT_EQ(pod.uid, "u1");
  EXPECT_EQ(pod.node, "n1");
  EXPECT_EQ(pod.address, "10.0.0.7");
  EXPECT_TRUE(pod.ready);
  EXPECT_FALSE(ReadPod(R"(,"deletionTimestamp":"2026-01-02T03:04:05Z")", ready).ready);
}

TEST(AgentPodTest, OneThatHasNotStartedIsNotReady) {
  EXPECT_FALSE(ReadPod("", "").ready);
  EXPECT_FALSE(ReadPod("", R"("conditions":[{"type":"Ready","status":"False"}])").ready);
}

}  // namespace
}  // namespace synergy::testing
