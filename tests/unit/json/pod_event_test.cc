#include "json/pod_event.h"

#include <chrono>
#include <string>

#include <gtest/gtest.h>

#include "json/document.h"

namespace synergy::json {
namespace {

const WallTime kNoon = std::chrono::sys_days{std::chrono::year{2026} / 1 / 2} +
                       std::chrono::hours(12) + std::chrono::milliseconds(999);

TEST(WritePodEvent, SaysWhatHappenedToWhomAndWhen) {
  EXPECT_EQ(
      WritePodEvent({"job-0.1f", "team-a", "job-0", "1234-ab", "Normal", "SynergyGrown", "1 to 2",
                     "synergy-controller", "c-0", kNoon, kNoon + std::chrono::minutes(1), 3}),
      R"({"apiVersion":"v1","kind":"Event",)"
      R"("metadata":{"name":"job-0.1f","namespace":"team-a"},)"
      R"("involvedObject":{"apiVersion":"v1","kind":"Pod","namespace":"team-a",)"
      R"("name":"job-0","uid":"1234-ab"},)"
      R"("type":"Normal","reason":"SynergyGrown","message":"1 to 2",)"
      R"("source":{"component":"synergy-controller"},)"
      R"("reportingComponent":"synergy-controller","reportingInstance":"c-0",)"
      R"("firstTimestamp":"2026-01-02T12:00:00Z","lastTimestamp":"2026-01-02T12:01:00Z",)"
      R"("count":3})");
}

TEST(WritePodEvent, EscapesWhatPeopleMayHaveWritten) {
  PodEvent event;
  event.message = "a \"b\"\n\xFF";
  event.pod_name = "\\";
  const Result<Document> document = Document::Parse(WritePodEvent(event));
  ASSERT_TRUE(document) << document.error().message;
  EXPECT_EQ(document->root()["message"].text(), "a \"b\"\n\uFFFD");
  EXPECT_EQ(document->root()["involvedObject"]["name"].text(), "\\");
}

TEST(WritePodEventRepeat, ChangesCountAndTimeOnly) {
  EXPECT_EQ(WritePodEventRepeat(4, kNoon), R"({"count":4,"lastTimestamp":"2026-01-02T12:00:00Z"})");
}

}  // namespace
}  // namespace synergy::json
