#include "wire/admission/admission_review.h"

#include <utility>

#include <fmt/format.h>

#include "cluster/annotations.h"
#include "cluster/gang_name.h"
#include "core/text/quantity_text.h"
#include "json/text.h"
#include "wire/admission/admission_objects.h"
#include "wire/base/json_words.h"
#include "wire/kueue/kueue.h"
#include "wire/objects/object_readers.h"
#include "wire/objects/objects.h"

namespace synergy::wire {
namespace {

constexpr std::string_view kVersion = "admission.k8s.io/v1";
constexpr std::string_view kGroup = "admission.k8s.io/";

// The longest message that kubectl shows in full; kube-apiserver passes on 4096 bytes in total.
constexpr size_t kMostWarningBytes = 1024;

// The same limits as for a watched object (objects.cc). The identity of the review precedes the
// object.
constexpr std::string_view kVital[] = {"request"};
constexpr ReadRules kRules{.only = {},
                           .most_values = size_t{1} << 16,
                           .vital = kVital,
                           .most_vital_values = size_t{1} << 17};

struct Envelope {
  Document document;
  ReviewHead head;
  Value request;
  Value object;
  std::string problem;
  std::string_view problem_kind;
};

Result<Envelope> ReadEnvelope(std::string_view text) {
  Result<Document> document = Document::Parse(text, kRules);
  if (!document) return Fail(document.error());
  Envelope envelope;
  envelope.document = std::move(*document);
  const Value root = envelope.document.root();
  const std::string_view version = root["apiVersion"].text();
  if (root["kind"].text() != "AdmissionReview" || !version.starts_with(kGroup)) {
    return Fail(ErrorCode::kInvalid,
                fmt::format("not an AdmissionReview of {} but {} of {}", kVersion,
                            Quoted(root["kind"].text()), Quoted(version)));
  }
  envelope.request = root["request"];
  envelope.head.api_version = version;
  if (const Value uid = envelope.request["uid"]; uid.IsString()) envelope.head.uid = uid.text();
  // A review without a UID cannot be answered.
  if (envelope.head.uid.empty()) return Fail(ErrorCode::kInvalid, "request.uid: is missing");
  envelope.object = envelope.request["object"];
  if (version != kVersion) {
    envelope.problem_kind = "version";
    envelope.problem = fmt::format("{} is not {}", Quoted(version), kVersion);
  } else if (envelope.document.cut()) {
    envelope.problem_kind = "object";
    envelope.problem = fmt::format("request.object: has more than {} values", kRules.most_values);
  } else if (!envelope.object.IsObject()) {
    envelope.problem_kind = "object";
    envelope.problem =
        fmt::format("request.object: must be an object, not {}", envelope.object.DescribeKind());
  }
  return envelope;
}

// `what`: "a pod".
void ExpectCreation(Envelope& envelope, std::string_view what) {
  const Value request = envelope.request;
  if (!envelope.problem.empty()) return;
  if (request["operation"].text() == "CREATE" && request["subResource"].text().empty()) return;
  envelope.problem_kind = "operation";
  envelope.problem = fmt::format("operation {} is not the creation of {}",
                                 Quoted(request["operation"].text()), what);
}

void Describe(const FieldReader& fields, Envelope& envelope) {
  if (fields.ok()) return;
  envelope.problem_kind = "object";
  envelope.problem = fields.findings().front();
}

}  // namespace

struct PodReview::State {
  Envelope envelope;
  PodToAdmit to_admit;
};

PodReview::PodReview(std::shared_ptr<const State> state) : state_(std::move(state)) {}

Result<PodReview> PodReview::Read(std::string_view text, std::string_view gpu_resource) {
  Result<Envelope> envelope = ReadEnvelope(text);
  if (!envelope) return Fail(envelope.error());
  auto state = std::make_shared<State>();
  state->envelope = std::move(*envelope);
  // Only creations count, because admission does not set the amounts of a running pod.
  ExpectCreation(state->envelope, "a pod");
  if (state->envelope.problem.empty()) {
    FieldReader fields(state->envelope.object);
    state->to_admit =
        ReadPodToAdmit(fields, state->envelope.object,
                       std::string(state->envelope.request["namespace"].text()), gpu_resource);
    Describe(fields, state->envelope);
  }
  return PodReview(std::move(state));
}

const ReviewHead& PodReview::head() const { return state_->envelope.head; }
const std::string& PodReview::problem() const { return state_->envelope.problem; }
std::string_view PodReview::problem_kind() const { return state_->envelope.problem_kind; }
const PodToAdmit& PodReview::pod() const { return state_->to_admit; }

std::string PodReview::WritePatch(const AdmissionDecision& decision,
                                  const AdmissionSettings& settings) const {
  const Value pod = state_->envelope.object;
  JsonPatch patch(pod);
  if (decision.figures) {
    SetFigures(patch, pod, *decision.figures, settings);
  } else if (decision.outcome != AdmissionOutcome::kExcludedNamespace) {
    RemoveClaims(patch, pod);
  }
  // Add no warnings to a pod of an excluded namespace, or if its annotations are full.
  const bool silent = decision.outcome == AdmissionOutcome::kExcludedNamespace ||
                      decision.outcome == AdmissionOutcome::kFullAnnotations;
  if (!silent) SetWarnings(patch, decision.warnings);
  if (decision.gang_size > 0) {
    patch.SetText({"metadata", "labels", std::string(annotations::kGangSize)},
                  fmt::format("{}", decision.gang_size));
    const auto set = [&](std::string_view label, const std::string& text) {
      if (!text.empty()) patch.SetText({"metadata", "labels", std::string(label)}, text);
    };
    set(annotations::kGang, decision.gang_name);
    set(kGangWithinLabel, decision.gang_within);
  }
  return patch.Write();
}

namespace {

// Sets the requests that the container leaves out to its limits. The API server does so for pods,
// but not for templates.
void FillRequests(GpuContainer& container) {
  for (WrittenAmounts* const amounts : {&container.written, &container.asks}) {
    if (!amounts->cpu_request) amounts->cpu_request = amounts->cpu_limit;
    if (!amounts->memory_request) amounts->memory_request = amounts->memory_limit;
  }
}

}  // namespace

struct JobReview::State {
  Envelope envelope;
  bool counted = false;
  PodToAdmit pod;
};

JobReview::JobReview(std::shared_ptr<const State> state) : state_(std::move(state)) {}

Result<JobReview> JobReview::Read(std::string_view text, std::string_view gpu_resource) {
  Result<Envelope> envelope = ReadEnvelope(text);
  if (!envelope) return Fail(envelope.error());
  auto state = std::make_shared<State>();
  state->envelope = std::move(*envelope);
  ExpectCreation(state->envelope, "a Job");
  if (state->envelope.problem.empty()) {
    FieldReader fields(state->envelope.object);
    const Value metadata = fields.Object(state->envelope.object["metadata"]);
    const Value spec = fields.Object(state->envelope.object["spec"]);
    state->counted = !fields.Text(fields.Object(metadata["labels"])[kQueueLabel]).empty();
    fields.Array(metadata["ownerReferences"]).ForEachElement([&](Value reference) {
      reference = fields.Object(reference);
      // Kueue counts the owner instead, unless it does not support the owner's kind.
      if (fields.Truth(reference["controller"]) && fields.Text(reference["kind"]) != "CronJob")
        state->counted = false;
    });
    state->pod =
        ReadPodToAdmit(fields, fields.Object(spec["template"]),
                       std::string(state->envelope.request["namespace"].text()), gpu_resource);
    for (GpuContainer& container : state->pod.gpu_containers) FillRequests(container);
    for (ClaimingContainer& claiming : state->pod.claiming_containers)
      FillRequests(claiming.container);
    Describe(fields, state->envelope);
  }
  return JobReview(std::move(state));
}

const ReviewHead& JobReview::head() const { return state_->envelope.head; }
const std::string& JobReview::problem() const { return state_->envelope.problem; }
std::string_view JobReview::problem_kind() const { return state_->envelope.problem_kind; }
bool JobReview::counted() const { return state_->counted; }
const PodToAdmit& JobReview::pod() const { return state_->pod; }

std::string JobReview::WritePatch(const TemplateRequests& requests) const {
  JsonPatch patch(state_->envelope.object);
  const auto set = [&](const char* name, const auto& amount) {
    if (!amount) return;
    patch.SetText({"spec", "template", "spec", "containers", fmt::format("{}", requests.container),
                   "resources", "requests", name},
                  ToQuantityText(*amount));
  };
  set("cpu", requests.cpu);
  set("memory", requests.memory);
  return patch.Write();
}

Result<ProfileReview> ReadProfileReview(std::string_view text) {
  Result<Envelope> envelope = ReadEnvelope(text);
  if (!envelope) return Fail(envelope.error());
  ProfileReview review{envelope->head, envelope->problem, envelope->problem_kind, {}};
  FieldReader fields(envelope->object);
  if (review.problem.empty()) review.object = ReadProfileObject(fields, envelope->object);
  return review;
}

std::string WriteReviewAnswer(const ReviewHead& head, const ReviewAnswer& answer) {
  std::string out = R"({"apiVersion":)";
  AppendJsonString(out, head.api_version);
  out += R"(,"kind":"AdmissionReview","response":{"uid":)";
  AppendJsonString(out, head.uid);
  out += answer.allowed ? R"(,"allowed":true)" : R"(,"allowed":false)";
  if (!answer.allowed) {
    out += R"(,"status":{"code":422,"reason":"Invalid","message":)";
    AppendJsonString(out, answer.message);
    out += '}';
  }
  if (answer.allowed && answer.patch != "[]")
    out += R"(,"patchType":"JSONPatch","patch":")" + json::ToBase64(answer.patch) + '"';
  if (!answer.warnings.empty()) {
    out += R"(,"warnings":[)";
    for (size_t i = 0; i < answer.warnings.size(); ++i) {
      if (i != 0) out += ',';
      AppendJsonString(out, std::string_view(answer.warnings[i]).substr(0, kMostWarningBytes));
    }
    out += ']';
  }
  return out + "}}";
}

}  // namespace synergy::wire
