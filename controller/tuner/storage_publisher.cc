#include "controller/tuner/storage_publisher.h"

#include <utility>

namespace synergy::controller {

StoragePublisher::StoragePublisher(kube::StorageApi& api, const Clock& clock, Logger& log)
    : api_(api), clock_(clock), log_(log) {}

void StoragePublisher::Offer(PlacementStorage storage) {
  const std::lock_guard lock(mutex_);
  offered_ = std::move(storage);
}

void StoragePublisher::StartOver() {
  published_.reset();
  const std::lock_guard lock(mutex_);
  offered_.reset();
}

void StoragePublisher::Publish(const std::stop_token& stop) {
  std::optional<PlacementStorage> storage;
  {
    const std::lock_guard lock(mutex_);
    storage = offered_;
  }
  const Instant now = clock_.Now();
  if (!storage || now < due_ || (published_ && published_->storage == *storage)) return;
  due_ = now + kInterval;
  const Result<> published = TryToPublish(*storage, stop);
  if (published) {
    error_.reset();
    return;
  }
  // The call may have taken effect, or another client may have written.
  published_.reset();
  const Error& error = published.error();
  if (std::exchange(error_, error.code) != error.code)
    log_.Warn("cannot publish what is known about storage", {{"error", error.message}});
}

Result<> StoragePublisher::TryToPublish(const PlacementStorage& storage,
                                        const std::stop_token& stop) {
  if (!published_) {
    auto read = api_.ReadStorage(stop);
    if (!read && read.error().code != ErrorCode::kNotFound) return Fail(read.error());
    published_ = read ? *std::move(read) : PublishedStorage();
    if (read && published_->storage == storage) return {};
  }
  auto written = api_.WriteStorage({published_->resource_version, storage}, stop);
  if (!written) return Fail(written.error());
  published_ = *std::move(written);
  return {};
}

}  // namespace synergy::controller
