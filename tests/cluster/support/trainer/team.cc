#include "cluster/support/trainer/team.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

namespace synergy::trainer {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::milliseconds kBeat{200};
constexpr std::chrono::milliseconds kAlive{1000};
constexpr const char* kDone = "done";
constexpr const char* kAliveEnding = ".alive";

void Write(const fs::path& path) {
  std::ofstream file(path, std::ios::trunc);
  file << "1\n" << std::flush;
  if (file) return;
  std::fprintf(stderr, "--team %s: %s\n", path.c_str(), std::strerror(errno));
  std::exit(EXIT_FAILURE);
}

}  // namespace

Team::Team(std::string folder, int rank) : folder_(std::move(folder)), rank_(rank) {
  if (folder_.empty()) return;
  Look();
  thread_ = std::jthread([this](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      std::this_thread::sleep_for(kBeat);
      Look();
    }
  });
}

void Team::Look() {
  Write(fs::path(folder_) / (std::to_string(rank_) + kAliveEnding));
  const auto now = fs::file_time_type::clock::now();
  int alive = 0;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder_, error)) {
    if (entry.path().extension() != kAliveEnding) continue;
    const auto written = entry.last_write_time(error);
    if (!error && now - written < kAlive) ++alive;
  }
  size_ = std::max(alive, 1);
}

void Team::ReportDone() const {
  if (!folder_.empty()) Write(fs::path(folder_) / kDone);
}

bool Team::IsDone() const {
  std::error_code error;
  return fs::exists(fs::path(folder_) / kDone, error);
}

}  // namespace synergy::trainer
