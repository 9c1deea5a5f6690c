#include "unit/metrics/promtool.h"

#include <array>
#include <cstdio>
#include <cstdlib>

#include "support/temporary_folder.h"

namespace synergy::testing {

std::string PromtoolComplaints(const std::string& exposition) {
  const char* promtool = std::getenv("SYNERGY_PROMTOOL");
  if (promtool == nullptr || std::string(promtool).ends_with("NOTFOUND")) {
    return "promtool is missing: scripts/setup.sh installs it";
  }
  const TemporaryFolder folder;
  const std::string file = folder.Write("metrics", exposition);
  const std::string command =
      std::string(promtool) + " check metrics <" + file + " 2>&1; echo \"exit $?\"";
  std::FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return "promtool cannot be started";
  std::string output;
  std::array<char, 4096> buffer;
  while (const size_t read = std::fread(buffer.data(), 1, buffer.size(), pipe))
    output.append(buffer.data(), read);
  pclose(pipe);
  return output == "exit 0\n" ? std::string() : output;
}

}  // namespace synergy::testing
