#include "cli/simulate/job_profiles.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include <fmt/format.h>

#include "allocation/fair_share.h"

namespace synergy::cli {
namespace {

// Gandiva (OSDI'18) measures how soon a job becomes useful by its first 100 iterations.
constexpr double kFirstIterations = 100;

}  // namespace

JobProfiles::JobProfiles(const ModelFacts& facts, const PresentCluster* cluster,
                         FindMeasured before_facts)
    : facts_(facts), cluster_(cluster), before_facts_(std::move(before_facts)) {}

Result<const JobProfile*> JobProfiles::Find(const std::string& model, Gpus gpus) {
  const auto found = profiles_.find({model, gpus.count()});
  if (found != profiles_.end()) return &found->second;
  auto profile = Measured(model);
  if (profile && profile->gpus() != gpus) profile = Scaled(*profile, gpus);
  if (!profile) {
    return Fail(ErrorCode::kInvalid,
                fmt::format("the profile of {}: {}", model, profile.error().message));
  }
  return &profiles_.emplace(std::pair(model, gpus.count()), std::move(*profile)).first->second;
}

Result<JobProfile> JobProfiles::Measured(const std::string& model) const {
  const ProfileObject* object = cluster_ == nullptr ? nullptr : cluster_->FindProfile(model);
  const JobProfile* before = before_facts_ && object == nullptr ? before_facts_(model) : nullptr;
  if (before != nullptr) return *before;
  if (object == nullptr) object = facts_.FindObject(model);
  if (object != nullptr && object->profile) return *object->profile;
  if (object != nullptr) {
    return Fail(ErrorCode::kInvalid,
                fmt::format("TrainingProfile {}: {}", object->Key(),
                            object->problems.empty() ? "nothing was measured yet"
                                                     : object->problems.front()));
  }
  if (const ModelFact* fact = facts_.Find(model, Gpus(1))) return ProfileOf(*fact);
  return Fail(ErrorCode::kInvalid,
              cluster_ == nullptr
                  ? "the file of --profiles has no such profile"
                  : fmt::format("neither namespace {} nor the file of --profiles has one",
                                cluster_->pod_namespace));
}

Seconds JobProfiles::IterationTime(const TraceJob& job) const {
  if (job.iteration_time > Seconds(0)) return job.iteration_time;
  const ModelFact* fact = facts_.Find(job.model, Gpus(1));
  return fact == nullptr ? Seconds(0) : fact->iteration_time;
}

Result<std::vector<Job>> ToJobs(const TraceWorkload& workload, double load,
                                const ResourceVector& server, JobProfiles& profiles) {
  std::vector<Job> jobs;
  jobs.reserve(workload.jobs.size());
  for (const TraceJob& from : workload.jobs) {
    const auto profile = profiles.Find(from.model, from.gpus);
    if (!profile) return Fail(profile.error());
    const ResourceVector fair = FairShareOf(server, server.gpus, Gpus(1));
    Job job;
    job.id = static_cast<uint64_t>(from.id);
    job.gpus = from.gpus;
    job.profile = *profile;
    job.demand = job.profile->Demand(0);
    job.fair_throughput =
        job.profile->ThroughputAt(fair.cpu * from.gpus.count(), fair.memory * from.gpus.count());
    job.arrival = from.arrival / load;
    job.ideal = from.duration > Seconds(0)
                    ? from.duration
                    : profiles.IterationTime(from) * static_cast<double>(from.total_iterations);
    if (job.ideal <= Seconds(0) || job.fair_throughput <= 0) {
      return Fail(ErrorCode::kInvalid,
                  fmt::format("{}: job {} has no work to do: its iterations or their time are 0",
                              workload.name, from.id));
    }
    job.first_part =
        job.ideal * std::min(1.0, kFirstIterations / static_cast<double>(std::max(
                                                         from.total_iterations, int64_t{1})));
    jobs.push_back(std::move(job));
  }
  return jobs;
}

}  // namespace synergy::cli
