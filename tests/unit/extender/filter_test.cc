#include "unit/extender/extender_fixture.h"

namespace synergy::extender {
namespace {

using ::testing::HasSubstr;

class FilterTest : public ExtenderTest {};

TEST_F(FilterTest, KeepsFittingNodesAndExplainsTheOthers) {
  AddNode("full", 0);
  AddNode("roomy");
  EXPECT_EQ(extender.Filter(Args(MakePod("a", 1, 3, 60), {"full", "roomy"})),
            R"({"Nodes":null,"NodeNames":["roomy"],"FailedNodes":{},)"
            R"("FailedAndUnresolvableNodes":{"full":"Insufficient nvidia.com/gpu"},"Error":""})");
}

TEST_F(FilterTest, CallsANodeResolvableWhenOnlyItsPodsAreInTheWay) {
  AddNode("busy", 1);
  state.UpsertPod(MakePod("there", 1, 1, 1, "busy"));
  EXPECT_THAT(extender.Filter(Args(MakePod("a", 1, 3, 60), {"busy"})),
              HasSubstr(R"("FailedNodes":{"busy":"Insufficient nvidia.com/gpu"})"));
}

TEST_F(FilterTest, GivesEveryNodeThatFailsAlikeTheSameText) {
  AddNode("a", 8, 2);
  AddNode("b", 8, 1);
  EXPECT_THAT(extender.Filter(Args(MakePod("p", 1, 3, 60), {"a", "b"})),
              HasSubstr(R"({"a":"Insufficient cpu","b":"Insufficient cpu"})"));
}

TEST_F(FilterTest, NamesTheOtherResourcesThatANodeLacks) {
  constexpr const char* kHca = "rdma/hca";
  constexpr const char* kEfa = "vpc.amazonaws.com/efa";
  const auto add = [&](const std::string& name, int64_t hca, int64_t efa) {
    Node node;
    node.name = name;
    node.allocatable.main = {Gpus(8), Cores(24), GB(500)};
    node.allocatable.other.Set(kHca, hca);
    node.allocatable.other.Set(kEfa, efa);
    node.pods_allowed = 110;
    state.UpsertNode(std::move(node));
  };
  add("both", 1, 1);
  add("no-efa", 1, 0);
  add("neither", 0, 0);
  add("taken", 1, 1);
  Pod there = MakePod("there", 1, 1, 1, "taken");
  there.requests.other.Set(kHca, 1);
  state.UpsertPod(there);
  const std::string args = fmt::format(
      R"({{"Pod":{{"metadata":{{"name":"p","namespace":"default","uid":"uid-p"}},"spec":{{"containers":[)"
      R"({{"resources":{{"requests":{{"nvidia.com/gpu":"1","{}":"1","{}":"1"}}}}}}]}}}},)"
      R"("NodeNames":["both","no-efa","neither","taken"]}})",
      kHca, kEfa);
  const std::string answer = extender.Filter(args);
  EXPECT_THAT(answer, HasSubstr(R"("NodeNames":["both"])"));
  EXPECT_THAT(answer, HasSubstr(R"("FailedNodes":{"taken":"Insufficient rdma/hca"})"));
  EXPECT_THAT(answer, HasSubstr(R"("no-efa":"Insufficient vpc.amazonaws.com/efa")"));
  EXPECT_THAT(
      answer,
      HasSubstr(R"("neither":"Insufficient rdma/hca, Insufficient vpc.amazonaws.com/efa")"));
  // The pod is expected on the only node that passed, and that place does not count against the pod
  // itself.
  EXPECT_THAT(extender.Filter(args), HasSubstr(R"("NodeNames":["both"])"));
}

TEST_F(FilterTest, NamesAnUnknownNode) {
  EXPECT_THAT(extender.Filter(Args(MakePod("p", 1, 3, 60), {"nowhere"})),
              HasSubstr(R"("FailedNodes":{"nowhere":"node is not known to the extender yet"})"));
}

TEST_F(FilterTest, GivesWholeNodesBackInNodesModeAndJudgesUnknownOnesByTheirObjects) {
  AddNode("known");
  const std::string roomy =
      R"({"metadata":{"labels":{"name":"x"},"name":"new"},"status":{"allocatable":)"
      R"({"nvidia.com/gpu":"8","cpu":"24","memory":"500G","pods":"110"}}})";
  const std::string known = R"({ "metadata" : {"name": "known"} })";
  const std::string body = fmt::format(
      R"({{"Pod":{},"Nodes":{{"metadata":{{}},"items":[{},{},{{"metadata":{{"name":"bare"}}}}]}},"NodeNames":null}})",
      PodJson(MakePod("p", 1, 3, 60)), roomy, known);
  EXPECT_THAT(
      extender.Filter(body),
      ::testing::StartsWith(R"({"NodeNames":null,"Nodes":{"metadata":{},"items":[)" + roomy + "," +
                            known + R"(]},"FailedNodes":{},"FailedAndUnresolvableNodes":{"bare")"));
}

TEST_F(FilterTest, LetsPodsWithoutGpusThroughUntouched) {
  EXPECT_THAT(extender.Filter(Args(MakePod("web", 0, 100, 1), {"any", "other"})),
              HasSubstr(R"("NodeNames":["any","other"],"FailedNodes":{})"));
}

TEST_F(FilterTest, JudgesPodsWithSlicesOfGpus) {
  using synergy::testing::MakeSharedNode;
  const auto sharing = [](std::string args) {
    const size_t at = args.find("nvidia.com/gpu");
    args.insert(at + std::string_view("nvidia.com/gpu").size(), ".shared");
    return args;
  };
  AddNode("whole", 8);
  state.UpsertNode(MakeSharedNode("shared", 1, 2, {Gpus(0), Cores(24), GB(120)}));
  const auto filter = [&](const std::string& name) {
    return extender.Filter(sharing(Args(MakePod(name, 1, 4, 30), {"whole", "shared"})));
  };
  EXPECT_THAT(filter("a"), AllOf(HasSubstr(R"("NodeNames":["shared"])"),
                                 HasSubstr(R"("whole":"Insufficient nvidia.com/gpu.shared")")));
  EXPECT_THAT(filter("b"), HasSubstr(R"("NodeNames":["shared"])"));
  EXPECT_THAT(filter("c"), HasSubstr(R"("shared":"Insufficient nvidia.com/gpu.shared")"))
      << "two are on their way there";
  EXPECT_THAT(extender.Filter(Args(MakePod("d", 1, 1, 1), {"whole", "shared"})),
              AllOf(HasSubstr(R"("NodeNames":["whole"])"),
                    HasSubstr(R"("shared":"Insufficient nvidia.com/gpu")")))
      << "a whole GPU is not made of slices";
}

TEST_F(FilterTest, CountsThePodsThatItsOwnRankingHasJustSentSomewhere) {
  AddNode("a", 1);
  extender.Filter(Args(MakePod("first", 1, 1, 1), {"a"}));
  EXPECT_THAT(extender.Filter(Args(MakePod("second", 1, 1, 1), {"a"})),
              HasSubstr(R"("a":"Insufficient nvidia.com/gpu")"));
}

TEST_F(FilterTest, DoesNotLetAPodStandInItsOwnWay) {
  AddNode("a", 1);
  const Pod pod = MakePod("p", 1, 1, 1);
  extender.Filter(Args(pod, {"a"}));
  EXPECT_THAT(extender.Filter(Args(pod, {"a"})), HasSubstr(R"("NodeNames":["a"])"));
}

TEST_F(FilterTest, GivesUpExpectingABindThatDoesNotCome) {
  AddNode("a", 1);
  extender.Filter(Args(MakePod("first", 1, 1, 1), {"a"}));
  clock.Advance(kExpectTimeout);
  binder.SettleExpired();
  EXPECT_EQ(FreeGpus("a"), Gpus(1));
}

TEST_F(FilterTest, AnswersBadInputWithAnErrorThatNamesTheField) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "not JSON"},
      {"x", "not JSON"},
      {"[]", "not a JSON object"},
      {"{}", "Pod is missing"},
      {R"({"Pod":7})", "Pod is of a wrong type"},
      {R"({"Pod":{},"NodeNames":7})", "NodeNames is of a wrong type"},
      {R"({"Pod":{},"NodeNames":["a",7]})", "NodeNames[1] is not a string"},
      {R"({"Pod":{},"NodeNames":{"a":1}})", "NodeNames is of a wrong type"},
      {R"({"Pod":{},"Nodes":{"items":[{"metadata":{}}]}})",
       "Nodes.items[0].metadata.name is missing"},
      {R"({"Pod":{},"Nodes":{"items":[7]}})", "Nodes.items[0] is not an object"},
      {R"({"Pod":{},"Nodes":{"items":[]},"NodeNames":[]})", "both NodeNames and Nodes"},
      {R"({"Pod":{"spec":{"containers":[{"resources":{"requests":{"cpu":"12x"}}}]}}})",
       "Pod.spec.containers[0].resources.requests.cpu"},
      {std::string(100000, '['), "not a JSON object"},
      {R"({"Pod":)" + std::string(100000, '['), "Pod is of a wrong type"},
      {R"({"x":)" + std::string(100000, '['), "not JSON at byte"},
  };
  for (const auto& [body, expected] : cases) {
    const std::string answer = extender.Filter(body);
    EXPECT_THAT(answer, ::testing::StartsWith(R"({"Error":")")) << body.substr(0, 80);
    EXPECT_THAT(answer, HasSubstr(expected)) << body.substr(0, 80);
  }
}

