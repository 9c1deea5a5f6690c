#include "admission/workload.h"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "admission/passing_arguments.h"
#include "cluster/annotations.h"

namespace synergy {
namespace {

// FNV-1a, 64 bits. The hash includes lengths, so {"a", "b"} differs from {"ab"}.
class StableHash {
 public:
  void Add(std::string_view text) {
    Add(text.size());
    for (const char c : text) AddByte(static_cast<unsigned char>(c));
  }
  void Add(const std::vector<std::string>& texts) {
    Add(texts.size());
    for (const std::string& text : texts) Add(std::string_view(text));
  }
  uint64_t value() const { return value_; }

 private:
  void Add(uint64_t number) {
    for (int shift = 0; shift < 64; shift += 8) AddByte((number >> shift) & 0xff);
  }
  void AddByte(uint64_t byte) { value_ = (value_ ^ byte) * 0x100000001b3; }

  uint64_t value_ = 0xcbf29ce484222325;
};

// The name of a CronJob's Job ends with "-" and this many digits: the minutes from 1970 to its due
// time.
constexpr size_t kCronJobDigits = 8;

// The server that a container runs, if it runs one that gets its work later.
enum class Server : uint8_t { kNone, kSshd, kRay };

std::vector<std::string> WordsOf(const GpuContainer& container) {
  std::vector<std::string> words = container.command;
  words.insert(words.end(), container.args.begin(), container.args.end());
  return words;
}

Server ServerOf(const std::vector<std::string>& words) {
  if (words.empty()) return Server::kNone;
  const std::string_view program = words.front();
  if (program.substr(program.rfind('/') + 1) == "sshd") return Server::kSshd;
  const auto is_ray = [](std::string_view word) {
    return word.find("ray start ") != std::string_view::npos;
  };
  const bool in_script = std::any_of(words.begin(), words.end(), is_ray);
  const bool in_words = words.size() > 1 && words[0] == "ray" && words[1] == "start";
  return in_script || in_words ? Server::kRay : Server::kNone;
}

// Returns the CronJob that a Job's name contains; empty if there is none.
std::string_view CronJobOf(const PodOwner& owner) {
  const std::string_view name = owner.name;
  if (owner.api_version != "batch/v1" || owner.kind != "Job" || name.size() <= kCronJobDigits + 1)
    return {};
  const size_t dash = name.size() - kCronJobDigits - 1;
  const bool all_digits = std::all_of(name.begin() + static_cast<std::ptrdiff_t>(dash) + 1,
                                      name.end(), [](char c) { return c >= '0' && c <= '9'; });
  return name[dash] == '-' && all_digits ? name.substr(0, dash) : std::string_view();
}

// Returns the name of a RayJob, derived from its RayCluster's name, which adds "-" and five random
// characters in each run. Returns the name itself if it does not end in this way.
std::string WithoutSuffix(const std::string& cluster) {
  constexpr size_t kRandom = 5;
  constexpr std::string_view kAlphabet = "bcdfghjklmnpqrstvwxz2456789";  // Kubernetes'
  const size_t dash = cluster.rfind('-');
  const bool ends_so = dash != std::string::npos && dash > 0 &&
                       cluster.size() == dash + 1 + kRandom &&
                       cluster.find_first_not_of(kAlphabet, dash + 1) == std::string::npos;
  return cluster.substr(0, ends_so ? dash : cluster.size());
}

// Returns words that identify the template from which the pod was made; empty if there is none.
std::vector<std::string> TemplateOf(const PodToAdmit& pod) {
  const auto label = [&pod](std::string_view key) {
    return std::string(FindLabel(pod.labels, key).value_or(""));
  };
  if (const std::string experiment = label("katib.kubeflow.org/experiment"); !experiment.empty())
    return {"experiment", experiment};
  if (const std::string group = label("ray.io/group"); !group.empty()) {
    return {"ray", WithoutSuffix(label("ray.io/cluster")), group};
  }
  if (const std::string_view job = CronJobOf(pod.owner); !job.empty())
    return {"cronjob", std::string(job)};
  return {};
}

// Returns whether the pod's author named its workload.
bool HasOwnWord(const PodToAdmit& pod) {
  return !FindLabel(pod.labels, annotations::kWorkload).value_or("").empty();
}

}  // namespace

std::string WorkloadOf(const PodToAdmit& pod) {
  if (!pod.workload.empty()) return pod.workload;
  const std::string label(FindLabel(pod.labels, annotations::kWorkload).value_or(""));
  if (!label.empty() || pod.exists || pod.gpu_containers.empty()) return label;
  const GpuContainer& container = pod.gpu_containers.front();
  StableHash hash;
  hash.Add(std::string_view(container.image));
  hash.Add(container.command);
  hash.Add(container.args);
  if (ServerOf(WordsOf(container)) == Server::kSshd) {
    hash.Add(std::string_view(pod.owner.kind));
    hash.Add(std::string_view(pod.owner.name));
  }
  return fmt::format("w-{:016x}", hash.value());
}

LooserIdentities LooserIdentitiesOf(const PodToAdmit& pod) {
  if (pod.exists) return pod.alike;
  if (HasOwnWord(pod) || pod.gpu_containers.empty()) return {};
  const GpuContainer& container = pod.gpu_containers.front();
  LooserIdentities identities;
  const std::vector<std::string> words = WordsOf(container);
  if (ServerOf(words) == Server::kNone) {
    StableHash hash;
    hash.Add(std::string_view(container.image));
    hash.Add(WithoutPassingArguments(words));
    identities.arguments = fmt::format("a-{:016x}", hash.value());
  }
  if (const std::vector<std::string> made_from = TemplateOf(pod); !made_from.empty()) {
    StableHash hash;
    hash.Add(made_from);
    hash.Add(std::string_view(container.name));
    identities.owner = fmt::format("o-{:016x}", hash.value());
  }
  return identities;
}

}  // namespace synergy
