#include "config/controller_config.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace synergy::config {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(ControllerConfigTest, AnEmptyFileIsAllDefaults) {
  const auto config = ParseControllerConfig("", "c.yaml");
  ASSERT_TRUE(config);
  EXPECT_EQ(config->listen, ":9443");
  EXPECT_EQ(config->http_listen, "127.0.0.1:8889");
  EXPECT_FALSE(config->metrics_authorization);
  EXPECT_EQ(config->progress.listen, "");
  EXPECT_EQ(config->gpu_resource, "nvidia.com/gpu");
  EXPECT_EQ(config->scheduler_name, "synergy-scheduler");
  EXPECT_THAT(config->managed_schedulers, ElementsAre("default-scheduler"));
  EXPECT_THAT(config->excluded_namespaces, ElementsAre("kube-system"));
  EXPECT_EQ(config->scope, Scope::kOptIn);
  EXPECT_EQ(config->node_headroom, (ResourceVector{Gpus(0), MilliCpu(500), GiB(1)}));
  EXPECT_EQ(config->enforcement, Enforcement::kShared);
  EXPECT_EQ(config->tolerance, 0);
  EXPECT_EQ(config->max_speed_up, 4);
  EXPECT_EQ(config->tuner.hold, std::chrono::minutes(1));
  EXPECT_FALSE(config->reservations.enabled);
  EXPECT_EQ(config->reservations.after, std::chrono::minutes(10));
  EXPECT_EQ(config->reservations.most, 1);
  EXPECT_FALSE(config->reservations.autoscaler);
  EXPECT_FALSE(config->turns.packing);
  EXPECT_FALSE(config->moves.enabled);
  EXPECT_EQ(config->moves.after, std::chrono::minutes(10));
  EXPECT_EQ(config->moves.restart_cost, std::chrono::seconds(0));
  EXPECT_EQ(config->max_body_bytes, 20 << 20);
  EXPECT_EQ(config->record_file, "");
}

