#include "failure/line_kinds.h"

#include <algorithm>
#include <cstdint>

#include <re2/re2.h>

#include "failure/traceback.h"

namespace synergy {
namespace {

// Bytes for an expression and its matching cache; an expression that needs more is slower.
constexpr int64_t kRuleMemory = 512 << 10;

re2::RE2::Options RuleOptions() {
  re2::RE2::Options options(re2::RE2::Latin1);
  options.set_max_mem(kRuleMemory);
  options.set_log_errors(false);  // RE2 would copy a pod's text into Synergy's log
  return options;
}

bool Finds(const re2::RE2& expression, std::string_view text) {
  return re2::RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), expression);
}

// Recognises a frame of a stack trace of Julia, Java, JavaScript, Rust, Go or R.
bool IsFrame(std::string_view text) {
  static const re2::RE2 frame(
      R"(^ +\[\d+\] [A-Za-z_(#+*]|^ +@ |^in expression starting at |^Stacktrace:|^\s+at [\w$./<]|^\s*\.\.\. \d+ (?:more|frames)\b|^\s+\d+: +(?:[\w<]\S*::|\w+\()|^\t\S+\.go:\d+|^goroutine \d+ \[|^Calls: |^created by )",
      RuleOptions());
  return Finds(frame, text);
}

}  // namespace

bool IsWrapper(std::string_view text) {
  static const re2::RE2 wrapper(
      R"(^(?:[\w.]+\.)?(?:ChildFailedError|CalledProcessError|ProcessRaisedException|ProcessExitedException|TrainingFailedError|TuneError|JobSubmissionError|WorkerGroupError|ControllerError|SystemExit|ExecutionException|DatasetGenerationError|_RemoteTraceback|RemoteTraceback|FunctionExecutionFailed)\b|^(?:[\w.]+\.)?RayTaskError(?:\(\w+\))?: |: Caught \w+ in (?:DataLoader worker|replica|pin memory))",
      RuleOptions());
  return Finds(wrapper, text);
}

bool HasOwnMessage(std::string_view text) {
  static const re2::RE2 own(R"(^(?:[\w.]+\.)?(?:CalledProcessError|TuneError)\b)", RuleOptions());
  return Finds(own, text);
}

bool IsOfNccl(std::string_view text) {
  static const re2::RE2 nccl(R"(unhandled system error|^ncclSystemError\b)", RuleOptions());
  return Finds(nccl, text);
}

bool PointsElsewhere(std::string_view text) {
  static const re2::RE2 pointer(
      R"(^[\w.]*(?:Error|Exception)\b.*(?:(?i)(?:root cause|(?:see|check|inspect|look at|refer to) .{0,40}\b(?:errors?|logs?|messages?|output|statements?|traces?|tracebacks?)\b.{0,30})(?:above|earlier|previous|for (?:a|the|more)|further up)|not the (?:actual|original|real) error))",
      RuleOptions());
  return Finds(pointer, text);
}

bool IsClosing(std::string_view text) {
  static const re2::RE2 closing(
      R"((?i)^\W*$|^ *(?:wandb|mlflow|comet|neptune|clearml)\b|\b(?:giving up|gave up|no_other_failures|errors?|fail|failed|failures?|abort|aborted|aborting|kill|killed|killing|signal|exit|exits|exited|exiting|exitcode|terminat\w*|shut\w*|clos(?:e|ed|ing)|clean\w*|destroy\w*|leaked|core dumped|traceback|stack|backtrace)\b|^ *#\d+ |^ *frame #|^\w+\(.*\) ?\[0x|0x[0-9a-f]{6,}|NCCL (?:INFO|WARN)|^ *\[\d+\]:|^ *(?:time|host|rank|exitcode|error_file|traceback) +:|^\[[\w.-]+:\d+\]|resource_tracker|destroy_process_group|^ *(?:File ")|Thread 0x|Extension modules|^\+ |sys\.exit|Primary job|mpirun|prterun|srun:|slurmstepd|elastic|To enable traceback|it/s|s/it|\d%\|)",
      RuleOptions());
  return Finds(closing, text) || IsFrame(text);
}

