#include "kube/apis/events.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string_view>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "core/backoff.h"
#include "core/random.h"
#include "kube/listing.h"
#include "wire/objects/event_about_pod.h"

namespace synergy::kube {
namespace {

constexpr Duration kSameEventFor = std::chrono::minutes(10);
// The attempts, with their backoff, last longer than any outage after which an event still matters.
constexpr int kMostEventTries = 12;
constexpr Duration kFirstBackoff = std::chrono::milliseconds(200);
constexpr Duration kBackoffLimit = std::chrono::seconds(30);
constexpr std::chrono::seconds kDrainFor{1};
// Number of sent events to remember, to detect repetitions.
constexpr size_t kMostRemembered = 4096;
// The API server's limits.
constexpr size_t kLongestMessage = 1024;
constexpr size_t kLongestReason = 128;
constexpr size_t kLongestName = 253;
constexpr size_t kSuffix = 17;  // of an Event's name, after the object's: a dot and 16 digits

// Returns the first `most` bytes, without a partial character at the end.
std::string Cut(std::string text, size_t most) {
  if (text.size() <= most) return text;
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xC0) == 0x80) --most;
  text.resize(most);
  return text;
}

// Returns the beginning of an object's name that leaves room for the suffix and does not end in a
// dot or a dash.
std::string_view NameForEvent(std::string_view name) {
  name = name.substr(0, kLongestName - kSuffix);
  while (!name.empty() && (name.back() == '.' || name.back() == '-')) name.remove_suffix(1);
  return name;
}

// Returns a key that is the same for records with the same message about the same object.
std::string KeyOf(const EventRecord& event) {
  std::string key;
  for (const std::string* part : {&event.object_namespace, &event.object_name, &event.object_uid,
                                  &event.type, &event.reason, &event.message}) {
    key += *part;
    key += '\0';
  }
  return key;
}

// Returns a key that is the same for records about the same object with the same reason.
std::string ReasonKeyOf(const EventRecord& event) {
  return event.object_uid + '\0' + event.type + '\0' + event.reason;
}

class QueuedEventRecorder final : public EventRecorder {
 public:
  QueuedEventRecorder(ApiClient& client, const Clock& clock, Logger& log, std::string component,
                      std::string instance, size_t queue_limit)
      : client_(client),
        clock_(clock),
        log_(log),
        component_(std::move(component)),
        instance_(std::move(instance)),
        queue_limit_(std::max<size_t>(queue_limit, 1)),
        // The seed makes the names of Events differ between replicas and starts of the program.
        names_(static_cast<uint64_t>(clock.WallNow().time_since_epoch().count()) ^
               std::hash<std::string>{}(component_ + '\0' + instance_)),
        backoff_(kFirstBackoff, kBackoffLimit, names_.Next()),
        thread_([this](const std::stop_token& stop) { Run(stop); }) {}

  ~QueuedEventRecorder() override {
    {
      std::unique_lock lock(mutex_);
      draining_ = true;
      // Skip the waits between attempts, which could use up the time that is left for the queue.
      waiting_.request_stop();
      changed_.notify_all();
      done_.wait_for(lock, kDrainFor, [this] { return finished_; });
    }
    thread_.request_stop();
  }

  void Record(EventRecord event) override {
    event.message = Cut(std::move(event.message), kLongestMessage);
    event.reason = Cut(std::move(event.reason), kLongestReason);
    std::string key = KeyOf(event);
    const WallTime now = clock_.WallNow();
    const Instant when = clock_.Now();
    const std::lock_guard lock(mutex_);
    if (const auto queued = queued_.find(key); queued != queued_.end()) {
      ++queued->second->count;
      queued->second->last = now;
      queued->second->when = when;
      return;
    }
    if (queue_.size() >= queue_limit_ / 2) {
      // The API server is slower than this program, so merge events about the same object with the
      // same reason, and keep the latest message.
      if (const auto same_reason = by_reason_.find(ReasonKeyOf(event));
          same_reason != by_reason_.end()) {
        Pending& pending = *same_reason->second;
        const auto extracted = queued_.extract(pending.key);
        pending.key = key;
        pending.event.message = std::move(event.message);
        ++pending.count;
        pending.last = now;
        pending.when = when;
        queued_[std::move(key)] = same_reason->second;
        return;
      }
    }
    if (queue_.size() >= queue_limit_) {
      dropped_ += queue_.front().count;
      PopFront();
    }
    std::string reason_key = ReasonKeyOf(event);
    queue_.push_back({key, std::move(event), 1, now, now, when});
    queued_[std::move(key)] = std::prev(queue_.end());
    by_reason_[std::move(reason_key)] = std::prev(queue_.end());
    changed_.notify_all();
  }

  uint64_t dropped() const override {
    const std::lock_guard lock(mutex_);
    return dropped_;
  }

 private:
  struct Pending {
    std::string key;
    EventRecord event;
    uint64_t count = 1;  // how often it was recorded
    WallTime first;
    WallTime last;
    Instant when;  // `last` on the monotonic clock
  };
  // The state of a key on the API server.
  struct Sent {
    std::string name;
    uint64_t count = 0;
    WallTime first;
    Instant when;  // last recorded
  };

  void Run(const std::stop_token& stop) {
    while (std::optional<Pending> pending = Next(stop)) {
      if (!Deliver(*pending, stop)) {
        const std::lock_guard lock(mutex_);
        dropped_ += pending->count;
      }
    }
    const std::lock_guard lock(mutex_);
    finished_ = true;
    done_.notify_all();
  }

