#pragma once

// AdmissionReview (admission.k8s.io/v1): the API server's request about an object that is created
// or changed, and the response.
//
// Threading: pure; a review is immutable. Failures: kInvalid if the text is not a review that can
// be answered at all. The review itself reports every other problem, so that its object can be
// admitted.

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

// The fields that the response repeats.
struct ReviewHead {
  std::string api_version;
  std::string uid;
};

class PodReview {
 public:
  static Result<PodReview> Read(std::string_view text, std::string_view gpu_resource);

  const ReviewHead& head() const;
  // Returns why no decision about the pod is possible: "admission.k8s.io/v1beta1 ...", "object: is
  // missing", "object.spec.containers: must be an array, not a string". Returns an empty text if a
  // decision is possible.
  const std::string& problem() const;
  // Returns the problem as one of a few fixed words: "version", "operation", "object".
  std::string_view problem_kind() const;
  // REQUIRES: no problem.
  const PodToAdmit& pod() const;
  // Returns the JSON Patch that carries out the decision; "[]" if nothing changes. A pod that stays
  // as written loses annotations that look like Synergy's own.
  std::string WritePatch(const AdmissionDecision& decision,
                         const AdmissionSettings& settings) const;

 private:
  struct State;
  explicit PodReview(std::shared_ptr<const State> state);
  std::shared_ptr<const State> state_;
};

// The creation of a Job (batch/v1), whose template is sized.
class JobReview {
 public:
  static Result<JobReview> Read(std::string_view text, std::string_view gpu_resource);

  const ReviewHead& head() const;
  const std::string& problem() const;  // as in PodReview
  std::string_view problem_kind() const;
  // Returns whether Kueue counts the Job on its own: it has a queue and no controller.
  bool counted() const;
  // Returns the template as a pod. REQUIRES: no problem.
  const PodToAdmit& pod() const;
  // Returns the JSON Patch; "[]" if nothing changes.
  std::string WritePatch(const TemplateRequests& requests) const;

 private:
  struct State;
  explicit JobReview(std::shared_ptr<const State> state);
  std::shared_ptr<const State> state_;
};

struct ProfileReview {
  ReviewHead head;
  std::string problem;  // as in PodReview
  std::string_view problem_kind;
  ProfileObject object;  // empty if there is a problem
};
Result<ProfileReview> ReadProfileReview(std::string_view text);

struct ReviewAnswer {
  bool allowed = true;
  std::string patch = "[]";
  std::vector<std::string> warnings;
  std::string message;  // for a refusal
};
std::string WriteReviewAnswer(const ReviewHead& head, const ReviewAnswer& answer);

}  // namespace synergy::wire
