#include "cluster/support/trainer/training.h"

#include <algorithm>
#include <condition_variable>
#include <ctime>
#include <mutex>

namespace synergy::trainer {
namespace {

Duration ThreadCpuTime() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

void Pause(Duration time, const std::stop_token& stop) {
  std::mutex mutex;
  std::unique_lock lock(mutex);
  std::condition_variable_any().wait_for(lock, stop, time, [] { return false; });
}

// Uses `work` of CPU time, however long that takes on the clock.
void Burn(Duration work, const std::stop_token& stop) {
  const Duration end = ThreadCpuTime() + work;
  volatile uint64_t sink = 0;
  while (ThreadCpuTime() < end && !stop.stop_requested()) {
    for (int i = 0; i < 20'000; ++i) sink = sink * 6364136223846793005U + 1442695040888963407U;
  }
}

}  // namespace

Training::Training(const Options& options, DataSet& data, const Team& team, Checkpoint& checkpoint)
    : options_(options),
      data_(data),
      team_(team),
      checkpoint_(checkpoint),
      read_(options.ahead * options.workers),
      prepared_(options.ahead * options.workers),
      meeting_(options.meet, options.rank, options.ranks),
      gpu_(options.gpu_step, options.synchronous) {
  threads_.emplace_back([this](const std::stop_token& stop) { Read(stop); });
  for (int i = 0; i < options.workers; ++i)
    threads_.emplace_back([this](const std::stop_token& stop) { Prepare(stop); });
  threads_.emplace_back([this](const std::stop_token& stop) { Train(stop); });
}

uint64_t Training::iterations() const {
  const uint64_t done = checkpoint_.begun() + gpu_.finished();
  return options_.iterations == 0 ? done : std::min(done, options_.iterations);
}

void Training::Read(const std::stop_token& stop) {
  do {
    data_.ReadIteration(stop);
  } while (read_.Put(stop));
}

void Training::Prepare(const std::stop_token& stop) {
  while (read_.Take(stop)) {
    Burn(PrepareTime(), stop);
    if (!prepared_.Put(stop)) return;
  }
}

Duration Training::PrepareTime() const {
  if (options_.phase == Duration::zero()) return options_.cpu_per_iteration;
  const bool second = (Clock::now() - began_) / options_.phase % 2 == 1;
  return second ? 2 * options_.cpu_per_iteration : options_.cpu_per_iteration;
}

void Training::Train(const std::stop_token& stop) {
  Clock::time_point checkpoint = began_ + options_.checkpoint_every;
  while (prepared_.Take(stop)) {
    Burn(options_.serial, stop);
    meeting_.Meet(stop);
    if (!options_.team.empty()) {
      const int workers = team_.size();
      gpu_.SetPiece(options_.gpu_step / workers + options_.exchange * workers);
    }
    gpu_.Work(stop, options_.spin);
    if (options_.checkpoint_every == Duration::zero() || Clock::now() < checkpoint) continue;
    Pause(options_.checkpoint, stop);
    if (!stop.stop_requested()) checkpoint_.Save(iterations());
    checkpoint = Clock::now() + options_.checkpoint_every;
  }
}

}  // namespace synergy::trainer
