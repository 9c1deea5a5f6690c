#include "extender/shadow.h"

#include "cluster/node_selection.h"
#include "support/recorded_log.h"
#include "unit/extender/extender_fixture.h"

namespace synergy::extender {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// Tests pods that another scheduler places, as the watch reports them.
class ShadowTest : public ExtenderTest {
 protected:
  static Pod Waiting(Pod pod) {
    auto waiting = std::make_shared<synergy::Waiting>();
    waiting->scheduler = "default-scheduler";
    waiting->selection = std::make_shared<const NodeSelection>(selection_of_next);
    pod.waiting = std::move(waiting);
    return pod;
  }
  void Goes(Pod pod, const std::string& node) {
    shadow.Upsert(Waiting(pod));
    pod.node = node;
    shadow.Upsert(pod);
  }
  std::string Count(const std::string& agrees) {
    return "synergy_extender_shadow_choices_total{agrees=\"" + agrees + "\"} 1\n";
  }

  static inline NodeSelection selection_of_next;
  bool current = true;
  testing::RecordedLog log_lines;
  Logger lines{log_lines, clock, LogLevel::kInfo, LogFormat::kText};
  Shadow shadow{state,   ReserveRule{.per_gpu = ResourceVector{Gpus(1), Cores(2), GB(20)}},
                0.1,     lines,
                metrics, [this] { return current; }};
};

TEST_F(ShadowTest, ComparesItsChoiceWithWhereThePodWent) {
  AddNode("busy");
  AddNode("idle");
  state.UpsertPod(MakePod("there", 6, 18, 400, "busy"));
  Goes(MakePod("p", 2, 6, 100), "idle");
  EXPECT_THAT(metrics.Render(), HasSubstr(Count("no")));
  EXPECT_THAT(log_lines.lines().back(),
              HasSubstr(R"(pod=default/p scheduler=default-scheduler went_to=idle)"
                        R"( choice=busy agrees=no allocation="cpu 6, memory 100G")"));
  state.RemovePod("uid-p");
  Goes(MakePod("q", 2, 6, 100), "busy");
  EXPECT_THAT(metrics.Render(), HasSubstr(Count("yes")));
}

TEST_F(ShadowTest, JudgesByTheClusterAsItWasAtTheBind) {
  AddNode("a");
  AddNode("b");
  state.UpsertPod(MakePod("there", 6, 18, 400, "b"));
  shadow.Upsert(Waiting(MakePod("p", 2, 6, 100)));
  state.UpsertPod(MakePod("faster", 2, 6, 100, "b"));
  Goes(MakePod("p", 2, 6, 100), "a");
  EXPECT_THAT(metrics.Render(), HasSubstr(Count("yes")));
  EXPECT_EQ(FreeGpus("a"), Gpus(6)) << "and counts the pod where it is";
}

TEST_F(ShadowTest, AnotherNodeMayBeAsGood) {
  AddNode("a");
  AddNode("b");
  Goes(MakePod("p", 1, 3, 60), "b");
  EXPECT_THAT(metrics.Render(), HasSubstr(Count("as_good")));
}

TEST_F(ShadowTest, ChoosesAmongTheNodesThatThePodMayGoTo) {
  AddNode("a");
  AddNode("b");
  state.UpsertPod(MakePod("there", 7, 21, 400, "a"));
  selection_of_next.has_affinity = true;
  selection_of_next.terms = {
      {{"metadata.name", NodeRequirement::Operator::kIn, {"b"}, /*is_field=*/true}}};
  Goes(MakePod("p", 1, 3, 60), "b");
  selection_of_next = {};
  EXPECT_THAT(metrics.Render(), HasSubstr(Count("yes")));
}

TEST_F(ShadowTest, CountsTheGpusThatChoicesStrand) {
  AddNode("narrow", 8, 8);
  AddNode("wide", 8, 64);
  // The pod would be beside 7 free GPUs that need 2 cores each: 2 are left on one node, 58 on the
  // other.
  Goes(MakePod("p", 1, 6, 60), "narrow");
  EXPECT_THAT(metrics.Render(),
              HasSubstr("synergy_extender_shadow_stranded_gpus_total{by=\"scheduler\"} 2\n"));
  EXPECT_THAT(metrics.Render(),
              HasSubstr("synergy_extender_shadow_stranded_gpus_total{by=\"synergy\"} 0\n"));
}

TEST_F(ShadowTest, LogsTheAllocationThePodWouldHaveGot) {
  AddNode("a", 1, 10);
  Pod pod = MakePod("p", 1, 3, 60);
  pod.demand = {Gpus(1), Cores(12), GB(60)};
  Goes(pod, "a");
  EXPECT_THAT(log_lines.lines().back(), HasSubstr(R"(allocation="cpu 10, memory 60G")"));
}

TEST_F(ShadowTest, CountsPodsForWhichItFindsNoPlace) {
  AddNode("small", 1, 2);
  Goes(MakePod("p", 1, 3, 60), "small");
  EXPECT_THAT(metrics.Render(), HasSubstr(Count("nowhere")));
}

TEST_F(ShadowTest, CountsPodsThatItCouldNotJudge) {
  AddNode("a");
  shadow.Upsert(MakePod("born-there", 1, 3, 60, "a"));
  EXPECT_THAT(metrics.Render(), HasSubstr(Count("unjudged")));
}

TEST_F(ShadowTest, JudgesNothingByHalfAPicture) {
  AddNode("a");
  current = false;
  Goes(MakePod("p", 1, 3, 60), "a");
  EXPECT_THAT(metrics.Render(), HasSubstr(Count("unjudged")));
}

TEST_F(ShadowTest, JudgesOnceAndPodsWithoutGpusNever) {
  AddNode("a");
  Goes(MakePod("cpu-only", 0, 3, 60), "a");
  shadow.Replace({MakePod("long-there", 1, 3, 60, "a")});
  shadow.Upsert(MakePod("long-there", 1, 3, 60, "a"));
  EXPECT_THAT(metrics.Render(), Not(HasSubstr("shadow_choices_total{")));
  Goes(MakePod("p", 1, 3, 60), "a");
  shadow.Upsert(MakePod("p", 1, 3, 60, "a"));
  EXPECT_THAT(metrics.Render(), HasSubstr(Count("yes")));
}

// Tests the answers to a kube-scheduler that calls although it should not.
class ShadowVerbsTest : public ExtenderTest {
 protected:
  void SetUp() override {
    AddNode("full", 0);
    AddNode("roomy");
    state.UpsertPod(pod);
    api.Put(pod);
  }

