#include "research/baseline/proportional.h"

#include <algorithm>
#include <optional>

#include "research/baseline/packing.h"

namespace synergy {
namespace {

class Proportional final : public Allocator {
 public:
  explicit Proportional(Placing placing) : placing_(placing) {}

  Plan Allocate(std::span<const Server> servers, std::span<const Job> jobs,
                std::span<const JobIndex> order) override {
    Packing packing(servers);
    Plan plan;
    plan.shares.resize(jobs.size());
    plan.reasons.assign(jobs.size(), Unplaced::kNoGpus);
    std::vector<JobIndex> arriving;
    for (const JobIndex job : Runnable(servers, jobs, order)) {
      const std::vector<Share>& holds = jobs[job].holds;
      const bool stays =
          !holds.empty() && std::all_of(holds.begin(), holds.end(), [&](auto& share) {
            return share.server < servers.size() &&
                   share.amount.gpus <= packing.free(share.server).gpus;
          });
      if (!stays) {
        arriving.push_back(job);
        continue;
      }
      for (const Share& share : holds) Hold(packing, plan, job, share.server, share.amount.gpus);
    }
    for (const JobIndex job : arriving) Place(packing, plan, job, jobs[job].gpus);
    return plan;
  }

 private:
  static void Hold(Packing& packing, Plan& plan, JobIndex job, ServerIndex server, Gpus gpus) {
    const ResourceVector amount = FairShareOf(packing.servers()[server], gpus);
    packing.Take(server, amount);
    plan.shares[job].push_back({server, amount});
    plan.reasons[job] = Unplaced::kPlaced;
  }

  void Place(Packing& packing, Plan& plan, JobIndex job, Gpus gpus) const {
    const int64_t sign = placing_ == Placing::kPacked ? 1 : -1;
    const auto server = packing.Best(gpus, [sign](const Server&, const ResourceVector& free) {
      return std::optional(sign * free.gpus.count());
    });
    if (server) {
      Hold(packing, plan, job, *server, gpus);
      return;
    }
    // Takes the emptiest servers until one can hold the rest, so that the job uses as few as
    // possible. Runnable() leaves enough GPUs.
    const auto emptiest = packing.Best(Gpus(1), [](const Server&, const ResourceVector& free) {
      return std::optional(-free.gpus.count());
    });
    if (!emptiest) return;
    const Gpus part = std::min(gpus, packing.free(*emptiest).gpus);
    Hold(packing, plan, job, *emptiest, part);
    if (part < gpus) Place(packing, plan, job, gpus - part);
  }

  Placing placing_;
};

}  // namespace

std::unique_ptr<Allocator> MakeProportional(Placing placing) {
  return std::make_unique<Proportional>(placing);
}

}  // namespace synergy
