#include "controller/admission/webhook.h"

#include <charconv>
#include <chrono>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "core/text/quantity_text.h"
#include "wire/admission/admission_review.h"

namespace synergy::controller {
namespace {

constexpr int kMostTimeout = 30;  // seconds; Kubernetes' limit

http::Response Answer(std::string body) { return {200, "application/json", std::move(body)}; }

bool IsJson(std::string_view content_type) {
  return content_type.substr(0, content_type.find(';')) == "application/json";
}

// Returns two thirds of the API server's timeout, which the query contains ("timeout=3s").
Duration TimeForReads(const http::Request& request) {
  const std::string_view text = request.Parameter("timeout");
  int seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  const bool is_read = error == std::errc() && seconds > 0 && seconds <= kMostTimeout &&
                       std::string_view(end, text.data() + text.size()) == "s";
  return is_read ? Duration(std::chrono::seconds(seconds)) * 2 / 3 : GangOwners::kReads;
}

}  // namespace

Webhook::Webhook(AdmissionSettings settings, const AdmissionSurroundings& surroundings,
                 GangOwners& gangs, const Clock& clock, Logger& log,
                 metrics::ControllerMetrics& metrics, GpusOfTemplate gpus_of_template)
    : settings_(std::move(settings)),
      surroundings_(surroundings),
      gangs_(gangs),
      clock_(clock),
      log_(log),
      metrics_(metrics),
      gpus_of_template_(std::move(gpus_of_template)) {}

void Webhook::Report(std::string_view kind, const std::string& problem) {
  metrics_.CountBadInput(kind);
  log_.Warn("bad review", {{"kind", kind}, {"problem", problem}});
}

http::Response Webhook::Refuse(int status, std::string_view kind, const std::string& reason) {
  Report(kind, reason);
  return {status, "text/plain; charset=utf-8", reason + "\n"};
}

AdmissionDecision Webhook::Decide(PodToAdmit pod, Duration within) {
  if (gpus_of_template_) pod = WithClaimedGpus(std::move(pod), gpus_of_template_);
  AdmissionDecision decision = Admit(pod, surroundings_, settings_);
  if (!MayJoinGang(pod, decision.outcome, settings_)) return decision;
  ResolvedGang resolved = gangs_.SizeFor(pod, within);
  if (resolved.size > 1 || resolved.overrules) {
    // Admit again, because measured profiles apply to only one gang size.
    pod.gang_size = resolved.size;
    decision = Admit(pod, surroundings_, settings_);
    decision.gang_size = resolved.size;
    decision.gang_name = std::move(resolved.name);
    decision.gang_within = std::move(resolved.within);
  }
  if (!resolved.warning.empty()) decision.warnings.push_back(std::move(resolved.warning));
  return decision;
}

http::Response Webhook::ReviewPod(const http::Request& request) {
  const Instant start = clock_.Now();
  if (!IsJson(request.content_type)) {
    return Refuse(415, "content_type",
                  fmt::format("\"{}\" is not application/json", request.content_type));
  }
  const Result<wire::PodReview> review =
      wire::PodReview::Read(request.body, settings_.gpu_resource);
  if (!review) return Refuse(400, "json", review.error().message);

  wire::ReviewAnswer answer;
  std::string_view outcome = "unreadable";
  if (!review->problem().empty()) {
    Report(review->problem_kind(), review->problem());
    answer.warnings.push_back("synergy: the pod stays as written: " + review->problem());
  } else {
    const PodToAdmit& pod = review->pod();
    AdmissionDecision decision = Decide(pod, TimeForReads(request));
    outcome = ToString(decision.outcome);
    answer.patch = review->WritePatch(decision, settings_);
    if (decision.outcome != AdmissionOutcome::kNoGpus) {
      log_.Info("pod reviewed", {{"namespace", pod.pod_namespace},
                                 {"review", review->head().uid},
                                 {"outcome", outcome},
                                 {"warnings", decision.warnings.size()}});
    }
    answer.warnings = std::move(decision.warnings);
  }
  std::string body = wire::WriteReviewAnswer(review->head(), answer);
  metrics_.CountPodReview(outcome, clock_.Now() - start);
  return Answer(std::move(body));
}

http::Response Webhook::ReviewJob(const http::Request& request) {
  if (!IsJson(request.content_type)) {
    return Refuse(415, "content_type",
                  fmt::format("\"{}\" is not application/json", request.content_type));
  }
  const Result<wire::JobReview> review =
      wire::JobReview::Read(request.body, settings_.gpu_resource);
  if (!review) return Refuse(400, "json", review.error().message);
  wire::ReviewAnswer answer;
  if (!review->problem().empty()) {
    Report(review->problem_kind(), review->problem());
    answer.warnings.push_back("synergy: the Job stays as written: " + review->problem());
    metrics_.CountJobReview("unreadable");
  } else {
    if (review->counted())
      answer.patch = review->WritePatch(SizeTemplate(review->pod(), surroundings_, settings_));
    metrics_.CountJobReview(answer.patch == "[]" ? "left" : "sized");
  }
  return Answer(wire::WriteReviewAnswer(review->head(), answer));
}

http::Response Webhook::ReviewProfile(const http::Request& request) {
  if (!IsJson(request.content_type)) {
    return Refuse(415, "content_type",
                  fmt::format("\"{}\" is not application/json", request.content_type));
  }
  const Result<wire::ProfileReview> review = wire::ReadProfileReview(request.body);
  if (!review) return Refuse(400, "json", review.error().message);
  wire::ReviewAnswer answer;
  if (!review->problem.empty()) {
    Report(review->problem_kind, review->problem);
    metrics_.CountProfileReview("unreadable");
  } else if (!review->object.problems.empty()) {
    metrics_.CountProfileReview("invalid");
    answer.allowed = false;
    answer.message = fmt::format("{}", fmt::join(review->object.problems, "; "));
  } else {
    metrics_.CountProfileReview("valid");
    // A TrainingProfile that has no measured points yet has no profile.
    if (const auto& profile = review->object.profile) {
      for (const std::string& warning : profile->warnings())
        answer.warnings.push_back("spec.points: " + warning);
    }
  }
  return Answer(wire::WriteReviewAnswer(review->head, answer));
}

}  // namespace synergy::controller
