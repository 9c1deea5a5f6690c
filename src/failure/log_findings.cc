#include "failure/log_findings.h"

#include <algorithm>
#include <array>
#include <deque>
#include <iterator>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include <re2/re2.h>

#include "failure/evidence.h"
#include "failure/line_kinds.h"
#include "failure/log_line.h"
#include "failure/rule_matcher.h"
#include "failure/traceback.h"
#include "progress/patterns.h"

namespace synergy {
namespace {

// An error counts as handled if more than this many lines of work follow it. The first limit is for
// tracebacks, the second for other lines.
constexpr size_t kLinesAfterTraceback = 30;
constexpr size_t kLinesAfterLine = 10;
// The limit if a line beside the traceback reports that the program handled the error.
constexpr size_t kLinesAfterHandled = 3;
// An error also counts as handled if this many lines of progress follow it. The first limit is for
// logs of one process, the second for logs of several.
constexpr size_t kStepsOfOne = 2;
constexpr size_t kStepsOfSeveral = 4;
// An exception that no rule recognises may be the effect of a line up to this many lines earlier.
constexpr size_t kNear = 80;

// A line, or one line of a text within a JSON object.
struct Entry {
  LogLine line;
  size_t at;  // index in the tail's lines
};

// Removes prefixes that SplitLine does not know: the text before a traceback's heading, if the next
// line, a frame, begins with the same text.
void TakeLearnedPrefixes(std::vector<Entry>& entries) {
  constexpr std::string_view kHeading = "Traceback (most recent call last)";
  constexpr size_t kLongest = 80;
  constexpr size_t kMost = 64;
  static const re2::RE2 frame(R"re(^\s+File ["'<])re", re2::RE2::Latin1);
  std::set<std::string, std::less<>> learned;
  for (size_t i = 0; i + 1 < entries.size() && learned.size() < kMost; ++i) {
    const std::string_view heading = entries[i].line.body;
    const std::string_view prefix = heading.substr(0, heading.find(kHeading));
    std::string_view next = entries[i + 1].line.body;
    if (prefix.size() == heading.size() || prefix.size() > kLongest || IsRuler(prefix) ||
        !next.starts_with(prefix)) {
      continue;
    }
    next.remove_prefix(prefix.size());
    if (re2::RE2::PartialMatch(re2::StringPiece(next.data(), next.size()), frame))
      learned.emplace(prefix);
  }
  if (learned.empty()) return;
  for (Entry& entry : entries) {
    LogLine& line = entry.line;
    for (const std::string& prefix : learned) {
      if (!line.body.starts_with(prefix)) continue;
      LogLine rest = SplitLine(line.body.substr(prefix.size()));
      rest.origin = line.origin + prefix + rest.origin;
      if (rest.level == LogLevel::kNone) rest.level = line.level;
      line = std::move(rest);
      break;
    }
  }
}

// Something in the log that a rule recognises, or an exception that no rule recognises.
struct Candidate {
  RuleMatch match;
  size_t entry = 0;
  size_t end = 0;      // its last entry
  size_t steps = 0;    // lines with progress before it
  size_t lines = 0;    // lines of work before its end
  size_t no_work = 0;  // lines after it that count in `lines` but show no work, such as details
  bool raised = false;
  bool aside = false;
  bool of_thread = false;  // of another thread; counts only without another cause
  bool handled = false;    // a line beside it reports that the program handled it
  bool caused = false;     // the exception before it in the chain caused it
  bool open = false;       // the following lines contain its message
  bool points = false;     // it points at another error; counts only without one
  bool hollow = false;     // it only names the wrapper of another process's failure
  int chain = 0;
  std::string origin;
  std::string_view text;

  Strength strength() const {
    return match.rule == nullptr ? Strength::kNone : StrengthOf(match.rule->category);
  }
  bool IsOfType() const { return match.rule != nullptr && match.rule->where == Where::kType; }
};

// Returns whether a line about the GPU or its driver shows why a CUDA call failed. CUDA reports
// errors asynchronously, so the call's own error may not name the cause.
bool Explains(const Candidate& line, const Candidate& raised) {
  if (line.match.rule == nullptr || raised.match.rule == nullptr) return false;
  const Category shown = raised.match.rule->category;
  if (shown != Category::kCudaLibrary && shown != Category::kIllegalAccess &&
      shown != Category::kCudaInit) {
    return false;
  }
  switch (line.match.rule->category) {
    case Category::kDeviceAssert:
    case Category::kGpuMemoryFault:
    case Category::kGpuLost:
    case Category::kNvlink:
      return true;
    default:
      return false;
  }
}

class Reading {
 public:
  explicit Reading(const LogTail& log) : log_(log) {
    for (size_t i = 0; i < log.lines().size(); ++i) Split(i);
    TakeLearnedPrefixes(entries_);
    for (size_t i = 0; i < entries_.size(); ++i) Look(i);
  }

  LogReading Conclude() {
    std::vector<Candidate> of_threads;
    for (const Candidate& one : candidates_) {
      if (one.of_thread && steps_ == one.steps && !WentOn(one)) of_threads.push_back(one);
    }
    const Candidate last = candidates_.empty() ? Candidate() : candidates_.back();
    std::erase_if(candidates_, [this, &last](const Candidate& one) {
      return one.aside || one.of_thread || WentOn(one) || (one.handled && WasHandled(one, last));
    });
    if (candidates_.empty() && !ended_) candidates_ = std::move(of_threads);
    const bool has_other = std::any_of(
        candidates_.begin(), candidates_.end(),
        [](const Candidate& one) { return !one.points && one.strength() > Strength::kSignal; });
    if (has_other) std::erase_if(candidates_, [](const Candidate& one) { return one.points; });
    LogReading reading;
    const Candidate* const raised = BestRaised();
    const Candidate* best = BestLine(0);
    if (raised != nullptr && raised->match.rule == nullptr) {
      reading.unexplained = true;
      best = BestLine(raised->entry - std::min(raised->entry, kNear));
      if (best != nullptr && best->strength() < Strength::kCascade) best = nullptr;
    } else if (const Candidate* fuller = Fuller(raised); fuller != nullptr) {
      best = fuller;
    } else if (raised != nullptr && !(best != nullptr && Explains(*best, *raised)) &&
               (best == nullptr || best->strength() <= raised->strength())) {
      best = raised;
    }
    if (best != nullptr && best->strength() > Strength::kNone) {
      reading.finding = {best->match.rule, Evidence(best->text, best->match.place),
                         log_.lines()[entries_[best->entry].at].time};
    }
    reading.finished =
        ended_ && std::all_of(candidates_.begin(), candidates_.end(), [this](const Candidate& one) {
          return !one.raised && one.entry < end_entry_;
        });
    reading.iterations = trained_ ? 1 : 0;
    return reading;
  }

 private:
  // JSON loggers write a traceback on one line.
  void Split(size_t at) {
    LogLine whole = SplitLine(log_.lines()[at].text);
    const std::string_view text = whole.body;
    if (!text.starts_with("{\"") && !text.starts_with("{ \"")) {
      Append(std::move(whole), at);
      return;
    }
    LogLine object = OfObject(text);
    object.origin = whole.origin;
    if (text.find("\\n") == std::string_view::npos) {
      Append(std::move(object), at);
      return;
    }
    const LogLevel level = object.level;
    std::string& plain = unescaped_.emplace_back();
    for (size_t i = 0; i < text.size(); ++i) {
      if (text[i] != '\\' || i + 1 == text.size()) {
        plain += text[i];
      } else {
        ++i;
        plain += text[i] == 'n' ? '\n' : text[i] == 't' ? '\t' : text[i];
      }
    }
    std::string_view rest = plain;
    while (!rest.empty()) {
      const size_t end = std::min(rest.find('\n'), rest.size());
      LogLine line = SplitLine(rest.substr(0, end));
      if (level == LogLevel::kWarning) line.level = level;
      Append(std::move(line), at);
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }

  void Append(LogLine line, size_t at) {
    if (std::string facts = WithoutGuesses(line.body, listed_); !facts.empty())
      line.body = unescaped_.emplace_back(std::move(facts));
    entries_.push_back({std::move(line), at});
  }

  // Returns the level and the message of a JSON object.
  LogLine OfObject(std::string_view text) {
    static const re2::RE2 level(R"re((?i)"(?:level|levelname|severity|lvl|log_?level)": ?"(\w+))re",
                                re2::RE2::Latin1);
    static const re2::RE2 message(R"re("(?:message|msg|event)": ?"((?:[^"\\]|\\.)*))re",
                                  re2::RE2::Latin1);
    static const re2::RE2 error(
        R"re("(?:error|err|exc_info|exception|reason|cause)": ?"((?:[^"\\]|\\.)*))re",
        re2::RE2::Latin1);
    const re2::StringPiece piece(text.data(), text.size());
    LogLine line{.body = text};
    std::string name;
    if (re2::RE2::PartialMatch(piece, level, &name)) {
      const char first = static_cast<char>(std::toupper(static_cast<unsigned char>(name[0])));
      line.level = first == 'W'                                   ? LogLevel::kWarning
                   : first == 'I' || first == 'D' || first == 'T' ? LogLevel::kInfo
                                                                  : LogLevel::kError;
      re2::StringPiece summary;
      re2::StringPiece reason;
      re2::RE2::PartialMatch(piece, message, &summary);
      re2::RE2::PartialMatch(piece, error, &reason);
      if (!summary.empty() && !reason.empty()) {
        line.body = unescaped_.emplace_back(reason.as_string() + " (" + summary.as_string() + ")");
      } else if (!summary.empty() || !reason.empty()) {
        const re2::StringPiece only = summary.empty() ? reason : summary;
        line.body = {only.data(), only.size()};
      }
    }
    return line;
  }

  void Look(size_t at) {
    const LogLine& line = entries_[at].line;
    if (!line.origin.empty()) origins_.insert(line.origin);
    const TracebackReader::Seen seen = tracebacks_.Add(line);
    switch (seen.part) {
      case TracebackReader::Part::kFrame:
        several_ |= SpeaksOfSeveral(line.body);
        spawned_ |= line.body.find("multiprocessing/spawn.py") != std::string_view::npos;
        return;
      case TracebackReader::Part::kException:
        AddRaised(at, seen);
        return;
      case TracebackReader::Part::kMessage:
        if (AddToRaised(at)) return;
        break;
      case TracebackReader::Part::kOther:
        break;
    }
    LookAtOther(at);
  }

  void AddRaised(size_t at, const TracebackReader::Seen& seen) {
    const LogLine& line = entries_[at].line;
    std::string_view text = line.body;
    text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
    // An EOFError in a spawned child means that the parent ended before it sent the child's work.
    const bool orphaned = std::exchange(spawned_, false) && text.starts_with("EOFError");
    const bool aside = seen.aside || orphaned;
    if (!aside && !seen.of_thread && !seen.announced) ended_ = false;
    const RuleMatch match = MatchRule(text, true);
    const bool points = PointsElsewhere(text) || IsOfNccl(text);
    if (IsWrapperOnly(text, match) || (points && match.rule == nullptr)) {
      several_ |= text.find("ChildFailed") != std::string_view::npos;
      if (const auto before = open_.find(line.origin); before != open_.end()) {
        Candidate& outer = candidates_[before->second];
        outer.hollow = outer.open && at == outer.entry + 1;
        open_.erase(before);
      }
      if (!aside) AddSignal(at, text);
      return;
    }
    Candidate raised{.match = match,
                     .entry = at,
                     .end = at,
                     .steps = steps_,
                     .lines = lines_,
                     .raised = true,
                     .aside = aside,
                     .of_thread = seen.of_thread,
                     .handled = seen.announced,
                     .caused = seen.caused,
                     .open = text.ends_with(':') || IsOfCall(text),
                     .points = points,
                     .chain = seen.chain,
                     .origin = line.origin,
                     .text = text};
    open_[line.origin] = candidates_.size();
    candidates_.push_back(std::move(raised));
  }

  // Adds another line of an exception's message. Returns false if the line must be read like any
  // other, for example because the exception was a wrapper.
  bool AddToRaised(size_t at) {
    const LogLine& line = entries_[at].line;
    const auto open = open_.find(line.origin);
    if (open == open_.end()) return false;
    Candidate& raised = candidates_[open->second];
    if ((raised.aside || raised.of_thread || raised.handled) && ReportsEnd(line.body)) return false;
    if (raised.text.find_first_of(": (") == std::string_view::npos) return false;  // it has none
    raised.end = at;
    several_ |= SpeaksOfSeveral(line.body);
    const bool indented = IsIndented(line.body);
    raised.handled |= at <= raised.entry + 2 && !indented && ReportsHandling(line.body);
    const RuleMatch match = MatchRule(line.body, raised.open || BeginsLikeException(line.body));
    const Strength strength =
        match.rule == nullptr ? Strength::kNone : StrengthOf(match.rule->category);
    if (strength > Strength::kSignal && strength >= raised.strength() &&
        (raised.match.rule == nullptr || match.rule < raised.match.rule)) {
      raised.match = match;
      raised.text = line.body;
      raised.points = IsOfNccl(line.body);
    }
    CountStep(line.body);
    if (IsClosing(line.body)) return true;
    ++lines_;
    if (indented || ReportsHandling(line.body)) ++raised.no_work;
    return true;
  }

  void LookAtOther(size_t at) {
    const LogLine& line = entries_[at].line;
    const std::string_view text = line.body;
    if (text.empty()) return;
    several_ |= SpeaksOfSeveral(text);
    const bool closing = IsClosing(text);
    listing_handled_ = ListsHandled(text) || (listing_handled_ && IsIndented(text));
    if (CountStep(log_.lines()[entries_[at].at].text) || !closing) ++lines_;
    // The line after a traceback may show that the error was handled.
    if (const auto open = open_.find(line.origin); open != open_.end()) {
      Candidate& raised = candidates_[open->second];
      if (at <= raised.end + 2 && !IsIndented(text) && ReportsHandling(text)) {
        raised.handled = true;
        if (!closing) ++raised.no_work;
      }
      if (at > raised.end + 2) open_.erase(open);
    }
    if (!closing || ReportsEnd(text)) ended_ = ReportsEnd(text) || (ended_ && lines_ - end_at_ < 6);
    if (ReportsEnd(text)) {
      end_at_ = lines_;
      if (!closing) end_entry_ = at;
    }
    if (IsPipUnconnected(text)) unconnected_ = text;
    const std::string_view trimmed =
        text.substr(std::min(text.find_first_not_of(" \t"), text.size()));
    if (line.level == LogLevel::kWarning ||
        (line.level == LogLevel::kInfo && !ClaimsError(trimmed)) ||
        text.find(" NCCL INFO ") != std::string_view::npos || listing_handled_) {
      return;
    }
    const bool points = PointsElsewhere(trimmed) || IsOfNccl(trimmed);
    if (points || IsWrapper(trimmed)) {
      const RuleMatch named = MatchRule(trimmed, true);
      if (IsWrapperOnly(trimmed, named) || (points && named.rule == nullptr)) {
        several_ = true;
        AddSignal(at, trimmed);
        return;
      }
    }
    ended_others_ |= ReportsExit(trimmed);
    const RuleMatch match = MatchLine(trimmed, line.level == LogLevel::kError);
    if (match.rule == nullptr || ReportsHandling(trimmed) || IsWarning(trimmed) ||
        IsReportOfPip(trimmed)) {
      return;
    }
    const bool by_signal = StrengthOf(match.rule->category) == Strength::kSignal;
    if (by_signal && (ended_others_ || SendsSignal(trimmed))) return;
    if (!unconnected_.empty() && IsPipWithoutVersions(trimmed)) {
      AddLine(at, MatchRule(unconnected_, false), unconnected_);
      return;
    }
    AddLine(at, match, trimmed);
    candidates_.back().points = points;
  }

  void AddLine(size_t at, const RuleMatch& match, std::string_view text) {
    candidates_.push_back({.match = match,
                           .entry = at,
                           .end = at,
                           .steps = steps_,
                           .lines = lines_,
                           .origin = entries_[at].line.origin,
                           .text = text});
  }

  // Adds the signal that ended a process, if a launcher's exception names it.
  void AddSignal(size_t at, std::string_view text) {
    const RuleMatch match = MatchRule(text, false);
    if (match.rule == nullptr) return;
    const Strength strength = StrengthOf(match.rule->category);
    if (strength == Strength::kSignal || strength == Strength::kCrash) AddLine(at, match, text);
  }

  // Returns the rule for a line that is not part of a traceback. `logged`: its level is error.
  RuleMatch MatchLine(std::string_view text, bool logged) {
    // Rust, for example, prints the message on the next line.
    std::string_view message = LastErrorOf(text);
    if (message.empty() && announced_) message = text;
    if (IsRuler(text) || IsSource(text)) return {};
    announced_ = text.ends_with(':') && (text.find("' panicked at ") != std::string_view::npos ||
                                         BeginsLikeException(text));
    RuleMatch match = MatchRule(message, true);
    if (match.rule != nullptr) {
      match.place += static_cast<size_t>(message.data() - text.data());
      return match;
    }
    const bool raised = BeginsLikeException(text);
    match = MatchRule(text, logged || raised);
    return match.rule != nullptr && !raised && IsQuoted(text, match.place) ? RuleMatch() : match;
  }

  // Returns whether the line shows that the training has advanced.
  bool CountStep(std::string_view text) {
    const std::optional<ProgressLine> progress = ReadProgressLine(text);
    if (!progress || progress->kind != LineKind::kTraining) return false;
    const std::pair<double, int64_t> now = {progress->epoch.value_or(0),
                                            progress->iteration.value_or(-1)};
    trained_ |= progress->loss && now > std::pair<double, int64_t>{0, 0};
    if (now <= furthest_) return false;
    furthest_ = now;
    ++steps_;
    return true;
  }

  // Returns whether the exception only wraps another one. `match`: of its text.
  static bool IsWrapperOnly(std::string_view text, const RuleMatch& match) {
    if (!IsWrapper(text)) return false;
    const bool has_cause =
        match.rule != nullptr && (match.rule->category == Category::kLibrary ||
                                  match.rule->category == Category::kConfiguration);
    return !(has_cause && HasOwnMessage(text));
  }

  bool IsOfSeveral() const { return several_ || origins_.size() > 1; }

  bool WentOn(const Candidate& one) const {
    return steps_ - one.steps >= (IsOfSeveral() ? kStepsOfSeveral : kStepsOfOne) ||
           lines_ - one.lines > (one.raised ? kLinesAfterTraceback : kLinesAfterLine);
  }

  // Returns whether the program went on after it had handled this one. `last`: the last candidate.
  bool WasHandled(const Candidate& one, const Candidate& last) const {
    const bool is_cause_of_last = one.raised && last.raised && one.chain == last.chain;
    return (one.entry < last.entry && !is_cause_of_last) || steps_ > one.steps ||
           lines_ - one.lines > one.no_work + kLinesAfterHandled;
  }

  // Returns the exception that ended the program; null if there is none.
  const Candidate* BestRaised() const {
    // Prefer a chain's last exception that a rule recognises as a cause, otherwise any that a rule
    // recognises.
    std::vector<const Candidate*> chains;
    std::map<int, size_t> places;
    for (const Candidate& one : candidates_) {
      if (!one.raised) continue;
      const auto [place, is_new] = places.emplace(one.chain, chains.size());
      if (is_new) {
        chains.push_back(&one);
      } else if (const Candidate*& best = chains[place->second];
                 one.strength() >= best->strength() &&
                 !(one.caused && one.IsOfType() && best->strength() == Strength::kSpecific)) {
        best = &one;
      }
    }
    if (chains.empty()) return nullptr;
    if (!IsOfSeveral()) return LastOfOne(chains);
    // Takes the last exception of each process, and among these the first one with the strongest
    // rule.
    std::map<std::string, const Candidate*> last;
    for (const Candidate* one : chains) {
      const Candidate*& of_origin = last[one->origin];
      // Without prefixes, exceptions may come from any process.
      if (of_origin == nullptr || !one->origin.empty() ||
          one->strength() >= of_origin->strength()) {
        of_origin = one;
      }
    }
    const Candidate* best = nullptr;
    for (const Candidate* one : chains) {
      if (last[one->origin] != one) continue;
      if (best == nullptr || one->strength() > best->strength()) best = one;
    }
    return best;
  }

  // Returns the last exception of one process, unless it directly followed another one.
  const Candidate* LastOfOne(const std::vector<const Candidate*>& chains) const {
    const Candidate* best = chains.back();
    for (size_t i = chains.size() - 1; i-- > 0 && best->strength() < Strength::kCascade;) {
      if (chains[i + 1]->lines > chains[i]->lines) break;
      if (chains[i]->strength() > best->strength()) best = chains[i];
    }
    return best;
  }

  // Returns the strongest of the other lines from `from` on. Among equally strong causes, prefers
  // the last one that no earlier line explains; among other equally strong lines, the first one.
  const Candidate* BestLine(size_t from) const {
    const Candidate* best = nullptr;
    for (const Candidate& one : candidates_) {
      if (one.raised || one.entry < from) continue;
      if (best == nullptr || one.strength() > best->strength() ||
          (one.strength() == best->strength() && one.strength() == Strength::kSpecific &&
           !Explains(*best, one))) {
        best = &one;
      }
    }
    return best;
  }

  // Returns a line near an exception that shows more than the exception; null if there is none.
  const Candidate* Fuller(const Candidate* raised) const {
    if (raised == nullptr || !(raised->hollow || IsBareType(raised->text))) return nullptr;
    const size_t from =
        raised->hollow ? raised->entry - std::min(raised->entry, kNear) : raised->entry + 1;
    const Candidate* const line = BestLine(from);
    const bool is_fuller = line != nullptr && line->strength() == Strength::kSpecific &&
                           line->entry <= raised->entry + kNear &&
                           (raised->match.rule->category != Category::kHostOom ||
                            line->match.rule->category == Category::kGpuOom);
    return is_fuller ? line : nullptr;
  }

  const LogTail& log_;
  std::deque<std::string> unescaped_;
  std::vector<Entry> entries_;
  TracebackReader tracebacks_;
  std::vector<Candidate> candidates_;
  std::map<std::string, size_t, std::less<>> open_;  // by origin: its newest exception
  std::set<std::string> origins_;
  bool several_ = false;
  bool listing_handled_ = false;  // the program lists errors that it handled
  bool listed_ = false;           // the line before introduces a list of presumed causes
  bool announced_ = false;        // the next line is an exception's message
  std::string_view unconnected_;  // pip's last line that reports its index as unreachable
  bool spawned_ = false;          // the present traceback is of a child that Python spawned
  bool ended_others_ = false;     // a launcher ends the processes that are left
  bool trained_ = false;          // a line shows a loss after the start
  size_t steps_ = 0;
  size_t lines_ = 0;
  std::pair<double, int64_t> furthest_ = {-1, -1};
  bool ended_ = false;
  size_t end_at_ = 0;
  size_t end_entry_ = 0;  // the last line that reports an end
};

}  // namespace

LogReading ReadLog(const LogTail& log) {
  LogReading reading = Reading(log).Conclude();
  const TrainingProgress progress = log.Progress();
  reading.iterations = std::max(reading.iterations, progress.counted);
  reading.checkpoint = progress.checkpoint;
  reading.first_iteration = progress.first_training;
  if (!progress.last_training) return reading;
  for (auto line = log.lines().rbegin(); line != log.lines().rend(); ++line) {
    if (!line->time) continue;
    reading.since_iteration = std::max(*line->time - *progress.last_training, Duration::zero());
    break;
  }
  return reading;
}

}  // namespace synergy
