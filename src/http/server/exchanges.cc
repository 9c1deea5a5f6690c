#include "http/server/exchanges.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include <fmt/format.h>
#include <httplib.h>

#include "http/httplib_stream.h"
#include "http/server/body_budget.h"

namespace synergy::http {
namespace {

// cpp-httplib checks the length of a head's line only after reading it. It limits neither the
// number of lines nor the length of the line before a chunk.
constexpr size_t kLongestRequestHead = size_t{64} << 10;
// Bytes reserved for a body before any of it has arrived; once this much has arrived, the whole
// length is reserved.
constexpr size_t kReservedOnTrust = size_t{1} << 20;

// The head's information about the body.
struct Body {
  bool valid = true;
  bool present = false;
  std::optional<uint64_t> length;  // absent: chunked
};

// One request in progress. The library's callbacks do not identify their connection, so a
// thread-local variable holds the request: each connection has its own thread.
struct Exchange {
  Channel& channel;
  const std::function<void(bool)>& on_handler;
  const Handler* handler = nullptr;
  Body body;
  std::chrono::steady_clock::time_point deadline{};  // of the transfer
  // Set once the whole head has been read; `body` then shows whether more will follow.
  bool head_read = false;
  // Set by a handler or by Refuse(): the library's error hook must not touch the answer.
  bool answered = false;
  bool close = false;
  bool unread_body = false;
};
thread_local Exchange* current = nullptr;

Body ReadBodyHeaders(const httplib::Request& request) {
  Body body;
  const size_t encodings = request.get_header_value_count("Transfer-Encoding");
  const size_t lengths = request.get_header_value_count("Content-Length");
  if (encodings > 0) {
    std::string encoding = request.get_header_value("Transfer-Encoding");
    std::transform(encoding.begin(), encoding.end(), encoding.begin(),
                   [](unsigned char c) { return std::tolower(c); });
    // A length in addition to chunks would allow smuggling requests past a proxy (RFC 9112, section
    // 6.1).
    body.valid = encodings == 1 && lengths == 0 && encoding == "chunked";
    body.present = true;
    return body;
  }
  if (lengths == 0) return body;
  const std::string text = request.get_header_value("Content-Length");
  uint64_t length = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), length);
  // The library would read "abc" as 0, and mistake the body for the next request.
  body.valid = lengths == 1 && error == std::errc() && end == text.data() + text.size();
  body.length = length;
  body.present = !body.valid || length > 0;
  return body;
}

// Returns whether the library reads the method's body completely: it would mistake a DELETE's
// chunks for the next request.
constexpr bool MayHaveBody(std::string_view method) {
  return method == "POST" || method == "PUT" || method == "PATCH";
}

Request ToRequest(const httplib::Request& from, std::string_view content_type,
                  std::string_view body) {
  Request request;
  request.method = from.method;
  // The path is empty if the request line could not be read; handlers may rely on the slash.
  request.path = from.path.empty() ? std::string_view("/") : from.path;
  const std::string_view target = from.target;
  if (const size_t mark = target.find('?'); mark != std::string_view::npos)
    request.query = target.substr(mark + 1);
  request.content_type = content_type;
  request.body = body;
  request.header = [&from](std::string_view name) {
    return from.get_header_value(std::string(name));
  };
  return request;
}

void Fill(Response from, httplib::Response& to) {
  to.status = from.status;
  to.body = std::move(from.body);
  to.headers.erase("Content-Type");
  // Answers are for programs, or for our own page: no browser may keep, frame or reinterpret them.
  to.set_header("Cache-Control", "no-store");
  to.set_header("X-Content-Type-Options", "nosniff");
  to.set_header("X-Frame-Options", "DENY");
  if (!to.body.empty()) to.set_header("Content-Type", from.content_type);
  if (from.status == 401) to.set_header("WWW-Authenticate", "Bearer");
}

// Returns a pattern that matches exactly this text.
std::string Literally(std::string_view text) {
  std::string pattern;
  for (const char c : text) {
    if (std::string_view("^$\\.*+?()[]{}|").find(c) != std::string_view::npos) pattern += '\\';
    pattern += c;
  }
  return pattern;
}

}  // namespace