TEST(ControllerConfigTest, EveryFieldIsRead) {
  const auto config = ParseControllerConfig(R"(
listen: "[::1]:9444"
httpListen: 127.0.0.1:1
metricsAuthorization: true
tls: {certificateFile: a.crt, keyFile: a.key}
ownCertificate: {secret: s, agentSecret: t, names: [n, m], webhooks: w, authorityFile: a.pem, validity: 48h}
webhookClients: {caFile: ca.crt, name: kube-apiserver}
gpuResource: amd.com/gpu
schedulerName: ours
scope: all
nodeHeadroom: {cpu: 0}
managedSchedulers: []
excludedNamespaces: [a, b]
ownNamespace: mine
enforcement: strict
tolerance: 0.05
maxSpeedUp: 2.5
leastPoolPerGpu: {cpu: 6, memory: 48Gi}
unplaced: {cpuPerGpu: 500m, memoryPerGpu: 4Gi, patience: 5s}
tuner: {hold: 90s}
progress: {enabled: true, interval: 5s, port: 1, agents: a=b, serverName: agent.svc, caFile: ca.crt, listen: ":2", reader: r}
reservations: {enabled: true, after: 8h, max: 3, leastGpus: 8, autoscaler: true}
turns: {enabled: true, packing: true}
moves: {enabled: true, after: 5m, restartCost: 90s}
failures: {enabled: true, retries: true, prerun: true, prerunPriorityClass: modest}
kueue: {enabled: true, elastic: true, trainJobProgress: true, growthBeyondQuota: never, typePatience: 45s}
profiling: {keep: 48h, warmUp: 5s, window: 1m, probeWindow: 20s, probeLead: 10s, mostLossPercent: 0.5,
  probesAtOnce: 0, driftPercent: 20, driftTime: 1m}
stalenessLimit: 1m
shutdownGrace: 2s
maxBodySize: 1Mi
recordFile: /var/record
recordLimit: 5M
log: {level: debug, format: json}
)",
                                            "c.yaml");
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->listen, "[::1]:9444");
  EXPECT_EQ(config->http_listen, "127.0.0.1:1");
  EXPECT_EQ(config->tls_certificate_file, "a.crt");
  EXPECT_EQ(config->tls_key_file, "a.key");
  EXPECT_EQ(config->own_certificate.secret, "s");
  EXPECT_EQ(config->own_certificate.agent_secret, "t");
  EXPECT_THAT(config->own_certificate.names, ElementsAre("n", "m"));
  EXPECT_EQ(config->own_certificate.webhooks, "w");
  EXPECT_EQ(config->own_certificate.authority_file, "a.pem");
  EXPECT_EQ(config->own_certificate.validity, std::chrono::hours(48));
  EXPECT_EQ(config->webhook_client_ca_file, "ca.crt");
  EXPECT_EQ(config->webhook_client_name, "kube-apiserver");
  EXPECT_EQ(config->gpu_resource, "amd.com/gpu");
  EXPECT_EQ(config->scheduler_name, "ours");
  EXPECT_EQ(config->scope, Scope::kAll);
  EXPECT_EQ(config->node_headroom, (ResourceVector{Gpus(0), MilliCpu(0), GiB(1)}));
  EXPECT_THAT(config->managed_schedulers, IsEmpty());
  EXPECT_THAT(config->excluded_namespaces, ElementsAre("a", "b"));
  EXPECT_EQ(config->own_namespace, "mine");
  EXPECT_EQ(config->enforcement, Enforcement::kStrict);
  EXPECT_EQ(config->tolerance, 0.05);
  EXPECT_EQ(config->max_speed_up, 2.5);
  EXPECT_EQ(config->least_pool_per_gpu, (ResourceVector{Gpus(0), Cores(6), GiB(48)}));
  EXPECT_TRUE(config->reservations.enabled);
  EXPECT_EQ(config->reservations.after, std::chrono::hours(8));
  EXPECT_EQ(config->reservations.most, 3);
  EXPECT_EQ(config->reservations.least_gpus, 8);
  EXPECT_TRUE(config->reservations.autoscaler);
  EXPECT_TRUE(config->turns.packing);
  EXPECT_TRUE(config->moves.enabled);
  EXPECT_EQ(config->moves.after, std::chrono::minutes(5));
  EXPECT_EQ(config->moves.restart_cost, std::chrono::seconds(90));
  EXPECT_EQ(config->unplaced.per_gpu, (ResourceVector{Gpus(0), MilliCpu(500), GiB(4)}));
  EXPECT_FALSE(config->kueue_growth_beyond_quota);
  EXPECT_EQ(config->unplaced.patience, std::chrono::seconds(5));
  EXPECT_EQ(config->tuner.hold, std::chrono::seconds(90));
  EXPECT_TRUE(config->progress.enabled);
  EXPECT_EQ(config->progress.interval, std::chrono::seconds(5));
  EXPECT_EQ(config->progress.port, 1);
  EXPECT_EQ(config->progress.agents, "a=b");
  EXPECT_EQ(config->progress.server_name, "agent.svc");
  EXPECT_EQ(config->progress.ca_file, "ca.crt");
  EXPECT_EQ(config->progress.listen, ":2");
  EXPECT_EQ(config->progress.reader, "r");
  EXPECT_TRUE(config->metrics_authorization);
  EXPECT_TRUE(config->kueue_enabled);
  EXPECT_EQ(config->type_patience, std::chrono::seconds(45));
  EXPECT_FALSE(ControllerConfig().kueue_enabled);
  EXPECT_TRUE(config->kueue_elastic);
  EXPECT_FALSE(ControllerConfig().kueue_elastic);
  EXPECT_TRUE(config->failures_retries);
  EXPECT_FALSE(ControllerConfig().failures_retries);
  EXPECT_TRUE(config->failures_prerun);
  EXPECT_FALSE(ControllerConfig().failures_prerun);
  EXPECT_EQ(config->prerun_priority_class, "modest");
  EXPECT_EQ(ControllerConfig().prerun_priority_class, "synergy-prerun");
  EXPECT_TRUE(config->kueue_train_job_progress);
  EXPECT_FALSE(ControllerConfig().kueue_train_job_progress);
  const ControllerConfig::Profiling& profiling = config->profiling;
  EXPECT_TRUE(profiling.On(config->progress)) << "unless somebody says otherwise";
  EXPECT_EQ(profiling.keep, std::chrono::hours(48));
  EXPECT_EQ(profiling.warm_up, std::chrono::seconds(5));
  EXPECT_EQ(profiling.window, std::chrono::minutes(1));
  EXPECT_EQ(profiling.probe_window, std::chrono::seconds(20));
  EXPECT_EQ(profiling.probe_lead, std::chrono::seconds(10));
  EXPECT_EQ(profiling.most_loss_percent, 0.5);
  EXPECT_EQ(profiling.probes_at_once, 0);
  EXPECT_EQ(profiling.drift_percent, 20);
  EXPECT_EQ(profiling.drift_time, std::chrono::minutes(1));
  EXPECT_EQ(config->staleness_limit, std::chrono::minutes(1));
  EXPECT_EQ(config->shutdown_grace, std::chrono::seconds(2));
  EXPECT_EQ(config->max_body_bytes, 1 << 20);
  EXPECT_EQ(config->record_file, "/var/record");
  EXPECT_EQ(config->record_limit, Bytes(5'000'000));
  EXPECT_EQ(config->log_level, LogLevel::kDebug);
  EXPECT_EQ(config->log_format, LogFormat::kJson);
}

