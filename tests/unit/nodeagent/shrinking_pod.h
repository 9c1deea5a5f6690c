#pragma once

// A pod with one container whose limit has to decrease from 200 MiB to 100 MiB.

#include "wire/objects/resize_status.h"

namespace synergy::nodeagent {

inline wire::ResizeStatus ShrinkingPod() {
  wire::ResizeStatus pod;
  pod.uid = "uid-1";
  pod.pod_namespace = "team";
  pod.name = "job";
  pod.generation = 2;
  pod.qos_class = wire::QosClass::kBurstable;
  pod.managed = true;
  pod.containers.push_back({"train", "containerd://90d9", MiB(100), MiB(200)});
  pod.resize_in_progress = wire::ResizeStatus::Condition{};
  return pod;
}

}  // namespace synergy::nodeagent
