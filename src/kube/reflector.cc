#include "kube/reflector.h"

#include <charconv>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "core/backoff.h"
#include "kube/listing.h"

namespace synergy::kube {
namespace {

// A failure that continues is logged again after this time.
constexpr Duration kLogAgainAfter = std::chrono::minutes(1);

// Since Kubernetes 1.35, the resource versions of one kind of object are growing numbers
// (KEP-5504).
std::optional<uint64_t> ParseVersion(const std::string& text) {
  uint64_t version = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), version);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return version;
}

class ListWatch final : public Reflector {
 public:
  ListWatch(ApiClient& client, std::unique_ptr<WatchedKind> kind, const Clock& clock, Logger& log,
            ReflectorOptions options)
      : client_(client),
        kind_(std::move(kind)),
        clock_(clock),
        log_(log),
        options_(std::move(options)),
        selector_(Selectors(options_.field_selector, options_.label_selector)),
        backoff_(options_.first_backoff, options_.backoff_limit, options_.seed),
        thread_([this](const std::stop_token& stop) { Run(stop); }) {}

  ReflectorStatus status() const override {
    const std::lock_guard lock(mutex_);
    return status_;
  }

 private:
  // The outcome of a list or a watch. A watch counts as progress only if it delivered an event or
  // lasted long enough. So a server whose lists succeed and whose watches fail is not flooded with
  // lists.
  struct Outcome {
    std::optional<Error> failure;
    bool progress = false;
  };

