#include <algorithm>
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
  }

  std::string Bind() { return extender.Bind(BindArgs(pod, "a")); }
  void LosesTheAnswer() {
    api.OnPost([] { return Fail(ErrorCode::kTimeout, "no answer"); });
  }
  void HasThePod(const std::string& node) {
    Pod known = pod;
    known.node = node;
    api.OnGet("/api/v1/namespaces/default/pods/p", [text = PodJson(known)] { return text; });
  }

  Pod pod = MakePod("p", 1, 1, 1);
};

TEST_F(BindTest, PostsABindingThatNamesTheUid) {
  EXPECT_EQ(Bind(), kBound);
  EXPECT_THAT(api.posted(), ElementsAre(::testing::AllOf(
                                HasSubstr("/api/v1/namespaces/default/pods/p/binding "),
                                HasSubstr(R"("uid":"uid-p")"), HasSubstr(R"("name":"a")"))));
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
      threads.emplace_back([this, racer, &answer = answers[static_cast<size_t>(i)]] {
        answer = extender.Bind(BindArgs(racer, "a"));
      });
    }
  }
  EXPECT_EQ(std::count(answers.begin(), answers.end(), kBound), 1);
  EXPECT_EQ(api.posted().size(), 1u);
}

TEST_F(BindTest, SaysWhyThePlaceIsTaken) {
  state.UpsertPod(MakePod("other", 1, 1, 1, "a"));
  EXPECT_EQ(Bind(), R"({"Error":"the place on node a is taken: Insufficient nvidia.com/gpu"})");
  EXPECT_THAT(api.posted(), IsEmpty());
}

TEST_F(BindTest, GivesThePlaceBackWhenTheApiServerRefuses) {
  api.OnPost([] { return Fail(ErrorCode::kDenied, "pods \"p\" is forbidden"); });
  EXPECT_EQ(Bind(), R"({"Error":"pods \"p\" is forbidden"})");
  EXPECT_EQ(FreeGpus("a"), Gpus(1));
}

TEST_F(BindTest, TakesALostAnswerForSuccessWhenTheApiServerSaysSo) {
  LosesTheAnswer();
  HasThePod("a");
  EXPECT_EQ(Bind(), kBound);
  EXPECT_EQ(FreeGpus("a"), Gpus(0));
}

TEST_F(BindTest, GivesThePlaceBackWhenThePodTurnsOutToBeElsewhere) {
  LosesTheAnswer();
  HasThePod("b");
  EXPECT_EQ(Bind(), R"({"Error":"no answer"})");
  EXPECT_EQ(FreeGpus("a"), Gpus(1));
}

TEST_F(BindTest, KeepsThePlaceWhenTheBindingMayStillBeOnItsWay) {
  LosesTheAnswer();
  HasThePod("");
  EXPECT_EQ(Bind(), R"({"Error":"no answer"})");
  EXPECT_EQ(FreeGpus("a"), Gpus(0));
  clock.Advance(kAssumeTimeout);
  binder.SettleExpired();
  EXPECT_EQ(FreeGpus("a"), Gpus(1));
}

TEST_F(BindTest, DoesNotLetADoubtfulBindingStandInThePodsOwnWay) {
  LosesTheAnswer();
  HasThePod("");
  Bind();
  EXPECT_THAT(extender.Filter(Args(pod, {"a"})), HasSubstr(R"("NodeNames":["a"])"));
}

TEST_F(BindTest, KeepsThePlaceAsLongAsTheApiServerIsSilent) {
  LosesTheAnswer();
  api.OnGet("/api/v1/namespaces/default/pods/p",
            [] { return Fail(ErrorCode::kUnavailable, "connection refused"); });
  Bind();
  for (int i = 0; i < 3; ++i) {
    clock.Advance(kAssumeTimeout);
    binder.SettleExpired();
    EXPECT_EQ(FreeGpus("a"), Gpus(0));
  }
}

TEST_F(BindTest, TakesNoNoticeOfAWallClockThatJumps) {
  LosesTheAnswer();
  HasThePod("");
  Bind();
  for (const auto jump : {std::chrono::hours(24), std::chrono::hours(-24)}) {
    clock.SetWall(clock.WallNow() + jump);
    binder.SettleExpired();
    EXPECT_EQ(FreeGpus("a"), Gpus(0));
  }
}

TEST_F(BindTest, ForgetsAPodThatIsGone) {
  Bind();
  clock.Advance(kAssumeTimeout);
  binder.SettleExpired();  // GET answers 404
  EXPECT_EQ(FreeGpus("a"), Gpus(1));
  EXPECT_EQ(state.known_pods(), 0u);
}

TEST_F(BindTest, ConfirmsByAskingWhenTheWatchDoesNot) {
  Bind();
  HasThePod("a");
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
  EXPECT_THAT(api.posted(), IsEmpty());
}

TEST_F(BindTest, AsksForAPodThatItHasNotHeardOf) {
  const Pod stranger = MakePod("stranger", 1, 1, 1);
  api.OnGet("/api/v1/namespaces/default/pods/stranger",
            [text = PodJson(stranger)] { return text; });
  EXPECT_EQ(extender.Bind(BindArgs(stranger, "a")), kBound);
  EXPECT_EQ(FreeGpus("a"), Gpus(0));
}

TEST_F(BindTest, RefusesANamesakeOfAnotherUid) {
  Pod stranger = MakePod("stranger", 1, 1, 1);
  api.OnGet("/api/v1/namespaces/default/pods/stranger",
            [text = PodJson(stranger)] { return text; });
  stranger.uid = "older";
  EXPECT_THAT(extender.Bind(BindArgs(stranger, "a")),
              HasSubstr("replaced by another one of the same name"));
}

TEST_F(BindTest, NamesAMissingField) {
  EXPECT_THAT(extender.Bind(R"({"PodName":"p","PodNamespace":"default","Node":"a"})"),
              HasSubstr("PodUID"));
  EXPECT_THAT(extender.Bind("["), ::testing::StartsWith(R"({"Error":")"));
}

}  // namespace
}  // namespace synergy::extender
