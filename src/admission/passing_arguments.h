#pragma once

// Arguments of a training program that differ from run to run and do not change its speed: seeds,
// learning rates, names of runs and outputs, addresses of rendezvous. The source has the table.
//
// All other arguments count, numbers and paths too: a batch of 32 is not a batch of 256.
//
// Threading: pure.

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace synergy {

// Whether the table has the name, in any of its forms: "--learning-rate", "optimizer.lr",
// "++trainer.seed", "MASTER_PORT". Case, '-' and '_' make no difference; of a name with dots, the
// last part or the whole counts.
bool IsPassingArgument(std::string_view name);

// Returns the words without those arguments and their values: `--seed 3`, `--seed=3`, `seed=3` (as
// of Hydra), `SEED=3` (as of a shell or env). A word with white space in it is a script: it is
// divided as a shell does, as far as quotes go, and treated alike.
std::vector<std::string> WithoutPassingArguments(std::span<const std::string> words);

}  // namespace synergy
