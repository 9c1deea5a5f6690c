#include "json/scanner.h"

#include <algorithm>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace synergy::json {
namespace {

// Returns the position of the first of these characters, or `end`. Checks 16 bytes at a time,
// because skipped objects such as Nodes may have megabytes.
template <char... kWanted>
const char* FindAny(const char* at, const char* end) {
#ifdef __SSE2__
  for (; end - at >= 16; at += 16) {
    const __m128i block = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
    __m128i found = _mm_setzero_si128();
    ((found = _mm_or_si128(found, _mm_cmpeq_epi8(block, _mm_set1_epi8(kWanted)))), ...);
    const int mask = _mm_movemask_epi8(found);
    if (mask != 0) return at + __builtin_ctz(static_cast<unsigned>(mask));
  }
#endif
  while (at != end && !((*at == kWanted) || ...)) ++at;
  return at;
}

// Returns the position after the string that begins at `at`; null if it does not end.
const char* PastString(const char* at, const char* end) {
  ++at;
  while (true) {
    at = FindAny<'"', '\\'>(at, end);
    if (at == end) return nullptr;
    if (*at == '"') return at + 1;
    if (end - at < 2) return nullptr;
    at += 2;
  }
}

}  // namespace

const char* FindClosing(const char* at, const char* end, size_t depth) {
  // The kinds of the open brackets, innermost in the lowest bit: 1 for a brace. Only the `known`
  // lowest bits count, because the kinds of brackets before `at` are unknown.
  unsigned long long braces = 0;
  size_t known = 0;
  while (true) {
    at = FindAny<'"', '{', '}', '[', ']'>(at, end);
    if (at == end) return end;
    const char c = *at;
    if (c == '"') {
      at = PastString(at, end);
      if (at == nullptr) return end;
      continue;
    }
    if (c == '{' || c == '[') {
      ++depth;
      known = std::min<size_t>(known + 1, 64);
      braces = (braces << 1) | (c == '{' ? 1 : 0);
    } else {
      if (known > 0 && ((braces & 1) != 0) != (c == '}')) return end;
      known -= known > 0 ? 1 : 0;
      braces >>= 1;
      if (--depth == 0) return at;
    }
    ++at;
  }
}

std::string_view Scanner::TakeString(bool& plain) {
  if (Peek() != '"') return {};
  const char* const start = at_;
  // Names are short, so a plain loop is faster than blocks of sixteen.
  const char* at = at_ + 1;
  while (at != end_ && *at != '"' && *at != '\\' && static_cast<unsigned char>(*at) >= 0x20) ++at;
  if (at != end_ && *at == '"') {
    plain = true;
    at_ = at + 1;
    return {start, static_cast<size_t>(at_ - start)};
  }
  plain = false;
  if (!SkipString()) return {};
  return {start, static_cast<size_t>(at_ - start)};
}

std::string_view Scanner::TakeValue() {
  const char next = Peek();
  const char* const start = at_;
  bool whole = true;
  if (next == '"') {
    whole = SkipString();
  } else if (next == '{' || next == '[') {
    whole = SkipContainer();
  } else {
    while (at_ != end_ && *at_ != ',' && *at_ != '}' && *at_ != ']' &&
           static_cast<unsigned char>(*at_) > ' ')
      ++at_;
  }
  return whole ? std::string_view(start, static_cast<size_t>(at_ - start)) : std::string_view();
}

bool Scanner::SkipString() {
  const char* const behind = PastString(at_, end_);
  if (behind != nullptr) at_ = behind;
  return behind != nullptr;
}

bool Scanner::SkipContainer() {
  const char* const closing = FindClosing(at_, end_, 0);
  if (closing != end_) at_ = closing + 1;
  return closing != end_;
}

}  // namespace synergy::json
