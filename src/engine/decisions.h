#pragma once

// Defines the records of decisions by the extender and the tuner. Each record contains all inputs
// of the decision, so that a replay can repeat the decision and compare the results. If the
// cluster's state is an input, the record contains the version of the snapshot; cluster_journal.h
// reconstructs that version.
//
// Threading: values. Each journal documents which threads may call it.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "allocation/best_fit.h"
#include "allocation/preemption.h"
#include "cluster/node.h"
#include "cluster/pod.h"
#include "cluster/state/cluster_snapshot.h"
#include "core/clock.h"
#include "core/resources.h"
#include "engine/reservations/gpu_reservations.h"
#include "engine/reservations/passing_check.h"
#include "engine/storage/measured_storage.h"
#include "engine/storage/published_storage.h"
#include "engine/tuner/tuner.h"
#include "profile/training_profile.h"

namespace synergy {

namespace decision {

// A request from kube-scheduler about one pod.
struct Asked {
  Pod pod;                              // as read from the request
  std::vector<std::string> nodes;       // the names of the requested nodes
  std::vector<Node> sent;               // those of `nodes` that the cluster state lacked
  std::optional<NodeIndex> counted_on;  // by CountedAt() of candidates.h
};

struct Filter {
  uint64_t version = 0;
  Asked asked;
  std::vector<std::string> fitting;
  std::optional<PassingTerms> passing = std::nullopt;  // if GPUs are reserved
};

struct Prioritize {
  uint64_t version = 0;
  Asked asked;
  ReserveRule reserve;
  double slack = 0;             // the argument of Ranking::GivePoints()
  std::vector<int32_t> points;  // by position in asked.nodes
  std::optional<NodeIndex> best;
  // Arguments of RankNodes().
  std::vector<std::string> avoided = {};
  std::optional<PlacementStorage> storage = std::nullopt;
};

struct Bind {
  uint64_t version = 0;
  Pod pod;  // as in the cluster state
  std::string node;
  ReserveRule reserve;
  ResourceVector planned;                // the planned requests of the whole pod
  std::optional<ResourceVector> common;  // the argument of PlanAtBind() of bind_allocation.h
};

struct PreemptionVictims {
  std::string node;
  std::vector<std::string> uids;
  int64_t disruption_budget_violations = 0;  // by the chosen victims
};

std::vector<PreemptionVictims> Describe(const std::vector<NodeVictims>& chosen);

struct Preempt {
  uint64_t version = 0;
  Pod pod;
  std::vector<PreemptionVictims> proposed;
  std::optional<WallTime> reclaims_at;  // the argument of SelectVictims() of preemption.h
  std::vector<PreemptionVictims> chosen;
  std::optional<PassingTerms> passing = std::nullopt;  // if GPUs are reserved
};

// The tuner's settings from this point on.
struct TunerSet {
  TunerSettings settings;
};

struct HeldProfile {
  std::string profile_namespace;
  std::string name;
  int64_t generation = 0;
  bool measured = false;                    // measured by Synergy
  std::optional<TrainingProfile> training;  // nullopt: invalid
};

// All profiles that exist from this point on.
struct ProfilesHeld {
  uint64_t profiles_version = 0;
  std::vector<HeldProfile> profiles;
};

struct TunerStartedOver {
  Moment at;
};

// The idle pods from this point on.
struct IdleReported {
  std::map<std::string, IdlePod> pods;  // by uid
};

// The known facts about storage from this point on.
struct StorageReported {
  StorageFacts facts;
};

// The GPU reservations from this point on.
struct ReservationsReported {
  std::vector<GpuReservation> reservations;
};

struct TunerDecided {
  uint64_t version = 0;
  // The number of PodNews items that the tuner processed for this decision. They are the next items
  // after those of the previous decision, or after a KeepNews (cluster_journal.h).
  uint64_t news = 0;
  Moment at;
  uint64_t first = 0;  // number of the first action; the others follow consecutively
  std::vector<TunerAction> actions;
  Instant wake{};
  bool round = false;
};

struct TunerLearned {
  uint64_t action = 0;  // its number
  bool done = false;
  Moment at;
};

}  // namespace decision

using Decision =
    std::variant<decision::Filter, decision::Prioritize, decision::Bind, decision::Preempt,
                 decision::TunerSet, decision::ProfilesHeld, decision::TunerStartedOver,
                 decision::TunerDecided, decision::TunerLearned, decision::IdleReported,
                 decision::StorageReported, decision::ReservationsReported>;

// Receives each decision once it has been made.
class DecisionJournal {
 public:
  virtual ~DecisionJournal() = default;
  virtual void Wrote(const Decision& decision) = 0;
};

}  // namespace synergy
