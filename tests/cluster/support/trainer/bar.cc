#include "cluster/support/trainer/bar.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <utility>
namespace synergy::trainer {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kInterval{100};
constexpr std::chrono::milliseconds kLook{50};

std::string Time(double seconds) {
  const auto whole = static_cast<unsigned>(seconds);
  char text[32];
  std::snprintf(text, sizeof(text), "%02u:%02u", whole / 60, whole % 60);
  return text;
}

void PrintLine(uint64_t done, uint64_t total, double milliseconds, double loss) {
  if (total == 0) {
    std::fprintf(stderr, "iter %llu: loss %.4f, time %.2fms\n",
                 static_cast<unsigned long long>(done), loss, milliseconds);
    return;
  }
  std::fprintf(stderr,
               " iteration %8llu/%8llu | consumed samples: %12llu | elapsed time per iteration "
               "(ms): %.1f | lm loss: %.6E |\n",
               static_cast<unsigned long long>(done), static_cast<unsigned long long>(total),
               static_cast<unsigned long long>(done), milliseconds, loss);
}

void Draw(uint64_t done, uint64_t total, uint64_t width, double elapsed, double per_second) {
  const uint64_t filled = width * done / total;
  const std::string bar = std::string(filled, '#') + std::string(width - filled, ' ');
  const std::string left =
      per_second > 0 ? Time(static_cast<double>(total - done) / per_second) : std::string("?");
  char rate[32] = "?";
  if (per_second >= 1) std::snprintf(rate, sizeof(rate), "%5.2fit/s", per_second);
  if (per_second > 0 && per_second < 1)
    std::snprintf(rate, sizeof(rate), "%5.2fs/it", 1 / per_second);
  std::fprintf(stderr, "\r%3u%%|%s| %llu/%llu [%s<%s, %s]",
               static_cast<unsigned>(100 * done / total), bar.c_str(),
               static_cast<unsigned long long>(done), static_cast<unsigned long long>(total),
               Time(elapsed).c_str(), left.c_str(), rate);
}

}  // namespace

Bar::Bar(uint64_t total, uint64_t width, std::function<uint64_t()> done) {
  if (total == 0) return;
  thread_ = std::jthread([total, width, done = std::move(done)](const std::stop_token& stop) {
    const Clock::time_point begin = Clock::now();
    uint64_t drawn = done();
    double smooth = 0;
    Clock::time_point drawn_at = begin;
    while (!stop.stop_requested()) {
      std::this_thread::sleep_for(kInterval);
      const Clock::time_point now = Clock::now();
      const uint64_t at = std::min(done(), total);
      if (at == drawn) continue;
      const double seconds = std::chrono::duration<double>(now - drawn_at).count();
      const double rate = static_cast<double>(at - drawn) / seconds;
      smooth = smooth > 0 ? 0.3 * rate + 0.7 * smooth : rate;
      drawn = at;
      drawn_at = now;
      Draw(at, total, width, std::chrono::duration<double>(now - begin).count(), smooth);
      if (at == total) break;
    }
    std::fputc('\n', stderr);
  });
}

Lines::Lines(uint64_t every, uint64_t total, uint64_t half_loss, std::function<uint64_t()> done) {
  if (every == 0) return;
  thread_ =
      std::jthread([every, total, half_loss, done = std::move(done)](const std::stop_token& stop) {
        uint64_t printed = done();
        Clock::time_point printed_at = Clock::now();
        while (!stop.stop_requested()) {
          std::this_thread::sleep_for(kLook);
          const uint64_t at = done();
          if (at / every == printed / every) continue;
          const Clock::time_point now = Clock::now();
          const double milliseconds =
              std::chrono::duration<double, std::milli>(now - printed_at).count() /
              static_cast<double>(at - printed);
          const double halves =
              half_loss == 0 ? 0 : static_cast<double>(at) / static_cast<double>(half_loss);
          PrintLine(at, total, milliseconds, 1 / (1 + halves));
          printed = at;
          printed_at = now;
        }
      });
}

}  // namespace synergy::trainer
