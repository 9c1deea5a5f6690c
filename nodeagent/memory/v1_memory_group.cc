#include "nodeagent/memory/v1_memory_group.h"

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <thread>
#include <utility>

#include <pthread.h>

#include "nodeagent/cgroups/cgroup_files.h"

namespace synergy::nodeagent {
namespace {

// The interval between two looks at the usage. The kernel releases about 2 GB/s (measured), which
// is 0.4 MB per interval.
constexpr std::chrono::microseconds kLook{200};

void TakeSignal() {
  static const bool taken = [] {
    struct sigaction action{};
    // Omit SA_RESTART, because the write must return.
    action.sa_handler = [](int) {};
    return sigaction(SIGUSR1, &action, nullptr) == 0;
  }();
  static_cast<void>(taken);
}

// Once `enough` returns true, interrupts the thread that created this object, repeatedly. A single
// signal would be lost if it arrived before the system call began.
class Interrupter {
 public:
  template <class Enough>
  explicit Interrupter(Enough enough)
      : thread_([this, enough, writer = pthread_self()] {
          while (!done_) {
            if (enough()) pthread_kill(writer, SIGUSR1);
            std::this_thread::sleep_for(kLook);
          }
        }) {}
  ~Interrupter() {
    done_ = true;
    thread_.join();
  }
  Interrupter(const Interrupter&) = delete;
  Interrupter& operator=(const Interrupter&) = delete;

 private:
  std::atomic<bool> done_ = false;
  std::thread thread_;
};

}  // namespace

V1MemoryGroup::V1MemoryGroup(std::string folder) : folder_(std::move(folder)) { TakeSignal(); }

Result<MemoryUse> V1MemoryGroup::Read() {
  const Result<std::string> usage = ReadCgroupFile(folder_ + "/memory.usage_in_bytes");
  if (!usage) return Fail(usage.error());
  const Result<std::string> stat = ReadCgroupFile(folder_ + "/memory.stat");
  if (!stat) return Fail(stat.error());
  // Not every kernel has this count.
  const Result<std::string> kernel = ReadCgroupFile(folder_ + "/memory.kmem.usage_in_bytes");
  return ParseMemoryUseV1(*usage, *stat, kernel ? *kernel : "");
}

Result<MemorySample> V1MemoryGroup::Sample() {
  const Result<std::string> usage = ReadCgroupFile(folder_ + "/memory.usage_in_bytes");
  if (!usage) return Fail(usage.error());
  const Result<std::string> stat = ReadCgroupFile(folder_ + "/memory.stat");
  if (!stat) return Fail(stat.error());
  const Result<std::string> kernel = ReadCgroupFile(folder_ + "/memory.kmem.usage_in_bytes");
  return ParseMemorySampleV1(*usage, *stat, kernel ? *kernel : "");
}

Result<bool> V1MemoryGroup::Drop(Bytes) {
  return Fail(ErrorCode::kInvalid, "control groups v1 drop all of a group's page cache or none");
}

Result<Bytes> V1MemoryGroup::Limit() {
  const Result<std::string> text = ReadCgroupFile(folder_ + "/memory.limit_in_bytes");
  if (!text) return Fail(text.error());
  return ParseMemoryLimit(*text);
}

Result<> V1MemoryGroup::Release(Bytes target, const std::stop_token& stop) {
  const Result<MemoryUse> before = Read();
  if (!before) return Fail(before.error());
  if (before->usage <= target) return {};
  const std::string usage = folder_ + "/memory.usage_in_bytes";
  const std::string file = folder_ + "/memory.force_empty";
  const Interrupter interrupter([&] {
    if (stop.stop_requested()) return true;
    const Result<std::string> text = ReadCgroupFile(usage);
    // If the usage cannot be read, release too little rather than too much.
    if (!text) return true;
    const Result<Bytes> now = ParseMemoryLimit(*text);
    return !now || *now <= target;
  });
  const Result<Written> written = WriteCgroupFile(file, "0");
  if (!written) return Fail(written.error());
  // EBUSY: the remaining pages could not be released.
  if (!written->done && written->error != EINTR && written->error != EBUSY)
    return Fail(CgroupError(file, written->error));
  return {};
}

}  // namespace synergy::nodeagent
