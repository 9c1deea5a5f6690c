#include "extender/nodes/reserved_gpus.h"

#include <chrono>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>

#include "cluster/node_selection.h"
#include "unit/extender/extender_fixture.h"

namespace synergy::extender {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// Nodes a and b of 8 GPUs. The GPUs of a are reserved for default/big, which starts in an hour.
class ReservedGpusTest : public ExtenderTest {
 protected:
  static constexpr const char* kLabels =
      R"(,"labels":{"synergy.io/gang":"g","synergy.io/gang-size":"2"})";

  ReservedGpusTest() {
    AddNode("a");
    AddNode("b");
    extender.SetReserved(&reserved);
    reserved.Upsert(Reserving("uid-big"));
  }

  wire::PodTimes Reserving(const std::string& uid) {
    const WallTime now = clock.WallNow();
    return {.uid = uid,
            .longest = std::nullopt,
            .learnt = std::nullopt,
            .expected = std::nullopt,
            .started = std::nullopt,
            .succeeded = false,
            .reservation = PublishedReservation{.job = "default/big",
                                                .priority = 0,
                                                .places = {{"a", Gpus(8)}},
                                                .earliest = now + minutes(50),
                                                .likely = now + hours(1),
                                                .latest = now + hours(2),
                                                .waits_for = {},
                                                .until = now + minutes(10)}};
  }
  // A request of a pod with more in its metadata and its spec.
  std::string Ask(const std::string& name, const std::string& spec = {},
                  const std::string& metadata = {}) {
    return extender.Filter(fmt::format(
        R"({{"Pod":{{"metadata":{{"name":"{0}","namespace":"default","uid":"uid-{0}"{1}}},)"
        R"("spec":{{"containers":[{{"resources":{{"requests":{{"nvidia.com/gpu":"2"}}}}}}]{2}}}}},)"
        R"("NodeNames":["a","b"]}})",
        name, metadata, spec));
  }
  void AddMember(const std::string& name, std::optional<Duration> longest) {
    Pod pod = MakePod(name, 2, 0, 0);
    pod.gang = std::make_shared<const Gang>(Gang{.name = "default/g", .size = 2, .problem = {}});
    auto waiting = std::make_shared<Waiting>();
    waiting->selection = std::make_shared<const NodeSelection>();
    pod.waiting = std::move(waiting);
    state.UpsertPod(pod);
    reserved.Upsert({.uid = pod.uid,
                     .longest = longest,
                     .learnt = std::nullopt,
                     .expected = std::nullopt,
                     .started = std::nullopt,
                     .succeeded = false,
                     .reservation = std::nullopt});
  }
  std::string AskMember() { return Ask("g-0", R"(,"activeDeadlineSeconds":60)", kLabels); }

