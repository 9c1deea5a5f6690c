#pragma once

// A fake API server with pods, nodes and some other kinds. It lists them page by page, streams
// their changes and binds pods. Tests can make it fail in the ways in which a real one may fail.
//
//   FakeApiServer server;
//   server.SetNodes({{.name = "n1"}});
//   ... a reflector on server.access() ...
//   server.PutPod({.name = "p"});                       // seen by open watches
//   server.FailNext("POST", "/binding", 500);
//   EXPECT_EQ(server.bindings().front().node, "n1");
//
// Threading: every method from any thread. The Wait... methods return false after two minutes.

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
  // Refuses connections until Start() unless `started`.
  explicit FakeApiServer(const std::optional<FakeTls>& tls = {}, bool started = true);
  ~FakeApiServer();
  FakeApiServer(const FakeApiServer&) = delete;
  FakeApiServer& operator=(const FakeApiServer&) = delete;

  // Returns access without credentials.
  config::ClusterAccess access() const;

  // Stop() cuts every connection and refuses new ones. Start() resumes with the same objects on the
  // same port.
  void Stop();
  void Start();

  // Replace all objects without events: at the beginning of a test, or for changes that a watch
  // misses.
  void SetPods(const std::vector<FakePod>& pods);
  void SetNodes(const std::vector<FakeNode>& nodes);
  void SetDisruptionBudgets(const std::vector<FakeDisruptionBudget>& budgets);

  // Make changes, and send them to open watches.
  void PutPod(const FakePod& pod);
  void RemovePod(const std::string& key);
  void PutNode(const FakeNode& node);
  void RemoveNode(const std::string& key);
  void PutDisruptionBudget(const FakeDisruptionBudget& budget);
  void PutNamespace(const FakeNamespace& name_space);
  void PutTrainingProfile(const FakeTrainingProfile& profile);

  // Sets the answer to each GET, POST or PATCH of this path, for kinds that this server does not
  // implement.
  void PutText(const std::string& path, const std::string& json);

  // Returns the version of the last change.
  uint64_t version() const;
  std::optional<FakePod> pod(const std::string& key) const;

  // Returns the created Events as namespace/name. Their bodies are in requests().
  std::vector<std::string> event_names() const;
  // Drops all Events, as the API server does after an hour.
  void ForgetEvents();

  // Returns the holder of the only Lease of this server; empty if there is none.
  std::string lease_holder() const;

  // In the following, `resource` is "pods", "nodes", "poddisruptionbudgets", "namespaces" or
  // "trainingprofiles".

  // Sends any line to the open watches; changes nothing else.
  void SendLine(const std::string& resource, const std::string& line);
  // Sends a bookmark with a version that is newer than all others.
  void SendBookmark(const std::string& resource);
  // End open watches: regularly, by closing the connection, or by closing it after half a line.
  void EndWatches();
  void BreakWatches();
  void BreakWatchesInALine();
  // Rejects watches that start before the current version as too old.
  void ForgetHistory();
  // Resets the version, as when the store is restored from a backup: the next change gets the
  // version after this one. Open watches do not notice.
  void RestoreVersion(uint64_t version);
  // Invalidates the continue tokens of lists that have begun.
  void ForgetContinueTokens();
  // Makes open watches silent from now on, without ending them, as if the machine behind the
  // address had vanished.
  void FallSilent();

  // Fails the next `times` requests whose method is `method` and whose path, including the query,
  // contains `part`. The functions below select requests in the same way.
  void FailNext(const std::string& method, const std::string& part, int status, int times = 1);
  // Answers with 429 and Retry-After.
  void OverloadNext(const std::string& method, const std::string& part, int retry_after_seconds,
                    int times);
  // Receives the request and cuts the connection, before or after carrying it out.
  void DropNext(const std::string& method, const std::string& part, bool carried_out);
  void IgnoreNext(const std::string& method, const std::string& part);

  // Returns the requests whose path contains `part`, the oldest first. Here the path includes the
  // query.
  std::vector<FakeRequest> requests(std::string_view part = {}) const;
  std::vector<FakeBinding> bindings() const;
  bool WaitForRequests(std::string_view part, size_t count) const;
  // Waits until exactly `count` watches of the resource are open.
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
    std::map<std::string, std::vector<std::string>> pages;  // continue token -> the rest of a list
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
  // Returns false if the connection has to be closed.
  bool Answer(FakeConnection& connection, const FakeRequest& request);
  std::optional<Trouble> TakeTrouble(const FakeRequest& request);
  // Returns status and body of the answer to every request except a watch.
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
  // Adds to each open watch of the resource the line that `line` returns for it.
  void Notify(const Lock& lock, const std::string& resource,
              const std::function<std::string(const Watch&)>& line);
  static std::string LineFor(const Watch& watch, const Event& event);

  FakeListener listener_;
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  bool running_ = false;
  uint64_t version_ = 100;
  uint64_t oldest_ = 0;
  std::map<std::string, Resource> resources_;
  std::map<std::string, FakePod> pods_;  // pods to be bound
  std::list<Watch> watches_;
  std::map<std::string, std::string> texts_;  // path -> text
  std::list<Trouble> troubles_;
  std::vector<FakeRequest> requests_;
  std::vector<FakeBinding> bindings_;
  std::vector<std::string> events_;
  struct Lease {
    std::string holder;
    std::string renewed;
    uint64_t version = 0;
  };
  std::optional<Lease> lease_;  // the only one that can exist
  std::list<FakeConnection*> connections_;
  std::vector<std::thread> threads_;
  std::thread accepting_;
};

}  // namespace synergy::testing
