#include "unit/failure/failure_cases.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <utility>

namespace synergy::testing {
namespace {

constexpr std::string_view kHeading = "#### ";
constexpr std::string_view kNextFile = "---- next file\n";

std::string Trimmed(const std::string& text) {
  const size_t begin = text.find_first_not_of(" \n");
  if (begin == std::string::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \n") + 1 - begin);
}

std::vector<std::string> Split(const std::string& text, char by) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, by);) parts.push_back(Trimmed(part));
  return parts;
}

// "79@30": the word, and the seconds.
std::pair<std::string, Duration> Dated(const std::string& text) {
  const size_t at = text.find('@');
  const int64_t ago = at == std::string::npos ? 0 : std::stoll(text.substr(at + 1));
  return {text.substr(0, at), std::chrono::seconds(ago)};
}

void ReadFact(FailureCase& into, const std::string& fact) {
  const size_t equals = fact.find('=');
  const std::string key = fact.substr(0, equals);
  const std::string value = equals == std::string::npos ? "" : fact.substr(equals + 1);
  FailureFacts& facts = into.facts;
  if (key == "exit") {
    facts.exit_code = std::stoi(value);
  } else if (key == "reason") {
    facts.reason = value;
  } else if (key == "message") {
    facts.message = value;
  } else if (key == "conditions") {
    facts.conditions = Split(value, ',');
  } else if (key == "xids") {
    for (const std::string& xid : Split(value, ',')) {
      const auto [number, ago] = Dated(xid);
      facts.xids.push_back({std::stoi(number), ago});
    }
  } else if (key == "acts") {
    for (const std::string& act : Split(value, ',')) {
      const auto [name, ago] = Dated(act);
      const auto known = std::find_if(ActNames().begin(), ActNames().end(),
                                      [&](const ActName& one) { return one.name == name; });
      if (known == ActNames().end()) throw std::runtime_error("no act: " + act);
      facts.acts.push_back({known->act, ago});
    }
  } else if (key == "iterations") {
    facts.iterations = std::stoll(value);
  } else if (key == "shared") {
    facts.shared_gpu = true;
  } else {
    into.expected[key] = value;
  }
}

void ReplaceAll(std::string& text, const std::string& from, const std::string& to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
}

void Unescape(std::string& log) {
  ReplaceAll(log, "<ESC>", "\x1b");
  ReplaceAll(log, "<CR>", "\r");
  ReplaceAll(log, "<FF>", "\xff");
  ReplaceAll(log, "<LONG>", std::string(6000, 'x'));
}

}  // namespace

std::vector<FailureCase> ReadFailureCases() {
  std::vector<FailureCase> cases;
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(SYNERGY_TEST_DATA "/failure")) {
    if (entry.path().extension() == ".txt") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  for (const std::filesystem::path& file : files) {
    std::ifstream in(file, std::ios::binary);
    for (std::string line; std::getline(in, line);) {
      line += '\n';
      if (line.starts_with(kHeading)) {
        const std::vector<std::string> parts = Split(line.substr(kHeading.size()), '|');
        FailureCase& begun = cases.emplace_back();
        begun.file = file.filename();
        begun.category = parts.at(0);
        if (parts.size() > 1) {
          for (const std::string& fact : Split(parts[1], ';')) ReadFact(begun, fact);
        }
        begun.name = parts.size() > 2 ? parts[2] : "";
        begun.logs.emplace_back();
      } else if (line == kNextFile) {
        cases.back().logs.emplace_back();
      } else {
        cases.back().logs.back() += line;
      }
    }
  }
  for (FailureCase& one : cases)
    for (std::string& log : one.logs) Unescape(log);
  return cases;
}

std::optional<JobFailure> ClassifyWith(const FailureCase& given,
                                       const std::vector<std::string>& logs) {
  FailureFacts facts = given.facts;
  for (const std::string& log : logs) {
    LogTail tail;
    tail.Feed(log);
    tail.End();
    facts.logs.push_back(ReadLog(tail));
  }
  return Classify(facts);
}

}  // namespace synergy::testing
