#include "http/client.h"

#include <atomic>
#include <latch>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "http/server/server.h"
#include "support/background.h"
#include "support/fake_listener.h"

namespace synergy::http {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using synergy::testing::Background;
using synergy::testing::FakeConnection;
using synergy::testing::FakeListener;
using synergy::testing::FakeRequest;
using synergy::testing::HttpAnswer;
using synergy::testing::ReadRequest;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Clock = std::chrono::steady_clock;

constexpr seconds kPromptly{5};

// Tests a client with a server whose every byte the test decides.
class ClientTest : public ::testing::Test {
 protected:
  ClientTest() { options_.base_url = listener_.url(); }
  ~ClientTest() override { listener_.Close(); }

  Client& client() {
    if (client_ == nullptr) {
      auto created = Client::Create(options_);
      EXPECT_TRUE(created) << created.error().message;
      client_ = std::move(*created);
    }
    return *client_;
  }

  FakeListener listener_;
  ClientOptions options_;
  std::unique_ptr<Client> client_;
};

TEST_F(ClientTest, ARequestIsSentAsGivenAndTheAnswerReturned) {
  options_.base_url += "/prefix/";
  FakeRequest seen;
  Background server([&] {
    const auto connection = listener_.Accept();
    seen = *ReadRequest(*connection);
    connection->Write(HttpAnswer(409, "conflict"));
  });
  const auto answer = client().Send({.method = "POST",
                                     .path = "/a%2Fb?c=%20",
                                     .headers = {{"Authorization", "Bearer t%41"}},
                                     .content_type = "application/json",
                                     .body = "{}"});
  server.Join();
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->status, 409);
  EXPECT_EQ(answer->body, "conflict");
  EXPECT_EQ(seen.method, "POST");
  EXPECT_EQ(seen.path, "/prefix/a%2Fb");
  EXPECT_EQ(seen.query, "c=%20");
  EXPECT_EQ(seen.body, "{}");
  EXPECT_EQ(seen.headers["authorization"], "Bearer t%41");
  EXPECT_EQ(seen.headers["content-type"], "application/json");
  EXPECT_EQ(seen.headers["host"], options_.base_url.substr(7, options_.base_url.find('/', 7) - 7));
  EXPECT_EQ(seen.headers.count("accept-encoding"), 0U);
}

TEST_F(ClientTest, DoesNotSendMalformedRequests) {
  for (const ClientRequest& request : std::vector<ClientRequest>{
           {.path = "no-slash"},
           {.path = "/a b"},
           {.path = "/a\r\nX: y"},
           {.method = "G ET", .path = "/"},
           {.path = "/", .headers = {{"X", "a\r\nY: b"}}},
           {.path = "/", .headers = {{"X:", "a"}, {"", "b"}}},
           {.method = "POST", .path = "/", .content_type = "a\nb", .body = "x"},
       }) {
    const auto answer = client().Send(request);
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, ErrorCode::kInvalid);
  }
}

TEST_F(ClientTest, BadUrlsAreRefused) {
  for (const char* url :
       {"", "127.0.0.1:80", "ftp://host", "http://", "http://:80", "http://host:0",
        "http://host:65536", "http://host:80x", "http://[::1", "http://[::1]80", "http://user@host",
        "http://ho st", "http://host/?query"}) {
    options_.base_url = url;
    const auto created = Client::Create(options_);
    ASSERT_FALSE(created) << url;
    EXPECT_EQ(created.error().code, ErrorCode::kInvalid);
    EXPECT_THAT(created.error().message, HasSubstr(url));
  }
}

TEST_F(ClientTest, RequestsOneAfterTheOtherUseOneConnection) {
  std::atomic<int> connections = 0;
  const Background server([&] {
    while (const auto connection = listener_.Accept()) {
      ++connections;
      while (ReadRequest(*connection)) connection->Write(HttpAnswer(200, "ok"));
    }
  });
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(client().Send({.path = "/"}));
  EXPECT_EQ(connections, 1);
  client_.reset();
  listener_.Close();
}

TEST_F(ClientTest, AServerThatIsNotThereIsUnavailable) {
  listener_.Close();
  const auto answer = client().Send({.method = "POST", .path = "/"});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(answer.error().message, HasSubstr("cannot connect to 127.0.0.1:"));
}

TEST_F(ClientTest, ASilentServerIsATimeout) {
  options_.read_timeout = milliseconds(50);
  std::latch done(1);
  const Background server([&] {
    const auto connection = listener_.Accept();
    ReadRequest(*connection);
    done.wait();
  });
  const auto answer = client().Send({.method = "POST", .path = "/", .body = "x"});
  done.count_down();
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::kTimeout);
  EXPECT_THAT(answer.error().message, HasSubstr("silent for 50 ms"));
}

