#include "progress/loose/languages.h"

#include <deque>

#include <re2/re2.h>

namespace synergy {
namespace {

struct ForeignWord {
  const char* expression;  // without regard to case
  const char* english;
};

// Later words never contain an earlier one. \b is of ASCII, so words that begin or end with another
// letter have none there.
constexpr ForeignWord kForeignWords[] = {
    // Chinese and Japanese put the number into the word: "第6/20轮".
    {R"(第\s*(\d+(?:\s*/\s*\d+)?)\s*(?:轮|輪|个?epoch|回合|エポック))", R"( epoch \1 )"},
    {R"(第\s*(\d+(?:\s*/\s*\d+)?)\s*(?:个?批次?|バッチ))", R"( batch \1 )"},
    {R"(第\s*(\d+(?:\s*/\s*\d+)?)\s*(?:步|次?迭代|ステップ))", R"( step \1 )"},
    {R"(验证(?:集)?损失|驗證損失|検証損失|검증 ?손실|\bValidierungsverlust\b|\bperte (?:de |en )?validation\b)"
     R"(|\bp[ée]rdida (?:de |en )?validaci[óo]n\b|\bperda (?:de |na )?valida[çc][ãa]o\b)"
     R"(|\bperdita (?:di |in )?validazione\b|(?:ошибка|потери|потеря|лосс) (?:на )?валидации)",
     "val loss"},
    {R"(训练(?:集)?损失|訓練損失|学習損失|학습 ?손실|훈련 ?손실|\bTrainings?verlust\b)"
     R"(|\bperte (?:d'|en )?entra[îi]nement\b|\bp[ée]rdida (?:de |en )?entrenamiento\b)"
     R"(|\bperda (?:de |no )?treinamento\b|\bperdita (?:di |in )?addestramento\b)"
     R"(|(?:ошибка|потери|потеря|лосс) (?:на )?обучени[ия])",
     "train loss"},
    {R"(损失(?:值|函数)?|損失|손실|\bVerlust\b|\bperte\b|\bp[ée]rdida\b|\bperda\b|\bperdita\b)"
     R"(|\bverlies\b|потери|потеря|функция потерь|лосс)",
     "loss"},
    {R"(エポック|轮次|에포크|에폭|\bEpoche\b|[ÉE]poque\b|[ée]poque\b|[Éé]poca\b|\bEpoca\b|\bEpoka\b)"
     R"(|\bEpok\b|эпоха)",
     "epoch"},
    {R"(ステップ|스텝|\bSchritt\b|[Éé]tape\b|\bEtape\b|\bpaso\b|\bpasso\b|\bkrok\b|\bstap\b|шаг)",
     "step"},
    {R"(イテレーション|이터레이션|迭代(?:次数)?|\bitération\b|\biteraci[óo]n\b)"
     R"(|\bitera[çc][ãa]o\b|\biterazione\b|\biteracja\b|итерация)",
     "iteration"},
    {R"(批次|バッチ|배치|\bStapel\b|\blote\b|батч)", "batch"},
    {R"((\d) (?:из|von|sur|de|di|z) (\d))", R"(\1 of \2)"},
};

const re2::RE2& AnyForeignWord() {
  static const re2::RE2 expression = [] {
    std::string words = "(?i)";
    for (const ForeignWord& word : kForeignWords)
      words += std::string(&word == kForeignWords ? "" : "|") + word.expression;
    re2::RE2::Options options;
    options.set_log_errors(false);
    return re2::RE2(words, options);
  }();
  return expression;
}

struct Translation {
  explicit Translation(const ForeignWord& word)
      : expression(std::string("(?i)") + word.expression), english(word.english) {}
  re2::RE2 expression;
  const char* english;
};

}  // namespace

std::optional<std::string> InEnglish(std::string_view text) {
  static const std::deque<Translation> rules = [] {
    std::deque<Translation> made;  // a deque does not move its elements
    for (const ForeignWord& word : kForeignWords) made.emplace_back(word);
    return made;
  }();
  if (!re2::RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), AnyForeignWord())) {
    return std::nullopt;
  }
  std::string english(text);
  for (const Translation& rule : rules) {
    re2::RE2::GlobalReplace(&english, rule.expression, rule.english);
  }
  return english;
}

}  // namespace synergy
