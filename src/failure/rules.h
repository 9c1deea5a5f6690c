#pragma once

// The rules by which a failure gets its category. docs/failures.md is generated from them.
//
// To add one: a row in log_rules.cc or platform_rules.cc, and lines that it must recognise in
// tests/data/failure.
//
// Threading: pure.

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "failure/category.h"

namespace synergy {

// Where in a log a rule's text counts.
enum class Where {
  // In any line that the program printed, except quoted text and warnings.
  kLine,
  // In the exception that ends a traceback, or in a line that begins like one.
  kException,
  // The same, but the exception's type alone says less than its cause does.
  kType,
};

struct LogRule {
  std::string_view name;
  Category category;
  Where where;
  std::string_view word;  // every such line contains it
  // RE2, matched anywhere in the line without its prefixes; empty: the word suffices.
  const char* expression = "";
  std::optional<Outcome> outcome = std::nullopt;  // instead of the category's
};

// In order: of the rules that match one exception, the first counts.
std::span<const LogRule> LogRules();
// Returns null if there is no such rule.
const LogRule* LogRuleNamed(std::string_view name);

// A report of Kubernetes: a container's or pod's reason, with its message; a condition.
struct PlatformRule {
  std::string_view name;
  Category category;
  std::string_view reason;   // RE2, the whole of it; for conditions "TYPE/REASON"
  const char* message = "";  // RE2, anywhere in the message
  std::optional<Outcome> outcome = std::nullopt;
};
std::span<const PlatformRule> ReasonRules();
std::span<const PlatformRule> ConditionRules();

struct CodeRule {
  std::string_view name;
  Category category;
  int code;  // an exit code, or an Xid
  std::optional<Outcome> outcome = std::nullopt;
};
std::span<const CodeRule> ExitRules();
std::span<const CodeRule> XidRules();

// How much a category of a log's line says about the cause.
enum class Strength {
  kNone,
  kSignal,    // a signal ended a process, or it aborted itself
  kCascade,   // this process met the failure of another one
  kCrash,     // a segmentation fault
  kSpecific,  // a cause
};
Strength StrengthOf(Category category);

}  // namespace synergy
