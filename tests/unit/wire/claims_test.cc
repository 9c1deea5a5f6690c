#include <string>
#include <string_view>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/wall_time.h"
#include "json/text.h"
#include "wire/objects/objects.h"
#include "wire/pods/pod_writes.h"

namespace synergy::wire {
namespace {

constexpr std::string_view kHold =
    R"("synergy.io/hold":"{\"node\":\"n7\",\"until\":\"2026-11-21T07:05:50Z\"}")";
constexpr std::string_view kGrowth =
    R"("synergy.io/change":"{\"kind\":\"Grown\",\"from\":{\"cpu\":\"3\",\"memory\":\"8Gi\"},)"
    R"(\"to\":{\"cpu\":\"5\",\"memory\":\"8Gi\"},\"at\":\"2026-11-21T07:05:00Z\",\"why\":\"\"}")";

// Returns an entry of metadata.managedFields.
std::string Entry(std::string_view manager, std::string_view annotation,
                  std::string_view more = R"("operation":"Update")") {
  return fmt::format(
      R"({{"manager":"{}",{},"time":"2026-11-21T07:05:00Z","fieldsType":"FieldsV1",)"
      R"("fieldsV1":{{"f:metadata":{{"f:annotations":{{"f:synergy.io/{}":{{}}}}}}}}}})",
      manager, more, annotation);
}

// A pod with one GPU that Synergy manages and that runs on its node, if it has one.
struct ClaimingPod {
  std::string annotations;
  std::string managed_fields;
  std::string spec = R"("schedulerName":"synergy-scheduler")";
  std::string node;
  std::string gpus = "1";
  std::string phase = "Pending";
  std::string labels;
  PodUse use = PodUse::kAccounted;

  Pod Read() const {
    const std::string text = fmt::format(
        R"({{"metadata":{{"uid":"u","name":"p","namespace":"team","managedFields":[{}],
          "labels":{{{}}},"annotations":{{"synergy.io/container":"train",
            "synergy.io/demand":"{{\"cpu\":\"6\",\"memory\":\"8Gi\"}}",
            "synergy.io/floor":"{{\"cpu\":\"2\",\"memory\":\"8Gi\"}}",{}}}}},
        "spec":{{"nodeName":"{}","containers":[{{"name":"train","resources":{{"requests":
          {{"cpu":"3","memory":"8Gi","nvidia.com/gpu":"{}"}}}}}}],{}}},"status":{{"phase":"{}"}}}})",
        managed_fields, labels, annotations, node, gpus, spec, phase);
    const Result<Pod> pod = ObjectReader("nvidia.com/gpu").ReadPod(text, use);
    EXPECT_TRUE(pod) << pod.error().message;
    return pod.value_or(Pod());
  }
  std::string KeptNode() const { return Read().waiting->kept_node; }
  MilliCpu Counted() const { return Read().requests.main.cpu; }
};

ClaimingPod Held() {
  return {.annotations = std::string(kHold), .managed_fields = Entry("synergy", "hold")};
}
ClaimingPod Growing() {
  return {.annotations = std::string(kGrowth),
          .managed_fields = Entry("synergy", "change"),
          .node = "n1",
          .phase = "Running"};
}

TEST(ClaimsTest, AnnotationsWrittenBySynergyCount) {
  EXPECT_EQ(Held().KeptNode(), "n7");
  EXPECT_EQ(ToTimeText(Held().Read().waiting->kept_until), "2026-11-21T07:05:50.000000Z");
  EXPECT_EQ(Growing().Counted(), Cores(5));
  EXPECT_EQ(ToTimeText(Growing().Read().fungible->announced_until), "2026-11-21T07:07:00.000000Z");
}

TEST(ClaimsTest, AnnotationsWrittenByOthersDoNotCount) {
  const std::string others[] = {
      "",
      Entry("kubectl", "hold"),
      Entry("synergy", "change"),
      Entry("synergy", "hold", R"("operation":"Apply")"),
      Entry("synergy", "hold", R"("operation":"Update","subresource":"resize")"),
      R"({"manager":"synergy","operation":"Update"})",
      R"({"manager":"synergy","operation":"Update","time":"soon","fieldsV1":
          {"f:metadata":{"f:annotations":{"f:synergy.io/hold":{}}}}})"};
  for (const std::string& entry : others) {
    ClaimingPod pod = Held();
    pod.managed_fields = entry;
    EXPECT_EQ(pod.KeptNode(), "") << entry;
  }
  ClaimingPod pod = Growing();
  pod.managed_fields = Entry("kubectl-annotate", "change");
  EXPECT_EQ(pod.Counted(), Cores(3));
  EXPECT_TRUE(pod.Read().fungible->Announced());
}

TEST(ClaimsTest, ALoanCountsOnlyIfSynergyWroteIt) {
  ClaimingPod pod = Growing();
  const ResourceVector has{Gpus(1), Cores(3), GiB(8)};
  ResourceVector own = has;
  own.cpu = Cores(5);
  pod.annotations = R"("synergy.io/change":)";
  json::AppendJsonString(
      pod.annotations,
      WriteChange({.kind = ChangeKind::kLent, .from = own, .to = has, .borrower = "other"}));
  EXPECT_EQ(pod.Read().fungible->Lends(), Cores(2));
  EXPECT_EQ(pod.Read().fungible->LoanBalance(), Cores(2));
  EXPECT_EQ(pod.Read().fungible->change->borrower, "other");
  pod.managed_fields = Entry("kubectl", "change");
  EXPECT_EQ(pod.Read().fungible->Lends(), Cores(0));

  pod.managed_fields = Entry("synergy", "change");
  pod.annotations = R"("synergy.io/change":)";
  json::AppendJsonString(
      pod.annotations,
      WriteChange({.kind = ChangeKind::kGrown, .from = own, .to = has, .borrowed = Cores(1)}));
  EXPECT_EQ(pod.Read().fungible->Borrows(), Cores(1));
  pod.managed_fields = Entry("kubectl", "change");
  EXPECT_EQ(pod.Read().fungible->Borrows(), Cores(0));
}

