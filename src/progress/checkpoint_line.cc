#include "progress/checkpoint_line.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include <re2/re2.h>

namespace synergy {
namespace {

// Every such line contains one of these, and few other lines do.
constexpr std::array<std::string_view, 5> kCheckpointWords = {
    "heckpoint", "ing model", "aved model", "napshot saved", " state to "};

// Bytes for an expression and its matching cache; an expression that needs more is slower.
constexpr int64_t kCheckpointMemory = 1 << 20;

re2::RE2::Options Caseless() {
  re2::RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(kCheckpointMemory);
  options.set_encoding(re2::RE2::Options::EncodingLatin1);
  options.set_case_sensitive(false);
  return options;
}

// Groups: the text before, the action, and the text after.
const re2::RE2& Written() {
  static const re2::RE2 expression(
      R"((.*?)()"
      // Hugging Face, DeepSpeed, Megatron, nanoGPT, fairseq, detectron2, TensorFlow, torchtitan
      R"(\b(?:saving|saved|writing|wrote) (?:(?:the|a|new|model|training|best|last|latest|final|)"
      R"(current|intermediate|distributed|sharded|full|adapter|optimizer|regular) ){0,3}checkpoints?\b)"
      // "Checkpoint saved", "Model checkpoint of size 2.50 GiB saved", "Checkpoint step100 is ..."
      R"(|\bcheckpoint (?:[^ ]+ ){0,4}?(?:successfully |about to be )*(?:saved|written)\b)"
      // Lightning, Keras
      R"(|\b(?:saving|saved) (?:(?:the|best|final|full) ){0,2}model (?:to|at|in)\b)"
      // PyTorch's tutorials
      R"(|\bsnapshot saved (?:to|at)\b)"
      // Accelerate, and libraries built on it
      R"(|\b(?:saving current|saved) state to )"
      // timm lists the checkpoints that it keeps after it has written one
      R"(|^\W*current checkpoints:)"
      R"()(.*))",
      Caseless());
  return expression;
}

// Matches text before or within the action that shows another action on a checkpoint, or none.
const re2::RE2& IsDenied() {
  static const re2::RE2 expression(
      R"(\b(?:load|loaded|loading|restor\w*|resum\w*|found|find|deleting|removing|converting|)"
      R"(skipping|skipped|will|would|cannot|failed|unable|not|never)\b|n't\b|\b(?:no|using|from)\W*$)",
      Caseless());
  return expression;
}

// Matches text after the action that shows a setting.
const re2::RE2& IsSetting() {
  static const re2::RE2 expression(
      R"(^:? *(?:is |are )?(?:every|each|interval|frequency|strategy|enabled|disabled|skipped|)"
      R"(true|false|none)\b)",
      Caseless());
  return expression;
}

}  // namespace

bool ReportsCheckpoint(std::string_view text) {
  const auto is_there = [text](std::string_view word) { return text.find(word) != text.npos; };
  if (std::none_of(kCheckpointWords.begin(), kCheckpointWords.end(), is_there)) return false;
  re2::StringPiece before;
  re2::StringPiece done;
  re2::StringPiece behind;
  return re2::RE2::FullMatch(re2::StringPiece(text.data(), text.size()), Written(), &before, &done,
                             &behind) &&
         !re2::RE2::PartialMatch(before, IsDenied()) && !re2::RE2::PartialMatch(done, IsDenied()) &&
         !re2::RE2::PartialMatch(behind, IsSetting());
}

}  // namespace synergy
