// Runs a fuzzer on each file in the given folders, and on mutations of these files. So a corpus is
// an ordinary test, even on machines without libFuzzer.
//
//   --mutations N   number of mutations (0), which are always the same
//   --seed N        seed of the mutations (1)
//
// At the end, reports the most CPU time that an input took. If the process ends early, the cause is
// the file that was named last, or the text in PROGRAM-failed-input.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include <time.h>

#include "core/random.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

// Larger inputs are cut; this size suffices to show what is slow.
constexpr size_t kLargestText = size_t{64} << 10;
constexpr std::string_view kWords[] = {"9223372036854775807",
                                       "-9223372036854775808",
                                       "18446744073709551616",
                                       "1e999",
                                       "-0.0",
                                       "0",
                                       "null",
                                       "{}",
                                       "[]",
                                       "\"\"",
                                       "\\ud800",
                                       "\xff",
                                       "[[[[[[[[",
                                       "{\"a\":{\"a\":",
                                       "1Ei",
                                       "99999999999999999Ki",
                                       "2026-13-40T99:99:99Z",
                                       "\n"};

double CpuSeconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

// Runs the fuzzer on a copy of exact size, so that a sanitizer detects each read beyond the end.
// Returns the CPU time in seconds.
double Try(std::string_view text) {
  const std::vector<uint8_t> exact(text.begin(), text.end());
  const double before = CpuSeconds();
  LLVMFuzzerTestOneInput(exact.data(), exact.size());
  return CpuSeconds() - before;
}

class Mutator {
 public:
  Mutator(const std::vector<std::string>& texts, uint64_t seed) : texts_(texts), random_(seed) {}

  std::string Make() {
    std::string text = AnyText();
    for (uint64_t left = 1 + random_.Below(6); left > 0; --left) Change(text);
    text.resize(std::min(text.size(), kLargestText));
    return text;
  }

 private:
  const std::string& AnyText() { return texts_[random_.Below(texts_.size())]; }
  size_t PlaceIn(std::string_view text) { return random_.Below(text.size() + 1); }
  std::string PieceOf(const std::string& text) {
    return text.substr(PlaceIn(text), random_.Below(64));
  }

  void Change(std::string& text) {
    const size_t at = PlaceIn(text);
    switch (random_.Below(7)) {
      case 0:
        if (at < text.size()) text[at] = static_cast<char>(random_.Below(256));
        return;
      case 1:
        text.erase(at, random_.Below(32));
        return;
      case 2:
        text.insert(at, kWords[random_.Below(std::size(kWords))]);
        return;
      case 3: {
        const std::string piece = PieceOf(text);
        for (uint64_t times = random_.Below(40); times > 0; --times) text.insert(at, piece);
        return;
      }
      case 4:
        text.insert(at, PieceOf(AnyText()));
        return;
      case 5:
        text.resize(at);
        return;
      default:
        Replace(text, at);
    }
  }
  // Replaces a number, or some text, with another.
  void Replace(std::string& text, size_t at) {
    const size_t begin = text.find_first_of("0123456789\"", at);
    if (begin == std::string::npos) return;
    const size_t end = text[begin] == '"' ? text.find('"', begin + 1)
                                          : text.find_first_not_of("0123456789.", begin);
    if (end == std::string::npos) return;
    text.replace(begin, end - begin + (text[begin] == '"' ? 1 : 0),
                 kWords[random_.Below(std::size(kWords))]);
  }

  const std::vector<std::string>& texts_;
  synergy::Random random_;
};

struct Arguments {
  std::vector<std::filesystem::path> files;
  uint64_t mutations = 0;
  uint64_t seed = 1;
};

Arguments Read(int argc, char** argv) {
  Arguments read;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if ((word == "--mutations" || word == "--seed") && i + 1 < argc) {
      (word == "--seed" ? read.seed : read.mutations) = std::strtoull(argv[++i], nullptr, 10);
      continue;
    }
    for (const auto& entry : std::filesystem::directory_iterator(word)) {
      if (entry.is_regular_file()) read.files.push_back(entry.path());
    }
  }
  std::sort(read.files.begin(), read.files.end());
  return read;
}

}  // namespace

int main(int argc, char** argv) {
  const Arguments arguments = Read(argc, argv);
  std::vector<std::string> texts;
  for (const std::filesystem::path& file : arguments.files) {
    std::ifstream stream(file, std::ios::binary);
    texts.emplace_back(std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>());
    std::printf("%s\n", file.c_str());
    std::fflush(stdout);
    Try(texts.back());
  }
  if (texts.empty()) {
    std::fprintf(stderr, "no files to replay\n");
    return 1;
  }
  const std::string failed = std::string(argv[0]) + "-failed-input";
  Mutator mutator(texts, arguments.seed);
  double most = 0;
  size_t size_of_most = 0;
  for (uint64_t i = 0; i < arguments.mutations; ++i) {
    const std::string text = mutator.Make();
    std::ofstream(failed, std::ios::binary | std::ios::trunc) << text;
    const double seconds = Try(text);
    if (seconds > most) {
      most = seconds;
      size_of_most = text.size();
    }
  }
  std::filesystem::remove(failed);
  std::printf("%llu made, most CPU time of one: %.2f ms, of %zu bytes\n",
              static_cast<unsigned long long>(arguments.mutations), most * 1e3, size_of_most);
  return 0;
}
