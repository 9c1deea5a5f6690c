#include "kube/reflector.h"

#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/fake_api_server.h"
#include "support/fake_clock.h"
#include "support/recorded_log.h"

namespace synergy::kube {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using synergy::testing::EventLine;
using synergy::testing::FakeApiServer;
using synergy::testing::FakeClock;
using synergy::testing::FakePod;
using synergy::testing::StatusJson;
using synergy::testing::ToJson;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

std::string NameOf(const Pod& pod) { return pod.name; }
std::string NameOf(const Node& node) { return node.name; }
std::string NameOf(const DisruptionBudget& budget) { return budget.name; }

template <class T>
class RecordingStore final : public ObjectStore<T> {
 public:
  void Replace(std::vector<T> all) override {
    Change([&] {
      objects_.clear();
      for (T& object : all) objects_[NameOf(object)] = std::move(object);
      ++replacements_;
    });
  }
  void Upsert(T object) override {
    Change([&] { objects_[NameOf(object)] = std::move(object); });
  }
  void Remove(const T& object) override {
    Change([&] { objects_.erase(NameOf(object)); });
  }
  std::optional<T> Last(const T& object) const override {
    const std::lock_guard lock(mutex_);
    const auto known = objects_.find(NameOf(object));
    return known == objects_.end() ? std::nullopt : std::optional<T>(known->second);
  }

  using Objects = std::map<std::string, T>;
  // Waits until `holds` returns true, for two minutes at most.
  bool WaitUntil(const std::function<bool(const Objects&)>& holds) const {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::minutes(2), [&] { return holds(objects_); });
  }
  bool WaitForReplacements(int count) const {
    return WaitUntil([&](const Objects&) { return replacements_ >= count; });
  }
  bool WaitFor(const std::string& name) const {
    return WaitUntil([&](const Objects& objects) { return objects.count(name) > 0; });
  }
  bool WaitForNo(const std::string& name) const {
    return WaitUntil([&](const Objects& objects) { return objects.count(name) == 0; });
  }
  std::vector<std::string> names() const {
    const std::lock_guard lock(mutex_);
    std::vector<std::string> names;
    for (const auto& [name, object] : objects_) names.push_back(name);
    return names;
  }
  int replacements() const {
    const std::lock_guard lock(mutex_);
    return replacements_;
  }

 private:
  template <class Do>
  void Change(Do change) {
    const std::lock_guard lock(mutex_);
    change();
    changed_.notify_all();
  }

  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  Objects objects_;
  int replacements_ = 0;
};

class ReflectorTest : public ::testing::Test {
 protected:
  ReflectorTest() {
    options_.path = "/api/v1/pods";
    options_.first_backoff = milliseconds(1);
    options_.backoff_limit = milliseconds(20);
    client_ = std::move(*ApiClient::Create(server_.access()));
  }

  void Start() { Start(SystemClock()); }
  void Start(const Clock& clock) {
    pods_ = Reflector::Start(*client_, reader_, store_, clock, log_, options_);
  }
  // Starts with the pods in place and a watch open.
  void StartWith(const std::vector<FakePod>& pods) {
    server_.SetPods(pods);
    Start();
    ASSERT_TRUE(store_.WaitForReplacements(1));
    ASSERT_TRUE(server_.WaitForWatches("pods", 1));
  }
  // Returns when everything that the server has sent so far was processed, because a last pod has
  // arrived. Then the current watch is open, not only one that the reflector has left.
  void Settle() {
    const std::string name = "settle-" + std::to_string(++settled_);
    server_.PutPod({.name = name});
    ASSERT_TRUE(store_.WaitFor(name));
    server_.RemovePod("default/" + name);
    ASSERT_TRUE(store_.WaitForNo(name));
  }

  FakeApiServer server_;
  std::unique_ptr<ApiClient> client_;
  wire::ObjectReader reader_{"nvidia.com/gpu"};
  RecordingStore<Pod> store_;
  FakeClock clock_;
  testing::RecordedLog sink_;
  Logger log_{sink_, SystemClock(), LogLevel::kDebug, LogFormat::kText};
  ReflectorOptions options_;
  std::unique_ptr<Reflector> pods_;
  int settled_ = 0;
};

