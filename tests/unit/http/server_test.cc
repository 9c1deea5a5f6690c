#include "http/server/server.h"

#include <atomic>
#include <future>
#include <latch>
#include <list>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "http/client.h"
#include "support/background.h"
#include "support/raw_connection.h"

namespace synergy::http {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using synergy::testing::Background;
using synergy::testing::BodyOf;
using synergy::testing::RawConnection;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using Clock = std::chrono::steady_clock;

// "Soon" is far below every timeout that could otherwise end a wait, and far above what a busy
// machine needs.
constexpr seconds kSoon{5};

Response Text(std::string body) { return {200, "text/plain", std::move(body)}; }

// Tests a server with an echo and with handlers that a test adds.
class ServerTest : public ::testing::Test {
 protected:
  void Start() {
    auto created = Server::Create(options_);
    ASSERT_TRUE(created) << created.error().message;
    server_ = std::move(*created);
    server_->Handle("POST", "/echo",
                    [](const Request& request) { return Text(std::string(request.body)); });
    server_->Handle("POST", "/size", [](const Request& request) {
      return Text(std::to_string(request.body.size()));
    });
    server_->Handle("GET", "/hello", [](const Request& request) {
      return Text("hello " + std::string(request.query));
    });
    server_->Handle("GET", "/teapot",
                    [](const Request&) { return Response{418, "text/plain", "short and stout"}; });
    for (const char* method : {"GET", "POST"}) {
      server_->Handle(method, "/wait", [this](const Request&) {
        waiting_.count_down();
        go_on_.wait();
        return Text("waited");
      });
    }
    const Result<> started = server_->Start();
    ASSERT_TRUE(started) << started.error().message;
  }

  RawConnection Connect() { return RawConnection(server_->port()); }
  std::string Ask(std::string_view request) {
    RawConnection connection = Connect();
    connection.Send(request);
    return connection.ReadAnswer();
  }

