#include "support/temporary_folder.h"

#include <cstdlib>
#include <fstream>

#include "core/check.h"

namespace synergy::testing {

TemporaryFolder::TemporaryFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "synergy-test-XXXXXX").string();
  SYNERGY_CHECK(::mkdtemp(name.data()) != nullptr, "a temporary folder can be made");
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string TemporaryFolder::Write(const std::string& name, std::string_view content) const {
  const std::string next = Path(name + ".next");
  {
    std::ofstream file(next, std::ios::binary | std::ios::trunc);
    file.write(content.data(), static_cast<std::streamsize>(content.size()));
    SYNERGY_CHECK(file.good(), "a file can be written");
  }
  std::filesystem::rename(next, Path(name));
  return Path(name);
}

}  // namespace synergy::testing
