#include "cluster/namespace_limits.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "wire/objects/objects.h"

namespace synergy::wire {
namespace {

template <class T>
T OnlyWith(const std::string& rest) {
  const Result<ListPage<T>> page = ObjectReader().ReadList<T>(
      R"({"items":[{"metadata":{"name":"a","namespace":"team","uid":"u"},)" + rest + "}]}");
  EXPECT_TRUE(page) << page.error().message;
  EXPECT_THAT(page->problems, ::testing::IsEmpty());
  return page->items.front();
}

TEST(LimitRangesTest, HaveBoundsOfContainersAndPods) {
  const auto range = OnlyWith<LimitRange>(R"("spec":{"limits":[
    {"type":"Container","min":{"cpu":"100m"},"max":{"memory":"4Gi"},"default":{"cpu":"1"}},
    {"type":"Container","max":{"cpu":"8","memory":"8Gi"},"maxLimitRequestRatio":{"cpu":"2"}},
    {"type":"Pod","max":{"cpu":"10"}},
    {"type":"PersistentVolumeClaim","min":{"storage":"1Gi"}}]})");
  EXPECT_EQ(range.pod_namespace, "team");
  EXPECT_EQ(range.container.least, (ResourceVector{Gpus(0), MilliCpu(100), Bytes(0)}));
  EXPECT_EQ(range.container.most.cpu, Cores(8));
  EXPECT_EQ(range.container.most.memory, GiB(4)) << "the lesser";
  EXPECT_EQ(range.pod.most.cpu, Cores(10));
  EXPECT_EQ(range.pod.most.memory, Bytes(kNoLimit));
  EXPECT_TRUE(range.cpu_ratio);
  EXPECT_FALSE(range.memory_ratio);
}

TEST(ResourceQuotasTest, HaveWhatIsHardAndWhatIsUsed) {
  const auto quota = OnlyWith<ResourceQuota>(R"(
    "spec":{"hard":{"cpu":"8","requests.cpu":"6","limits.memory":"10Gi","pods":"4"}},
    "status":{"hard":{"cpu":"8"},"used":{"cpu":"2","requests.cpu":"2"}})");
  EXPECT_EQ(quota.requests.hard.cpu, Cores(6));
  EXPECT_EQ(quota.requests.used.cpu, Cores(2));
  EXPECT_FALSE(quota.requests.Counts(&ResourceVector::memory));
  EXPECT_EQ(quota.limits.hard.memory, GiB(10));
  EXPECT_EQ(quota.limits.used.memory, GiB(10)) << "nobody has counted yet";
  EXPECT_FALSE(quota.by_qos);
}

TEST(ResourceQuotasTest, MayCountByQosClass) {
  const auto by_qos = [](const std::string& spec) {
    return OnlyWith<ResourceQuota>(R"("spec":{"hard":{"pods":"4"},)" + spec + "}").by_qos;
  };
  EXPECT_TRUE(by_qos(R"("scopes":["NotTerminating","NotBestEffort"])"));
  EXPECT_TRUE(by_qos(R"("scopes":["BestEffort"])"));
  EXPECT_TRUE(by_qos(R"("scopeSelector":{"matchExpressions":[
      {"scopeName":"PriorityClass","operator":"Exists"},
      {"scopeName":"NotBestEffort","operator":"Exists"}]})"));
  EXPECT_FALSE(by_qos(R"("scopes":["Terminating"])"));
  EXPECT_FALSE(by_qos(R"("scopeSelector":{"matchExpressions":[
      {"scopeName":"PriorityClass","operator":"Exists"}]})"));
}

}  // namespace
}  // namespace synergy::wire