TEST_F(FilterTest, TakesAPodWithoutContainersAsOneThatAsksForNothing) {
  EXPECT_THAT(extender.Filter(R"({"Pod":{"metadata":{"name":"p"}},"NodeNames":["a"]})"),
              HasSubstr(R"("NodeNames":["a"])"));
}

TEST_F(FilterTest, AcceptsTheSameNodeTwice) {
  AddNode("a");
  EXPECT_THAT(extender.Filter(Args(MakePod("p", 1, 1, 1), {"a", "a"})),
              HasSubstr(R"("NodeNames":["a","a"])"));
}

TEST_F(FilterTest, UnderstandsNamesSpelledWithEscapesAndGivesThemBackAsTheyCame) {
  AddNode("node/a");
  const std::string body = fmt::format(R"({{"NodeNames":["node\/a","\u0061\"b"],"Pod":{}}})",
                                       PodJson(MakePod("p", 1, 1, 1)));
  const std::string answer = extender.Filter(body);
  EXPECT_THAT(answer, HasSubstr(R"("NodeNames":["node\/a"])"));
  EXPECT_THAT(answer, HasSubstr(R"("\u0061\"b":"node is not known)"));
}

// kube-scheduler may see the end of a pod slightly before the extender does.
TEST_F(FilterTest, LooksOnceMoreBeforeItRejectsEveryNode) {
  AddNode("a", 1);
  Pod leaves = MakePod("leaves", 1, 1, 1, "a");
  leaves.deleting = true;
  state.UpsertPod(leaves);
  int looked = 0;
  Watches watches;
  watches.catch_up = [&] {
    ++looked;
    state.RemovePod("uid-leaves");
  };
  SchedulerExtender patient(state, binder, reader, {.expect_timeout = kExpectTimeout}, clock, log,
                            metrics, watches);
  EXPECT_THAT(patient.Filter(Args(MakePod("p", 1, 1, 1), {"a"})),
              ::testing::HasSubstr(R"("NodeNames":["a"])"));
  EXPECT_EQ(looked, 1);
}

