#include "cli/commands/completion.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/cluster/cluster_connection.h"
#include "config/kubeconfig.h"

namespace synergy::cli {
namespace {

// Bash splits words at = and :, and replaces only what follows them.
constexpr const char* kBash = R"(# completion of synergy for bash: source <(synergy completion bash)
_synergy() {
  local words=() word prefix line
  for word in "${COMP_WORDS[@]:1:COMP_CWORD}"; do
    if ((${#words[@]})) && [[ $word == [=:] || ${words[-1]} == *[=:] ]]; then
      words[-1]+=$word
    else
      words+=("$word")
    fi
  done
  word=${COMP_WORDS[COMP_CWORD]}
  prefix=${words[-1]}
  [[ $word == [=:] ]] || prefix=${prefix%"$word"}
  COMPREPLY=()
  while IFS= read -r line; do
    if [[ $line == :4 ]]; then
      compopt +o default
    elif [[ $line != :0 ]]; then
      line=${line%%$'\t'*}
      COMPREPLY+=("${line#"$prefix"}")
    fi
  done < <("${COMP_WORDS[0]/#\~/$HOME}" __complete "${words[@]}" 2>/dev/null)
}
complete -o default -F _synergy synergy kubectl-synergy
)";

constexpr const char* kZsh = R"(#compdef synergy kubectl-synergy
# completion of synergy for zsh: source <(synergy completion zsh)
_synergy() {
  local line files=0
  local -a values
  for line in "${(@f)$(${(Q)words[1]/#\~/$HOME} __complete "${(@Q)words[2,CURRENT]}" 2>/dev/null)}"; do
    if [[ $line == :0 ]]; then
      files=1
    elif [[ $line == *$'\t'* ]]; then
      values+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}")
    elif [[ -n $line && $line != :4 ]]; then
      values+=("${line//:/\\:}")
    fi
  done
  _describe synergy values
  ((files)) && _files
}
if [[ ${funcstack[1]} == _synergy ]]; then
  _synergy
else
  compdef _synergy synergy kubectl-synergy
fi
)";

constexpr const char* kFish = R"(# completion of synergy for fish: synergy completion fish | source
function __synergy_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l program $words[1]
    set -e words[1]
    set -l lines ($program __complete $words "$current" 2>/dev/null)
    string match -v -r '^:[04]$' -- $lines
    contains -- :0 $lines; and __fish_complete_path "$current"
end
complete -c synergy -e
complete -c synergy -f -a '(__synergy_complete)'
complete -c kubectl-synergy -w synergy
)";

constexpr std::pair<std::string_view, const char*> kScripts[] = {
    {"bash", kBash}, {"zsh", kZsh}, {"fish", kFish}};

bool IsShown(const CLI::App& command) { return !command.get_group().empty(); }
bool IsShown(const CLI::Option& option) { return !option.get_group().empty(); }
bool TakesValue(const CLI::Option& option) { return option.get_items_expected_max() > 0; }

// Returns the first line, up to the end of its first clause or sentence.
std::string Summary(const std::string& description) {
  const std::string line = description.substr(0, description.find('\n'));
  // Ignore the dot in "synergy.io".
  const size_t end = std::min({line.find(". "), line.find(": "), line.find("; ")});
  return line.substr(0, end);
}

// Returns the values between the braces in a check's description: "TEXT:{json,yaml}".
std::vector<std::string> ValuesOf(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  std::vector<std::string> values;
  const size_t begin = type.find('{');
  if (begin == std::string::npos) return values;
  const std::string list = type.substr(begin + 1, type.find('}', begin) - begin - 1);
  for (size_t at = 0; at <= list.size();) {
    const size_t end = std::min(list.find(',', at), list.size());
    values.push_back(list.substr(at, end - at));
    at = end + 1;
  }
  return values;
}

// The command that the words so far select, and the kind of word that may come next.
class Position {
 public:
  explicit Position(const CLI::App& app) : command_(&app) {}

  void Pass(const std::string& word) {
    if (std::exchange(valued_, nullptr) != nullptr) return;
    if (word == "--") {
      only_positionals_ = true;
    } else if (IsOption(word)) {
      const CLI::Option* const option = Find(word.substr(0, word.find('=')));
      const bool has_value = word.find('=') != std::string::npos || IsGlued(word);
      if (option != nullptr && TakesValue(*option) && !has_value) valued_ = option;
    } else if (const CLI::App* const next = FindCommand(word)) {
      command_ = next;
    } else {
      ++positionals_;
    }
  }

  Completion Of(const std::string& word, const ValueSources& sources) const {
    Completion completion;
    if (valued_ != nullptr) {
      AddValues(*valued_, "", 0, sources, completion);
    } else if (IsOption(word) && word.find('=') != std::string::npos) {
      const std::string name = word.substr(0, word.find('='));
      const CLI::Option* const option = Find(name);
      if (option != nullptr) AddValues(*option, name + "=", 0, sources, completion);
    } else if (!only_positionals_ && word.starts_with("-")) {
      AddOptions(completion);
    } else {
      AddCommands(completion);
      AddPositional(sources, completion);
    }
    std::erase_if(completion.candidates, [&word](const Candidate& candidate) {
      return !candidate.word.starts_with(word);
    });
    return completion;
  }

