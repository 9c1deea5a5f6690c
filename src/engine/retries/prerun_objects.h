#pragma once

// The objects on which pre-runs depend: Kueue's Workloads and local queues, and the Jobs that are
// trials. A trial is a short copy of a Job that waits in its queue.
//
// Threading: values.
//
// This file is separate so that the readers of these objects (wire/kueue/prerun.h) do not depend on
// src/failure.

#include <optional>
#include <string>

#include "cluster/pod_failure.h"
#include "core/clock.h"

namespace synergy {

struct PrerunWorkload {
  std::string uid;
  std::string its_namespace;
  std::string name;
  std::string resource_version;
  ObjectOwner job;    // its controlling owner
  std::string queue;  // its local queue
  WallTime created{};
  bool active = true;
  bool has_quota = false;
  bool had_quota = false;  // Kueue evicted it before, so it may have run
  bool finished = false;
  std::string trial;    // the UID of its trial, once noted; empty: none
  std::string stopped;  // the UID of the trial whose failure stopped it; empty: none

  std::string Key() const { return its_namespace + "/" + name; }
  bool Waits() const { return active && !has_quota && !finished; }
};

struct PrerunQueue {
  std::string its_namespace;
  std::string name;
  std::string cluster_queue;
  std::optional<std::string> prerun;  // the annotation, as on a Job
  std::string trial_queue;            // the local queue for trials of its jobs; empty: none
  std::string trial_resource;         // the resource that trials request; empty: a GPU

  std::string Key() const { return its_namespace + "/" + name; }
};

struct PrerunTrial {
  std::string uid;
  std::string its_namespace;
  std::string name;
  std::string job_uid;    // the UID of the Job that it copies
  bool finished = false;  // it completed or failed
  bool deleting = false;

  std::string Key() const { return its_namespace + "/" + name; }
};

}  // namespace synergy
