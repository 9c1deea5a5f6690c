// The chart's schema of the programs' configurations must match the programs' readers. With
// SYNERGY_UPDATE=1 this test writes it.

#include <string>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/controller_config.h"
#include "config/device_plugin_config.h"
#include "config/extender_config.h"
#include "config/node_agent_config.h"
#include "support/generated_text.h"

namespace synergy::config {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Returns the members of the object in `json`, one line each, indented as in the chart's schema.
std::string Indented(std::string_view json) {
  std::string text;
  size_t depth = 2;
  const auto new_line = [&] { text += "\n" + std::string(2 * depth, ' '); };
  bool quoted = false;
  for (size_t at = 0; at < json.size(); ++at) {
    const char c = json[at];
    if (quoted || c == '"') {
      if (c == '\\') text += json[at++];
      if (c == '"') quoted = !quoted;
      text += json[at];
    } else if (c == '{' || c == '[') {
      text += c;
      ++depth;
      if (json[at + 1] != '}' && json[at + 1] != ']') new_line();
    } else if (c == '}' || c == ']') {
      --depth;
      if (json[at - 1] != '{' && json[at - 1] != '[') new_line();
      text += c;
    } else {
      text += c;
      if (c == ',') new_line();
      if (c == ':') text += ' ';
    }
  }
  const size_t first = text.find('\n') + 1;
  return text.substr(first, text.rfind('\n') + 1 - first);
}

void ExpectInChart(const std::string& name, const std::string& schema) {
  testing::ExpectGenerated("charts/synergy/values.schema.json", "    \"" + name + "\": {",
                           "\n    }", Indented(schema));
}

TEST(ConfigSchema, TheChartHasThatOfEachProgram) {
  ExpectInChart("controllerConfig", ControllerConfigSchema());
  ExpectInChart("extenderConfig", ExtenderConfigSchema());
  ExpectInChart("nodeAgentConfig", NodeAgentConfigSchema());
  ExpectInChart("devicePluginConfig", DevicePluginConfigSchema());
}

TEST(ConfigSchema, AFieldHasTheLimitsOfItsReader) {
  EXPECT_THAT(ControllerConfigSchema(),
              HasSubstr(R"("patchesAtOnce":{"type":"integer","minimum":1,"maximum":64})"));
  EXPECT_FALSE(ParseControllerConfig("tuner: {patchesAtOnce: 65}", "file"));
}

TEST(ConfigSchema, FieldsSetByTheChartAreNoValues) {
  EXPECT_THAT(ControllerConfigSchema(), Not(HasSubstr(R"("leaseName")")));
  EXPECT_TRUE(ParseControllerConfig("leaseName: other", "file"));
}

}  // namespace
}  // namespace synergy::config
