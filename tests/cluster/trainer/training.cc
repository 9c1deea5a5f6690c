#include "cluster/trainer/training.h"

#include <ctime>

namespace synergy::trainer {
namespace {

constexpr int kAheadOfWorker = 4;  // iterations that wait on each side of a worker

Duration ThreadCpuTime() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

// Uses `work` of CPU time, however long that takes.
void Burn(Duration work, const std::stop_token& stop) {
  const Duration end = ThreadCpuTime() + work;
  volatile uint64_t sink = 0;
  while (ThreadCpuTime() < end && !stop.stop_requested()) {
    for (int i = 0; i < 20'000; ++i) sink = sink * 6364136223846793005U + 1442695040888963407U;
  }
}

}  // namespace

Training::Training(const Options& options, DataSet& data)
    : options_(options),
      data_(data),
      read_(kAheadOfWorker * options.workers),
      prepared_(kAheadOfWorker * options.workers),
      gpu_(options.gpu_step) {
  threads_.emplace_back([this](const std::stop_token& stop) { Read(stop); });
  for (int i = 0; i < options.workers; ++i)
    threads_.emplace_back([this](const std::stop_token& stop) { Prepare(stop); });
  threads_.emplace_back([this](const std::stop_token& stop) { Train(stop); });
}

void Training::Read(const std::stop_token& stop) {
  do {
    data_.ReadIteration(stop);
  } while (read_.Put(stop));
}

void Training::Prepare(const std::stop_token& stop) {
  while (read_.Take(stop)) {
    Burn(options_.cpu_per_iteration, stop);
    if (!prepared_.Put(stop)) return;
  }
}

void Training::Train(const std::stop_token& stop) {
  while (prepared_.Take(stop)) gpu_.Work(stop);
}

}  // namespace synergy::trainer
