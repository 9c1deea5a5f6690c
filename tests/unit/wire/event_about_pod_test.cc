#include "wire/objects/event_about_pod.h"

#include <chrono>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "json/document.h"
#include "wire/objects/objects.h"

namespace synergy::wire {
namespace {

const WallTime kNoon = std::chrono::sys_days{std::chrono::year{2026} / 1 / 2} +
                       std::chrono::hours(12) + std::chrono::milliseconds(999);

TEST(WriteEventAboutPod, HasObjectReasonAndTime) {
  EXPECT_EQ(WriteEventAboutPod({"job-0.1f", "team-a", "job-0", "1234-ab", "Normal", "SynergyGrown",
                                "1 to 2", "synergy-controller", "c-0", kNoon,
                                kNoon + std::chrono::minutes(1), 3}),
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

TEST(WriteEventAboutPod, EscapesWhatPeopleMayHaveWritten) {
  EventAboutPod event;
  event.message = "a \"b\"\n\xFF";
  event.pod_name = "\\";
  const Result<json::Document> document = json::Document::Parse(WriteEventAboutPod(event));
  ASSERT_TRUE(document) << document.error().message;
  EXPECT_EQ(document->root()["message"].text(), "a \"b\"\n\uFFFD");
  EXPECT_EQ(document->root()["involvedObject"]["name"].text(), "\\");
}

TEST(WriteEventAboutPod, IsAboutAJobToo) {
  EventAboutPod event;
  event.pod_namespace = "team";
  event.kind = "Job";
  event.api_version = "batch/v1";
  EXPECT_THAT(WriteEventAboutPod(event),
              ::testing::HasSubstr(
                  R"("involvedObject":{"apiVersion":"batch/v1","kind":"Job","namespace":"team",)"));
}

TEST(WriteRepeatedEvent, ChangesCountAndTimeOnly) {
  EXPECT_EQ(WriteRepeatedEvent(4, kNoon), R"({"count":4,"lastTimestamp":"2026-01-02T12:00:00Z"})");
}

TEST(ReadEventsAboutPods, EventsOfBothApisAreRead) {
  const auto page = ObjectReader("nvidia.com/gpu").ReadList<EventAboutPod>(R"({"items":[
    {"metadata":{"name":"e1","namespace":"team","uid":"1"},"reason":"SynergyGrown","message":"m",
     "type":"Normal","involvedObject":{"kind":"Pod","namespace":"team","name":"p","uid":"u"},
     "source":{"component":"synergy-controller"},"firstTimestamp":"2026-01-02T12:00:00Z",
     "lastTimestamp":"2026-01-02T12:01:00Z","count":3},
    {"metadata":{"name":"e2","namespace":"team","uid":"2"},"reason":"FailedScheduling",
     "involvedObject":{},"reportingComponent":"synergy-scheduler","firstTimestamp":null,
     "lastTimestamp":null,"eventTime":"2026-01-02T12:00:00.500000Z",
     "series":{"count":7,"lastObservedTime":"2026-01-02T12:02:00.000000Z"}}]})");
  ASSERT_TRUE(page) << page.error().message;
  EXPECT_TRUE(page->problems.empty()) << page->problems.front();
  ASSERT_EQ(page->items.size(), 2u);
  const EventAboutPod& core = page->items[0];
  EXPECT_EQ(core.pod_uid, "u");
  EXPECT_EQ(core.component, "synergy-controller");
  EXPECT_EQ(core.count, 3u);
  EXPECT_EQ(core.last - core.first, std::chrono::minutes(1));
  const EventAboutPod& recent = page->items[1];
  EXPECT_EQ(recent.component, "synergy-scheduler");
  EXPECT_EQ(recent.count, 7u);
  EXPECT_EQ(recent.last - recent.first, std::chrono::milliseconds(119500));
}

}  // namespace
}  // namespace synergy::wire
