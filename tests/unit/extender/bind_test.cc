#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "support/background.h"
#include "unit/extender/extender_fixture.h"

namespace synergy::extender {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class BindTest : public ExtenderTest {
 protected:
  void SetUp() override {
    AddNode("a", 1);
    state.UpsertPod(pod);
    api.Put(pod);
  }

  std::string Bind() { return extender.Bind(BindArgs(pod, "a")); }
  void LosesTheAnswer() { api.Refuse("bind", {ErrorCode::kTimeout, "no answer"}); }
  void ApiServerHasItOn(const std::string& node) {
    api.Change("p", [&](Pod& known) { known.node = node; });
  }

  Pod pod = MakePod("p", 1, 1, 1);
};

TEST_F(BindTest, BindsThePodToTheNodeThatItWasAskedFor) {
  EXPECT_EQ(Bind(), kBound);
  EXPECT_THAT(api.calls(), ElementsAre("bind p a"));
}

TEST_F(BindTest, DoesNotBindANamesakeThatCameMeanwhile) {
  Pod namesake = pod;
  namesake.uid = "younger";
  api.Put(namesake);
  EXPECT_THAT(Bind(), HasSubstr("UID"));
  EXPECT_EQ(api.pod("p").node, "");
  EXPECT_EQ(FreeGpus("a"), Gpus(1));
}

TEST_F(BindTest, CountsThePodUntilTheWatchConfirms) {
  Bind();
  EXPECT_EQ(FreeGpus("a"), Gpus(0));
  EXPECT_EQ(state.assumed_pods(), 1u);
  pod.node = "a";
  state.UpsertPod(pod);
  EXPECT_EQ(state.assumed_pods(), 0u);
  EXPECT_EQ(FreeGpus("a"), Gpus(0));
}

TEST_F(BindTest, GivesTheLastGpuToExactlyOneOfManyThatRace) {
  constexpr int kRacers = 16;
  std::vector<std::string> answers(kRacers);
  {
    std::vector<synergy::testing::Background> threads;
    for (int i = 0; i < kRacers; ++i) {
      const Pod racer = MakePod("racer-" + std::to_string(i), 1, 1, 1);
      state.UpsertPod(racer);
      api.Put(racer);
      threads.emplace_back([this, racer, &answer = answers[static_cast<size_t>(i)]] {
        answer = extender.Bind(BindArgs(racer, "a"));
      });
    }
  }
  EXPECT_EQ(std::count(answers.begin(), answers.end(), kBound), 1);
  EXPECT_EQ(api.calls().size(), 1u);
}

TEST_F(BindTest, ErrorNamesWhyThePlaceIsTaken) {
  state.UpsertPod(MakePod("other", 1, 1, 1, "a"));
  EXPECT_EQ(Bind(), R"({"Error":"the place on node a is taken: Insufficient nvidia.com/gpu"})");
  EXPECT_THAT(api.calls(), IsEmpty());
}

TEST_F(BindTest, GivesThePlaceBackWhenTheApiServerRefuses) {
  api.Refuse("bind", {ErrorCode::kDenied, "pods \"p\" is forbidden"});
  EXPECT_EQ(Bind(), R"({"Error":"pods \"p\" is forbidden"})");
  EXPECT_EQ(FreeGpus("a"), Gpus(1));
}

TEST_F(BindTest, LostAnswerIsSuccessIfTheApiServerConfirmsIt) {
  LosesTheAnswer();
  ApiServerHasItOn("a");
  EXPECT_EQ(Bind(), kBound);
  EXPECT_EQ(FreeGpus("a"), Gpus(0));
}

TEST_F(BindTest, CountsThePodWhereItTurnsOutToBe) {
  AddNode("b", 1);
  LosesTheAnswer();
  ApiServerHasItOn("b");
  EXPECT_EQ(Bind(), R"({"Error":"no answer"})");
  EXPECT_EQ(FreeGpus("a"), Gpus(1));
  EXPECT_EQ(FreeGpus("b"), Gpus(0));
}

TEST_F(BindTest, BindsAPodInDoubtToNoOtherNode) {
  AddNode("b", 1);
  LosesTheAnswer();
  Bind();
  api.RefuseNothing();
  EXPECT_THAT(extender.Bind(BindArgs(pod, "b")), HasSubstr("may still be bound"));
  EXPECT_EQ(FreeGpus("a"), Gpus(0));
  EXPECT_EQ(FreeGpus("b"), Gpus(1));
  EXPECT_EQ(Bind(), kBound);
}

TEST_F(BindTest, KeepsAPlaceInDoubtWhenAnotherTryIsRefused) {
  LosesTheAnswer();
  Bind();
  api.Refuse("bind", {ErrorCode::kDenied, "forbidden"});
  EXPECT_THAT(Bind(), HasSubstr("forbidden"));
  EXPECT_EQ(FreeGpus("a"), Gpus(0));
}

// kube-scheduler has abandoned the first bind, and makes a second one.
TEST_F(BindTest, OneBindOfAPodIsUnderWayAtATime) {
  AddNode("b", 1);
  std::string second;
  api.before_call = [&](std::string_view call) -> Result<> {
    if (call == "bind p a") second = extender.Bind(BindArgs(pod, "b"));
    return {};
  };
  EXPECT_EQ(Bind(), kBound);
  EXPECT_THAT(second, HasSubstr("an earlier bind of the pod has not ended"));
  EXPECT_EQ(api.pod("p").node, "a");
}

TEST_F(BindTest, KeepsThePlaceWhenTheBindingMayStillBeOnItsWay) {
  LosesTheAnswer();
  EXPECT_EQ(Bind(), R"({"Error":"no answer"})");
  EXPECT_EQ(FreeGpus("a"), Gpus(0));
  clock.Advance(kAssumeTimeout);
  binder.SettleExpired();
  EXPECT_EQ(FreeGpus("a"), Gpus(1));
}

