#include "progress/bars.h"

#include <algorithm>
#include <array>

#include "progress/description.h"
#include "progress/expression.h"
#include "progress/numbers.h"

namespace synergy {
namespace {

constexpr int64_t kBarMemory = 512 << 10;
// Limit on the text before a bar; a longer text is not the bar's description but, for example, a
// warning without a newline.
constexpr size_t kLongestDescription = 160;

// " 45%|####5     | 450/1000 [00:12<00:15, 35.20it/s, loss=0.5]"; Lightning omits the percentage if
// it does not know the total.
const Expression& WithTotal() {
  static const Expression expression(
      R"((?:\d+%)?\|[^|]*\| *(?P<iteration>\d[\d.]*[kMGT]?)/(?P<total>\d[\d.]*[kMGT]?|\?) )"
      R"(\[(?P<elapsed>[\d:]+)<[^,\]]*(?:, *(?:\?|(?P<rate>\d[\d.]*))(?P<unit>[^/,=\]]{0,24})/(?P<per>[a-zA-Z]+))?)",
      false, kBarMemory);
  return expression;
}

// "450it [00:12, 35.20it/s]": without a total there is no bar.
const Expression& WithoutTotal() {
  static const Expression expression(
      R"((?:^|[ :])(?P<iteration>\d[\d.]*[kMGT]?) ?[A-Za-z]+ )"
      R"(\[(?P<elapsed>\d+(?::\d\d)+), *(?:\?|(?P<rate>\d[\d.]*))(?P<unit>[^/,=\]]{0,24})/(?P<per>[a-zA-Z]+))",
      false, kBarMemory);
  return expression;
}

// Matches rich: "Epoch 3  45% ━━━━╸━━━ 450/1000 [ 0:00:12 < 0:00:15 , 35 it/s ]" as tqdm.rich draws
// it, "Epoch 2/9 ━━━━ 450/938 0:00:12 • 0:00:14 35.20it/s v_num: 0.000" as Lightning does; and
// Ultralytics: "1/100  2.61G  1.142  640: 45% ━━━━╸──── 45/100 4.5it/s 10.2s<12.1s".
const Expression& OfLines() {
  static const Expression expression(
      R"((?:(?:\xe2[\x94\x95][\x80-\xbf]){2,}|-{2,}|-+ -+) +)"
      R"((?P<iteration>\d+)/(?P<total>\d+|--|\?) +(?:\[ )?)"
      R"((?:(?P<elapsed>\d+:[\d:]+) (?:<|\xe2\x80\xa2) [-\d:]+ (?:, )?)?)"
      R"((?:\?|(?P<rate>\d[\d.]*)) ?(?P<unit>[^/ ,=\]]{0,24})/(?P<per>[a-zA-Z]+))",
      false, kBarMemory);
  return expression;
}
// Matches rich's own columns, which contain no rate: "Epoch 3 ━━━━ 100% 1000/1000 0:00:40".
const Expression& OfColumns() {
  static const Expression expression(
      R"((?:\xe2[\x94\x95][\x80-\xbf]){2,} +(?:(?:\d+%|[-\d]+(?::[-\d]+)+|\xe2\x80\xa2) +)*)"
      R"((?P<iteration>\d+)/(?P<total>\d+)(?: +(?P<elapsed>\d+:\d\d:\d\d) +[-\d]+:[-\d:]+(?: |$)| +(?:\d+%|[-\d]+(?::[-\d]+)+|\xe2\x80\xa2)| *$))",
      false, kBarMemory);
  return expression;
}
// Matches alive-progress: "Training |███     | 255/1000 [25%] in 25.5s (10.0/s, eta: 74s)".
const Expression& OfAlive() {
  static const Expression expression(
      R"(\|[^|]*[|>] (?:[^\d|]{1,40} )?(?P<iteration>\d+)/(?P<total>\d+) \[\d+%\] in [^(]{1,24}\(~?(?P<rate>[\d.]+)/s)",
      false, kBarMemory);
  return expression;
}
// Matches Julia's ProgressBars: "80.00%┣███ ┫ 480/600 [00:30<00:08, 16.00i/s]".
const Expression& OfJulia() {
  static const Expression expression(
      R"(%\xe2\x94\xa3.*\xe2\x94\xab (?P<iteration>\d+)/(?P<total>\d+) )"
      R"(\[(?P<elapsed>[\d:]+)<[^,\]]*(?:, *(?P<rate>\d[\d.]*)(?P<unit>[^/,\]]{0,8})/(?P<per>[a-z]+))?)",
      false, kBarMemory);
  return expression;
}
// Matches progressbar2: "41% (415 of 1000) |####    | Elapsed Time: 0:00:41 ETA: 0:00:58
// loss: 1.2".
const Expression& OfElapsed() {
  static const Expression expression(
      R"(\d+% \((?P<iteration>\d+) of (?P<total>\d+)\) \|[^|]*\| Elapsed Time: (?P<elapsed>[\d:]+))",
      false, kBarMemory);
  return expression;
}
constexpr std::string_view kDashes = "--- ";  // drawn if the terminal lacks the line's characters
constexpr std::string_view kJuliaEnd = "\xe2\x94\xab ";
constexpr std::string_view kLine = "\xe2\x94";  // of "━" and "─", which every such bar contains

bool FindBar(std::string_view text, Expression::Match& match) {
  if (text.find(" [") != std::string_view::npos &&
      (WithTotal().Find(text, match) || WithoutTotal().Find(text, match))) {
    return true;
  }
  const auto contains = [&](std::string_view part) {
    return text.find(part) != std::string_view::npos;
  };
  if (contains("%] in ") && OfAlive().Find(text, match)) return true;
  if (contains("Elapsed Time: ") && OfElapsed().Find(text, match)) return true;
  if (contains(kDashes) && OfLines().Find(text, match)) return true;
  if (contains(kJuliaEnd) && OfJulia().Find(text, match)) return true;
  return contains(kLine) && (OfLines().Find(text, match) || OfColumns().Find(text, match));
}

// Returns whether the unit is something other than iterations: bytes, files, or rows of a data set
// being prepared. Only a training of reinforcement learning counts frames.
bool IsOtherUnit(std::string_view unit, bool training) {
  while (unit.starts_with(' ')) unit.remove_prefix(1);
  while (unit.ends_with(' ')) unit.remove_suffix(1);
  constexpr std::array<std::string_view, 30> kUnits = {
      "B",     "iB",    "b",      "bytes",  "byte",    "examples", "example",  "ex",
      "file",  "files", "row",    "rows",   "shard",   "shards",   "lines",    "url",
      "doc",   "docs",  "prompt", "page",   "pages",   "prompts",  "document", "documents",
      "layer", "req",   "reqs",   "layers", "request", "requests"};
  if (unit == "frame" || unit == "frames") return !training;
  const auto among = [&](std::string_view name) {
    return std::find(kUnits.begin(), kUnits.end(), name) != kUnits.end();
  };
  if (among(unit)) return true;
  // Units with a prefix: "MB", "kiB", "k examples".
  constexpr std::string_view kPrefixes = "kKMGT";
  return unit.size() > 1 && kPrefixes.find(unit.front()) != std::string_view::npos &&
         among(unit.substr(1));
}

double Multiplier(std::string_view unit) {
  if (unit.size() < 2) return 1;
  return unit.front() == 'k' ? 1e3 : unit.front() == 'M' ? 1e6 : unit.front() == 'G' ? 1e9 : 1;
}

// Recognises the framework by the description or by the text after the bar: Lightning's logger
// prints a version.
std::string_view FormatOf(std::string_view description, std::string_view rest) {
  const bool lightning = rest.find("v_num") != std::string_view::npos ||
                         description.find("DataLoader ") != std::string_view::npos ||
                         description.starts_with("Sanity Checking");
  return lightning ? "lightning" : "tqdm";
}

std::string_view DescriptionBefore(std::string_view text, std::string_view bar) {
  std::string_view description = text.substr(0, static_cast<size_t>(bar.data() - text.data()));
  if (description.size() > kLongestDescription) {
    description.remove_prefix(description.size() - kLongestDescription);
    description.remove_prefix(std::min(description.find(' '), description.size()));
  }
  while (description.ends_with(' ') || description.ends_with(':')) description.remove_suffix(1);
  while (description.starts_with(' ')) description.remove_prefix(1);
  return description;
}

}  // namespace

std::optional<ProgressLine> ReadBar(std::string_view text) {
  Expression::Match match;
  if (!FindBar(text, match)) return std::nullopt;
  ProgressLine line;
  if (!Expression::Fill(match, line)) return std::nullopt;
  const std::string_view bar = match[Expression::kWhole];
  const std::string_view description = DescriptionBefore(text, bar);
  const std::string_view rest = text.substr(static_cast<size_t>(bar.data() - text.data()));
  const std::string_view unit = match[Expression::kUnit];
  line.format = FormatOf(description, rest);
  line.requests = description.find("requests") != std::string_view::npos ||
                  description.find("prompts") != std::string_view::npos;
  const bool training = NamesTraining(description);
  const bool other_unit = IsOtherUnit(unit, training);
  line.kind = other_unit ? LineKind::kOther : KindOf(description);
  if (line.rate) {
    // "1.53s/it" is the time per iteration.
    if (unit == "s" && match[Expression::kPer] != "s") {
      line.rate = 1 / *line.rate;
    } else {
      *line.rate *= Multiplier(unit);
    }
  }
  if (line.kind == LineKind::kOther && CountsBatches(description) && !other_unit) {
    if (FindLoss(rest)) line.kind = LineKind::kTraining;
    line.inner = line.kind == LineKind::kOther;
  }
  line.epoch = FindEpoch(description);
  line.epochs = NamesEpoch(description);
  if (line.kind == LineKind::kTraining && training) {
    line.name = SourceOf("name", description, -1);
  }
  line.loss = FindLoss(rest);
  if (!line.loss) line.loss = FindLoss(description);
  line.source = SourceOf("bar", description, line.total.value_or(-1));
  return line;
}

}  // namespace synergy
