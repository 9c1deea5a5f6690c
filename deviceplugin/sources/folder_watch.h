#pragma once

// Waits until something changes in a folder, or somebody wakes the one who waits.
//
// Threading: Wait by one thread, Wake from any.
// Failures: a folder that is not there, or cannot be watched, is looked for again at each Wait;
// meanwhile only the time limit and Wake end it.

#include <chrono>
#include <string>

namespace synergy::deviceplugin {

class FolderWatch {
 public:
  explicit FolderWatch(std::string folder);
  ~FolderWatch();
  FolderWatch(const FolderWatch&) = delete;
  FolderWatch& operator=(const FolderWatch&) = delete;

  // True when something was created, deleted, renamed or written in the folder, or the folder
  // itself went or came.
  bool Wait(std::chrono::milliseconds longest);
  // The Wait() of now, or the next one, returns at once.
  void Wake();

 private:
  // True when the folder is watched only from now on.
  bool Begin();
  bool TakeEvents();

  const std::string folder_;
  int inotify_ = -1;
  int wake_ = -1;
  int watch_ = -1;
};

}  // namespace synergy::deviceplugin