  Pod pod = MakePod("p", 1, 3, 60);
  SchedulerExtender asked{state, binder, reader, {.shadow = true}, clock, log, metrics};
};

TEST_F(ShadowVerbsTest, EveryNodeStaysAndNoneIsBetter) {
  EXPECT_EQ(asked.Filter(Args(pod, {"full", "roomy"})),
            R"({"Nodes":null,"NodeNames":["full","roomy"],"FailedNodes":{},)"
            R"("FailedAndUnresolvableNodes":{},"Error":""})");
  EXPECT_EQ(asked.Prioritize(Args(pod, {"full", "roomy"})),
            R"([{"Host":"full","Score":0},{"Host":"roomy","Score":0}])");
  EXPECT_EQ(FreeGpus("roomy"), Gpus(8)) << "nor is it expected anywhere";
}

TEST_F(ShadowVerbsTest, NothingIsBoundOrEvicted) {
  EXPECT_THAT(asked.Bind(BindArgs(pod, "roomy")), HasSubstr("shadow mode"));
  EXPECT_THAT(
      asked.Preempt(fmt::format(R"({{"Pod":{},"NodeNameToMetaVictims":{{}}}})", PodJson(pod))),
      HasSubstr("shadow mode"));
  EXPECT_THAT(api.calls(), IsEmpty());
}

}  // namespace
}  // namespace synergy::extender