TEST(ControllerConfigTest, ErrorsNameLineAndField) {
  const auto complaint = [](const std::string& text) {
    const auto config = ParseControllerConfig(text, "c.yaml");
    return config ? std::string("none") : config.error().message;
  };
  EXPECT_THAT(complaint("listen: x\n"), HasSubstr("c.yaml:1: listen: "));
  EXPECT_THAT(complaint("\ntolerance: 1\n"), HasSubstr("c.yaml:2: tolerance: "));
  EXPECT_THAT(complaint("tolerance: nan"), HasSubstr("tolerance: "));
  EXPECT_THAT(complaint("enforcement: gentle"), HasSubstr("not one of shared, strict"));
  EXPECT_THAT(complaint("tls: {keyFile: x}"), HasSubstr("set both certificateFile and keyFile"));
  EXPECT_THAT(complaint("ownCertificate: {secret: s, names: [n], webhooks: w}"),
              HasSubstr("ownCertificate: secret needs names, webhooks and authorityFile"));
  EXPECT_THAT(complaint("ownCertificate: {validity: 23h}"), HasSubstr("ownCertificate.validity: "));
  EXPECT_THAT(complaint("webhookClients: {caFile: x}"), HasSubstr("set both caFile and name"));
  EXPECT_THAT(complaint("failures: {enabled: false, retries: true}"),
              HasSubstr("failures.retries: needs failures.enabled"));
  EXPECT_THAT(complaint("failures: {prerun: true}"),
              HasSubstr("failures.prerun: needs failures.enabled"));
  EXPECT_THAT(complaint("failures: {enabled: false, prerun: true}\nkueue: {enabled: true}"),
              HasSubstr("failures.prerun: needs failures.enabled"));
  EXPECT_THAT(complaint("managedSchedulers: x"), HasSubstr("expected a list"));
  EXPECT_THAT(complaint("excludedNamespaces: ['']"),
              HasSubstr("excludedNamespaces[0]: must not be empty"));
  EXPECT_THAT(complaint("schedulerName: ''"), HasSubstr("schedulerName: must not be empty"));
  EXPECT_THAT(complaint("maxSpeedUp: 0.9"),
              HasSubstr("maxSpeedUp: \"0.9\" is not a number of at least 1 and below 1000"));
  EXPECT_THAT(complaint("maxSpeedUp: 1000"), HasSubstr("maxSpeedUp: "));
  EXPECT_THAT(complaint("maxSpeedUp: fast"), HasSubstr("maxSpeedUp: "));
  EXPECT_THAT(complaint("tuner: {hold: 9s}"), HasSubstr("tuner.hold: must be at least 10s"));
  EXPECT_THAT(complaint("tuner: {hold: 60}"), HasSubstr("tuner.hold: "));
  EXPECT_THAT(complaint("progress: {enabled: true, agents: a=b, serverName: c}"),
              HasSubstr("progress: enabled needs agents, serverName and caFile"));
  EXPECT_THAT(complaint("progress: {interval: 100ms}"), HasSubstr("progress.interval: "));
  EXPECT_THAT(complaint("profiling: {keep: 1m}"), HasSubstr("profiling.keep: "));
  EXPECT_THAT(complaint("profiling: {mostLossPercent: 100}"),
              HasSubstr("profiling.mostLossPercent: "));
  EXPECT_THAT(complaint("profiling: {probeWindow: 2m}"),
              HasSubstr("probeLead and probeWindow must be less than 2m together"));
  EXPECT_THAT(complaint("reservations: {after: 0s}"), HasSubstr("reservations.after: "));
  EXPECT_THAT(complaint("reservations: {autoscaler: true}"), HasSubstr("reservations.enabled"));
  EXPECT_THAT(complaint("turns: {packing: true}"), HasSubstr("turns.packing: needs turns.enabled"));
  EXPECT_THAT(
      complaint("turns: {enabled: true}\nprogress: {enabled: true, interval: 21s, agents: a=b, "
                "serverName: a, caFile: /a}"),
      HasSubstr("turns.enabled: needs a progress.interval of 20s or less"));
  EXPECT_THAT(complaint("reservations: {max: 0}"), HasSubstr("reservations.max: "));
  EXPECT_THAT(complaint("reservations: {leastGpus: -1}"), HasSubstr("reservations.leastGpus: "));
  EXPECT_THAT(complaint("hold: 60s"), HasSubstr("hold: unknown field"));
  EXPECT_THAT(complaint("nodeHeadroom: {cpu: -1}"), HasSubstr("nodeHeadroom.cpu: "));
  EXPECT_THAT(complaint("gpuResource: gpu"), HasSubstr("has a domain"));
  EXPECT_THAT(complaint("stalenessLimit: 1s"), HasSubstr("at least 3s"));
  EXPECT_THAT(complaint("maxBodySize: 1"), HasSubstr("at least 1Ki"));
  EXPECT_THAT(complaint("tolerances: 1"), HasSubstr("unknown field"));
  EXPECT_THAT(complaint("a: [}"), HasSubstr("c.yaml:1"));
}

TEST(ControllerConfigTest, WithoutProgressNothingIsMeasured) {
  const auto config = ParseControllerConfig("profiling: {enabled: true}", "c.yaml");
  ASSERT_TRUE(config);
  EXPECT_FALSE(config->profiling.On(config->progress));
}

}  // namespace
}  // namespace synergy::config