// Uses cpp-httplib's server to read, parse, route and write (process_request()), but not its
// sockets and threads, which have these faults. They accept with a backlog of 5, and share the port
// with any process that requests it. They stop permanently after one failure of accept(). They poll
// every idle connection a hundred times a second, and stop() waits until each of them has timed
// out.
class Exchanges::Library final : private httplib::Server {
 public:
  explicit Library(Exchanges::Options options)
      : options_(std::move(options)),
        bodies_(std::max(options_.max_bodies_bytes, options_.max_body_bytes)) {
    set_payload_max_length(options_.max_body_bytes);
    set_expect_100_continue_handler([this](const httplib::Request& request,
                                           httplib::Response& response) {
      return Accept(request, response) ? 100 : 413;  // all but 100 and 417 have `response` written
    });
    set_pre_routing_handler([this](const httplib::Request& request, httplib::Response& response) {
      return OnHead(request, response) ? HandlerResponse::Handled : HandlerResponse::Unhandled;
    });
    set_post_routing_handler(
        [this](const httplib::Request&, httplib::Response& response) { Finish(response); });
    set_exception_handler([this](const httplib::Request& request, httplib::Response& response,
                                 const std::exception_ptr&) {
      Refuse(request, 500, "the request could not be processed", response);
    });
    set_error_handler(
        HandlerWithResponse([this](const httplib::Request& request, httplib::Response& response) {
          if (!current->answered) {
            const bool too_long = current->channel.read_limit_reached();
            Refuse(request, too_long ? 431 : response.status,
                   too_long ? "the head is too long" : "malformed request", response);
          }
          // Handled would only make the library apply ranges and compression.
          return HandlerResponse::Unhandled;
        }));
  }

  void Handle(std::string method, std::string path, http::Handler handler) {
    const auto read = [this](const httplib::Request& request, httplib::Response& response,
                             const httplib::ContentReader& reader) {
      AnswerWithBody(request, response, reader);
    };
    // Register the methods of MayHaveBody(). A pattern that matches every path would use stack in
    // proportion to the path's length.
    if (method == "POST") Post(Literally(path), HandlerWithContentReader(read));
    if (method == "PUT") Put(Literally(path), HandlerWithContentReader(read));
    if (method == "PATCH") Patch(Literally(path), HandlerWithContentReader(read));
    routes_[std::move(path)][std::move(method)] = std::move(handler);
  }

  Next ServeOne(Channel& channel, const std::function<void(bool)>& on_handler) {
    Exchange exchange{.channel = channel, .on_handler = on_handler};
    current = &exchange;
    channel.LimitReads(kLongestRequestHead);
    SetDeadline();
    const std::unique_ptr<httplib::Stream> stream = MakeHttplibStream(channel);
    bool closed = false;
    const bool served =
        process_request(*stream, /*close_connection=*/false, closed, [](httplib::Request& request) {
          // Compressing an answer for a nearby process costs more than sending it, and partial
          // answers are unsupported.
          request.headers.erase("Accept-Encoding");
          request.headers.erase("Range");
          request.ranges.clear();
        });
    current = nullptr;
    if (!served || !channel.Flush()) return Next::kClose;
    if (exchange.unread_body) return Next::kLinger;
    return closed || exchange.close ? Next::kClose : Next::kKeepOpen;
  }

 private:
  // Writes an error answer in place of a handler's. Closes the connection if more of the request
  // may follow.
  void Refuse(const httplib::Request& request, int status, std::string_view reason,
              httplib::Response& response) {
    current->answered = true;
    if (!current->head_read || current->body.present) current->close = current->unread_body = true;
    if (options_.error_response) {
      Fill(options_.error_response(ToRequest(request, {}, {}), status, reason), response);
    } else {
      Fill(Response{status, "text/plain", std::string(reason) + "\n"}, response);
    }
  }

