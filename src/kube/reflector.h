#pragma once

// Keeps a copy of one kind of object up to date in a loop: a paginated list, followed by a watch
// that starts there.
//
//   list (limit 500, continue) -> Replace -> watch (bookmarks) -> Upsert/Remove ...
//        ^                                    |   ends or breaks: again from the last version seen
//        +-- 410 Gone, or history runs back --+
//
// An API server whose store was restored from a backup does not report the restoration. It accepts
// a watch from a version in its future, and stays silent until its versions have caught up. So the
// reflector reads the server's present version before it reopens a watch; a version lower than one
// already seen requires a new list.
//
// Threading: each reflector has one thread, which makes all calls of the ObjectStore; any thread
// may call status(). Failures: the reflector waits with backoff and jitter, and tries again until
// it is stopped. The status counts every failure; the log contains each one unless it repeats the
// previous one.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "cluster/pod.h"
#include "core/clock.h"
#include "core/log.h"
#include "core/result.h"
#include "kube/api_client.h"
#include "kube/listing.h"
#include "wire/objects/objects.h"

namespace synergy::kube {

// Receives the objects that a reflector reads.
template <class T>
class ObjectStore {
 public:
  virtual ~ObjectStore() = default;
  virtual void Replace(std::vector<T> all) = 0;
  virtual void Upsert(T object) = 0;
  virtual void Remove(const T& object) = 0;
  // Returns the object as last stored; nullopt if it is unknown, or the store does not keep it.
  // Used for objects that can no longer be read, because a new list would otherwise remove them.
  virtual std::optional<T> Last(const T& /*object*/) const { return std::nullopt; }
};

struct ReflectorStatus {
  bool synced = false;     // a whole list has been stored
  bool watching = false;   // a watch is open now
  bool broken = false;     // the last watch failed, and none has been opened since
  Instant last_contact{};  // last response of the server: a list, or a watch's start,
                           // event, bookmark or regular end
  uint64_t lists = 0;
  uint64_t watch_restarts = 0;  // watches opened after the first
  uint64_t errors = 0;
  uint64_t events = 0;
  uint64_t problems = 0;  // fields that could not be read
  uint64_t unread = 0;    // existing objects that cannot be read (wire::UnreadObject)
};

struct ReflectorOptions {
  std::string path;            // "/api/v1/pods"
  std::string field_selector;  // "status.phase!=Succeeded,status.phase!=Failed"
  std::string label_selector;  // "app.kubernetes.io/component=node-agent"
  int page_size = 500;
  // How long the server should keep a watch open. It is short, because a reopened watch proves that
  // the copy is fresh, but a silent one does not.
  std::chrono::seconds watch_timeout{45};
  // A watch that is silent for this much longer than its timeout counts as dead.
  std::chrono::milliseconds silence_margin{15000};
  Duration first_backoff = std::chrono::milliseconds(200);
  Duration backoff_limit = std::chrono::seconds(5);
  uint64_t seed = 1;  // of the jitter
};

// Returns options for a watch that is reopened three times within `staleness_limit`. A silent watch
// does not prove that the connection works; ending in time and reopening does.
ReflectorOptions WatchWithin(std::chrono::milliseconds staleness_limit, std::string path,
                             std::string field_selector, uint64_t seed);

// The part of a reflector that depends on the kind of its objects. Only the reflector's thread uses
// it.
class WatchedKind {
 public:
  struct Unread {
    std::string name;  // "pod default/train-1"
    std::string why;
  };
  struct Listed {
    std::string resource_version;
    std::vector<std::string> problems;
    std::vector<Unread> unread;
  };

  virtual ~WatchedKind() = default;
  // Reads a whole list. Call Replace() to store it.
  virtual Result<Listed> List(ApiClient& client, const ListRequest& request,
                              const std::stop_token& stop,
                              const std::function<void()>& on_page) = 0;
  // Stores the list, and returns its number of objects. Objects that cannot be read stay as they
  // were stored.
  virtual size_t Replace() = 0;
  // Reads a line of a watch. Call Apply() to store its object.
  virtual Result<wire::WatchEventHead> ReadEvent(std::string_view line) = 0;
  virtual void Apply() = 0;
  // Returns the resource version of a page of a list.
  virtual Result<std::string> VersionOf(std::string page) const = 0;
};

template <class T>
class WatchedObjects final : public WatchedKind {
 public:
  WatchedObjects(wire::ObjectReader reader, ObjectStore<T>& store)
      : reader_(std::move(reader)), store_(store) {}

  Result<Listed> List(ApiClient& client, const ListRequest& request, const std::stop_token& stop,
                      const std::function<void()>& on_page) override {
    auto listing = ListAll<T>(client, reader_, request, stop, on_page);
    if (!listing) return Fail(listing.error());
    Listed listed{listing->resource_version, std::move(listing->problems), {}};
    for (wire::UnreadObject<T>& unread : listing->unread) {
      listed.unread.push_back({std::move(unread.name), std::move(unread.why)});
    }
    listing_ = *std::move(listing);
    return listed;
  }

  size_t Replace() override {
    std::vector<T>& items = listing_.items;
    for (wire::UnreadObject<T>& unread : listing_.unread) {
      if constexpr (kIsAccounted) {
        items.push_back(std::move(unread.object));
      } else if (std::optional<T> last = store_.Last(unread.object)) {
        items.push_back(*std::move(last));
      }
    }
    const size_t count = items.size();
    store_.Replace(std::move(items));
    listing_ = {};
    return count;
  }

  Result<wire::WatchEventHead> ReadEvent(std::string_view line) override {
    auto event = reader_.template ReadWatchEvent<T>(line);
    if (!event) return Fail(event.error());
    event_ = *std::move(event);
    return event_;
  }

  void Apply() override {
    if (event_.type == wire::WatchEventType::kDeleted) store_.Remove(event_.object);
    if (event_.type != wire::WatchEventType::kAdded &&
        event_.type != wire::WatchEventType::kModified)
      return;
    if (event_.why_unread.empty() || kIsAccounted) store_.Upsert(std::move(event_.object));
  }

  Result<std::string> VersionOf(std::string page) const override {
    auto read = reader_.template ReadList<T>(std::move(page));
    if (!read) return Fail(read.error());
    return std::move(read->resource_version);
  }

 private:
  // Unread pods are stored, too, because the amounts that they take from their nodes are known.
  static constexpr bool kIsAccounted = std::is_same_v<T, Pod>;

  const wire::ObjectReader reader_;
  ObjectStore<T>& store_;
  Listing<T> listing_;
  wire::WatchEvent<T> event_;
};

class Reflector {
 public:
  // All references must outlive the reflector.
  template <class T>
  static std::unique_ptr<Reflector> Start(ApiClient& client, wire::ObjectReader reader,
                                          ObjectStore<T>& store, const Clock& clock, Logger& log,
                                          ReflectorOptions options) {
    return Start(client, std::make_unique<WatchedObjects<T>>(std::move(reader), store), clock, log,
                 std::move(options));
  }
  virtual ~Reflector() = default;  // stops and joins the thread
  virtual ReflectorStatus status() const = 0;

 private:
  static std::unique_ptr<Reflector> Start(ApiClient& client, std::unique_ptr<WatchedKind> kind,
                                          const Clock& clock, Logger& log,
                                          ReflectorOptions options);
};

}  // namespace synergy::kube
