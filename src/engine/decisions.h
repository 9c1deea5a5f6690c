#pragma once

// Records the decisions of the programs in the cluster. Each record holds everything that the
// decision read, so that a replay can repeat the decision and compare. A decision that read the
// cluster names the version of its snapshot; cluster_journal.h reconstructs that version.
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
#include "engine/tuner/tuner.h"
#include "profile/training_profile.h"

namespace synergy {

namespace decision {

// A request of kube-scheduler about one pod.
struct Asked {
  Pod pod;                              // as read from the request
  std::vector<std::string> nodes;       // names
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
  std::vector<std::string> avoided = {};  // the argument of RankNodes()
};

struct Bind {
  uint64_t version = 0;
  Pod pod;  // as known
  std::string node;
  ReserveRule reserve;
  ResourceVector planned;                // what the whole pod should take there
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

// All that is known of storage from this point on.
struct StorageReported {
  StorageFacts facts;
};

// The GPU reservations from this point on.
struct ReservationsReported {
  std::vector<GpuReservation> reservations;
};

struct TunerDecided {
  uint64_t version = 0;
  // How many items of news (PodNews) the tuner processed for this decision: in order, those that
  // follow the items of the previous decision, or a KeepNews (cluster_journal.h).
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

class DecisionJournal {
 public:
  virtual ~DecisionJournal() = default;
  virtual void Wrote(const Decision& decision) = 0;
};

}  // namespace synergy
