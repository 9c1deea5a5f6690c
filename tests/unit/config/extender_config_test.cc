#include "config/extender_config.h"

#include <chrono>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/temporary_folder.h"

namespace synergy::testing {
namespace {

using config::ExtenderConfig;
using config::ParseExtenderConfig;
using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::StartsWith;

ExtenderConfig ReadExtender(const std::string& yaml) {
  const Result<ExtenderConfig> config = ParseExtenderConfig(yaml, "extender.yaml");
  EXPECT_TRUE(config.has_value()) << config.error().message;
  return config.value_or(ExtenderConfig{});
}

std::string ExtenderError(const std::string& yaml) {
  const Result<ExtenderConfig> config = ParseExtenderConfig(yaml, "extender.yaml");
  if (config) return "no error";
  EXPECT_EQ(config.error().code, ErrorCode::kInvalid);
  return config.error().message;
}

TEST(ExtenderConfigTest, AnEmptyFileGivesTheDefaults) {
  for (const std::string yaml : {"", "# only a comment\n", "{}", "---\n"}) {
    const ExtenderConfig config = ReadExtender(yaml);
    EXPECT_EQ(config.listen, "127.0.0.1:8888");
    EXPECT_EQ(config.http_listen, "");
    EXPECT_EQ(config.tls_certificate_file, "");
    EXPECT_EQ(config.tls_key_file, "");
    EXPECT_EQ(config.gpu_resource, "nvidia.com/gpu");
    EXPECT_FALSE(config.shadow);
    EXPECT_FALSE(config.reservations_enabled);
    EXPECT_EQ(config.elsewhere_namespace, "");
    EXPECT_EQ(config.storage_namespace, "");
    EXPECT_EQ(config.scheduler_name, "synergy-scheduler");
    EXPECT_EQ(config.hold, minutes(1));
    EXPECT_EQ(config.node_headroom, (ResourceVector{Gpus(0), MilliCpu(500), GiB(1)}));
    EXPECT_FALSE(config.reserve_per_gpu.has_value());
    EXPECT_EQ(config.preference_percent, 10);
    EXPECT_EQ(config.bind_timeout, seconds(13));
    EXPECT_EQ(config.assume_timeout, seconds(30));
    EXPECT_EQ(config.expect_timeout, seconds(3));
    EXPECT_EQ(config.staleness_limit, minutes(2));
    EXPECT_EQ(config.shutdown_grace, seconds(10));
    EXPECT_EQ(config.max_body_bytes, int64_t{160} << 20);
    EXPECT_EQ(config.log_level, LogLevel::kInfo);
    EXPECT_EQ(config.log_format, LogFormat::kText);
  }
}

TEST(ExtenderConfigTest, EveryFieldIsRead) {
  const ExtenderConfig config = ReadExtender(R"(
listen: "[::1]:9999"
metricsAuthorization: true
httpListen: :9998
tls:
  certificateFile: /etc/tls/tls.crt
  keyFile: /etc/tls/tls.key
gpuResource: amd.com/gpu
dra: {enabled: true, deviceClasses: [gpu.amd.com]}
shadow: true
schedulerName: ours
hold: 90s
nodeHeadroom: {memory: 2Gi}
reservePerGpu:
  cpu: 1500m
  memory: 20Gi
preferencePercent: 25
bindTimeout: 3s
assumeTimeout: 45s
expectTimeout: 500ms
gangHold: 20s
replacementHold: 30s
reservations: {enabled: true}
elsewhereNamespace: synergy-system
storageNamespace: synergy-system
locality:
  nodeWait: 1m
  rackWait: 0s
  rackLabel: example.com/block
  leastSpeed: 0.9
  mostSkew: 0.5
stalenessLimit: 5m
shutdownGrace: 1h
maxBodySize: 8Mi
recordFile: /var/record
recordLimit: 5M
log:
  level: debug
  format: json
)");
  EXPECT_EQ(config.listen, "[::1]:9999");
  EXPECT_EQ(config.http_listen, ":9998");
  EXPECT_TRUE(config.metrics_authorization);
  EXPECT_EQ(config.tls_certificate_file, "/etc/tls/tls.crt");
  EXPECT_EQ(config.tls_key_file, "/etc/tls/tls.key");
  EXPECT_EQ(config.gpu_resource, "amd.com/gpu");
  EXPECT_TRUE(config.dra_enabled);
  EXPECT_EQ(config.device_classes, std::vector<std::string>{"gpu.amd.com"});
  EXPECT_EQ(config.locality.node_wait, std::chrono::minutes(1));
  EXPECT_EQ(config.locality.rack_wait, std::chrono::seconds(0));
  EXPECT_EQ(config.locality.rack_label, "example.com/block");
  EXPECT_EQ(config.locality.least_speed, 0.9);
  EXPECT_EQ(config.locality.most_skew, 0.5);
  EXPECT_TRUE(config.shadow);
  EXPECT_TRUE(config.reservations_enabled);
  EXPECT_EQ(config.elsewhere_namespace, "synergy-system");
  EXPECT_EQ(config.storage_namespace, "synergy-system");
  EXPECT_EQ(config.scheduler_name, "ours");
  EXPECT_EQ(config.hold, seconds(90));
  EXPECT_EQ(config.node_headroom, (ResourceVector{Gpus(0), MilliCpu(500), GiB(2)}));
  EXPECT_EQ(config.reserve_per_gpu, (ResourceVector{Gpus(1), MilliCpu(1500), GiB(20)}));
  EXPECT_EQ(config.preference_percent, 25);
  EXPECT_EQ(config.bind_timeout, seconds(3));
  EXPECT_EQ(config.gang_hold, seconds(20));
  EXPECT_EQ(config.replacement_hold, seconds(30));
  EXPECT_EQ(config.assume_timeout, seconds(45));
  EXPECT_EQ(config.expect_timeout, milliseconds(500));
  EXPECT_EQ(config.staleness_limit, minutes(5));
  EXPECT_EQ(config.shutdown_grace, hours(1));
  EXPECT_EQ(config.max_body_bytes, 8 << 20);
  EXPECT_EQ(config.record_file, "/var/record");
  EXPECT_EQ(config.record_limit, Bytes(5'000'000));
  EXPECT_EQ(config.log_level, LogLevel::kDebug);
  EXPECT_EQ(config.log_format, LogFormat::kJson);
}

TEST(ExtenderConfigTest, AReserveIsLearnedOrGivenInPart) {
  EXPECT_FALSE(ReadExtender("reservePerGpu: auto").reserve_per_gpu.has_value());
  EXPECT_EQ(ReadExtender("reservePerGpu: {cpu: 2}").reserve_per_gpu,
            (ResourceVector{Gpus(1), Cores(2), Bytes(0)}));
  EXPECT_EQ(ReadExtender("reservePerGpu: {memory: 1G}").reserve_per_gpu,
            (ResourceVector{Gpus(1), MilliCpu(0), GB(1)}));
}

TEST(ExtenderConfigTest, AFieldWithoutAValueKeepsItsDefaults) {
  EXPECT_EQ(ReadExtender("log:\n").log_level, LogLevel::kInfo);
}

struct AmountCase {
  std::string text;
  int64_t bytes;
};

TEST(ExtenderConfigTest, SizesAreReadWithDecimalAndBinaryUnits) {
  const AmountCase cases[] = {{"2048", 2048},
                              {"2k", 2000},
                              {"3M", 3'000'000},
                              {"4G", 4'000'000'000},
                              {"1T", 1'000'000'000'000},
                              {"2Ki", 2048},
                              {"1Mi", 1 << 20},
                              {"1Gi", 1 << 30},
                              {"1Ti", int64_t{1} << 40}};
  for (const auto& [text, bytes] : cases)
    EXPECT_EQ(ReadExtender("maxBodySize: " + text).max_body_bytes, bytes) << text;
}

struct ExtenderErrorCase {
  std::string what;
  std::string yaml;
  std::string message;  // the beginning of the message, without the file's name
};

TEST(ExtenderConfigTest, ErrorsNameLineAndField) {
  const ExtenderErrorCase cases[] = {
      {"an unknown field", "listen: :1\n\nlisten_address: :2\n",
       "3: listen_address: unknown field; known fields: assumeTimeout, bindTimeout, dra, "
       "elsewhereNamespace, expectTimeout, gangHold, "
       "gpuResource, hold, httpListen, listen, locality, log, maxBodySize, metricsAuthorization, "
       "nodeHeadroom, preferencePercent, "
       "recordFile, recordLimit, replacementHold, reservations, reservePerGpu, schedulerName, "
       "shadow, "
       "shutdownGrace, stalenessLimit, storageNamespace, tls"},
      {"an unknown field of a field", "log:\n  colour: red\n",
       "2: log.colour: unknown field; known fields: format, level"},
      {"an unknown field of the reserve", "reservePerGpu:\n  gpus: 1\n",
       "2: reservePerGpu.gpus: unknown field; known fields: cpu, memory"},
      {"a field in the wrong case", "GpuResource: a/b\n", "1: GpuResource: unknown field"},
      {"a field twice", "listen: :1\nlisten: :2\n", "2: listen: set twice"},
      {"a field of a field twice", "log:\n  level: info\n  level: warn\n",
       "3: log.level: set twice"},
      {"a list for a value", "listen: [a, b]\n", "1: listen: expected a single value"},
      {"fields for a value", "assumeTimeout:\n  seconds: 3\n",
       "2: assumeTimeout: expected a single value"},
      {"a value for fields", "log: debug\n", "1: log: expected fields"},
      {"a list for fields", "\nlog: [debug]\n", "2: log: expected fields"},
      {"a list for the file", "- listen\n", "1: the file: expected fields"},
      {"a word for the file", "listen\n", "1: the file: expected fields"},
      {"a word for the reserve", "reservePerGpu: learn\n", "1: reservePerGpu: expected fields"},
      {"a duration without a unit", "assumeTimeout: 30\n",
       "1: assumeTimeout: \"30\" is not a whole number with one of the units \"h\", \"m\", \"ms\", "
       "\"s\""},
      {"a duration with an unknown unit", "assumeTimeout: 3d\n",
       "1: assumeTimeout: \"3d\" is not a whole number"},
      {"a duration that is no number", "assumeTimeout: soon\n",
       "1: assumeTimeout: \"soon\" is not a whole number"},
      {"a broken duration", "assumeTimeout: 1.5s\n",
       "1: assumeTimeout: \"1.5s\" is not a whole number"},
      {"a compound duration", "assumeTimeout: 1m30s\n",
       "1: assumeTimeout: \"1m30s\" is not a whole number"},
      {"a negative duration", "assumeTimeout: -1s\n",
       "1: assumeTimeout: \"-1s\" is not a whole number"},
      {"no duration", "expectTimeout: 0s\n", "1: expectTimeout: must be more than zero"},
      {"a duration beyond reason", "stalenessLimit: 25h\n",
       "1: stalenessLimit: must be at most 24h"},
      {"a duration beyond counting", "stalenessLimit: 9223372036854775807h\n",
       "1: stalenessLimit: \"9223372036854775807h\" is not a whole number"},
      {"no value at all", "assumeTimeout: ~\n", "1: assumeTimeout: expected a single value"},
      {"a size with an unknown unit", "maxBodySize: 1KB\n",
       "1: maxBodySize: \"1KB\" is not a whole number"},
      {"a size too small for any request", "maxBodySize: 1023\n",
       "1: maxBodySize: must be at least 1Ki"},
      {"no scheduler", "schedulerName: ''\n", "1: schedulerName: must not be empty"},
      {"places kept for less than times are told by", "hold: 9s\n",
       "1: hold: must be at least 10s"},
      {"places kept for ever", "hold: 25h\n", "1: hold: must be at most 24h"},
      {"less than no headroom", "nodeHeadroom:\n  memory: -1\n", "2: nodeHeadroom.memory: "},
      {"CPU in bytes", "reservePerGpu:\n  cpu: 1Gi\n",
       "2: reservePerGpu.cpu: \"1Gi\" is not a whole number"},
      {"an unknown log level", "log: {level: loud}\n",
       "1: log.level: unknown log level \"loud\": use debug, info, warn or error"},
      {"an unknown log format", "log: {format: xml}\n",
       "1: log.format: unknown log format \"xml\": use text or json"},
      {"an address without a port", "listen: localhost\n",
       "1: listen: \"localhost\" is not host:port"},
      {"an address of probes without a port", "httpListen: localhost\n",
       "1: httpListen: \"localhost\" is not host:port"},
      {"a resource without a domain", "log: {}\ngpuResource: gpu\n",
       "2: gpuResource: the name of an extended resource has a domain, as in nvidia.com/gpu"},
      {"a certificate without its key", "tls:\n  certificateFile: a\n",
       "2: tls: set both certificateFile and keyFile, or neither"},
      {"a key without its certificate", "tls:\n  keyFile: a\n",
       "2: tls: set both certificateFile and keyFile, or neither"},
      {"text that is no YAML", "listen: \"unfinished\nlog: {\n", ""},
      {"a tab for indentation", "log:\n\tlevel: info\n", "2: "},
  };
  for (const auto& [what, yaml, message] : cases) {
    EXPECT_THAT(ExtenderError(yaml), StartsWith("extender.yaml:" + message)) << what;
  }
}

TEST(ExtenderConfigFileTest, IsReadFromDisk) {
  const TemporaryFolder folder;
  const std::string file = folder.Write("extender.yaml", "listen: :7\n");
  EXPECT_EQ(config::LoadExtenderConfig(file)->listen, ":7");
}

TEST(ExtenderConfigFileTest, ErrorsNameTheFile) {
  const TemporaryFolder folder;
  const std::string file = folder.Write("extender.yaml", "port: 7\n");
  EXPECT_THAT(config::LoadExtenderConfig(file).error().message, StartsWith(file + ":1: port: "));
}

TEST(ExtenderConfigFileTest, AMissingFileOrAFolderIsRefusedRatherThanTakenForDefaults) {
  const TemporaryFolder folder;
  for (const std::string& file : {folder.Path("missing.yaml"), folder.Path("")}) {
    const auto config = config::LoadExtenderConfig(file);
    ASSERT_FALSE(config.has_value()) << file;
    EXPECT_EQ(config.error().code, ErrorCode::kNotFound);
    EXPECT_THAT(config.error().message, HasSubstr(file));
  }
}

}  // namespace
}  // namespace synergy::testing
