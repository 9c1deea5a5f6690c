// The RoundPolicy's fields in the CRD and in docs/queues.md must match the table of policies. With
// SYNERGY_UPDATE=1 this test writes them; scripts/chart.sh then renders the CRD.

#include "queues/planner/policy_forms.h"

#include <functional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/generated_text.h"

namespace synergy {
namespace {

using ::testing::HasSubstr;

std::vector<std::string> Words(const std::function<bool(const PolicyForm&)>& is_one) {
  std::vector<std::string> words;
  for (const PolicyForm& form : PolicyForms()) {
    if (is_one(form)) words.push_back(form.policy);
  }
  return words;
}

std::vector<std::string> FormerNames() {
  std::vector<std::string> names = {"optimus"};
  for (const PolicyForm& form : PolicyForms()) {
    if (!form.with_types) continue;
    names.push_back("gavel-" + form.policy);
    names.push_back("gavel-" + form.policy + "-agnostic");
  }
  return names;
}

std::string Quoted(const std::vector<std::string>& words) {
  return fmt::format("[''{}'']", fmt::join(words, "'',''"));
}

std::string Fields() {
  const std::string indent(14, ' ');
  std::string text = indent + "policy:\n";
  text += indent + "  type: string\n";
  text += indent + "  description: >-\n";
  text += indent + "    The order of jobs.\n";
  for (const PolicyForm& form : PolicyForms()) {
    const std::string& meaning = form.alone ? form.meaning : form.with_types_meaning;
    text += fmt::format("{}    {}: {}{}.\n", indent, form.policy, meaning,
                        form.alone ? "" : "; with gpuTypes only");
  }
  text += indent + "    Names with the prefix gavel-, and optimus, are deprecated.\n";
  text += indent + "  enum:\n";
  std::vector<std::string> words = Words([](const auto&) { return true; });
  for (const std::string& name : FormerNames()) words.push_back(name);
  for (const std::string& word : words) text += fmt::format("{}  - {}\n", indent, word);
  text += indent + "  default: las\n";
  text += indent + "gpuTypes:\n";
  text += indent + "  type: string\n";
  text += indent + "  description: >-\n";
  text +=
      indent + "    The policy also chooses on which GPU product a job runs, in queues with the\n";
  text += indent +
          "    admission check synergy-rounds. Aware: by the speeds of each job. Ignore: as if\n";
  text += indent + "    all products were equally fast.\n";
  text += indent + "  enum: [Ignore, Aware]\n";
  text += indent + "workers:\n";
  text += indent + "  type: string\n";
  text += indent + "  description: >-\n";
  text += indent +
          "    Elastic: elastic Jobs get the number of workers from which they gain most, if the\n";
  text += indent + "    chart is installed with kueue.elastic=true. Fixed if absent.\n";
  text += indent + "  enum: [Fixed, Elastic]\n";
  return text;
}

std::string Rules() {
  const std::string indent(12, ' ');
  const auto rule = [&](const std::string& expression, const char* field,
                        const std::string& message) {
    return fmt::format("{0}- rule: '{1}'\n{0}  fieldPath: .{2}\n{0}  message: {3}\n", indent,
                       expression, field, message);
  };
  const auto with_types = Words([](const auto& form) { return form.with_types; });
  const auto elastic = Words([](const auto& form) { return form.elastic; });
  const auto needs_types = Words([](const auto& form) { return !form.alone; });
  return rule("!has(self.gpuTypes) || self.policy in " + Quoted(with_types), "gpuTypes",
              fmt::format("needs one of the policies {}", fmt::join(with_types, ", "))) +
         rule("has(self.gpuTypes) || !(self.policy in " + Quoted(needs_types) + ")", "policy",
              "this policy needs gpuTypes") +
         rule(
             "!has(self.workers) || self.workers == ''Fixed'' || self.policy in " + Quoted(elastic),
             "workers", fmt::format("Elastic needs policy {}", fmt::join(elastic, ", "))) +
         rule("!has(self.gpuTypes) || !has(self.workers) || self.workers == ''Fixed''", "workers",
              "Elastic excludes gpuTypes; remove one of them");
}

std::string Table() {
  std::string text =
      "| `policy` | order of jobs | with `gpuTypes` | with `workers: Elastic` | needs |\n"
      "| --- | --- | --- | --- | --- |\n";
  for (const PolicyForm& form : PolicyForms()) {
    text += fmt::format("| `{}` | {} | {} | {} | {} |\n", form.policy,
                        form.alone ? form.meaning : "only with `gpuTypes`",
                        form.with_types ? form.with_types_meaning : "no",
                        form.elastic ? "yes" : "no", form.needs);
  }
  return text;
}

constexpr char kCrd[] = "charts/synergy/templates/crds/roundpolicies.yaml";

TEST(PolicyForms, TheCrdHasItsFields) {
  testing::ExpectGenerated(kCrd, "# BEGIN policies,", "# END policies", Fields());
}

TEST(PolicyForms, TheCrdRefusesOtherCombinations) {
  testing::ExpectGenerated(kCrd, "# BEGIN policy rules,", "# END policy rules", Rules());
}

TEST(PolicyForms, TheDocsHaveItsTable) {
  testing::ExpectGenerated("docs/queues.md", "<!-- BEGIN policies,", "<!-- END policies", Table());
}

TEST(PolicyForms, EachValidCombinationPassesAndAllOthersAreRefused) {
  for (const PolicyForm& form : PolicyForms()) {
    for (const GpuTypes types : {GpuTypes::kNone, GpuTypes::kIgnore, GpuTypes::kAware}) {
      for (const bool elastic : {false, true}) {
        const bool typed = types != GpuTypes::kNone;
        const bool valid = elastic ? form.elastic && !typed : typed ? form.with_types : form.alone;
        const RoundSettings settings{.policy = form.policy, .gpu_types = types, .elastic = elastic};
        EXPECT_EQ(CheckForm(settings).has_value(), valid) << form.policy;
        EXPECT_TRUE(!valid || Rounds::Make(settings).has_value()) << form.policy;
      }
    }
  }
  for (const PolicyForm& form : PolicyForms()) {
    const bool valid = form.policy == "fifo";
    EXPECT_EQ(CheckForm({.policy = form.policy, .backfill = true}).has_value(), valid);
    const bool is_made = Rounds::Make({.policy = form.policy, .backfill = true}).has_value();
    EXPECT_TRUE(!form.alone || is_made == valid) << form.policy;
  }
  EXPECT_FALSE(CheckForm({.policy = "fifo", .gpu_types = GpuTypes::kAware, .backfill = true}));
  EXPECT_FALSE(CheckForm({.policy = "fifo", .elastic = true, .backfill = true}));
  EXPECT_THAT(CheckForm({.policy = "luck"}).error().message,
              HasSubstr("policy: unknown policy 'luck': use one of fifo, srtf, las"));
  EXPECT_THAT(CheckForm({.policy = "sjf"}).error().message,
              HasSubstr("without gpuTypes: use one of "));
}

}  // namespace
}  // namespace synergy