TEST(ClaimsTest, OptingOutTakesEffectOnceALoanIsOver) {
  ClaimingPod pod = Growing();
  pod.labels = R"("synergy.io/fungible":"false")";
  EXPECT_FALSE(pod.Read().fungible);
  const ResourceVector has{Gpus(1), Cores(3), GiB(8)};
  ResourceVector own = has;
  own.cpu = Cores(5);
  const auto has_changed = [&pod](const ChangeRecord& change) {
    pod.annotations = R"("synergy.io/change":)";
    json::AppendJsonString(pod.annotations, WriteChange(change));
  };
  has_changed({.kind = ChangeKind::kLent, .from = own, .to = has, .borrower = "other"});
  EXPECT_TRUE(pod.Read().fungible->leaves);
  EXPECT_EQ(pod.Read().fungible->LoanBalance(), Cores(2));
  has_changed({.kind = ChangeKind::kGrown, .from = own, .to = has, .borrowed = Cores(1)});
  EXPECT_TRUE(pod.Read().fungible->leaves);
  pod.managed_fields = Entry("kubectl", "change");
  EXPECT_FALSE(pod.Read().fungible);
  pod.managed_fields = Entry("synergy", "change");
  own.cpu = Cores(1);
  has_changed({.kind = ChangeKind::kReturned, .from = own, .to = has, .borrower = "other"});
  EXPECT_FALSE(pod.Read().fungible);
  pod.labels.clear();
  EXPECT_FALSE(pod.Read().fungible->leaves);
}

TEST(ClaimsTest, PodsThatAreNotManagedClaimNothing) {
  for (const char* spec :
       {R"("schedulerName":"default-scheduler")", R"("schedulerName":"")",
        R"("schedulerName":"synergy-scheduler","schedulingGates":[{"name":"later"}])"}) {
    ClaimingPod pod = Held();
    pod.spec = spec;
    EXPECT_EQ(pod.KeptNode(), "") << spec;
  }
  ClaimingPod no_gpus = Held();
  no_gpus.gpus = "0";
  EXPECT_EQ(no_gpus.KeptNode(), "");
  ClaimingPod ended = Growing();
  ended.phase = "Failed";
  EXPECT_EQ(ended.Counted(), Cores(3));
  ClaimingPod foreign = Growing();
  foreign.spec = R"("schedulerName":"default-scheduler")";
  EXPECT_EQ(foreign.Counted(), Cores(3));
}

TEST(ClaimsTest, OnlyOfManagedPodsAnythingMayBeChanged) {
  EXPECT_TRUE(Growing().Read().fungible);
  ClaimingPod foreign = Growing();
  foreign.spec = R"("schedulerName":"default-scheduler")";
  EXPECT_FALSE(foreign.Read().fungible);
  foreign.use = PodUse::kIncoming;
  EXPECT_FALSE(foreign.Read().fungible);
  ClaimingPod no_gpus = Growing();
  no_gpus.gpus = "0";
  EXPECT_FALSE(no_gpus.Read().fungible);
  // The reason of the pod's end still counts.
  ClaimingPod ended = Growing();
  ended.phase = "Failed";
  EXPECT_TRUE(ended.Read().fungible);
}

TEST(ClaimsTest, KubeSchedulersWordForAnIncomingPodClaimsNothing) {
  ClaimingPod pod = Held();
  pod.use = PodUse::kIncoming;
  EXPECT_EQ(pod.KeptNode(), "");
}

TEST(ClaimsTest, NoPlaceIsKeptForLongerThanTwiceTheConfiguredTime) {
  ClaimingPod pod = Held();
  pod.annotations = R"("synergy.io/hold":"{\"node\":\"n7\",\"until\":\"2100-01-01T00:00:00Z\"}")";
  EXPECT_EQ(ToTimeText(pod.Read().waiting->kept_until), "2026-11-21T07:07:00.000000Z");
}

TEST(ClaimsTest, TheSchedulersNameAndTheTimeAreSettings) {
  const ObjectReader reader("nvidia.com/gpu",
                            {.scheduler_name = "other", .hold = std::chrono::seconds(10)});
  const auto pod = reader.ReadPod(
      fmt::format(R"({{"metadata":{{"managedFields":[{}],"annotations":{{{}}}}},"spec":
        {{"schedulerName":"other","containers":[{{"resources":{{"requests":{{"nvidia.com/gpu":"1"}}}}}}]}}}})",
                  Entry("synergy", "hold"), kHold),
      PodUse::kAccounted);
  ASSERT_TRUE(pod);
  EXPECT_EQ(ToTimeText(pod->waiting->kept_until), "2026-11-21T07:05:20.000000Z");
}

}  // namespace
}  // namespace synergy::wire