TEST_F(ReflectorTest, AListOfManyPagesIsStoredAtOnce) {
  std::vector<FakePod> pods;
  for (int i = 0; i < 1250; ++i) pods.push_back({.name = "p" + std::to_string(i)});
  StartWith(pods);
  EXPECT_EQ(store_.names().size(), 1250U);
  EXPECT_EQ(store_.replacements(), 1);
  const auto lists = server_.requests("limit=500");
  ASSERT_EQ(lists.size(), 3U);
  EXPECT_EQ(lists[0].path, "/api/v1/pods?limit=500");
  EXPECT_THAT(lists[1].path, HasSubstr("&continue="));
  EXPECT_THAT(lists[1].path, Not(HasSubstr("resourceVersion")));
  Settle();
  const ReflectorStatus status = pods_->status();
  EXPECT_TRUE(status.synced);
  EXPECT_TRUE(status.watching);
  EXPECT_EQ(status.lists, 1U);
  EXPECT_EQ(status.errors, 0U);
}

TEST_F(ReflectorTest, ChangesAreFollowed) {
  StartWith({{.name = "a"}});
  server_.PutPod({.name = "b"});
  ASSERT_TRUE(store_.WaitFor("b"));
  server_.PutPod({.name = "b", .node = "n"});
  ASSERT_TRUE(store_.WaitUntil([](const auto& pods) { return pods.at("b").node == "n"; }));
  server_.RemovePod("default/a");
  ASSERT_TRUE(store_.WaitForNo("a"));
  EXPECT_THAT(store_.names(), UnorderedElementsAre("b"));
  EXPECT_EQ(store_.replacements(), 1);
  EXPECT_THAT(server_.requests("watch=1").front().path,
              AllOf(HasSubstr("allowWatchBookmarks=true"), HasSubstr("timeoutSeconds=45")));
}

TEST_F(ReflectorTest, TheSelectorIsEscapedInListsAndWatches) {
  options_.field_selector = "status.phase!=Succeeded,status.phase!=Failed";
  StartWith({{.name = "a"}, {.name = "done", .phase = "Succeeded"}});
  EXPECT_THAT(store_.names(), UnorderedElementsAre("a"));
  server_.PutPod({.name = "a", .phase = "Failed"});
  ASSERT_TRUE(store_.WaitForNo("a"));
  for (const auto& request : server_.requests()) {
    EXPECT_THAT(request.path,
                EndsWith("&fieldSelector=status.phase%21%3DSucceeded%2Cstatus.phase%21%3DFailed"));
  }
}

// A right to one name does not cover any other list.
TEST_F(ReflectorTest, AWatchOfOneObjectNeverListsOthers) {
  options_.field_selector = "metadata.name=a";
  StartWith({{.name = "a"}});
  ASSERT_TRUE(server_.WaitForRequests("watch=1", 1));
  server_.EndWatches();
  ASSERT_TRUE(server_.WaitForRequests("?limit=1&", 1));
  ASSERT_TRUE(server_.WaitForRequests("watch=1", 2));
  for (const auto& request : server_.requests())
    EXPECT_THAT(request.path, EndsWith("&fieldSelector=metadata.name%3Da"));
}

TEST_F(ReflectorTest, LabelsAreASelectorToo) {
  options_.label_selector = "app=node-agent,release=ours";
  StartWith({{.name = "a"}});
  ASSERT_TRUE(server_.WaitForRequests("watch=1", 1));
  for (const auto& request : server_.requests())
    EXPECT_THAT(request.path, EndsWith("&labelSelector=app%3Dnode-agent%2Crelease%3Dours"));
}

TEST_F(ReflectorTest, ABrokenWatchGoesOnWhereItWas) {
  StartWith({{.name = "a"}});
  server_.PutPod({.name = "b"});
  ASSERT_TRUE(store_.WaitFor("b"));
  const uint64_t seen = server_.version();
  server_.BreakWatches();
  server_.PutPod({.name = "c"});
  ASSERT_TRUE(store_.WaitFor("c"));
  server_.BreakWatchesInALine();
  server_.RemovePod("default/a");
  ASSERT_TRUE(store_.WaitForNo("a"));
  EXPECT_EQ(store_.replacements(), 1);
  const auto watches = server_.requests("watch=1");
  ASSERT_GE(watches.size(), 3U);
  EXPECT_THAT(watches[1].path, HasSubstr("resourceVersion=" + std::to_string(seen)));
  EXPECT_GE(pods_->status().watch_restarts, 2U);
  EXPECT_GE(pods_->status().errors, 2U);
}

