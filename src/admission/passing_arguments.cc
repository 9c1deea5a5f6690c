#include "admission/passing_arguments.h"

#include <algorithm>
#include <array>

namespace synergy {
namespace {

// Lower case, with '_' in place of '-' and '.'; sorted.
constexpr auto kPassing = std::to_array<std::string_view>({
    "base_lr",
    "checkpoint_dir",
    "ckpt_dir",
    "coordinator_address",
    "data_seed",
    "default_root_dir",
    "dist_url",
    "exp_dir",
    "exp_id",
    "exp_name",
    "experiment_id",
    "experiment_name",
    "global_seed",
    "hydra_run_dir",
    "hydra_sweep_dir",
    "hydra_sweep_subdir",
    "init_lr",
    "init_method",
    "job_id",
    "job_name",
    "learning_rate",
    "log_dir",
    "logdir",
    "logging_dir",
    "lr",
    "machine_rank",
    "main_process_ip",
    "main_process_port",
    "manual_seed",
    "master_addr",
    "master_port",
    "max_lr",
    "min_lr",
    "node_rank",
    "out_dir",
    "outdir",
    "output",
    "output_dir",
    "output_path",
    "peak_lr",
    "random_seed",
    "random_state",
    "rdzv_endpoint",
    "rdzv_id",
    "results_dir",
    "run_dir",
    "run_id",
    "run_name",
    "save",
    "save_dir",
    "save_path",
    "seed",
    "tensorboard_dir",
    "trial_id",
    "trial_name",
    "wandb_id",
    "wandb_name",
    "wandb_run_id",
    "wandb_run_name",
    "work_dir",
});
static_assert(std::is_sorted(kPassing.begin(), kPassing.end()));

bool IsListed(std::string_view name) {
  return std::binary_search(kPassing.begin(), kPassing.end(), name);
}

bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

bool HasSpace(std::string_view text) { return std::any_of(text.begin(), text.end(), IsSpace); }

bool IsOption(std::string_view word) { return word.size() > 1 && word.front() == '-'; }

bool IsNumber(std::string_view word) {
  return word.size() > 1 && word.front() == '-' &&
         ((word[1] >= '0' && word[1] <= '9') || word[1] == '.');
}

// Splits a script into words, as a shell does: quotes preserve white space and are removed.
std::vector<std::string> DividedScript(std::string_view script) {
  std::vector<std::string> words;
  std::string word;
  bool any = false;
  char quote = 0;
  for (const char c : script) {
    if (quote != 0 ? c == quote : c == '\'' || c == '"') {
      quote = quote != 0 ? '\0' : c;
      any = true;
    } else if (quote == 0 && IsSpace(c)) {
      if (any) words.push_back(std::move(word));
      word.clear();
      any = false;
    } else {
      word += c;
      any = true;
    }
  }
  if (any) words.push_back(std::move(word));
  return words;
}

// `whole`: the word may be a script.
void Append(std::span<const std::string> words, bool whole, std::vector<std::string>& kept) {
  bool drop_value = false;
  for (const std::string& word : words) {
    const bool is_value = drop_value && (!IsOption(word) || IsNumber(word));
    drop_value = false;
    if (is_value) continue;
    const size_t equals = std::min(word.find('='), word.size());
    const std::string_view name = std::string_view(word).substr(0, equals);
    if (!HasSpace(name) && IsPassingArgument(name)) {
      const bool has_value = equals < word.size();
      if (has_value) continue;
      // A word that has neither dashes nor a value is not an argument.
      if (IsOption(word)) {
        drop_value = true;
        continue;
      }
    }
    if (!whole || !HasSpace(word)) {
      kept.push_back(word);
      continue;
    }
    std::vector<std::string> of_script;
    Append(DividedScript(word), false, of_script);
    // Mark the script, because a script differs from the same words as separate arguments.
    kept.emplace_back("\n");
    kept.insert(kept.end(), of_script.begin(), of_script.end());
    kept.emplace_back("\n");
  }
}

}  // namespace

bool IsPassingArgument(std::string_view name) {
  const size_t begin = std::min(name.find_first_not_of("-+"), name.size());
  if (begin > 2) return false;
  std::string plain(name.substr(begin));
  for (char& c : plain) {
    if (c == '-') c = '_';
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  const size_t dot = plain.rfind('.');
  if (dot != std::string::npos && IsListed(std::string_view(plain).substr(dot + 1))) return true;
  std::replace(plain.begin(), plain.end(), '.', '_');
  return IsListed(plain);
}

std::vector<std::string> WithoutPassingArguments(std::span<const std::string> words) {
  std::vector<std::string> kept;
  Append(words, true, kept);
  return kept;
}

}  // namespace synergy
