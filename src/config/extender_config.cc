#include "config/extender_config.h"

#include <optional>

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include "config/field_kinds.h"
#include "config/text_file.h"
#include "config/yaml_fields.h"

namespace synergy::config {
namespace {

// Parses "auto" or amounts.
YamlField Reserve(std::optional<ResourceVector>& out) {
  const auto read = [&out](const YAML::Node& node, const std::string& field) {
    out.reset();
    if (node.IsScalar() && node.Scalar() == "auto") return;
    ResourceVector reserve{Gpus(1), {}, {}};
    Amounts(reserve)(node, field);
    out = reserve;
  };
  ResourceVector unused;
  return {read, fmt::format(R"({{"oneOf":[{{"const":"auto"}},{}]}})", Amounts(unused).schema())};
}

// Parses 0s or a duration. 0s means no wait.
YamlField Wait(std::chrono::milliseconds& out) {
  const YamlField duration = Duration(out);
  const auto read = [&out, duration](const YAML::Node& node, const std::string& field) {
    out = {};
    if (!node.IsScalar() || node.Scalar() != "0s") duration(node, field);
  };
  return {read, duration.schema()};
}

YamlField Locality(ExtenderConfig::Locality& locality) {
  return Section({{"nodeWait", Wait(locality.node_wait)},
                  {"rackWait", Wait(locality.rack_wait)},
                  {"rackLabel", Text(locality.rack_label)},
                  {"leastSpeed", Number(locality.least_speed, 0, 1)},
                  {"mostSkew", Number(locality.most_skew, 0, 1)}});
}

Fields FieldsOf(ExtenderConfig& config) {
  return {{"listen", NotInChart(Address(config.listen))},
          {"httpListen", NotInChart(Address(config.http_listen))},
          {"metricsAuthorization", NotInChart(Truth(config.metrics_authorization))},
          {"tls", NotInChart(Tls(config.tls_certificate_file, config.tls_key_file))},
          {"gpuResource", NotInChart(GpuResource(config.gpu_resource))},
          {"dra", NotInChart(Dra(config.dra_enabled, config.device_classes))},
          {"shadow", NotInChart(Truth(config.shadow))},
          {"schedulerName", NotInChart(NotEmpty(config.scheduler_name))},
          {"hold", NotInChart(Hold(config.hold))},
          {"reservePerGpu", Reserve(config.reserve_per_gpu)},
          {"nodeHeadroom", NotInChart(Amounts(config.node_headroom))},
          {"preferencePercent", WholeNumber(config.preference_percent, 0, 100)},
          {"bindTimeout", Duration(config.bind_timeout)},
          {"assumeTimeout", Duration(config.assume_timeout)},
          {"gangHold", Duration(config.gang_hold)},
          {"replacementHold", Duration(config.replacement_hold)},
          {"reservations", NotInChart(Section({{"enabled", Truth(config.reservations_enabled)}}))},
          {"elsewhereNamespace", NotInChart(Text(config.elsewhere_namespace))},
          {"storageNamespace", NotInChart(Text(config.storage_namespace))},
          {"locality", Locality(config.locality)},
          {"expectTimeout", Duration(config.expect_timeout)},
          {"stalenessLimit", StalenessLimit(config.staleness_limit)},
          {"shutdownGrace", Duration(config.shutdown_grace)},
          {"maxBodySize", MaxBodySize(config.max_body_bytes)},
          {"recordFile", NotInChart(Text(config.record_file))},
          {"recordLimit", NotInChart(Size(config.record_limit))},
          {"log", NotInChart(Log(config.log_level, config.log_format))}};
}

ExtenderConfig ReadExtender(const YAML::Node& root) {
  ExtenderConfig config;
  ReadFields(root, "", FieldsOf(config));
  return config;
}

}  // namespace

std::string ExtenderConfigSchema() {
  ExtenderConfig config;
  return SchemaOf(FieldsOf(config));
}

Result<ExtenderConfig> ParseExtenderConfig(const std::string& yaml, const std::string& name) {
  return ParseFile(yaml, name, ReadExtender);
}

Result<ExtenderConfig> LoadExtenderConfig(const std::string& file) {
  return ParseTextFile(file, ParseExtenderConfig);
}

}  // namespace synergy::config
