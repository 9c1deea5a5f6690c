#include "cli/cluster/credential_plugin.h"

#include <filesystem>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/temporary_folder.h"

namespace synergy::cli::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class CredentialPluginTest : public ::testing::Test {
 protected:
  config::ClusterAccess WithScript(const std::string& script) {
    const std::string file = folder_.Write("plugin", "#!/bin/sh\n" + script);
    std::filesystem::permissions(file, std::filesystem::perms::owner_all);
    config::ClusterAccess access;
    access.plugin.api_version = "client.authentication.k8s.io/v1";
    access.plugin.command = file;
    return access;
  }

  std::string ErrorOf(const config::ClusterAccess& access) {
    const auto with = WithCredentials(access);
    return with ? "no error" : with.error().message;
  }

  synergy::testing::TemporaryFolder folder_;
};

TEST_F(CredentialPluginTest, WithoutAPluginNothingChanges) {
  config::ClusterAccess access;
  access.token = "mine";
  const auto with = WithCredentials(access);
  ASSERT_TRUE(with);
  EXPECT_EQ(with->token, "mine");
}

TEST_F(CredentialPluginTest, UsesItsTokenAndPassesArgumentsAndEnvironment) {
  config::ClusterAccess access = WithScript(
      "case $KUBERNETES_EXEC_INFO in *client.authentication.k8s.io/v1*) ;; *) exit 3 ;; esac\n"
      "echo '{\"status\":{\"token\":\"'$1-$PLACE'\"}}'\n");
  access.plugin.arguments = {"secret"};
  access.plugin.environment = {{"PLACE", "here"}};
  const auto with = WithCredentials(access);
  ASSERT_TRUE(with) << with.error().message;
  EXPECT_EQ(with->token, "secret-here");
  EXPECT_EQ(with->plugin.command, "");
}

TEST_F(CredentialPluginTest, AcceptsAClientCertificate) {
  const auto with = WithCredentials(
      WithScript(R"(echo '{"status":{"clientCertificateData":"cert","clientKeyData":"key"}}')"));
  ASSERT_TRUE(with) << with.error().message;
  EXPECT_EQ(with->certificate_pem, "cert");
  EXPECT_EQ(with->key_pem, "key");
}

TEST_F(CredentialPluginTest, FailuresNameThePluginAndTheCureButNoSecret) {
  EXPECT_THAT(ErrorOf(WithScript("exit 1")), HasSubstr("plugin failed"));
  EXPECT_THAT(ErrorOf(WithScript("echo '{\"status\":{}}'")),
              HasSubstr("neither a token nor a certificate"));
  EXPECT_THAT(ErrorOf(WithScript("echo '{\"status\":{\"clientKeyData\":\"k\"}}'")),
              HasSubstr("one of clientCertificateData and clientKeyData"));
  const std::string unreadable = ErrorOf(WithScript("echo 'token: s3cret'"));
  EXPECT_THAT(unreadable, HasSubstr("is not JSON"));
  EXPECT_THAT(unreadable, Not(HasSubstr("s3cret")));

  config::ClusterAccess absent;
  absent.plugin.command = "no-such-plugin-anywhere";
  absent.plugin.install_hint = "install it";
  EXPECT_THAT(ErrorOf(absent), HasSubstr("cannot be run: No such file or directory\ninstall it"));
}

TEST_F(CredentialPluginTest, AnEndlessAnswerIsCutOff) {
  EXPECT_THAT(ErrorOf(WithScript("exec cat /dev/zero")), HasSubstr("does not exit"));
}

}  // namespace
}  // namespace synergy::cli::testing