  ReservedGpus reserved{state, clock};
};

constexpr const char* kBoth = R"("NodeNames":["a","b"])";
constexpr const char* kOther = R"("NodeNames":["b"])";

TEST_F(ReservedGpusTest, KeepAPodWithoutAKnownEndAwayWithTheReason) {
  EXPECT_THAT(Ask("p"), AllOf(HasSubstr(kOther), HasSubstr("are reserved for default/big until"),
                              HasSubstr("this pod has no known end")));
  EXPECT_THAT(metrics.Render(),
              HasSubstr(R"(synergy_extender_reserved_gpu_refusals_total{verb="filter"} 1)"));
  EXPECT_EQ(reserved.count(), 1u);
}

TEST_F(ReservedGpusTest, LetAPodPassThatEndsInTime) {
  EXPECT_THAT(Ask("p", R"(,"activeDeadlineSeconds":3000,"terminationGracePeriodSeconds":0)"),
              HasSubstr(kBoth));
  EXPECT_THAT(Ask("q", R"(,"activeDeadlineSeconds":3000,"terminationGracePeriodSeconds":1)"),
              AllOf(HasSubstr(kOther), HasSubstr("this pod may not have ended by")));
}

TEST_F(ReservedGpusTest, LetAPodPassThatIsKnownToEndInTime) {
  for (const auto& [learnt, asked] : {std::pair(minutes(50), kBoth), {minutes(51), kOther}}) {
    reserved.Upsert({.uid = "uid-p",
                     .longest = std::nullopt,
                     .learnt = learnt,
                     .expected = std::nullopt,
                     .started = std::nullopt,
                     .succeeded = false,
                     .reservation = std::nullopt});
    EXPECT_THAT(Ask("p"), HasSubstr(asked));
    EXPECT_THAT(Ask("p", R"(,"activeDeadlineSeconds":9000)"), HasSubstr(asked));
  }
}

TEST_F(ReservedGpusTest, LetTheirJobHigherPrioritiesAndPodsOfKueuePass) {
  EXPECT_THAT(Ask("big"), HasSubstr(kBoth));
  EXPECT_THAT(Ask("p", R"(,"priority":1)"), HasSubstr(kBoth));
  EXPECT_THAT(Ask("q", "", R"(,"labels":{"kueue.x-k8s.io/podset":"main"})"), HasSubstr(kBoth));
}

TEST_F(ReservedGpusTest, EndWithTheirLifetimeOrThePodThatHasThem) {
  reserved.Upsert(Reserving("uid-big-1"));
  reserved.Remove({.uid = "uid-big"});
  EXPECT_THAT(Ask("p"), HasSubstr(kOther));
  clock.Advance(minutes(10));
  EXPECT_THAT(Ask("q"), HasSubstr(kBoth));
  EXPECT_EQ(reserved.count(), 0u);
  reserved.Replace({Reserving("uid-big")});
  EXPECT_THAT(Ask("r"), HasSubstr(kOther));
  reserved.Replace({});
  EXPECT_THAT(Ask("s"), HasSubstr(kBoth));
}

TEST_F(ReservedGpusTest, AreTheNewestOfThoseOnTheMembersOfAGang) {
  clock.Advance(minutes(5));
  wire::PodTimes moved = Reserving("uid-big-1");
  moved.reservation->places = {{"b", Gpus(8)}};
  reserved.Upsert(std::move(moved));
  EXPECT_THAT(Ask("p"), HasSubstr(R"("NodeNames":["a"])"));
}

TEST_F(ReservedGpusTest, LetAGangPassOnlyIfAllOfItEndsInTime) {
  AddMember("g-0", minutes(1));
  AddMember("g-1", std::nullopt);
  const std::string refused = AskMember();
  EXPECT_THAT(refused, AllOf(HasSubstr(kOther), HasSubstr("this pod has no known end")));
  AddMember("g-1", minutes(30));
  const auto terms = reserved.TermsFor(*state.FindPod("uid-g-0"), [] { return minutes(1); });
  ASSERT_TRUE(terms);
  EXPECT_EQ(terms->gpus, Gpus(4));
  EXPECT_EQ(terms->longest, minutes(30));
}

TEST_F(ReservedGpusTest, KeepAllMembersOfAGangAway) {
  state.UpsertPod(MakePod("other", 6, 1, 1, "b"));
  AddMember("g-0", std::nullopt);
  AddMember("g-1", std::nullopt);
  EXPECT_THAT(AskMember(), AllOf(HasSubstr("1 of 2 members fit beside each other"),
                                 HasSubstr("are reserved for default/big until")));
  EXPECT_EQ(FreeGpus("a"), Gpus(8));
}

TEST_F(ReservedGpusTest, LeaveAGangWhatTheReservationDoesNotNeed) {
  wire::PodTimes half = Reserving("uid-big");
  half.reservation->places = {{"a", Gpus(5)}};
  reserved.Upsert(std::move(half));
  state.UpsertPod(MakePod("other", 7, 1, 1, "b"));
  AddMember("g-0", std::nullopt);
  AddMember("g-1", std::nullopt);
  // Either member alone would fit beside the reservation; both would not.
  EXPECT_THAT(AskMember(), HasSubstr("are reserved for default/big until"));
  EXPECT_EQ(FreeGpus("a"), Gpus(8));
  state.RemovePod("uid-other");
  EXPECT_THAT(AskMember(), HasSubstr("NodeNames"));
  EXPECT_GE(FreeGpus("a"), Gpus(6));
}

TEST_F(ReservedGpusTest, StayOpenToAGangThatHoldsAPlaceThere) {
  reserved.Remove({.uid = "uid-big"});
  state.UpsertPod(MakePod("other", 6, 1, 1, "b"));
  AddMember("g-0", std::nullopt);
  AddMember("g-1", std::nullopt);
  ASSERT_THAT(AskMember(), HasSubstr(R"("NodeNames":["a"])"));
  reserved.Upsert(Reserving("uid-big"));
  EXPECT_THAT(AskMember(), HasSubstr(R"("NodeNames":["a"])"));
}

TEST_F(ReservedGpusTest, ForbidEvictionsThatWouldNotLetThePodIn) {
  state.UpsertPod(MakePod("low", 8, 1, 1, "a"));
  const auto ask = [&](int priority) {
    return extender.Preempt(
        fmt::format(R"({{"Pod":{{"metadata":{{"name":"p","namespace":"default","uid":"uid-p"}},)"
                    R"("spec":{{"priority":{},"containers":[{{"resources":{{"requests":)"
                    R"({{"nvidia.com/gpu":"2"}}}}}}]}}}},)"
                    R"("NodeNameToMetaVictims":{{"a":{{"Pods":[{{"UID":"uid-low"}}]}}}}}})",
                    priority));
  };
  reserved.Remove({.uid = "uid-big"});
  wire::PodTimes big = Reserving("uid-big");
  big.reservation->priority = 5;
  reserved.Upsert(std::move(big));
  EXPECT_THAT(ask(5), Not(HasSubstr("uid-low")));
  EXPECT_THAT(metrics.Render(),
              HasSubstr(R"(synergy_extender_reserved_gpu_refusals_total{verb="preempt"} 1)"));
  EXPECT_THAT(ask(6), HasSubstr("uid-low"));
}

TEST_F(ReservedGpusTest, DoNotMatterWithoutReservations) {
  SchedulerExtender plain{state, binder, reader, {.slack = 0.1, .expect_timeout = kExpectTimeout},
                          clock, log,    metrics};
  EXPECT_THAT(plain.Filter(Args(MakePod("p", 2, 1, 1), {"a", "b"})), HasSubstr(kBoth));
}

TEST_F(ReservedGpusTest, AnUpdateDoesNotInterruptAReservation) {
  std::jthread updates([this](const std::stop_token& stop) {
    while (!stop.stop_requested()) reserved.Upsert(Reserving("uid-big"));
  });
  for (int look = 0; look < 20'000; ++look) ASSERT_EQ(reserved.count(), 1U) << look;
}

}  // namespace
}  // namespace synergy::extender
