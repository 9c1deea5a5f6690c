// Binds pods with an API server whose answers are slow, lost and out of order: in every history no
// node gets more than it has, and every place is settled in the end.
//
// Each seed gives a history. In it, kube-scheduler repeats calls before they are answered, pods
// end, a watch lags, and calls take effect after they have failed. support/histories.h has the
// number of histories.

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/random.h"
#include "extender/binding/allocations.h"
#include "extender/binding/binder.h"
#include "support/fake_pod_api.h"
#include "support/histories.h"
#include "support/managed_pods.h"
#include "support/recorded_events.h"
#include "support/silent_log.h"

namespace synergy::testing {
namespace {

constexpr int kNodes = 2;
constexpr int kPods = 7;
constexpr int kSteps = 25;
constexpr Duration kLate =
    std::chrono::seconds(10);  // by then a sent request has arrived, or never will

// Time advances when the only thread sleeps; meanwhile other things happen.
class HistoryClock final : public Clock {
 public:
  Instant Now() const override {
    const std::lock_guard lock(mutex_);
    return now_;
  }
  WallTime WallNow() const override { return WallTime{std::chrono::hours(500000)}; }
  bool SleepUntil(Instant deadline, std::stop_token stop) const override {
    if (std::this_thread::get_id() != thread_) return AwaitStop(stop);
    Advance(deadline - Now());
    meanwhile();
    return !stop.stop_requested();
  }
  void Advance(Duration by) const {
    const std::lock_guard lock(mutex_);
    now_ += std::max(by, Duration::zero());
  }

  std::function<void()> meanwhile = [] {};

 private:
  // Replaces the thread that watches deadlines. No deadline expires: calls fail only as the API
  // decides.
  bool AwaitStop(const std::stop_token& stop) const {
    std::unique_lock lock(mutex_);
    stopped_.wait(lock, stop, [] { return false; });
    return false;
  }

  const std::thread::id thread_ = std::this_thread::get_id();
  mutable std::mutex mutex_;
  mutable std::condition_variable_any stopped_;
  mutable Instant now_{std::chrono::hours(1)};
};

// Calls reach `truth` or not, at once or later, and are answered or not.
class UnreliableApi final : public kube::PodApi {
 public:
  UnreliableApi(FakePodApi& truth, Random& random, const Clock& clock)
      : truth_(truth), random_(random), clock_(clock) {}

  Result<Pod> Get(const std::string& pod_namespace, const std::string& name,
                  std::stop_token stop) override {
    meanwhile();
    if (random_.Below(6) == 0) return Fail(ErrorCode::kTimeout, "no answer");
    Result<Pod> found = truth_.Get(pod_namespace, name, std::move(stop));
    meanwhile();
    return found;
  }
  Result<> Bind(const kube::PodIdentity& pod, const std::string& node,
                const kube::AnnotationChanges& annotations, uint64_t unchanged_since,
                std::stop_token) override {
    return Call<Result<>>(
        [=, this] { return truth_.Bind(pod, node, annotations, unchanged_since, {}); });
  }
  Result<Pod> Resize(const Pod& pod, const ResourceVector& amounts, kube::Precondition precondition,
                     kube::Resized resized, std::stop_token) override {
    return Call<Result<Pod>>(
        [=, this] { return truth_.Resize(pod, amounts, precondition, resized, {}); });
  }
  Result<Pod> Annotate(const Pod& pod, const kube::AnnotationChanges& changes,
                       kube::Precondition precondition, std::stop_token stop) override {
    return truth_.Annotate(pod, changes, precondition, std::move(stop));
  }

  // Delivers or drops one of the calls that are under way.
  void Deliver() {
    if (late_.empty()) return;
    const auto at = late_.begin() + static_cast<std::ptrdiff_t>(random_.Below(late_.size()));
    const Late late = std::move(*at);
    late_.erase(at);
    if (clock_.Now() <= late.until && random_.Below(4) > 0) late.effect();
  }
  bool IsQuiet() const { return late_.empty(); }

  std::function<void()> meanwhile = [] {};

 private:
  struct Late {
    std::function<void()> effect;
    Instant until;
  };

  template <class Answer, class Do>
  Answer Call(Do effect) {
    meanwhile();
    switch (random_.Below(10)) {
      case 0:
        return Fail(ErrorCode::kUnavailable, "no connection");
      case 1:
        effect();
        return Fail(ErrorCode::kTimeout, "no answer");
      case 2:
        late_.push_back({[effect] { effect(); }, clock_.Now() + kLate});
        return Fail(ErrorCode::kTimeout, "no answer yet");
      default:
        break;
    }
    Answer answer = effect();
    meanwhile();
    return answer;
  }

  FakePodApi& truth_;
  Random& random_;
  const Clock& clock_;
  std::deque<Late> late_;
};

class History {
 public:
  explicit History(uint64_t seed) : random_(seed) {
    for (int i = 0; i < kNodes; ++i) state_.UpsertNode(NodeOfFour(fmt::format("n{}", i)));
    for (int i = 0; i < kPods; ++i) Create(fmt::format("p{}", i));
    truth_.after_change = [this](const Pod& pod) {
      Report(pod);
      Check();
      return Result<>();
    };
    api_.meanwhile = clock_.meanwhile = [this] { Meanwhile(); };
  }

