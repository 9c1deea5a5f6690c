#include "config/controller_config.h"

#include <yaml-cpp/yaml.h>

#include "config/field_kinds.h"
#include "config/text_file.h"
#include "config/yaml_fields.h"

namespace synergy::config {
namespace {

YamlField Tuner(ControllerConfig::Tuner& tuner) {
  return Section({{"enabled", Truth(tuner.enabled)},
                  {"round", Duration(tuner.round)},
                  {"leastGainPercent", WholeNumber(tuner.least_gain_percent, 0, 1000)},
                  {"hold", Hold(tuner.hold)},
                  {"settle", Duration(tuner.settle)},
                  {"patience", Duration(tuner.patience)},
                  {"unshrinkable", Duration(tuner.unshrinkable)},
                  {"memoryWatch", Duration(tuner.memory_watch)},
                  {"idleAfter", Duration(tuner.idle_after)},
                  {"storage", Truth(tuner.storage)},
                  {"patchesPerSecond", WholeNumber(tuner.patches_per_second, 1, 10000)},
                  {"patchesAtOnce", WholeNumber(tuner.patches_at_once, 1, 64)}});
}

YamlField Progress(ControllerConfig::Progress& progress) {
  const YamlField fields =
      Section({{"enabled", Truth(progress.enabled)},
               {"interval", Duration(progress.interval, {.least = std::chrono::seconds(1),
                                                         .most = std::chrono::seconds(60)})},
               {"port", NotInChart(WholeNumber(progress.port, 1, 65535))},
               {"agents", NotInChart(Text(progress.agents))},
               {"serverName", NotInChart(Text(progress.server_name))},
               {"caFile", NotInChart(Text(progress.ca_file))},
               {"listen", NotInChart(AddressOrNone(progress.listen))},
               {"reader", NotInChart(NotEmpty(progress.reader))}});
  const auto read = [&progress, fields](const YAML::Node& node, const std::string& field) {
    fields(node, field);
    if (progress.enabled &&
        (progress.agents.empty() || progress.server_name.empty() || progress.ca_file.empty()))
      Reject(node, field + ": enabled needs agents, serverName and caFile");
  };
  return {read, fields.schema()};
}

// Node agents end a probe after two minutes.
constexpr std::chrono::milliseconds kLongestProbe = std::chrono::minutes(2);

YamlField Profiling(ControllerConfig::Profiling& profiling) {
  const DurationLimits some{.least = std::chrono::seconds(1), .most = std::chrono::minutes(10)};
  const YamlField fields =
      Section({{"enabled", Truth(profiling.enabled)},
               {"keep", Duration(profiling.keep, {.least = std::chrono::hours(1),
                                                  .most = std::chrono::hours(24 * 366)})},
               {"warmUp", Duration(profiling.warm_up, {.most = std::chrono::hours(1)})},
               {"window", Duration(profiling.window, some)},
               {"probeWindow", Duration(profiling.probe_window, some)},
               {"probeLead", Duration(profiling.probe_lead, some)},
               {"mostLossPercent", Number(profiling.most_loss_percent, 0, 100)},
               {"probesAtOnce", WholeNumber(profiling.probes_at_once, 0, 1000)},
               {"bursts", Truth(profiling.bursts)},
               {"driftPercent", WholeNumber(profiling.drift_percent, 1, 1000)},
               {"driftTime", Duration(profiling.drift_time, {.least = std::chrono::seconds(10)})}});
  const auto read = [&profiling, fields](const YAML::Node& node, const std::string& field) {
    fields(node, field);
    if (profiling.probe_lead + profiling.probe_window >= kLongestProbe) {
      Reject(node, field + ": probeLead and probeWindow must be less than 2m together");
    }
  };
  return {read, fields.schema()};
}

YamlField OwnCertificate(ControllerConfig::OwnCertificate& own) {
  const YamlField fields =
      Section({{"secret", Text(own.secret)},
               {"agentSecret", Text(own.agent_secret)},
               {"names", Texts(own.names)},
               {"webhooks", Text(own.webhooks)},
               {"authorityFile", Text(own.authority_file)},
               {"validity", Duration(own.validity, {.least = std::chrono::hours(24),
                                                    .most = std::chrono::hours(24 * 3660)})}});
  const auto read = [&own, fields](const YAML::Node& node, const std::string& field) {
    fields(node, field);
    if (!own.secret.empty() &&
        (own.names.empty() || own.webhooks.empty() || own.authority_file.empty()))
      Reject(node, field + ": secret needs names, webhooks and authorityFile");
  };
  return {read, fields.schema()};
}

YamlField GangPreemption(ControllerConfig::GangPreemption& preemption) {
  return Section({{"enabled", Truth(preemption.enabled)},
                  {"patience", Duration(preemption.patience, {.least = std::chrono::seconds(1),
                                                              .most = std::chrono::hours(24)})}});
}

YamlField Reservations(ControllerConfig::Reservations& reservations) {
  return Section({{"enabled", Truth(reservations.enabled)},
                  {"after", Duration(reservations.after, {.least = std::chrono::seconds(1),
                                                          .most = std::chrono::hours(24 * 30)})},
                  {"max", WholeNumber(reservations.most, 1, 100)},
                  {"leastGpus", WholeNumber(reservations.least_gpus, 0, 100000)},
                  {"autoscaler", Truth(reservations.autoscaler)}});
}

YamlField Moves(ControllerConfig::Moves& moves) {
  return Section({{"enabled", Truth(moves.enabled)},
                  {"after", Duration(moves.after, {.least = std::chrono::seconds(1),
                                                   .most = std::chrono::hours(24 * 30)})},
                  {"restartCost", Duration(moves.restart_cost, {.least = std::chrono::seconds(0),
                                                                .most = std::chrono::hours(24)})}});
}

YamlField Turns(ControllerConfig::Turns& turns) {
  return Section({{"enabled", NotInChart(Truth(turns.enabled))},
                  {"quantum", Duration(turns.quantum, {.least = std::chrono::seconds(30),
                                                       .most = std::chrono::seconds(110)})},
                  {"packing", Truth(turns.packing)}});
}

Result<bool> ParseGrowth(std::string_view text) {
  if (text != "allow" && text != "never")
    return Fail(ErrorCode::kInvalid, "must be allow or never");
  return text == "allow";
}

Fields FieldsOf(ControllerConfig& config) {
  return {
      {"listen", NotInChart(Address(config.listen))},
      {"httpListen", NotInChart(Address(config.http_listen))},
      {"metricsAuthorization", NotInChart(Truth(config.metrics_authorization))},
      {"tls", NotInChart(Tls(config.tls_certificate_file, config.tls_key_file))},
      {"ownCertificate", NotInChart(OwnCertificate(config.own_certificate))},
      {"webhookClients", NotInChart(Section({{"caFile", Text(config.webhook_client_ca_file)},
                                             {"name", Text(config.webhook_client_name)}}))},
      {"gpuResource", NotInChart(GpuResource(config.gpu_resource))},
      {"dra", NotInChart(Dra(config.dra_enabled, config.device_classes))},
      {"schedulerName", NotInChart(NotEmpty(config.scheduler_name))},
      {"scope", Parsed(ParseScope, config.scope, {"optIn", "all"})},
      {"nodeHeadroom", NotInChart(Amounts(config.node_headroom))},
      {"leastPoolPerGpu", Amounts(config.least_pool_per_gpu)},
      {"unplaced", Section({{"cpuPerGpu", Cpu(config.unplaced.per_gpu.cpu)},
                            {"memoryPerGpu", Size(config.unplaced.per_gpu.memory)},
                            {"patience", Duration(config.unplaced.patience)}})},
      {"managedSchedulers", Texts(config.managed_schedulers)},
      {"excludedNamespaces", Texts(config.excluded_namespaces)},
      {"ownNamespace", NotInChart(Text(config.own_namespace))},
      {"enforcement", Parsed(ParseEnforcement, config.enforcement, {"shared", "strict"})},
      {"tolerance", Number(config.tolerance, 0, 1)},
      {"maxSpeedUp", Number(config.max_speed_up, 1, 1000)},
      {"tuner", Tuner(config.tuner)},
      {"progress", Progress(config.progress)},
      {"profiling", Profiling(config.profiling)},
      {"turns", Turns(config.turns)},
      {"failures",
       Section({{"enabled", Truth(config.failures_enabled)},
                {"retries", Truth(config.failures_retries)},
                {"prerun", Truth(config.failures_prerun)},
                {"prerunPriorityClass", NotInChart(NotEmpty(config.prerun_priority_class))}})},
      {"gangPreemption", GangPreemption(config.gang_preemption)},
      {"reservations", Reservations(config.reservations)},
      {"moves", Moves(config.moves)},
      {"kueue",
       NotInChart(Section(
           {{"enabled", Truth(config.kueue_enabled)},
            {"elastic", Truth(config.kueue_elastic)},
            {"growthBeyondQuota",
             Parsed(ParseGrowth, config.kueue_growth_beyond_quota, {"allow", "never"})},
            {"trainJobProgress", Truth(config.kueue_train_job_progress)},
            {"typePatience", Duration(config.type_patience, {.least = std::chrono::seconds(1),
                                                             .most = std::chrono::hours(1)})}}))},
      {"leaseName", NotInChart(Text(config.lease_name))},
      {"stalenessLimit", StalenessLimit(config.staleness_limit)},
      {"shutdownGrace", Duration(config.shutdown_grace)},
      {"maxBodySize", MaxBodySize(config.max_body_bytes)},
      {"recordFile", NotInChart(Text(config.record_file))},
      {"recordLimit", NotInChart(Size(config.record_limit))},
      {"log", NotInChart(Log(config.log_level, config.log_format))}};
}

ControllerConfig ReadController(const YAML::Node& root) {
  ControllerConfig config;
  ReadFields(root, "", FieldsOf(config));
  if (config.webhook_client_ca_file.empty() != config.webhook_client_name.empty())
    Reject(root, "webhookClients: set both caFile and name, or neither");
  if (config.tuner.idle_after.count() > 0 && !config.progress.enabled) {
    Reject(root, "tuner.idleAfter: needs progress.enabled, because node agents report idle pods");
  }
  if (config.tuner.storage && !config.progress.enabled) {
    Reject(root, "tuner.storage: needs progress.enabled, because node agents measure storage");
  }
  if (config.turns.enabled && !config.progress.enabled) {
    Reject(root, "turns.enabled: needs progress.enabled, because node agents report shared GPUs");
  }
  if (config.turns.enabled && config.progress.interval > std::chrono::seconds(20)) {
    Reject(
        root,
        "turns.enabled: needs a progress.interval of 20s or less, because node agents let all pods "
        "run after a minute without a query");
  }
  if (config.turns.packing && !config.turns.enabled) {
    Reject(root,
           "turns.packing: needs turns.enabled, because only pods that take turns are packed");
  }
  if (config.reservations.autoscaler && !config.reservations.enabled) {
    Reject(root, "reservations.autoscaler: needs reservations.enabled, whose nodes it protects");
  }
  if (config.failures_retries && !config.failures_enabled) {
    Reject(root, "failures.retries: needs failures.enabled, because it acts on these failures");
  }
  if (config.failures_prerun && !(config.failures_enabled && config.kueue_enabled)) {
    Reject(root,
           "failures.prerun: needs failures.enabled, which classifies the failures of trials, "
           "and kueue.enabled, in whose queues they run");
  }
  return config;
}

}  // namespace

std::string ControllerConfigSchema() {
  ControllerConfig config;
  return SchemaOf(FieldsOf(config));
}

Result<ControllerConfig> ParseControllerConfig(const std::string& yaml, const std::string& name) {
  return ParseFile(yaml, name, ReadController);
}

Result<ControllerConfig> LoadControllerConfig(const std::string& file) {
  return ParseTextFile(file, ParseControllerConfig);
}

}  // namespace synergy::config
