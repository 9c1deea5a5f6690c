#include "json/scanner.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace synergy::json {
namespace {

// The first of the characters, or `end`. Node objects of megabytes are passed over with this.
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

}  // namespace

std::string_view Scanner::TakeString(bool& plain) {
  if (Peek() != '"') return {};
  const char* const start = at_;
  // Names are short: a plain loop beats blocks of sixteen.
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
  const char* at = at_ + 1;
  while (true) {
    at = FindAny<'"', '\\'>(at, end_);
    if (at == end_) return false;
    if (*at == '"') break;
    if (end_ - at < 2) return false;
    at += 2;
  }
  at_ = at + 1;
  return true;
}

bool Scanner::SkipContainer() {
  // Which kind of bracket is open at each depth, innermost in the lowest bit: 1 for a brace.
  unsigned long long braces = 0;
  int depth = 0;
  while (true) {
    at_ = FindAny<'"', '{', '}', '[', ']'>(at_, end_);
    if (at_ == end_) return false;
    const char c = *at_;
    if (c == '"') {
      if (!SkipString()) return false;
      continue;
    }
    ++at_;
    if (c == '{' || c == '[') {
      if (++depth > kDeepest) return false;
      braces = (braces << 1) | (c == '{' ? 1 : 0);
    } else {
      if (((braces & 1) != 0) != (c == '}')) return false;
      braces >>= 1;
      if (--depth == 0) return true;
    }
  }
}

}  // namespace synergy::json