TEST_F(ReflectorTest, AWatchThatEndsInGoodOrderIsOpenedAgain) {
  StartWith({{.name = "a"}});
  for (int i = 0; i < 5; ++i) {
    Settle();
    server_.EndWatches();
  }
  Settle();
  EXPECT_EQ(store_.replacements(), 1);
  EXPECT_EQ(pods_->status().watch_restarts, 5U);
  EXPECT_EQ(pods_->status().errors, 0U);
}

TEST_F(ReflectorTest, BookmarksMoveThePlaceToGoOnFrom) {
  StartWith({{.name = "a"}});
  server_.ForgetHistory();
  server_.SendBookmark("pods");
  const uint64_t bookmark = server_.version();
  server_.EndWatches();
  Settle();
  EXPECT_EQ(store_.replacements(), 1);
  EXPECT_THAT(server_.requests("watch=1")[1].path,
              HasSubstr("resourceVersion=" + std::to_string(bookmark)));
  EXPECT_EQ(pods_->status().errors, 0U);
}

TEST_F(ReflectorTest, ABookmarkMayRepeatTheLastVersion) {
  StartWith({});
  server_.PutPod({.name = "a"});
  const std::string version = std::to_string(server_.version());
  server_.SendLine(
      "pods",
      EventLine("BOOKMARK", R"({"kind":"Pod","metadata":{"resourceVersion":")" + version + "\"}}"));
  Settle();
  EXPECT_EQ(store_.replacements(), 1);
}

TEST_F(ReflectorTest, AVersionThatIsTooOldMeansANewList) {
  StartWith({{.name = "a"}});
  server_.SetPods({{.name = "b"}});
  server_.ForgetHistory();
  server_.BreakWatches();
  ASSERT_TRUE(store_.WaitForReplacements(2));
  EXPECT_THAT(store_.names(), UnorderedElementsAre("b"));
}

TEST_F(ReflectorTest, AVersionThatIsRefusedAsTooOldMeansANewList) {
  StartWith({{.name = "a"}});
  server_.FailNext("GET", "watch=1", 410);
  server_.BreakWatches();
  ASSERT_TRUE(store_.WaitForReplacements(2));
}

TEST_F(ReflectorTest, AnOverloadedServerIsAskedToGoOnAndNotToListAgain) {
  StartWith({{.name = "a"}});
  server_.FailNext("GET", "watch=1", 429, 3);
  server_.SendLine("pods", EventLine("ERROR", StatusJson(500, "InternalError", "etcd is slow")));
  Settle();
  EXPECT_EQ(store_.replacements(), 1);
  EXPECT_EQ(pods_->status().errors, 4U);
}

TEST_F(ReflectorTest, AnEventFromThePastIsNotAppliedAndMeansANewList) {
  StartWith({{.name = "a"}});
  Settle();
  const uint64_t now = server_.version();
  for (const uint64_t version : {now, now - 1, uint64_t{1}}) {
    const int before = store_.replacements();
    server_.SendLine("pods", EventLine("MODIFIED", ToJson(FakePod{.name = "ghost"}, version)));
    ASSERT_TRUE(store_.WaitForReplacements(before + 1)) << version;
    Settle();
  }
  EXPECT_THAT(store_.names(), UnorderedElementsAre("a"));
  EXPECT_EQ(pods_->status().errors, 3U);
  EXPECT_EQ(sink_.Count("history runs backwards"), 3U);
}

