#pragma once

// An API server that holds pods, nodes and some other kinds, lists them page by page, streams
// their changes and binds pods, and that can be told to misbehave in every way that a real one may.
//
//   FakeApiServer server;
//   server.SetNodes({{.name = "n1"}});
//   ... a reflector on server.access() ...
//   server.PutPod({.name = "p"});                       // seen by open watches
//   server.FailNext("POST", "/binding", 500);
//   EXPECT_EQ(server.bindings().front().node, "n1");
//
// Threading: every method from any thread. Wait... methods give up after two minutes and return
// false.

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "config/kubeconfig.h"
#include "support/fake_listener.h"
#include "support/fake_objects.h"

namespace synergy::testing {

struct FakeBinding {
  std::string pod;  // namespace/name
  std::string uid;
  std::string node;
};

class FakeApiServer {
 public:
  // Refuses connections until Start() when not `started`.
  explicit FakeApiServer(const std::optional<FakeTls>& tls = {}, bool started = true);
  ~FakeApiServer();
  FakeApiServer(const FakeApiServer&) = delete;
  FakeApiServer& operator=(const FakeApiServer&) = delete;

  // Without any credentials.
  config::ClusterAccess access() const;

  // Down: every connection is cut and new ones are refused. Up: with the objects it had, on the
  // same port.
  void Stop();
  void Start();

  // What is there, replaced without events: the beginning of a test, or what a watch has missed.
  void SetPods(const std::vector<FakePod>& pods);
  void SetNodes(const std::vector<FakeNode>& nodes);
  void SetDisruptionBudgets(const std::vector<FakeDisruptionBudget>& budgets);

  // Changes, which open watches are told.
  void PutPod(const FakePod& pod);
  void RemovePod(const std::string& key);
  void PutNode(const FakeNode& node);
  void RemoveNode(const std::string& key);
  void PutDisruptionBudget(const FakeDisruptionBudget& budget);
  void PutNamespace(const FakeNamespace& name_space);
  void PutTrainingProfile(const FakeTrainingProfile& profile);

  // Sets the answer to each GET or POST of this path, for kinds that this server does not know
  // otherwise.
  void PutText(const std::string& path, const std::string& json);

  // The version of the last change.
  uint64_t version() const;
  std::optional<FakePod> pod(const std::string& key) const;

  // Names of the Events that were created, as namespace/name; their bodies are in requests().
  std::vector<std::string> event_names() const;
  // As after an hour.
  void ForgetEvents();

  // Who holds the one Lease that this server keeps; empty: nobody.
  std::string lease_holder() const;

  // `resource` is "pods", "nodes", "poddisruptionbudgets", "namespaces" or "trainingprofiles" from
  // here on.

  // A line to the open watches, whatever it is, and nothing else changes.
  void SendLine(const std::string& resource, const std::string& line);
  // With a version that is newer than anything before.
  void SendBookmark(const std::string& resource);
  // Open watches end in good order, or with their connection, or with half a line and then the
  // connection.
  void EndWatches();
  void BreakWatches();
  void BreakWatchesInALine();
  // Watches from before now are refused as too old.
  void ForgetHistory();
  // The next change has the version after this one, as when the store is restored from a backup.
  // Open watches are not told.
  void RestoreVersion(uint64_t version);
  // Lists that have been begun cannot be continued.
  void ForgetContinueTokens();
  // Open watches stay silent from now on and do not end, as when the machine behind the address is
  // gone.
  void FallSilent();

  // What happens to the next requests whose method is `method` and whose path, query included,
  // contains `part`.
  void FailNext(const std::string& method, const std::string& part, int status, int times = 1);
  // With 429 and Retry-After.
  void OverloadNext(const std::string& method, const std::string& part, int retry_after_seconds,
                    int times);
  // The connection is cut when the request has come: before or after it was carried out.
  void DropNext(const std::string& method, const std::string& part, bool carried_out);
  void IgnoreNext(const std::string& method, const std::string& part);

  // What was asked, the oldest first. The query is part of the path here.
  std::vector<FakeRequest> requests(std::string_view part = {}) const;
  std::vector<FakeBinding> bindings() const;
  bool WaitForRequests(std::string_view part, size_t count) const;
  // So many watches of the resource are open.
  bool WaitForWatches(const std::string& resource, size_t count) const;

 private:
  struct Object {
    uint64_t version = 0;
    bool terminal = false;
    std::function<std::string(uint64_t)> json;
  };
  struct Event {
    uint64_t version = 0;
    std::string type;
    Object object;
  };
  struct Resource {
    std::string kind;
    std::map<std::string, Object> objects;
    std::vector<Event> history;
    std::map<std::string, std::vector<std::string>>
        pages;  // by continue token: what is left of a list
  };
  struct Watch {
    enum class End { kNone, kRegular, kBreak, kBreakInALine };
    std::string resource;
    bool only_running = false;
    bool silent = false;
    End end = End::kNone;
    std::vector<std::string> lines;  // not sent yet
    int wake_fd = -1;
  };
  struct Trouble {
    enum class Kind { kStatus, kDrop, kCarryOutAndDrop, kIgnore };
    Kind kind;
    std::string method;
    std::string part;
    int status;
    int times;
    std::string headers = {};
  };
  using Lock = std::unique_lock<std::mutex>;

  void AcceptLoop();
  void Serve(FakeConnection& connection);
  // False when the connection is to be closed.
  bool Answer(FakeConnection& connection, const FakeRequest& request);
  std::optional<Trouble> TakeTrouble(const FakeRequest& request);
  // Body and status of everything but watches.
  std::pair<int, std::string> Carry(const FakeRequest& request);
  std::pair<int, std::string> List(Resource& resource, const FakeRequest& request);
  std::pair<int, std::string> Bind(const std::string& key, const std::string& body);
  std::pair<int, std::string> CarryEvent(const FakeRequest& request);
  std::pair<int, std::string> CarryLease(const FakeRequest& request);
  void ServeWatch(FakeConnection& connection, const FakeRequest& request);

  static Object ToObject(const FakePod& pod);
  static Object ToObject(const FakeNode& node);
  static Object ToObject(const FakeDisruptionBudget& budget);
  void Set(const std::string& resource, std::map<std::string, Object> objects);
  void Change(const Lock& lock, const std::string& resource, const std::string& key,
              std::optional<Object> object);
  void EndWatches(Watch::End end);
  // Adds `line` to the open watches of the resource, or what `line` makes of each.
  void Tell(const Lock& lock, const std::string& resource,
            const std::function<std::string(const Watch&)>& line);
  static std::string LineFor(const Watch& watch, const Event& event);

  FakeListener listener_;
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  bool running_ = false;
  uint64_t version_ = 100;
  uint64_t oldest_ = 0;
  std::map<std::string, Resource> resources_;
  std::map<std::string, FakePod> pods_;  // to bind them
  std::list<Watch> watches_;
  std::map<std::string, std::string> texts_;  // by path
  std::list<Trouble> troubles_;
  std::vector<FakeRequest> requests_;
  std::vector<FakeBinding> bindings_;
  std::vector<std::string> events_;
  struct Lease {
    std::string holder;
    std::string renewed;
    uint64_t version = 0;
  };
  std::optional<Lease> lease_;  // the one that there may be
  std::list<FakeConnection*> connections_;
  std::vector<std::thread> threads_;
  std::thread accepting_;
};

}  // namespace synergy::testing
