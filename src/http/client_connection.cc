#include "http/client_connection.h"

#include <cerrno>
#include <charconv>
#include <cstdint>
#include <optional>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <httplib.h>

#include "http/channel.h"
#include "http/httplib_stream.h"

namespace synergy::http {
namespace {

// Longest head of an answer, and longest text between chunks. cpp-httplib accepts any length. It
// matches the first line with a std::regex, whose recursion overflows the stack at about 50 kB.
constexpr size_t kLongestResponseHead = size_t{16} << 10;

// An answer under construction.
struct Answer {
  ClientResponse response;
  const ClientConnection::OnData* on_data;
  size_t max_bytes;
  bool ended_by_caller = false;
  bool too_long = false;

  bool Streamed() const { return on_data != nullptr && response.status == 200; }
  bool Take(std::string_view piece) {
    if (Streamed()) {
      ended_by_caller = !(*on_data)(piece);
      return !ended_by_caller;
    }
    too_long = response.body.size() + piece.size() > max_bytes;
    if (!too_long) response.body.append(piece);
    return !too_long;
  }
};

// Returns the seconds of the header Retry-After. Ignores a date, which API servers do not send.
std::optional<std::chrono::seconds> RetryAfter(const httplib::Response& response) {
  const std::string text = response.get_header_value("Retry-After");
  uint32_t seconds = 0;
  const char* const end = text.data() + text.size();
  const auto [read, error] = std::from_chars(text.data(), end, seconds);
  if (text.empty() || error != std::errc() || read != end) return std::nullopt;
  return std::chrono::seconds(seconds);
}

std::string ProblemOf(const Proxy& proxy, const Error& error) {
  return fmt::format("proxy {}: {}", proxy.ToText(), error.message);
}

// Uses cpp-httplib's client to write requests and read answers, but not its connections and
// streams, which have these faults. While connecting, they hold the lock that stop() needs, and
// they ignore a stop() that comes too early. They mistake an ended TLS connection for a live one.
// They present the client's certificate before they verify the server's. They report every later
// failure as "Read".
class LibraryConnection final : public ClientConnection, private httplib::ClientImpl {
 public:
  LibraryConnection(const Target& target, std::unique_ptr<Channel> channel, int library_socket)
      : httplib::ClientImpl(target.url.host, target.url.port),
        prefix_(PathPrefix(target)),
        host_header_(target.url.HostAndPort()),
        proxy_authorization_(IsForwarded(target) ? target.proxy->authorization : ""),
        channel_(std::move(channel)) {
    set_keep_alive(true);
    set_url_encode(false);
    set_decompress(false);
    // The library may examine and close this socket at any time; reads and writes use the channel.
    socket_.sock = library_socket;
  }

  // Connects through the proxy, if there is one, and then begins TLS with the server.
  Result<> Establish(const Target& target, const TlsContext& tls,
                     std::chrono::milliseconds timeout) {
    if (target.proxy) {
      if (const Result<> passed = PassProxy(target, timeout); !passed)
        return Fail(passed.error().code, ProblemOf(*target.proxy, passed.error()));
    }
    if (tls == nullptr) return {};
    return channel_->ConnectTls(tls, target.server_name, target.verify);
  }

  Outcome Send(const ClientRequest& request, const Waits& waits, size_t max_response_bytes,
               const OnData* on_data) override {
    Answer answer{{}, on_data, max_response_bytes};
    httplib::Request library_request = ToLibrary(request, answer);
    httplib::Response library_response;
    httplib::Error error = httplib::Error::Success;
    channel_->SetWaits(waits.silence_limit, waits.wake_fd);
    channel_->SetDeadline(waits.deadline);
    channel_->ResetCounts();
    channel_->LimitReads(kLongestResponseHead);
    const bool complete = send(library_request, library_response, error);
    reusable_ = complete && socket_.is_open();
    if (complete || answer.ended_by_caller) {
      answer.response.status = library_response.status;
      answer.response.retry_after = RetryAfter(library_response);
      return {std::move(answer.response), false, false};
    }
    return Failure(answer);
  }

  bool Reusable() override { return reusable_ && channel_->Idle(); }

 private:
  // A proxy forwards plain HTTP requests by their full URL (RFC 9112, section 3.2.2).
  static bool IsForwarded(const Target& target) { return target.proxy && !target.url.tls; }
  static std::string PathPrefix(const Target& target) {
    return IsForwarded(target) ? "http://" + target.url.HostAndPort() + target.url.prefix
                               : target.url.prefix;
  }

