#pragma once

// The result of a command as a tree, which can be printed as JSON or YAML.
//
// Threading: values.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace synergy::cli {

// A number that grows with time even if its object does not change.
struct Elapsing {
  double amount = 0;
};

class Tree {
 public:
  using List = std::vector<Tree>;
  using Members = std::vector<std::pair<std::string, Tree>>;

  // Makes null.
  Tree() = default;
  // Implicit, so that an initializer looks like the tree.
  // NOLINTBEGIN(google-explicit-constructor)
  Tree(bool value) : value_(value) {}
  Tree(int64_t value) : value_(value) {}
  Tree(double value) : value_(value) {}
  Tree(Elapsing value) : value_(value) {}
  Tree(std::string value) : value_(std::move(value)) {}
  Tree(std::string_view value) : value_(std::string(value)) {}
  Tree(const char* value) : value_(std::string(value)) {}
  Tree(List value) : value_(std::move(value)) {}
  Tree(Members value) : value_(std::move(value)) {}
  // Makes null if there is no value.
  template <class T>
  Tree(const std::optional<T>& value) : Tree(value ? Tree(*value) : Tree()) {}
  // NOLINTEND(google-explicit-constructor)

 private:
  friend class TreeWriter;
  std::variant<std::monostate, bool, int64_t, double, Elapsing, std::string, List, Members> value_;
};

// Whether numbers that grow with time are printed, or replaced by null.
enum class TimeIn { kPrinted, kLeftOut };

// Return one object or value, indented by two spaces, and a newline.
std::string ToJson(const Tree& tree, TimeIn time = TimeIn::kPrinted);
std::string ToYaml(const Tree& tree);

}  // namespace synergy::cli
