#pragma once

// The interface through which the queue planner chooses GPU types. With it, programs without
// policies of GPU types can use the planner. queues/types/gpu_type_planner.h implements it with
// Gavel's policies.
//
// Threading: one owner.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "core/clock.h"
#include "core/result.h"
#include "queues/kueue.h"
#include "queues/round_policy.h"
#include "queues/rounds.h"

namespace synergy {

// GPUs of one product.
struct ProductGpus {
  int64_t usable = 0;  // on schedulable nodes, less those used by pods of other workloads
  int64_t free = 0;    // on schedulable nodes, used by no pod
  int64_t total = 0;   // on schedulable nodes

  bool operator==(const ProductGpus&) const = default;
};

// A workload's present state.
struct TypedWorkload {
  std::shared_ptr<const Workload> object;
  RoundWorkload described;
  std::string on;              // product of its GPUs; empty: it has no GPUs
  bool running = false;        // all of its pods run
  Gpus unseen;                 // while it runs: its GPUs whose pods are unknown
  std::optional<double> rate;  // iterations per second, from its progress
};

struct GpuTypeTurn {
  std::string product;  // where it has its turn in this round; empty: nowhere
  std::string on;       // where it runs; empty: it does not run
  bool stays = false;   // it may not be evicted
  double place = 0;     // RoundWorkload::place
  std::string speeds;   // on each product, for people: "V100 2.0, K80 0.5 (estimate)"
  bool missed = false;  // its deadline cannot be kept
};

class TypeChooser {
 public:
  virtual ~TypeChooser() = default;

  virtual void StartOver() = 0;
  // Forgets all decisions, and all policies except those with these UIDs. Call it before the
  // policies decide again.
  virtual void Keep(const std::set<std::string>& policies) = 0;
  // Decides for all workloads of a policy's queues. `ours`: the UIDs of their pods. An error names
  // the field of the RoundPolicy, and means that none of its workloads has a turn.
  virtual Result<> Decide(const RoundPolicy& policy, const Rounds& rounds,
                          std::span<const TypedWorkload> workloads,
                          const std::set<std::string>& ours, bool begins, Moment at) = 0;
  // Returns the turn of the workload with this UID; null if there is no decision about it.
  virtual const GpuTypeTurn* Of(const std::string& uid) const = 0;
  virtual const std::map<std::string, ProductGpus>& gpus() const = 0;
  // Returns the product of a node's GPUs; empty if it has several products or is unknown.
  virtual std::string ProductOf(std::string_view node) const = 0;
};

// Refuses policies of GPU types, for programs that have none.
class NoTypeChooser final : public TypeChooser {
 public:
  void StartOver() override {}
  void Keep(const std::set<std::string>& /*policies*/) override {}
  Result<> Decide(const RoundPolicy& /*policy*/, const Rounds& /*rounds*/,
                  std::span<const TypedWorkload> /*workloads*/,
                  const std::set<std::string>& /*ours*/, bool /*begins*/, Moment /*at*/) override {
    return Fail(ErrorCode::kInvalid, "gpuTypes: this program chooses no GPU types");
  }
  const GpuTypeTurn* Of(const std::string& /*uid*/) const override { return nullptr; }
  const std::map<std::string, ProductGpus>& gpus() const override { return gpus_; }
  std::string ProductOf(std::string_view /*node*/) const override { return {}; }

 private:
  const std::map<std::string, ProductGpus> gpus_;
};

}  // namespace synergy
