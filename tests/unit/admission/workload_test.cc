#include "admission/workload.h"

#include <gtest/gtest.h>

#include "cluster/annotations.h"

namespace synergy {
namespace {

PodToAdmit Running(std::string image, std::vector<std::string> command,
                   std::vector<std::string> args = {}) {
  PodToAdmit pod;
  pod.gpu_containers.push_back({.index = 0,
                                .name = "train",
                                .gpus = Gpus(1),
                                .written = {},
                                .image = std::move(image),
                                .command = std::move(command),
                                .args = std::move(args)});
  return pod;
}

TEST(WorkloadTest, TheDigitsAreTheSameInEveryVersion) {
  EXPECT_EQ(WorkloadOf(Running("registry.example.com/train:1", {"python"}, {"train.py", "--bs=8"})),
            "w-66ed37916a6e01eb");
}

TEST(WorkloadTest, DifferentCommandsAreDifferentWorkloads) {
  const std::string workload = WorkloadOf(Running("a", {"b", "c"}));
  EXPECT_EQ(workload, WorkloadOf(Running("a", {"b", "c"})));
  for (const PodToAdmit& other :
       {Running("a", {"b"}, {"c"}), Running("a", {"bc"}), Running("ab", {"c"}),
        Running("a", {"c", "b"}), Running("a", {"b", "c", ""})}) {
    EXPECT_NE(WorkloadOf(other), workload);
  }
}

TEST(WorkloadTest, TheLabelGoesBeforeWhatRuns) {
  PodToAdmit pod = Running("a", {});
  pod.labels = {{std::string(annotations::kWorkload), "bert"}};
  EXPECT_EQ(WorkloadOf(pod), "bert");
  pod.labels = {{std::string(annotations::kWorkload), ""}};
  EXPECT_EQ(WorkloadOf(pod), WorkloadOf(Running("a", {})));
}

TEST(WorkloadTest, APodThatExistsStaysWhatItWasCreatedAs) {
  PodToAdmit pod = Running("", {});
  pod.exists = true;
  EXPECT_EQ(WorkloadOf(pod), "") << "it was created before there were workloads";
  pod.workload = "w-0123456789abcdef";
  EXPECT_EQ(WorkloadOf(pod), "w-0123456789abcdef");
}

TEST(LooserIdentitiesTest, TheDigitsAreTheSameInEveryVersion) {
  PodToAdmit pod = Running("train:1", {"python"}, {"train.py", "--bs=8", "--lr", "0.1"});
  pod.owner = {"batch/v1", "Job", "nightly-29012345", "u"};
  EXPECT_EQ(ToText(LooserIdentitiesOf(pod)), "a-b00aa5dd145d1027 o-47875d85fd410aca");
}

TEST(LooserIdentitiesTest, TheOwnerIsTheTemplateThatRunsShare) {
  const auto owner_of = [](PodOwner owner, Labels labels = {}) {
    PodToAdmit pod = Running("a", {"b"});
    pod.owner = std::move(owner);
    pod.labels = std::move(labels);
    return LooserIdentitiesOf(pod).owner;
  };
  const auto job = [&](std::string name) { return owner_of({"batch/v1", "Job", name, "u"}); };
  EXPECT_EQ(job("nightly-29012345"), job("nightly-29013785"));
  EXPECT_NE(job("nightly-29012345"), job("weekly-29012345"));
  EXPECT_EQ(job("bert"), "");
  EXPECT_EQ(job("bert-1"), "");
  EXPECT_EQ(job("-29012345"), "") << "it has no name";
  EXPECT_EQ(owner_of({"v1", "ReplicationController", "nightly-29012345", "u"}), "");

  const auto ray = [&](std::string cluster, std::string group) {
    return owner_of({}, {{"ray.io/cluster", cluster}, {"ray.io/group", group}});
  };
  EXPECT_EQ(ray("tune-x7bcd", "gpu"), ray("tune-9kd2f", "gpu")) << "two runs of a RayJob";
  EXPECT_EQ(ray("tune-x7bcd", "gpu"), ray("tune", "gpu"));
  EXPECT_NE(ray("tune-large", "gpu"), ray("tune-small", "gpu")) << "names that somebody chose";
  EXPECT_NE(ray("tune-x7bcd", "gpu"), ray("tune-x7bcd", "cpu"));
  EXPECT_EQ(owner_of({"v1", "x", "y", "u"}, {{"katib.kubeflow.org/experiment", "grid"}}),
            owner_of({"v1", "x", "z", "u"}, {{"katib.kubeflow.org/experiment", "grid"}}));
}

TEST(LooserIdentitiesTest, ServerDoesNotIdentifyTheTraining) {
  PodToAdmit ray = Running("a", {"/bin/bash", "-c", "--"}, {"ulimit -n 65536; ray start --block"});
  EXPECT_EQ(LooserIdentitiesOf(ray).arguments, "");
  PodToAdmit one = Running("a", {"/usr/sbin/sshd", "-De"});
  PodToAdmit other = one;
  one.owner = {"kubeflow.org/v2beta1", "MPIJob", "bert", "u"};
  other.owner = {"kubeflow.org/v2beta1", "MPIJob", "gpt", "v"};
  EXPECT_EQ(LooserIdentitiesOf(one).arguments, "");
  EXPECT_NE(WorkloadOf(one), WorkloadOf(other));
}

TEST(LooserIdentitiesTest, TheLabelIsExact) {
  PodToAdmit pod = Running("a", {"b"});
  pod.labels = {{std::string(annotations::kWorkload), "bert"}};
  EXPECT_TRUE(LooserIdentitiesOf(pod).empty());
}

TEST(WorkloadTest, WithoutGpusThereIsNone) { EXPECT_EQ(WorkloadOf(PodToAdmit()), ""); }

}  // namespace
}  // namespace synergy
