#include "progress/description.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "progress/numbers.h"

namespace synergy {
namespace {

template <size_t N>
bool Among(std::string_view word, const std::array<std::string_view, N>& words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool IsTraining(std::string_view word) {
  constexpr std::array<std::string_view, 12> kWords = {
      "fit",    "fitting",  "finetune",   "finetuning", "pretrain", "pretraining",
      "tuning", "learning", "optimizing", "distilling", "stepping", "iterating"};
  return word.starts_with("train") || Among(word, kWords);
}

bool IsEvaluation(std::string_view word) {
  constexpr std::array<std::string_view, 14> kWords = {
      "val",     "valid",     "eval",  "test",    "testing",  "sanity",    "checking",
      "predict", "inference", "infer", "scoring", "sampling", "inferring", "dev"};
  // Includes German, Italian and Spanish words.
  constexpr std::array<std::string_view, 9> kBeginnings = {"validat",  "evaluat",  "predicti",
                                                           "validier", "evaluier", "validaci",
                                                           "evaluaci", "validazi", "valutazi"};
  if (word == "predictive") return false;
  return Among(word, kWords) ||
         std::any_of(kBeginnings.begin(), kBeginnings.end(),
                     [&](std::string_view beginning) { return word.starts_with(beginning); });
}

bool IsOther(std::string_view word) {
  constexpr std::array<std::string_view, 29> kWords = {
      "map",        "filter",    "tokenize", "download", "extract",     "load",
      "upload",     "shards",    "save",     "scan",     "convert",     "fetch",
      "preprocess", "benchmark", "export",   "verify",   "copy",        "cache",
      "prompts",    "requests",  "batches",  "compile",  "compilation", "inductor",
      "documents",  "docs",      "quantize", "awq",      "gptq"};
  return Among(word, kWords);
}

// Words such as "Tokenizing" and "Extracting" are activities other than training.
bool IsOtherByForm(std::string_view word) {
  return word.size() > 4 && word.ends_with("ing") && word != "running" && word != "string" &&
         word != "remaining" && word != "during";
}

bool IsEpoch(std::string_view word) { return word == "epoch" || word == "epochs" || word == "ep"; }

enum class Activity { kNone, kTraining, kEvaluation, kOther };

Activity ActivityOf(std::string_view word) {
  if (IsTraining(word)) return Activity::kTraining;
  if (IsEvaluation(word)) return Activity::kEvaluation;
  return IsOther(word) || IsOtherByForm(word) ? Activity::kOther : Activity::kNone;
}

bool IsTuning(std::string_view word) {
  return word == "finetune" || word == "finetuning" || word == "pretraining";
}

// Returns whether the word is an activity; "val" and "test" may also name the source of a value.
bool IsVerb(std::string_view word) {
  return word.ends_with("ing") || word.starts_with("validat") || word.starts_with("evaluat") ||
         word.starts_with("predict");
}

// Returns whether the word stands for a missing number: "loss=nan".
bool IsNoNumber(std::string_view word) {
  constexpr std::array<std::string_view, 6> kWords = {"nan", "inf", "none", "null", "na", "n/a"};
  return Among(word, kWords);
}

// A word in lower case, truncated to the length of the longest word here.
class Lower {
 public:
  explicit Lower(std::string_view word) : size_(std::min(word.size(), text_.size())) {
    std::transform(word.begin(), word.begin() + static_cast<std::ptrdiff_t>(size_), text_.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  }
  std::string_view text() const { return {text_.data(), size_}; }

 private:
  std::array<char, 24> text_{};
  size_t size_;
};

bool IsOneOf(char c, std::string_view set) { return set.find(c) != std::string_view::npos; }
bool IsName(char c) { return IsLetter(c) || IsDigit(c) || IsOneOf(c, "_-/.@"); }

enum class Token { kEnd, kName, kNumber, kMark };

// Splits a text into names ("Epoch", "val_loss", "pod/train-0/main"), numbers with their units
// ("9e-05", "3/10", "93%"), and single marks. Skips spaces.
class Tokens {
 public:
  explicit Tokens(std::string_view text) : text_(text) {}

  Token Next() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
    begin_ = at_;
    if (at_ == text_.size()) return Token::kEnd;
    if (IsLetter(text_[at_]) || text_[at_] == '_') return TakeName();
    const size_t digit = at_ + (IsOneOf(text_[at_], "+-.") ? 1 : 0);
    if (digit < text_.size() && IsDigit(text_[digit])) return TakeNumber();
    ++at_;
    return Token::kMark;
  }
  std::string_view text() const { return text_.substr(begin_, at_ - begin_); }
  // Return the character after the token and the one before it; 0 if there is none.
  char behind() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  char before() const { return begin_ > 0 ? text_[begin_ - 1] : '\0'; }
  // Skips to the first of `marks`.
  void SkipTo(std::string_view marks) {
    at_ = std::min(text_.find_first_of(marks, at_), text_.size());
  }

 private:
  Token TakeName() {
    while (at_ < text_.size() && IsName(text_[at_])) ++at_;
    while (IsOneOf(text_[at_ - 1], "-/.@") && at_ - 1 > begin_) --at_;
    return Token::kName;
  }
  Token TakeNumber() {
    ++at_;
    while (at_ < text_.size() &&
           (IsLetter(text_[at_]) || IsDigit(text_[at_]) || IsOneOf(text_[at_], "./%+-") ||
            (IsOneOf(text_[at_], ",:") && at_ + 1 < text_.size() && IsDigit(text_[at_ + 1])))) {
      ++at_;
    }
    return Token::kNumber;
  }

  std::string_view text_;
  size_t begin_ = 0;
  size_t at_ = 0;
};

// Returns the word in a name, without a final number ("mAP50"); empty if the name has several
// words.
std::string_view WordIn(std::string_view name) {
  while (!name.empty() && IsDigit(name.back())) name.remove_suffix(1);
  const bool word =
      std::all_of(name.begin(), name.end(), [](char c) { return IsLetter(c) || c == '_'; });
  return word ? name : std::string_view();
}

// "pre-processing" is a kind of processing; any other word with a hyphen is a name, such as
// "test-job".
std::string_view WithoutPrefix(std::string_view name) {
  constexpr std::array<std::string_view, 5> kPrefixes = {"pre", "post", "re", "fine", "de"};
  const size_t hyphen = name.find('-');
  if (hyphen == std::string_view::npos || !Among(Lower(name.substr(0, hyphen)).text(), kPrefixes)) {
    return name;
  }
  return name.substr(hyphen + 1);
}

// Leaves out the names of processes in front: "[rank0]: ", "(Worker pid=1) ", "[1,3]<stdout>:".
std::string_view WithoutOrigin(std::string_view description) {
  while (!description.empty()) {
    const char first = description.front();
    const char last = first == '[' ? ']' : first == '(' ? ')' : first == '<' ? '>' : '\0';
    const size_t end = last == '\0' ? std::string_view::npos : description.find(last);
    if (end == std::string_view::npos) break;
    description.remove_prefix(end + 1);
    description.remove_prefix(std::min(description.find_first_not_of(" :"), description.size()));
  }
  return description;
}

// Recognises "validation" and the like in Chinese, Japanese, Korean, Russian and French, at the
// beginning or the end: "训练 验证损失 0.3" is a value.
bool IsForeignEvaluation(std::string_view description) {
  constexpr std::array<std::string_view, 14> kWords = {
      "验证", "驗證", "测试",  "测评",  "评估",    "検証",    "評価",
      "검증", "평가", "Оценк", "оценк", "Валидац", "валидац", "Évaluation"};
  constexpr std::string_view kUnderWay = "中";
  const size_t first = description.find_first_not_of(" [(");
  const size_t last = description.find_last_not_of(" ])");
  if (first == std::string_view::npos || last == std::string_view::npos) return false;
  description = description.substr(first, last + 1 - std::min(first, last));
  if (description.ends_with(kUnderWay)) description.remove_suffix(kUnderWay.size());
  return std::any_of(kWords.begin(), kWords.end(), [&](std::string_view word) {
    return description.starts_with(word) || description.ends_with(word);
  });
}

enum class Value { kNone, kCount, kPart, kMeasure };  // "5", "3/10", "0.93"

Value ValueOf(std::string_view number) {
  const size_t end = std::min(number.find_first_not_of("0123456789"), number.size());
  if (end == number.size()) return Value::kCount;
  if (number[end] == '/' && end > 0 && end + 1 < number.size() && IsDigit(number[end + 1])) {
    return Value::kPart;
  }
  return number.substr(end) == "." || number.substr(end) == "-" ? Value::kCount : Value::kMeasure;
}

// Words with the value after them, if any: "Epoch 5", "test acc 0.93", "[val]". The first word that
// is an activity decides the item's kind.
struct Item {
  size_t words = 0;
  Activity activity = Activity::kNone;
  bool verb = false;      // the activity's word is a verb
  bool first = false;     // it is the item's first word
  bool form = false;      // only its form shows that the word is an activity
  bool epoch = false;     // a word is "epoch"
  bool assigned = false;  // "=" or ":" precedes the value

  void Add(std::string_view name) {
    const Lower lower(WordIn(WithoutPrefix(name)));
    const std::string_view word = lower.text();
    ++words;
    epoch = epoch || IsEpoch(word);
    if (activity == Activity::kNone) {
      activity = ActivityOf(word);
      verb = IsVerb(word);
      first = words == 1;
      if (first && word == "processed") activity = Activity::kOther;  // "Processed 20 documents"
      form = activity == Activity::kOther && !IsOther(word);
      return;
    }
    // "Tokenizing epoch 3" is another activity; "Denoising AE epoch 3", "Predictive coding epoch 3"
    // and "Reading comprehension finetune" are trainings.
    if (form && IsEpoch(word) && !(first && words == 2)) activity = Activity::kNone;
    if (form && IsTuning(word)) activity = Activity::kTraining;
  }
};

class Activities {
 public:
  // "Fetching 20" is an activity; "best val acc 0.81" is only the name of a value. The first item
  // of a description counts more than the others.
  void Add(const Item& item, Value value) {
    if (item.words == 0) return;
    const bool head = !std::exchange(begun_, true);
    if (item.epoch && (item.activity == Activity::kNone || item.activity == Activity::kTraining)) {
      epoch_ = epoch_ || value != Value::kNone;
    }
    if (item.activity == Activity::kNone || !Names(item, value, head)) return;
    if (item.activity == Activity::kOther) {
      other_ = true;
    } else if (first_ == Activity::kNone) {
      first_ = item.activity;
    }
  }

  LineKind Kind() const {
    // A bar of "Epoch 5" still counts as training while it reports that something is saved or
    // loaded.
    if (other_ && !epoch_) return LineKind::kOther;
    return first_ == Activity::kEvaluation ? LineKind::kEvaluation : LineKind::kTraining;
  }

 private:
  static bool Names(const Item& item, Value value, bool head) {
    if (value == Value::kNone || value == Value::kPart) return true;
    if (value == Value::kCount && !item.assigned && (head || item.verb)) return true;
    if (!head) return false;
    if (item.activity == Activity::kOther) return item.verb && item.words == 1 && !item.assigned;
    return item.verb || item.first;
  }

  bool begun_ = false;
  bool epoch_ = false;
  bool other_ = false;
  Activity first_ = Activity::kNone;
};

bool IsMeasured(std::string_view part) {
  constexpr std::array<std::string_view, 33> kWords = {
      "ce",     "nll",        "xent", "bce",      "losses", "lr",      "rate", "grad",   "gradnorm",
      "ppl",    "perplexity", "acc",  "accuracy", "mfu",    "entropy", "kl",   "reward", "rewards",
      "wer",    "bleu",       "iou",  "miou",     "mae",    "mse",     "rmse", "bpb",    "epoch",
      "return", "returns",    "cost", "deviance", "elbo",   "loglik"};
  return part.ends_with("loss") || Among(part, kWords);
}

// Returns whether the word may stand between a value's name and the value.
bool IsQualifier(std::string_view word) {
  return word == "total" || word == "avg" || word == "mean" || word == "sum";
}

struct Parts {
  bool evaluation = false;
  bool measured = false;
};

// "val_loss", "train/loss", "eval/accuracy".
Parts PartsOf(std::string_view name) {
  Parts parts;
  while (!name.empty()) {
    const size_t end = std::min(name.find_first_of("_/-"), name.size());
    const Lower part(name.substr(0, end));
    parts.evaluation = parts.evaluation || IsEvaluation(part.text());
    parts.measured = parts.measured || IsMeasured(part.text());
    name.remove_prefix(std::min(end + 1, name.size()));
  }
  return parts;
}

bool IsSpeed(std::string_view unit) {
  constexpr std::array<std::string_view, 18> kUnits = {
      "it/s",       "s/it",      "iter/s",  "steps/s",    "step/s",      "s/step",
      "ms/step",    "tokens/s",  "tok/s",   "img/s",      "images/s",    "samples/s",
      "tokens/sec", "steps/sec", "tok/sec", "images/sec", "samples/sec", "s/batch"};
  const size_t digits = std::min(unit.find_first_not_of("0123456789."), unit.size());
  return Among(unit.substr(digits), kUnits);
}

}  // namespace

bool NamesTraining(std::string_view description) {
  Tokens tokens(WithoutOrigin(description));
  for (Token token = tokens.Next(); token != Token::kEnd; token = tokens.Next()) {
    if (token != Token::kName) continue;
    const Lower word(WordIn(WithoutPrefix(tokens.text())));
    if (IsTraining(word.text()) || IsEpoch(word.text())) return true;
  }
  return false;
}

bool NamesEpoch(std::string_view description) {
  Tokens tokens(description);
  for (Token token = tokens.Next(); token != Token::kEnd; token = tokens.Next()) {
    if (token == Token::kName && IsEpoch(Lower(WordIn(tokens.text())).text())) return true;
  }
  return false;
}

bool CountsBatches(std::string_view description) {
  bool batches = false;
  Tokens tokens(description);
  for (Token token = tokens.Next(); token != Token::kEnd; token = tokens.Next()) {
    if (token != Token::kName) continue;
    const Lower word(WordIn(WithoutPrefix(tokens.text())));
    if (word.text() == "batches") {
      batches = true;
    } else if (ActivityOf(word.text()) == Activity::kOther) {
      return false;
    }
  }
  return batches;
}

LineKind KindOf(std::string_view description) {
  if (IsForeignEvaluation(description) || IsForeignEvaluation(WithoutOrigin(description))) {
    return LineKind::kEvaluation;
  }
  Activities activities;
  Item item;
  const auto close = [&](Value value) {
    activities.Add(item, value);
    item = {};
  };
  Tokens tokens(description);
  for (Token token = tokens.Next(); token != Token::kEnd; token = tokens.Next()) {
    const std::string_view text = tokens.text();
    if (token == Token::kNumber) {
      close(ValueOf(text));
    } else if (token == Token::kName) {
      if (item.words > 0 && IsNoNumber(Lower(text).text())) {
        close(Value::kMeasure);
        continue;
      }
      if (item.assigned) close(Value::kNone);  // "train: Scanning labels"
      item.Add(text);
      if (tokens.behind() != '=') continue;
      tokens.SkipTo(" ,;|)]}");
      if (text == "pid") item = {};  // in "(Evaluator pid=12)" it names a process
      item.assigned = true;
      close(Value::kMeasure);
    } else if (text == ":" || text == "=") {
      item.assigned = item.words > 0;
    } else if (IsOneOf(text[0], "([{<")) {
      // "Epoch [3/10]"
      if (!IsDigit(tokens.behind())) close(Value::kNone);
    } else if (IsOneOf(text[0], "|,;)]}>") || (text == "-" && tokens.behind() == ' ')) {
      close(Value::kNone);
    }
  }
  close(Value::kNone);
  return activities.Kind();
}

bool ReportsTraining(std::string_view text) {
  bool named = false;       // the last name belongs to a training's value
  bool evaluation = false;  // that name follows "val" or a similar word
  bool number = false;      // the last token is a number
  Tokens tokens(text);
  for (Token token = tokens.Next(); token != Token::kEnd; token = tokens.Next()) {
    const std::string_view part = tokens.text();
    if (token == Token::kNumber) {
      if (named || IsSpeed(part)) return true;
      evaluation = false;
      number = true;
      continue;
    }
    if (token == Token::kName) {
      if (named && IsNoNumber(Lower(part).text())) return true;
      if (number && IsSpeed(part)) return true;
      const Parts parts = PartsOf(part);
      evaluation = evaluation || parts.evaluation;
      if (named && IsQualifier(Lower(part).text())) continue;  // "Loss Total: 0.5"
      named = parts.measured && !evaluation;
    } else if (!IsOneOf(part[0], ":=\"'([")) {
      named = evaluation = false;
    }
    number = false;
  }
  return false;
}

uint64_t SourceOf(std::string_view format, std::string_view description, int64_t total) {
  uint64_t hash = 14695981039346656037U;  // FNV-1a
  const auto add = [&hash](uint64_t byte) { hash = (hash ^ byte) * 1099511628211U; };
  for (const char c : format) add(static_cast<unsigned char>(c));
  // Ignore numbers: one bar per epoch is one source, whatever its loss.
  Tokens tokens(description);
  for (Token token = tokens.Next(); token != Token::kEnd; token = tokens.Next()) {
    if (token != Token::kName || IsNoNumber(Lower(tokens.text()).text())) continue;
    for (const char c : tokens.text()) {
      if (IsLetter(c)) add(static_cast<unsigned char>(c));
    }
  }
  for (int byte = 0; byte < 8; ++byte) add(static_cast<uint64_t>(total) >> (8 * byte) & 0xff);
  return hash;
}

}  // namespace synergy