// All other pods have to wait meanwhile.
TEST_F(FilterTest, LooksAgainSeldomAndMoreOftenForRoomOnItsWay) {
  AddNode("a", 1);
  Pod there = MakePod("there", 1, 1, 1, "a");
  state.UpsertPod(there);
  int looked = 0;
  Watches watches;
  watches.catch_up = [&] { ++looked; };
  SchedulerExtender patient(state, binder, reader, {.expect_timeout = kExpectTimeout}, clock, log,
                            metrics, watches);
  const auto ask = [&](const std::string& name) {
    EXPECT_THAT(patient.Filter(Args(MakePod(name, 1, 1, 1), {"a"})), HasSubstr("Insufficient"));
  };
  const auto ask_for_a_second = [&] {
    for (int i = 0; i < 500; ++i) {
      state.UpsertPod(MakePod("news", 0, 1, 1 + i % 2, "a"));
      ask(fmt::format("p{}", i));
      clock.Advance(std::chrono::milliseconds(2));
    }
  };
  ask_for_a_second();
  EXPECT_EQ(looked, 2) << "nobody is known to leave";
  there.deleting = true;
  state.UpsertPod(there);
  ask_for_a_second();
  EXPECT_EQ(looked, 7);
  clock.Advance(std::chrono::minutes(1));
  ask("p0");
  EXPECT_EQ(looked, 8);
  clock.Advance(std::chrono::minutes(1));
  ask("p0");
  EXPECT_EQ(looked, 8) << "nothing was heard since";
}

