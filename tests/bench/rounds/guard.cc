#include "bench/rounds/guard.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iterator>
#include <limits>
#include <optional>
#include <random>
#include <unordered_map>
#include <vector>

#include <fmt/format.h>

#include "bench/rounds/results.h"
#include "json/document.h"

namespace synergy::bench {
namespace {

// All subjects run in turn this many times; the least time of each counts.
constexpr int kTurns = 15;

double CpuMillisecondsOf(const std::function<void()>& work) {
  const std::clock_t begin = std::clock();
  work();
  return 1e3 * static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
}

// Sorts, hashes and fills a knapsack: the same kinds of work as the subjects do, but none of their
// code.
void Yardstick() {
  std::mt19937_64 random(1);
  std::vector<uint64_t> numbers(1 << 16);
  for (uint64_t& number : numbers) number = random() % (1 << 15);
  std::unordered_map<uint64_t, uint64_t> counts;
  for (const uint64_t number : numbers) ++counts[number];
  std::sort(numbers.begin(), numbers.end());
  std::array<double, 4096> most{};
  for (size_t item = 0; item < 1024; ++item) {
    const auto weight = static_cast<size_t>(1 + numbers[item * 64] % 512);
    const auto value = static_cast<double>(counts[numbers[item * 64]] + item % 7);
    for (size_t room = most.size() - 1; room >= weight; --room) {
      most[room] = std::max(most[room], most[room - weight] + value);
    }
  }
  if (most.back() <= 0) std::abort();
}

std::optional<double> StoredFigure(const std::string& file, const std::string& name) {
  std::ifstream stream(file);
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  const auto document = json::Document::Parse(text);
  if (!document || !document->root()[name].IsNumber()) return std::nullopt;
  return std::strtod(std::string(document->root()[name].text()).c_str(), nullptr);
}

bool Store(std::span<const Subject> subjects, std::span<const double> multiples,
           const std::string& file) {
  std::string figures;
  for (size_t at = 0; at < subjects.size(); ++at) {
    figures +=
        fmt::format("{}\n  \"{}\": {:.4g}", at == 0 ? "" : ",", subjects[at].name, multiples[at]);
  }
  std::ofstream stream(file);
  stream << "{" << figures << "\n}\n";
  return stream.flush().good();
}

}  // namespace

int Guard(std::span<const Subject> subjects, const GuardOptions& options) {
  double yardstick = std::numeric_limits<double>::max();
  std::vector<double> times(subjects.size(), yardstick);
  for (int turn = 0; turn < kTurns; ++turn) {
    yardstick = std::min(yardstick, CpuMillisecondsOf(Yardstick));
    for (size_t at = 0; at < subjects.size(); ++at) {
      times[at] = std::min(times[at], CpuMillisecondsOf(subjects[at].work));
    }
  }
  Results results;
  results.Figure("yardstick ms", yardstick);
  fmt::print("{:<44}{:>10}{:>14}{:>10}\n", "", "CPU ms", "x yardstick", "stored");
  fmt::print("{:<44}{:>10.3f}\n", "yardstick", yardstick);
  std::vector<double> multiples;
  bool all_stored = true;
  for (size_t at = 0; at < subjects.size(); ++at) {
    const std::string& name = subjects[at].name;
    multiples.push_back(times[at] / yardstick);
    const std::optional<double> stored = StoredFigure(options.stored, name);
    fmt::print("{:<44}{:>10.3f}{:>14.4g}{:>10}\n", name, times[at], multiples[at],
               stored ? fmt::format("{:.4g}", *stored) : "none");
    results.Figure(name + " ms", times[at]);
    if (stored && !options.update) {
      results.Check({name + ": x yardstick", multiples[at], *stored * options.factor});
    }
    all_stored = all_stored && stored;
  }
  if (options.update && !Store(subjects, multiples, options.stored)) {
    fmt::print(stderr, "{}: cannot be written\n", options.stored);
    return EXIT_FAILURE;
  }
  const int status = results.Report(options.json);
  if (all_stored || options.update) return status;
  fmt::print(stderr, "{}: lacks a figure; --update stores what is measured\n", options.stored);
  return EXIT_FAILURE;
}

}  // namespace synergy::bench
