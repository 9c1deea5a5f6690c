#include "support/reference_profiles.h"

#include <cstdint>
#include <fstream>
#include <sstream>
#include <utility>
#include <vector>

#include "core/check.h"

namespace synergy::testing {

std::map<std::string, JobProfile> ReferenceProfiles() {
  std::ifstream file(SYNERGY_TEST_DATA "/synergy/sensitivity.csv");
  std::string line;
  std::getline(file, line);
  std::map<std::string, std::vector<JobProfile::Point>> points;
  while (std::getline(file, line)) {
    std::istringstream fields(line);
    std::string model;
    std::getline(fields, model, ',');
    int64_t cpu = 0;
    int64_t megabytes = 0;
    double throughput = 0;
    char comma = 0;
    fields >> cpu >> comma >> megabytes >> comma >> throughput;
    SYNERGY_CHECK(!fields.fail(), "a line has four fields");
    points[model].push_back({Cores(cpu), Bytes(megabytes * 1'000'000), throughput});
  }
  SYNERGY_CHECK(!points.empty(), "the file is there");
  std::map<std::string, JobProfile> profiles;
  for (auto& [model, measured] : points) {
    const auto profile = JobProfile::Create(Gpus(1), std::move(measured));
    SYNERGY_CHECK(profile.has_value(), "the authors' matrices are profiles");
    profiles.emplace(model, *profile);
  }
  return profiles;
}

}  // namespace synergy::testing
