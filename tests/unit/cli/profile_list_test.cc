#include "cli/profile_list.h"

#include <memory>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace synergy::cli::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

ProfileObject Make(const std::string& name, std::vector<JobProfile::Point> points) {
  ProfileObject object;
  object.profile_namespace = "team";
  object.name = name;
  object.training.model = "ResNet18";
  object.training.gpus = Gpus(1);
  auto profile = JobProfile::Create(Gpus(1), std::move(points));
  if (profile) object.profile = std::make_shared<const JobProfile>(*std::move(profile));
  return object;
}

TEST(ProfileListTest, ACurveHasABarForEachAmount) {
  const ProfileObject object = Make("resnet18", {{Cores(1), MiB(1024), 5},
                                                 {Cores(1), MiB(4096), 10},
                                                 {Cores(9), MiB(1024), 10},
                                                 {Cores(9), MiB(4096), 20}});
  EXPECT_EQ(ProfileText(object),
            "Profile team/resnet18: ResNet18, 1 GPUs of any product\n"
            "Process memory not known, so memory is not changed\n"
            "Throughput by CPU, with 4Gi of memory\n"
            "  1  10  " +
                std::string(25, '#') +
                "\n"
                "  9  20  " +
                std::string(50, '#') +
                "\n"
                "Throughput by memory, with 9 CPU\n"
                "  1Gi  10  " +
                std::string(25, '#') +
                "\n"
                "  4Gi  20  " +
                std::string(50, '#') + "\n");
}

TEST(ProfileListTest, WithOneMemoryAmountThereIsOneCurve) {
  const ProfileObject object = Make("gnmt", {{Cores(1), MiB(1024), 5}, {Cores(3), MiB(1024), 5}});
  EXPECT_THAT(ProfileText(object), Not(HasSubstr("by memory")));
}

TEST(ProfileListTest, WhatIsWrongIsSaid) {
  ProfileObject object = Make("broken", {});
  object.problems = {"spec.points: is empty"};
  EXPECT_THAT(ProfileText(object), HasSubstr("Not valid: spec.points: is empty\n"));
  EXPECT_THAT(ToJson(ToTree(object)), HasSubstr("spec.points: is empty"));
}

TEST(ProfileListTest, TheTableShowsWhatTheControllerFound) {
  ProfileObject judged = Make("resnet18", {{Cores(1), MiB(1024), 5}});
  judged.status.demand_cpu = "9";
  judged.status.valid = "True";
  const std::string table = ProfileTable(Profiles({judged, Make("new", {})}), true);
  EXPECT_THAT(table, HasSubstr("team       resnet18  ResNet18  -            1    9"));
  EXPECT_THAT(table, HasSubstr("not judged yet"));
  EXPECT_EQ(ProfileTable(Profiles(), false), "no training profiles\n");
}

}  // namespace
}  // namespace synergy::cli::testing
