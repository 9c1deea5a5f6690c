#include "nodeagent/reading_writer.h"

#include <chrono>
#include <utility>

#include "cluster/annotations.h"
#include "wire/pods/pod_writes.h"

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
  Put({pod, annotations::kMemoryInUse, wire::WriteMemoryReading(reading)});
}

void ApiReadingWriter::Write(const kube::PodIdentity& pod, const DeviceReading& reading) {
  Put({pod, annotations::kDevices, wire::WriteDevices(reading)});
}

void ApiReadingWriter::Put(Item item) {
  const std::lock_guard lock(mutex_);
  std::pair key(item.pod.uid, item.annotation);
  waiting_.insert_or_assign(std::move(key), std::move(item));
  changed_.notify_one();
}

void ApiReadingWriter::Run(const std::stop_token& stop) {
  while (true) {
    decltype(waiting_) items;
    {
      std::unique_lock lock(mutex_);
      if (!changed_.wait(lock, stop, [this] { return !waiting_.empty(); })) return;
      items = std::exchange(waiting_, {});
    }
    std::erase_if(items, [&](const auto& entry) { return Send(entry.second, stop); });
    if (items.empty()) continue;
    {
      const std::lock_guard lock(mutex_);
      waiting_.merge(items);  // newer items stay
    }
    if (!clock_.SleepFor(kTryAgain, stop)) return;
  }
}

bool ApiReadingWriter::Send(const Item& item, const std::stop_token& stop) {
  const Result<> written =
      kube::AnnotateByStatus(client_, item.pod, {{item.annotation, item.value}}, stop);
  if (written) {
    metrics_.CountReading("written");
    return true;
  }
  metrics_.CountReading("failed");
  log_.Warn("cannot write a reading", {{"pod", item.pod.pod_namespace + "/" + item.pod.name},
                                       {"annotation", item.annotation},
                                       {"code", ToString(written.error().code)},
                                       {"error", written.error().message}});
  return !IsOutage(written.error());
}

}  // namespace synergy::nodeagent
