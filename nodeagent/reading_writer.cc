#include "nodeagent/reading_writer.h"

#include <chrono>
#include <utility>

#include "cluster/annotations.h"
#include "wire/pod_writes.h"

namespace synergy::nodeagent {
namespace {

constexpr Duration kTryAgain = std::chrono::seconds(2);

}  // namespace

ApiReadingWriter::ApiReadingWriter(kube::ApiClient& client, const Clock& clock, Logger& log,
                                   metrics::NodeAgentMetrics& metrics)
    : client_(client), clock_(clock), log_(log), metrics_(metrics) {
  thread_ = std::jthread([this](const std::stop_token& stop) { Run(stop); });
}

ApiReadingWriter::~ApiReadingWriter() {
  thread_.request_stop();
  thread_.join();
}

void ApiReadingWriter::Write(const kube::PodIdentity& pod, const MemoryReading& reading) {
  const std::lock_guard lock(mutex_);
  waiting_.insert_or_assign(pod.uid, Item{pod, reading});
  changed_.notify_one();
}

void ApiReadingWriter::Run(const std::stop_token& stop) {
  while (true) {
    std::map<std::string, Item> items;
    {
      std::unique_lock lock(mutex_);
      if (!changed_.wait(lock, stop, [this] { return !waiting_.empty(); })) return;
      items = std::exchange(waiting_, {});
    }
    std::erase_if(items, [&](const auto& entry) { return Send(entry.second, stop); });
    if (items.empty()) continue;
    {
      const std::lock_guard lock(mutex_);
      waiting_.merge(items);  // what is newer stays
    }
    if (!clock_.SleepFor(kTryAgain, stop)) return;
  }
}

bool ApiReadingWriter::Send(const Item& item, const std::stop_token& stop) {
  const Result<> written = kube::AnnotateByStatus(
      client_, item.pod, {{annotations::kMemoryInUse, wire::WriteMemoryReading(item.reading)}},
      stop);
  if (written) {
    metrics_.CountReading("written");
    return true;
  }
  metrics_.CountReading("failed");
  log_.Warn("a pod's memory in use not written",
            {{"pod", item.pod.pod_namespace + "/" + item.pod.name},
             {"code", ToString(written.error().code)},
             {"error", written.error().message}});
  return written.error().code != ErrorCode::kUnavailable &&
         written.error().code != ErrorCode::kTimeout;
}

}  // namespace synergy::nodeagent
