#include "progress/loose/loose_line.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>

#include <re2/re2.h>

#include "progress/counted_line.h"
#include "progress/description.h"
#include "progress/expression.h"
#include "progress/loose/languages.h"
#include "progress/numbers.h"

namespace synergy {
namespace {

constexpr int64_t kLooseMemory = 512 << 10;
// KindOf receives at most this much of a line.
constexpr size_t kLongestFront = 256;

// Every such line contains one of these.
const re2::RE2& AnyLooseWord() {
  static const re2::RE2 expression = [] {
    re2::RE2::Options options;
    options.set_encoding(re2::RE2::Options::EncodingLatin1);
    return re2::RE2(
        R"([lL]oss|[cC]ost\b|\b(?:[eE]p(?:och)?|EPOCH|EP)["']?[ :=#\[(-]*\d|\d%\)? |\[\d+, \d\.\d)",
        options);
  }();
  return expression;
}

// The beginning of a line, or the end of a logger's prefix.
const std::string kLineFront = R"((?:^|[\])>|}] |: |INFO:|\t)[\s>*#-]*)";
// The words that name a loss after a number.
const std::string kLossWords =
    R"((?:(?:train(?:ing)?|running|total|avg|mean|batch)[ _.]*)*(?:loss|cost)\b)";

struct Form {
  Form(const std::string& text, bool with_loss)
      : expression("(?i)" + text, false, kLooseMemory), needs_loss(with_loss) {}
  Expression expression;
  bool needs_loss;
};

// The first match counts.
const std::deque<Form>& NumberForms() {
  static const std::deque<Form> forms = [] {
    std::deque<Form> made;  // a deque does not move its elements
    const auto add = [&](const std::string& expression, bool needs_loss) {
      made.emplace_back(expression, needs_loss);
    };
    // "[1,  2000] loss: 3.0" of PyTorch's tutorial: epoch and batch
    add(kLineFront + R"(\[ *(?:epoch:? *)?(?P<epoch>\d+)(?:/\d+)? *, *(?P<iteration>\d+))" +
            R"((?: */ *(?P<total>\d+))? *\]\W{0,4})" + kLossWords,
        true);
    // "loss: 1.8  [44864/60000]", ">>> [ 700 / 2000] ==> cost=1.8"
    add(R"([\[(] *(?P<iteration>\d+) */ *(?P<total>\d+) *(?:[\])]|\(\d))", true);
    // "(2500) loss: 0.87", "[2500] training_loss = 0.87", "2500 | loss 0.87"
    add(kLineFront + R"([\[(]? *(?P<iteration>\d+) *[\])]? *[:|,-]? *)" + kLossWords, true);
    // "seen 32000/50000 samples (64.0%), running loss 2.1"
    add(R"(\b(?:progress|seen|processed|consumed|samples?|examples?|images|sequences|sentences)[: =]+)"
        R"((?P<iteration>\d+) */ *(?P<total>\d+)(?:[^\d./]|$))",
        true);
    add(R"((?:^|[ (\[])(?P<iteration>\d+) */ *(?P<total>\d+) +)"
        R"((?:samples|examples|images|sequences|sentences|(?:mini-?)?batches)\b)",
        true);
    // "minibatch 5000 cost 0.4"
    add(kLineFront +
            R"((?:mini-?)?batch(?:[_ ]id?x|[_ ]index)?[ :=#]+(?P<iteration>\d+)[ ,:;|()-]+)" +
            kLossWords,
        true);
    add(R"(["']batch(?:_idx|_index)?["'] *: *(?P<iteration>\d+)[,}])", true);
    // "epoch 2, 500 loss 0.4"
    add(kLineFront + R"(epoch[ :=#]*(?P<epoch>\d+) *[,:|] *(?P<iteration>\d+)[ ,:|]+)" + kLossWords,
        true);
    // "Cost after iteration 500: 0.4"
    add(R"(\b(?:cost|loss) after (?:iteration|iter|step) (?P<iteration>\d+) ?[:=] *(?P<loss>\d+\.\d+))",
        false);
    // "4m 25s (- 62m 0s) (5000 6%) 2.8543", "5000 5% (0m 4s) 2.6452 ..." of PyTorch's tutorials
    add(R"(\d+m \d+s \(- [^()]+\) \((?P<iteration>\d+) \d+%\) (?P<loss>\d+\.\d+))", false);
    add(R"(^(?P<iteration>\d+) \d+% \(\d+m \d+s\) (?P<loss>\d+\.\d+) )", false);
    // "[4400, 9.99e-05]" of VITS: the iteration and the learning rate
    add(R"(^(?:[\w:.-]+[:\t ])?\[(?P<iteration>\d+), \d\.\d+(?:e-\d+)?\]$)", false);
    return made;
  }();
  return forms;
}

// Returns whether the text before a count names parts of something other than a training: "rank
// 0/4".
bool NamesPart(std::string_view before) {
  static const Expression expression(
      R"((?i)\b(?:epochs?|rank|gpu|device|worker|node|client|process|fold|trial|run|seed|task|model|)"
      R"(layer|block|stage|phase|attempt|try|retry|file|shard|split|chunk|part|window|group|)"
      R"(level)["' :=#\[(-]*$)",
      false, kLooseMemory);
  Expression::Match match;
  return expression.Find(before, match);
}

std::optional<double> FindCost(std::string_view text) {
  static const Expression expression(R"((?i)(?:^|[^a-z])cost\s*[:=]?\s*(?P<loss>-?\d[\d.e+-]*))",
                                     false, kLooseMemory);
  Expression::Match match;
  if (!expression.Find(text, match)) return std::nullopt;
  return ReadNumber(match[Expression::kLoss]);
}

