#pragma once

// Keeps readings instead of writing them to pods, for tests of the keepers.
//
// Threading: as ReadingWriter.

#include <string>
#include <utility>
#include <vector>

#include "nodeagent/reading_writer.h"

namespace synergy::nodeagent {

struct RecordedReadings final : ReadingWriter {
  void Write(const kube::PodIdentity& pod, const MemoryReading& reading) override {
    memory.emplace_back(pod.name, reading);
  }
  void Write(const kube::PodIdentity& pod, const DeviceReading& reading) override {
    devices.emplace_back(pod.name, reading);
  }

  // Pod name and reading, in order.
  std::vector<std::pair<std::string, MemoryReading>> memory;
  std::vector<std::pair<std::string, DeviceReading>> devices;
};

}  // namespace synergy::nodeagent