 private:
  bool IsOption(const std::string& word) const {
    return !only_positionals_ && word.size() > 1 && word.front() == '-';
  }
  // An option and its value in one word: "-nteam".
  static bool IsGlued(const std::string& word) { return word[1] != '-' && word.size() > 2; }

  const CLI::Option* Find(const std::string& name) const {
    return command_->get_option_no_throw(IsGlued(name) ? name.substr(0, 2) : name);
  }

  const CLI::App* FindCommand(const std::string& word) const {
    if (positionals_ > 0) return nullptr;
    const auto found =
        command_->get_subcommands([&word](const CLI::App* each) { return each->check_name(word); });
    return found.empty() ? nullptr : found.front();
  }

  void AddCommands(Completion& completion) const {
    if (positionals_ > 0) return;
    for (const CLI::App* const each :
         command_->get_subcommands([](const CLI::App* one) { return IsShown(*one); })) {
      completion.candidates.push_back({each->get_name(), Summary(each->get_description())});
    }
  }

  void AddOptions(Completion& completion) const {
    for (const CLI::Option* const each : command_->get_options()) {
      if (!IsShown(*each)) continue;
      for (const std::string& name : each->get_lnames())
        completion.candidates.push_back({"--" + name, Summary(each->get_description())});
    }
  }

  // Adds the values of the next positional argument.
  void AddPositional(const ValueSources& sources, Completion& completion) const {
    size_t begin = 0;
    for (const CLI::Option* const each : command_->get_options()) {
      if (!each->get_positional()) continue;
      const size_t end = begin + static_cast<size_t>(each->get_items_expected_max());
      if (positionals_ < end)
        return AddValues(*each, "", positionals_ - begin, sources, completion);
      begin = end;
    }
  }

  static void AddValues(const CLI::Option& option, const std::string& prefix, size_t index,
                        const ValueSources& sources, Completion& completion) {
    std::vector<std::string> values = ValuesOf(option);
    const auto source = sources.find(option.get_name());
    if (source != sources.end()) values = source->second(index);
    for (const std::string& value : values) completion.candidates.push_back({prefix + value});
    completion.files = values.empty() && source == sources.end() &&
                       (!option.get_positional() || option.get_name() == "FILE");
  }

  const CLI::App* command_;
  const CLI::Option* valued_ = nullptr;  // its value comes next
  size_t positionals_ = 0;
  bool only_positionals_ = false;  // after --
};

}  // namespace

Completion Complete(const CLI::App& app, const std::vector<std::string>& words,
                    const ValueSources& sources) {
  if (words.empty()) return {};
  Position position(app);
  for (size_t i = 0; i + 1 < words.size(); ++i) position.Pass(words[i]);
  return position.Of(words.back(), sources);
}

ValueSources ClusterSources(const std::vector<std::string>& words) {
  ClusterArguments arguments;
  CLI::App options;
  AddClusterOptions(options, arguments);
  options.allow_extras();
  const auto parse = [&options](std::vector<std::string> reversed) {
    try {
      options.parse(std::move(reversed));
      return true;
    } catch (const CLI::ParseError&) {
      return false;
    }
  };
  // The word to complete may have no value yet, like "--user=".
  if (!words.empty() && !parse({words.rbegin(), words.rend()}))
    parse({words.rbegin() + 1, words.rend()});
  const auto named = [arguments](auto member) {
    return [arguments, member](size_t) {
      return config::ListKubeconfigs(KubeconfigFiles(arguments)).*member;
    };
  };
  ValueSources sources = {
      {"--context", named(&config::KubeconfigNames::contexts)},
      {"--user", named(&config::KubeconfigNames::users)},
      {"--namespace", [arguments](size_t) { return NamespaceNames(arguments); }},
      {"what", [](size_t index) {
         return index == 0 ? std::vector<std::string>{"job", "pod"} : std::vector<std::string>();
       }}};
  // In simulate, --cluster is a file.
  if (words.empty() || words.front() != "simulate")
    sources["--cluster"] = named(&config::KubeconfigNames::clusters);
  return sources;
}

std::string ToText(const Completion& completion) {
  std::string text;
  for (const auto& [word, description] : completion.candidates)
    text += description.empty() ? word + '\n' : fmt::format("{}\t{}\n", word, description);
  return text + (completion.files ? ":0\n" : ":4\n");
}

std::vector<std::string> CompletionShells() {
  std::vector<std::string> shells;
  for (const auto& [shell, script] : kScripts) shells.emplace_back(shell);
  return shells;
}

Result<std::string> CompletionScript(std::string_view shell) {
  for (const auto& [name, script] : kScripts)
    if (name == shell) return script;
  return Fail(ErrorCode::kInvalid,
              fmt::format("write completion and one of {}", fmt::join(CompletionShells(), ", ")));
}

}  // namespace synergy::cli