  // Returns whether the request's head is acceptable; if not, writes the answer.
  bool Accept(const httplib::Request& request, httplib::Response& response) {
    Exchange& exchange = *current;
    exchange.body = ReadBodyHeaders(request);
    exchange.head_read = true;
    if (!exchange.body.valid) {
      Refuse(request, 400, "the body's length is ambiguous", response);
      return false;
    }
    const auto path = routes_.find(request.path);
    if (path == routes_.end()) {
      Refuse(request, 404, "no such path", response);
      return false;
    }
    const auto method = path->second.find(request.method == "HEAD" ? "GET" : request.method);
    if (method == path->second.end()) {
      Refuse(request, 405, "the method is not allowed here", response);
      return false;
    }
    exchange.handler = &method->second;
    if (exchange.body.present && !MayHaveBody(request.method)) {
      Refuse(request, 400, "the method has no body", response);
      return false;
    }
    if (request.is_multipart_form_data()) {
      Refuse(request, 415, "forms are not accepted", response);  // the library would parse forms
      return false;
    }
    if (exchange.body.length.value_or(0) > options_.max_body_bytes) {
      RefuseBody(request, response);
      return false;
    }
    return true;
  }

  // Returns true if the request has been answered; otherwise the library continues with
  // AnswerWithBody().
  bool OnHead(const httplib::Request& request, httplib::Response& response) {
    current->channel.LimitReads(kLongestRequestHead);
    if (!Accept(request, response)) return true;
    // The library reads a POST without a length until the connection ends.
    if (current->body.present) return false;
    Answer(request, {}, response);
    return true;
  }

  void AnswerWithBody(const httplib::Request& request, httplib::Response& response,
                      const httplib::ContentReader& reader) {
    std::optional<BodyBudget::Share> share;
    // Chunks may add up to any length.
    const uint64_t most = current->body.length.value_or(options_.max_body_bytes);
    if (most > kSmallBody) {
      share = bodies_.Take(most, current->deadline);
      if (!share) return Refuse(request, 503, "too many large bodies at once", response);
    }
    std::string body;
    body.reserve(std::min<uint64_t>(current->body.length.value_or(0), kReservedOnTrust));
    bool too_long = false;
    const bool complete = reader([&](const char* data, size_t size) {
      current->channel.LimitReads(kLongestRequestHead);
      too_long = body.size() + size > options_.max_body_bytes;
      if (too_long) return false;
      if (body.size() + size > body.capacity()) body.reserve(current->body.length.value_or(0));
      body.append(data, size);
      return true;
    });
    if (complete) {
      Answer(request, body, response);
    } else if (too_long) {
      RefuseBody(request, response);
    } else {
      Refuse(request, 400, "the body is incomplete or malformed", response);
    }
  }

  void RefuseBody(const httplib::Request& request, httplib::Response& response) {
    Refuse(request, 413, fmt::format("the body is larger than {} bytes", options_.max_body_bytes),
           response);
  }

  void Answer(const httplib::Request& request, std::string_view body, httplib::Response& response) {
    current->answered = true;
    const std::string content_type = request.get_header_value("Content-Type");
    current->on_handler(true);
    Fill((*current->handler)(ToRequest(request, content_type, body)), response);
    current->on_handler(false);
    SetDeadline();
  }

  // Sets the deadline for receiving a request or sending its answer.
  void SetDeadline() {
    current->deadline = std::chrono::steady_clock::now() + options_.transfer_timeout;
    current->channel.SetDeadline(current->deadline);
  }

  // Overrides the library's headers: there is always a length, and never chunks.
  void Finish(httplib::Response& response) {
    for (const char* name : {"Content-Length", "Keep-Alive", "Accept-Ranges", "EXCEPTION_WHAT"}) {
      response.headers.erase(name);
    }
    response.set_header("Content-Length", std::to_string(response.body.size()));
    if (options_.closing()) current->close = true;
    if (current->close && !response.has_header("Connection"))
      response.set_header("Connection", "close");
  }

  const Exchanges::Options options_;
  BodyBudget bodies_;
  std::map<std::string, std::map<std::string, http::Handler, std::less<>>, std::less<>> routes_;
};

Exchanges::Exchanges(Options options) : library_(std::make_unique<Library>(std::move(options))) {}

Exchanges::~Exchanges() = default;

void Exchanges::Handle(std::string method, std::string path, Handler handler) {
  library_->Handle(std::move(method), std::move(path), std::move(handler));
}

Exchanges::Next Exchanges::ServeOne(Channel& channel, const std::function<void(bool)>& on_handler) {
  return library_->ServeOne(channel, on_handler);
}

}  // namespace synergy::http
