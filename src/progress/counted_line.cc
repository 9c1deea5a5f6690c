#include "progress/counted_line.h"

#include <algorithm>
#include <cstddef>
#include <deque>

#include <fmt/format.h>

#include "progress/description.h"
#include "progress/expression.h"
#include "progress/numbers.h"

namespace synergy {
namespace {

constexpr int64_t kCountedMemory = 512 << 10;
// KindOf receives at most this much of a line.
constexpr size_t kLongestBefore = 256;

// Matches "1,200".
constexpr std::string_view kGrouped = R"(\d{1,3}(?:,\d{3})+\b)";

// Matches a name, its separator, the number, and optionally the total after it. The name must not
// be part of a longer one ("max_steps", "eval/step").
Expression Counted(std::string_view name) {
  return {
      fmt::format(
          R"re((?i)(?:^|[\s"'([{{,;|:>])(?:(?:train(?:ing)?|current|completed|optimizer|update)[_/ ])?{1}["']?\s*[=:#]?\s*[\[("']?\s*)re"
          R"re((?P<iteration>{0}|\d+)(?:\.0+)?(?:\s*(?:/|of)\s*(?P<total>{0}|\d+))?)re"
          R"re((?:[^\w.:%]|[.:](?:\s|$)|$))re",
          kGrouped, name),
      false, kCountedMemory};
}

// The training's own number takes precedence over that of an epoch.
const Expression& Global() {
  static const Expression expression = Counted("global[_ ]?step");
  return expression;
}
const Expression& Any() {
  static const Expression expression =
      Counted("(?:steps?|(?:training_)?iter(?:ation)?s?|num_updates)");
  return expression;
}
// These words name a count only beside a training's values.
const Expression& Loose() {
  static const Expression expression = Counted("(?:it|updates?)");
  return expression;
}
// Returns false for most lines, faster than the expression.
bool HasLooseWord(std::string_view text) {
  if (text.find("pdate") != std::string_view::npos) return true;
  for (size_t at = text.find_first_of("tT"); at != std::string_view::npos;
       at = text.find_first_of("tT", at + 1)) {
    const bool it = at > 0 && (text[at - 1] == 'i' || text[at - 1] == 'I') &&
                    (at == 1 || !IsLetter(text[at - 2]));
    if (!it) continue;
    const size_t next = std::min(text.find_first_not_of(" :=", at + 1), text.size());
    if (next > at + 1 && next < text.size() && IsDigit(text[next])) return true;
  }
  return false;
}
// "batch" may also be a size, so it needs an epoch or a total beside it.
const Expression& Batch() {
  static const Expression expression = Counted("(?:mini-?)?batch(?:es)?");
  return expression;
}
// Returns false for most lines with "batch", faster than the expression.
bool MayCountBatches(std::string_view text) {
  static const Expression total(R"(\d\s*(?:/|of)\s*\d)", false, kCountedMemory);
  Expression::Match match;
  return FindEpoch(text) || total.Find(text, match);
}

// Matches a count without a name, at the beginning or after the epoch: "[100/1000] loss 2.3",
// "Epoch 1 | 100/1000 | loss 2.3", "Epoch: [1][100/1000] Loss 2.3".
const Expression& Unnamed() {
  static const Expression expression(
      R"re((?i)(?:^|[\])>:] |\bepoch *[:=#]? *\[?\d+(?:/\d+)?(?:\]|[ ,:|-])[ ,:;|.-]*)\s*\[? *)re"
      R"re((?P<iteration>\d+) */ *(?P<total>\d+)(?: *\]| *[,|:;]| +-|\s)(?:[^\d:]|\d[^\d:]|\d\d[^:]))re",
      false, kCountedMemory);
  return expression;
}

// Matches "max_steps": 1000 anywhere else on the line.
const Expression& Total() {
  static const Expression expression(
      R"((?i)\b(?:max|total|num)_(?:train(?:ing)?_)?(?:steps|iter(?:ation)?s)["']?\s*[=:]\s*(?P<total>\d+))",
      false, kCountedMemory);
  return expression;
}

// Matches total=20000 beside step=4000. Such a total may also be another sum, which grows.
const Expression& UnsureTotal() {
  static const Expression expression(
      R"((?i)[\s,{]["']?total["']?\s*[=:]\s*(?P<total>\d+)(?:[\s,;}]|$))", false, kCountedMemory);
  return expression;
}

