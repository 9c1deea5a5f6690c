#include "cli/cluster/progress.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "cli/text/amounts.h"
#include "core/result.h"
#include "core/wall_time.h"
#include "wire/agents/progress.h"
#include "wire/api/access_reviews.h"

namespace synergy::cli {
namespace {

constexpr Duration kOld = std::chrono::minutes(2);

// The shortest validity that the API server grants, and how long a token is reused.
constexpr std::chrono::seconds kTokenValidity{600};
constexpr Duration kTokenUse = kTokenValidity / 2;

std::string NoteOn(const Error& error, const ControllerAddress& controller) {
  switch (error.code) {
    case ErrorCode::kDenied:
      return fmt::format(
          "no progress: you may not read it from the service {} in namespace {}; Synergy's "
          "administrator can grant access with the chart value progress.readers: {}",
          controller.service, controller.controller_namespace, error.message);
    case ErrorCode::kNotFound:
      return fmt::format(
          "no progress: there is no service {} in namespace {}; set --synergy-namespace and "
          "--synergy-service",
          controller.service, controller.controller_namespace);
    default:
      return fmt::format("no progress: the service {} in namespace {} does not answer: {}",
                         controller.service, controller.controller_namespace, error.message);
  }
}

Tree ToTree(const StorageUse& storage) {
  return Tree::Members{{"backend", storage.backend},
                       {"readBytesPerSecond", storage.read},
                       {"waited", storage.waited},
                       {"allPodsBytesPerSecond", storage.all},
                       {"bandwidthBytesPerSecond", storage.bandwidth},
                       {"capBytesPerSecond", storage.cap}};
}

}  // namespace

std::optional<KnownProgress> ProgressFacts::Of(const std::string& uid) const {
  const auto found = by_uid.find(uid);
  return found == by_uid.end() ? std::nullopt : std::optional(found->second);
}

Result<std::string> ProgressReader::Token() {
  const Instant now = clock_.Now();
  if (!token_.empty() && now - asked_ < kTokenUse) return token_;
  token_.clear();
  const Result<std::string> answer =
      client_.Post(fmt::format("/api/v1/namespaces/{}/serviceaccounts/{}-progress/token",
                               controller_.controller_namespace, controller_.service),
                   wire::WriteTokenRequest(wire::kProgressAudience, kTokenValidity));
  if (!answer) return Fail(answer.error());
  auto token = wire::ReadRequestedToken(*answer);
  if (!token) return Fail(token.error());
  token_ = *std::move(token);
  asked_ = now;
  return token_;
}

Result<std::string> ProgressReader::Ask(const std::string& pod_namespace) {
  const Result<std::string> token = Token();
  if (!token) return Fail(token.error());
  // The chart's role names the service in this way, with scheme and port.
  auto answer = client_.GetWith(
      fmt::format("/api/v1/namespaces/{}/services/https:{}:progress/proxy/progress{}{}",
                  controller_.controller_namespace, controller_.service,
                  pod_namespace.empty() ? "" : "?namespace=", pod_namespace),
      {{std::string(wire::kProgressTokenHeader), *token}});
  if (!answer) token_.clear();
  return answer;
}

ProgressFacts ProgressReader::Read(const std::string& pod_namespace) {
  ProgressFacts facts;
  const Result<std::string> answer = Ask(pod_namespace);
  auto progress = answer ? wire::ReadClusterProgress(*answer) : Fail(answer.error());
  if (!progress) {
    const ErrorCode code = progress.error().code;
    facts.note = NoteOn(progress.error(), controller_);
    facts.lasts = code == ErrorCode::kDenied || code == ErrorCode::kNotFound;
    return facts;
  }
  for (KnownProgress& known : progress->pods) {
    std::string uid = known.pod.uid;
    facts.by_uid.insert_or_assign(std::move(uid), std::move(known));
  }
  return facts;
}

std::optional<ShownRate> RateOf(const PodProgress& pod) {
  if (pod.estimate && pod.estimate->rate) return ShownRate{*pod.estimate->rate, true};
  if (pod.rate) return ShownRate{*pod.rate, false};
  return std::nullopt;
}

std::optional<double> PartDone(const PodProgress& pod) {
  if (!pod.iteration || !pod.total || *pod.total <= 0) return std::nullopt;
  return std::clamp(static_cast<double>(*pod.iteration) / static_cast<double>(*pod.total), 0.0,
                    1.0);
}

std::optional<Duration> Silence(const KnownProgress& known) {
  const Duration before = known.pod.last ? known.at - *known.pod.last : Duration::zero();
  const Duration silence = known.age + std::max(before, Duration::zero());
  return silence > kOld ? std::optional(silence) : std::nullopt;
}

std::string RateText(const std::optional<KnownProgress>& known) {
  const std::optional<ShownRate> rate = known ? RateOf(known->pod) : std::nullopt;
  if (!rate) return "-";
  const std::string text = rate->busy ? fmt::format("~{:.2f} busy", rate->amount)
                                      : fmt::format("{:.3g}/s", rate->amount);
  const std::optional<Duration> silence = Silence(*known);
  return silence ? fmt::format("{} {} ago", text, ToShortText(*silence)) : text;
}

std::string DoneText(const std::optional<KnownProgress>& known) {
  const std::optional<double> part = known ? PartDone(known->pod) : std::nullopt;
  return part ? fmt::format("{:.0f} %", 100 * *part) : "-";
}

std::string LeftText(const std::optional<KnownProgress>& known) {
  return known && known->pod.remaining ? ToShortText(*known->pod.remaining) : "-";
}

std::string ProgressText(const KnownProgress& known) {
  const PodProgress& pod = known.pod;
  std::string text;
  const auto add = [&text](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  if (pod.iteration && pod.total) {
    add(fmt::format("iteration {} of {} ({})", *pod.iteration, *pod.total, DoneText(known)));
  } else if (pod.iteration) {
    add(fmt::format("iteration {}", *pod.iteration));
  }
  if (pod.rate) add(fmt::format("{:.3g} a second", *pod.rate));
  if (pod.remaining) add(fmt::format("{} left", LeftText(known)));
  if (pod.loss) add(fmt::format("loss {:.4g}", *pod.loss));
  if (pod.estimate && pod.estimate->rate) {
    add(fmt::format("~{:.2f} busy s/s (estimate, by how busy its GPUs are)", *pod.estimate->rate));
  }
  if (text.empty()) text = "no progress recognised in its log or counters";
  if (!pod.format.empty()) text += fmt::format(" ({})", pod.format);
  if (const auto silence = Silence(known)) add(fmt::format("{} ago", ToShortText(*silence)));
  return text;
}

std::string StorageText(const StorageUse& storage) {
  std::string text = "reads";
  if (storage.read) text += " " + ToRateText(*storage.read);
  if (storage.backend == kNetworkStorage) {
    text += " from network storage";
  } else {
    text += storage.bandwidth ? fmt::format(" of {} of disk ", ToRateText(*storage.bandwidth))
                              : std::string(" from disk ");
    text += storage.backend;
  }
  if (storage.all) text += fmt::format(" (all pods: {})", ToRateText(*storage.all));
  if (storage.waited)
    text += fmt::format(", waits for it {:.0f} % of the time", 100 * *storage.waited);
  if (storage.cap)
    text += fmt::format("; may read {}, because others wait for it", ToRateText(*storage.cap));
  return text;
}

Tree ToTree(const KnownProgress& known) {
  const PodProgress& pod = known.pod;
  const auto seconds = [](const std::optional<Duration>& duration) {
    return duration ? Tree(Seconds(*duration).count()) : Tree();
  };
  return Tree::Members{
      {"format", pod.format},
      {"iteration", pod.iteration},
      {"total", pod.total},
      {"done", PartDone(pod)},
      {"epoch", pod.epoch},
      {"loss", pod.loss},
      {"rate", pod.rate},
      {"overallRate", pod.overall_rate},
      {"remainingSeconds", seconds(pod.remaining)},
      {"estimate", pod.estimate ? Tree(Tree::Members{{"busySeconds", pod.estimate->busy},
                                                     {"rate", pod.estimate->rate}})
                                : Tree()},
      {"storage", pod.storage ? ToTree(*pod.storage) : Tree()},
      {"last", pod.last ? Tree(ToTimeText(*pod.last)) : Tree()},
      {"ageSeconds", Elapsing{Seconds(known.age).count()}}};
}

}  // namespace synergy::cli
