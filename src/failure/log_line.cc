#include "failure/log_line.h"

#include <array>

#include <re2/re2.h>

namespace synergy {
namespace {

// More prefixes than any line has.
constexpr int kMostPrefixes = 10;

enum class Prefix { kTime, kOrigin, kLevel, kLetter, kPlace };

struct PrefixForm {
  Prefix kind;
  const char* expression;  // its group captures the origin or the level
};

constexpr std::array kForms = {
    // horovodrun with Gloo: "Fri Sep 25 16:52:57 2026[1]<stderr>:".
    PrefixForm{Prefix::kOrigin,
               R"((?:\w{3} \w{3} [ \d]\d \d\d:\d\d:\d\d \d{4})?(\[\d+\]<std(?:err|out)>):)"},
    // One of these: 2026-11-21 07:05:03,250; 2026/11/21 07:05:03; 11/21/26 07:05:03; Nov 21
    // 07:05:03; 11-21 07:05:03; 07:05:03; [ 1234.567890] from the kernel.
    PrefixForm{
        Prefix::kTime,
        R"((?:[\[(]?(?:\d{4}[-/]\d\d[-/]\d\d[T _]\d\d:\d\d:\d\d|\d\d/\d\d/(?:\d\d){1,2}(?:,)? \d\d:\d\d:\d\d)"
        R"(|(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]* +)?(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]* +\d{1,2} \d\d:\d\d:\d\d(?: \d{4})?)"
        R"(|(?:\d\d-\d\d )?\d\d:\d\d:\d\d)(?:[.,:]\d{1,9})?(?:Z|[+-]\d\d:?\d\d| ?UTC)?[\])]?|\[ *\d+\.\d{6}\])(?::|,)?(?: [-|])?(?:[ \t]|$))"},
    // glog, absl and PyTorch: [rank0]:[E1121 07:05:03.123 ProcessGroupNCCL.cpp:616] , W1121 ... 140
    // run.py:757]
    PrefixForm{
        Prefix::kLetter,
        R"(\[?([IWEF])(?:\d{3,4}(?: |-)[\d:.]+)?(?: +\d+)? [\w./<>-]+:\d+\](?: ?\[[\d/:]+\])*(?: |$))"},
    PrefixForm{Prefix::kOrigin,
               R"((\[\d+,(?:mpirank:)?\d+(?:,[^\]<>]{1,80})?\]<std(?:err|out)>):)"},
    PrefixForm{
        Prefix::kOrigin,
        R"((\[(?:(?:local|global)?[_ -]?rank|default|worker|trainer|node|host|RANK|Rank|GPU|gpu)[ _:=-]?\d+\]):?)"},
    // torchx, nemo-run, PaddlePaddle's and dstack's launchers: "i.pretrain/0 ", "trainer/0 [3]:",
    // "[3]:", "[trainer0|0]:", "[err, 11:48, 929s, host] ".
    PrefixForm{Prefix::kOrigin, R"(([A-Za-z][\w.-]{0,80}/\d{1,4})(?: |$))"},
    PrefixForm{Prefix::kOrigin, R"((\[(?:[\w.-]{1,60}\|)?\d{1,5}\]):)"},
    PrefixForm{Prefix::kOrigin,
               R"(\[(?:err|out|stderr|stdout)(?:,[^\],]{1,40})*,? ?([\w.-]{0,80})\]:?)"},
    PrefixForm{Prefix::kOrigin,
               R"((\((?:[\w.<>:*\[\]/() -]{0,80}[ (])?pid=\d+(?:, ip=[\d.:a-f]+)?\)))"},
    PrefixForm{Prefix::kOrigin, R"((\((?:raylet|autoscaler|gcs_server)[^)]{0,60}\)))"},
    PrefixForm{Prefix::kOrigin, R"((\[pod/[^\]]{1,300}\]))"},
    PrefixForm{Prefix::kOrigin, R"((\d{1,5}):(?: |$))"},
    PrefixForm{Prefix::kOrigin, R"(((?:\d{1,3}\.){3}\d{1,3}):(?: |$))"},
    PrefixForm{Prefix::kOrigin, R"(([a-z][a-z0-9.-]*\d[a-z0-9.-]*):(?: |$))"},
    PrefixForm{Prefix::kOrigin, R"(([a-z][\w.-]{0,80}) +\|(?: |$))"},
    PrefixForm{Prefix::kOrigin, R"((rank ?\d+)[:|](?: |$))"},
    // The tree that Python prints for an ExceptionGroup.
    PrefixForm{Prefix::kPlace, R"( {2,}[|+] )"},
    // ERROR:root:text, ERROR:root:  2026... - name - ERROR - , | ERROR | module:function:12 - ,
    // [ERROR] , ERROR:
    PrefixForm{
        Prefix::kLevel,
        R"((?:[\w.-]{1,80} - )?(?:\[[\w.:-]{1,80}\] ?)?[\[(]?\b(TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|ERR|CRITICAL|FATAL|SEVERE)\b(?: *\||[\])](?::| -)?|:[\w.]{1,80}:| *-|:)?(?:[ \t]|$))"},
    PrefixForm{Prefix::kLevel, R"((DEBUG|INFO|WARNING|ERROR|CRITICAL):[\w.]{1,80}:)"},
    PrefixForm{
        Prefix::kLevel,
        R"((?:\[[\w.]{1,60}\] )?\[(Fatal|Error|Warning|Info|fatal|error|warning|info) *\]:? )"},
    PrefixForm{Prefix::kLevel, R"((?:level=)(debug|info|warn|warning|error|fatal)\b ?)"},
    // [launch.py:321:sigkill_handler] , __main__:main:12 - , trainer.py:412 -- , tune.py:12:
    PrefixForm{Prefix::kPlace, R"(\[[\w./<>-]{1,120}:\d+(?::[\w<>.]{1,80})?\] ?(?:>> ?)?)"},
    PrefixForm{Prefix::kPlace, R"([\w.<>]{1,80}:[\w<>.]{1,80}:\d+ - )"},
    PrefixForm{Prefix::kPlace,
               R"([\w./<>-]{1,120}\.(?:py|cc|cpp|cu|go|rs):\d+(?: --| -|:|\])(?: |$))"},
    PrefixForm{Prefix::kPlace, R"(\[[\w.]{1,60}\](?:\[[\w.]{1,60}\])* )"},
};

LogLevel LevelNamed(re2::StringPiece name) {
  switch (name.empty() ? 'I' : name[0]) {
    case 'W':
    case 'w':
      return LogLevel::kWarning;
    case 'E':
    case 'e':
    case 'C':
    case 'F':
    case 'f':
    case 'S':
      return LogLevel::kError;
    default:
      return LogLevel::kInfo;
  }
}

struct CompiledForm {
  Prefix kind;
  re2::RE2 expression;
};

const std::array<CompiledForm, kForms.size()>& Compiled() {
  static const auto* const compiled = [] {
    return []<size_t... kAt>(std::index_sequence<kAt...>) {
      return new std::array<CompiledForm, kForms.size()>{
          {{kForms[kAt].kind, {kForms[kAt].expression, re2::RE2::Latin1}}...}};
    }(std::make_index_sequence<kForms.size()>());
  }();
  return *compiled;
}

// Removes one prefix from the line's body; returns whether there was one.
bool TakePrefix(LogLine& line) {
  const re2::StringPiece text(line.body.data(), line.body.size());
  for (const CompiledForm& form : Compiled()) {
    std::array<re2::StringPiece, 2> found;
    const int groups = form.expression.NumberOfCapturingGroups() + 1;
    if (!form.expression.Match(text, 0, text.size(), re2::RE2::ANCHOR_START, found.data(),
                               groups) ||
        found[0].empty()) {
      continue;
    }
    line.body.remove_prefix(found[0].size());
    if (form.kind == Prefix::kOrigin) {
      line.origin.append(found[1].data(), found[1].size());
      // One space belongs to the prefix, two to a traceback's frame.
      if (line.body.starts_with(' ') && !line.body.starts_with("  ")) line.body.remove_prefix(1);
    }
    if (form.kind == Prefix::kLevel || form.kind == Prefix::kLetter) {
      line.level = LevelNamed(found[1]);
    }
    return true;
  }
  return false;
}

}  // namespace

LogLine SplitLine(std::string_view text) {
  LogLine line{.body = text};
  for (int prefixes = 0; prefixes < kMostPrefixes && TakePrefix(line); ++prefixes) {
  }
  while (!line.body.empty() && (line.body.back() == ' ' || line.body.back() == '\t')) {
    line.body.remove_suffix(1);
  }
  return line;
}

}  // namespace synergy
