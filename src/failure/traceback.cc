#include "failure/traceback.h"

#include <algorithm>

#include <re2/re2.h>

namespace synergy {
namespace {

// Limits on further lines of a message, and on lines of other processes within a traceback.
constexpr int kMostMessages = 40;
constexpr int kMostStrays = 20;

re2::StringPiece Piece(std::string_view text) { return {text.data(), text.size()}; }

bool IsHeading(std::string_view text) {
  return text.find("raceback (most recent call last)") != std::string_view::npos;
}

// Returns the frame's indentation, or 0 if the line is not a frame.
size_t FrameIndent(std::string_view text) {
  static const re2::RE2 frame(R"re(^(\s+)File ["'<].*,? line \d+)re", re2::RE2::Latin1);
  re2::StringPiece spaces;
  return re2::RE2::PartialMatch(Piece(text), frame, &spaces) ? spaces.size() : 0;
}

bool IsCauseOfNext(std::string_view text) {
  return text.find("was the direct cause of the following exception") != std::string_view::npos;
}

bool LinksChain(std::string_view text) {
  return text.find("During handling of the above exception") != std::string_view::npos ||
         IsCauseOfNext(text);
}

bool IsAside(std::string_view text) {
  static const re2::RE2 aside(
      R"(^(?:Exception ignored in|Error in atexit|Error in sys\.excepthook|--- Logging error))",
      re2::RE2::Latin1);
  return re2::RE2::PartialMatch(Piece(text), aside);
}

// Returns whether the exception that follows is of another thread, or of a task.
bool IsOfThread(std::string_view text) {
  static const re2::RE2 thread(
      R"(^(?:Exception in thread [^"]|Exception in callback|Task exception was never retrieved))",
      re2::RE2::Latin1);
  return re2::RE2::PartialMatch(Piece(text), thread);
}

// Returns whether the line comes from Python's module warnings, which does not introduce a
// traceback.
bool IsPythonWarning(std::string_view text) {
  static const re2::RE2 warning(R"(:\d+: \w*Warning: )", re2::RE2::Latin1);
  return re2::RE2::PartialMatch(Piece(text), warning);
}

size_t IndentOf(std::string_view text) {
  return std::min(text.find_first_not_of(" \t"), text.size());
}

}  // namespace

bool BeginsLikeException(std::string_view text) {
  static const re2::RE2 exception(
      R"(^(?:[A-Za-z_]\w*\.)*(?:[A-Za-z_]\w*(?:Error|Exception|Interrupt|Exit|Warning|Failure|Failed|Fault|Timeout|Abort|Expired|NotFound|Closed|Mismatch|Conflict|Missing|Refused|Denied|BadZipFile|Full|Empty)\w*(?:\[\w+\])?(?:\(\w+\))?|StopIteration|(?:[A-Za-z_]\w*\.)+[A-Z]\w*|zlib\.error|error)(?::|$|\())",
      re2::RE2::Latin1);
  return re2::RE2::PartialMatch(Piece(text), exception);
}

std::string_view LastErrorOf(std::string_view text) {
  static const re2::RE2 report(
      R"(^(?:what\(\): +|(?:panic|fatal error|Error|LoadError): |thread '[^']*' (?:\(\d+\) )?panicked at '|called `\w+::\w+\(\)` on an? `\w+` value: |Error in .{1,80} : |Exception in thread "[^"]*" ))",
      re2::RE2::Latin1);
  re2::StringPiece rest = Piece(text);
  bool reported = false;
  while (re2::RE2::Consume(&rest, report)) reported = true;
  return reported ? std::string_view(rest.data(), rest.size()) : std::string_view();
}

bool ReportsHandling(std::string_view text) {
  static const re2::RE2 handling(
      R"((?i)\bretry(?:ing)?\b|\bwill retry|\bretries (?:left|remaining)|\battempt \d+ ?(?:of|/)|\bfalling back|\bfall back|\bfallback\b|\bignor(?:ed|ing)\b|\bskipp(?:ed|ing)\b|\bhandled\b|\bcontinuing\b|(?:\b(?:will|we|and|then|so)|[,;:.]|^) continue\b|^continue\b|\bcontinue (?:with|without|training|anyway|from|on)\b|\bnon-?fatal\b|not fatal|\bwill be disabled|\bdisabling\b|\banyway\b|\b(?:us(?:e|ing)|load(?:ing)?|train(?:ing)?|switch(?:ing)?|default(?:ing)?|run(?:ning)?) .{0,60}\binstead\b|\bharmless\b|\bproceeding\b|\brecover(?:ed|ing)\b|\bexpected failure\b|\bcaught and\b|\(optional\)|\boptional (?:dependency|package|module|import|feature|extension|plugin|kernel)s?\b|\bis optional\b|reduc(?:e|ing) (?:the )?batch size (?:to|by|and)|\btrying again|\breconnect(?:ed|ing)\b)",
      re2::RE2::Latin1);
  static const re2::RE2 advice(
      R"((?i)\byou (?:can|may|could|should|might) (?:\w+ ){0,8}(?:fall|fallback|ignore|skip|disable|continue|retry|use|try)\b)",
      re2::RE2::Latin1);
  return re2::RE2::PartialMatch(Piece(text), handling) &&
         !re2::RE2::PartialMatch(Piece(text), advice);
}

