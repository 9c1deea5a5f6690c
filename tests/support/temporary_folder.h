#pragma once

// A folder for one test, which the destructor removes with everything in it.
//
// Threading: immutable; the files belong to the test.

#include <filesystem>
#include <string>
#include <string_view>

namespace synergy::testing {

class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::string Path(const std::string& name) const { return (path_ / name).string(); }
  // Writes the file the way a mounted secret is updated: under another name first, so that it is
  // replaced atomically. Returns its path.
  std::string Write(const std::string& name, std::string_view content) const;

 private:
  std::filesystem::path path_;
};

}  // namespace synergy::testing
