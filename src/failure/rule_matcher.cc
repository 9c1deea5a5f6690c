#include "failure/rule_matcher.h"

#include <bitset>
#include <cstdint>
#include <string>
#include <vector>

#include <re2/filtered_re2.h>
#include <re2/re2.h>

namespace synergy {
namespace {

// Bytes for an expression and its matching cache; an expression that needs more is slower.
constexpr int64_t kExpressionMemory = 512 << 10;
// The shortest atom; nearly every line contains shorter ones.
constexpr int kShortestAtom = 3;
constexpr size_t kHashes = 4096;

size_t HashOf(const char* three) {
  const auto at = [three](int i) { return static_cast<uint32_t>(static_cast<uint8_t>(three[i])); };
  return (at(0) << 16 | at(1) << 8 | at(2)) * 2654435761U >> 20;
}

// Atoms are lower case.
char ToLower(char letter) {
  return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
}

class Matcher {
 public:
  Matcher() : expressions_(kShortestAtom) {
    re2::RE2::Options options(re2::RE2::Latin1);
    options.set_max_mem(kExpressionMemory);
    options.set_log_errors(false);  // RE2 would copy a pod's text into Synergy's log
    for (const LogRule& rule : LogRules()) {
      int id = 0;
      const bool has_expression = rule.expression[0] != '\0';
      expressions_.Add(has_expression ? std::string(rule.expression)
                                      : re2::RE2::QuoteMeta(std::string(rule.word)),
                       options, &id);
    }
    std::vector<std::string> atoms;
    expressions_.Compile(&atoms);
    for (std::string& text : atoms) {
      const char* const end = text.data() + text.size() - kShortestAtom;
      atoms_.push_back({HashOf(text.data()), HashOf(end), std::move(text)});
    }
  }

  RuleMatch Match(std::string_view line, bool exception) const {
    const re2::StringPiece piece(line.data(), line.size());
    for (const int id : Candidates(line)) {
      const LogRule& rule = LogRules()[static_cast<size_t>(id)];
      if (rule.where != Where::kLine && !exception) continue;
      if (line.find(rule.word) == std::string_view::npos) continue;
      re2::StringPiece found;
      if (!expressions_.GetRE2(id).Match(piece, 0, piece.size(), re2::RE2::UNANCHORED, &found, 1))
        continue;
      const auto place = static_cast<size_t>(found.data() - piece.data());
      if (CountsAfter(rule, line.substr(0, place))) return {&rule, place};
    }
    return {};
  }

 private:
  struct Atom {
    size_t first;  // hashes of its first three and its last three letters
    size_t last;
    std::string text;
  };

  // Returns the rules that may match, in order.
  std::vector<int> Candidates(std::string_view line) const {
    std::string lower(line);
    for (char& letter : lower) letter = ToLower(letter);
    std::bitset<kHashes> has;
    for (size_t i = 0; i + kShortestAtom <= lower.size(); ++i) has.set(HashOf(lower.data() + i));
    std::vector<int> present;
    for (size_t i = 0; i < atoms_.size(); ++i) {
      const Atom& atom = atoms_[i];
      if (has[atom.first] && has[atom.last] && lower.find(atom.text) != std::string::npos) {
        present.push_back(static_cast<int>(i));
      }
    }
    std::vector<int> rules;
    expressions_.AllPotentials(present, &rules);
    return rules;
  }

  re2::FilteredRE2 expressions_;
  std::vector<Atom> atoms_;
};

}  // namespace

RuleMatch MatchRule(std::string_view line, bool exception) {
  static const auto* const matcher = new Matcher;
  return matcher->Match(line, exception);
}

}  // namespace synergy
