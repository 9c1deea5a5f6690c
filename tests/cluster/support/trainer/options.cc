#include "cluster/support/trainer/options.h"

#include <map>

#include <CLI/CLI.hpp>
#include <sched.h>

namespace synergy::trainer {
namespace {

constexpr int kUsageError = 2;

// Returns the number of CPUs that the process may use. Ignores the quota, which may change while
// the process runs: surplus threads do no harm.
int UsableCpus() {
  cpu_set_t cpus;
  return sched_getaffinity(0, sizeof(cpus), &cpus) == 0 ? CPU_COUNT(&cpus) : 1;
}

Duration Milliseconds(double count) {
  return std::chrono::duration_cast<Duration>(std::chrono::duration<double, std::milli>(count));
}

}  // namespace

std::optional<Options> ParseOptions(int argc, char** argv, int& exit_code) {
  CLI::App app(
      "Behaves like a training loop: reads samples, prepares them on the CPU and trains on a GPU, "
      "for which it only waits");
  Options options;
  double gpu_step = 20;
  double cpu_per_iteration = 10;
  double serial = 0;
  double exchange = 0;
  double checkpoint_every = 0;
  double checkpoint = 0;
  double phase = 0;
  double warm_up = 0;
  double run_time = 0;
  std::string workers = "auto";
  std::string cache = "file";
  uint16_t port = 0;
  const CLI::AsSizeValue size(false);
  app.add_option("--gpu-step", gpu_step, "Milliseconds of GPU time per iteration (20)")
      ->check(CLI::Range(0.01, 60'000.0));
  app.add_option("--cpu-per-iteration", cpu_per_iteration,
                 "Milliseconds of CPU time to prepare an iteration (10)")
      ->check(CLI::Range(0.0, 600'000.0));
  app.add_option("--workers", workers,
                 "Threads that prepare samples; auto: one for each CPU that the process may use")
      ->check(CLI::IsMember({"auto"}) | CLI::Range(1, 1024));
  app.add_option("--ahead", options.ahead,
                 "Iterations in the queues before and behind a worker (4)")
      ->check(CLI::Range(1, 10'000));
  app.add_option("--serial", serial,
                 "Milliseconds of CPU time per iteration in the training thread alone (0)")
      ->check(CLI::Range(0.0, 60'000.0));
  app.add_flag("--spin", options.spin, "Use a whole core while waiting for the GPU");
  app.add_flag(
      "--synchronous", options.synchronous,
      "Launch a step only when the GPU has done the previous one: if the program is stopped "
      "then, the GPU is idle");
  CLI::Option* meet = app.add_option(
      "--meet", options.meet,
      "File that all ranks see, through which they wait for each other in each iteration");
  app.add_option("--rank", options.rank, "Number of this trainer in the ranks or the team (0)")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--ranks", options.ranks, "Trainers that --meet (1)")
      ->check(CLI::Range(1, 1024))
      ->needs(meet);
  app.add_option(
         "--team", options.team,
         "Folder that all workers of an elastic job see. The first one trains, with --gpu-step "
         "divided by the number of workers; the others end when it does")
      ->excludes(meet);
  app.add_option("--exchange", exchange,
                 "Milliseconds that each worker of a --team adds to an iteration (0)")
      ->check(CLI::Range(0.0, 60'000.0));
  app.add_option("--checkpoint-every", checkpoint_every,
                 "Seconds between checkpoints, which pause the training; 0: no checkpoints (0)")
      ->check(CLI::Range(0.0, 1e6));
  app.add_option("--checkpoint", checkpoint, "Seconds that a checkpoint takes (0)")
      ->check(CLI::Range(0.0, 1e6));
  app.add_option(
         "--phase", phase,
         "Seconds of a phase: in every second phase an iteration takes twice the CPU time to "
         "prepare; 0: no phases (0)")
      ->check(CLI::Range(0.0, 1e6));
  app.add_option("--data-set-size", options.data_set_size, "Bytes, such as 200Mi; 0 reads nothing")
      ->transform(size);
  app.add_option("--read-per-iteration", options.read_per_iteration, "Bytes (1Mi)")
      ->transform(size);
  app.add_option("--storage-bandwidth", options.storage_bandwidth,
                 "Bytes per second at which uncached samples are read (100M)")
      ->transform(size)
      ->check(CLI::PositiveNumber);
  app.add_option("--cache", cache,
                 "file: the data set is a file, and the page cache keeps what fits; anonymous: the "
                 "program itself keeps samples (file)")
      ->check(CLI::IsMember({"file", "anonymous"}));
  app.add_option("--cache-size", options.cache_size,
                 "Bytes that an anonymous cache can hold (the data set's size)")
      ->transform(size);
  app.add_option("--data-file", options.data_file, "The data set's file, created if it is absent");
  app.add_flag("--real-data", options.real_data,
               "Write the data set's file first, so that uncached samples are read from a disk");
  app.add_option("--model-memory", options.model_memory, "Bytes of anonymous memory to hold")
      ->transform(size);
  app.add_option("--breathing-memory", options.breathing_memory,
                 "Limit, in bytes, of anonymous memory that grows and shrinks at random")
      ->transform(size);
  app.add_option("--warm-up", warm_up, "Seconds before --seconds that are not measured");
  app.add_option("--seconds", run_time,
                 "End after so many seconds, with a line throughput=ITERATIONS_PER_SECOND");
  app.add_option(
      "--iterations", options.iterations,
      "End when so many are done, including those of earlier runs; if SIGTERM comes before "
      "that, the exit status is 143");
  app.add_option("--checkpoint-file", options.checkpoint_file,
                 "File from which training resumes: written at SIGTERM, at the end and with "
                 "--checkpoint-every");
  app.add_option("--bar", options.bar,
                 "Iterations at which a progress bar on standard error is full; 0: no bar (0)");
  app.add_option("--bar-width", options.bar_width, "Characters of the bar that fill up (10)");
  app.add_option(
      "--lines", options.lines,
      "Iterations from one line of progress on standard error to the next, in Megatron's "
      "format with --iterations, else in nanoGPT's; 0: no lines (0)");
  app.add_option(
      "--half-loss", options.half_loss,
      "Iterations N after which the loss that --lines shows is halved: after K iterations it "
      "is 1 / (1 + K / N); 0: it stays 1 (0)");
  app.add_option("--address", options.address, "IPv4 address to serve /metrics on (0.0.0.0)");
  CLI::Option* port_option =
      app.add_option("--port", port, "Port of /metrics; 0: any free port; by default none");
  try {
    app.parse(argc, argv);
    if (options.team.empty() && options.rank >= options.ranks)
      throw CLI::ValidationError("--rank", "has to be less than --ranks");
  } catch (const CLI::ParseError& error) {
    exit_code = app.exit(error) == 0 ? 0 : kUsageError;
    return std::nullopt;
  }
  options.gpu_step = Milliseconds(gpu_step);
  options.cpu_per_iteration = Milliseconds(cpu_per_iteration);
  options.serial = Milliseconds(serial);
  options.exchange = Milliseconds(exchange);
  options.checkpoint_every = Milliseconds(checkpoint_every * 1000);
  options.checkpoint = Milliseconds(checkpoint * 1000);
  options.phase = Milliseconds(phase * 1000);
  options.warm_up = Milliseconds(warm_up * 1000);
  options.run_time = Milliseconds(run_time * 1000);
  options.workers = workers == "auto" ? UsableCpus() : std::stoi(workers);
  options.anonymous_cache = cache == "anonymous";
  if (options.cache_size == 0) options.cache_size = options.data_set_size;
  if (port_option->count() > 0) options.port = port;
  return options;
}

}  // namespace synergy::trainer