// Matches lines of other activities, which IsOtherActivity rejects: {"mode": "val", ...}, or a
// server's lines.
const Expression& Other() {
  static const Expression expression(
      R"((?i)\b(?:mode|phase|split|stage|type|event|set|job|msg|message)["']?\s*[=:]\s*["']?)"
      R"((?:val|eval|test|dev\b|pred|infer)|\bcalibrat(?:ion|ing)\b *(?:step|iter|batch|[\[(\d])|\brequests?\b|\breq_?id\b|\bHTTP/|\b(?:GET|POST|PUT) /)",
      false, kCountedMemory);
  return expression;
}

// Matches lines that show a program's settings: Namespace(steps=5000, lr=0.001), {'epochs': 10}.
const Expression& Settings() {
  static const Expression expression(
      R"((?i)\bnamespace\(|\bh_?params\b|\bhyper_?param|["'](?:num_|max_|n_)?epochs["']\s*:)",
      false, kCountedMemory);
  return expression;
}
// Matches names of settings that a training may also print beside its loss.
const Expression& PossibleSettings() {
  static const Expression expression(
      R"((?i)\b(?:(?:num_|max_|n_)?(?:train_)?epochs|(?:micro_|global_)?batch_?size|seed|)"
      R"(weight_decay|warmup(?:_steps|_ratio)?|num_workers|output_dir)["']?\s*[=:])",
      false, kCountedMemory);
  return expression;
}

// Matches a training's speed in the forms that can mean nothing else; a bare "time: 0.2s" may be
// the time of several iterations, or all time so far.
const std::deque<Expression>& Speeds() {
  static const std::deque<Expression> speeds = [] {
    std::deque<Expression> made;  // a deque does not move its elements
    for (
        const std::string_view text :
        {// "5.12 step/s", "817.5 ms/it", "(0.523 sec/step)"
         R"((?i)(?:^|[\s|,(:=])(?:(?P<rate>\d[\d.]*) ?(?:it|iters?|steps?|batch(?:es)?|updates?)/s(?:ec(?:ond)?)?\b|(?P<seconds>\d[\d.]*) ?s(?:ec)?/(?:it|iter|step|batch)\b|(?P<milliseconds>\d[\d.]*) ?ms/(?:it|iter|step|batch)\b))",
         // "ups=3.07", "steps_per_sec: 3.1"
         R"((?i)(?:^|[\s,|;({])["']?(?:ups|(?:global_)?(?:it|iters?|steps?)(?:/s(?:ec)?|_per_sec(?:ond)?))["']?\s*[:=]\s*(?P<rate>\d[\d.]*))",
         // "step_avg:161.3ms", "dt: 339.1ms", "dt 339.1ms", "step time: 0.4 s"
         R"((?i)(?:^|[,|;({\t]|\d|\dm?s) *["']?(?:step_avg|step[_ ]time|iter(?:ation)?[_ ]time|time[_/ ](?:per[_ ])?(?:step|iter(?:ation)?)|dt)["']?(?:\s*[:=]\s*| +)(?:(?P<milliseconds>\d[\d.]*) ?ms|(?P<seconds>\d[\d.]*) ?s(?:ec)?)\b)",
         // "| 294.5 ms |"
         R"(\| *(?P<milliseconds>\d[\d.]*) ?ms *\|)",
         // "Iteration #401 finished in 0.83 s"
         R"((?i)\b(?:iteration|step|iter) #?\d+(?:/\d+)? (?:finished|completed|done|took)(?: in)? (?P<seconds>\d[\d.]*) ?s(?:ec)?\b)"}) {
      made.emplace_back(text, false, kCountedMemory);
    }
    return made;
  }();
  return speeds;
}

// Returns whether the text ends with the name of something else that takes time.
bool EndsWithOtherWork(std::string_view before) {
  static const Expression expression(
      R"((?i)\b(?:val|valid|validation|eval|evaluation|test|data|load|loading|loader)[a-z_ ]{0,12}[:= ]*$)",
      false, kCountedMemory);
  Expression::Match match;
  return expression.Find(before, match);
}

// Returns the iterations per second that the line reports.
std::optional<double> FindSpeed(std::string_view text) {
  for (const Expression& speed : Speeds()) {
    Expression::Match match;
    ProgressLine printed;
    if (!speed.Find(text, match) || !Expression::Fill(match, printed) || !printed.rate) continue;
    const std::string_view whole = match[Expression::kWhole];
    const auto begin = static_cast<size_t>(whole.data() - text.data());
    if (!EndsWithOtherWork(text.substr(0, begin + 1))) return printed.rate;
  }
  return std::nullopt;
}

