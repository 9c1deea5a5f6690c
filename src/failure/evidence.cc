#include "failure/evidence.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <re2/re2.h>

#include "json/text.h"

namespace synergy {
namespace {

// The bytes to examine on each side of the place: enough for any secret near it, and few enough to
// be fast.
constexpr size_t kContext = 4096;
constexpr std::string_view kCut = "...";

struct Secret {
  re2::RE2 expression;
  re2::StringPiece replacement;
};

const std::array<Secret, 8>& Secrets() {
  static const std::array<Secret, 8> secrets = {{
      {{R"(-----BEGIN [A-Z ]*PRIVATE KEY(?: BLOCK)?-----.*)", re2::RE2::Latin1}, "***"},
      // Credentials in URLs.
      {{R"((://)[^\s'"]*@)", re2::RE2::Latin1}, R"(\1***@)"},
      {{R"((?i)\b(bearer) +[\w.~+/=-]{8,})", re2::RE2::Latin1}, R"(\1 ***)"},
      // Headers, up to the end of the line.
      {{R"re((?i)\b((?:proxy-)?authorization|(?:set-)?cookie)(\\?["']? *[:=] *).*)re",
        re2::RE2::Latin1},
       R"(\1\2***)"},
      // curl -u user:password
      {{R"re((?i)(\s(?:-u|--user)[ =]\\?["']?[\w.@-]+:)[^\s"']+)re", re2::RE2::Latin1}, R"(\1***)"},
      // Tokens of well-known services.
      {{R"(\b(?:hf_|gh[opsur]_|github_pat_|glpat-|xox[abprs]-|sk-|pk-|rk-|nvapi-|npm_|pypi-|dckr_pat_|AIza|[sprw]k_(?:live|test)_|whsec_|ya29\.)[\w-]{12,})",
        re2::RE2::Latin1},
       "***"},
      {{R"(\b(?:AKIA|ASIA)[0-9A-Z]{12,}|\beyJ[\w-]{10,}\.[\w-]+(?:\.[\w-]*)?)", re2::RE2::Latin1},
       "***"},
      // Long hexadecimal numbers.
      {{R"(\b(?:[0-9a-f]{40}|[0-9a-f]{64})\b)", re2::RE2::Latin1}, "***"},
  }};
  return secrets;
}

bool Matches(std::string_view text, const re2::RE2& expression) {
  return re2::RE2::FullMatch(re2::StringPiece(text.data(), text.size()), expression);
}

// Returns whether a text looks like a generated token rather than words.
bool LooksRandom(std::string_view text) {
  static const re2::RE2 letter(R"(.*[A-Za-z].*)", re2::RE2::Latin1);
  static const re2::RE2 digit(R"(.*(?:\d|[a-z][A-Z]+[a-z]+[A-Z]|==?$).*)", re2::RE2::Latin1);
  return text.size() >= 8 && Matches(text, letter) && Matches(text, digit);
}

// A name that marks the next value as secret, and the separator between them.
struct Label {
  std::string_view dashes;     // before an option's name
  std::string_view name;       // "password", "HF_TOKEN"
  std::string_view separator;  // with the quote that ends the name
};

// Returns whether the label's value is secret. `quoted`: the value has quotes.
bool IsSecret(const Label& label, std::string_view value, bool quoted) {
  static const re2::RE2 none(R"((?i)(?:none|null|nil|true|false|\*+|<.*)?[,;)}\]]*)",
                             re2::RE2::Latin1);
  static const re2::RE2 scheme(R"((?i)basic|negotiate|digest)", re2::RE2::Latin1);
  static const re2::RE2 short_name(R"((?i)(?:.*[_-])?(?:pass|sig|signature|token))",
                                   re2::RE2::Latin1);
  static const re2::RE2 word(R"([A-Za-z]{1,5}\W?)", re2::RE2::Latin1);
  // The class of an exception; a message follows.
  static const re2::RE2 error(R"([A-Z]\w*(?:Error|Exception))", re2::RE2::Latin1);
  static const re2::RE2 number(R"([\d.,]+)", re2::RE2::Latin1);
  if (Matches(value, none)) return false;
  const std::string_view separator = label.separator;
  const bool assigned = separator.find('=') != std::string_view::npos || separator == "%3D";
  const bool colon = separator.find(':') != std::string_view::npos;
  if (Matches(label.name, scheme)) return !assigned && !colon && LooksRandom(value);
  const bool is_short = Matches(label.name, short_name);
  if (is_short && Matches(value, number)) return false;
  if (separator.find(',') != std::string_view::npos) return quoted;
  if (assigned || (colon && quoted)) return true;
  if (colon && Matches(label.name, error)) return LooksRandom(value);
  if (colon) return is_short ? LooksRandom(value) : !Matches(value, word);
  if (!label.dashes.empty()) return true;
  // Kubernetes names objects in this form: key password in Secret team/login-1.
  const bool is_object = label.name == "Secret" && value.find('/') != std::string_view::npos;
  return LooksRandom(value) && !quoted && !is_object;
}

// Returns the length of the value at the front of `text`. A quoted value ends at its closing quote,
// any other value at white space or a quote. `quote`: the length of its opening quote.
size_t ValueLength(std::string_view text, size_t& quote) {
  quote = text.find_first_not_of('\\');
  if (quote == std::string_view::npos || (text[quote] != '"' && text[quote] != '\'')) {
    quote = 0;
    return std::min(text.find_first_of(" \t\r\n\f\v\"'"), text.size());
  }
  const std::string_view mark = text.substr(0, ++quote);
  for (size_t at = quote; at < text.size(); ++at) {
    if (text.substr(at).starts_with(mark)) return at - quote;
    if (text[at] == '\\') ++at;
  }
  return text.size() - quote;
}

// Masks values whose names mark them as secret: key=value, "key": "value", --key value, '--key',
// 'value'.
std::string WithoutNamedSecrets(const std::string& text) {
  static const re2::RE2 label(
      R"re((?i)(--?)?\b([\w-]*(?:password|passwd|passphrase|passcode|secret|credential|api_?-?key|access_?-?key|private_?-?key|account_?-?key|signature)[\w-]*|(?:[\w-]*[_-])?(?:pass|sig)|\w*(?:pwd|token)(?:_?(?:value|key))?|basic|negotiate|digest)(\\*["']?(?: *(?:=>|[=:]) *|%3D)|\\*["'] *, *| +))re",
      re2::RE2::Latin1);
  std::string masked;
  re2::StringPiece rest(text);
  const char* done = text.data();
  re2::StringPiece dashes;
  re2::StringPiece name;
  re2::StringPiece separator;
  while (re2::RE2::FindAndConsume(&rest, label, &dashes, &name, &separator)) {
    const Label found = {{dashes.data(), dashes.size()},
                         {name.data(), name.size()},
                         {separator.data(), separator.size()}};
    size_t quote = 0;
    const size_t length = ValueLength({rest.data(), rest.size()}, quote);
    if (!IsSecret(found, {rest.data() + quote, length}, quote > 0)) continue;
    masked.append(done, rest.data() + quote).append("***");
    rest.remove_prefix(quote + length);
    done = rest.data();
  }
  return masked.append(done, text.data() + text.size());
}

