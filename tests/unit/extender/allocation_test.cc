#include <gmock/gmock.h>

#include "unit/extender/extender_fixture.h"

namespace synergy::extender {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// A pod with one GPU that asks for 2 cores and 10 GB and would like 6 and 40.
class AllocationTest : public ExtenderTest {
 protected:
  void SetUp() override {
    AddNode("a", 2, 12, 100);
    state.UpsertPod(Fungible("p"));
    api.OnPatch([this](const std::string& json) { return Resized(json); });
  }

  static std::string Text(const std::string& name, const std::string& cpu,
                          const std::string& memory) {
    return fmt::format(
        R"({{"metadata":{{"name":"{0}","namespace":"default","uid":"uid-{0}","annotations":{{
        "synergy.io/container":"train","synergy.io/demand":"{{\"cpu\":\"6\",\"memory\":\"40G\"}}",
        "synergy.io/floor":"{{\"cpu\":\"2\",\"memory\":\"10G\"}}"}}}},
        "spec":{{"containers":[{{"name":"train","resources":{{
          "requests":{{"nvidia.com/gpu":"1","cpu":"{1}","memory":"{2}"}},
          "limits":{{"nvidia.com/gpu":"1","memory":"{2}"}}}}}}]}}}})",
        name, cpu, memory);
  }

  Pod Fungible(const std::string& name) {
    return *reader.ReadPod(Text(name, "2", "10G"), json::PodUse::kAccounted);
  }

  // What the API server answers to a resize that it takes.
  Result<std::string> Resized(const std::string& json) {
    for (const char* cpu : {"6", "5", "2"}) {
      if (json.find(fmt::format(R"("cpu":"{}","memory":"40G")", cpu)) != std::string::npos) {
        return Text("p", cpu, "40G");
      }
    }
    return Text("p", "2", "10G");
  }

  std::string Bind() { return extender.Bind(BindArgs(Fungible("p"), "a")); }
  ResourceVector FreeOn(const std::string& node) {
    const auto snapshot = state.Snapshot();
    return snapshot->node(*snapshot->Find(node)).Free();
  }
};

TEST_F(AllocationTest, GivesTheDemandBeforeThePodIsBound) {
  EXPECT_EQ(Bind(), kBound);
  EXPECT_THAT(api.patched(),
              ElementsAre(::testing::AllOf(HasSubstr("/pods/p/resize?fieldManager=synergy "),
                                           HasSubstr(R"("requests":{"cpu":"6","memory":"40G"})"),
                                           HasSubstr(R"("limits":{"memory":"40G"})"))));
  EXPECT_THAT(api.posted(), ElementsAre(HasSubstr(R"(\"to\":{\"cpu\":\"6\",\"memory\":\"40G\"})")));
  EXPECT_EQ(FreeOn("a"), (ResourceVector{Gpus(1), Cores(6), GB(60)}));
  ASSERT_THAT(events.heard, SizeIs(1));
  EXPECT_EQ(events.heard[0].reason, "SynergyAllocated");
  EXPECT_THAT(events.heard[0].message, HasSubstr("from cpu 2, memory 10G to cpu 6, memory 40G"));
  EXPECT_THAT(
      events.heard[0].message,
      HasSubstr("its demand, on node a; 1 GPUs stay free there, with cpu 6, memory 55Gi each"));
}

TEST_F(AllocationTest, GivesTheWholeDemandAlsoWhereNothingIsLeftForOtherGpus) {
  state.UpsertPod(MakePod("cpu-only", 0, 6, 1, "a"));
  EXPECT_EQ(Bind(), kBound);
  EXPECT_THAT(api.patched(), ElementsAre(HasSubstr(R"("cpu":"6")")));
}

TEST_F(AllocationTest, LeavesTheReserveToTheGpusThatStayFreeWhereTheDemandIsTooMuch) {
  // 12 - 8 = 4 cores for two GPUs; 2 stay for the other one, as much as the least of all asks for.
  state.UpsertPod(MakePod("cpu-only", 0, 8, 1, "a"));
  EXPECT_EQ(Bind(), kBound);
  EXPECT_THAT(api.patched(), ElementsAre(HasSubstr(R"("cpu":"2")")));
  EXPECT_THAT(events.heard[0].message, HasSubstr("what node a has to give now of its demand"));
}

TEST_F(AllocationTest, NeverCutsAPeer) {
  state.UpsertPod(MakePod("peer", 1, 10, 10, "a"));
  EXPECT_EQ(Bind(), kBound);
  EXPECT_THAT(api.patched(), ElementsAre(HasSubstr(R"("cpu":"2","memory":"40G")")));
}

TEST_F(AllocationTest, BindsAtTheFloorWhenAQuotaRefusesTheGrowth) {
  api.OnPatch([](const std::string&) {
    return Fail(ErrorCode::kDenied, "Forbidden: exceeded quota: team, requested: cpu=4");
  });
  EXPECT_EQ(Bind(), kBound);
  EXPECT_EQ(FreeOn("a"), (ResourceVector{Gpus(1), Cores(10), GB(90)}));
  ASSERT_THAT(events.heard, SizeIs(1));
  EXPECT_EQ(events.heard[0].type, "Warning");
  EXPECT_THAT(events.heard[0].message, HasSubstr("exceeded quota"));
}

TEST_F(AllocationTest, DoesNotBindWhenNobodyKnowsWhatThePodHas) {
  api.OnPatch([](const std::string&) { return Fail(ErrorCode::kTimeout, "no answer"); });
  EXPECT_THAT(Bind(), HasSubstr("no answer"));
  EXPECT_THAT(api.posted(), IsEmpty());
  EXPECT_THAT(api.patched(), ElementsAre(HasSubstr(R"("cpu":"6")"), HasSubstr(R"("cpu":"2")")));
  EXPECT_EQ(FreeOn("a"), (ResourceVector{Gpus(2), Cores(12), GB(100)}));
}

TEST_F(AllocationTest, PutsTheAllocationBackWhenTheBindIsRefused) {
  api.OnPost([] { return Fail(ErrorCode::kInvalid, "no such node"); });
  EXPECT_THAT(Bind(), HasSubstr("no such node"));
  EXPECT_THAT(api.patched(), ElementsAre(HasSubstr(R"("cpu":"6")"), HasSubstr(R"("cpu":"2")")));
  EXPECT_THAT(events.heard, IsEmpty());
}

TEST_F(AllocationTest, TriesAgainWithTheWholeDemandAfterAFailure) {
  api.OnPost([] { return Fail(ErrorCode::kInvalid, "no such node"); });
  Bind();
  api.OnPost([] { return std::string("{}"); });
  EXPECT_EQ(Bind(), kBound);
  EXPECT_THAT(api.patched().back(), HasSubstr(R"("cpu":"6")"));
}

TEST_F(AllocationTest, CountsTheWholeAllocationWhileTheWatchIsBehind) {
  Bind();
  state.UpsertPod(Fungible("p"));  // an event from before the resize
  EXPECT_EQ(FreeOn("a"), (ResourceVector{Gpus(1), Cores(6), GB(60)}));
}

}  // namespace
}  // namespace synergy::extender
