#include "cli/text/tree.h"

#include <cmath>

#include <fmt/format.h>

#include "json/text.h"
#include "wire/objects/objects.h"

namespace synergy::cli {

// JSON and YAML have the same indentation, and differ in brackets and separators.
class TreeWriter {
 public:
  explicit TreeWriter(bool yaml, TimeIn time = TimeIn::kPrinted) : yaml_(yaml), time_(time) {}

  void Write(const Tree& tree, size_t depth) {
    if (const auto* list = std::get_if<Tree::List>(&tree.value_)) {
      WriteParts(*list, depth, "[]", [&](const Tree& element) {
        if (yaml_) out_ += "- ";
        // In YAML the element begins on the line of its dash, indented by one step.
        Write(element, depth + 1);
      });
    } else if (const auto* members = std::get_if<Tree::Members>(&tree.value_)) {
      WriteParts(*members, depth, "{}", [&](const auto& member) {
        WriteText(member.first);
        out_ += yaml_ && Nested(member.second) ? ":" : ": ";
        if (yaml_ && Nested(member.second)) NewLine(depth + 1);
        Write(member.second, depth + 1);
      });
    } else {
      WriteScalar(tree);
    }
  }

  std::string Take() { return std::move(out_) + "\n"; }

 private:
  static bool Nested(const Tree& tree) {
    const auto* list = std::get_if<Tree::List>(&tree.value_);
    const auto* members = std::get_if<Tree::Members>(&tree.value_);
    return (list != nullptr && !list->empty()) || (members != nullptr && !members->empty());
  }

  template <class Parts, class WritePart>
  void WriteParts(const Parts& parts, size_t depth, std::string_view brackets,
                  WritePart write_part) {
    if (parts.empty()) {
      out_ += brackets;
      return;
    }
    if (!yaml_) out_ += brackets.front();
    bool first = true;
    for (const auto& part : parts) {
      if (!yaml_) {
        out_ += first ? "" : ",";
        NewLine(depth + 1);
      } else if (!first) {
        NewLine(depth);
      }
      first = false;
      write_part(part);
    }
    if (yaml_) return;
    NewLine(depth);
    out_ += brackets.back();
  }

  void WriteScalar(const Tree& tree) {
    if (const auto* truth = std::get_if<bool>(&tree.value_)) {
      out_ += *truth ? "true" : "false";
    } else if (const auto* integer = std::get_if<int64_t>(&tree.value_)) {
      out_ += fmt::format("{}", *integer);
    } else if (const auto* number = std::get_if<double>(&tree.value_)) {
      WriteNumber(*number);
    } else if (const auto* elapsing = std::get_if<Elapsing>(&tree.value_)) {
      if (time_ == TimeIn::kPrinted) {
        WriteNumber(elapsing->amount);
      } else {
        out_ += "null";
      }
    } else if (const auto* text = std::get_if<std::string>(&tree.value_)) {
      WriteText(*text);
    } else {
      out_ += "null";
    }
  }

  // Neither JSON nor YAML can express infinity or NaN for every reader.
  void WriteNumber(double number) {
    out_ += std::isfinite(number) ? fmt::format("{}", number) : "null";
  }

  // A JSON string is also a YAML string; in YAML plain words need no quotes.
  void WriteText(const std::string& text) {
    if (yaml_ && Plain(text)) {
      out_ += text;
    } else {
      json::AppendJsonString(out_, text);
    }
  }

  static bool Plain(std::string_view text) {
    constexpr std::string_view kLetters =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-/";
    if (text.empty() || text.find_first_not_of(kLetters) != std::string_view::npos) return false;
    // A text that begins with a letter and is not a YAML keyword cannot be mistaken for a number.
    const char first = text.front();
    const bool letter = (first >= 'a' && first <= 'z') || (first >= 'A' && first <= 'Z');
    for (const std::string_view word :
         {"true", "false", "yes", "no", "on", "off", "null", "y", "n"}) {
      if (text.size() == word.size() &&
          std::equal(text.begin(), text.end(), word.begin(),
                     [](char a, char b) { return (a | 0x20) == b; })) {
        return false;
      }
    }
    return letter;
  }

  void NewLine(size_t depth) {
    out_ += '\n';
    out_.append(2 * depth, ' ');
  }

  const bool yaml_;
  const TimeIn time_;
  std::string out_;
};

std::string ToJson(const Tree& tree, TimeIn time) {
  TreeWriter writer(false, time);
  writer.Write(tree, 0);
  return writer.Take();
}

std::string ToYaml(const Tree& tree) {
  TreeWriter writer(true);
  writer.Write(tree, 0);
  return writer.Take();
}

}  // namespace synergy::cli
