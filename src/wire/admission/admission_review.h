#pragma once

// AdmissionReview (admission.k8s.io/v1): what the API server asks about an object that is being
// created or changed, and the answers.
//
// Threading: pure; a review is immutable. Failures: kInvalid where the text is no review that could
// be answered at all. Everything else that is wrong with one is told by the review itself, so that
// its object can be let through.

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "admission/admission.h"
#include "admission/pod_to_admit.h"
#include "core/result.h"
#include "profile/profile_object.h"

namespace synergy::wire {

// What an answer repeats.
struct ReviewHead {
  std::string api_version;
  std::string uid;
};

class PodReview {
 public:
  static Result<PodReview> Read(std::string_view text, std::string_view gpu_resource);

  const ReviewHead& head() const;
  // Empty where the pod can be judged; else why not: "admission.k8s.io/v1beta1 ...", "object: is
  // missing", "object.spec.containers: must be an array, not a string".
  const std::string& problem() const;
  // One of few fixed words for it: "version", "operation", "object".
  std::string_view problem_kind() const;
  // Not when there is a problem.
  const PodToAdmit& pod() const;
  // The JSON Patch that makes the pod what was decided, "[]" where it is that already. A pod that
  // is left as written loses what would pass for our words about it.
  std::string WritePatch(const AdmissionDecision& decision,
                         const AdmissionSettings& settings) const;

 private:
  struct State;
  explicit PodReview(std::shared_ptr<const State> state);
  std::shared_ptr<const State> state_;
};

struct ProfileReview {
  ReviewHead head;
  std::string problem;  // as PodReview's
  std::string_view problem_kind;
  ProfileObject object;  // empty where there is a problem
};
Result<ProfileReview> ReadProfileReview(std::string_view text);

struct ReviewAnswer {
  bool allowed = true;
  std::string patch = "[]";
  std::vector<std::string> warnings;
  std::string message;  // of a refusal
};
std::string WriteReviewAnswer(const ReviewHead& head, const ReviewAnswer& answer);

}  // namespace synergy::wire
