#include "kube/apis/events.h"

#include <chrono>
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/fake_api_server.h"
#include "support/fake_clock.h"
#include "support/silent_log.h"

namespace synergy::kube {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using synergy::testing::FakeApiServer;
using synergy::testing::FakeClock;
using synergy::testing::FakeRequest;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;
using ::testing::SizeIs;

EventRecord Cut(std::string message = "500m to 250m") {
  return {"team", "job-0", "u1", "Normal", "SynergyReclaimed", std::move(message)};
}

class EventsTest : public ::testing::Test {
 protected:
  EventsTest() { client_ = std::move(*ApiClient::Create(server_.access())); }

  void Start(size_t queue_limit = 1000) {
    recorder_ =
        EventRecorder::Start(*client_, clock_, log_, "synergy-controller", "c-0", queue_limit);
  }
  // Records the event, and returns when the API server has received `requests` requests altogether.
  void RecordAndAwait(EventRecord event, size_t requests) {
    recorder_->Record(std::move(event));
    ASSERT_TRUE(server_.WaitForRequests("/events", requests));
  }
  // Waits until the recorder waits before a retry, and then makes the retry due.
  void LetItTryAgain() { clock_.Advance(clock_.AwaitNextWake()); }
  std::vector<FakeRequest> requests() const { return server_.requests("/events"); }

