#pragma once

// Recognises those arguments of a training program that may differ between runs without a change of
// its speed: seeds, learning rates, names of runs and outputs, and rendezvous addresses. The source
// has the table.
//
// All other arguments count, including numbers and paths: a batch of 32 is not a batch of 256.
//
// Threading: pure.

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace synergy {

// Returns whether the table has the name in any of its forms: "--learning-rate", "optimizer.lr",
// "++trainer.seed", "MASTER_PORT". Ignores case, '-' and '_'. For a name with dots, compares both
// the last part and the whole.
bool IsPassingArgument(std::string_view name);

// Returns the words without those arguments and their values: `--seed 3`, `--seed=3`, `seed=3`
// (Hydra), `SEED=3` (a shell or env). A word that contains white space is a script: it is split as
// a shell splits it, as far as quotes go, and treated the same way.
std::vector<std::string> WithoutPassingArguments(std::span<const std::string> words);

}  // namespace synergy
