#include "progress/patterns.h"

#include <array>
#include <deque>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "progress/bars.h"
#include "progress/counted_line.h"
#include "progress/description.h"
#include "progress/expression.h"
#include "progress/loose/languages.h"
#include "progress/numbers.h"

namespace synergy {
namespace {

// Bytes for an expression and its matching cache; an expression that needs more is slower.
constexpr int64_t kPatternMemory = 256 << 10;
// Limit on the steps in RE2's program for a pod author's expression, because the time per line
// grows with them.
constexpr int kMostSteps = 2000;

// The pattern of one print statement. To add one, write a row here, and put its sample into
// patterns_test.cc and docs/internals/progress.md.
struct Pattern {
  std::string_view format;
  LineKind kind;
  std::string_view word;  // every matching line contains it
  const char* expression;
};

constexpr auto kTraining = LineKind::kTraining;
constexpr auto kEvaluation = LineKind::kEvaluation;
constexpr auto kFailure = LineKind::kFailure;

// The first match counts.
constexpr std::array kPatterns = {
    // CLU names the source of its values: "collection=eval", "collection=training_eval/...".
    Pattern{"flax", kEvaluation, "collection=", R"(\bcollection=(?:\w*_)?(?:eval|val|test|infer))"},
    Pattern{"big_vision", kTraining,
            "Steps:", R"(\bSteps:(?P<iteration>\d+)/(?P<total>\d+) \[[\d.]+%\])"},
    Pattern{"steps", kTraining, " It",
            R"((?i)\bEp(?:och)?[:=# ]+(?P<epoch>\d+)(?:/\d+)?[,:;| ]+It(?:er)?[:=# ]+)"
            R"((?P<iteration>\d+)(?:/(?P<total>\d+))?(?:[ ,:;|]|$))"},
    // PaddleNLP's Trainer, as dicts and as texts.
    Pattern{
        "paddle", kTraining, "'global_step': ",
        R"('learning_rate': .*'global_step': (?P<iteration>\d+)(?:, 'epoch': (?P<epoch>[\d.]+))?)"},
    Pattern{"paddle", kTraining, "interval_steps_per_second: ",
            R"(global_step: (?P<iteration>\d+),.* interval_steps_per_second: (?P<rate>[\d.]+))"
            R"((?:.*epoch: (?P<epoch>[\d.]+))?)"},
    // Evaluation, then training, of PaddleClas, PaddleDetection, PaddleSeg, PaddleOCR and
    // PaddleGAN.
    Pattern{"paddle", kEvaluation, "batch_cost", R"((?i)\[eval\]|, valid step)"},
    Pattern{"paddle", kTraining, "batch_cost",
            R"((?i)epoch[:=]? *\[?(?P<epoch>\d+)(?:/\d+)?[\], ]*)"
            R"(\[?(?:(?:iters?|global_step|train step)[:=] *)?\[? *(?P<iteration>\d+))"
            R"((?:/(?P<total>\d+))?\b.*batch_cost[:=] *(?P<seconds>[\d.]+))"},
    // ms-swift adds the count to Hugging Face's dicts.
    Pattern{"huggingface", kTraining, "'global_step/max_steps': ",
            R"(\{'loss': .*'epoch': '?(?P<epoch>[\d.]+).*)"
            R"('global_step/max_steps': '(?P<iteration>\d+)/(?P<total>\d+)')"
            R"((?:.*'train_speed\(iter/s\)': '?(?P<rate>[\d.]+))?)"},
    Pattern{"huggingface", kTraining, "it/s, Epoch ",
            R"(\[ *(?P<iteration>\d+)/(?P<total>\d+) [\d:]+ < [\d:]+, (?P<rate>[\d.]+) it/s, )"
            R"(Epoch (?P<epoch>[\d.]+)/)"},
    // Hugging Face's Trainer prints dicts of numbers, and since version 5 of texts.
    Pattern{"huggingface", kEvaluation, "'eval_runtime'",
            R"('eval_runtime'(?:.*'epoch': '?(?P<epoch>[\d.]+))?)"},
    Pattern{"huggingface", LineKind::kEnd, "'train_runtime'",
            R"('train_steps_per_second': '?(?P<rate>[\d.]+))"},
    Pattern{"huggingface", kTraining,
            "'epoch': ", R"(\{'(?:.*')?(?:learning_rate|loss)': .*'epoch': '?(?P<epoch>[\d.]+))"},
    // Before DeepSpeed's pattern, because Megatron-DeepSpeed prints both.
    Pattern{"megatron", kTraining, "elapsed time per iteration",
            R"(iteration +(?P<iteration>\d+)/ *(?P<total>\d+) \|)"
            R"(.*elapsed time per iteration \(ms\): (?P<milliseconds>[\d.]+))"},
    Pattern{"megatron", kEvaluation, "validation loss at iteration", "validation loss"},
    Pattern{"megatron", kEvaluation, "Evaluating ",
            R"(Evaluating (?:iter \d+/\d+|on \d+ samples))"},
    Pattern{"deepspeed", kTraining, "iter time (s):",
            R"(steps?: +(?P<iteration>\d+)(?: */ *(?P<total>\d+))? )"
            R"(.*iter time \(s\): (?P<seconds>[\d.]+))"},
    Pattern{"deepspeed", kTraining, "skipped=", R"(\] step=(?P<iteration>\d+), skipped=)"},
    Pattern{"deepspeed", kTraining, "SamplesPerSec=",
            R"((?:global_step=|\d+/)(?P<iteration>\d+), (?:RunningAvg)?SamplesPerSec=)"},
    Pattern{"nanogpt", kTraining, "iter ",
            R"(\biter (?P<iteration>\d+)(?: step \d+)?: loss \S+, (?:iter )?time:? )"
            R"((?P<milliseconds>[\d.]+) ?ms)"},
    Pattern{"nanogpt", kEvaluation, "train loss", R"(\bstep \d+: train loss [\d.]+, val loss)"},
    Pattern{"litgpt", kTraining, "loss train: ",
            R"(\biter (?P<iteration>\d+) step \d+ \| loss train: (?P<loss>[^, ]+))"
            R"((?:.*iter time: (?P<milliseconds>[\d.]+) ms)?)"},
    Pattern{"torchtitan", kTraining, "tps: ", R"(\bstep: +(?P<iteration>\d+) +loss: .* tps: )"},
    Pattern{"maxtext", kTraining, "completed step: ",
            R"(\bcompleted step: (?P<iteration>\d+), seconds: (?P<seconds>[\d.]+))"},
    // verl prints a validation's figures on the same line as its own, or on a separate line.
    Pattern{"verl", kEvaluation, "step:", R"(\bstep:\d+ - val[-/_])"},
    Pattern{"verl", kTraining, "step:",
            R"(\bstep:(?P<iteration>\d+) - [a-z_]+/[^ ]+:[^ ]+)"
            R"((?:.* training/epoch:(?P<epoch>\d+))?(?:.* timing_s/step:(?P<seconds>[\d.]+))?)"},
    Pattern{"nemo", kTraining, "Training epoch ",
            R"(Training epoch (?P<epoch>\d+), iteration (?P<iteration>\d+)/(?P<total>\d+) \|)"
            R"((?:.*train_step_timing in s: (?P<seconds>[\d.]+))?)"},
    Pattern{"nemo", kEvaluation, "Validation: iteration ", R"(Validation: iteration \d+/\d+)"},
    Pattern{"detectron2", kTraining,
            "iter: ", R"(\biter: (?P<iteration>\d+)  .*loss.* time: (?P<seconds>[\d.]+))"},
    Pattern{"detectron2", kEvaluation, "Inference done ", R"(Inference done \d+/\d+)"},
    Pattern{"mmengine", kTraining, "(train) ",
            R"((?:Epoch|Iter)\(train\) +(?:\[(?P<epoch>\d+)\])?\[ *(?P<iteration>\d+)/)"
            R"( *(?P<total>\d+)\].* time: (?P<seconds>[\d.]+))"},
    Pattern{"mmengine", kEvaluation, "(val) ", R"((?:Epoch|Iter)\(val\) +\[)"},
    Pattern{"mmengine", kEvaluation, "(test) ", R"((?:Epoch|Iter)\(test\) +\[)"},
    // Lines from versions before 2.
    Pattern{"mmengine", kTraining, "]\tlr: ",
            R"((?:Epoch \[(?P<epoch>\d+)\]|Iter )\[ *(?P<iteration>\d+)/(?P<total>\d+)\]\tlr: )"
            R"(.* time: (?P<seconds>[\d.]+))"},
    Pattern{"fairseq", kTraining, "train_inner",
            R"(train_inner \| epoch (?P<epoch>\d+): +(?P<iteration>\d+) / +(?P<total>\d+) )"
            R"((?:.* ups=(?P<rate>[\d.]+))?)"},
    Pattern{"fairseq", kEvaluation, "valid on", R"(epoch \d+ \| valid on '[^']*' subset)"},
    // The words "Train Epoch" distinguish these lines from timm's.
    Pattern{"pytorch", kTraining, "Train Epoch: ",
            R"(Train Epoch: (?P<epoch>\d+) \[ *(?P<iteration>\d+)/(?P<total>\d+)(?: \(|\] Loss))"},
    // Lines without a bar, from a ModelCheckpoint with `verbose`.
    Pattern{"lightning", kTraining, "step ",
            R"(\bEpoch (?P<epoch>\d+), (?:global )?step (?P<iteration>\d+): )"
            R"('?[^ ]+ (?:reached [-\d.]+ \(best|was not in top))"},
    Pattern{"pytorch", kTraining, "Step [",
            R"(Epoch \[(?P<epoch>\d+)/\d+\],? +Step \[(?P<iteration>\d+)/(?P<total>\d+)\])"},
    Pattern{"pytorch", kTraining, "ms/batch",
            R"(epoch +(?P<epoch>\d+) \| +(?P<iteration>\d+)/ *(?P<total>\d+) batches \|)"
            R"(.*ms/batch +(?P<milliseconds>[\d.]+))"},
    Pattern{"pytorch", kEvaluation, "end of epoch", R"(end of epoch +\d+ \|.* valid loss)"},
    // Common in users' own print statements.
    Pattern{"pytorch", kEvaluation, "Epoch",
            R"((?i)\b(?:val|valid|validation|eval|evaluation|test)[^a-z]{1,4}Epoch:? \[?\d+)"},
    Pattern{
        "pytorch", kTraining, "Epoch",
        R"(\bEpoch:? \[?(?P<epoch>\d+)(?:/\d+)?\]?[,:;]? *(?:[|-] *)?(?:Step|Batch|Iter|Iteration):? )"
        R"(\[?(?P<iteration>\d+)/(?P<total>\d+)\]?[ ,:;|-]+(?:[Tt]rain(?:ing)?[ _])?[Ll]oss\b)"},
    Pattern{"pytorch", kTraining, "of epoch ",
            R"(^(?P<iteration>\d+)/(?P<total>\d+) of epoch (?P<epoch>\d+)/\d+ )"},
    Pattern{"dlrm", kTraining, "raining it ",
            R"(\b[Tt]raining it (?P<iteration>\d+)/(?P<total>\d+) of epoch (?P<epoch>\d+))"
            R"((?:, (?P<milliseconds>[\d.]+) ms/it)?)"},
    Pattern{"chainer", kTraining, "iter, ",
            R"(^ *(?P<iteration>\d+) iter, (?P<epoch>\d+) epoch / \d+ epochs)"},
    // DLLogger's JSON has the epoch, too.
    Pattern{"json", kTraining, "\"step\": [",
            R"("step": \[(?P<epoch>\d+), (?P<iteration>\d+)[,\]].*)"
            R"re("(?:train[._]\w+|(?:\w*_)?loss)": )re"},
    Pattern{"keras-rl", kTraining,
            ": episode: ", R"((?:^|\s)(?P<iteration>\d+)/(?P<total>\d+): episode: \d+, )"},
    Pattern{"steps", kTraining, "[batch_index:",
            R"(epoch_index: *(?P<epoch>\d+)/\d+\]\[batch_index: *(?P<iteration>\d+)/)"
            R"((?P<total>\d+)\])"},
    Pattern{"llama2.c", kTraining, "| loss ",
            R"((?:^|[>\]:] )(?P<iteration>\d+) \| loss (?P<loss>[\d.]+) \| lr )"
            R"((?:\S+ \| (?P<milliseconds>[\d.]+)ms)?)"},
    Pattern{"gpt-2-simple", kTraining,
            "] loss=", R"(^\[(?P<iteration>\d+) \| [\d.]+\] loss=(?P<loss>[\d.]+) avg=)"},
    Pattern{"tacotron", kTraining, "Grad Norm ",
            R"(^Train loss (?P<iteration>\d+) (?P<loss>[\d.]+) Grad Norm \S+ )"
            R"((?P<seconds>[\d.]+)s/it)"},
    Pattern{"tesseract", kTraining, "At iteration ",
            R"(At iteration (?P<iteration>\d+)/\d+/\d+, )"},
    Pattern{"xgboost", kTraining, "]\t",
            R"(^(?:\[[\d:]+\] |.*[>\]:] )?\[(?P<iteration>\d+)\]\t[\w-]+-[\w@.]+:[-\d.e]+)"},
    Pattern{"lightgbm", kTraining, "]\t", R"(\[(?P<iteration>\d+)\]\t[\w' ]+'s [\w@ ]+: [-\d.e]+)"},
    Pattern{"catboost", kTraining, ":\tlearn: ",
            R"(\b(?P<iteration>\d+):\tlearn: [-\d.e]+\t.*total: )"
            R"((?P<elapsed>(?:\d+[dhm] )*\d[\d.]*(?:us|ms|[smh]))?)"},
    Pattern{"torchvision", kTraining, "Training  [",
            R"(\bTraining  \[ *(?P<iteration>\d+)/(?P<total>\d+)\] +eta:)"
            R"((?:.* time: (?P<seconds>[\d.]+))?)"},
    Pattern{"nanogpt", kTraining, "train_time:",
            R"(\bstep:(?P<iteration>\d+)/(?P<total>\d+) train_time:)"
            R"((?:.* step_avg:(?P<milliseconds>[\d.]+)ms)?)"},
    Pattern{"rl_games", kTraining,
            "fps step: ", R"(fps step: .* epoch: (?P<iteration>\d+)(?:/(?P<total>\d+))?)"},
    Pattern{"rsl_rl", kTraining, "Learning iteration ",
            R"(Learning iteration (?P<iteration>\d+)/(?P<total>\d+))"},
    Pattern{"coqui", kTraining, "-- GLOBAL_STEP: ",
            R"((?: -- |--> )STEP: (?P<iteration>\d+)/(?P<total>\d+) -- GLOBAL_STEP: )"},
    Pattern{"darknet", kTraining, "rate, ",
            R"((?:^|\s)(?P<iteration>\d+): [-\d.e+]+, (?P<loss>[-\d.e+]+) avg(?: loss)?, )"
            R"([\d.e+-]+ rate, (?P<seconds>[\d.]+) seconds, \d+ images)"},
    Pattern{"kaldi", kTraining, "for minibatches ",
            R"([Aa]verage objective function .* for minibatches \d+-(?P<iteration>\d+) is )"},
    Pattern{"espnet", kEvaluation, "epoch:valid:", "epoch:valid:"},
    Pattern{"espnet", kTraining,
            "epoch:train:", R"((?P<epoch>\d+)epoch:train:\d+-(?P<iteration>\d+)batch: )"},
    Pattern{"wenet", kEvaluation, "CV Batch ", R"(\bCV Batch \d+/\d+ )"},
    Pattern{"wenet", kTraining, "TRAIN Batch ",
            R"(\bTRAIN Batch (?P<epoch>\d+)/(?P<iteration>\d+) )"},
    Pattern{"marian", kTraining, ": Up. ",
            R"(\bEp\. (?P<epoch>[\d.]+) : Up\. (?P<iteration>\d+) :(?:.* Cost (?P<loss>[\d.]+))?)"},
    Pattern{"stable-baselines3", kTraining, "total_timesteps",
            R"(\|\s+(?:time/)?total_timesteps\s+\|\s+(?P<iteration>\d+)\s+\|)"},
    Pattern{"candle", kTraining, " train loss: ",
            R"((?:^|\s)(?P<iteration>\d+) train loss: +(?P<loss>[\d.]+) test acc: )"},
    // The scripts of Swin Transformer, and many copies of them.
    Pattern{"pytorch", kTraining, "][",
            R"((?:^|[Tt]rain(?:ing)?:? |[Ee]poch:? )\[(?P<epoch>\d+)/\d+\]\[ *(?P<iteration>\d+)/)"
            R"((?P<total>\d+)\]\s.*[lL]oss)"},
    Pattern{
        "composer", kTraining, "[batch=",
        R"((?:\[epoch=(?P<epoch>\d+)(?:/\d+)?\])?\[batch=(?P<iteration>\d+)(?:/(?P<total>\d+))?\]:)"},
    Pattern{"dl4j", kTraining, "Score at iteration ",
            R"(Score at iteration (?P<iteration>\d+) is (?P<loss>[-\d.E]+))"},
    Pattern{"deepmd", kTraining, ": trn: ", R"(\bbatch +(?P<iteration>\d+): trn: )"},
    Pattern{"darts", kTraining, "train ",
            R"(\btrain (?P<iteration>\d+) (?P<loss>\d\.\d+e[-+]\d+) [\d.]+ [\d.]+$)"},
    // CLU, which Flax's examples use.
    Pattern{"flax", kTraining, "logging_writer.py",
            R"(\] \[(?P<iteration>\d+)\] (?:.*[ ,])?(?:train(?:ing)?[_/])?loss=)"},
    Pattern{"levanter", kTraining, "Progress on:train ",
            R"(Progress on:train (?P<iteration>[\d.]+[kM]?)it/(?:(?P<total>[\d.]+[kM]?)it)?)"
            R"((?:\S* rate:(?:(?P<rate>[\d.]+)it/s|(?P<seconds>[\d.]+)s/it))?)"},
    Pattern{"levanter", kEvaluation, "Progress on:", R"(Progress on:\S+ [\d.]+[kM]?it/)"},
    // LeRobot prints thousands of steps as "1K".
    Pattern{"lerobot", kTraining, "smpl:",
            R"(\bstep:(?P<iteration>[\d.]+[KM]?) smpl:(?:.* updt_s:(?P<seconds>[\d.]+))?)"},
    Pattern{"stylegan", kTraining, "sec/tick",
            R"(\btick +(?P<iteration>\d+) +kimg [\d.]+ +time .* sec/tick +(?P<seconds>[\d.]+))"},
    Pattern{"tensorflow", kTraining, "| steps/sec:",
            R"(\btrain \| step: +(?P<iteration>\d+) \| steps/sec: +(?P<rate>[\d.]+))"},
    // TensorFlow's Estimator, below the line with the count
    Pattern{"steps", kTraining,
            "global_step/sec: ", R"((?:^|:)global_step/sec: (?P<rate>[\d.]+)$)"},
    // CleanRL's steps per second, MindSpore's time per step, and the speed that Chainer draws
    Pattern{"steps", kTraining, "SPS: ", R"(^SPS: (?P<rate>\d[\d.]*)$)"},
    Pattern{"steps", kTraining, ", per step time: ",
            R"([Ee]poch time: [\d.]+ ms, per step time: (?P<milliseconds>[\d.]+) ms)"},
    Pattern{"chainer", kTraining, " iters/sec. Estimated ",
            R"(^ *(?P<rate>[\d.]+) iters/sec\. Estimated time to finish)"},
    Pattern{"parlai", kTraining, " total_steps:",
            R"(\btime:(?P<elapsed>\d+)s total_exs:\d+ total_steps:(?P<iteration>\d+) )"
            R"(epochs:(?P<epoch>[\d.]+))"},
    Pattern{"llama.cpp", kEvaluation, "] data=", R"(\bval: \[[=> ]*\] data=\d+/\d+ )"},
    Pattern{"llama.cpp", kTraining, "] data=",
            R"(\btrain: \[[=> ]*\] data=(?P<iteration>\d+)/(?P<total>\d+) )"
            R"(loss=(?P<loss>[\d.]+).* t=(?P<elapsed>[\d:]+))"},
    Pattern{"tensorflow", kTraining, "per-step time ",
            R"(\bStep (?P<iteration>\d+) per-step time (?P<seconds>[\d.]+)s)"},
    Pattern{"guided-diffusion", kTraining, "| step ",
            R"((?:^|\s)\| step +\| (?P<iteration>\d+) +\|)"},
    Pattern{"habitat", kTraining, "update: ", R"(\bupdate: (?P<iteration>\d+)\s+fps: [\d.]+)"},
    Pattern{
        "nerfstudio", kTraining, "%) ",
        R"((?:^|\s)(?P<iteration>\d+) \([\d.]+%\) +(?P<milliseconds>[\d.]+) ms +\d+ [dhms],? )"},
    Pattern{"openpcdet", kTraining, "Train: ",
            R"(Train: +(?P<epoch>\d+)/\d+ \( *\d+%\) \[ *(?P<iteration>\d+)/(?P<total>\d+) \()"},
    Pattern{"minimind", kTraining, "](",
            R"(Epoch:? ?\[(?P<epoch>\d+)/\d+\]\((?P<iteration>\d+)/(?P<total>\d+)\),? loss)"},
    Pattern{"timm", kTraining, "Train: ",
            R"(Train: (?P<epoch>\d+) \[ *(?P<iteration>\d+)/(?P<total>\d+) +\( *\d+%\)\])"
            R"((?:.*Time: (?P<seconds>[\d.]+)s)?)"},
    // torchvision's reference scripts, and PyTorch's ImageNet example.
    Pattern{"torchvision", kTraining, "Epoch: [",
            R"(Epoch: \[(?P<epoch>\d+)(?:/\d+)?\] +\[ *(?P<iteration>\d+)/(?P<total>\d+)\] +eta:)"
            R"((?:.* time: (?P<seconds>[\d.]+))?)"},
    Pattern{"torchvision", kTraining, "Epoch: [",
            R"(Epoch: \[(?P<epoch>\d+)\]\[ *(?P<iteration>\d+)/(?P<total>\d+)\]\s+)"
            R"(Time +(?P<seconds>[\d.]+))"},
    // torchvision's lines contain an estimate of the remaining time; timm's do not.
    Pattern{"torchvision", kEvaluation, "Test",
            R"(Test[^\[/]{0,24}\[ *\d+/\d+\](?: +eta:|\s+Time  ))"},
    Pattern{"timm", kEvaluation, "Test", R"(Test[^\[/]{0,24}\[ *\d+/\d+\])"},
    // Hugging Face's scripts, above a bar without a description.
    Pattern{"announcement", kEvaluation, "***** Running ",
            R"(\*{5} Running (?:[Pp]rediction|[Ee]valuation|[Tt]est))"},
    Pattern{"announcement", LineKind::kOther, "***** Running ", R"(\*{5} Running [Tt]rain)"},
    // After these lines, a launcher or the program may start the training again.
    Pattern{"", kFailure, "Traceback (most", R"(Traceback \(most recent call last\))"},
    Pattern{"", kFailure, "ut of memory", R"(\b[Oo]ut of memory)"},
    Pattern{"", kFailure, "OutOfMemoryError", "OutOfMemoryError"},
    Pattern{"", kFailure, "ChildFailedError", "ChildFailedError"},
    Pattern{"", kFailure, "will restart worker group", "will restart worker group"},
};

// Keras: "938/1875 [====>....] - ETA: 3s - loss: 0.3", "1875/1875 [====] - 4s 2ms/step - loss:
// 0.3", from version 3 on "938/1875 ━━━━ 3s 3ms/step - loss: 0.3", and with a line for each epoch
// "1875/1875 - 3s - 2ms/step - loss: 0.3".
constexpr std::string_view kKerasRemaining = "ETA: ";
constexpr const char* kKerasRunning =
    R"((?P<iteration>\d+)/(?P<total>\d+) +\[[=>.]+\] - ETA: (?P<unit>[\d:]+))";
constexpr std::string_view kKerasStep = "/step";
constexpr const char* kKerasTimed =
    R"((?P<iteration>\d+)/(?P<total>\d+|Unknown) +(?:\[[=>.]+\] -|(?:\xe2\x94\x81)+|-)? *)"
    R"([\d:]+[a-z]* (?:.*- )?(?P<rate>\d+)(?P<unit>us|ms|s|min|h)/step)";
// Matches the line above the bars of an epoch.
constexpr const char* kEpochHeading = R"(^(?:.*[>\]:] )?Epoch (?P<epoch>\d+)/\d+ *$)";

Expression Compile(const char* expression) { return Expression(expression, false, kPatternMemory); }

// Matches a line that contains any of the patterns' words. Most lines contain none, and cost no
// more than this match.
const re2::RE2& AnyWord() {
  static const re2::RE2 expression = [] {
    std::string words = fmt::format(R"( \[|\) \||-- +\d+/|\xe2\x94|[Ee]poch +\d|{}|{}|{})",
                                    kCountedWords, kKerasRemaining, kKerasStep);
    for (const Pattern& pattern : kPatterns)
      words += "|" + re2::RE2::QuoteMeta(std::string(pattern.word));
    re2::RE2::Options options;
    options.set_encoding(re2::RE2::Options::EncodingLatin1);
    return re2::RE2(words, options);
  }();
  return expression;
}

bool Contains(std::string_view text, std::string_view word) {
  return text.find(word) != std::string_view::npos;
}

// Returns the number of seconds in one of Keras' units of time.
double SecondsIn(std::string_view unit) {
  if (unit == "us") return 1e-6;
  if (unit == "ms") return 1e-3;
  return unit == "min" ? 60 : unit == "h" ? 3600 : 1;
}

// Returns the iterations per second that the estimate of the remaining time, in whole seconds,
// shows; nullopt if it is too short for that.
std::optional<double> RateBy(std::string_view remaining, const ProgressLine& line) {
  constexpr Duration kLeast = std::chrono::seconds(10);
  const std::optional<Duration> time = ReadElapsed(remaining);
  if (!time || *time < kLeast || !line.total || *line.iteration >= *line.total) return std::nullopt;
  return static_cast<double>(*line.total - *line.iteration) /
         std::chrono::duration_cast<Seconds>(*time).count();
}

std::optional<ProgressLine> ReadKeras(std::string_view text) {
  static const Expression running = Compile(kKerasRunning);
  static const Expression timed = Compile(kKerasTimed);
  Expression::Match match;
  if (!(Contains(text, kKerasStep) && timed.Find(text, match)) &&
      !(Contains(text, kKerasRemaining) && running.Find(text, match))) {
    return std::nullopt;
  }
  ProgressLine line{.format = "keras"};
  if (!Expression::Fill(match, line)) return std::nullopt;
  if (line.rate) {
    line.rate = 1 / (*line.rate * SecondsIn(match[Expression::kUnit]));
  } else if (line.iteration) {
    line.rate = RateBy(match[Expression::kUnit], line);
  }
  line.loss = FindLoss(text);
  // A training prints its loss from the first step on; predictions and downloads print none.
  if (!line.loss && !Contains(text, "loss")) line.kind = LineKind::kEvaluation;
  line.source = SourceOf(line.format, {}, line.total.value_or(-1));
  return line;
}

std::optional<ProgressLine> ReadHeading(std::string_view text) {
  static const Expression heading = Compile(kEpochHeading);
  Expression::Match match;
  if (!Contains(text, "Epoch ") || !heading.Find(text, match)) return std::nullopt;
  ProgressLine line;
  Expression::Fill(match, line);
  return line;
}

std::optional<ProgressLine> ReadPrinted(std::string_view text) {
  static const std::deque<Expression> expressions = [] {
    std::deque<Expression> compiled;  // a deque does not move its elements
    for (const Pattern& pattern : kPatterns) {
      compiled.emplace_back(pattern.expression, false, kPatternMemory);
    }
    return compiled;
  }();
  Expression::Match match;
  for (size_t i = 0; i < kPatterns.size(); ++i) {
    const Pattern& pattern = kPatterns[i];
    if (!Contains(text, pattern.word) || !expressions[i].Find(text, match)) continue;
    ProgressLine line{.format = pattern.format, .kind = pattern.kind};
    if (!Expression::Fill(match, line)) return std::nullopt;
    if (pattern.kind == kTraining && !line.loss) line.loss = FindLoss(text);
    line.source = SourceOf(pattern.format, {}, -1);
    return line;
  }
  return std::nullopt;
}

std::optional<ProgressLine> ReadEnglish(std::string_view text) {
  if (!re2::RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), AnyWord())) {
    return std::nullopt;
  }
  if (auto line = ReadBar(text)) return line;
  if (auto line = ReadPrinted(text)) return line;
  if (auto line = ReadKeras(text)) return line;
  if (auto line = ReadHeading(text)) return line;
  return ReadCounted(text);
}

}  // namespace