// The reopened watch would be silent until the versions have caught up.
TEST_F(ReflectorTest, AStoreThatWasRestoredFromABackupMeansANewList) {
  StartWith({{.name = "a"}});
  const uint64_t backup = server_.version();
  for (const char* name : {"b", "c", "d"}) server_.PutPod({.name = name});
  ASSERT_TRUE(store_.WaitFor("d"));
  server_.RestoreVersion(backup);
  server_.SetPods({{.name = "a"}});
  server_.EndWatches();
  ASSERT_TRUE(store_.WaitForReplacements(2));
  EXPECT_THAT(store_.names(), UnorderedElementsAre("a"));
  EXPECT_EQ(sink_.Count("history runs backwards"), 1U);
  ASSERT_TRUE(server_.WaitForWatches("pods", 1));
  server_.PutPod({.name = "after"});
  EXPECT_TRUE(store_.WaitFor("after"));
}

TEST_F(ReflectorTest, ABookmarkFromThePastMeansANewList) {
  StartWith({{.name = "a"}});
  server_.SendLine("pods",
                   EventLine("BOOKMARK", R"({"kind":"Pod","metadata":{"resourceVersion":"1"}})"));
  ASSERT_TRUE(store_.WaitForReplacements(2));
}

TEST_F(ReflectorTest, AnUnreadableLineMeansANewList) {
  StartWith({{.name = "a"}});
  for (const char* line :
       {"nonsense", "{\"type\":\"ADDED\"", "{}", "{\"type\":\"ADDED\",\"object\":7}"}) {
    const int before = store_.replacements();
    server_.SendLine("pods", line);
    ASSERT_TRUE(store_.WaitForReplacements(before + 1)) << line;
    Settle();
  }
  EXPECT_THAT(store_.names(), UnorderedElementsAre("a"));
  EXPECT_EQ(pods_->status().errors, 4U);
}

TEST_F(ReflectorTest, AListThatFailsHalfWayIsStartedAgainFromItsFirstPage) {
  options_.page_size = 1;
  server_.FailNext("GET", "continue=", 500);
  server_.FailNext("GET", "continue=", 410);
  StartWith({{.name = "a"}, {.name = "b"}, {.name = "c"}});
  EXPECT_THAT(store_.names(), UnorderedElementsAre("a", "b", "c"));
  EXPECT_EQ(store_.replacements(), 1);
  EXPECT_EQ(pods_->status().errors, 2U);
  EXPECT_EQ(pods_->status().lists, 1U);
}

TEST_F(ReflectorTest, AListWithoutAVersionIsNotStored) {
  server_.FailNext("GET", "limit=", 200);  // a Status is not a list of pods
  StartWith({{.name = "a"}});
  EXPECT_EQ(store_.replacements(), 1);
  EXPECT_THAT(store_.names(), UnorderedElementsAre("a"));
  EXPECT_EQ(pods_->status().errors, 1U);
}

TEST_F(ReflectorTest, AServerThatIsDownIsWaitedFor) {
  server_.Stop();
  server_.SetPods({{.name = "a"}});
  options_.first_backoff = milliseconds(200);
  options_.backoff_limit = seconds(5);
  Start(clock_);
  Duration longest = options_.first_backoff;
  for (int i = 0; i < 8; ++i) {
    const Duration wait = clock_.AwaitNextWake();
    EXPECT_GE(wait, longest / 2);
    EXPECT_LE(wait, longest);
    longest = std::min(longest * 2, options_.backoff_limit);
    clock_.Advance(wait);
  }
  clock_.AwaitSleepers(1);
  EXPECT_FALSE(pods_->status().synced);
  EXPECT_EQ(pods_->status().errors, 9U);
  EXPECT_EQ(pods_->status().last_contact, Instant{});
  server_.Start();
  clock_.Advance(options_.backoff_limit);
  EXPECT_TRUE(store_.WaitFor("a"));
}

TEST_F(ReflectorTest, AServerThatComesBackIsFollowedAgain) {
  StartWith({{.name = "a"}});
  server_.Stop();
  server_.Start();
  Settle();
  EXPECT_EQ(store_.replacements(), 1);
}

TEST_F(ReflectorTest, AServerThatIsSilentForTooLongIsTakenForDead) {
  options_.watch_timeout = seconds(1);
  options_.silence_margin = milliseconds(100);
  StartWith({{.name = "a"}});
  server_.FallSilent();
  ASSERT_TRUE(server_.WaitForRequests("watch=1", 2));
  EXPECT_EQ(pods_->status().errors, 1U);
  EXPECT_EQ(sink_.Count("silent for 1100 ms"), 1U);
}

