// trainer: behaves like a training pod (tests/cluster/README.md).

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "cluster/support/trainer/bar.h"
#include "cluster/support/trainer/breathing.h"
#include "cluster/support/trainer/checkpoint.h"
#include "cluster/support/trainer/data_set.h"
#include "cluster/support/trainer/metrics_server.h"
#include "cluster/support/trainer/options.h"
#include "cluster/support/trainer/team.h"
#include "cluster/support/trainer/training.h"

namespace synergy::trainer {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kEndLook = std::chrono::milliseconds(20);
constexpr auto kTeamLook = std::chrono::milliseconds(200);
constexpr int kEndedBySigterm = 128 + SIGTERM;

double ProcessCpuSeconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

void AppendMetric(std::string& text, const char* name, const char* type, const char* help,
                  double value) {
  char lines[512];
  std::snprintf(lines, sizeof(lines), "# HELP %s %s\n# TYPE %s %s\n%s %.15g\n", name, help, name,
                type, name, value);
  text += lines;
}

// Computes the loop's speed between two reports.
class Speed {
 public:
  explicit Speed(const Training& training) : training_(training) { Restart(); }

  void Restart() {
    from_ = Clock::now();
    iterations_ = training_.iterations();
  }
  double PerSecond() const {
    const std::chrono::duration<double> elapsed = Clock::now() - from_;
    return static_cast<double>(training_.iterations() - iterations_) / elapsed.count();
  }

 private:
  const Training& training_;
  Clock::time_point from_;
  uint64_t iterations_ = 0;
};

// Computes the fraction of reads that missed the cache between two reports.
class MissedShare {
 public:
  explicit MissedShare(const DataSet& data) : data_(data) {}

  double Next() {
    const uint64_t read = data_.read_bytes();
    const uint64_t missed = data_.missed_bytes();
    const auto of = static_cast<double>(read - std::exchange(read_, read));
    const auto part = static_cast<double>(missed - std::exchange(missed_, missed));
    return of > 0 ? part / of : 0;
  }

 private:
  const DataSet& data_;
  uint64_t read_ = 0;
  uint64_t missed_ = 0;
};

std::string Render(const Training& training, const DataSet& data, int workers, double speed) {
  std::string text;
  AppendMetric(text, "synergy_trainer_iterations_total", "counter", "Iterations trained.",
               static_cast<double>(training.iterations()));
  AppendMetric(text, "synergy_trainer_iterations_per_second", "gauge",
               "Iterations in the last whole second.", speed);
  AppendMetric(text, "synergy_trainer_workers", "gauge", "Threads that prepare iterations.",
               workers);
  AppendMetric(text, "synergy_trainer_cpu_seconds_total", "counter", "CPU time used.",
               ProcessCpuSeconds());
  AppendMetric(text, "synergy_trainer_read_bytes_total", "counter", "Bytes of samples read.",
               static_cast<double>(data.read_bytes()));
  AppendMetric(text, "synergy_trainer_missed_bytes_total", "counter",
               "Bytes of samples that were not cached.", static_cast<double>(data.missed_bytes()));
  AppendMetric(text, "synergy_trainer_missed_seconds_total", "counter",
               "Seconds in which samples that were not cached were read.",
               std::chrono::duration<double>(data.missed_time()).count());
  return text;
}

// Waits for a signal until `until`. Returns whether one came.
bool WaitForSignal(const sigset_t& signals, Clock::time_point until) {
  while (true) {
    const auto left =
        std::chrono::duration_cast<std::chrono::nanoseconds>(until - Clock::now()).count();
    if (left <= 0) return false;
    const timespec wait{.tv_sec = left / 1'000'000'000, .tv_nsec = left % 1'000'000'000};
    if (sigtimedwait(&signals, nullptr, &wait) > 0) return true;
  }
}

// Runs, without training, until the team's first worker has finished training.
int Lend(const Team& team, const sigset_t& signals) {
  while (!team.IsDone()) {
    if (WaitForSignal(signals, Clock::now() + kTeamLook)) return kEndedBySigterm;
  }
  return EXIT_SUCCESS;
}

int Run(const Options& options, const sigset_t& signals) {
  const Team team(options.team, options.rank);
  if (team.HasLeader()) return Lend(team, signals);
  const std::unique_ptr<char[]> model = TouchedMemory(options.model_memory);
  const Breathing breathing(options.breathing_memory, 1);
  const std::unique_ptr<DataSet> data = DataSet::Open(options);
  Checkpoint checkpoint(options.checkpoint_file);
  Training training(options, *data, team, checkpoint);
  const Bar bar(options.bar, options.bar_width, [&training] { return training.iterations(); });
  const Lines lines(options.lines, options.iterations, options.half_loss,
                    [&training] { return training.iterations(); });
  std::atomic<double> last_second = 0;
  std::optional<MetricsServer> server;
  if (options.port) {
    server.emplace(options.address, *options.port,
                   [&] { return Render(training, *data, options.workers, last_second); });
    std::printf("port=%u\n", server->port());
  }
  Speed speed(training);
  Speed measured(training);
  MissedShare missed(*data);
  Clock::time_point tick = Clock::now() + std::chrono::seconds(1);
  const Clock::time_point count_from = Clock::now() + options.warm_up;
  const Clock::time_point end = options.run_time == Duration::zero()
                                    ? Clock::time_point::max()
                                    : count_from + options.run_time;
  const auto done = [&] {
    return options.iterations > 0 && training.iterations() >= options.iterations;
  };
  bool counting = false;
  bool stopped = false;
  while (!done()) {
    Clock::time_point next = std::min(tick, counting ? end : count_from);
    if (options.iterations > 0) next = std::min(next, Clock::now() + kEndLook);
    stopped = WaitForSignal(signals, next);
    if (stopped || Clock::now() >= end) break;
    if (!counting && Clock::now() >= count_from) {
      counting = true;
      measured.Restart();
    }
    if (Clock::now() < tick) continue;
    last_second = speed.PerSecond();
    speed.Restart();
    tick = std::max(tick + std::chrono::seconds(1), Clock::now());
    // Each line states its time, because a program that copies the lines may do so late.
    const std::chrono::duration<double> now = std::chrono::system_clock::now().time_since_epoch();
    std::printf("time=%.3f iterations=%llu per_second=%.2f workers=%d missed=%.3f touched=%llu\n",
                now.count(), static_cast<unsigned long long>(training.iterations()),
                last_second.load(), options.workers, missed.Next(),
                static_cast<unsigned long long>(breathing.touched_bytes()));
    std::fflush(stdout);
  }
  const uint64_t reached = training.iterations();
  checkpoint.Save(reached);
  if (done()) team.ReportDone();
  if (counting) std::printf("throughput=%.4f\n", measured.PerSecond());
  return stopped && reached < options.iterations ? kEndedBySigterm : EXIT_SUCCESS;
}

}  // namespace
}  // namespace synergy::trainer

int main(int argc, char** argv) {
  int exit_code = EXIT_SUCCESS;
  const auto options = synergy::trainer::ParseOptions(argc, argv, exit_code);
  if (!options) return exit_code;
  // Block the signals before any thread starts: the first process of a container receives only
  // signals that it handles.
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  return synergy::trainer::Run(*options, signals);
}
