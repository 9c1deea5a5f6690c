#pragma once

// Chooses the GPU type on which each workload has its turn, for RoundPolicies that choose types
// (docs/internals/gavel.md). gavel/type_rounds.h decides, using the speeds of gpu_type_speeds.h.
//
// Users' priority classes take precedence: each class is decided separately, and gets the GPUs that
// higher classes leave.
//
// Threading: one owner. Failures: if something that the policy needs is missing, the error names
// the field of the RoundPolicy, and none of its workloads has a turn.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/clock.h"
#include "core/result.h"
#include "gavel/policies/policies.h"
#include "gavel/type_rounds.h"
#include "queues/planner/type_chooser.h"
#include "queues/round_policy.h"
#include "queues/rounds.h"
#include "queues/types/gpu_type_speeds.h"

namespace synergy {

class GpuTypePlanner final : public TypeChooser {
 public:
  // `speeds` must outlive this object. `make` creates a policy by its name.
  GpuTypePlanner(GpuTypeSpeeds& speeds, GavelPolicyMaker make) : speeds_(speeds), make_(make) {}

  void StartOver() override;
  void Keep(const std::set<std::string>& policies) override;
  Result<> Decide(const RoundPolicy& policy, const Rounds& rounds,
                  std::span<const TypedWorkload> workloads, const std::set<std::string>& ours,
                  bool begins, Moment at) override;
  const GpuTypeTurn* Of(const std::string& uid) const override;
  const std::map<std::string, ProductGpus>& gpus() const override { return gpus_; }
  std::string ProductOf(std::string_view node) const override { return speeds_.ProductOf(node); }

 private:
  struct Divided {
    std::vector<std::string> types;
    std::string policy;                                     // type_policies.h
    std::map<int64_t, TypeRounds, std::greater<>> classes;  // by priority, the highest first
  };
  struct Kept {
    std::optional<double> steps_left;  // in the unit of its speeds times seconds
    std::optional<Instant> looked;
    GpuTypeTurn turn;
    bool decided = false;  // since the last Keep()
  };

  Result<> Divide(const RoundPolicy& policy, const Rounds& rounds,
                  std::span<const TypedWorkload> workloads, const std::set<std::string>& ours,
                  bool begins, Moment at);
  // Returns the products, fastest first, which is the order in which their GPUs are divided.
  std::vector<std::string> Order(const std::set<std::string>& products) const;
  TypedJob ToJob(const TypedWorkload& workload, const Rounds& rounds,
                 const std::vector<std::string>& types, Moment at, Kept& kept) const;

  GpuTypeSpeeds& speeds_;
  const GavelPolicyMaker make_;
  std::map<std::string, Divided> policies_;  // by UID
  std::unordered_map<std::string, Kept> kept_;
  std::map<std::string, ProductGpus> gpus_;
};

}  // namespace synergy