  Result<> PassProxy(const Target& target, std::chrono::milliseconds timeout) {
    if (target.proxy_tls != nullptr) {
      const Result<> secured =
          channel_->ConnectTls(target.proxy_tls, target.proxy->url.host, target.verify);
      if (!secured) return secured;
    }
    return IsForwarded(target) ? Result<>()
                               : OpenTunnel(*channel_, *target.proxy, target.url, timeout);
  }

  httplib::Request ToLibrary(const ClientRequest& request, Answer& answer) {
    httplib::Request out;
    out.method = request.method;
    out.path = prefix_ + request.path;
    out.set_header("Host", host_header_);
    if (!proxy_authorization_.empty()) out.set_header("Proxy-Authorization", proxy_authorization_);
    for (const auto& [name, value] : request.headers) out.set_header(name, value);
    if (!request.content_type.empty()) out.set_header("Content-Type", request.content_type);
    out.body = request.body;
    out.response_handler = [this, &answer](const httplib::Response& head) {
      answer.response.status = head.status;
      return !answer.Streamed() || answer.Take({});
    };
    out.content_receiver = [this, &answer](const char* data, size_t size, uint64_t, uint64_t) {
      channel_->LimitReads(kLongestResponseHead);
      return answer.Take({data, size});
    };
    return out;
  }

  Outcome Failure(const Answer& answer) const {
    const bool ended =
        channel_->state() == Channel::State::kEnded || channel_->state() == Channel::State::kBroken;
    Outcome outcome{Fail(ErrorCode::kTimeout, {}), false, false};
    outcome.not_sent = never_tried_ || !channel_->all_sent() || channel_->handshake_refused();
    outcome.ended_unanswered = never_tried_ || (ended && !channel_->received());
    outcome.response = Fail(Describe(answer, outcome.not_sent));
    return outcome;
  }

  Error Describe(const Answer& answer, bool not_sent) const {
    if (answer.too_long) {
      return {ErrorCode::kTooLarge,
              fmt::format("the answer is larger than {} bytes", answer.max_bytes)};
    }
    if (channel_->state() == Channel::State::kWoken) return {ErrorCode::kCancelled, "stopped"};
    if (not_sent) {
      return {ErrorCode::kUnavailable,
              fmt::format("the request could not be sent: {}",
                          never_tried_ ? "the connection was closed" : channel_->problem())};
    }
    if (channel_->read_limit_reached())
      return {ErrorCode::kTimeout, "the head of the answer is too long"};
    if (channel_->state() == Channel::State::kOpen)
      return {ErrorCode::kTimeout, "the answer is not HTTP"};
    return {ErrorCode::kTimeout,
            fmt::format("{}: {}", channel_->received() ? "the answer is incomplete" : "no answer",
                        channel_->problem())};
  }

  // The hooks that the library calls for its sockets.

  // The library calls this if it finds that the connection ended before it sent anything.
  bool create_and_connect_socket(Socket&, httplib::Error& error) override {
    never_tried_ = true;
    error = httplib::Error::Connection;
    return false;
  }
  void shutdown_ssl(Socket&, bool) override {}
  bool process_socket(const Socket&, std::function<bool(httplib::Stream&)> use) override {
    return use(*MakeHttplibStream(*channel_));
  }

  const std::string prefix_;
  const std::string host_header_;
  const std::string proxy_authorization_;
  const std::unique_ptr<Channel> channel_;
  bool reusable_ = true;
  bool never_tried_ = false;
};

}  // namespace

Result<std::unique_ptr<ClientConnection>> ClientConnection::Open(
    const Target& target, const TlsContext& tls, std::chrono::milliseconds connect_timeout,
    int wake_fd) {
  const BaseUrl& next = target.proxy ? target.proxy->url : target.url;
  Result<Fd> socket = Connect(next.host, next.port, connect_timeout, wake_fd);
  if (!socket && target.proxy)
    return Fail(socket.error().code, ProblemOf(*target.proxy, socket.error()));
  if (!socket) return Fail(socket.error());
  const int library_socket = ::fcntl(socket->get(), F_DUPFD_CLOEXEC, 0);
  if (library_socket < 0) return Fail(ErrorCode::kUnavailable, ErrnoText(errno));
  auto channel = std::make_unique<Channel>(std::move(*socket));
  channel->SetWaits(connect_timeout, wake_fd);
  auto connection = std::make_unique<LibraryConnection>(target, std::move(channel), library_socket);
  const Result<> established = connection->Establish(target, tls, connect_timeout);
  if (!established) return Fail(established.error());
  return connection;
}

}  // namespace synergy::http
