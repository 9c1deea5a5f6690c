#include "wire/kueue/queued_job.h"

#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "core/wall_time.h"
#include "wire/base/json_words.h"
#include "wire/base/metadata.h"
#include "wire/kueue/kueue_readers.h"
#include "wire/objects/kind.h"

namespace synergy::wire {
namespace {

constexpr int64_t kMostWorkers = 10'000;
constexpr int64_t kMost = std::numeric_limits<int32_t>::max();

template <class T>
std::optional<T> ToNumber(std::string_view text) {
  T number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// Reads the annotations. Returns the problem; empty if there is none.
std::string ReadBounds(FieldReader& fields, Value annotations, QueuedJob& job) {
  const auto read = [&](std::string_view name, int64_t& out) -> std::string {
    const Value value = annotations[name];
    if (value.absent()) {
      return fmt::format("annotation {}: missing; an elastic job needs {} and {}", name,
                         kMinWorkersAnnotation, kMaxWorkersAnnotation);
    }
    const auto number = ToNumber<int64_t>(fields.Text(value));
    if (!number || *number < 1 || *number > kMostWorkers) {
      return fmt::format("annotation {}: write a whole number from 1 to {}, not \"{}\"", name,
                         kMostWorkers, fields.Text(value));
    }
    out = *number;
    return {};
  };
  int64_t least = 0;
  int64_t most = 0;
  if (std::string problem = read(kMinWorkersAnnotation, least); !problem.empty()) return problem;
  if (std::string problem = read(kMaxWorkersAnnotation, most); !problem.empty()) return problem;
  if (least > most) {
    return fmt::format("annotation {}: {} is more than the {} of {}", kMinWorkersAnnotation, least,
                       most, kMaxWorkersAnnotation);
  }
  if (const Value loss = annotations[kTargetLossAnnotation]; !loss.absent()) {
    job.target_loss = ToNumber<double>(fields.Text(loss));
    if (!job.target_loss || !std::isfinite(*job.target_loss) || *job.target_loss <= 0) {
      job.target_loss.reset();
      return fmt::format("annotation {}: write a number above 0, not \"{}\"", kTargetLossAnnotation,
                         fields.Text(loss));
    }
  }
  job.least = least;
  job.most = most;
  return {};
}

std::string ProblemOfJob(FieldReader& fields, Value spec, Value annotations, const QueuedJob& job) {
  if (fields.Text(spec["completionMode"]) != "Indexed")
    return "spec.completionMode: must be Indexed, so that each worker has an index";
  const int64_t completions = fields.Integer(spec["completions"], 0, kMost);
  if (completions != job.workers) {
    return fmt::format("spec.completions: must equal spec.parallelism, {}, not {}", job.workers,
                       completions);
  }
  if (!annotations[kPartialAdmissionAnnotation].absent()) {
    return fmt::format("annotation {}: remove it; Kueue changes the workers of such a Job itself",
                       kPartialAdmissionAnnotation);
  }
  return {};
}

void ReadJob(FieldReader& fields, Value spec, Value status, QueuedJob& job) {
  if (const Value workers = spec["parallelism"]; !workers.absent())
    job.workers = fields.Integer(workers, 0, kMost);
  if (const Value done = status["succeeded"]; !done.absent())
    job.succeeded = fields.Integer(done, 0, kMost);
}

// An invalid number counts as none.
std::optional<int64_t> ReadCount(Value value, int64_t most) {
  const auto number = value.IsNumber() ? ToNumber<int64_t>(value.text()) : std::nullopt;
  return number && *number >= 0 && *number <= most ? number : std::nullopt;
}

std::optional<TrainerStatus> ReadTrainerStatus(Value trainer_status) {
  const auto at = ParseTime(trainer_status["lastUpdatedTime"].text());
  if (!at) return std::nullopt;
  TrainerStatus status;
  if (const auto seconds = ReadCount(trainer_status["estimatedRemainingSeconds"], kMost))
    status.remaining = Seconds(*seconds);
  status.percent = ReadCount(trainer_status["progressPercentage"], 100);
  status.at = *at;
  return status;
}

}  // namespace

template <>
struct Kind<QueuedJob> {
  static constexpr std::string_view kName = "job";
  static QueuedJob Read(FieldReader& fields, Value object, const PodRules&) {
    const Value metadata = fields.Object(object["metadata"]);
    const Value spec = fields.Object(object["spec"]);
    const Value status = fields.Object(object["status"]);
    QueuedJob job;
    job.uid = ReadText(fields, metadata["uid"]);
    job.job_namespace = ReadText(fields, metadata["namespace"]);
    job.name = ReadText(fields, metadata["name"]);
    job.resource_version = ReadText(fields, metadata["resourceVersion"]);
    // The API server's lists do not name the kind. A TrainJob always has a runtime.
    const bool is_train_job = !spec["runtimeRef"].absent();
    if (is_train_job) {
      job.trainer_status = ReadTrainerStatus(status["trainerStatus"]);
    } else {
      ReadJob(fields, spec, status, job);
    }
    const Value annotations = fields.Object(metadata["annotations"]);
    if (annotations[kMinWorkersAnnotation].absent() && annotations[kMaxWorkersAnnotation].absent())
      return job;
    if (is_train_job) {
      job.problem =
          "Kubeflow Trainer does not allow changes of a TrainJob's number of nodes; make it an "
          "Indexed Job";
      return job;
    }
    job.problem = ReadBounds(fields, annotations, job);
    if (job.problem.empty()) job.problem = ProblemOfJob(fields, spec, annotations, job);
    if (!job.problem.empty()) job.least = job.most = 0;
    return job;
  }
};

template struct KindReader<QueuedJob>;

std::string WriteWorkers(const QueuedJob& job, int64_t workers) {
  std::string out = R"({"metadata":{"uid":)";
  AppendJsonString(out, job.uid);
  out += R"(,"resourceVersion":)";
  AppendJsonString(out, job.resource_version);
  return out + fmt::format(R"(}},"spec":{{"suspend":true,"parallelism":{0},"completions":{0}}}}})",
                           workers);
}

}  // namespace synergy::wire
