// Tests pods that get their GPUs by ResourceClaims, with dra.enabled: kube-scheduler sends every
// pod of the profile.

#include "unit/extender/extender_fixture.h"

namespace synergy::extender {
namespace {

using ::testing::HasSubstr;

class DeviceClaimsTest : public ExtenderTest {
 protected:
  static constexpr const char* kDriver = "gpu.nvidia.com";

  DeviceClaimsTest() {
    reader = wire::ObjectReader("nvidia.com/gpu", {}, true);
    state.CountDevices({"nvidia.com/gpu", {kDriver}});
    AddNode("plugin");
    AddNode("dra", 0);
    ResourceSlice slice{.name = "s", .driver = kDriver, .pool = "dra"};
    for (const char* name : {"gpu-0", "gpu-1"})
      slice.devices.push_back({.name = name, .node = "dra"});
    state.UpsertResourceSlice(slice);
  }

  static ResourceClaim Claim(int64_t count) {
    return {.uid = "claim",
            .pod_namespace = "default",
            .name = "claim",
            .requests = {{.device_class = kDriver, .count = count}}};
  }

  static std::string Args(const std::string& claims) {
    return R"({"Pod":{"metadata":{"name":"p","namespace":"default","uid":"uid-p"},"spec":{)"
           R"("schedulerName":"synergy-scheduler",)" +
           claims +
           R"("containers":[{"name":"train","resources":{"requests":{"cpu":"1","memory":"1G"}}}]}},)"
           R"("Nodes":null,"NodeNames":["plugin","dra"]})";
  }
  // Adds a pod that the webhook has sized. Its demand is 6 cores and 40 GB.
  void PutManaged() {
    state.UpsertResourceClaim(Claim(1));
    Pod pod = MakePod("p", 0, 2, 10);
    pod.devices = std::make_shared<const PodDevices>(PodDevices{.claims = {"claim"}});
    auto fungible = std::make_shared<ManagedContainer>();
    fungible->container = "train";
    fungible->requested = fungible->floor = fungible->fair_share = pod.requests.main;
    fungible->demand = {Gpus(0), Cores(6), GB(40)};
    pod.fungible = std::move(fungible);
    api.Put(std::move(pod));
    state.UpsertPod(api.pod("p"));
  }
  static constexpr const char* kNamed =
      R"("resourceClaims":[{"name":"gpus","resourceClaimName":"claim"}],)";
};

TEST_F(DeviceClaimsTest, GoWhereSlicesOfferEnoughGpus) {
  state.UpsertResourceClaim(Claim(2));
  EXPECT_THAT(extender.Filter(Args(kNamed)),
              HasSubstr(R"("NodeNames":["dra"],"FailedNodes":{"plugin":)"
                        R"("Insufficient nvidia.com/gpu"})"));
  EXPECT_EQ(FreeGpus("dra"), Gpus(0)) << "the only node left is expected";
  state.UpsertResourceClaim(Claim(3));
  EXPECT_THAT(extender.Filter(Args(kNamed)), HasSubstr(R"("NodeNames":[])"));
}

TEST_F(DeviceClaimsTest, CountForAPodAlthoughAnotherOneThatWaitsSharesThem) {
  state.UpsertResourceClaim(Claim(2));
  for (const char* name : {"a", "p"}) {
    Pod pod = MakePod(name, 0, 2, 10);
    pod.devices = std::make_shared<const PodDevices>(PodDevices{.claims = {"claim"}});
    state.UpsertPod(pod);
  }
  EXPECT_THAT(extender.Filter(Args(kNamed)), HasSubstr(R"("NodeNames":["dra"])"));
}

TEST_F(DeviceClaimsTest, AreTriedAgainUntilTheWatchHasReportedTheClaim) {
  EXPECT_THAT(extender.Filter(Args(kNamed)), HasSubstr("its ResourceClaim claim is not known"));
}

TEST_F(DeviceClaimsTest, LeavePodsWithoutGpusAlone) {
  EXPECT_THAT(extender.Filter(Args("")), HasSubstr(R"("NodeNames":["plugin","dra"])"));
  ResourceClaim nic = Claim(1);
  nic.requests[0].device_class = "nic";
  state.UpsertResourceClaim(nic);
  EXPECT_THAT(extender.Filter(Args(kNamed)), HasSubstr(R"("NodeNames":["plugin","dra"])"));
}

TEST_F(DeviceClaimsTest, GetTheirDemandAtBindAlthoughTheirRequestsHaveNoGpus) {
  PutManaged();
  EXPECT_EQ(extender.Bind(BindArgs(api.pod("p"), "dra")), kBound);
  EXPECT_THAT(api.calls(), ::testing::ElementsAre("resize p cpu 6, memory 40G", "bind p dra"));
  EXPECT_EQ(FreeGpus("dra"), Gpus(1));
}

TEST_F(DeviceClaimsTest, GetTheirRequestsBackWhenTheBindFails) {
  PutManaged();
  api.Refuse("bind", {ErrorCode::kInvalid, "no"});
  EXPECT_THAT(extender.Bind(BindArgs(api.pod("p"), "dra")), HasSubstr("no"));
  EXPECT_EQ(api.pod("p").fungible->requested.cpu, Cores(2));
  EXPECT_EQ(FreeGpus("dra"), Gpus(2));
}

}  // namespace
}  // namespace synergy::extender
