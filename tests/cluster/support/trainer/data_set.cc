#include "cluster/support/trainer/data_set.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <vector>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cluster/support/trainer/device.h"

namespace synergy::trainer {
namespace {

constexpr uint64_t kSample = uint64_t{256} << 10;
constexpr uint64_t kPage = 4096;

[[noreturn]] void Die(const char* what) {
  std::fprintf(stderr, "trainer: %s: %s\n", what, std::strerror(errno));
  std::exit(EXIT_FAILURE);
}

Duration TimeOfSample(uint64_t bytes_per_second) {
  const std::chrono::duration<double> time(static_cast<double>(kSample) /
                                           static_cast<double>(bytes_per_second));
  return std::max(std::chrono::duration_cast<Duration>(time), Duration(1));
}

class NoData final : public DataSet {
 public:
  void ReadIteration(const std::stop_token&) override {}
};

class Samples : public DataSet {
 public:
  explicit Samples(const Options& options)
      : samples_(std::max<uint64_t>(options.data_set_size / kSample, 1)),
        per_iteration_((options.read_per_iteration + kSample - 1) / kSample),
        buffer_(kSample),
        storage_(TimeOfSample(options.storage_bandwidth)),
        choose_(0, samples_ - 1) {}

  void ReadIteration(const std::stop_token& stop) final {
    for (uint64_t i = 0; i < per_iteration_ && !stop.stop_requested(); ++i) {
      const uint64_t sample = choose_(random_);
      const bool missed = !IsCached(sample);
      Count(kSample, missed);
      if (missed) storage_.Work(stop);
      const auto before = std::chrono::steady_clock::now();
      Read(sample, buffer_.data());
      if (missed) CountMissed(std::chrono::steady_clock::now() - before);
    }
  }

 protected:
  virtual bool IsCached(uint64_t sample) = 0;
  virtual void Read(uint64_t sample, char* into) = 0;
  uint64_t samples() const { return samples_; }

 private:
  const uint64_t samples_;
  const uint64_t per_iteration_;
  std::vector<char> buffer_;
  Device storage_;
  std::mt19937_64 random_{1};
  std::uniform_int_distribution<uint64_t> choose_;
};

// A file without content, or with content if --real-data is given. Reading a file's holes fills the
// page cache as other data do, and takes no disk space.
class FileSamples final : public Samples {
 public:
  explicit FileSamples(const Options& options)
      : Samples(options), resident_(kSample / kPage), size_(samples() * kSample) {
    const size_t slash = options.data_file.rfind('/');
    if (slash != std::string::npos && slash > 0)
      ::mkdir(options.data_file.substr(0, slash).c_str(), 0755);  // it may exist
    // The kernel tells a process which pages of a file are cached only if the process may write the
    // file.
    file_ = ::open(options.data_file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (file_ < 0 || ::ftruncate(file_, static_cast<off_t>(size_)) != 0)
      Die(options.data_file.c_str());
    if (options.real_data) Fill();
    // Read-ahead would load neighbouring pages that were not requested.
    if (::posix_fadvise(file_, 0, 0, POSIX_FADV_RANDOM) != 0) Die("posix_fadvise");
    void* pages = ::mmap(nullptr, size_, PROT_READ, MAP_SHARED, file_, 0);
    if (pages == MAP_FAILED) Die("mmap");
    pages_ = static_cast<char*>(pages);
  }

  ~FileSamples() override {
    ::munmap(pages_, size_);
    ::close(file_);
  }

 protected:
  bool IsCached(uint64_t sample) override {
    if (::mincore(pages_ + sample * kSample, kSample, resident_.data()) != 0) Die("mincore");
    return std::all_of(resident_.begin(), resident_.end(),
                       [](unsigned char page) { return (page & 1) != 0; });
  }

  void Read(uint64_t sample, char* into) override {
    uint64_t done = 0;
    while (done < kSample) {
      const ssize_t read =
          ::pread(file_, into + done, kSample - done, static_cast<off_t>(sample * kSample + done));
      if (read <= 0) Die("read");
      done += static_cast<uint64_t>(read);
    }
  }

 private:
  // Writes content that no file system stores as a hole, and removes the file from the cache.
  void Fill() {
    const std::vector<char> content(kSample, 'x');
    for (uint64_t at = 0; at < size_; at += kSample) {
      if (::pwrite(file_, content.data(), kSample, static_cast<off_t>(at)) !=
          static_cast<ssize_t>(kSample))
        Die("write");
    }
    if (::fsync(file_) != 0 || ::posix_fadvise(file_, 0, 0, POSIX_FADV_DONTNEED) != 0) Die("fsync");
  }

  std::vector<unsigned char> resident_;
  const uint64_t size_;
  int file_ = -1;
  char* pages_ = nullptr;  // only passed to queries; never read or written
};

// Simulates a loader with its own cache: it keeps the first samples that fit.
class AnonymousSamples final : public Samples {
 public:
  explicit AnonymousSamples(const Options& options)
      : Samples(options),
        room_(options.cache_size / kSample),
        kept_(samples()),
        storage_page_(TouchedMemory(kSample)) {}

 protected:
  bool IsCached(uint64_t sample) override { return kept_[sample] != nullptr; }

  void Read(uint64_t sample, char* into) override {
    if (kept_[sample] == nullptr && room_ > 0) {
      --room_;
      kept_[sample] = TouchedMemory(kSample);
    }
    const char* from = kept_[sample] == nullptr ? storage_page_.get() : kept_[sample].get();
    std::memcpy(into, from, kSample);
  }

 private:
  uint64_t room_;
  std::vector<std::unique_ptr<char[]>> kept_;
  std::unique_ptr<char[]> storage_page_;
};

}  // namespace

std::unique_ptr<DataSet> DataSet::Open(const Options& options) {
  if (options.data_set_size == 0) return std::make_unique<NoData>();
  if (options.anonymous_cache) return std::make_unique<AnonymousSamples>(options);
  return std::make_unique<FileSamples>(options);
}

std::unique_ptr<char[]> TouchedMemory(uint64_t bytes) {
  auto memory = std::make_unique_for_overwrite<char[]>(bytes);
  std::memset(memory.get(), 1, bytes);
  return memory;
}

}  // namespace synergy::trainer
