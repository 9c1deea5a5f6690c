#pragma once

// The trainer's flags.
//
// Threading: values.

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace synergy::trainer {

using Duration = std::chrono::nanoseconds;

struct Options {
  Duration gpu_step = std::chrono::milliseconds(20);
  Duration cpu_per_iteration = std::chrono::milliseconds(10);
  int workers = 0;  // the default is the number of CPUs that the process may use
  int ahead = 4;    // iterations in the queues before and behind a worker
  // These options make the speed harder to measure:
  Duration serial{};         // CPU time that each iteration needs in the training thread alone
  bool spin = false;         // that thread uses a whole core while it waits for the GPU
  bool synchronous = false;  // a step starts only when the previous one is done
  // file in which `ranks` trainers wait for each other; empty: the trainer is alone
  std::string meet;
  int rank = 0;
  int ranks = 1;
  // Folder in which the workers of an elastic job count each other. A GPU step is divided among the
  // workers, and takes `exchange` longer for each of them. Empty: the worker is alone.
  std::string team;
  Duration exchange{};
  Duration checkpoint_every{};  // the loop pauses for `checkpoint` this often; 0: never
  Duration checkpoint{};
  // every second phase takes twice the CPU time to prepare an iteration; 0: no phases
  Duration phase{};

  uint64_t data_set_size = 0;  // bytes; 0: the trainer reads no data
  uint64_t read_per_iteration = uint64_t{1} << 20;
  uint64_t storage_bandwidth = 100'000'000;  // bytes per second
  std::string data_file = "/data/set";
  bool real_data = false;  // the file has content, which is read from disk
  bool anonymous_cache = false;
  uint64_t cache_size = 0;        // size of an anonymous cache; 0: the data set's size
  uint64_t model_memory = 0;      // anonymous memory that is held throughout
  uint64_t breathing_memory = 0;  // limit of the anonymous memory that grows and shrinks
  Duration warm_up{};             // not part of the summary
  Duration run_time{};            // 0: until SIGTERM
  uint64_t iterations = 0;        // 0: until SIGTERM
  std::string checkpoint_file;    // empty: none
  uint64_t bar = 0;               // iterations at which a progress bar is full; 0: no bar
  uint64_t bar_width = 10;        // characters of the bar that fill up
  uint64_t lines = 0;             // iterations from one line about progress to the next; 0: none
  uint64_t half_loss = 0;         // iterations after which the loss is half of 1; 0: it stays 1
  std::string address = "0.0.0.0";
  std::optional<uint16_t> port;  // port of /metrics; 0: any free port
};

// Returns nullopt if the process has to exit with `exit_code`.
std::optional<Options> ParseOptions(int argc, char** argv, int& exit_code);

}  // namespace synergy::trainer
