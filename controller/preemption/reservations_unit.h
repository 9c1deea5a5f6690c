#pragma once

// Gives GPU reservations: it watches the times of the scheduler's pods, and runs ReservationDriver
// while this replica leads and sees these times. With an autoscaler, it also watches the
// autoscaler's events about new nodes for pods, and protects reserved nodes from scale-down.
//
// Threading: one owner constructs, starts and stops it; it has its own thread and the watch's.

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "config/controller_config.h"
#include "controller/cluster/api_clients.h"
#include "controller/cluster/keyed_store.h"
#include "controller/cluster/leader_loop.h"
#include "controller/cluster/leadership.h"
#include "controller/cluster/watched_cluster.h"
#include "controller/preemption/node_guard_keeper.h"
#include "controller/preemption/reservation_driver.h"
#include "controller/preemption/scale_ups.h"
#include "core/clock.h"
#include "core/log.h"
#include "engine/reservations/autoscaling.h"
#include "engine/reservations/gpu_reservations.h"
#include "kube/apis/events.h"
#include "kube/apis/node_guard_api.h"
#include "kube/apis/pod_api.h"
#include "kube/watches.h"
#include "wire/objects/objects.h"
#include "wire/pods/gpu_reservation.h"

namespace synergy::controller {

class ReservationsUnit {
 public:
  // Receives the reservations in force after each step, in the unit's thread.
  using Report = std::function<void(std::vector<GpuReservation> reservations)>;

  // All references must outlive this object.
  ReservationsUnit(const config::ControllerConfig& config, const ApiClients& clients,
                   const wire::ObjectReader& reader, WatchedCluster& cluster,
                   TrainingEnds::ProgressOf progress, Report report, kube::PodApi& pod_api,
                   kube::EventRecorder& events, const Leadership& leadership, const Clock& clock,
                   Logger& log);

  // Does nothing without reservations.enabled.
  void Start();
  // Ends the acting thread first, and then the watch.
  void Stop();

 private:
  const bool enabled_;
  const bool has_autoscaler_;
  const std::string scheduler_name_;
  const std::unique_ptr<kube::NodeGuardApi> guard_api_;
  KeyedStore<wire::PodTimes> times_;
  std::array<ScaleUps, kScaleUpReasons.size()> scale_ups_;
  ReservationDriver driver_;
  NodeGuardKeeper guards_;
  // A separate watch: without it no GPUs are reserved, but everything else continues. Declared
  // after the stores to which it writes.
  kube::Watches watches_;
  LeaderLoop loop_;
};

}  // namespace synergy::controller