TEST_F(ClientTest, AServerThatDribblesIsATimeoutWhereThereIsALimit) {
  options_.transfer_timeout = milliseconds(100);
  std::atomic<bool> done = false;
  const Background server([&] {
    const auto connection = listener_.Accept();
    ReadRequest(*connection);
    connection->Write("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n");
    while (!done) {
      connection->Write("x");
      std::this_thread::sleep_for(milliseconds(10));
    }
  });
  const auto answer = client().Send({.path = "/"});
  done = true;
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::kTimeout) << answer.error().message;
}

// The client cannot know whether such a request was processed, however the connection has ended.
TEST_F(ClientTest, AConnectionThatBreaksAfterTheRequestIsATimeout) {
  for (const bool reset : {false, true}) {
    const Background server([&] {
      const auto connection = listener_.Accept();
      ReadRequest(*connection);
      if (reset) connection->ResetOnClose();
    });
    const auto answer = client().Send({.method = "POST", .path = "/", .body = "x"});
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, ErrorCode::kTimeout) << answer.error().message;
    EXPECT_THAT(answer.error().message, HasSubstr("no answer: "));
  }
}

TEST_F(ClientTest, AnAnswerThatBreaksOffIsATimeout) {
  const Background server([&] {
    const auto connection = listener_.Accept();
    ReadRequest(*connection);
    connection->Write("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc");
  });
  const auto answer = client().Send({.path = "/"});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::kTimeout);
  EXPECT_THAT(answer.error().message, HasSubstr("the answer is incomplete"));
}

TEST_F(ClientTest, AnAnswerThatIsNotHttpIsATimeout) {
  for (const std::string& nonsense :
       {std::string("SSH-2.0-OpenSSH\r\n"),
        "HTTP/1.1 200 " + std::string(1 << 20, 'x') + "\r\n\r\n",
        std::string("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nnonsense\r\n")}) {
    const Background server([&] {
      const auto connection = listener_.Accept();
      ReadRequest(*connection);
      connection->Write(nonsense);
      connection->ReadLine();
    });
    const auto answer = client().Send({.path = "/"});
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, ErrorCode::kTimeout) << answer.error().message;
  }
}

TEST_F(ClientTest, AnAnswerThatIsTooLargeIsRefused) {
  options_.max_response_bytes = 10;
  const Background server([&] {
    const auto connection = listener_.Accept();
    ReadRequest(*connection);
    connection->Write(HttpAnswer(200, "0123456789A"));
    connection->ReadLine();
  });
  const auto answer = client().Send({.path = "/"});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::kTooLarge);
  EXPECT_EQ(answer.error().message, "the answer is larger than 10 bytes");
}

// Answers once, and closes the connection only after it has seen the next request, so that the
// client cannot notice before. Then serves normally.
void ServeTreacherously(FakeListener& listener, std::atomic<int>& requests) {
  auto first = listener.Accept();
  ReadRequest(*first);
  first->Write(HttpAnswer(200, "first"));
  ReadRequest(*first);
  ++requests;
  first.reset();
  while (const auto connection = listener.Accept()) {
    while (ReadRequest(*connection)) {
      ++requests;
      connection->Write(HttpAnswer(200, "second"));
    }
  }
}

TEST_F(ClientTest, AGetThatMeetsAClosedConnectionIsSentAgain) {
  std::atomic<int> requests = 0;
  const Background server([&] { ServeTreacherously(listener_, requests); });
  ASSERT_TRUE(client().Send({.path = "/"}));
  const auto answer = client().Send({.path = "/"});
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->body, "second");
  EXPECT_EQ(requests, 2);
  client_.reset();
  listener_.Close();
}

TEST_F(ClientTest, APostThatMeetsAClosedConnectionIsNotSentAgain) {
  std::atomic<int> requests = 0;
  const Background server([&] { ServeTreacherously(listener_, requests); });
  ASSERT_TRUE(client().Send({.path = "/"}));
  const auto answer = client().Send({.method = "POST", .path = "/", .body = "x"});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::kTimeout);
  EXPECT_EQ(requests, 1);
  client_.reset();
  listener_.Close();
}

TEST_F(ClientTest, AConnectionThatWasClosedMeanwhileIsNotUsed) {
  std::latch closed(1);
  const Background server([&] {
    auto first = listener_.Accept();
    ReadRequest(*first);
    first->Write(HttpAnswer(200, "first"));
    first.reset();
    closed.count_down();
    const auto second = listener_.Accept();
    ReadRequest(*second);
    second->Write(HttpAnswer(200, "second"));
  });
  ASSERT_TRUE(client().Send({.path = "/"}));
  closed.wait();
  const auto answer = client().Send({.method = "POST", .path = "/", .body = "x"});
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->body, "second");
}