  ServerOptions options_;
  std::unique_ptr<Server> server_;
  std::latch waiting_{1};
  std::latch go_on_{1};
};

constexpr std::string_view kHello = "GET /hello?name=you HTTP/1.1\r\nHost: x\r\n\r\n";

TEST_F(ServerTest, AHandlerGetsTheRequestAndItsAnswerIsSent) {
  Start();
  const std::string answer = Ask(kHello);
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(answer, HasSubstr("Content-Type: text/plain\r\n"));
  for (const char* header :
       {"Cache-Control: no-store", "X-Content-Type-Options: nosniff", "X-Frame-Options: DENY"})
    EXPECT_THAT(answer, HasSubstr(std::string("\r\n") + header + "\r\n"));
  EXPECT_EQ(BodyOf(answer), "hello name=you");
  EXPECT_EQ(BodyOf(Ask("POST /echo HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello")), "hello");
}

TEST(RequestTest, AParameterOfTheQueryIsFoundByItsWholeName) {
  Request request;
  EXPECT_EQ(request.Parameter("name"), "");
  request.query = "rename=a&name&name=b=c%20&name=d&last=";
  EXPECT_EQ(request.Parameter("rename"), "a");
  EXPECT_EQ(request.Parameter("name"), "b=c%20");
  EXPECT_EQ(request.Parameter("last"), "");
  EXPECT_EQ(request.Parameter("nam"), "");
}

TEST_F(ServerTest, HandlersSeeHeadersAndMayAskForAToken) {
  server_ = *Server::Create(options_);
  server_->Handle("GET", "/guarded", [](const Request& request) {
    const std::string seen = request.header("Authorization") + request.header("Other");
    return Response{seen.empty() ? 401 : 200, "text/plain", seen};
  });
  ASSERT_TRUE(server_->Start());
  EXPECT_THAT(Ask("GET /guarded HTTP/1.1\r\nHost: x\r\n\r\n"),
              AllOf(StartsWith("HTTP/1.1 401 "), HasSubstr("\r\nWWW-Authenticate: Bearer\r\n")));
  const std::string answer =
      Ask("GET /guarded HTTP/1.1\r\nHost: x\r\nauthorization: Bearer abc\r\n\r\n");
  EXPECT_EQ(BodyOf(answer), "Bearer abc");
  EXPECT_THAT(answer, Not(HasSubstr("WWW-Authenticate")));
}

TEST_F(ServerTest, AConnectionServesManyRequests) {
  Start();
  RawConnection connection = Connect();
  for (int i = 0; i < 200; ++i) {
    ASSERT_TRUE(connection.Send("POST /echo HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc"));
    const std::string answer = connection.ReadAnswer();
    ASSERT_EQ(BodyOf(answer), "abc");
    ASSERT_THAT(answer, Not(HasSubstr("Connection: close")));
  }
}

TEST_F(ServerTest, RequestsThatAreSentAheadAreAnsweredInOrder) {
  Start();
  RawConnection connection = Connect();
  ASSERT_TRUE(
      connection.Send("POST /echo HTTP/1.1\r\nContent-Length: 5\r\n\r\nfirst"
                      "POST /echo HTTP/1.1\r\nContent-Length: 6\r\n\r\nsecond"));
  EXPECT_EQ(BodyOf(connection.ReadAnswer()), "first");
  EXPECT_EQ(BodyOf(connection.ReadAnswer()), "second");
}

TEST_F(ServerTest, AnswersHaveALengthAndAreNeitherCompressedNorCut) {
  Start();
  const std::string answer = Ask(
      "GET /hello HTTP/1.1\r\nAccept-Encoding: gzip, br\r\nRange: bytes=0-1\r\nHost: x\r\n\r\n");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(answer, HasSubstr("Content-Length: 6\r\n"));
  EXPECT_THAT(answer, Not(HasSubstr("Encoding")));
  EXPECT_EQ(BodyOf(answer), "hello ");
}

TEST_F(ServerTest, ABodyInChunksIsPutTogether) {
  Start();
  EXPECT_EQ(BodyOf(Ask("POST /echo HTTP/1.1\r\nTransfer-Encoding: "
                       "chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n")),
            "abcde");
}

TEST_F(ServerTest, APostWithoutALengthHasNoBody) {
  Start();
  EXPECT_EQ(BodyOf(Ask("POST /size HTTP/1.1\r\nHost: x\r\n\r\n")), "0");
}

TEST_F(ServerTest, HeadIsAnsweredLikeGetWithoutTheBody) {
  Start();
  RawConnection connection = Connect();
  ASSERT_TRUE(connection.Send("HEAD /hello HTTP/1.1\r\nConnection: close\r\n\r\n"));
  const std::string answer = connection.ReadToEnd();
  EXPECT_THAT(answer, HasSubstr("Content-Length: 6\r\n"));
  EXPECT_EQ(BodyOf(answer), "");
}

TEST_F(ServerTest, AClientThatSendsNoMoreStillGetsItsAnswer) {
  Start();
  RawConnection connection = Connect();
  ASSERT_TRUE(connection.Send(kHello));
  connection.FinishSending();
  EXPECT_EQ(BodyOf(connection.ReadToEnd()), "hello name=you");
}

TEST_F(ServerTest, AConnectionIsClosedWhenTheClientAsksForIt) {
  Start();
  RawConnection connection = Connect();
  ASSERT_TRUE(connection.Send("GET /hello HTTP/1.1\r\nConnection: close\r\n\r\n"));
  EXPECT_THAT(connection.ReadToEnd(), HasSubstr("Connection: close\r\n"));
}

TEST_F(ServerTest, UnknownPathsAndMethodsAreRefused) {
  Start();
  EXPECT_THAT(Ask("GET /nothing HTTP/1.1\r\n\r\n"), StartsWith("HTTP/1.1 404 "));
  EXPECT_THAT(Ask("GET /echo HTTP/1.1\r\n\r\n"), StartsWith("HTTP/1.1 405 "));
  EXPECT_THAT(Ask("POST /nothing HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc"),
              StartsWith("HTTP/1.1 404 "));
}

TEST_F(ServerTest, ARefusedRequestThatWasReadWholeLeavesItsConnectionOpen) {
  Start();
  RawConnection connection = Connect();
  connection.Send("GET /nothing HTTP/1.1\r\n\r\n");
  const std::string answer = connection.ReadAnswer();
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 404 "));
  EXPECT_THAT(answer, Not(HasSubstr("Connection: close")));
  connection.Send(kHello);
  EXPECT_EQ(BodyOf(connection.ReadAnswer()), "hello name=you");
}

TEST_F(ServerTest, MalformedRequestsAreRefusedAndTheirConnectionsClosed) {
  Start();
  const std::vector<std::string> requests = {
      "NONSENSE\r\n\r\n",
      "GET /hello HTTP/9.9\r\n\r\n",
      "POST /echo HTTP/1.1\r\nContent-Length: abc\r\n\r\nabc",
      "POST /echo HTTP/1.1\r\nContent-Length: -1\r\n\r\nabc",
      "POST /echo HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\nabc",
      "POST /echo HTTP/1.1\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabc",
      "POST /echo HTTP/1.1\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
      "POST /echo HTTP/1.1\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
      "POST /echo HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nthis is no chunk\r\n",
      "GET /hello HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello",
  };
  for (const std::string& request : requests) {
    RawConnection connection = Connect();
    ASSERT_TRUE(connection.Send(request));
    connection.FinishSending();
    EXPECT_THAT(connection.ReadToEnd(), StartsWith("HTTP/1.1 400 ")) << request;
  }
  EXPECT_THAT(Ask("GET /" + std::string(9000, 'a') + " HTTP/1.1\r\n\r\n"),
              StartsWith("HTTP/1.1 414 "));
}

TEST_F(ServerTest, AHeadWithoutEndIsGivenUp) {
  Start();
  std::string many_headers = "GET /hello HTTP/1.1\r\n";
  for (int i = 0; i < 10'000; ++i) many_headers += "X-Header-" + std::to_string(i) + ": value\r\n";
  EXPECT_THAT(Ask(many_headers), StartsWith("HTTP/1.1 431 "));

  const std::string megabyte(1 << 20, 'a');
  for (const char* start : {"", "GET /hello HTTP/1.1\r\nX: ",
                            "POST /echo HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"}) {
    RawConnection endless_line = Connect();
    endless_line.Send(start);
    bool open = true;
    for (int i = 0; i < 1000 && open; ++i) open = endless_line.Send(megabyte);
    EXPECT_FALSE(open) << start;
  }
}

TEST_F(ServerTest, FormsAreNotTaken) {
  Start();
  EXPECT_THAT(Ask("POST /echo HTTP/1.1\r\nContent-Type: multipart/form-data; boundary=x\r\n"
                  "Content-Length: 3\r\n\r\nabc"),
              StartsWith("HTTP/1.1 415 "));
  EXPECT_EQ(BodyOf(Ask("POST /echo HTTP/1.1\r\nContent-Type: application/x-www-form-urlencoded\r\n"
                       "Content-Length: 3\r\n\r\na=b")),
            "a=b");
}

TEST_F(ServerTest, ALargeBodyArrivesWhole) {
  Start();
  const size_t size = size_t{93} << 20;
  const auto client =
      Client::Create({.base_url = "http://127.0.0.1:" + std::to_string(server_->port())});
  ASSERT_TRUE(client);
  const auto answer =
      (*client)->Send({.method = "POST", .path = "/size", .body = std::string(size, 'x')});
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->body, std::to_string(size));
}

TEST_F(ServerTest, ABodyThatIsAnnouncedTooLargeIsRefusedAtOnce) {
  Start();
  RawConnection connection = Connect();
  ASSERT_TRUE(connection.Send("POST /echo HTTP/1.1\r\nContent-Length: 209715200\r\n\r\n"));
  const std::string answer = connection.ReadAnswer();
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 413 "));
  EXPECT_THAT(answer, HasSubstr("Connection: close\r\n"));
}

TEST_F(ServerTest, ExpectContinueOfATooLargeBodyIsRejected) {
  options_.max_body_bytes = 10;
  Start();
  EXPECT_THAT(Ask("POST /echo HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 11\r\n\r\n"),
              StartsWith("HTTP/1.1 413 "));
  RawConnection connection = Connect();
  ASSERT_TRUE(
      connection.Send("POST /echo HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n"));
  EXPECT_EQ(connection.ReadAnswer(), "HTTP/1.1 100 Continue\r\n\r\n");
  ASSERT_TRUE(connection.Send("abc"));
  EXPECT_EQ(BodyOf(connection.ReadAnswer()), "abc");
}

TEST_F(ServerTest, AClientThatSendsATooLargeBodyAllTheSameStillGetsItsAnswer) {
  Start();
  RawConnection connection = Connect();
  ASSERT_TRUE(connection.Send("POST /echo HTTP/1.1\r\nContent-Length: 209715200\r\n\r\n"));
  const std::string megabyte(1 << 20, 'x');
  for (int i = 0; i < 200; ++i) ASSERT_TRUE(connection.Send(megabyte)) << i;
  EXPECT_THAT(connection.ReadToEnd(), StartsWith("HTTP/1.1 413 "));
}

TEST_F(ServerTest, ABodyInChunksIsRefusedWhenItGrowsTooLarge) {
  options_.max_body_bytes = 1000;
  Start();
  RawConnection connection = Connect();
  ASSERT_TRUE(connection.Send("POST /echo HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"));
  const std::string chunk = "64\r\n" + std::string(100, 'x') + "\r\n";
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(connection.Send(chunk));
  ASSERT_TRUE(connection.Send("0\r\n\r\n"));
  EXPECT_THAT(connection.ReadToEnd(), StartsWith("HTTP/1.1 413 "));
}

TEST_F(ServerTest, TheServersOwnErrorsCanBeReworded) {
  options_.max_body_bytes = 10;
  options_.error_response = [](const Request& request, int status, std::string_view reason) {
    return Response{
        200, "application/json",
        std::string(request.path) + " " + std::to_string(status) + " " + std::string(reason)};
  };
  Start();
  std::string answer = Ask("POST /echo HTTP/1.1\r\nContent-Length: 11\r\n\r\nhello world");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(BodyOf(answer), StartsWith("/echo 413 the body is larger"));
  answer = Ask("POST /echo HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 11\r\n\r\n");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(BodyOf(answer), StartsWith("/echo 413 the body is larger"));
  EXPECT_THAT(BodyOf(Ask("POST /none HTTP/1.1\r\n\r\n")), StartsWith("/none 404"));
  EXPECT_THAT(BodyOf(Ask("NONSENSE\r\n\r\n")), HasSubstr("400"));
  // The server does not check a handler's answer.
  EXPECT_EQ(BodyOf(Ask("GET /teapot HTTP/1.1\r\n\r\n")), "short and stout");
}

TEST_F(ServerTest, SilentAndSlowClientsDoNotKeepOthersOut) {
  Start();
  std::vector<RawConnection> idlers;
  for (int i = 0; i < 150; ++i) {
    idlers.push_back(Connect());
    if (i % 3 == 1) idlers.back().Send("POST /echo HT");
    if (i % 3 == 2) idlers.back().Send("POST /echo HTTP/1.1\r\nContent-Length: 100\r\n\r\nabc");
  }
  const auto client =
      Client::Create({.base_url = "http://127.0.0.1:" + std::to_string(server_->port())});
  ASSERT_TRUE(client);
  std::atomic<int> answered = 0;
  const Clock::time_point start = Clock::now();
  {
    std::vector<Background> callers;
    for (int i = 0; i < 64; ++i) {
      callers.emplace_back([&, i] {
        for (int j = 0; j < 10; ++j) {
          const std::string text = std::to_string(i * 100 + j);
          const auto answer = (*client)->Send({.method = "POST", .path = "/echo", .body = text});
          if (answer && answer->body == text) ++answered;
        }
      });
    }
  }
  EXPECT_EQ(answered, 640);
  EXPECT_LT(Clock::now() - start, kSoon);
}

TEST_F(ServerTest, IdleConnectionsMakeRoomForNewOnes) {
  options_.max_connections = 2;
  Start();
  std::vector<RawConnection> connections;
  for (int i = 0; i < 20; ++i) {
    connections.push_back(Connect());
    connections.back().Send(kHello);
    ASSERT_EQ(BodyOf(connections.back().ReadAnswer()), "hello name=you") << i;
  }
  int open = 0;
  for (RawConnection& connection : connections) {
    connection.Send(kHello);
    if (!connection.ReadAnswer().empty()) ++open;
  }
  EXPECT_GE(open, 1);
  EXPECT_LE(open, 2);
}

TEST_F(ServerTest, AConnectionWaitsWhileAllOthersAreBusy) {
  options_.max_connections = 1;
  Start();
  RawConnection busy = Connect();
  busy.Send("GET /wait HTTP/1.1\r\n\r\n");
  waiting_.wait();
  RawConnection waiting = Connect();
  waiting.Send(kHello);
  go_on_.count_down();
  EXPECT_EQ(BodyOf(waiting.ReadAnswer()), "hello name=you");
  // Either may happen first: the answer announces the end of the connection, or the idle connection
  // is closed.
  EXPECT_EQ(BodyOf(busy.ReadAnswer()), "waited");
  EXPECT_TRUE(busy.IsClosed());
}

TEST_F(ServerTest, ARequestThatStopsInTheMiddleIsGivenUp) {
  options_.read_timeout = seconds(1);
  Start();
  RawConnection connection = Connect();
  ASSERT_TRUE(connection.Send("POST /echo HTTP/1.1\r\nContent-Length: 100\r\n\r\nabc"));
  EXPECT_TRUE(connection.IsClosed());
}

// Sends a byte now and then until the connection ends, so that the client is never silent.
class Dribble {
 public:
  explicit Dribble(RawConnection connection)
      : connection_(std::move(connection)), thread_([this] {
          connection_.Send("POST /echo HTTP/1.1\r\nContent-Length: 1000000\r\n\r\n");
          while (!stop_ && connection_.Send("x")) std::this_thread::sleep_for(milliseconds(50));
          ended_ = true;
        }) {}
  ~Dribble() { stop_ = true; }

