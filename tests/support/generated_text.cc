#include "support/generated_text.h"

#include <cstdlib>
#include <fstream>
#include <iterator>

#include <gtest/gtest.h>

namespace synergy::testing {

void ExpectGenerated(const std::string& file, const std::string& begin, const std::string& end,
                     const std::string& expected) {
  const std::string path = std::string(std::getenv("SYNERGY_ROOT")) + "/" + file;
  std::ifstream in(path);
  ASSERT_TRUE(in) << path;
  std::string text{std::istreambuf_iterator<char>(in), {}};
  const size_t from = text.find(begin);
  ASSERT_NE(from, std::string::npos) << file << ": " << begin;
  const size_t first = text.find('\n', from) + 1;
  const size_t found = text.find(end, first);
  ASSERT_NE(found, std::string::npos) << file << ": " << end;
  const size_t last = text.rfind('\n', found) + 1;
  if (std::getenv("SYNERGY_UPDATE") != nullptr) {
    std::ofstream(path) << text.replace(first, last - first, expected);
    return;
  }
  EXPECT_EQ(text.substr(first, last - first), expected)
      << file << ": run this test with SYNERGY_UPDATE=1, then scripts/chart.sh";
}

}  // namespace synergy::testing
