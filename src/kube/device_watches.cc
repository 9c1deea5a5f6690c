#include "kube/device_watches.h"

#include <utility>

namespace synergy::kube {
namespace {

constexpr const char* kResourcePath = "/apis/resource.k8s.io/v1";

}  // namespace

void DeviceWatches::Start(Watches& watches, DeviceRules rules,
                          ObjectStore<ResourceClaimTemplate>* templates) {
  const Result<std::string> served = client_.Get(kResourcePath);
  if (!served && served.error().code == ErrorCode::kNotFound) {
    log_.Warn("GPUs in ResourceClaims are not counted: the API server has no resource.k8s.io/v1",
              {{"cure", "use Kubernetes 1.34 or newer, or set dra.enabled to false"}});
    return;
  }
  state_.CountDevices(std::move(rules));
  const std::string path(kResourcePath);
  watches.Start("deviceclasses", path + "/deviceclasses", classes_);
  watches.Start("resourceslices", path + "/resourceslices", slices_);
  watches.Start("resourceclaims", path + "/resourceclaims", claims_);
  if (templates != nullptr)
    watches.Start("resourceclaimtemplates", path + "/resourceclaimtemplates", *templates);
}

}  // namespace synergy::kube
