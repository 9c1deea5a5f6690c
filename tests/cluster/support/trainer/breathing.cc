#include "cluster/support/trainer/breathing.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <stop_token>

#include <sys/mman.h>

namespace synergy::trainer {
namespace {

constexpr uint64_t kTouched = 4096;  // a page
constexpr auto kPause = std::chrono::milliseconds(100);

}  // namespace

Breathing::Breathing(uint64_t most, uint64_t seed)
    : thread_([this, most, seed](const std::stop_token& stop) {
        if (most < kTouched) return;
        void* const mapped =
            mmap(nullptr, most, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (mapped == MAP_FAILED) {
          std::perror("mmap");
          std::exit(EXIT_FAILURE);
        }
        auto* const memory = static_cast<char*>(mapped);
        std::mt19937_64 random(seed);
        uint64_t held = 0;
        while (!stop.stop_requested()) {
          const uint64_t wanted = random() % (most / kTouched + 1) * kTouched;
          if (wanted < held) madvise(memory + wanted, held - wanted, MADV_DONTNEED);
          for (uint64_t at = held; at < wanted && !stop.stop_requested(); at += kTouched) {
            memory[at] = 1;
            touched_ += kTouched;
          }
          held = wanted;
          std::this_thread::sleep_for(kPause);
        }
        munmap(mapped, most);
      }) {}

}  // namespace synergy::trainer