bool IsWarning(std::string_view text) {
  static const re2::RE2 warning(R"((?i)^\w*warning: |\bwarning:)", re2::RE2::Latin1);
  return re2::RE2::PartialMatch(Piece(text), warning);
}

TracebackReader::Seen TracebackReader::AddFrame(State& state, size_t indent) {
  if (indent > 0) {
    state.indent = indent;
    state.strays = 0;
    state.quiet = false;  // the warning introduced these frames
  }
  state.after = false;
  return {.part = Part::kFrame};
}

TracebackReader::Seen TracebackReader::AddException(State& state) {
  if (!state.linked) ++chains_;
  const int chain = state.linked ? state.last.chain : chains_;
  state.last = {.part = Part::kException,
                .chain = chain,
                .aside = state.aside,
                .of_thread = state.of_thread,
                .announced = state.announced,
                .caused = state.linked && state.caused};
  state.indent = 0;
  state.after = true;
  state.messages = 0;
  state.quotes = false;
  state.linked = false;
  state.aside = false;
  state.of_thread = false;
  state.announced = false;
  return state.last;
}

TracebackReader::Seen TracebackReader::Add(const LogLine& line) {
  auto found = states_.find(line.origin);
  if (found == states_.end()) {
    found =
        states_.emplace(states_.size() < kMostOrigins ? line.origin : std::string(), State()).first;
  }
  State& state = found->second;
  const std::string_view text = line.body;
  if (text.empty()) return {.part = state.indent > 0 ? Part::kFrame : Part::kOther};
  if (IsHeading(text)) {
    state.announced |= state.quiet || line.level == LogLevel::kWarning;
    state.quiet = false;
    state.indent = 0;
    return AddFrame(state, 0);
  }
  const bool quiet = ((ReportsHandling(text) || IsWarning(text)) && !IsPythonWarning(text)) ||
                     (line.level == LogLevel::kWarning && text.back() == ':');
  if (LinksChain(text)) {
    state.linked = true;
    state.caused = IsCauseOfNext(text);
    state.after = false;
    return {.part = Part::kFrame};
  }
  const bool of_thread = IsOfThread(text);
  if (of_thread || IsAside(text)) {
    state.aside = !of_thread;
    state.of_thread = of_thread;
    state.linked = false;
    state.after = false;
    state.indent = 0;
    return {.part = Part::kFrame};
  }
  if (const size_t indent = FrameIndent(text); indent > 1) {
    // An error in a TensorFlow graph prints frames in its message.
    if (state.after && (indent > 2 || state.quotes) && state.messages < kMostMessages)
      return {.part = Part::kFrame};
    return AddFrame(state, indent);
  }
  if (state.indent > 0) {
    const size_t indent = IndentOf(text);
    if (indent >= state.indent) return {.part = Part::kFrame};
    if (BeginsLikeException(text.substr(indent))) return AddException(state);
    if (indent > 0 && indent + 2 >= state.indent) return {.part = Part::kFrame};
    if (++state.strays > kMostStrays) state.indent = 0;
    return {};
  }
  if (state.after) {
    // Exceptions of several processes without prefixes may directly follow each other.
    if (BeginsLikeException(text) && state.messages == 0) {
      state.aside = state.last.aside;
      state.of_thread = state.last.of_thread;
      state.announced = state.last.announced;
      return AddException(state);
    }
    if (++state.messages <= kMostMessages && line.level == LogLevel::kNone) {
      state.quotes |= text.ends_with("(most recent call last):");
      return {.part = Part::kMessage, .chain = state.last.chain, .aside = state.last.aside};
    }
    state.after = false;
  }
  state.linked = false;
  state.quiet = quiet;
  return {};
}

}  // namespace synergy
