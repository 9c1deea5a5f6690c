#include <string>

#include <gtest/gtest.h>

#include "wire/base/resource_list.h"

namespace synergy::wire {
namespace {

TEST(ScalarResources, AreThoseThatKubeSchedulerKeeps) {
  for (const std::string& name :
       {std::string("nvidia.com/gpu"), std::string("a/b"), std::string("1.2/3"),
        std::string("hugepages-2Mi"), std::string("hugepages-"),
        std::string("attachable-volumes-aws-ebs"), std::string("kubernetes.io/batch"),
        std::string("foo.kubernetes.io/x/y"), "example.com/" + std::string(63, 'n'),
        std::string(244, 'p') + "/n"}) {
    EXPECT_TRUE(IsScalarResource(name)) << name;
  }
}

TEST(ScalarResources, AreNotThoseThatItDrops) {
  for (const std::string& name :
       {std::string(), std::string("pods"), std::string("storage"), std::string("unprefixed"),
        std::string("requests.example.com/gpu"), std::string("Nvidia.com/gpu"),
        std::string("example.com/-bad"), std::string("example.com/bad-"),
        std::string("two/slashes/here"), std::string("/gpu"), std::string("example.com/"),
        std::string("a..b/c"), std::string("-a/b"), std::string("a-/b"), std::string("a/b c"),
        "example.com/" + std::string(64, 'n'), std::string(245, 'p') + "/n",
        std::string("example.com/\xC3\xA9")}) {
    EXPECT_FALSE(IsScalarResource(name)) << name;
  }
}

TEST(PodLevelResources, AreCpuMemoryAndHugePages) {
  EXPECT_TRUE(IsPodLevelResource("cpu"));
  EXPECT_TRUE(IsPodLevelResource("memory"));
  EXPECT_TRUE(IsPodLevelResource("hugepages-1Gi"));
  EXPECT_FALSE(IsPodLevelResource("ephemeral-storage"));
  EXPECT_FALSE(IsPodLevelResource("nvidia.com/gpu"));
}

}  // namespace
}  // namespace synergy::wire
