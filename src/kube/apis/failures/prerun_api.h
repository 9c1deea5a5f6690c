#pragma once

// Runs trials of waiting Jobs, and stops Jobs whose trials failed. Tests replace it with a
// simulated cluster.
//
// Threading: any thread. Failures: as in ApiClient; kConflict if the object has changed since it
// was read, or if a trial exists; kNotFound if the object is gone.

#include <memory>
#include <stop_token>
#include <string>

#include "core/result.h"
#include "kube/api_client.h"
#include "wire/kueue/prerun.h"

namespace synergy::kube {

class PrerunApi {
 public:
  virtual ~PrerunApi() = default;

  // Returns whether there is a PriorityClass of this name.
  virtual Result<bool> HasPriorityClass(const std::string& name, std::stop_token stop) = 0;
  // Returns a Job as JSON text.
  virtual Result<std::string> ReadJob(const std::string& its_namespace, const std::string& name,
                                      std::stop_token stop) = 0;
  // Creates the trial with this text (wire::WriteTrial()).
  virtual Result<> Begin(const std::string& its_namespace, const std::string& trial,
                         std::stop_token stop) = 0;
  virtual Result<> End(const PrerunTrial& trial, std::stop_token stop) = 0;
  // Do what wire::WriteTrialNote() and wire::WritePrerunStop() describe.
  virtual Result<> Note(const PrerunWorkload& workload, const std::string& trial_uid,
                        std::stop_token stop) = 0;
  virtual Result<> Stop(const PrerunWorkload& workload, const std::string& trial_uid,
                        std::stop_token stop) = 0;
};

// The clients must outlive the result; `writing` refuses to write without the leader's lease.
std::unique_ptr<PrerunApi> MakePrerunApi(ApiClient& reading, ApiClient& writing);

}  // namespace synergy::kube
