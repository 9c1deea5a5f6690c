#include "config/kubeconfig.h"

#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/temporary_folder.h"

namespace synergy::config {
namespace {

using synergy::testing::TemporaryFolder;
using ::testing::HasSubstr;

class KubeconfigTest : public ::testing::Test {
 protected:
  Result<ClusterAccess> Load(const std::string& yaml, const std::string& context = {}) {
    return LoadKubeconfig(folder_.Write("config", yaml), context);
  }

  TemporaryFolder folder_;
};

// Returns a kubeconfig whose only entries contain `cluster` and `user`, in flow style.
std::string WithEntries(const std::string& cluster, const std::string& user) {
  return "current-context: c\n"
         "contexts: [{name: c, context: {cluster: k, user: u}}]\n"
         "clusters: [{name: k, cluster: {" +
         cluster + "}}]\nusers: [{name: u, user: {" + user + "}}]\n";
}

TEST_F(KubeconfigTest, InlineDataIsDecoded) {
  const auto access = Load(R"(
apiVersion: v1
kind: Config
preferences: {}
current-context: admin@test
clusters:
- name: other
  cluster: {server: "https://other:6443"}
- name: test
  cluster:
    server: https://127.0.0.1:6443
    certificate-authority-data: Y2EgcGVt
    tls-server-name: kubernetes
contexts:
- name: admin@test
  context: {cluster: test, user: admin, namespace: default}
users:
- name: admin
  user:
    client-certificate-data: Y2VydGlmaWNhdGU=
    client-key-data: |
      a2V5
      IQ==
)");
  ASSERT_TRUE(access) << access.error().message;
  EXPECT_EQ(access->server, "https://127.0.0.1:6443");
  EXPECT_EQ(access->ca_pem, "ca pem");
  EXPECT_EQ(access->certificate_pem, "certificate");
  EXPECT_EQ(access->key_pem, "key!");
  EXPECT_EQ(access->tls_server_name, "kubernetes");
  EXPECT_FALSE(access->skip_verify);
  EXPECT_EQ(access->token, "");
  EXPECT_EQ(access->token_file, "");
}

TEST_F(KubeconfigTest, FilesAreFoundNextToTheKubeconfig) {
  folder_.Write("ca.crt", "ca pem");
  folder_.Write("client.crt", "certificate");
  const std::string key = folder_.Write("client.key", "key");
  const auto access = Load(WithEntries("server: https://h, certificate-authority: ca.crt",
                                       "client-certificate: ./client.crt, client-key: " + key));
  ASSERT_TRUE(access) << access.error().message;
  EXPECT_EQ(access->ca_pem, "ca pem");
  EXPECT_EQ(access->certificate_pem, "certificate");
  EXPECT_EQ(access->key_pem, "key");
}

TEST_F(KubeconfigTest, InlineDataCountsMoreThanAFile) {
  const auto access = Load(WithEntries(
      "server: https://h, certificate-authority: missing, certificate-authority-data: Y2E=", ""));
  ASSERT_TRUE(access) << access.error().message;
  EXPECT_EQ(access->ca_pem, "ca");
}

TEST_F(KubeconfigTest, TokensMayBeGivenOrNamed) {
  auto access =
      Load(WithEntries("server: http://h:8080, insecure-skip-tls-verify: true", "token: secret"));
  ASSERT_TRUE(access) << access.error().message;
  EXPECT_EQ(access->server, "http://h:8080");
  EXPECT_TRUE(access->skip_verify);
  EXPECT_EQ(access->token, "secret");
  access = Load(WithEntries("server: https://h", "token: secret, tokenFile: token"));
  ASSERT_TRUE(access) << access.error().message;
  EXPECT_EQ(access->token, "");
  EXPECT_EQ(access->token_file, folder_.Path("token"));
}

TEST_F(KubeconfigTest, AnotherContextCanBeNamed) {
  const std::string yaml = R"(
current-context: first
contexts:
- {name: first, context: {cluster: one}}
- {name: second, context: {cluster: two}}
clusters:
- {name: one, cluster: {server: "https://one"}}
- {name: two, cluster: {server: "https://two"}}
)";
  EXPECT_EQ(Load(yaml)->server, "https://one");
  EXPECT_EQ(Load(yaml, "second")->server, "https://two");
  EXPECT_THAT(Load(yaml, "third").error().message,
              HasSubstr("contexts: there is no entry named \"third\""));
}

TEST_F(KubeconfigTest, ErrorsNameTheFileAndTheField) {
  const std::string good = "server: https://h";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "the file is empty"},
      {"- a", "the file: is not a map"},
      {"a: [", "line 1: "},
      {"contexts: []", "current-context: is not set"},
      {"current-context: c", "contexts: there is no entry named \"c\""},
      {"{current-context: c, contexts: 3}", "contexts: is not a list"},
      {"{current-context: c, contexts: [{}]}", "contexts: an entry has no name"},
      {"{current-context: c, contexts: [{name: c}]}", "contexts \"c\": context: is not a map"},
      {"{current-context: c, contexts: [{name: c, context: {}}]}",
       "clusters: there is no entry named \"\""},
      {WithEntries("", ""),
       "clusters \"k\": cluster: server: \"\" does not start with https:// or http://"},
      {WithEntries("server: [1]", ""), "server: is not a single value"},
      {WithEntries(good + ", insecure-skip-tls-verify: perhaps", ""), "is neither true nor false"},
      {WithEntries(good + ", certificate-authority-data: '*'", ""),
       "certificate-authority-data: is not base64"},
      {WithEntries(good + ", certificate-authority-data: Y2E", ""),
       "certificate-authority-data: is not base64"},
      {WithEntries(good + ", certificate-authority-data: Y2E=Y2E=", ""), "is not base64"},
      {WithEntries(good + ", certificate-authority-data: Y", ""), "is not base64"},
      {WithEntries(good + ", certificate-authority: none.crt", ""),
       "none.crt cannot be read: No such file"},
      {WithEntries(good + ", certificate-authority: .", ""), "cannot be read: it is a directory"},
      {WithEntries(good, "client-certificate-data: Y2E="),
       "users \"u\": user: client-key: is missing"},
      {WithEntries(good, "client-key-data: Y2E="),
       "users \"u\": user: client-certificate: is missing"},
      {WithEntries(good, "exec: {command: aws}"),
       "users \"u\": user: exec: is not supported; set a token"},
      {WithEntries(good, "auth-provider: {name: gcp}"),
       "users \"u\": user: auth-provider: is not supported"},
      {WithEntries(good, "username: me"), "username: is not supported"},
      {WithEntries(good, "as-groups: [admins]"), "as: is missing; as-uid, as-groups and"},
      {WithEntries(good, "as: root, as-user-extra: {scopes: all}"), "scopes: is not a list"},
  };
  for (const auto& [yaml, message] : cases) {
    const auto access = Load(yaml);
    ASSERT_FALSE(access) << yaml;
    EXPECT_EQ(access.error().code, ErrorCode::kInvalid) << yaml;
    EXPECT_THAT(access.error().message, HasSubstr("kubeconfig " + folder_.Path("config") + ": "));
    EXPECT_THAT(access.error().message, HasSubstr(message)) << yaml;
  }
}

