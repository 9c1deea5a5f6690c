// Tests identities of generated commands: lists of arguments, some of which do not change a
// training's speed.

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "admission/passing_arguments.h"
#include "admission/workload.h"

namespace synergy {
namespace {

struct Argument {
  std::string name;
  std::string value;
  int form = 0;
};

const std::vector<std::string> kPassing = {
    "lr",          "seed",          "run-name",     "output_dir",
    "master_port", "rdzv-endpoint", "optimizer.lr", "trainer.default_root_dir"};
const std::vector<std::string> kCounting = {"batch-size", "workers",   "data",   "model",
                                            "epochs",     "precision", "layers", "seq_len"};

std::string Made(const std::vector<std::string>& names) {
  return names[*rc::gen::inRange<size_t>(0, names.size())];
}

// Returns a number or a path.
std::string MadeValue() {
  const int number = *rc::gen::inRange(0, 1000);
  return *rc::gen::arbitrary<bool>() ? std::to_string(number) : "/mnt/" + std::to_string(number);
}

std::vector<Argument> MadeArguments(const std::vector<std::string>& names) {
  std::vector<Argument> arguments(*rc::gen::inRange<size_t>(0, 5));
  for (Argument& argument : arguments)
    argument = {Made(names), MadeValue(), *rc::gen::inRange(0, 3)};
  return arguments;
}

void Append(const Argument& argument, std::vector<std::string>& words) {
  switch (argument.form) {
    case 0:
      words.push_back("--" + argument.name);
      words.push_back(argument.value);
      return;
    case 1:
      words.push_back("--" + argument.name + "=" + argument.value);
      return;
    default:
      words.push_back(argument.name + "=" + argument.value);
  }
}

std::vector<std::string> Command(const std::vector<Argument>& counting,
                                 const std::vector<Argument>& passing, size_t where) {
  std::vector<std::string> words = {"python", "train.py"};
  for (size_t i = 0; i < counting.size(); ++i) {
    if (i == where % (counting.size() + 1)) {
      for (const Argument& argument : passing) Append(argument, words);
    }
    Append(counting[i], words);
  }
  if (where % (counting.size() + 1) == counting.size()) {
    for (const Argument& argument : passing) Append(argument, words);
  }
  return words;
}

PodToAdmit Running(std::vector<std::string> words, bool as_script) {
  PodToAdmit pod;
  GpuContainer container{.index = 0, .name = "train", .gpus = Gpus(1), .written = {}};
  container.image = "train:1";
  if (as_script) {
    std::string script;
    for (const std::string& word : words) script += (script.empty() ? "" : " ") + word;
    container.command = {"sh", "-c", script};
  } else {
    container.command = std::move(words);
  }
  pod.gpu_containers.push_back(container);
  return pod;
}

RC_GTEST_PROP(WorkloadProperty, ArgumentsThatPassChangeOnlyTheExactIdentity, ()) {
  const auto counting = MadeArguments(kCounting);
  const auto one = MadeArguments(kPassing);
  const auto other = MadeArguments(kPassing);
  const bool script = *rc::gen::arbitrary<bool>();
  const auto words = Command(counting, one, *rc::gen::inRange<size_t>(0, 8));
  const auto others = Command(counting, other, *rc::gen::inRange<size_t>(0, 8));
  const PodToAdmit a = Running(words, script);
  const PodToAdmit b = Running(others, script);
  RC_ASSERT(LooserIdentitiesOf(a) == LooserIdentitiesOf(b));
  RC_ASSERT((WorkloadOf(a) == WorkloadOf(b)) == (words == others));
  // Reading the written text gives the same.
  RC_ASSERT(ParseLooserIdentities(ToText(LooserIdentitiesOf(a))) == LooserIdentitiesOf(a));
}

RC_GTEST_PROP(WorkloadProperty, AnyOtherArgumentChangesBothIdentities, ()) {
  auto counting = MadeArguments(kCounting);
  counting.push_back({Made(kCounting), MadeValue(), 0});
  auto changed = counting;
  Argument& argument = changed[*rc::gen::inRange<size_t>(0, changed.size())];
  argument.value += *rc::gen::element<std::string>("0", "/x", "a");
  const auto passing = MadeArguments(kPassing);
  const bool script = *rc::gen::arbitrary<bool>();
  const size_t where = *rc::gen::inRange<size_t>(0, 8);
  const PodToAdmit a = Running(Command(counting, passing, where), script);
  const PodToAdmit b = Running(Command(changed, passing, where), script);
  RC_ASSERT(LooserIdentitiesOf(a).arguments != LooserIdentitiesOf(b).arguments);
  RC_ASSERT(WorkloadOf(a) != WorkloadOf(b));
}

RC_GTEST_PROP(WorkloadProperty, AnyWordsHaveAnIdentity, (std::vector<std::string> words)) {
  const std::vector<std::string> kept = WithoutPassingArguments(words);
  RC_ASSERT(kept == WithoutPassingArguments(words));
  PodToAdmit pod = Running(words, *rc::gen::arbitrary<bool>());
  const LooserIdentities identities = LooserIdentitiesOf(pod);
  RC_ASSERT(ParseLooserIdentities(ToText(identities)) == identities);
}

}  // namespace
}  // namespace synergy