TEST_F(BindTest, DoesNotLetADoubtfulBindingStandInThePodsOwnWay) {
  LosesTheAnswer();
  Bind();
  EXPECT_THAT(extender.Filter(Args(pod, {"a"})), HasSubstr(R"("NodeNames":["a"])"));
}

TEST_F(BindTest, KeepsThePlaceAsLongAsTheApiServerIsSilent) {
  api.Refuse("", {ErrorCode::kUnavailable, "connection refused"});
  Bind();
  for (int i = 0; i < 3; ++i) {
    clock.Advance(kAssumeTimeout);
    binder.SettleExpired();
    EXPECT_EQ(FreeGpus("a"), Gpus(0));
  }
}

TEST_F(BindTest, TakesNoNoticeOfAWallClockThatJumps) {
  LosesTheAnswer();
  Bind();
  for (const auto jump : {std::chrono::hours(24), std::chrono::hours(-24)}) {
    clock.SetWall(clock.WallNow() + jump);
    binder.SettleExpired();
    EXPECT_EQ(FreeGpus("a"), Gpus(0));
  }
}

TEST_F(BindTest, ForgetsAPodThatIsGone) {
  Bind();
  api.Remove("p");
  clock.Advance(kAssumeTimeout);
  binder.SettleExpired();
  EXPECT_EQ(FreeGpus("a"), Gpus(1));
  EXPECT_EQ(state.known_pods(), 0u);
}

TEST_F(BindTest, ConfirmsByAskingWhenTheWatchDoesNot) {
  Bind();
  clock.Advance(kAssumeTimeout);
  binder.SettleExpired();
  EXPECT_EQ(state.assumed_pods(), 0u);
  EXPECT_EQ(FreeGpus("a"), Gpus(0));
}

TEST_F(BindTest, AnswersARepeatedBindOfABoundPodWithSuccess) {
  pod.node = "a";
  state.UpsertPod(pod);
  EXPECT_EQ(Bind(), kBound);
  EXPECT_EQ(extender.Bind(BindArgs(pod, "b")), R"({"Error":"the pod is already bound to node a"})");
  EXPECT_THAT(api.calls(), IsEmpty());
}

TEST_F(BindTest, ReadsAPodThatItHasNotWatchedYet) {
  const Pod stranger = MakePod("stranger", 1, 1, 1);
  api.Put(stranger);
  EXPECT_EQ(extender.Bind(BindArgs(stranger, "a")), kBound);
  EXPECT_EQ(FreeGpus("a"), Gpus(0));
}

TEST_F(BindTest, RefusesANamesakeOfAnotherUid) {
  Pod stranger = MakePod("stranger", 1, 1, 1);
  api.Put(stranger);
  stranger.uid = "older";
  EXPECT_THAT(extender.Bind(BindArgs(stranger, "a")),
              HasSubstr("replaced by another one of the same name"));
}

TEST_F(BindTest, NamesAMissingField) {
  EXPECT_THAT(extender.Bind(R"({"PodName":"p","PodNamespace":"default","Node":"a"})"),
              HasSubstr("PodUID"));
  EXPECT_THAT(extender.Bind("["), ::testing::StartsWith(R"({"Error":")"));
}

// Answers only when a call is given up, which happens after two seconds.
class SilentPodApi final : public kube::PodApi {
 public:
  explicit SilentPodApi(synergy::testing::FakeClock& clock) : clock_(clock) {}

  Result<Pod> Get(const std::string&, const std::string&, std::stop_token stop) override {
    ++asked;
    if (!stop.stop_possible()) return Fail(ErrorCode::kTimeout, "silent");
    clock_.AwaitSleepers(1);
    clock_.Advance(std::chrono::seconds(2));
    std::mutex mutex;
    std::condition_variable_any stopped;
    std::unique_lock lock(mutex);
    stopped.wait(lock, stop, [] { return false; });
    return Fail(ErrorCode::kCancelled, "given up");
  }
  Result<> Bind(const kube::PodIdentity&, const std::string&, const kube::AnnotationChanges&,
                uint64_t, std::stop_token) override {
    return Fail(ErrorCode::kTimeout, "silent");
  }
  Result<Pod> Resize(const Pod&, const ResourceVector&, kube::Precondition, kube::Resized,
                     std::stop_token) override {
    return Fail(ErrorCode::kTimeout, "silent");
  }
  Result<Pod> Annotate(const Pod&, const kube::AnnotationChanges&, kube::Precondition,
                       std::stop_token) override {
    return Fail(ErrorCode::kTimeout, "silent");
  }

  int asked = 0;

 private:
  synergy::testing::FakeClock& clock_;
};

TEST_F(BindTest, BindsInDoubtAreCheckedForTwoSecondsAtATime) {
  AddNode("b", 1);
  SilentPodApi silent(clock);
  Binder doubtful{state,
                  silent,
                  reader.gpu_resource(),
                  allocations,
                  clock,
                  log,
                  metrics,
                  BinderTimes{.assume = kAssumeTimeout}};
  for (const char* node : {"a", "b"})
    ASSERT_TRUE(state.Assume(MakePod(node, 1, 1, 1), node, clock.Now()).assumed);
  doubtful.SettleExpired();
  EXPECT_EQ(silent.asked, 1);
  doubtful.SettleExpired();
  EXPECT_EQ(silent.asked, 2) << "the other one is next";
  EXPECT_EQ(FreeGpus("a"), Gpus(0));
  EXPECT_EQ(FreeGpus("b"), Gpus(0));
}

}  // namespace
}  // namespace synergy::extender