TEST_F(ClientTest, ManyCallersEachGetTheirOwnAnswer) {
  auto server = Server::Create({});
  ASSERT_TRUE(server);
  (*server)->Handle("POST", "/echo", [](const Request& request) {
    return Response{200, "text/plain", std::string(request.body)};
  });
  ASSERT_TRUE((*server)->Start());
  options_.base_url = "http://127.0.0.1:" + std::to_string((*server)->port());
  Client& shared = client();
  std::atomic<int> right = 0;
  {
    std::vector<Background> callers;
    for (int i = 0; i < 64; ++i) {
      callers.emplace_back([&, i] {
        for (int j = 0; j < 20; ++j) {
          const std::string text = std::to_string(i) + "-" + std::to_string(j);
          const auto answer = shared.Send({.method = "POST", .path = "/echo", .body = text});
          if (answer && answer->body == text) ++right;
        }
      });
    }
  }
  EXPECT_EQ(right, 64 * 20);
}

constexpr std::string_view kStreamHead = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";

TEST_F(ClientTest, AStreamsPiecesComeAsTheyAreSent) {
  std::latch first_seen(1);
  const Background server([&] {
    const auto connection = listener_.Accept();
    ReadRequest(*connection);
    connection->Write(std::string(kStreamHead) + "3\r\none\r\n");
    first_seen.wait();  // the client has it before more is sent
    connection->Write("3\r\ntwo\r\n0\r\n\r\n");
  });
  std::vector<std::string> pieces;
  const auto answer = client().Stream({.path = "/"}, seconds(30),
                                      [&](std::string_view piece) {
                                        pieces.emplace_back(piece);
                                        if (piece == "one") first_seen.count_down();
                                        return true;
                                      },
                                      {});
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->status, 200);
  EXPECT_THAT(pieces, ElementsAre("", "one", "two"));
}

TEST_F(ClientTest, AStreamThatIsRefusedGivesTheReason) {
  const Background server([&] {
    const auto connection = listener_.Accept();
    ReadRequest(*connection);
    connection->Write(HttpAnswer(410, "too old"));
  });
  const auto answer = client().Stream({.path = "/"}, seconds(30),
                                      [](std::string_view) { return ADD_FAILURE(), false; }, {});
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->status, 410);
  EXPECT_EQ(answer->body, "too old");
}

TEST_F(ClientTest, AStreamEndsWhenItsReaderHasEnough) {
  const Background server([&] {
    const auto connection = listener_.Accept();
    ReadRequest(*connection);
    connection->Write(std::string(kStreamHead) + "3\r\none\r\n");
    connection->ReadLine();
  });
  const auto answer = client().Stream({.path = "/"}, seconds(30),
                                      [](std::string_view piece) { return piece.empty(); }, {});
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->status, 200);
}

TEST_F(ClientTest, AStreamThatBreaksOffIsATimeout) {
  const Background server([&] {
    const auto connection = listener_.Accept();
    ReadRequest(*connection);
    connection->Write(std::string(kStreamHead) + "64\r\nhalf a chu");
  });
  const auto answer =
      client().Stream({.path = "/"}, seconds(30), [](std::string_view) { return true; }, {});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::kTimeout);
}

TEST_F(ClientTest, AStreamThatFallsSilentIsATimeout) {
  std::latch done(1);
  const Background server([&] {
    const auto connection = listener_.Accept();
    ReadRequest(*connection);
    connection->Write(kStreamHead);
    done.wait();
  });
  const auto answer =
      client().Stream({.path = "/"}, milliseconds(50), [](std::string_view) { return true; }, {});
  done.count_down();
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::kTimeout);
}

TEST_F(ClientTest, ASilentStreamIsStoppedAtOnce) {
  const Background server([&] {
    const auto connection = listener_.Accept();
    ReadRequest(*connection);
    connection->Write(kStreamHead);
    connection->ReadLine();
  });
  std::stop_source stop;
  std::latch open(1);
  const Background stopper([&] {
    open.wait();
    stop.request_stop();
  });
  const Clock::time_point start = Clock::now();
  const auto answer = client().Stream(
      {.path = "/"}, seconds(60), [&](std::string_view) { return open.count_down(), true; },
      stop.get_token());
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::kCancelled);
  EXPECT_LT(Clock::now() - start, kPromptly);
}

TEST_F(ClientTest, ACallIsStoppedBeforeAndWhileItWaits) {
  std::stop_source stop;
  const Background server([&] {
    const auto connection = listener_.Accept();
    ReadRequest(*connection);
    stop.request_stop();
    connection->ReadLine();
  });
  auto answer = client().Send({.path = "/"}, stop.get_token());
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::kCancelled);
  answer = client().Send({.path = "/"}, stop.get_token());
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::kCancelled);
}

}  // namespace
}  // namespace synergy::http
