#pragma once

// Keeps events instead of sending them, for tests of code that records events.
//
//   EXPECT_THAT(events.reasons(), ElementsAre("SynergyGrown a"));
//   EXPECT_THAT(events.lines(), Contains(HasSubstr("SynergyGrown a: cpu 3")));
//
// Threading: Record() from any thread; the rest while no thread records.

#include <cstdint>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "kube/apis/events.h"

namespace synergy::testing {

class RecordedEvents final : public kube::EventRecorder {
 public:
  void Record(kube::EventRecord event) override {
    const std::lock_guard lock(mutex_);
    all.push_back(std::move(event));
  }
  uint64_t dropped() const override { return 0; }

  // "SynergyGrown a"
  std::vector<std::string> reasons() const {
    std::vector<std::string> reasons;
    for (const kube::EventRecord& event : all)
      reasons.push_back(event.reason + " " + event.object_name);
    return reasons;
  }
  // "SynergyGrown a: cpu 3 ..."
  std::vector<std::string> lines() const {
    std::vector<std::string> lines = reasons();
    for (size_t i = 0; i < all.size(); ++i) lines[i] += ": " + all[i].message;
    return lines;
  }

  std::vector<kube::EventRecord> all;  // in order

 private:
  std::mutex mutex_;
};

}  // namespace synergy::testing