TEST_F(ReflectorTest, AFailureThatGoesOnIsLoggedOnceAndItsEndToo) {
  server_.FailNext("GET", "limit=", 503, 20);
  StartWith({{.name = "a"}});
  Settle();
  EXPECT_EQ(pods_->status().errors, 20U);
  EXPECT_EQ(sink_.Count("list failed"), 1U);
  EXPECT_EQ(sink_.Count("watching again"), 1U);
  const size_t lines = sink_.lines().size();
  for (int i = 0; i < 20; ++i) Settle();
  EXPECT_EQ(sink_.lines().size(), lines);  // events are not logged
}

TEST_F(ReflectorTest, FieldsThatCannotBeReadAreCounted) {
  StartWith({{.name = "a", .requests_json = R"({"cpu":"a lot"})"}});
  EXPECT_EQ(pods_->status().problems, 1U);
  for (const char* phase : {"Running", "Pending"}) {
    server_.PutPod({.name = "a", .phase = phase, .requests_json = R"({"cpu":"a lot"})"});
  }
  Settle();
  EXPECT_EQ(pods_->status().problems, 3U);
  EXPECT_EQ(sink_.Count("fields cannot be read"), 1U);
}

// Returns more labels than are read.
std::string ManyLabels() {
  std::string labels = R"({"a":"x")";
  for (int i = 0; i < 1000; ++i) labels += R"(,"l)" + std::to_string(i) + R"(":"x")";
  return labels + "}";
}

TEST_F(ReflectorTest, DeepNestingInOneObjectIsNoFailureOfOthers) {
  std::string deep = R"({"a":"x","deep":)";
  for (int i = 0; i < 1000; ++i) deep += R"({"f:x":)";
  deep += "1" + std::string(1001, '}');
  StartWith({{.name = "a", .annotations_json = deep}, {.name = "b"}});
  EXPECT_THAT(store_.names(), UnorderedElementsAre("a", "b"));
  server_.PutPod({.name = "c", .annotations_json = deep});
  ASSERT_TRUE(store_.WaitFor("c"));
  Settle();
  EXPECT_EQ(store_.replacements(), 1);
  EXPECT_EQ(pods_->status().errors, 0U);
}

TEST_F(ReflectorTest, APodThatIsNotReadIsCountedOnItsNode) {
  StartWith({{.name = "a", .node = "n", .labels_json = ManyLabels()}, {.name = "b"}});
  EXPECT_THAT(store_.names(), UnorderedElementsAre("a", "b"));
  EXPECT_TRUE(store_.WaitUntil([](const auto& pods) {
    const Pod& pod = pods.at("a");
    return pod.node == "n" && pod.requests.main.cpu == Cores(1) && pod.labels.empty();
  }));
  EXPECT_EQ(pods_->status().unread, 1U);
  EXPECT_EQ(sink_.Count("pod default/a"), 1U);
  server_.PutPod({.name = "b", .node = "m", .labels_json = ManyLabels()});
  ASSERT_TRUE(store_.WaitUntil([](const auto& pods) { return pods.at("b").node == "m"; }));
  Settle();
  EXPECT_EQ(pods_->status().unread, 2U);
  server_.PutPod({.name = "b", .node = "m"});
  server_.RemovePod("default/a");
  Settle();
  EXPECT_EQ(pods_->status().unread, 0U);
  EXPECT_EQ(pods_->status().errors, 0U);
}