  bool ended() const { return ended_; }

 private:
  RawConnection connection_;
  std::atomic<bool> stop_ = false;
  std::atomic<bool> ended_ = false;
  Background thread_;
};

TEST_F(ServerTest, ARequestThatNeverEndsIsGivenUp) {
  options_.transfer_timeout = milliseconds(500);
  Start();
  const Dribble dribble(Connect());
  const Clock::time_point start = Clock::now();
  while (!dribble.ended() && Clock::now() - start < kSoon)
    std::this_thread::sleep_for(milliseconds(20));
  EXPECT_TRUE(dribble.ended());
}

TEST_F(ServerTest, DropsAnAnswerThatTheClientDoesNotRead) {
  options_.transfer_timeout = milliseconds(500);
  auto created = Server::Create(options_);
  ASSERT_TRUE(created);
  // The answer is larger than what the kernel buffers.
  (*created)->Handle("GET", "/large",
                     [](const Request&) { return Text(std::string(64 << 20, 'x')); });
  ASSERT_TRUE((*created)->Start());
  RawConnection lazy((*created)->port());
  lazy.Send("GET /large HTTP/1.1\r\n\r\n");
  std::this_thread::sleep_for(seconds(2));
  EXPECT_LT(lazy.ReadAnswer().size(), size_t{64} << 20);
}

// Probes must get an answer.
TEST_F(ServerTest, SlowestClientMakesRoomIfNoneIsIdle) {
  options_.max_connections = 4;
  Start();
  std::list<Dribble> dribbles;
  for (int i = 0; i < 4; ++i) dribbles.emplace_back(Connect());
  const Clock::time_point start = Clock::now();
  for (int i = 0; i < 4; ++i) EXPECT_EQ(BodyOf(Ask(kHello)), "hello name=you");
  EXPECT_LT(Clock::now() - start, kSoon);
}

TEST_F(ServerTest, NoMoreConnectionsWaitThanAreMeantTo) {
  options_.max_connections = 1;
  options_.max_waiting = 2;
  std::atomic<int> notified = 0;
  options_.on_problem = [&](std::string_view problem) {
    EXPECT_THAT(std::string(problem), HasSubstr("too many"));
    ++notified;
  };
  Start();
  RawConnection busy = Connect();
  busy.Send("GET /wait HTTP/1.1\r\n\r\n");
  waiting_.wait();
  std::vector<RawConnection> waiting;
  for (int i = 0; i < 2; ++i) {
    waiting.push_back(Connect());
    waiting.back().Send(kHello);
  }
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(Connect().IsClosed());
  EXPECT_EQ(notified, 1);
  go_on_.count_down();
  for (RawConnection& connection : waiting)
    EXPECT_EQ(BodyOf(connection.ReadAnswer()), "hello name=you");
}

// Sends incomplete requests, each on a new connection as soon as the last one is closed.
class Flood {
 public:
  Flood(uint16_t port, uint8_t host) : port_(port), host_(host) {}
  ~Flood() { stopping_ = true; }