  void Run(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      const bool listing = needs_list_;
      const Outcome outcome = listing ? List(stop) : Watch(stop);
      if (stop.stop_requested()) return;
      if (outcome.failure) Report(listing ? "list failed" : "watch failed", *outcome.failure);
      if (outcome.progress) backoff_.Reset();
      const bool wait = outcome.failure || (!listing && !outcome.progress);
      if (wait) clock_.SleepFor(backoff_.Next(), stop);
    }
  }

  Outcome List(const std::stop_token& stop) {
    const Result<WatchedKind::Listed> listing = kind_->List(
        client_,
        {options_.path, options_.field_selector, options_.page_size, options_.label_selector}, stop,
        [this] { Contact([](ReflectorStatus&) {}); });
    if (!listing) return {listing.error(), false};
    CountProblems(listing->problems);
    NoteUnread(listing->unread);
    const std::optional<uint64_t> version = ParseVersion(listing->resource_version);
    if (!version) {
      return {Error{ErrorCode::kInvalid, fmt::format("resourceVersion \"{}\" is not a number",
                                                     listing->resource_version)},
              false};
    }

    const size_t count = kind_->Replace();
    version_ = *version;
    needs_list_ = history_in_doubt_ = false;
    Contact([](ReflectorStatus& status) {
      status.synced = true;
      ++status.lists;
    });
    log_.Info("listed", {{"resource", options_.path}, {"objects", count}, {"version", *version}});
    return {};
  }

  Outcome Watch(const std::stop_token& stop) {
    if (history_in_doubt_) {
      if (std::optional<Error> failure = CheckHistory(stop)) return Broken(*std::move(failure));
    }
    const std::string path =
        fmt::format("{}?watch=1&allowWatchBookmarks=true&timeoutSeconds={}&resourceVersion={}{}",
                    options_.path, options_.watch_timeout.count(), version_, selector_);
    const Instant start = clock_.Now();
    Outcome outcome;
    bool list_again = false;
    const Result<> ended = client_.Watch(
        path, options_.watch_timeout + options_.silence_margin,
        [&](std::string_view line) {
          if (line.empty()) {
            Opened();
            return true;
          }
          outcome.failure = OnLine(line, &list_again);
          outcome.progress |= !outcome.failure;
          return !outcome.failure && !stop.stop_requested();
        },
        stop);
    if (!outcome.failure && !ended) {
      outcome.failure = ended.error();
      // The version is too old or not available at all, so the same request would fail again.
      list_again =
          ended.error().code == ErrorCode::kGone || ended.error().code == ErrorCode::kInvalid;
    }
    needs_list_ = list_again;
    if (outcome.failure) return Broken(*std::move(outcome.failure), outcome.progress);
    // A watch without events is also progress if it lasted at least half of the requested time.
    outcome.progress |= clock_.Now() - start >= options_.watch_timeout / 2;
    Contact([](ReflectorStatus& status) { status.watching = false; });
    return outcome;
  }

  Outcome Broken(Error failure, bool progress = false) {
    const std::lock_guard lock(mutex_);
    status_.watching = false;
    status_.broken = true;
    return {std::move(failure), progress};
  }

  // Returns why no watch can continue from the last version seen; sets needs_list_ if a new list is
  // required.
  std::optional<Error> CheckHistory(const std::stop_token& stop) {
    // Permission for one named object does not cover a list of other objects. Any other selector
    // would make the server search.
    const bool is_one = options_.field_selector.starts_with("metadata.name=");
    Result<std::string> answer =
        client_.Get(options_.path + "?limit=1" + (is_one ? selector_ : ""), stop);
    if (!answer) return answer.error();
    const Result<std::string> text = kind_->VersionOf(*std::move(answer));
    if (!text) return text.error();
    const std::optional<uint64_t> version = ParseVersion(*text);
    if (version && *version >= version_) return std::nullopt;
    needs_list_ = true;
    return RunsBackwards(*text);
  }

  Error RunsBackwards(const std::string& version) const {
    return {ErrorCode::kInvalid,
            fmt::format("history runs backwards: version {} after {}", version, version_)};
  }

  std::optional<Error> OnLine(std::string_view line, bool* list_again) {
    using Type = wire::WatchEventType;
    const Result<wire::WatchEventHead> event = kind_->ReadEvent(line);
    if (!event) {
      *list_again = true;
      return Error{ErrorCode::kInvalid, "unreadable event: " + event.error().message};
    }
    if (event->type == Type::kError) {
      // After overload, unavailability or a timeout, a watch can continue from the same version.
      // After any other error, the history is in doubt.
      *list_again = event->error.code != ErrorCode::kUnavailable &&
                    event->error.code != ErrorCode::kOverloaded &&
                    event->error.code != ErrorCode::kTimeout;
      return event->error;
    }
    const bool bookmark = event->type == Type::kBookmark;
    // A bookmark may repeat the version of the previous event. Any other event that is not newer
    // comes from a server with another history (restored from a backup, or lagging), and would set
    // the copy back in time.
    if (event->resource_version < version_ || (event->resource_version == version_ && !bookmark)) {
      *list_again = true;
      return RunsBackwards(std::to_string(event->resource_version));
    }
    CountProblems(event->problems);
    if (!bookmark) {
      NoteRead(event->name, event->type == Type::kDeleted ? std::string() : event->why_unread);
      kind_->Apply();
    }
    version_ = event->resource_version;
    Contact([&](ReflectorStatus& status) { status.events += bookmark ? 0 : 1; });
    return std::nullopt;
  }

  void NoteUnread(const std::vector<WatchedKind::Unread>& listed) {
    const std::set<std::string> before = std::exchange(unread_, {});
    for (const auto& [name, why] : listed) {
      if (!before.contains(name)) ReportUnread(name, why);
      unread_.insert(name);
    }
    CountUnread();
  }

  void NoteRead(const std::string& name, const std::string& why_unread) {
    if (why_unread.empty() ? unread_.erase(name) == 0 : !unread_.insert(name).second) return;
    if (!why_unread.empty()) ReportUnread(name, why_unread);
    CountUnread();
  }

  void ReportUnread(const std::string& name, const std::string& why) {
    log_.Warn("cannot read an object; its earlier state is kept",
              {{"resource", options_.path}, {"object", name}, {"error", why}});
  }

  void CountUnread() {
    const std::lock_guard lock(mutex_);
    status_.unread = unread_.size();
  }

  void Opened() {
    Contact([this](ReflectorStatus& status) {
      status.watching = true;
      status.broken = false;
      status.watch_restarts += std::exchange(opened_before_, true) ? 1 : 0;
    });
    history_in_doubt_ = true;
    if (!last_failure_.empty()) log_.Info("watching again", {{"resource", options_.path}});
    last_failure_.clear();
  }

  template <class Change>
  void Contact(Change change) {
    const Instant now = clock_.Now();
    const std::lock_guard lock(mutex_);
    status_.last_contact = now;
    change(status_);
  }

  void CountProblems(const std::vector<std::string>& problems) {
    if (problems.empty()) return;
    {
      const std::lock_guard lock(mutex_);
      status_.problems += problems.size();
    }
    // Do not log the same problem again: the object arrives with every change of its status.
    if (problems.front() == last_problem_) return;
    last_problem_ = problems.front();
    log_.Warn(
        "fields cannot be read and count as zero",
        {{"resource", options_.path}, {"fields", problems.size()}, {"first", problems.front()}});
  }

  void Report(std::string_view what, const Error& error) {
    {
      const std::lock_guard lock(mutex_);
      ++status_.errors;
    }
    const Instant now = clock_.Now();
    if (error.message == last_failure_ && now - last_failure_logged_ < kLogAgainAfter) return;
    last_failure_ = error.message;
    last_failure_logged_ = now;
    log_.Warn(
        what,
        {{"resource", options_.path}, {"code", ToString(error.code)}, {"error", error.message}});
  }

  ApiClient& client_;
  const std::unique_ptr<WatchedKind> kind_;
  const Clock& clock_;
  Logger& log_;
  const ReflectorOptions options_;
  const std::string selector_;

  mutable std::mutex mutex_;
  ReflectorStatus status_;

  // Only the thread uses these.
  Backoff backoff_;
  bool needs_list_ = true;
  uint64_t version_ = 0;  // seen last
  bool opened_before_ = false;
  bool history_in_doubt_ = false;  // a watch was opened since the last list
  std::string last_failure_;
  Instant last_failure_logged_{};
  std::string last_problem_;
  std::set<std::string> unread_;  // names of the objects whose present state cannot be read

  std::jthread thread_;
};

}  // namespace

ReflectorOptions WatchWithin(std::chrono::milliseconds staleness_limit, std::string path,
                             std::string field_selector, uint64_t seed) {
  ReflectorOptions options;
  const auto third = std::chrono::duration_cast<std::chrono::seconds>(staleness_limit / 3);
  options.watch_timeout = std::clamp(third, std::chrono::seconds(1), options.watch_timeout);
  options.path = std::move(path);
  options.field_selector = std::move(field_selector);
  options.seed = seed;
  return options;
}

std::unique_ptr<Reflector> Reflector::Start(ApiClient& client, std::unique_ptr<WatchedKind> kind,
                                            const Clock& clock, Logger& log,
                                            ReflectorOptions options) {
  return std::make_unique<ListWatch>(client, std::move(kind), clock, log, std::move(options));
}

}  // namespace synergy::kube