  void Run() {
    for (int step = 0; step < kSteps && violation_.empty(); ++step) Meanwhile();
    // No call is under way, and the watch has caught up, so no uncertainty is left.
    while (!api_.IsQuiet()) api_.Deliver();
    calm_ = true;
    while (!watch_.empty()) DeliverNext();
    for (int i = 0; i < 50 && state_.assumed_pods() > 0; ++i) {
      clock_.Advance(kAssume);
      binder_.SettleExpired();
      while (!watch_.empty()) DeliverNext();
    }
    if (state_.assumed_pods() > 0) Fails("a place is in doubt for ever");
    const auto snapshot = state_.Snapshot();
    for (int i = 0; i < kNodes; ++i) {
      const std::string name = fmt::format("n{}", i);
      if (snapshot->node(*snapshot->Find(name)).requested != Taken(name)) {
        Fails(fmt::format("{} is not known as it is", name));
      }
    }
  }

  const std::string& violation() const { return violation_; }

 private:
  static constexpr Duration kAssume = std::chrono::seconds(30);

  void Create(const std::string& name) {
    Pod pod = ManagedPod(name, "", 3, random_.Below(3) == 0 ? "insensitive" : "sensitive");
    pod.uid = fmt::format("{}-{}", name, ++created_);
    truth_.Put(pod);
    pods_[name] = pod.uid;
    Report(truth_.pod(name));
  }

  void Report(const Pod& pod) { watch_.push_back({pod, false}); }
  void DeliverNext() {
    const PodNews news = {std::make_shared<Pod>(watch_.front().pod), watch_.front().gone};
    watch_.pop_front();
    if (news.gone) {
      state_.RemovePod(news.pod->uid);
    } else {
      state_.UpsertPod(*news.pod);
    }
  }

  // Runs events between two steps of a call, or outside of calls.
  void Meanwhile() {
    if (calm_ || depth_ >= 4 || !violation_.empty()) return;
    ++depth_;
    switch (random_.Below(depth_ > 1 ? 12 : 8)) {
      case 0:
      case 1:
      case 2:
        Schedule();
        break;
      case 3:
        for (uint64_t i = random_.Below(watch_.size() + 1); i > 0 && !watch_.empty(); --i)
          DeliverNext();
        break;
      case 4:
        api_.Deliver();
        break;
      case 5:
        clock_.Advance(std::chrono::seconds(random_.Below(8)));
        break;
      case 6:
        binder_.SettleExpired();
        break;
      case 7:
        End();
        break;
      default:
        break;  // no event
    }
    --depth_;
  }

  // kube-scheduler makes a call, possibly a second one for the same pod.
  void Schedule() {
    const auto& [name, uid] =
        *std::next(pods_.begin(), static_cast<std::ptrdiff_t>(random_.Below(pods_.size())));
    const wire::BindingArgs args{.pod_name = name,
                                 .pod_namespace = "team",
                                 .pod_uid = uid,
                                 .node = fmt::format("n{}", random_.Below(kNodes))};
    (void)binder_.Bind(args, "");
  }

  // Deletes a bound pod, and creates another one of the same name.
  void End() {
    for (const auto& [name, uid] : pods_) {
      const Pod pod = truth_.pod(name);
      if (pod.node.empty() || random_.Below(3) > 0) continue;
      truth_.Remove(name);
      watch_.push_back({pod, true});
      Create(std::string(name));
      return;
    }
  }

  ResourceVector Taken(const std::string& node) const {
    ResourceVector taken;
    for (const auto& [name, uid] : pods_) {
      const Pod pod = truth_.pod(name);
      if (pod.node == node) taken += pod.requests.main;
    }
    return taken;
  }
  void Check() {
    const ResourceVector all = NodeOfFour("").allocatable.main;
    for (int i = 0; i < kNodes; ++i) {
      const std::string name = fmt::format("n{}", i);
      if (!Taken(name).FitsWithin(all)) Fails(fmt::format("{} is over-allocated", name));
    }
  }
  void Fails(std::string what) {
    if (violation_.empty()) violation_ = std::move(what);
  }

  struct News {
    Pod pod;
    bool gone;
  };

  Random random_;
  HistoryClock clock_;
  SilentSink sink_;
  Logger log_{sink_, clock_, LogLevel::kError, LogFormat::kText};
  metrics::ExtenderMetrics metrics_{"nvidia.com/gpu"};
  ClusterState state_;
  FakePodApi truth_;
  UnreliableApi api_{truth_, random_, clock_};
  RecordedEvents events_;
  extender::Allocations allocations_{api_, events_, clock_, log_, metrics_, ReserveRule{}};
  extender::Binder binder_{state_, api_, "nvidia.com/gpu", allocations_,
                           clock_, log_, metrics_,         {.assume = kAssume}};
  std::map<std::string, std::string> pods_;  // name -> uid
  std::deque<News> watch_;
  int created_ = 0;
  int depth_ = 0;
  bool calm_ = false;
  std::string violation_;
};

TEST(BindProperty, NoHistoryGivesANodeMoreThanItHas) {
  const uint64_t first = FirstSeed();
  const uint64_t histories = Histories(5000);
  for (uint64_t seed = first; seed < first + histories; ++seed) {
    History history(seed);
    history.Run();
    ASSERT_EQ(history.violation(), "") << "SYNERGY_SEED=" << seed << " SYNERGY_HISTORIES=1";
  }
}

}  // namespace
}  // namespace synergy::testing