TEST_F(ReflectorTest, AnotherObjectThatIsNotReadStaysAsItWas) {
  RecordingStore<DisruptionBudget> store;
  options_.path = "/apis/policy/v1/poddisruptionbudgets";
  server_.SetDisruptionBudgets({{.name = "a", .disruptions_allowed = 5}});
  const auto budgets = Reflector::Start(*client_, reader_, store, SystemClock(), log_, options_);
  ASSERT_TRUE(store.WaitFor("a"));
  ASSERT_TRUE(server_.WaitForWatches("poddisruptionbudgets", 1));
  const auto is_as_it_was = [](const auto& known) {
    return known.at("a").disruptions_allowed == 5 && known.contains("b") && !known.contains("c");
  };
  const std::string selector = R"({"matchLabels":)" + ManyLabels() + "}";
  server_.PutDisruptionBudget({.name = "a", .selector_json = selector});
  server_.PutDisruptionBudget({.name = "c", .selector_json = selector});
  server_.PutDisruptionBudget({.name = "b"});
  ASSERT_TRUE(store.WaitFor("b"));
  EXPECT_TRUE(store.WaitUntil(is_as_it_was));
  server_.ForgetHistory();
  server_.BreakWatches();
  ASSERT_TRUE(store.WaitForReplacements(2));
  EXPECT_TRUE(store.WaitUntil(is_as_it_was));
  EXPECT_EQ(budgets->status().unread, 2U);
}

// A real server, too, writes some characters as six.
TEST_F(ReflectorTest, APageThatIsTooLargeIsAskedForByHalves) {
  client_ = std::move(*ApiClient::Create(server_.access(), {.largest_answer = 100'000}));
  const std::string large = R"({"a":")" + std::string(30'000, 'x') + R"("})";
  std::vector<FakePod> pods;
  for (int i = 0; i < 8; ++i)
    pods.push_back({.name = "p" + std::to_string(i), .annotations_json = i < 5 ? large : "{}"});
  options_.page_size = 8;
  StartWith(pods);
  EXPECT_EQ(store_.names().size(), 8U);
  EXPECT_EQ(pods_->status().errors, 0U);
  std::vector<std::string> sizes;
  for (const auto& request : server_.requests("limit="))
    sizes.push_back(request.path.substr(request.path.find("limit=") + 6, 1));
  EXPECT_THAT(sizes, ElementsAre("8", "4", "2", "4", "8"));
}

TEST_F(ReflectorTest, EndsAtOnceInASilentWatch) {
  StartWith({{.name = "a"}});
  const auto start = std::chrono::steady_clock::now();
  pods_.reset();
  EXPECT_LT(std::chrono::steady_clock::now() - start, seconds(5));
  EXPECT_TRUE(server_.WaitForWatches("pods", 0));
}

TEST_F(ReflectorTest, EndsAtOnceInAListAndInABackOff) {
  server_.IgnoreNext("GET", "limit=");
  Start();
  ASSERT_TRUE(server_.WaitForRequests("limit=", 1));
  const auto start = std::chrono::steady_clock::now();
  pods_.reset();

  server_.Stop();
  Start(clock_);
  clock_.AwaitSleepers(1);
  pods_.reset();
  EXPECT_LT(std::chrono::steady_clock::now() - start, seconds(5));
}

TEST_F(ReflectorTest, NodesAndDisruptionBudgetsAreFollowedToo) {
  server_.SetNodes({{.name = "n1"}});
  server_.SetDisruptionBudgets({{.name = "b1"}});
  RecordingStore<Node> node_store;
  RecordingStore<DisruptionBudget> budget_store;
  ReflectorOptions node_options = options_;
  node_options.path = "/api/v1/nodes";
  ReflectorOptions budget_options = options_;
  budget_options.path = "/apis/policy/v1/poddisruptionbudgets";
  const auto nodes =
      Reflector::Start(*client_, reader_, node_store, SystemClock(), log_, node_options);
  const auto budgets =
      Reflector::Start(*client_, reader_, budget_store, SystemClock(), log_, budget_options);
  ASSERT_TRUE(node_store.WaitFor("n1"));
  ASSERT_TRUE(budget_store.WaitFor("b1"));
  server_.PutNode({.name = "n2"});
  server_.RemoveNode("n1");
  server_.PutDisruptionBudget({.name = "b2", .disruptions_allowed = 3});
  EXPECT_TRUE(node_store.WaitFor("n2"));
  EXPECT_TRUE(node_store.WaitForNo("n1"));
  EXPECT_TRUE(budget_store.WaitUntil([](const auto& found) {
    return found.count("b2") > 0 && found.at("b2").disruptions_allowed == 3;
  }));
}

}  // namespace
}  // namespace synergy::kube
