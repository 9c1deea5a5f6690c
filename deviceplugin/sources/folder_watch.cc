#include "deviceplugin/sources/folder_watch.h"

#include <array>
#include <cstdint>
#include <utility>

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "core/check.h"

namespace synergy::deviceplugin {
namespace {

// Events about the end of the folder itself, such as a kubelet's earlier mount or an exchanged
// volume.
constexpr uint32_t kGone = IN_DELETE_SELF | IN_MOVE_SELF | IN_IGNORED | IN_UNMOUNT;
constexpr uint32_t kWatched = IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_CLOSE_WRITE |
                              IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR;

}  // namespace

FolderWatch::FolderWatch(std::string folder)
    : folder_(std::move(folder)),
      inotify_(inotify_init1(IN_NONBLOCK | IN_CLOEXEC)),
      wake_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
  SYNERGY_CHECK(wake_ >= 0, "an eventfd can be had");
  Begin();
}

FolderWatch::~FolderWatch() {
  if (inotify_ >= 0) close(inotify_);
  close(wake_);
}

bool FolderWatch::Begin() {
  if (inotify_ < 0 || watch_ >= 0) return false;
  watch_ = inotify_add_watch(inotify_, folder_.c_str(), kWatched);
  return watch_ >= 0;
}

bool FolderWatch::Wait(std::chrono::milliseconds longest) {
  if (Begin()) return true;
  std::array<pollfd, 2> polled = {pollfd{wake_, POLLIN, 0}, pollfd{inotify_, POLLIN, 0}};
  if (poll(polled.data(), polled.size(), static_cast<int>(longest.count())) <= 0) return false;
  uint64_t count = 0;
  [[maybe_unused]] const ssize_t taken = read(wake_, &count, sizeof(count));
  return TakeEvents();
}

bool FolderWatch::TakeEvents() {
  alignas(inotify_event) std::array<char, 4096> buffer;
  bool any = false;
  ssize_t size = 0;
  while ((size = read(inotify_, buffer.data(), buffer.size())) > 0) {
    any = true;
    for (ssize_t at = 0; at < size;) {
      const auto* event = reinterpret_cast<const inotify_event*>(buffer.data() + at);
      if ((event->mask & kGone) != 0 && event->wd == watch_) {
        inotify_rm_watch(inotify_, watch_);
        watch_ = -1;
      }
      at += static_cast<ssize_t>(sizeof(inotify_event)) + event->len;
    }
  }
  return any;
}

void FolderWatch::Wake() {
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = write(wake_, &one, sizeof(one));
}

}  // namespace synergy::deviceplugin
