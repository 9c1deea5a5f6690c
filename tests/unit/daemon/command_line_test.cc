#include "daemon/command_line.h"

#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/extender_config.h"
#include "support/temporary_folder.h"

namespace synergy::daemon {
namespace {

using ::testing::HasSubstr;
using ::testing::internal::CaptureStderr;
using ::testing::internal::CaptureStdout;
using ::testing::internal::GetCapturedStderr;
using ::testing::internal::GetCapturedStdout;

class CommandLineTest : public ::testing::Test {
 protected:
  CommandLineTest() {
    line.SetConfig(config, config::LoadExtenderConfig);
    line.AddWithVariable("--listen", "SYNERGY_TEST_LISTEN", config.listen, "where");
    line.AddTls(config.tls_certificate_file, config.tls_key_file);
    line.AddCluster();
  }
  ~CommandLineTest() override { unsetenv("SYNERGY_TEST_LISTEN"); }

  std::optional<int> Parse(std::vector<const char*> arguments) {
    arguments.insert(arguments.begin(), "synergy-test");
    kept = std::move(arguments);
    return line.Parse(static_cast<int>(kept.size()), kept.data(),
                      [this] { return HealthAddress{config.listen}; });
  }
  std::string File(const std::string& yaml) { return folder.Write("config.yaml", yaml); }

  synergy::testing::TemporaryFolder folder;
  config::ExtenderConfig config;
  std::vector<const char*> kept;
  CommandLine line{{.program = "synergy-test",
                    .description = "A test",
                    .config_page = "docs/test.md",
                    .example = "--listen :1"}};
};

TEST_F(CommandLineTest, FlagsWinOverTheFileAndTheFileOverDefaults) {
  const std::string file =
      File("listen: 127.0.0.1:1\ngpuResource: amd.com/gpu\nlog: {level: warn}\n");
  EXPECT_EQ(Parse({"--config", file.c_str(), "--listen", "127.0.0.1:2"}), std::nullopt);
  EXPECT_EQ(config.listen, "127.0.0.1:2");
  EXPECT_EQ(config.gpu_resource, "amd.com/gpu");
  EXPECT_EQ(config.log_level, LogLevel::kWarn);
  EXPECT_EQ(config.log_format, LogFormat::kText);
}

TEST_F(CommandLineTest, AnEnvironmentVariableStandsInForAFlag) {
  setenv("SYNERGY_TEST_LISTEN", "127.0.0.1:3", 1);
  const std::string file = File("listen: 127.0.0.1:1\n");
  EXPECT_EQ(Parse({"--config", file.c_str()}), std::nullopt);
  EXPECT_EQ(config.listen, "127.0.0.1:3");
}

TEST_F(CommandLineTest, ReadsAFileThatHasChangedAgain) {
  const std::string file = File("gpuResource: amd.com/gpu\n");
  EXPECT_EQ(Parse({"--config", file.c_str(), "--listen", "127.0.0.1:2"}), std::nullopt);
  File("gpuResource: intel.com/gpu\nlisten: 127.0.0.1:9\n");
  ASSERT_TRUE(line.Reread());
  EXPECT_EQ(config.gpu_resource, "intel.com/gpu");
  EXPECT_EQ(config.listen, "127.0.0.1:2");
  File("gpuResource: [\n");
  EXPECT_FALSE(line.Reread());
  EXPECT_EQ(config.gpu_resource, "intel.com/gpu");
}

TEST_F(CommandLineTest, ErrorsNameTheFlag) {
  CaptureStderr();
  EXPECT_EQ(Parse({"--log-level", "loud"}), kUsageError);
  EXPECT_THAT(GetCapturedStderr(), HasSubstr("--log-level"));
  CaptureStderr();
  EXPECT_EQ(Parse({"--tls-cert-file", "tls.crt"}), kUsageError);
  EXPECT_THAT(GetCapturedStderr(), HasSubstr("--tls-private-key-file"));
  CaptureStderr();
  EXPECT_EQ(Parse({"--config", "/nowhere/config.yaml"}), kUsageError);
  EXPECT_THAT(GetCapturedStderr(), HasSubstr("synergy-test: /nowhere/config.yaml"));
}

TEST_F(CommandLineTest, HelpAndVersionEndWell) {
  CaptureStdout();
  EXPECT_EQ(Parse({"--help"}), 0);
  EXPECT_THAT(GetCapturedStdout(), HasSubstr("docs/test.md"));
  CaptureStdout();
  EXPECT_EQ(Parse({"--version"}), 0);
  EXPECT_THAT(GetCapturedStdout(), HasSubstr("synergy-test "));
}

TEST_F(CommandLineTest, ChecksTheHealthOfTheProgramWithTheSameFlags) {
  CaptureStderr();
  EXPECT_EQ(Parse({"--listen", "127.0.0.1:1", "--check-health"}), 1);  // no process listens there
  EXPECT_THAT(GetCapturedStderr(), HasSubstr("synergy-test: "));
}

TEST_F(CommandLineTest, ChecksTheProgramOnItsProbeSocket) {
  std::string socket;
  line.AddProbeSocket(socket);
  CaptureStderr();
  EXPECT_EQ(Parse({"--probe-socket", "synergy-test-nobody", "--check-ready"}), 1);
  EXPECT_THAT(GetCapturedStderr(), HasSubstr("the Unix socket @synergy-test-nobody"));
}

}  // namespace
}  // namespace synergy::daemon
