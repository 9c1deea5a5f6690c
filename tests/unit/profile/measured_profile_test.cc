#include "profile/measured/measured_profile.h"

#include <algorithm>
#include <set>
#include <string>

#include <gtest/gtest.h>

namespace synergy::testing {
namespace {

bool IsDnsSubdomain(const std::string& name) {
  const auto is_edge = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  return !name.empty() && name.size() <= 253 && is_edge(name.front()) && is_edge(name.back()) &&
         std::all_of(name.begin(), name.end(), [&](char c) { return is_edge(c) || c == '-'; });
}

TEST(PointCertainty, IsReadAsItIsWritten) {
  for (const auto certainty :
       {PointCertainty::kExact, PointCertainty::kAtLeast, PointCertainty::kGuess}) {
    EXPECT_EQ(*ParsePointCertainty(ToString(certainty)), certainty);
  }
  EXPECT_FALSE(ParsePointCertainty("Exact"));
  EXPECT_FALSE(ParsePointCertainty(""));
}

TEST(MeasuredName, NamesWorkloadGpusProductAndGang) {
  EXPECT_EQ(MeasuredName("w-00112233445566ff", Gpus(2), "a100"),
            "measured-w-00112233445566ff-2gpu-a100");
  EXPECT_EQ(MeasuredName("bert", Gpus(1), ""), "measured-bert-1gpu");
  EXPECT_EQ(MeasuredName("bert", Gpus(1), "", 8).find("measured-bert-1gpu-gang-of-8-"), 0U);
}

TEST(MeasuredName, IsAlwaysAValidName) {
  const std::string workloads[] = {"",         "-",     "Bert Large/v2", "ü", std::string(300, 'x'),
                                   "a.b_c--d", "x-1gpu"};
  const std::string products[] = {"", "NVIDIA-A100-SXM4-40GB", std::string(300, 'y'), "-p-"};
  for (const std::string& workload : workloads) {
    for (const std::string& product : products) {
      const std::string name = MeasuredName(workload, Gpus(8), product);
      EXPECT_TRUE(IsDnsSubdomain(name)) << name;
      EXPECT_EQ(name, MeasuredName(workload, Gpus(8), product));
    }
  }
}

TEST(MeasuredName, DiffersWhereTheInputDoes) {
  std::set<std::string> names;
  size_t count = 0;
  for (const char* workload :
       {"", "bert", "Bert", "bert-", "be.rt", "be-rt", "be_rt", "bert-1gpu", "bert-1gpu-a"}) {
    for (const char* product : {"", "a", "A", "a-", "1gpu-a", "a100"}) {
      for (const int gpus : {1, 2, 11}) {
        for (const int gang : {1, 2, 12}) {
          names.insert(MeasuredName(workload, Gpus(gpus), product, gang));
          ++count;
        }
      }
    }
  }
  EXPECT_EQ(names.size(), count);
  // The names may differ only beyond their readable part.
  EXPECT_NE(MeasuredName(std::string(300, 'x'), Gpus(1), ""),
            MeasuredName(std::string(301, 'x'), Gpus(1), ""));
}

TEST(MeasuredJobProfile, HasThePointsWithAnyMemory) {
  MeasuredProfile measured;
  measured.gpus = Gpus(2);
  measured.points = {{Cores(1), 2, PointCertainty::kExact}, {Cores(8), 16, PointCertainty::kGuess}};
  const Result<JobProfile> profile = MakeJobProfile(measured);
  ASSERT_TRUE(profile);
  EXPECT_EQ(profile->gpus(), Gpus(2));
  EXPECT_EQ(profile->ThroughputAt(Cores(1), GiB(1)), 2);
  EXPECT_EQ(profile->ThroughputAt(Cores(1), GiB(100)), 2);
  EXPECT_EQ(profile->Best(), 16);
  EXPECT_FALSE(profile->process_memory());
  // Either of the two may have been measured as slightly faster than the other.
  for (const double with_more : {19.8, 20.2}) {
    measured.points = {{Cores(1), 10}, {Cores(2), 20}, {Cores(6), with_more}};
    const Result<JobProfile> plateau = MakeJobProfile(measured);
    EXPECT_TRUE(plateau->warnings().empty());
    EXPECT_EQ(plateau->Demand(0).cpu, Cores(2));
    EXPECT_EQ(plateau->ThroughputAt(Cores(1), GiB(1)), 10);
  }
  // Noise does not count as a demand for CPU.
  measured.points = {{Cores(1), 9.8}, {Cores(2), 9.9}, {Cores(8), 10}};
  EXPECT_EQ(MakeJobProfile(measured)->Demand(0).cpu, Cores(1));
  measured.points.clear();
  EXPECT_FALSE(MakeJobProfile(measured));
}

}  // namespace
}  // namespace synergy::testing