bool BeginsCharacter(char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }

// Returns a part of at most `most` bytes that begins at or after `from` and splits no character.
std::string_view Part(std::string_view text, size_t from, size_t most) {
  while (from < text.size() && !BeginsCharacter(text[from])) ++from;
  text.remove_prefix(std::min(from, text.size()));
  if (text.size() <= most) return text;
  while (most > 0 && !BeginsCharacter(text[most])) --most;
  return text.substr(0, most);
}

}  // namespace

std::string Evidence(std::string_view line, size_t at) {
  at = std::min(at, line.size());
  const size_t from = at < kContext ? 0 : at - kContext;
  std::string text(line.substr(from, 2 * kContext));
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  }
  // Find the place again by the text after it, because masks may move it.
  const std::string shown = text.substr(at - from, 24);
  text = WithoutNamedSecrets(text);
  for (const Secret& secret : Secrets()) {
    re2::RE2::GlobalReplace(&text, secret.expression, secret.replacement);
  }
  const size_t found = text.find(shown);
  const size_t place = std::min(found == std::string::npos ? at - from : found, text.size());
  std::string before;
  json::AppendRepairedUtf8(before, std::string_view(text).substr(0, place));
  std::string repaired;
  json::AppendRepairedUtf8(repaired, text);
  if (repaired.size() <= kLongestEvidence) return repaired;
  if (before.size() < kLongestEvidence / 2)
    return std::string(Part(repaired, 0, kLongestEvidence - kCut.size())) + std::string(kCut);
  const size_t begin = std::min(before.size() - kLongestEvidence / 3, repaired.size());
  const std::string_view part = Part(repaired, begin, kLongestEvidence - 2 * kCut.size());
  const bool is_cut = part.data() + part.size() < repaired.data() + repaired.size();
  return fmt::format("{}{}{}", kCut, part, is_cut ? kCut : "");
}

}  // namespace synergy