TEST_F(KubeconfigTest, AUserMayImpersonateAnother) {
  const auto access = Load(
      WithEntries("server: https://h",
                  "as: jane, as-uid: u1, as-groups: [dev, ops], as-user-extra: {scopes: [a, b]}"));
  ASSERT_TRUE(access) << access.error().message;
  EXPECT_EQ(access->as, (Impersonation{.user = "jane",
                                       .uid = "u1",
                                       .groups = {"dev", "ops"},
                                       .extra = {{"scopes", "a"}, {"scopes", "b"}}}));
}

TEST_F(KubeconfigTest, AProxyIsReadAsWritten) {
  EXPECT_EQ(Load(WithEntries("server: https://h, proxy-url: http://me:pw@p:3128", ""))->proxy_url,
            "http://me:pw@p:3128");
}

class AccessOverridesTest : public KubeconfigTest {
 protected:
  Result<ClusterAccess> With(const AccessOverrides& overrides) {
    folder_.Write("ca.crt", "ca pem");
    return LoadKubeconfigs({folder_.Write("config", R"(
current-context: c
contexts:
- {name: c, context: {cluster: k, user: u, namespace: team}}
- {name: d, context: {cluster: other, user: plugin}}
clusters:
- {name: k, cluster: {server: "https://k", tls-server-name: t, certificate-authority: ca.crt}}
- {name: other, cluster: {server: "https://other"}}
- {name: none, cluster: {}}
users:
- {name: u, user: {client-certificate-data: Yw==, client-key-data: aw==, tokenFile: token,
                   as: jane, as-groups: [dev]}}
- name: plugin
  user: {exec: {apiVersion: client.authentication.k8s.io/v1, command: login}}
)")},
                           overrides);
  }
};

TEST_F(AccessOverridesTest, NamesChooseOtherEntries) {
  EXPECT_EQ(With({})->server, "https://k");
  EXPECT_EQ(With({.context = "d"})->server, "https://other");
  const auto other = With({.cluster = "other"});
  ASSERT_TRUE(other) << other.error().message;
  EXPECT_EQ(other->server, "https://other");
  EXPECT_EQ(other->certificate_pem, "c");
  EXPECT_EQ(other->default_namespace, "team");
  EXPECT_EQ(With({.user = "plugin"})->plugin.command, "login");
  EXPECT_THAT(With({.user = "nobody"}).error().message,
              HasSubstr("users: there is no entry named \"nobody\""));
}

TEST_F(AccessOverridesTest, AServerIsOfAnotherTlsNameThanTheKubeconfigs) {
  EXPECT_EQ(With({})->tls_server_name, "t");
  const auto other = With({.server = "https://new"});
  ASSERT_TRUE(other) << other.error().message;
  EXPECT_EQ(other->server, "https://new");
  EXPECT_EQ(other->tls_server_name, "");
  EXPECT_EQ(other->ca_pem, "ca pem");
  EXPECT_EQ(With({.server = "https://new", .tls_server_name = "n"})->tls_server_name, "n");
  EXPECT_EQ(With({.cluster = "none", .server = "https://new"})->server, "https://new");
  const auto without_scheme = With({.server = "new:6443"});
  ASSERT_FALSE(without_scheme);
  EXPECT_EQ(without_scheme.error().code, ErrorCode::kInvalid);
  EXPECT_THAT(without_scheme.error().message, HasSubstr("--server \"new:6443\": does not start"));
}

TEST_F(AccessOverridesTest, AServerThatIsNotVerifiedNeedsNoAuthority) {
  const auto access = With({.skip_verify = true});
  ASSERT_TRUE(access) << access.error().message;
  EXPECT_TRUE(access->skip_verify);
  EXPECT_EQ(access->ca_pem, "");
  EXPECT_EQ(access->ca_file, "");
}

TEST_F(AccessOverridesTest, ATokenReplacesTheUsersButNotTheCertificate) {
  const auto access = With({.token = "mine"});
  ASSERT_TRUE(access) << access.error().message;
  EXPECT_EQ(access->token, "mine");
  EXPECT_EQ(access->token_file, "");
  EXPECT_EQ(access->certificate_pem, "c");
  EXPECT_EQ(access->key_pem, "k");
  EXPECT_EQ(With({.context = "d", .token = "mine"})->plugin.command, "");
}

TEST_F(AccessOverridesTest, EachPartOfAnImpersonationIsReplacedByItself) {
  EXPECT_EQ(With({})->as, (Impersonation{.user = "jane", .groups = {"dev"}}));
  EXPECT_EQ(With({.as = {.user = "root"}})->as, (Impersonation{.user = "root", .groups = {"dev"}}));
  EXPECT_EQ(With({.as = {.groups = {"a", "b"}}})->as,
            (Impersonation{.user = "jane", .groups = {"a", "b"}}));
  const auto without_user = With({.user = "plugin", .as = {.uid = "7"}});
  ASSERT_FALSE(without_user);
  EXPECT_THAT(without_user.error().message, HasSubstr("--as is missing"));
}

TEST_F(AccessOverridesTest, AccessWithoutAKubeconfigIsReplacedAsWell) {
  const auto access = WithOverrides({}, {.server = "https://h", .token = "t", .as = {.user = "u"}});
  ASSERT_TRUE(access) << access.error().message;
  EXPECT_EQ(access->server, "https://h");
  EXPECT_EQ(access->token, "t");
  EXPECT_EQ(access->as.user, "u");
}

TEST_F(KubeconfigTest, NamesOfSeveralFilesAreListedOnce) {
  const std::string one = folder_.Write(
      "one", "{contexts: [{name: b}, {name: a}, {}], clusters: [{name: k}], users: 3}");
  const std::string other = folder_.Write("other", "{contexts: [{name: b}], users: [{name: u}]}");
  const KubeconfigNames names =
      ListKubeconfigs({one, folder_.Path("none"), folder_.Write("broken", "a: ["),
                       folder_.Write("empty", ""), other});
  EXPECT_EQ(names.contexts, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(names.clusters, (std::vector<std::string>{"k"}));
  EXPECT_EQ(names.users, (std::vector<std::string>{"u"}));
}

TEST_F(KubeconfigTest, SeveralFilesAreOne) {
  const std::string contexts = folder_.Write("contexts",
                                             "{current-context: c, contexts: [{name: c, context: "
                                             "{cluster: k, user: u, namespace: team}}]}");
  const std::string clusters = folder_.Write(
      "clusters", "{current-context: other, clusters: [{name: k, cluster: {server: https://h}}]}");
  const std::string users = folder_.Write("users",
                                          "{users: [{name: u, user: {token: first}}], clusters: "
                                          "[{name: k, cluster: {server: http://x}}]}");
  const auto access = LoadKubeconfigs({folder_.Path("none"), contexts, clusters, users});
  ASSERT_TRUE(access) << access.error().message;
  EXPECT_EQ(access->server, "https://h");
  EXPECT_EQ(access->token, "first");
  EXPECT_EQ(access->default_namespace, "team");
  EXPECT_TRUE(LoadKubeconfigs({folder_.Write("empty", ""), contexts, clusters, users}));
  const auto none = LoadKubeconfigs({folder_.Path("none"), folder_.Path("neither")});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::kNotFound);
}

TEST_F(KubeconfigTest, AcceptsACredentialPlugin) {
  const auto load = [this](const std::string& exec) {
    return LoadKubeconfigs(
        {folder_.Write("config", WithEntries("server: https://h", "exec: " + exec))});
  };
  const auto access = load(
      "{apiVersion: client.authentication.k8s.io/v1beta1, command: bin/login, args: [a, b], "
      "env: [{name: REGION, value: north}], installHint: ask}");
  ASSERT_TRUE(access) << access.error().message;
  EXPECT_EQ(access->plugin.command, folder_.Path("bin/login"));
  EXPECT_EQ(access->plugin.arguments, (std::vector<std::string>{"a", "b"}));
  ASSERT_EQ(access->plugin.environment.size(), 1u);
  EXPECT_EQ(access->plugin.environment[0].second, "north");
  EXPECT_EQ(access->plugin.install_hint, "ask");
  EXPECT_THAT(load("{command: login}").error().message, HasSubstr("apiVersion: \"\" is not supp"));
  EXPECT_THAT(load("{apiVersion: client.authentication.k8s.io/v1}").error().message,
              HasSubstr("command: is missing"));
  EXPECT_THAT(
      load("{apiVersion: client.authentication.k8s.io/v1, command: a, args: {}}").error().message,
      HasSubstr("args: is not a list"));
}

TEST_F(KubeconfigTest, AMissingFileIsNotFound) {
  const auto access = LoadKubeconfig(folder_.Path("none"));
  ASSERT_FALSE(access);
  EXPECT_EQ(access.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(access.error().message, HasSubstr("cannot be read: No such file"));
}

TEST_F(KubeconfigTest, APodUsesItsServiceAccount) {
  folder_.Write("ca.crt", "ca pem");
  folder_.Write("token", "secret");
  const auto access = InClusterAccess("10.0.0.1", "443", folder_.Path(""));
  ASSERT_TRUE(access) << access.error().message;
  EXPECT_EQ(access->server, "https://10.0.0.1:443");
  EXPECT_EQ(access->ca_pem, "ca pem");
  EXPECT_EQ(access->token, "");
  EXPECT_THAT(access->token_file, HasSubstr("token"));
  const auto without = InClusterAccess("10.0.0.1", "443", folder_.Path(""), PodToken::kNone);
  ASSERT_TRUE(without);
  EXPECT_EQ(without->ca_pem, "ca pem");
  EXPECT_EQ(without->token_file, "");
  EXPECT_EQ(InClusterAccess("fd00::1", "6443", folder_.Path(""))->server, "https://[fd00::1]:6443");
}

TEST_F(KubeconfigTest, ErrorOutsideAPodNamesWhatIsNeeded) {
  EXPECT_THAT(InClusterAccess("", "").error().message, HasSubstr("a kubeconfig is required"));
  EXPECT_THAT(InClusterAccess("10.0.0.1", "443", folder_.Path("")).error().message,
              HasSubstr("service account: " + folder_.Path("") + "/ca.crt cannot be read"));
}

}  // namespace
}  // namespace synergy::config
