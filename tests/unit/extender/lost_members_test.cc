// Tests the place of a gang's lost member, through the extender's verbs.

#include "extender/gangs/lost_members.h"

#include <chrono>
#include <memory>
#include <string>

#include <fmt/format.h>

#include "unit/extender/extender_fixture.h"

namespace synergy::extender {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class LostMembersTest : public ExtenderTest {
 protected:
  static constexpr auto kHold = std::chrono::seconds(60);

  // A gang of two is on node a, which is full; node b is free.
  LostMembersTest() {
    state.ReserveForReplacements(kHold, clock.Now());
    state.DropStaleExpectations(clock.Now(), clock.WallNow());
    AddNode("a");
    AddNode("b");
    for (const char* name : {"g-0", "g-1"}) Run(name, "a");
  }

  static Pod Member(const std::string& name, const std::string& node = {}) {
    Pod pod = MakePod(name, 4, 4, 4, node);
    pod.gang = std::make_shared<const Gang>(Gang{"default/g", 2, {}});
    return pod;
  }
  void Run(const std::string& name, const std::string& node) {
    state.UpsertPod(Member(name, node));
    api.Put(Member(name, node));
  }
  // Reports the end of a pod as the watch reports a deletion.
  void End(const std::string& name, bool succeeded) {
    api.Change(name, [&](Pod& pod) {
      pod.terminal = true;
      pod.succeeded = succeeded;
    });
    state.RemovePod("uid-" + name);
  }
  void Delete(const std::string& name) {
    api.Remove(name);
    state.RemovePod("uid-" + name);
  }
  Pod Replace(const std::string& name) {
    Pod pod = Member(name);
    pod.uid += "'";
    state.UpsertPod(pod);
    api.Put(pod);
    return pod;
  }
  void Pass(Duration time) {
    clock.Advance(time);
    state.DropStaleExpectations(clock.Now(), clock.WallNow());
    lost_members.Look();
  }
  std::string FilterSingle(const std::vector<std::string>& nodes = {"a"}) {
    return extender.Filter(Args(MakePod("single", 4, 4, 4), nodes));
  }
  std::string FilterMember(const Pod& pod, const std::vector<std::string>& nodes) {
    std::string args = Args(pod, nodes);
    args.insert(args.find(R"("name":)"),
                R"("labels":{"synergy.io/gang":"g","synergy.io/gang-size":"2"},)");
    return extender.Filter(args);
  }
  void ExpectCounted(const std::string& outcome, int times) {
    EXPECT_THAT(metrics.Render(),
                HasSubstr(fmt::format("synergy_extender_vacant_places_total{{outcome=\"{}\"}} {}\n",
                                      outcome, times)));
  }

