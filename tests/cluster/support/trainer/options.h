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
  int workers = 0;  // when parsed: the number of CPUs that the process may use
  int ahead = 4;    // iterations that wait on each side of a worker
  // Options that disturb a measurement of the speed:
  Duration serial{};         // CPU time of an iteration that no other thread can share
  bool spin = false;         // the thread that waits for the GPU uses a whole core meanwhile
  bool synchronous = false;  // a step is launched when the previous one is done
  std::string meet;          // a file in which `ranks` trainers wait for each other; empty: alone
  int rank = 0;
  int ranks = 1;
  // A folder in which the workers of an elastic job count each other; the GPU's step is divided
  // among them, and each costs `exchange`. Empty: alone.
  std::string team;
  Duration exchange{};
  Duration checkpoint_every{};  // the loop pauses for `checkpoint` this often; 0: never
  Duration checkpoint{};
  Duration phase{};  // preparing takes twice the CPU time in every second one; 0: one phase

  uint64_t data_set_size = 0;  // bytes; 0: no data are read
  uint64_t read_per_iteration = uint64_t{1} << 20;
  uint64_t storage_bandwidth = 100'000'000;  // bytes per second
  std::string data_file = "/data/set";
  bool real_data = false;  // the file has content, which is read from a disk
  bool anonymous_cache = false;
  uint64_t cache_size = 0;        // of an anonymous cache; 0: that of the data set
  uint64_t model_memory = 0;      // anonymous memory that is held all the time
  uint64_t breathing_memory = 0;  // anonymous memory that comes and goes, at most
  Duration warm_up{};             // not part of the summary
  Duration run_time{};            // 0: until SIGTERM
  uint64_t iterations = 0;        // 0: until SIGTERM
  std::string checkpoint_file;    // empty: none
  uint64_t bar = 0;               // iterations that a progress bar counts to; 0: no bar
  uint64_t bar_width = 10;        // characters of it that fill up
  uint64_t lines = 0;             // iterations from one line about progress to the next; 0: none
  uint64_t half_loss = 0;         // iterations after which the loss is half of 1; 0: it stays 1
  std::string address = "0.0.0.0";
  std::optional<uint16_t> port;  // of /metrics; 0: any free port
};

// Returns nullopt if the process is to exit with `exit_code`.
std::optional<Options> ParseOptions(int argc, char** argv, int& exit_code);

}  // namespace synergy::trainer