  FakeApiServer server_;
  FakeClock clock_;
  synergy::testing::SilentSink sink_;
  Logger log_{sink_, clock_, LogLevel::kDebug, LogFormat::kText};
  std::unique_ptr<ApiClient> client_;
  std::unique_ptr<EventRecorder> recorder_;
};

TEST_F(EventsTest, EventNamesThePodAndTheReporter) {
  Start();
  RecordAndAwait(Cut(), 1);
  recorder_.reset();
  ASSERT_THAT(requests(), SizeIs(1));
  EXPECT_EQ(requests()[0].method, "POST");
  EXPECT_EQ(requests()[0].path, "/api/v1/namespaces/team/events");
  EXPECT_THAT(requests()[0].body,
              AllOf(HasSubstr(R"("name":"job-0","uid":"u1")"),
                    HasSubstr(R"("reason":"SynergyReclaimed","message":"500m to 250m")"),
                    HasSubstr(R"("reportingInstance":"c-0")"), HasSubstr(R"("count":1)")));
  ASSERT_THAT(server_.event_names(), SizeIs(1));
  EXPECT_THAT(server_.event_names()[0], MatchesRegex("team/job-0\\.[0-9a-f]{16}"));
}

TEST_F(EventsTest, AnEventAboutANodeIsInTheDefaultNamespace) {
  Start();
  RecordAndAwait(AboutNode("n1", "Warning", "SynergyGpuUnhealthy", "GPU-0: fan"), 1);
  recorder_.reset();
  EXPECT_EQ(requests()[0].path, "/api/v1/namespaces/default/events");
  EXPECT_THAT(
      requests()[0].body,
      HasSubstr(R"("involvedObject":{"apiVersion":"v1","kind":"Node","name":"n1","uid":"n1"})"));
}

TEST_F(EventsTest, TheSameAgainIsCountedUpForTenMinutes) {
  Start();
  RecordAndAwait(Cut(), 1);
  RecordAndAwait(Cut("250m to 500m"), 2);
  clock_.Advance(minutes(9));
  RecordAndAwait(Cut(), 3);
  EXPECT_EQ(requests()[2].method, "PATCH");
  EXPECT_EQ(
      requests()[2].path, "/api/v1/namespaces/" + [this] {
        std::string name = server_.event_names()[0];
        return name.insert(name.find('/'), "/events");
      }());
  EXPECT_EQ(requests()[2].headers.at("content-type"), "application/merge-patch+json");
  EXPECT_EQ(requests()[2].body, R"({"count":2,"lastTimestamp":"2026-01-02T00:09:00Z"})");
  // The ten minutes start at the last report.
  clock_.Advance(minutes(9));
  RecordAndAwait(Cut(), 4);
  EXPECT_EQ(requests()[3].method, "PATCH");
  clock_.Advance(minutes(10));
  RecordAndAwait(Cut(), 5);
  EXPECT_EQ(requests()[4].method, "POST");
  EXPECT_THAT(requests()[4].body, HasSubstr(R"("count":1)"));
}

TEST_F(EventsTest, AnEventThatWasDeletedMeanwhileIsWrittenAnewWithItsCount) {
  Start();
  RecordAndAwait(Cut(), 1);
  recorder_->Record(Cut("another"));
  ASSERT_TRUE(server_.WaitForRequests("/events", 2));
  server_.ForgetEvents();
  RecordAndAwait(Cut(), 4);
  EXPECT_EQ(requests()[2].method, "PATCH");
  EXPECT_EQ(requests()[3].method, "POST");
  EXPECT_THAT(requests()[3].body, HasSubstr(R"("count":2)"));
}

TEST_F(EventsTest, RepeatedEventInTheQueueIsCounted) {
  server_.FailNext("POST", "/events", 503);
  Start();
  RecordAndAwait(Cut("first"), 1);
  for (int i = 0; i < 5; ++i) recorder_->Record(Cut());
  LetItTryAgain();
  ASSERT_TRUE(server_.WaitForRequests("/events", 3));
  EXPECT_THAT(requests()[2].body, HasSubstr(R"("count":5)"));
  EXPECT_EQ(recorder_->dropped(), 0U);
}

TEST_F(EventsTest, WhenTheQueueIsFullTheOldestGoes) {
  server_.FailNext("POST", "/events", 503);
  Start(2);
  RecordAndAwait(Cut("being sent"), 1);
  for (const char* message : {"a", "a", "b", "c"}) {
    kube::EventRecord event = Cut(message);
    event.reason += message;
    recorder_->Record(std::move(event));
  }
  EXPECT_EQ(recorder_->dropped(), 2U);
  LetItTryAgain();
  ASSERT_TRUE(server_.WaitForRequests("/events", 4));
  EXPECT_THAT(requests()[1].body, HasSubstr("being sent"));
  EXPECT_THAT(requests()[2].body, HasSubstr(R"("message":"b")"));
  EXPECT_THAT(requests()[3].body, HasSubstr(R"("message":"c")"));
}

TEST_F(EventsTest, HalfFullQueueMergesEventsOfOnePodAndReason) {
  server_.FailNext("POST", "/events", 503);
  Start(4);
  RecordAndAwait(Cut("being sent"), 1);
  kube::EventRecord other = Cut("of another pod");
  other.object_uid = "another";
  recorder_->Record(other);
  for (const char* message : {"a", "b", "c", "d", "e", "f", "g"}) recorder_->Record(Cut(message));
  EXPECT_EQ(recorder_->dropped(), 0U);
  LetItTryAgain();
  ASSERT_TRUE(server_.WaitForRequests("/events", 4));
  EXPECT_THAT(requests()[2].body, HasSubstr("of another pod"));
  EXPECT_THAT(requests()[3].body, HasSubstr(R"("message":"g")"));
  EXPECT_THAT(requests()[3].body, HasSubstr(R"("count":7)"));
}

TEST_F(EventsTest, AnApiServerThatIsDownGetsTheEventLater) {
  server_.Stop();
  Start();
  recorder_->Record(Cut());
  clock_.AwaitSleepers(1);
  server_.Start();
  LetItTryAgain();
  ASSERT_TRUE(server_.WaitForRequests("/events", 1));
  recorder_.reset();
  EXPECT_THAT(server_.event_names(), SizeIs(1));
}

TEST_F(EventsTest, AnAnswerThatWasLostMakesNoSecondEvent) {
  server_.DropNext("POST", "/events", true);
  Start();
  RecordAndAwait(Cut(), 1);
  LetItTryAgain();
  ASSERT_TRUE(server_.WaitForRequests("/events", 2));
  RecordAndAwait(Cut(), 3);
  EXPECT_EQ(requests()[2].method, "PATCH");
  EXPECT_THAT(server_.event_names(), SizeIs(1));
  EXPECT_EQ(recorder_->dropped(), 0U);
}

TEST_F(EventsTest, DropsARefusedEventAndSendsTheNext) {
  server_.FailNext("POST", "/events", 403);
  Start();
  RecordAndAwait(Cut("forbidden"), 1);
  RecordAndAwait(Cut("fine"), 2);
  EXPECT_EQ(recorder_->dropped(), 1U);
  recorder_.reset();
  EXPECT_THAT(server_.event_names(), SizeIs(1));
}

TEST_F(EventsTest, AFailureThatDoesNotEndIsGivenUp) {
  server_.FailNext("POST", "/events", 500, 12);
  Start();
  recorder_->Record(Cut("unlucky"));
  for (int i = 0; i < 11; ++i) LetItTryAgain();
  RecordAndAwait(Cut("lucky"), 13);
  EXPECT_THAT(requests()[12].body, HasSubstr(R"("message":"lucky")"));
  EXPECT_EQ(recorder_->dropped(), 1U);
}

TEST_F(EventsTest, SendsQueuedEventsBeforeItEnds) {
  server_.FailNext("POST", "/events", 503);
  Start();
  RecordAndAwait(Cut("unlucky"), 1);
  clock_.AwaitSleepers(1);
  recorder_->Record(Cut("a"));
  recorder_->Record(Cut("b"));
  recorder_.reset();  // the clock stands still: nothing may wait for it
  EXPECT_THAT(server_.event_names(), SizeIs(2));
}

TEST_F(EventsTest, ASilentApiServerDoesNotHoldUpTheEnd) {
  server_.IgnoreNext("POST", "/events");
  Start();
  RecordAndAwait(Cut(), 1);
  recorder_.reset();
  EXPECT_THAT(server_.event_names(), IsEmpty());
}

TEST_F(EventsTest, LongTextsAreCutAtACharacter) {
  Start();
  EventRecord event = Cut(std::string(1023, 'x') + "é and more");
  event.object_name = std::string(235, 'n') + "-" + std::string(17, 'm');
  RecordAndAwait(event, 1);
  recorder_.reset();
  EXPECT_THAT(requests()[0].body, HasSubstr("\"" + std::string(1023, 'x') + "\""));
  EXPECT_THAT(server_.event_names()[0],
              MatchesRegex("team/" + std::string(235, 'n') + "\\.[0-9a-f]{16}"));
}

TEST_F(EventsTest, NamesCannotLeaveTheirPlaceInThePath) {
  Start();
  EventRecord event = Cut();
  event.object_namespace = "../secrets";
  RecordAndAwait(event, 1);
  EXPECT_EQ(requests()[0].path, "/api/v1/namespaces/..%2Fsecrets/events");
}

}  // namespace
}  // namespace synergy::kube
