#include "extender/nodes/node_storage.h"

#include <map>
#include <string>
#include <utility>

#include "record/replay.h"
#include "unit/extender/extender_fixture.h"
#include "unit/record/recording.h"

namespace synergy::extender {
namespace {

// Pods with the profile "reader" would go to "tight", where another one runs.
class NodeStorageTest : public ExtenderTest {
 protected:
  NodeStorageTest() {
    state.SetJournal(recording.recorder.get());
    extender.SetJournal(recording.recorder.get());
    for (const char* name : {"empty", "tight"}) AddNode(name);
    state.UpsertPod(Reader("x"));
    extender.SetStorage(&storage);
  }

  static Pod Reader(const std::string& name) {
    Pod pod = MakePod(name, 1, 3, 60, "tight");
    auto fungible = std::make_shared<ManagedContainer>();
    fungible->container = "train";
    fungible->profile = "reader";
    fungible->requested = fungible->floor = fungible->demand = pod.requests.main;
    pod.fungible = std::move(fungible);
    return pod;
  }
  // `need`: of a pod with this memory, which holds nothing of the data set.
  void Publish(std::map<std::string, double> bandwidths, double need) {
    storage.Upsert({"1",
                    {.bandwidths = std::move(bandwidths),
                     .reads = {{"default", {{"reader", {Gpus(1), GB(60), GB(1000), need}}}}}}});
  }
  // Returns the points of the nodes for a pod with this profile.
  std::string Points(const std::string& profile = "reader") {
    std::string args = Args(MakePod("p", 1, 3, 60), {"empty", "tight"});
    args.insert(
        args.find(R"("name":)"),
        fmt::format(R"("annotations":{{"synergy.io/container":"train","synergy.io/profile":"{}",)"
                    R"("synergy.io/demand":"{{\"cpu\":\"3\",\"memory\":\"60G\"}}",)"
                    R"("synergy.io/floor":"{{\"cpu\":\"3\",\"memory\":\"60G\"}}"}},)",
                    profile));
    args.insert(args.find(R"("nodeName":)"), R"("schedulerName":"synergy-scheduler",)");
    const std::string answer = extender.Prioritize(args);
    std::string points;
    for (size_t at = answer.find("Score"); at != std::string::npos;
         at = answer.find("Score", at + 1))
      points += answer.substr(at + 7, answer.find('}', at) - at - 7) + " ";
    return points;
  }

  record::Recording recording;
  NodeStorage storage;
};

TEST_F(NodeStorageTest, PodsThatWouldWaitForStorageGoToDifferentNodes) {
  EXPECT_EQ(Points(), "5 10 ") << "nothing is known";
  Publish({{"tight", 30e6}}, 30e6);
  EXPECT_EQ(Points(), "10 4 ");
  EXPECT_EQ(Points("other"), "5 10 ") << "it needs no storage";
  Publish({{"tight", 60e6}}, 30e6);
  EXPECT_EQ(Points(), "5 10 ") << "both have what they need";
}

TEST_F(NodeStorageTest, KnowledgeEndsWithTheConfigMap) {
  Publish({{"tight", 40e6}}, 30e6);
  storage.Remove({});
  EXPECT_EQ(storage.Known(), nullptr);
  EXPECT_EQ(Points(), "5 10 ");
  Publish({{"tight", 40e6}}, 30e6);
  storage.Replace({});
  EXPECT_EQ(Points(), "5 10 ");
}

TEST_F(NodeStorageTest, RememberedNeedsFollowTheNode) {
  Publish({{"tight", 100e6}}, 30e6);
  const auto left = [&](const char* node) {
    return storage.Known()->LeftOn(testing::NodeOf(*state.Snapshot(), node));
  };
  EXPECT_EQ(left("empty"), std::nullopt);
  EXPECT_EQ(left("tight"), 70e6);
  state.UpsertPod(Reader("y"));
  EXPECT_EQ(left("tight"), 40e6);
  state.RemovePod("uid-y");
  EXPECT_EQ(left("tight"), 70e6);
  state.RemovePod("uid-x");
  EXPECT_EQ(left("tight"), 100e6);
}

TEST_F(NodeStorageTest, IsRecordedWithTheDecisionsThatItChanges) {
  Points();
  Publish({{"tight", 40e6}}, 30e6);
  Points();
  const std::string text = recording.Text();
  EXPECT_NE(text.find(R"("bandwidths":{"tight":)"), std::string::npos);
  const auto report = record::Replay(text);
  ASSERT_TRUE(report);
  EXPECT_TRUE(report->differences.empty());
  EXPECT_EQ(report->counts.at("Prioritize").same, 2U);
}

}  // namespace
}  // namespace synergy::extender