std::optional<ProgressLine> ReadNumbered(std::string_view text) {
  std::optional<double> loss = FindLoss(text);
  if (!loss) loss = FindCost(text);
  for (size_t form = 0; form < NumberForms().size(); ++form) {
    const auto& [expression, needs_loss] = NumberForms()[form];
    Expression::Match match;
    if ((needs_loss && !loss) || !expression.Find(text, match)) continue;
    ProgressLine line{.format = "steps", .claim = Claim::kNumber};
    if (!Expression::Fill(match, line) || !line.iteration) continue;
    if (line.total && *line.iteration > *line.total) continue;
    const std::string_view number = match[Expression::kIteration];
    const std::string_view before =
        text.substr(0, static_cast<size_t>(number.data() - text.data()));
    if (NamesPart(before)) continue;
    line.kind = KindOf(before.substr(0, kLongestFront));
    if (line.kind == LineKind::kOther) return std::nullopt;
    if (line.kind == LineKind::kEvaluation) return line;
    if (!line.loss) line.loss = loss;
    if (!line.epoch) line.epoch = FindEpoch(text);
    line.source = SourceOf("number", {}, static_cast<int64_t>(form));
    return line;
  }
  return std::nullopt;
}

const std::string kEpochCount =
    R"(ep(?:och)?["']?\s*[=:#]?\s*[\[(]?\s*(?P<iteration>\d+)(?:\s*(?:/|of)\s*(?P<total>\d+))?)"
    R"((?:[^\w./%]|\.\D|\.?$))";
// Matches the epoch that a line is about; a sentence ("best epoch 3") has it elsewhere.
const Expression& FirstEpoch() {
  static const Expression expression(
      "(?i)" + kLineFront +
          R"([\[({'"=|]* *(?:(?:train(?:ing)?|end(?: of)?|finished|completed) )?)" + kEpochCount,
      false, kLooseMemory);
  return expression;
}
// Matches the epoch of a record: {"loss": 0.5, "epoch": 3}, level=info epoch=3.
const Expression& RecordedEpoch() {
  static const Expression expression(R"((?i)(?:[{,]\s*["']|[a-z0-9"]=\S+ (?:.* )?))" + kEpochCount,
                                     false, kLooseMemory);
  return expression;
}

// Returns whether the line has a value named after the training: "train 0.66".
bool HasTrainValue(std::string_view text) {
  static const Expression expression(R"((?i)\btrain(?:ing)?["']?[ :=]+-?\d+\.\d)", false,
                                     kLooseMemory);
  Expression::Match match;
  return expression.Find(text, match);
}

std::optional<ProgressLine> ReadEpoch(std::string_view text) {
  Expression::Match match;
  if (!FirstEpoch().Find(text, match) && !RecordedEpoch().Find(text, match)) return std::nullopt;
  ProgressLine line{.format = "epochs", .claim = Claim::kEpoch};
  if (!Expression::Fill(match, line) || !line.iteration) return std::nullopt;
  if (line.total && *line.iteration > *line.total) return std::nullopt;
  const std::string_view whole = match[Expression::kWhole];
  const std::string_view before = text.substr(0, static_cast<size_t>(whole.data() - text.data()));
  if (KindOf(before.substr(0, kLongestFront)) != LineKind::kTraining) return std::nullopt;
  line.loss = FindLoss(text);
  if (!line.loss && !ReportsTraining(text.substr(before.size() + whole.size() - 1)) &&
      !HasTrainValue(text)) {
    return std::nullopt;
  }
  line.epoch = static_cast<double>(*line.iteration);
  line.source = SourceOf("epoch", {}, -1);
  return line;
}

// Matches "Epoch 3" alone, and "Train Epoch: 3 [42%]"; patterns.cc has "Epoch 3/10".
std::optional<ProgressLine> ReadTitle(std::string_view text) {
  static const Expression expression(
      "(?i)" + kLineFront + R"((?:train(?:ing)? )?epoch[: #]*(?P<epoch>\d+)(?: \[\d+%\])?[ :]*$)",
      false, kLooseMemory);
  Expression::Match match;
  if (!expression.Find(text, match)) return std::nullopt;
  ProgressLine line;
  Expression::Fill(match, line);
  return line;
}

std::optional<ProgressLine> ReadLooseEnglish(std::string_view text) {
  if (!re2::RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), AnyLooseWord()) ||
      IsOtherActivity(text) || text.find("acket") != std::string_view::npos) {
    return std::nullopt;
  }
  if (auto line = ReadNumbered(text)) return line;
  if (auto line = ReadTitle(text)) return line;
  return ReadEpoch(text);
}

}  // namespace

std::optional<ProgressLine> ReadLoose(std::string_view text) {
  const std::optional<std::string> english = InEnglish(text);
  return ReadLooseEnglish(english ? std::string_view(*english) : text);
}

std::optional<ProgressLine> ReadHeadedEpoch(std::string_view text, const ProgressLine& heading) {
  const std::optional<double> loss = FindLoss(text);
  constexpr double kMostEpochs = 1e9;
  if (!loss || !heading.epoch || *heading.epoch > kMostEpochs || IsOtherActivity(text)) {
    return std::nullopt;
  }
  const std::string_view before = text.substr(0, std::min(text.find("oss"), kLongestFront));
  if (KindOf(before) != LineKind::kTraining) return std::nullopt;
  ProgressLine line{.format = "epochs", .claim = Claim::kEpoch};
  line.iteration = static_cast<int64_t>(*heading.epoch);
  line.total = heading.total;
  line.epoch = heading.epoch;
  line.loss = loss;
  line.source = SourceOf("headed", {}, -1);
  return line;
}

}  // namespace synergy
