#include "nodeagent/guarded/guardian.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <mutex>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "nodeagent/guarded/temporary_writes.h"
#include "nodeagent/guarded/write_files.h"
#include "nodeagent/guarded/write_kind.h"

namespace synergy::nodeagent {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// How long the agent waits for an answer. Also how long an ending guardian retries files that it
// could not restore.
constexpr seconds kPatience{5};
constexpr seconds kRetry{1};
// How often the thawer looks at the records.
constexpr seconds kThawerLooks{2};

// Requests and replies are sent in their memory layout, because both processes run one program.
struct Request {
  uint64_t number = 0;
  bool begin = false;
  int64_t longest = 0;  // nanoseconds
  std::array<char, 1024> file{};
  std::array<char, 64> text{};
};
struct Reply {
  uint64_t number = 0;
  bool done = false;
  ErrorCode code = ErrorCode::kUnavailable;
  std::array<char, 512> message{};
};

// Copies `text` with a final zero; truncates a text that is too long, which callers exclude.
template <size_t kSize>
void Put(std::array<char, kSize>& out, std::string_view text) {
  std::copy_n(text.begin(), std::min(text.size(), kSize - 1), out.begin());
}

Error SystemError(std::string_view what) {
  return {ErrorCode::kUnavailable,
          fmt::format("{}: {}", what, std::generic_category().message(errno))};
}

class Socket {
 public:
  explicit Socket(int fd) : fd_(fd) {}
  Socket(Socket&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Socket& operator=(Socket&&) = delete;
  ~Socket() { Close(); }

  int fd() const { return fd_; }
  void Close() {
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  }

 private:
  int fd_;
};

class GuardianClient final : public TemporaryWriter {
 public:
  explicit GuardianClient(Socket socket) : socket_(std::move(socket)) {
    const timeval patience{.tv_sec = kPatience.count(), .tv_usec = 0};
    ::setsockopt(socket_.fd(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  }

  Result<> Begin(const std::string& file, const std::string& text, Duration longest) override {
    return Ask(true, file, text, longest);
  }
  Result<> End(const std::string& file) override { return Ask(false, file, "", {}); }

 private:
  Result<> Ask(bool begin, const std::string& file, const std::string& text, Duration longest) {
    const std::lock_guard lock(mutex_);
    const Result<uint64_t> number = Send(begin, file, text, longest);
    if (!number) return Fail(number.error());
    Result<> done = AwaitReply(*number);
    // The guardian may still carry out the request later, so ask it to restore the file.
    if (begin && !done && done.error().code == ErrorCode::kTimeout)
      static_cast<void>(Send(false, file, "", {}));
    return done;
  }

  Result<uint64_t> Send(bool begin, const std::string& file, const std::string& text,
                        Duration longest) {
    Request request{.number = ++number_, .begin = begin, .longest = longest.count()};
    if (file.size() >= request.file.size() || text.size() >= request.text.size())
      return Fail(ErrorCode::kInvalid, fmt::format("\"{}\" is too long", file));
    Put(request.file, file);
    Put(request.text, text);
    if (::send(socket_.fd(), &request, sizeof request, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
      return Fail(SystemError("the guardian"));
    return number_;
  }

  Result<> AwaitReply(uint64_t number) {
    Reply reply;
    do {
      const ssize_t count = ::recv(socket_.fd(), &reply, sizeof reply, 0);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0 && errno == EAGAIN)
        return Fail(ErrorCode::kTimeout, "the guardian does not answer");
      if (count < 0) return Fail(SystemError("the guardian"));
      if (count != sizeof reply) return Fail(ErrorCode::kUnavailable, "the guardian is gone");
      // Skip answers that arrive too late.
    } while (reply.number != number);
    if (reply.done) return {};
    return Fail(reply.code, reply.message.data());
  }

  std::mutex mutex_;
  const Socket socket_;
  uint64_t number_ = 0;
};

class Guardian {
 public:
  Guardian(const GuardianRules& rules, Logger& log, pid_t agent, Socket socket, int signals)
      : rules_(rules),
        log_(log),
        agent_(agent),
        socket_(std::move(socket)),
        signals_(signals),
        files_(rules.cgroup_folder, rules.state_folder),
        table_(files_, log) {}

  int Run() {
    while (!status_) {
      if (!owns_) TakeOver();
      Await();
      table_.Step(Now());
      if (killed_at_ && Now() >= *killed_at_) {
        ::kill(agent_, SIGKILL);
        killed_at_.reset();
      }
    }
    // The next guardian restores the files that are left.
    for (const Instant end = Now() + kPatience;;) {
      table_.EndAll(Now());
      table_.Step(Now());
      if (table_.empty() || Now() >= end) break;
      Sleep(kRetry);
    }
    if (owns_ && *status_ == EXIT_SUCCESS && table_.empty())
      static_cast<void>(files_.SetSuspends(false));
    return *status_;
  }

 private:
  static Instant Now() { return SystemClock().Now(); }
  static void Sleep(milliseconds time) { ::poll(nullptr, 0, static_cast<int>(time.count())); }

  // Takes over from the previous guardian.
  void TakeOver() {
    const Result<> locked = files_.Lock();
    Result<std::vector<KeptWrite>> left = locked ? files_.Load() : Fail(locked.error());
    if (left) {
      owns_ = true;
      if (files_.Suspends()) suspends_from_ = Now() + kAfterUncleanEnd;
      table_.Adopt(*std::move(left), Now());
    } else if (left.error().message != not_owned_) {
      not_owned_ = left.error().message;
      log_.Error("probes and turns are not possible", {{"error", not_owned_}});
    }
  }

  // Blocks until there is something to do.
  void Await() {
    std::optional<Instant> next = table_.Next();
    const auto consider = [&next](Instant at) { next = std::min(next.value_or(at), at); };
    if (!owns_) consider(Now() + kRetry);
    if (killed_at_) consider(*killed_at_);
    int timeout = -1;
    if (next) {
      const auto rest = std::chrono::ceil<milliseconds>(*next - Now()).count();
      timeout = static_cast<int>(std::clamp<int64_t>(rest, 0, 60000));
    }
    std::array<pollfd, 2> wanted{{{signals_, POLLIN, 0}, {socket_.fd(), POLLIN, 0}}};
    if (::poll(wanted.data(), wanted.size(), timeout) <= 0) return;
    if (wanted[0].revents != 0) TakeSignal();
    if (wanted[1].revents != 0) Answer();
  }

  void TakeSignal() {
    signalfd_siginfo signal{};
    if (::read(signals_, &signal, sizeof signal) != sizeof signal) return;
    const int number = static_cast<int>(signal.ssi_signo);
    if (number == SIGCHLD) return Reap();
    stopping_ = true;
    ::kill(agent_, number);
    if (!killed_at_) killed_at_ = Now() + rules_.stop_grace;
    table_.EndAll(Now());
  }

  // Reaps orphans, too, because they become children of a container's first process.
  void Reap() {
    int status = 0;
    for (pid_t pid = 0; (pid = ::waitpid(-1, &status, WNOHANG)) > 0;) {
      if (pid != agent_) continue;
      status_ = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
      if (*status_ != 0) log_.Error("the agent has ended", {{"status", *status_}});
    }
  }

  void Answer() {
    Request request;
    const ssize_t count = ::recv(socket_.fd(), &request, sizeof request, MSG_DONTWAIT);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
    // SIGCHLD reports the agent's end.
    if (count != sizeof request) return socket_.Close();
    request.file.back() = 0;
    request.text.back() = 0;
    const Result<> done = Do(request);
    Reply reply{.number = request.number, .done = done.has_value()};
    if (!done) {
      reply.code = done.error().code;
      Put(reply.message, done.error().message);
    }
    static_cast<void>(::send(socket_.fd(), &reply, sizeof reply, MSG_NOSIGNAL | MSG_DONTWAIT));
  }

  Result<> Do(const Request& request) {
    if (!request.begin) return table_.End(request.file.data(), Now());
    if (stopping_) return Fail(ErrorCode::kCancelled, "the agent is ending");
    if (!owns_) return Fail(ErrorCode::kUnavailable, not_owned_);
    const WriteKind* const kind = WriteKindOf(request.file.data());
    if (kind != nullptr && kind->suspends) {
      if (Now() < suspends_from_)
        return Fail(ErrorCode::kUnavailable, "the node agent was killed a short time ago");
      if (const Result<> marked = files_.SetSuspends(true); !marked) return marked;
    }
    return table_.Begin(request.file.data(), request.text.data(), Duration(request.longest), Now());
  }

  const GuardianRules& rules_;
  Logger& log_;
  const pid_t agent_;
  Socket socket_;
  const int signals_;
  GroupWriteFiles files_;
  TemporaryWrites table_;
  bool owns_ = false;      // the records
  std::string not_owned_;  // the reason why not
  Instant suspends_from_{};
  bool stopping_ = false;
  std::optional<Instant> killed_at_;  // when to kill the agent
  std::optional<int> status_;         // of the agent, once it has ended
};

// Restores the files that the records name, unless another guardian holds the records: it then
// restores the files itself.
void RestoreLeft(const GuardianRules& rules, Logger& log) {
  GroupWriteFiles files(rules.cgroup_folder, rules.state_folder);
  // Read the records without the lock first, because a guardian that starts needs the lock.
  if (const auto left = files.Load(); !left || left->empty()) return;
  if (!files.Lock()) return;
  Result<std::vector<KeptWrite>> left = files.Load();
  if (!left) return;
  TemporaryWrites table(files, log);
  const Instant now = SystemClock().Now();
  table.Adopt(*std::move(left), now);
  // Files that cannot be restored stay in the records for the next look.
  table.Step(now);
}

}  // namespace

int RunThawer(const GuardianRules& rules, Logger& log) {
  sigset_t signal_set;
  sigemptyset(&signal_set);
  for (const int signal : {SIGTERM, SIGINT}) sigaddset(&signal_set, signal);
  ::sigprocmask(SIG_BLOCK, &signal_set, nullptr);
  const timespec interval{.tv_sec = kThawerLooks.count(), .tv_nsec = 0};
  do {
    RestoreLeft(rules, log);
  } while (::sigtimedwait(&signal_set, nullptr, &interval) < 0);
  return EXIT_SUCCESS;
}

int RunGuarded(const GuardianRules& rules, Logger& log,
               const std::function<int(TemporaryWriter&)>& agent) {
  std::array<int, 2> ends{};
  // Block the signals before there is a child, so that none is missed.
  sigset_t signal_set;
  sigset_t before;
  sigemptyset(&signal_set);
  for (const int signal : {SIGCHLD, SIGTERM, SIGINT}) sigaddset(&signal_set, signal);
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    log.Error("cannot start", {{"error", SystemError("socketpair").message}});
    return EXIT_FAILURE;
  }
  Socket ours(ends[0]);
  Socket childs(ends[1]);
  ::sigprocmask(SIG_BLOCK, &signal_set, &before);
  const Socket signals(::signalfd(-1, &signal_set, SFD_CLOEXEC | SFD_NONBLOCK));
  const pid_t guardian = ::getpid();
  const pid_t child = signals.fd() < 0 ? -1 : ::fork();
  if (child < 0) {
    log.Error("cannot start", {{"error", SystemError("fork").message}});
    return EXIT_FAILURE;
  }
  if (child > 0) {
    childs.Close();
    // Survive the end of the process that reads the log.
    std::signal(SIGPIPE, SIG_IGN);
    return Guardian(rules, log, child, std::move(ours), signals.fd()).Run();
  }
  // The agent must not continue without a guardian, which may be gone already.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != guardian) return EXIT_FAILURE;
  ours.Close();
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  GuardianClient client(std::move(childs));
  return agent(client);
}

}  // namespace synergy::nodeagent
