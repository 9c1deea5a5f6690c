#pragma once

// Waits until something changes in a folder, or another thread calls Wake().
//
// Threading: one thread calls Wait; any thread may call Wake. Failures: if a folder does not exist
// or cannot be watched, each Wait tries it again. Until that succeeds, only the time limit and Wake
// end the wait.

#include <chrono>
#include <string>

namespace synergy::deviceplugin {

class FolderWatch {
 public:
  explicit FolderWatch(std::string folder);
  ~FolderWatch();
  FolderWatch(const FolderWatch&) = delete;
  FolderWatch& operator=(const FolderWatch&) = delete;

  // Returns true if something was created, deleted, renamed or written in the folder, or the folder
  // itself appeared or disappeared.
  bool Wait(std::chrono::milliseconds longest);
  // Makes the present Wait(), or the next one, return at once.
  void Wake();

 private:
  // Returns true if the watch has only begun now.
  bool Begin();
  bool TakeEvents();

  const std::string folder_;
  int inotify_ = -1;
  int wake_ = -1;
  int watch_ = -1;
};

}  // namespace synergy::deviceplugin
