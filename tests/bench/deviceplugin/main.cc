// Measures the device plugin: its resident memory, and how long a kubelet waits for Allocate and
// GetPreferredAllocation. The program runs as a process; the kubelet is the fake from the tests, on
// the same sockets as a real one. docs/evidence/benchmarks.md explains the figures.
//
// usage: device_plugin_bench PROGRAM [CALLS]

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/temporary_folder.h"
#include "unit/deviceplugin/fake_kubelet.h"

extern char** environ;

namespace synergy::testing {
namespace {

constexpr int kGpus = 16;
constexpr double kMegabyte = 1e6;
constexpr double kMemoryGoal = 24;
constexpr double kAllocateGoal = 1000;  // microseconds

std::string Inventory() {
  std::string text = "driverVersion: \"550.54\"\nnvlinks: 12\ngpus:\n";
  for (int i = 0; i < kGpus; ++i) {
    text += fmt::format(
        "- {{uuid: GPU-{:08}-1111-2222-3333-444444444444, product: NVIDIA A100-SXM4-80GB, memory: "
        "80Gi, numaNode: {}}}\n",
        i, i * 2 / kGpus);
  }
  return text;
}

std::string Id(int gpu) { return fmt::format("GPU-{:08}-1111-2222-3333-444444444444", gpu); }

class Plugin {
 public:
  Plugin(std::string program, const std::string& inventory, const std::string& folder,
         const std::string& log) {
    std::vector<std::string> arguments = {std::move(program),
                                          "--inventory",
                                          inventory,
                                          "--plugin-folder",
                                          folder,
                                          "--listen",
                                          "127.0.0.1:0",
                                          "--pod-resources-socket",
                                          folder + "/none",
                                          "--state-folder",
                                          folder + "/state"};
    std::vector<char*> pointers;
    for (std::string& argument : arguments) pointers.push_back(argument.data());
    pointers.push_back(nullptr);
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 2, log.c_str(), O_WRONLY | O_CREAT, 0600);
    if (posix_spawn(&pid_, pointers[0], &files, nullptr, pointers.data(), environ) != 0) {
      fmt::print(stderr, "{} cannot be started\n", arguments[0]);
      std::exit(EXIT_FAILURE);
    }
    posix_spawn_file_actions_destroy(&files);
  }
  ~Plugin() {
    kill(pid_, SIGTERM);
    waitpid(pid_, nullptr, 0);
  }
  Plugin(const Plugin&) = delete;
  Plugin& operator=(const Plugin&) = delete;

  // Returns a line of /proc/PID/status in megabytes.
  double Megabytes(const std::string& field) const {
    std::ifstream status(fmt::format("/proc/{}/status", pid_));
    for (std::string line; std::getline(status, line);)
      if (line.starts_with(field + ":"))
        return std::stod(line.substr(field.size() + 1)) * 1024 / kMegabyte;
    return 0;
  }

 private:
  pid_t pid_ = -1;
};

// Measures calls; returns their microseconds, sorted.
template <class Call>
std::vector<double> Time(int calls, Call call) {
  std::vector<double> times;
  for (int i = 0; i < calls; ++i) {
    const auto start = std::chrono::steady_clock::now();
    call(i);
    times.push_back(
        std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start)
            .count());
  }
  std::sort(times.begin(), times.end());
  return times;
}

double Quantile(const std::vector<double>& sorted, double quantile) {
  const auto rank = static_cast<size_t>(quantile * static_cast<double>(sorted.size()));
  return sorted[std::min(rank, sorted.size() - 1)];
}

void Print(const char* what, const std::vector<double>& times) {
  fmt::print("{:44} p50 {:8.1f} us   p99 {:8.1f} us   most {:8.1f} us   ({} calls)\n", what,
             Quantile(times, 0.5), Quantile(times, 0.99), times.back(), times.size());
}

void Require(const grpc::Status& status, bool ok) {
  if (status.ok() == ok) return;
  fmt::print(stderr, "a call had an unexpected result: {}\n", status.error_message());
  std::exit(EXIT_FAILURE);
}

int Main(const std::string& program, int calls) {
  const TemporaryFolder folder;
  FakeKubelet kubelet(folder.Path("d"));
  const Plugin plugin(program, folder.Write("gpus.yaml", Inventory()), folder.Path("d"),
                      folder.Path("log"));
  if (!kubelet.AwaitRegistrations(1)) {
    fmt::print(stderr, "the plugin did not register\n");
    return EXIT_FAILURE;
  }
  const double at_rest = plugin.Megabytes("VmRSS");
  v1beta1::AllocateResponse response;
  const auto allocate = [&](int i) {
    response.Clear();
    Require(kubelet.Allocate({Id(i % kGpus), Id((i + 1) % kGpus)}, &response), true);
  };
  Time(calls / 10, allocate);
  const auto allocations = Time(calls, allocate);
  std::vector<std::string> all;
  for (int i = 0; i < kGpus; ++i) all.push_back(Id(i));
  std::vector<std::string> chosen;
  const auto preferences =
      Time(calls / 10, [&](int) { Require(kubelet.Prefer(all, kGpus / 2, &chosen), true); });
  const auto refusals = Time(calls * 5, [&](int i) {
    Require(kubelet.Allocate({fmt::format("GPU-nobody-{}", i)}, &response), false);
  });
  const double most = plugin.Megabytes("VmHWM");
  Print("Allocate, 2 of 16 GPUs", allocations);
  Print("GetPreferredAllocation, 8 of 16 GPUs, exact", preferences);
  Print("Allocate with an unknown id", refusals);
  fmt::print("{:44} at rest {:.1f} MB   most {:.1f} MB   after the flood {:.1f} MB\n",
             "resident memory", at_rest, most, plugin.Megabytes("VmRSS"));
  const bool memory = most < kMemoryGoal;
  const bool latency = Quantile(allocations, 0.99) < kAllocateGoal;
  fmt::print("goal: resident memory below {} MB: {}\n", kMemoryGoal, memory ? "met" : "missed");
  fmt::print("goal: Allocate p99 below 1 ms: {}\n", latency ? "met" : "missed");
  return memory && latency ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace
}  // namespace synergy::testing

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "usage: device_plugin_bench PROGRAM [CALLS]\n");
    return 2;
  }
  return synergy::testing::Main(argv[1], argc > 2 ? std::atoi(argv[2]) : 10000);
}