// kube-scheduler retries after an error; a refused pod waits for the next change of the cluster.
TEST_F(FilterTest, MakesKubeSchedulerRetryWhereItCountsMoreRoom) {
  AddNode("a", 1);
  AddNode("small", 0);
  state.UpsertPod(MakePod("there", 1, 1, 1, "a"));
  Watches watches;
  watches.longest_late = std::chrono::seconds(15);
  SchedulerExtender patient(state, binder, reader, {.expect_timeout = kExpectTimeout}, clock, log,
                            metrics, watches);
  const auto ask = [&](const char* node) {
    return patient.Filter(Args(MakePod("p", 1, 1, 1), {node}));
  };
  const auto retries = HasSubstr("but kube-scheduler counts room on node ");
  EXPECT_THAT(ask("small"), Not(retries));
  EXPECT_THAT(ask("new"), retries);
  EXPECT_THAT(ask("a"), retries);
  clock.Advance(std::chrono::seconds(15));
  EXPECT_THAT(ask("a"), HasSubstr(R"("FailedNodes":{"a":"Insufficient nvidia.com/gpu"})"));
  clock.Advance(std::chrono::minutes(2));
  EXPECT_THAT(ask("a"), Not(retries)) << "nothing has changed: the two count differently";

  state.RemovePod("uid-there");
  state.UpsertPod(MakePod("next", 1, 1, 1, "a"));
  EXPECT_THAT(ask("a"), retries) << "kube-scheduler knows of another end";
  clock.Advance(std::chrono::seconds(20));
  state.RemovePod("uid-next");
  state.UpsertPod(MakePod("last", 1, 1, 1, "a"));
  EXPECT_THAT(ask("a"), retries) << "the watch had caught up meanwhile";

  state.RemovePod("uid-last");
  state.Expect(MakePod("q", 1, 1, 1), *state.Snapshot()->Find("a"), clock.Now() + kExpectTimeout);
  EXPECT_THAT(ask("a"), Not(retries)) << "kube-scheduler does not count the expected pod";
}

// While nodes are listed and pods are not yet, every node seems empty.
TEST_F(FilterTest, PlacesNoGpuPodWhileTheClusterIsNotKnown) {
  AddNode("a", 1);
  bool current = false;
  Watches watches;
  watches.current = [&] { return current; };
  SchedulerExtender starting(state, binder, reader, {.expect_timeout = kExpectTimeout}, clock, log,
                             metrics, watches);
  const std::string args = Args(MakePod("p", 1, 1, 1), {"a"});
  const std::string binding = R"({"PodName":"p","PodNamespace":"team","PodUID":"u","Node":"a"})";
  EXPECT_THAT(starting.Filter(args), HasSubstr("has not listed all pods and nodes"));
  EXPECT_THAT(starting.Prioritize(args), HasSubstr("has not listed all pods and nodes"));
  EXPECT_THAT(starting.Bind(binding), HasSubstr("has not listed all pods and nodes"));
  const std::string preemption =
      fmt::format(R"({{"Pod":{},"NodeNameToMetaVictims":{{}}}})", PodJson(MakePod("p", 1, 1, 1)));
  EXPECT_THAT(starting.Preempt(preemption), HasSubstr("has not listed all pods and nodes"));
  EXPECT_EQ(state.assumed_pods(), 0u);
  // Pods that Synergy does not manage do not wait.
  EXPECT_THAT(starting.Filter(Args(MakePod("web", 0, 1, 1), {"a"})),
              HasSubstr(R"("NodeNames":["a"])"));
  current = true;
  EXPECT_THAT(starting.Filter(args), HasSubstr(R"("NodeNames":["a"])"));
}

}  // namespace
}  // namespace synergy::extender
