// Invalid input and many clients: the answers are clear, and other clients are still served.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "integration/extender/extender_process.h"
#include "integration/extender/messages.h"
#include "support/background.h"
#include "support/raw_connection.h"

namespace synergy::testing {
namespace {

using ::testing::HasSubstr;

class ExtenderInputTest : public ::testing::Test {
 protected:
  void SetUp() override {
    server.SetNodes({GpuNode("a"), GpuNode("b")});
    extender = std::make_unique<ExtenderProcess>(server);
    extender->AwaitReady();
  }
  void ExpectServes() {
    EXPECT_THAT(extender->Post("/filter", ExtenderArgs(GpuPod("p"), {"a", "b"})).body,
                HasSubstr(R"("NodeNames":["a","b"])"));
  }

  FakeApiServer server;
  std::unique_ptr<ExtenderProcess> extender;
};

TEST_F(ExtenderInputTest, AnswersWhateverItIsSentWithStatus200AndTheReason) {
  const std::vector<std::string> bodies = {
      "",
      "x",
      "{",
      "[]",
      "null",
      R"({"Pod":[]})",
      R"({"Pod":{"metadata":[]},"NodeNames":["a"]})",
      R"({"Pod":{"spec":{"containers":[{"resources":{"requests":{"cpu":"1.2.3"}}}]}},"NodeNames":["a"]})",
      R"({"Pod":{"spec":{"containers":7}},"NodeNames":["a"]})",
      std::string(100000, '{'),
      std::string("\0\0\0", 3),
      "\xff\xfe",
      R"({"Pod":)" + [] {
        std::string deep;
        for (int i = 0; i < 100000; ++i) deep += R"({"a":)";
        return deep;
      }()};
  for (const char* path : {"/filter", "/prioritize", "/bind", "/preempt"}) {
    for (const std::string& body : bodies) {
      const auto answer = extender->Post(path, body);
      EXPECT_EQ(answer.status, 200) << path << " " << body.substr(0, 60);
      EXPECT_THAT(answer.body, ::testing::StartsWith(R"({"Error":")"))
          << path << " " << body.substr(0, 60);
    }
  }
  ExpectServes();
}

TEST_F(ExtenderInputTest, RefusesABodyOf200MegabytesWithoutReadingItToTheEnd) {
  RawConnection connection(extender->port());
  connection.Send(
      "POST /filter HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: "
      "209715200\r\n\r\n{");
  const std::string answer = connection.ReadAnswer();
  EXPECT_THAT(answer, HasSubstr("HTTP/1.1 200"));
  EXPECT_THAT(BodyOf(answer), ::testing::StartsWith(R"({"Error":")"));
  ExpectServes();
}

TEST_F(ExtenderInputTest, ServesOthersBesideAHundredSilentAndSlowClients) {
  std::vector<RawConnection> idlers;
  for (int i = 0; i < 100; ++i) {
    RawConnection& idler = idlers.emplace_back(extender->port());
    if (i % 2 == 0)
      idler.Send("POST /filter HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n{\"Pod\"");
  }
  for (int i = 0; i < 10; ++i) ExpectServes();
}

TEST_F(ExtenderInputTest, ServesSixtyFourCallersAtOnce) {
  {
    std::vector<Background> callers;
    for (int caller = 0; caller < 64; ++caller) {
      callers.emplace_back([this, caller] {
        const FakePod pod = GpuPod("p" + std::to_string(caller));
        for (int call = 0; call < 20; ++call) {
          EXPECT_THAT(extender->Post("/filter", ExtenderArgs(pod, {"a", "b", "unknown"})).body,
                      HasSubstr(R"("NodeNames":["a","b"])"));
        }
      });
    }
  }
  EXPECT_EQ(extender->Metric(R"(synergy_extender_request_duration_seconds_count{verb="filter"})"),
            64 * 20);
}

TEST_F(ExtenderInputTest, KeepsAConnectionOpenBetweenCalls) {
  RawConnection connection(extender->port());
  const std::string body = ExtenderArgs(GpuPod("p"), {"a"});
  for (int i = 0; i < 200; ++i) {
    ASSERT_TRUE(
        connection.Send(fmt::format("POST /filter HTTP/1.1\r\nHost: x\r\nContent-Type: "
                                    "application/json\r\nContent-Length: {}\r\n\r\n{}",
                                    body.size(), body)));
    const std::string answer = connection.ReadAnswer();
    ASSERT_THAT(answer, HasSubstr("Content-Length: "));
    ASSERT_THAT(BodyOf(answer), HasSubstr(R"("NodeNames":["a"])"));
  }
}

}  // namespace
}  // namespace synergy::testing