std::optional<ProgressLine> ReadProgressLine(std::string_view text) {
  const std::optional<std::string> english = InEnglish(text);
  if (!english) return ReadEnglish(text);
  // description.h has the words of a bar's description.
  if (auto line = ReadBar(text)) return line;
  return ReadEnglish(*english);
}

OwnPattern::OwnPattern(std::shared_ptr<const Expression> expression)
    : expression_(std::move(expression)) {}

Result<OwnPattern> OwnPattern::Parse(std::string_view expression) {
  // Other languages write (?<name>...), but this version of RE2 accepts only (?P<name>...).
  std::string text(expression);
  for (size_t at = text.find("(?<"); at != std::string::npos; at = text.find("(?<", at)) {
    text.insert(at + 2, "P");
  }
  auto compiled = std::make_shared<const Expression>(text, true, kPatternMemory);
  if (!compiled->error().empty()) {
    return Fail(
        ErrorCode::kInvalid,
        fmt::format("the pattern is not a regular expression of RE2: {}", compiled->error()));
  }
  if (compiled->steps() > kMostSteps) {
    return Fail(ErrorCode::kInvalid,
                fmt::format("the pattern is too large: it has {} steps, and {} are allowed. Use "
                            "smaller repetitions, such as x* instead of x{{900}}",
                            compiled->steps(), kMostSteps));
  }
  if (!compiled->Has(Expression::kIteration)) {
    return Fail(
        ErrorCode::kInvalid,
        "the pattern has no group for the iteration: write (?P<iteration>\\d+) for its number");
  }
  return OwnPattern(std::move(compiled));
}

std::optional<ProgressLine> OwnPattern::Read(std::string_view text) const {
  Expression::Match match;
  if (!expression_->Find(text, match)) return std::nullopt;
  ProgressLine line{.format = "pattern", .source = SourceOf("pattern", {}, -1)};
  if (!Expression::Fill(match, line) || !line.iteration) return std::nullopt;
  return line;
}

}  // namespace synergy
