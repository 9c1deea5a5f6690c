#include "failure/evidence.h"

#include <algorithm>
#include <array>

#include <re2/re2.h>

#include "json/text.h"

namespace synergy {
namespace {

// Long enough for any secret near the place, and short enough to be fast.
constexpr size_t kContext = 4096;
constexpr std::string_view kCut = "...";

struct Secret {
  re2::RE2 expression;
  re2::StringPiece replacement;
};

const std::array<Secret, 9>& Secrets() {
  static const std::array<Secret, 9> secrets = {{
      {{R"(-----BEGIN [A-Z ]*PRIVATE KEY(?: BLOCK)?-----.*)", re2::RE2::Latin1}, "***"},
      // Credentials in URLs.
      {{R"((://)[^\s'"]*@)", re2::RE2::Latin1}, R"(\1***@)"},
      {{R"((?i)\b(bearer|basic|negotiate|digest|token) +[\w.~+/=-]{8,})", re2::RE2::Latin1},
       R"(\1 ***)"},
      // Headers, up to the end of the line.
      {{R"re((?i)\b((?:proxy-)?authorization|(?:set-)?cookie)(\\?["']? *[:=] *).*)re",
        re2::RE2::Latin1},
       R"(\1\2***)"},
      // curl -u user:password
      {{R"re((?i)(\s(?:-u|--user)[ =]\\?["']?[\w.@-]+:)[^\s"']+)re", re2::RE2::Latin1}, R"(\1***)"},
      // Values whose names mark them as secret: key=value, "key": "value", --key value, '--key',
      // 'value'.
      {{R"re((?i)((?:pass(?:word|wd|phrase)?|\bpwd|secret|token|credential|api_?-?key|access_?-?key(?:_?-?id)?|private_?-?key|account_?-?key|signature|\bsig)[a-z_]*(?:(?:\\?["'])?(?: *[=:] *|%3D| +)(?:\\?["'])?|\\?["'] *, *\\?["']))([^\s"'\\&,;)}\]]{6,}))re",
        re2::RE2::Latin1},
       R"(\1***)"},
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
  // Find the place again by the text after it, because masks may move it.
  const std::string shown = text.substr(at - from, 24);
  for (const Secret& secret : Secrets()) {
    re2::RE2::GlobalReplace(&text, secret.expression, secret.replacement);
  }
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  }
  const size_t place = text.find(shown);
  std::string repaired;
  json::AppendRepairedUtf8(repaired, text);
  if (repaired.size() <= kLongestEvidence) return repaired;
  const size_t wanted = place == std::string::npos ? 0 : place;
  if (wanted + kLongestEvidence / 2 < kLongestEvidence) {
    return std::string(Part(repaired, 0, kLongestEvidence - kCut.size())) + std::string(kCut);
  }
  const size_t begin = std::min(wanted - kLongestEvidence / 3, repaired.size());
  return std::string(kCut) +
         std::string(Part(repaired, begin, kLongestEvidence - 2 * kCut.size())) +
         (begin + kLongestEvidence < repaired.size() ? std::string(kCut) : std::string());
}

}  // namespace synergy
