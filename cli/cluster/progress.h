#pragma once

// How far pods are, as synergy-controller knows it from the node agents: asked through the API
// server's proxy for services, with a token of the controller's reader, both by the user's own
// rights. And how it is shown.
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

// Which Synergy is asked.
struct ControllerAddress {
  std::string controller_namespace = "synergy-system";
  std::string service = "synergy-controller";
};

struct ProgressFacts {
  std::map<std::string, KnownProgress> by_uid;
  std::string note;    // why there is nothing, and what helps; empty: Synergy has answered
  bool lasts = false;  // who asks again is told the same: it is not there, or not allowed

  // None: nothing is known of the pod.
  std::optional<KnownProgress> Of(const std::string& uid) const;
};

class ProgressReader {
 public:
  // All outlive it.
  ProgressReader(kube::ApiClient& client, const ControllerAddress& controller, const Clock& clock)
      : client_(client), controller_(controller), clock_(clock) {}

  // Reads those of one namespace, or of all where it is empty.
  ProgressFacts Read(const std::string& pod_namespace);

 private:
  // Gets one of the account that is called like the service, with "-progress" behind it.
  Result<std::string> Token();
  Result<std::string> Ask(const std::string& pod_namespace);

  kube::ApiClient& client_;
  const ControllerAddress& controller_;
  const Clock& clock_;
  std::string token_;  // empty: none yet
  Instant asked_;      // for token_
};

// Iterations a second, or busy seconds a second where the training does not tell.
struct ShownRate {
  double amount = 0;
  bool busy = false;
};
std::optional<ShownRate> RateOf(const PodProgress& pod);
// What is done of what the training says there is, 0 to 1; none where it does not say.
std::optional<double> PartDone(const PodProgress& pod);
// For how long the training has said nothing, where that is more than two minutes.
std::optional<Duration> Silence(const KnownProgress& known);

// Columns; "-" for what is not known.
std::string RateText(
    const std::optional<KnownProgress>& known);  // "12.3/s", "12.3/s 5m ago", "~0.83 busy"
std::string DoneText(const std::optional<KnownProgress>& known);  // "37 %"
std::string LeftText(const std::optional<KnownProgress>& known);  // "51s"
// A line: "iteration 370 of 1000 (37 %), 12.3 a second, 51s left, loss 0.25 (tqdm)".
std::string ProgressText(const KnownProgress& known);
Tree ToTree(const KnownProgress& known);

}  // namespace synergy::cli