 private:
  void Run() {
    std::list<RawConnection> connections;
    while (!stopping_) {
      connections.emplace_back(port_, host_).Send("GET /hello HT");
      if (connections.size() > kAtOnce) connections.pop_front();
    }
  }

  static constexpr size_t kAtOnce = 100;
  const uint16_t port_;
  const uint8_t host_;
  std::atomic<bool> stopping_ = false;
  Background thread_{[this] { Run(); }};
};

TEST_F(ServerTest, OneAddressWithVeryManyConnectionsKeepsNoOtherOut) {
  options_.max_connections = 8;
  options_.max_waiting = 8;
  options_.exempt_loopback = false;
  Start();
  const Flood flood(server_->port(), 2);  // lasts until the end
  int answered = 0;
  for (int i = 0; i < 50; ++i) {
    RawConnection other(server_->port(), 3);
    other.Send(kHello);
    if (BodyOf(other.ReadAnswer()) == "hello name=you") ++answered;
  }
  EXPECT_EQ(answered, 50);
}

TEST_F(ServerTest, LargeBodiesWaitForEachOtherAndSmallOnesDoNot) {
  options_.max_body_bytes = options_.max_bodies_bytes = size_t{1} << 20;
  Start();
  const std::string large(600'000, 'x');
  const std::string head =
      "POST /size HTTP/1.1\r\nContent-Length: " + std::to_string(large.size()) + "\r\n\r\n";
  std::optional<RawConnection> first = Connect();
  first->Send(head + "x");
  RawConnection second = Connect();
  std::string answer;
  Background waiting([&] {
    second.Send(head + large);
    answer = second.ReadAnswer();
  });
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(BodyOf(Ask("POST /size HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc")), "3");
  }
  first.reset();
  waiting.Join();
  EXPECT_EQ(BodyOf(answer), "600000");
}

TEST_F(ServerTest, ALargeBodyForWhichThereIsNoRoomInTimeIsRefused) {
  options_.max_body_bytes = options_.max_bodies_bytes = size_t{1} << 20;
  options_.transfer_timeout = milliseconds(500);
  Start();
  RawConnection first = Connect();
  first.Send("POST /wait HTTP/1.1\r\nContent-Length: 600000\r\n\r\n" + std::string(600'000, 'x'));
  waiting_.wait();
  const std::string answer =
      Ask("POST /size HTTP/1.1\r\nContent-Length: 600000\r\n\r\n" + std::string(600'000, 'x'));
  EXPECT_THAT(answer, AllOf(StartsWith("HTTP/1.1 503"), HasSubstr("too many large bodies")));
  go_on_.count_down();
  EXPECT_EQ(BodyOf(first.ReadAnswer()), "waited");
}

TEST_F(ServerTest, StopClosesIdleConnectionsAtOnce) {
  Start();
  RawConnection used = Connect();
  used.Send(kHello);
  used.ReadAnswer();
  RawConnection unused = Connect();
  const Clock::time_point start = Clock::now();
  server_->Stop(seconds(60));
  EXPECT_LT(Clock::now() - start, kSoon);
  EXPECT_TRUE(used.IsClosed());
  EXPECT_TRUE(unused.IsClosed());
}

TEST_F(ServerTest, StopLetsARequestUnderWayFinish) {
  Start();
  RawConnection connection = Connect();
  connection.Send("GET /wait HTTP/1.1\r\n\r\n");
  waiting_.wait();
  RawConnection idle = Connect();
  idle.Send(kHello);
  idle.ReadAnswer();
  std::thread stopping([this] { server_->Stop(seconds(60)); });
  EXPECT_TRUE(idle.IsClosed());  // this shows that the stop has begun
  go_on_.count_down();
  const std::string answer = connection.ReadToEnd();
  EXPECT_EQ(BodyOf(answer), "waited");
  EXPECT_THAT(answer, HasSubstr("Connection: close\r\n"));
  stopping.join();
}

TEST_F(ServerTest, StopCutsOffWhatDoesNotFinishInTime) {
  Start();
  RawConnection half = Connect();
  half.Send("POST /echo HTTP/1.1\r\nContent-Length: 100\r\n\r\nabc");
  RawConnection other = Connect();
  other.Send(kHello);
  other.ReadAnswer();  // the server has accepted the connection before this one
  const Clock::time_point start = Clock::now();
  server_->Stop(milliseconds(50));
  EXPECT_LT(Clock::now() - start, kSoon);
  EXPECT_TRUE(half.IsClosed());
}

TEST_F(ServerTest, AServerThatIsDestroyedStops) {
  Start();
  RawConnection connection = Connect();
  connection.Send(kHello);
  connection.ReadAnswer();
  server_.reset();
  EXPECT_TRUE(connection.IsClosed());
}

TEST_F(ServerTest, APortIsNotShared) {
  Start();
  ServerOptions same;
  same.port = server_->port();
  const auto other = Server::Create(same);
  ASSERT_TRUE(other);
  const Result<> started = (*other)->Start();
  ASSERT_FALSE(started);
  EXPECT_THAT(started.error().message, HasSubstr("cannot listen on 127.0.0.1:"));
}

TEST_F(ServerTest, AServerForAllAddressesTakesIpv4) {
  options_.host = "";
  Start();
  EXPECT_EQ(BodyOf(Ask(kHello)), "hello name=you");
}

}  // namespace
}  // namespace synergy::http
