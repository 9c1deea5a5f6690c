#include "queues/planner/policy_forms.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "gavel/type_policies.h"
#include "policy/policy.h"

namespace synergy {
namespace {

// The only policy that works with backfill, and with elastic jobs, which get their least numbers of
// workers in its order.
constexpr std::string_view kElasticOrder = "fifo";

std::vector<std::string> WordsOf(bool (*is_valid)(const PolicyForm&)) {
  std::vector<std::string> words;
  for (const PolicyForm& form : PolicyForms()) {
    if (is_valid(form)) words.push_back(form.policy);
  }
  return words;
}

}  // namespace

std::vector<PolicyForm> PolicyForms() {
  std::vector<PolicyForm> forms;
  for (const PolicyName& policy : PolicyNames()) {
    PolicyForm& form = forms.emplace_back();
    form.policy = policy.name;
    form.meaning = policy.meaning;
    form.needs = policy.needs;
    form.alone = true;
    form.elastic = policy.name == kElasticOrder;
  }
  for (const TypePolicyName& policy : TypePolicyNames()) {
    const std::string_view word = policy.name.substr(kTypePolicyPrefix.size());
    auto form = std::find_if(forms.begin(), forms.end(),
                             [&](const PolicyForm& known) { return known.policy == word; });
    if (form == forms.end())
      form = forms.insert(forms.end(), PolicyForm{.policy = std::string(word)});
    form->with_types = true;
    form->with_types_meaning = policy.meaning;
    if (policy.agnostic.by_cost) form->needs = "prices";
  }
  return forms;
}

Result<> CheckForm(const RoundSettings& settings) {
  const std::vector<PolicyForm> forms = PolicyForms();
  const auto form = std::find_if(forms.begin(), forms.end(), [&](const PolicyForm& known) {
    return known.policy == settings.policy;
  });
  const auto refuse = [&](std::string_view where, const std::vector<std::string>& words) {
    return Fail(ErrorCode::kInvalid, fmt::format("policy: unknown policy '{}'{}: use one of {}",
                                                 settings.policy, where, fmt::join(words, ", ")));
  };
  if (settings.gpu_types != GpuTypes::kNone && settings.elastic) {
    return Fail(
        ErrorCode::kInvalid,
        "workers: Elastic changes the workers of jobs, gpuTypes their GPU type; choose one");
  }
  const bool is_typed = settings.gpu_types != GpuTypes::kNone;
  if (settings.backfill && (is_typed || settings.elastic || settings.policy != kElasticOrder))
    return Fail(ErrorCode::kInvalid, std::string(kBackfillNeedsFifo));
  if (settings.elastic) {
    if (form != forms.end() && form->elastic) return {};
    return refuse(" with workers: Elastic", WordsOf([](const auto& each) { return each.elastic; }));
  }
  if (settings.gpu_types != GpuTypes::kNone) {
    if (form != forms.end() && form->with_types) return {};
    return refuse(" with gpuTypes", WordsOf([](const auto& each) { return each.with_types; }));
  }
  if (form != forms.end() && form->alone) return {};
  return refuse(form == forms.end() ? "" : " without gpuTypes",
                WordsOf([](const auto& each) { return each.alone; }));
}

}  // namespace synergy
