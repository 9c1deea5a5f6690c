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

TEST(WorkloadTest, WhatRunsSomethingElseIsAnotherWorkload) {
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

TEST(WorkloadTest, WithoutGpusThereIsNone) { EXPECT_EQ(WorkloadOf(PodToAdmit()), ""); }

}  // namespace
}  // namespace synergy
