// Reads any text as admission reviews: of a pod, which is decided and patched, and of a profile.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "admission/admission.h"
#include "core/check.h"
#include "json/document.h"
#include "json/text.h"
#include "support/json_tree.h"
#include "wire/admission/admission_review.h"

namespace synergy::wire {
namespace {

// A cluster with room for every pod.
class Room final : public AdmissionSurroundings {
 public:
  bool Complete() const override { return true; }
  std::string NamespaceLabel(const std::string& name, std::string_view key) const override {
    return name.empty() ? std::string() : std::string(key.substr(key.size() / 2));
  }
  std::shared_ptr<const KnownProfile> FindProfile(const std::string&,
                                                  const std::string&) const override {
    return nullptr;
  }
  MeasuredFound FindMeasured(const std::string&, const WorkloadSought&, Gpus, int32_t,
                             const std::string&, const NodeSelection&) const override {
    return {};
  }
  std::shared_ptr<const NamespaceLimits> Limits() const override {
    return std::make_shared<const NamespaceLimits>();
  }
  std::optional<ResourceVector> FairShare(const NodeSelection&, const GpuAmount& gpus,
                                          const std::string&) const override {
    return ResourceVector{gpus.gpus, Cores(3), GB(60)};
  }
};

void CheckAnswer(const std::string& answer) {
  SYNERGY_CHECK(json::Document::Parse(answer).has_value(), "an answer is JSON");
  SYNERGY_CHECK(json::IsUtf8(answer), "an answer is UTF-8");
}

void CheckText(std::string_view text) {
  static const Room room;
  static const AdmissionSettings settings;
  if (const Result<PodReview> review = PodReview::Read(text, settings.gpu_resource)) {
    ReviewAnswer answer;
    answer.warnings = {review->problem()};
    if (review->problem().empty()) {
      const AdmissionDecision decision = Admit(review->pod(), room, settings);
      answer.warnings = decision.warnings;
      answer.patch = review->WritePatch(decision, settings);
      const Result<json::Document> document = json::Document::Parse(text);
      SYNERGY_CHECK(document.has_value(), "what was read can be read");
      // The API server's decoder does not keep duplicate keys either.
      const auto tree = synergy::testing::ParseJsonTree(text);
      SYNERGY_CHECK(
          synergy::testing::ApplyPatch(tree->At("request/object"), answer.patch).has_value(),
          "the patch can be applied");
    }
    CheckAnswer(WriteReviewAnswer(review->head(), answer));
  }
  if (const Result<ProfileReview> review = ReadProfileReview(text)) {
    const ProfileObject& object = review->object;
    SYNERGY_CHECK(
        !review->problem.empty() || (object.profile == nullptr) != object.problems.empty(),
        "a profile can be used or it is said why not");
    ReviewAnswer answer;
    answer.allowed = object.problems.empty();
    if (!object.problems.empty()) answer.message = object.problems.front();
    CheckAnswer(WriteReviewAnswer(review->head, answer));
  }
}

}  // namespace
}  // namespace synergy::wire

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  synergy::wire::CheckText(std::string_view(reinterpret_cast<const char*>(data), size));
  return 0;
}