// Returns whether the count is a setting: "steps" may be the number of steps, unlike "step".
bool IsSetting(std::string_view text, std::string_view count, bool has_loss) {
  if (count.find("teps") == std::string_view::npos &&
      count.find("ters") == std::string_view::npos &&
      count.find("ations") == std::string_view::npos) {
    return false;
  }
  Expression::Match match;
  return Settings().Find(text, match) || (!has_loss && PossibleSettings().Find(text, match));
}

// Returns whether the word before a count makes it a length ("episode steps: 337").
bool IsLength(std::string_view before) {
  before = before.substr(0, before.find_last_not_of(' ') + 1);
  return before.ends_with("pisode") || before.ends_with("ollout");
}

// Returns whether the number is the first of several: "step": [0, 1980].
bool IsList(std::string_view whole, std::string_view number) {
  std::string_view rest = whole.substr(static_cast<size_t>(number.data() - whole.data()));
  return rest.ends_with(',') && number.data() > whole.data() && *(number.data() - 1) == '[';
}

// Returns whether the line contains only the count, after a logger's prefix.
bool IsAlone(std::string_view before, std::string_view behind) {
  before = before.substr(0, before.find_last_not_of(" \t\"'([{") + 1);
  return behind.find_first_not_of(" \t\"')]}.") == std::string_view::npos &&
         (before.empty() || before.find_last_of("]:>|-)") == before.size() - 1 ||
          before.ends_with("INFO"));
}

}  // namespace

std::optional<ProgressLine> ReadCounted(std::string_view text) {
  Expression::Match match;
  const bool named = (text.find("lobal") != std::string_view::npos && Global().Find(text, match)) ||
                     Any().Find(text, match);
  const bool loose =
      !named && HasLooseWord(text) && Loose().Find(text, match) && ReportsTraining(text);
  std::optional<double> loss;
  if (!named && !loose && !(MayCountBatches(text) && Batch().Find(text, match))) {
    loss = FindLoss(text);
    if (!(loss || (FindEpoch(text) && ReportsTraining(text))) || !Unnamed().Find(text, match)) {
      return std::nullopt;
    }
  }
  const std::string_view whole = match[Expression::kWhole];
  const bool json = whole.find('"') != std::string_view::npos;
  ProgressLine line{.format = json ? "json" : "steps"};
  Expression::Match more;
  if (!Expression::Fill(match, line) || Other().Find(text, more)) return std::nullopt;
  const auto begin = static_cast<size_t>(whole.data() - text.data());
  const std::string_view before = text.substr(0, begin);
  if (named && (IsLength(before) || IsList(whole, match[Expression::kIteration]))) {
    return std::nullopt;
  }
  const LineKind kind = json ? LineKind::kTraining : KindOf(before.substr(0, kLongestBefore));
  if (kind == LineKind::kEvaluation) {
    line.kind = LineKind::kEvaluation;
    return line;
  }
  line.epoch = FindEpoch(text);
  if (!named && !loose && !line.total && !line.epoch) return std::nullopt;
  const bool bounded = Total().Find(text, more);
  if (kind == LineKind::kOther && !ReportsTraining(text)) return std::nullopt;
  line.loss = loss ? loss : FindLoss(text);
  if (named && !line.total && IsSetting(text, whole, line.loss.has_value())) return std::nullopt;
  if (!named && !loose) {
    if (line.total && *line.iteration > *line.total) return std::nullopt;
    // The line contains only a validation's loss.
    if (!line.loss && text.find("oss") != std::string_view::npos) return std::nullopt;
  }
  if (!bounded && !IsAlone(before, text.substr(begin + whole.size())) && !ReportsTraining(text)) {
    return std::nullopt;
  }
  if (bounded && !line.total) line.total = ReadCount(more[Expression::kTotal]);
  if (named && !line.total && UnsureTotal().Find(text, more)) {
    line.total = ReadCount(more[Expression::kTotal]);
    line.unsure_total = true;
  }
  if (line.loss) line.rate = FindSpeed(text);
  // A setting of the same name has no loss beside it, and never grows.
  line.weak = named && !line.loss;
  line.source = SourceOf(line.format, line.weak ? "alone" : "", -1);
  return line;
}

bool IsOtherActivity(std::string_view text) {
  Expression::Match match;
  return Other().Find(text, match) || Settings().Find(text, match);
}

}  // namespace synergy
