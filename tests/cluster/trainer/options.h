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
  int workers = 0;  // as many as there are CPUs that the process may run on, when parsed

  uint64_t data_set_size = 0;  // bytes; 0: nothing is read
  uint64_t read_per_iteration = uint64_t{1} << 20;
  uint64_t storage_bandwidth = 100'000'000;  // bytes per second
  std::string data_file = "/data/set";
  bool anonymous_cache = false;
  uint64_t cache_size = 0;        // of an anonymous cache; 0: the data set's
  uint64_t model_memory = 0;      // anonymous memory that is held all the time
  uint64_t breathing_memory = 0;  // anonymous memory that comes and goes, at most
  Duration warm_up{};             // not part of the summary
  Duration run_time{};            // 0: until SIGTERM
  uint64_t bar = 0;               // iterations that a progress bar counts to; 0: no bar
  std::string address = "0.0.0.0";
  std::optional<uint16_t> port;  // of /metrics; 0: any free one
};

// None when the process has nothing more to do; `exit_code` is then its end.
std::optional<Options> ParseOptions(int argc, char** argv, int& exit_code);

}  // namespace synergy::trainer
