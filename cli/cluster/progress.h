#pragma once

// Reads the progress of pods from synergy-controller, which gets it from the node agents, and
// formats it. Requests go through the API server's service proxy, with a token of the controller's
// reader; the user needs rights for both.
//
// Threading: values; a ProgressReader has one owner.

#include <map>
#include <optional>
#include <string>

#include "cli/text/tree.h"
#include "core/clock.h"
#include "core/result.h"
#include "kube/api_client.h"
#include "profile/pod_progress.h"

namespace synergy::cli {

// The controller to which requests go.
struct ControllerAddress {
  std::string controller_namespace = "synergy-system";
  std::string service = "synergy-controller";
};

struct ProgressFacts {
  std::map<std::string, KnownProgress> by_uid;
  std::string note;    // why no progress was read, and the remedy; empty if Synergy answered
  bool lasts = false;  // retrying is useless: the service does not exist, or access is denied

  // Returns nullopt if nothing is known of the pod.
  std::optional<KnownProgress> Of(const std::string& uid) const;
};

class ProgressReader {
 public:
  // All arguments must outlive this object.
  ProgressReader(kube::ApiClient& client, const ControllerAddress& controller, const Clock& clock)
      : client_(client), controller_(controller), clock_(clock) {}

  // Reads the pods of one namespace, or of all if the name is empty.
  ProgressFacts Read(const std::string& pod_namespace);

 private:
  // Returns a token of the service account that has the service's name with the suffix "-progress".
  Result<std::string> Token();
  Result<std::string> Ask(const std::string& pod_namespace);

  kube::ApiClient& client_;
  const ControllerAddress& controller_;
  const Clock& clock_;
  std::string token_;  // empty until the first request
  Instant asked_;      // when token_ was requested
};

// Iterations per second, or busy seconds per second if the training does not report iterations.
struct ShownRate {
  double amount = 0;
  bool busy = false;
};
std::optional<ShownRate> RateOf(const PodProgress& pod);
// Returns the completed fraction (0 to 1) of the training; nullopt if it does not report that.
std::optional<double> PartDone(const PodProgress& pod);
// Returns how long the training has reported nothing; nullopt if that is at most two minutes.
std::optional<Duration> Silence(const KnownProgress& known);

// Return texts for columns; "-" if unknown.
std::string RateText(
    const std::optional<KnownProgress>& known);  // "12.3/s", "12.3/s 5m ago", "~0.83 busy"
std::string DoneText(const std::optional<KnownProgress>& known);  // "37 %"
std::string LeftText(const std::optional<KnownProgress>& known);  // "51s"
// Returns a line such as "iteration 370 of 1000 (37 %), 12.3 a second, 51s left, loss 0.25 (tqdm)".
std::string ProgressText(const KnownProgress& known);
// Returns a line such as "reads 12.0 MB/s of 13.6 MB/s of disk vdb (all pods: 13.0 MB/s), waits for
// it 40 % of the time".
std::string StorageText(const StorageUse& storage);
Tree ToTree(const KnownProgress& known);

}  // namespace synergy::cli
