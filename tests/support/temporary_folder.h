#pragma once

// A folder of a test's own, removed with everything in it.
//
// Threading: values inside are immutable; files belong to the test.

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
  // Writes the file as a mounted secret is changed: under another name first, so that it is
  // replaced at once. Returns its full name.
  std::string Write(const std::string& name, std::string_view content) const;

 private:
  std::filesystem::path path_;
};

}  // namespace synergy::testing
