// Tests which of the pods that operators create (tests/data/operators) are a gang.

#include <cstddef>
#include <fstream>
#include <iterator>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "json/document.h"
#include "json/writer.h"
#include "wire/admission/admission_review.h"
#include "wire/kueue/gang_owner.h"

namespace synergy::wire {
namespace {

constexpr std::string_view kGpuName = "nvidia.com/gpu";

// The webhook's result for one pod.
struct Judged {
  std::string gang;  // empty if it is in no gang
  int32_t size = 1;

  bool operator==(const Judged&) const = default;
};

void PrintTo(const Judged& judged, std::ostream* out) {
  *out << judged.gang << " of " << judged.size;
}

std::string TextOf(json::Value value) {
  std::string text;
  json::AppendValue(text, value);
  return text;
}

Judged Judge(const std::string& pod, const std::string& object) {
  const Result<PodReview> review = PodReview::Read(
      fmt::format(R"({{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{{
                  "uid":"u","operation":"CREATE","namespace":"team","object":{}}}}})",
                  pod),
      kGpuName);
  EXPECT_TRUE(review && review->problem().empty());
  // The webhook asks only about pods with GPUs.
  if (review->pod().gpu_containers.empty()) return {};
  const std::optional<GangOwner> owner = FindGangOwner(review->pod());
  if (!owner) return {};
  const Result<GangSize> gang = ReadGangSize(object, *owner, {kGpuName});
  EXPECT_TRUE(gang);
  if (gang->size == 1 || !IsMember(*gang, *owner)) return {};
  return {owner->gang, gang->size};
}

std::vector<Judged> JudgeFile(const std::string& name) {
  std::ifstream in(std::string(SYNERGY_TEST_DATA "/operators/") + name + ".json", std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(in)), {});
  const auto document = json::Document::Parse(text);
  EXPECT_TRUE(document) << name;
  std::vector<Judged> judged;
  if (!document) return judged;
  const std::string object = TextOf(document->root()["object"]);
  document->root()["pods"].ForEachElement(
      [&](json::Value pod) { judged.push_back(Judge(TextOf(pod), object)); });
  return judged;
}

using Pods = std::vector<Judged>;

TEST(RecordedPodsTest, WorkersOfARayClusterAreAGangAndItsHeadIsNot) {
  const Judged two{"team/ray/tune-x7bcd/gpu", 2};
  EXPECT_EQ(JudgeFile("raycluster"), (Pods{{}, two, two}));
  EXPECT_EQ(JudgeFile("raycluster_hosts"), (Pods{{}, two, two}));
  EXPECT_EQ(JudgeFile("raycluster_autoscaling"), (Pods{{}, two, two, {}})) << "the third may go";
}

TEST(RecordedPodsTest, WorkersOfAnMpiJobAreAGangAndALauncherThatTrainsIsInIt) {
  const Judged bert{"team/mpi/bert", 2};
  const Judged resnet{"team/mpi/resnet", 3};
  const Judged gpt{"team/mpi/gpt", 2};
  EXPECT_EQ(JudgeFile("mpijob"), (Pods{{}, bert, bert}));
  EXPECT_EQ(JudgeFile("mpijob_launcher_worker"), (Pods{resnet, resnet, resnet}));
  EXPECT_EQ(JudgeFile("mpijob_launcher_waits"), (Pods{{}, gpt, gpt}));
}

TEST(RecordedPodsTest, AGroupOfALeaderWorkerSetIsAGangIfItIsCreatedAtOnce) {
  const Judged three{"team/lws/llm/0", 3};
  EXPECT_EQ(JudgeFile("leaderworkerset"), (Pods{three, three, three}));
  EXPECT_EQ(JudgeFile("leaderworkerset_ready"), (Pods{{}, {}, {}}));
}

}  // namespace
}  // namespace synergy::wire
