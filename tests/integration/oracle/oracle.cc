#include "integration/oracle/oracle.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/check.h"

namespace synergy {
namespace {

// Returns the path quoted for a shell.
std::string ShellQuoted(const std::string& text) {
  SYNERGY_CHECK(text.find('\'') == std::string::npos, "paths are without quotes");
  return "'" + text + "'";
}

std::string ProgramOf(const char* variable) {
  const char* const program = std::getenv(variable);
  SYNERGY_CHECK(program != nullptr, "the environment names the oracle's programs");
  return ShellQuoted(program);
}

// A folder of this process, which the destructor removes.
class Folder {
 public:
  Folder() { std::filesystem::create_directory(path_); }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::filesystem::path operator/(std::string_view name) const { return path_ / name; }

 private:
  const std::filesystem::path path_ =
      std::filesystem::temp_directory_path() / fmt::format("synergy-oracle-{}", getpid());
};

std::vector<std::string> ReadLines(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(std::move(line));
  return lines;
}

// Returns the end of the string or value that starts at `i`.
size_t EndOfString(std::string_view text, size_t i) {
  for (++i; text[i] != '"'; ++i) {
    if (text[i] == '\\') ++i;
  }
  return i + 1;
}

size_t EndOfValue(std::string_view text, size_t i) {
  int depth = 0;
  for (; i < text.size(); ++i) {
    if (text[i] == '"') i = EndOfString(text, i) - 1;
    if (text[i] == '{' || text[i] == '[') ++depth;
    if (depth == 0 && (text[i] == ',' || text[i] == '}' || text[i] == ']')) return i;
    if (text[i] == '}' || text[i] == ']') --depth;
  }
  return i;
}

}  // namespace

uint64_t OracleSeed() {
  const char* const text = std::getenv("SYNERGY_SEED");
  const uint64_t seed = text != nullptr ? std::strtoull(text, nullptr, 10) : 20260101;
  std::printf("SYNERGY_SEED=%llu\n", static_cast<unsigned long long>(seed));
  return seed;
}

std::vector<OracleCase> GenerateOracleCases(std::string_view kind, int count, uint64_t seed) {
  const Folder folder;
  const std::filesystem::path inputs = folder / "inputs";
  const std::filesystem::path answers = folder / "answers";
  const std::string command =
      fmt::format("{0} generate --kind {1} --count {2} --seed {3} > {4} && {0} answer < {4} > {5}",
                  ProgramOf("SYNERGY_ORACLE_PROGRAM"), kind, count, seed,
                  ShellQuoted(inputs.string()), ShellQuoted(answers.string()));
  SYNERGY_CHECK(std::system(command.c_str()) == 0, "the oracle runs");

  std::vector<std::string> input_lines = ReadLines(inputs);
  std::vector<std::string> answer_lines = ReadLines(answers);
  SYNERGY_CHECK(input_lines.size() == static_cast<size_t>(count), "the oracle generates them all");
  SYNERGY_CHECK(answer_lines.size() == input_lines.size(), "the oracle answers them all");
  std::vector<OracleCase> cases;
  cases.reserve(input_lines.size());
  for (size_t i = 0; i < input_lines.size(); ++i) {
    cases.push_back({std::move(input_lines[i]), std::move(answer_lines[i])});
  }
  return cases;
}

std::vector<std::string> RequestsBefore137(const std::vector<std::string_view>& pods) {
  const Folder folder;
  const std::filesystem::path inputs = folder / "pods";
  const std::filesystem::path answers = folder / "answers";
  {
    std::ofstream file(inputs);
    for (const std::string_view pod : pods) file << pod << '\n';
  }
  const std::string command =
      fmt::format("{} < {} > {}", ProgramOf("SYNERGY_REQUESTS_PROGRAM"),
                  ShellQuoted(inputs.string()), ShellQuoted(answers.string()));
  SYNERGY_CHECK(std::system(command.c_str()) == 0, "the program of Kubernetes 1.35 runs");
  std::vector<std::string> lines = ReadLines(answers);
  SYNERGY_CHECK(lines.size() == pods.size(), "it answers them all");
  return lines;
}

std::string_view RawMember(std::string_view object, std::string_view key) {
  // At the outermost level the oracle writes compact JSON with plain keys.
  size_t i = 1;
  while (i < object.size() && object[i] == '"') {
    const size_t key_end = EndOfString(object, i);
    const std::string_view name = object.substr(i + 1, key_end - i - 2);
    const size_t value = key_end + 1;
    const size_t value_end = EndOfValue(object, value);
    if (name == key) return object.substr(value, value_end - value);
    i = value_end + 1;
  }
  return {};
}

void Differences::Add(const OracleCase& of, std::string what) {
  constexpr int kShown = 5;
  if (++count_ > kShown) return;
  report_ += fmt::format("{}\n  input:  {}\n  answer: {}\n", what, of.input, of.answer);
}

}  // namespace synergy