  LostMembers lost_members{state, api, events, clock, log, metrics};
};

TEST_F(LostMembersTest, ThePlaceOfOneThatFailedIsForItsReplacement) {
  End("g-1", false);
  Pass(std::chrono::seconds(1));
  EXPECT_THAT(FilterSingle(),
              HasSubstr("its room is reserved for the pod that replaces default/g-1, "
                        "of gang default/g"));
  ExpectCounted("held", 1);
  ASSERT_THAT(events.lines(), SizeIs(1));
  EXPECT_EQ(events.all[0].object_uid, "uid-g-1");
  EXPECT_EQ(events.all[0].reason, "SynergyPlaceHeld");
  EXPECT_THAT(events.all[0].message,
              HasSubstr("on node a is reserved for its replacement, for at most 59 s"));

  const Pod replacement = Replace("g-1");
  EXPECT_THAT(FilterMember(replacement, {"a", "b"}), HasSubstr(R"("NodeNames":["a"])"));
  EXPECT_THAT(FilterSingle(), HasSubstr("Insufficient nvidia.com/gpu"));
  EXPECT_EQ(extender.Bind(BindArgs(replacement, "a")), kBound);
  Pass(std::chrono::seconds(1));
  ExpectCounted("filled", 1);
}

TEST_F(LostMembersTest, AReplacementThatMayNotGoThereIsPlacedBesideTheOthersAndGivesItBack) {
  Delete("g-1");
  Pass(std::chrono::seconds(1));
  EXPECT_THAT(FilterMember(Replace("g-1"), {"b"}), HasSubstr(R"("NodeNames":["b"])"));
  EXPECT_THAT(FilterSingle(), HasSubstr(R"("NodeNames":["a"])"));
}

TEST_F(LostMembersTest, OtherPodsRetryUntilTheCauseOfTheLossIsKnown) {
  End("g-1", true);
  EXPECT_THAT(FilterSingle(),
              HasSubstr(R"({"Error":"its room is reserved for the pod that replaces)"));
  EXPECT_THAT(FilterSingle({"a", "b"}), HasSubstr(R"("NodeNames":["b"])"));
  Pass(std::chrono::seconds(1));
  ExpectCounted("succeeded", 1);
  EXPECT_THAT(events.lines(), IsEmpty());
  EXPECT_THAT(FilterSingle(), HasSubstr(R"("NodeNames":["a"])"));
}

TEST_F(LostMembersTest, ANodeThatIsNotKnownYetIsNamedBesideAReservedPlace) {
  End("g-1", false);
  Pass(std::chrono::seconds(1));
  const std::string answer = FilterSingle({"a", "new"});
  EXPECT_THAT(answer, HasSubstr("its room is reserved for the pod that replaces default/g-1"));
  EXPECT_THAT(answer, HasSubstr(R"("new":"node is not known to the extender yet")"));
}

TEST_F(LostMembersTest, AnApiServerThatDoesNotAnswerIsAskedAgainAndNothingIsHeldLongerForIt) {
  End("g-1", false);
  api.Refuse("get g-1", {ErrorCode::kUnavailable, "it is away"});
  Pass(std::chrono::seconds(1));
  EXPECT_EQ(FreeGpus("a"), Gpus(0));
  EXPECT_THAT(FilterSingle(), HasSubstr(R"({"Error":)"));
  Pass(kHold);
  EXPECT_EQ(FreeGpus("a"), Gpus(4));
  EXPECT_THAT(FilterSingle(), HasSubstr(R"("NodeNames":["a"])"));
}

TEST_F(LostMembersTest, ReservationExpiresWithAnEventWithoutAReplacement) {
  Delete("g-1");
  Pass(std::chrono::seconds(1));
  Pass(kHold);
  ExpectCounted("expired", 1);
  ASSERT_THAT(events.lines(), SizeIs(2));
  EXPECT_EQ(events.all[1].type, "Warning");
  EXPECT_THAT(events.all[1].message, HasSubstr("no replacement came in time"));
  EXPECT_THAT(FilterSingle(), HasSubstr(R"("NodeNames":["a"])"));
}

TEST_F(LostMembersTest, AGangThatEndsGivesItBack) {
  Delete("g-1");
  Pass(std::chrono::seconds(1));
  Delete("g-0");
  EXPECT_EQ(FreeGpus("a"), Gpus(8));
  Pass(std::chrono::seconds(1));
  ExpectCounted("gang_ended", 1);
}

TEST_F(LostMembersTest, OneOfHigherPriorityGetsIt) {
  Delete("g-1");
  Pass(std::chrono::seconds(1));
  Pod high = MakePod("high", 4, 4, 4);
  std::string args = Args(high, {"a"});
  args.insert(args.find(R"("containers")"), R"("priority":1,)");
  EXPECT_THAT(extender.Filter(args), HasSubstr(R"("NodeNames":["a"])"));
  EXPECT_TRUE(state.Reservations(ReservationKind::kReplacement).empty());
  Pass(std::chrono::seconds(1));
  ExpectCounted("yielded", 1);
}

TEST_F(LostMembersTest, AGangOfHigherPriorityGetsIt) {
  Delete("g-1");
  std::vector<Pod> others;
  for (const char* name : {"h-0", "h-1"}) {
    Pod& other = others.emplace_back(MakePod(name, 2, 4, 4));
    other.gang = std::make_shared<const Gang>(Gang{"default/h", 2, {}});
    other.priority = 1;
    state.UpsertPod(other);
  }
  std::string args = Args(others[0], {"a"});
  args.insert(args.find(R"("name":)"),
              R"("labels":{"synergy.io/gang":"h","synergy.io/gang-size":"2"},)");
  state.RemoveNode("b");
  EXPECT_THAT(extender.Filter(args), HasSubstr(R"("NodeNames":["a"])"));
  EXPECT_TRUE(state.Reservations(ReservationKind::kReplacement).empty());
}

TEST_F(LostMembersTest, OtherGangRetriesUntilSettledAndThenFails) {
  Delete("g-1");
  Pod other = MakePod("h-0", 4, 4, 4);
  other.gang = std::make_shared<const Gang>(Gang{"default/h", 2, {}});
  Pod second = other;
  second.name = "h-1";
  second.uid = "uid-h-1";
  for (const Pod& pod : {other, second}) state.UpsertPod(pod);
  const auto filter = [&] {
    std::string args = Args(other, {"a"});
    args.insert(args.find(R"("name":)"),
                R"("labels":{"synergy.io/gang":"h","synergy.io/gang-size":"2"},)");
    return extender.Filter(args);
  };
  EXPECT_THAT(filter(), HasSubstr(R"({"Error":"gang default/h: )"));
  Pass(std::chrono::seconds(1));
  EXPECT_THAT(filter(), HasSubstr(R"("FailedAndUnresolvableNodes":{"a":"gang default/h: )"));
}

}  // namespace
}  // namespace synergy::extender
