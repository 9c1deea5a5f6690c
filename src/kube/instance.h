#pragma once

// Which of several replicas this process is, in events and leases.
//
// Threading: pure.

#include <string>

namespace synergy::kube {

// The host's name, which in a pod is the pod's.
std::string InstanceName();

}  // namespace synergy::kube