bool IsQuoted(std::string_view text, size_t place) {
  const std::string_view before = text.substr(0, place);
  static const re2::RE2 source(
      R"((?i)(?:^|[^\w/.-])(?:text|content|prompt|pred|prediction|predicted|target|label|sample|example|question|answer|input|output|response|completion|reference|hypothesis|hyp|ref|gold|human|assistant|document|instruction|generated|message|title|query|tokens?|decoded|caption)s?\b["']?(?: ?\d+)? ?[:=>] ?["'\[{(]?)",
      RuleOptions());
  static const re2::RE2 value(
      R"re(\b(?:err|error|exc|exception|msg|cause|reason)="(?:[^"\\]|\\.)*$)re", RuleOptions());
  if (Finds(value, before)) return false;
  if (Finds(source, before) && before.find("rror: ") == std::string_view::npos &&
      before.find("what():") == std::string_view::npos) {
    return true;
  }
  return std::count(before.begin(), before.end(), '"') % 2 == 1 ||
         before.find("\xe2\x80\x9c") != std::string_view::npos;
}

bool ReportsExit(std::string_view text) {
  static const re2::RE2 exit(
      R"((?i)\b(?:task|rank|process|worker)s? [\d\w ,-]*:? ?(?:has |have )?exited with (?:(?:exit )?code|status|a non-?zero exit code)(?: |: ?)(?:[1-9]\d?|1[01]\d|12[0-5]|255)\b)",
      RuleOptions());
  return Finds(exit, text);
}

bool SendsSignal(std::string_view text) {
  static const re2::RE2 sends(
      R"((?i)\b(?:sending|sends|sent) (?:process|(?:a )?signal|SIG\w+)\b|\bclosing signal\b)",
      RuleOptions());
  return Finds(sends, text);
}

bool IsReportOfPip(std::string_view text) {
  static const re2::RE2 report(
      R"(^[\w.\[\]-]+ \S+ (?:requires|has requirement) .*, (?:but you(?: will|'ll)? have .* which is incompatible|which is not installed)\.?$)",
      RuleOptions());
  return Finds(report, text);
}

bool IsPipUnconnected(std::string_view text) {
  return text.find("after connection broken by") != std::string_view::npos;
}

bool IsPipWithoutVersions(std::string_view text) {
  static const re2::RE2 none(R"(\(from versions: none\)|No matching distribution found for )",
                             RuleOptions());
  return Finds(none, text);
}

bool IsOfCall(std::string_view text) {
  return text.find("Exception encountered when calling ") != std::string_view::npos;
}

bool IsBareType(std::string_view text) {
  static const re2::RE2 bare(R"(^[\w.]+:?\s*$)", RuleOptions());
  static const re2::RE2 by_design(R"(^(?:AssertionError|NotImplementedError|StopIteration)\b)",
                                  RuleOptions());
  return Finds(bare, text) && !Finds(by_design, text);
}

bool IsSource(std::string_view text) {
  static const re2::RE2 source(
      R"(^raise(?: [\w.]+(?:\(.*|(?: from \w+)?)$|$)|^(?:return|assert) .*[)\]]$|^self\.\w+)",
      RuleOptions());
  return Finds(source, text);
}

bool ListsHandled(std::string_view text) { return text.ends_with(':') && ReportsHandling(text); }

bool IsIndented(std::string_view text) { return text.starts_with(' ') || text.starts_with('\t'); }

bool ClaimsError(std::string_view text) {
  static const re2::RE2 claims(
      R"(^(?:(?:FATAL|[Ff]atal|ERROR|Error|CRITICAL)(?::| in | when | while | during )|[Tt]erminate called))",
      RuleOptions());
  return Finds(claims, text) || BeginsLikeException(text);
}

bool IsRuler(std::string_view text) {
  return text.find_first_not_of("*=-_#~ ") == std::string_view::npos;
}

bool ReportsEnd(std::string_view text) {
  static const re2::RE2 end(
      R"((?i)\b(?:training|train|run|job|fine-?tuning|experiment|fit|evaluation|optimization)\b.*\b(?:complete|completed|finished|done|ended|succeeded|successful(?:ly)?)\b|\b(?:complete|completed|finished|done)\b.*\b(?:training|run|job|epochs?|fine-?tuning)\b|`?(?:Trainer\.)?fit`? stopped|'train_runtime'|^ *train_runtime +=|^ *(?:done|finished|completed|all done|success)[.!]*$|saved (?:the )?(?:final|best)? ?model|\bepochs? (?:complete|completed|done|finished)\b|max_(?:epochs|steps)=\d+.* reached|successfully)",
      RuleOptions());
  return Finds(end, text);
}

bool SpeaksOfSeveral(std::string_view text) {
  static const re2::RE2 several(
      R"(local_rank|torch[./]distributed[./]elastic|torchrun|\bRank \d|NCCL|world_size[=: ]+[2-9]|mpirun|prterun|exits with return code)",
      RuleOptions());
  return Finds(several, text);
}

std::string WithoutGuesses(std::string_view text, bool& listed) {
  // Matches words that introduce presumed causes, and the causes to the end of the line, sentence
  // or bracket.
  static const re2::RE2 list(
      R"((?i)(?:\b(?:there (?:are|may be) |here are |some |the )*(?:some |several |most |more )?(?:common|possible|potential|likely|typical|probable)(?: root)? (?:causes?|reasons?|explanations?)\b).*)",
      RuleOptions());
  static const re2::RE2 sentence(
      R"((?i)\b(?:this |it )?(?:may|might|could|can) (?:also )?(?:be|have been) (?:caused by|due to|because of|the result of) .*?(?:\. |$)|\b(?:due to|because of|caused by) [^.]{1,80} or (?:some )?other (?:unexpected |unknown )?(?:errors?|reasons?|problems?|issues?|causes?)\b)",
      RuleOptions());
  static const re2::RE2 example(R"((?i)\(e\.g\.,? [^()]*\))", RuleOptions());
  static const re2::RE2 item(R"(^\s*(?:\(?\d{1,2}[.)]|[-*]) )", RuleOptions());
  if (listed && Finds(item, text)) return "...";
  std::string facts(text);
  listed = re2::RE2::Replace(&facts, list, "...");
  int guesses = listed ? 1 : 0;
  guesses += re2::RE2::GlobalReplace(&facts, sentence, "... ");
  guesses += re2::RE2::GlobalReplace(&facts, example, "(...)");
  return guesses == 0 ? std::string() : facts;
}

}  // namespace synergy
