#pragma once

// The rules that give a failure its category. docs/failures.md is generated from them.
//
// To add a rule, write a row in log_rules.cc or platform_rules.cc, and add lines that it must
// recognise to tests/data/failure.
//
// Threading: pure.

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "failure/category.h"

namespace synergy {

// The part of a log in which a rule's text counts.
enum class Where {
  // In any line that the program printed, except quoted text and warnings.
  kLine,
  // In the exception that ends a traceback, or in a line that begins like one.
  kException,
  // As kException, but the exception's type alone is weaker evidence than the exception that caused
  // it.
  kType,
};

struct LogRule {
  std::string_view name;
  Category category;
  Where where;
  std::string_view word;  // every matching line contains it
  // RE2, matched anywhere in the line without its prefixes; if empty, the word suffices.
  const char* expression = "";
  std::optional<Outcome> outcome = std::nullopt;  // replaces the category's outcome
};

// Order matters: the first rule that matches an exception counts.
std::span<const LogRule> LogRules();
// Returns whether a match of the rule counts after the text `before` in the same line. After the
// name of an exception such as KeyError or TypeError, words about memory, disks or networks are
// only names.
bool CountsAfter(const LogRule& rule, std::string_view before);
// Returns null if there is no such rule.
const LogRule* LogRuleNamed(std::string_view name);

// A report from Kubernetes: the reason of a container or pod with its message, or a condition.
struct PlatformRule {
  std::string_view name;
  Category category;
  std::string_view reason;   // RE2 for the whole reason; for conditions "TYPE/REASON"
  const char* message = "";  // RE2 for any part of the message
  std::optional<Outcome> outcome = std::nullopt;
};
std::span<const PlatformRule> ReasonRules();
std::span<const PlatformRule> ConditionRules();
// Returns whether `rule` names a rule for the reason of a container in which the kernel killed a
// process for lack of memory. Returns false for rules of log lines.
bool IsOomKill(std::string_view rule);

struct CodeRule {
  std::string_view name;
  Category category;
  int code;  // an exit code, or an Xid
  std::optional<Outcome> outcome = std::nullopt;
};
std::span<const CodeRule> ExitRules();
std::span<const CodeRule> XidRules();

// How strong a log line's evidence of the cause is, by the line's category.
enum class Strength {
  kNone,
  kSignal,    // a signal ended a process, or it aborted itself
  kCascade,   // this process encountered the failure of another one
  kCrash,     // a segmentation fault
  kSpecific,  // a cause
};
Strength StrengthOf(Category category);

}  // namespace synergy
