#pragma once

// Answers admission reviews for the creation of pods and of Jobs in Kueue's queues, and for writes
// of TrainingProfiles. On any failure the pod or Job is admitted unchanged.
//
// Threading: any thread; only GangOwners keeps state between reviews.

#include "admission/admission.h"
#include "admission/pod_to_admit.h"
#include "controller/admission/gang_owners.h"
#include "core/clock.h"
#include "core/log.h"
#include "http/server/server.h"
#include "metrics/controller_metrics.h"

namespace synergy::controller {

class Webhook {
 public:
  // All arguments must outlive this object. `gpus_of_template`: null if GPUs of claims do not
  // count.
  Webhook(AdmissionSettings settings, const AdmissionSurroundings& surroundings, GangOwners& gangs,
          const Clock& clock, Logger& log, metrics::ControllerMetrics& metrics,
          GpusOfTemplate gpus_of_template = nullptr);

  http::Response ReviewPod(const http::Request& request);
  http::Response ReviewJob(const http::Request& request);
  http::Response ReviewProfile(const http::Request& request);

 private:
  // `within`: the time limit for reads.
  AdmissionDecision Decide(PodToAdmit pod, Duration within);
  http::Response Refuse(int status, std::string_view kind, const std::string& reason);
  void Report(std::string_view kind, const std::string& problem);

  const AdmissionSettings settings_;
  const AdmissionSurroundings& surroundings_;
  GangOwners& gangs_;
  const Clock& clock_;
  Logger& log_;
  metrics::ControllerMetrics& metrics_;
  const GpusOfTemplate gpus_of_template_;
};

}  // namespace synergy::controller