  // Returns nullopt when the recorder stops.
  std::optional<Pending> Next(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, stop, [this] { return draining_ || !queue_.empty(); });
    if (stop.stop_requested() || queue_.empty()) return std::nullopt;
    return PopFront();
  }

  Pending PopFront() {
    const auto first = queue_.begin();
    queued_.erase(first->key);
    const auto same_reason = by_reason_.find(ReasonKeyOf(first->event));
    if (same_reason != by_reason_.end() && same_reason->second == first)
      by_reason_.erase(same_reason);
    Pending pending = std::move(*first);
    queue_.pop_front();
    return pending;
  }

  bool Deliver(const Pending& pending, const std::stop_token& stop) {
    backoff_.Reset();
    ForgetBefore(pending.when);
    const auto known = sent_.find(pending.key);
    Sent next =
        known != sent_.end() ? known->second : Sent{NewName(pending.event), 0, pending.first, {}};
    next.count += pending.count;
    bool exists = known != sent_.end();
    for (int tries = 1;; ++tries) {
      const Result<std::string> answer =
          exists ? Repeat(pending, next, stop) : Create(pending, next, stop);
      // An earlier attempt took effect, but its response was lost.
      const bool made_before =
          !exists && tries > 1 && !answer && answer.error().code == ErrorCode::kConflict;
      if (answer || made_before) {
        next.when = pending.when;
        sent_[pending.key] = std::move(next);
        last_failure_.clear();
        return true;
      }
      const ErrorCode code = answer.error().code;
      if (exists && code == ErrorCode::kNotFound) {
        // The API server deletes events after about an hour, and any client may delete them.
        exists = false;
        next.name = NewName(pending.event);
        continue;
      }
      const bool may_work_later = code == ErrorCode::kUnavailable ||
                                  code == ErrorCode::kOverloaded || code == ErrorCode::kTimeout;
      if (!may_work_later || tries >= kMostEventTries || stop.stop_requested() || !Wait()) {
        Report(pending.event, answer.error());
        return false;
      }
    }
  }

  Result<std::string> Create(const Pending& pending, const Sent& next,
                             const std::stop_token& stop) {
    const EventRecord& event = pending.event;
    return client_.Post(EventsPath(event),
                        wire::WriteEventAboutPod({.name = next.name,
                                                  .pod_namespace = event.object_namespace,
                                                  .pod_name = event.object_name,
                                                  .pod_uid = event.object_uid,
                                                  .type = event.type,
                                                  .reason = event.reason,
                                                  .message = event.message,
                                                  .component = component_,
                                                  .instance = instance_,
                                                  .first = next.first,
                                                  .last = pending.last,
                                                  .count = next.count,
                                                  .kind = event.kind,
                                                  .api_version = event.api_version}),
                        stop);
  }

  Result<std::string> Repeat(const Pending& pending, const Sent& next,
                             const std::stop_token& stop) {
    return client_.Patch(EventsPath(pending.event) + "/" + Escape(next.name),
                         "application/merge-patch+json",
                         wire::WriteRepeatedEvent(next.count, pending.last), stop);
  }

  static std::string EventsPath(const EventRecord& event) {
    return fmt::format("/api/v1/namespaces/{}/events", Escape(event.object_namespace));
  }

  std::string NewName(const EventRecord& event) {
    return fmt::format("{}.{:016x}", NameForEvent(event.object_name), names_.Next());
  }

  // Drops entries that are too old to be counted again, and the oldest ones beyond the limit.
  void ForgetBefore(Instant now) {
    std::erase_if(sent_,
                  [&](const auto& entry) { return now - entry.second.when >= kSameEventFor; });
    while (sent_.size() >= kMostRemembered) {
      sent_.erase(std::min_element(sent_.begin(), sent_.end(), [](const auto& a, const auto& b) {
        return a.second.when < b.second.when;
      }));
    }
  }

  // Returns false if there is no time for another attempt.
  bool Wait() { return clock_.SleepFor(backoff_.Next(), waiting_.get_token()); }

  void Report(const EventRecord& event, const Error& error) {
    // Log a continuing failure only once; the counter shows the rest.
    if (error.message == last_failure_) return;
    last_failure_ = error.message;
    log_.Warn("cannot write an event", {{"namespace", event.object_namespace},
                                        {"object", event.object_name},
                                        {"reason", event.reason},
                                        {"error", error.message}});
  }

  ApiClient& client_;
  const Clock& clock_;
  Logger& log_;
  const std::string component_;
  const std::string instance_;
  const size_t queue_limit_;

  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::condition_variable done_;
  std::list<Pending> queue_;
  std::map<std::string, std::list<Pending>::iterator> queued_;  // by key
  std::map<std::string, std::list<Pending>::iterator>
      by_reason_;  // the last event of each object and reason
  uint64_t dropped_ = 0;
  bool draining_ = false;
  bool finished_ = false;
  std::stop_source waiting_;  // stopped: no more waits between attempts

  // Only the thread uses these.
  Random names_;
  Backoff backoff_;
  std::map<std::string, Sent> sent_;  // by key
  std::string last_failure_;

  std::jthread thread_;
};

}  // namespace

EventRecord AboutNode(std::string node, std::string type, std::string reason, std::string message) {
  return {"default", node, node, std::move(type), std::move(reason), std::move(message), "Node"};
}

std::unique_ptr<EventRecorder> EventRecorder::Start(ApiClient& client, const Clock& clock,
                                                    Logger& log, std::string component,
                                                    std::string instance, size_t queue_limit) {
  return std::make_unique<QueuedEventRecorder>(client, clock, log, std::move(component),
                                               std::move(instance), queue_limit);
}

std::string InstanceName() {
  std::array<char, 256> name{};
  // Leave room for the terminator, which a truncated name lacks.
  if (gethostname(name.data(), name.size() - 1) != 0) return "unknown";
  return name.data();
}

}  // namespace synergy::kube
