#include "wire/objects/resource_slices.h"

#include <set>

#include "json/document.h"

namespace synergy::wire {

Result<std::vector<std::string>> ReadSliceDrivers(std::string_view list) {
  const Result<json::Document> document = json::Document::Parse(list);
  if (!document) return Fail(document.error());
  std::set<std::string> drivers;
  document->root()["items"].ForEachElement([&](json::Value slice) {
    const json::Value driver = slice["spec"]["driver"];
    if (driver.IsString() && !driver.text().empty()) drivers.emplace(driver.text());
  });
  return std::vector<std::string>(drivers.begin(), drivers.end());
}

}  // namespace synergy::wire
