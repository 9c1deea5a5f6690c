#include "cli/commands/completion.h"

#include <cstdlib>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/commands/cluster_commands.h"
#include "support/fake_api_server.h"
#include "support/temporary_folder.h"

namespace synergy::cli::testing {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class CompletionTest : public ::testing::Test {
 protected:
  std::vector<std::string> WordsFor(const std::vector<std::string>& words) {
    std::vector<std::string> found;
    for (const Candidate& candidate : Complete(app_, words, sources_).candidates)
      found.push_back(candidate.word);
    return found;
  }

  CLI::App app_;
  const ClusterCommands commands_{app_};
  ValueSources sources_;
};

TEST_F(CompletionTest, CommandsComeFirst) {
  EXPECT_THAT(WordsFor({""}), ElementsAre("explain", "top", "profiles", "queue", "failures"));
  EXPECT_THAT(WordsFor({"q"}), ElementsAre("queue"));
  app_.add_subcommand("quiet")->group("");
  EXPECT_THAT(WordsFor({"q"}), ElementsAre("queue"));
  EXPECT_THAT(WordsFor({}), IsEmpty());
}

TEST_F(CompletionTest, EachCommandHasItsOwnOptions) {
  EXPECT_THAT(WordsFor({"top", "--sel"}), ElementsAre("--selector"));
  EXPECT_THAT(WordsFor({"top", "--no-h"}), ElementsAre("--no-headers"));
  EXPECT_THAT(WordsFor({"explain", "--no-h"}), IsEmpty());
  EXPECT_THAT(WordsFor({"profile", "--wa"}), ElementsAre("--watch"));  // the command's alias
  EXPECT_THAT(WordsFor({"top", "-"}), AllOf(Contains("--output"), Contains("--help")));
}

TEST_F(CompletionTest, ValuesAreThoseThatTheCheckAccepts) {
  EXPECT_THAT(WordsFor({"top", "-o", ""}), ElementsAre("table", "wide", "json", "yaml", "name"));
  EXPECT_THAT(WordsFor({"top", "--output", "j"}), ElementsAre("json"));
  EXPECT_THAT(WordsFor({"top", "--output=y"}), ElementsAre("--output=yaml"));
  EXPECT_THAT(WordsFor({"explain", "-o", "w"}), IsEmpty());
  EXPECT_THAT(WordsFor({"top", ""}), ElementsAre("nodes", "pods", "idle"));
}

TEST_F(CompletionTest, ValuesOfOptionsAreNoArguments) {
  EXPECT_THAT(WordsFor({"top", "-n", "pods", "i"}), ElementsAre("idle"));
  EXPECT_THAT(WordsFor({"top", "-nteam", "i"}), ElementsAre("idle"));
  EXPECT_THAT(WordsFor({"top", "--namespace=team", "-A", "i"}), ElementsAre("idle"));
  EXPECT_THAT(WordsFor({"top", "pods", "i"}), IsEmpty());
  EXPECT_THAT(WordsFor({"top", "--", "-"}), IsEmpty());
}

TEST_F(CompletionTest, SourcesAreAskedForTheirOptionsOnly) {
  int asked = 0;
  sources_["--context"] = [&asked](size_t) {
    ++asked;
    return std::vector<std::string>{"dev", "prod"};
  };
  EXPECT_THAT(WordsFor({"top", "--con"}), ElementsAre("--context"));
  EXPECT_EQ(asked, 0);
  EXPECT_THAT(WordsFor({"top", "--context", "p"}), ElementsAre("prod"));
  EXPECT_THAT(WordsFor({"top", "--context="}), ElementsAre("--context=dev", "--context=prod"));
  EXPECT_EQ(asked, 2);
}

TEST_F(CompletionTest, FilesArePossibleWhereTheyMayBeMeant) {
  EXPECT_TRUE(Complete(app_, {"failures", ""}, sources_).files);
  EXPECT_TRUE(Complete(app_, {"top", "--kubeconfig", ""}, sources_).files);
  EXPECT_FALSE(Complete(app_, {"profiles", ""}, sources_).files);
  EXPECT_FALSE(Complete(app_, {"top", "-o", ""}, sources_).files);
}

TEST_F(CompletionTest, IsWrittenAsCobraDoes) {
  EXPECT_EQ(ToText({.candidates = {{"a", "first"}, {"b"}}}), "a\tfirst\nb\n:4\n");
  EXPECT_EQ(ToText({.candidates = {}, .files = true}), ":0\n");
  const Completion queue = Complete(app_, {"queu"}, sources_);
  ASSERT_EQ(queue.candidates.size(), 1u);
  EXPECT_THAT(queue.candidates[0].description, Not(HasSubstr("\n")));
  EXPECT_THAT(queue.candidates[0].description, HasSubstr("running and waiting jobs"));
}

TEST(CompletionScriptTest, EachShellHasOne) {
  for (const std::string& shell : CompletionShells()) {
    const auto script = CompletionScript(shell);
    ASSERT_TRUE(script) << shell;
    EXPECT_THAT(*script, AllOf(HasSubstr("__complete"), HasSubstr("kubectl-synergy")));
  }
  const auto other = CompletionScript("csh");
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().message, "write completion and one of bash, zsh, fish");
}

class ClusterSourcesTest : public ::testing::Test {
 protected:
  std::string Kubeconfig(const std::string& user) {
    return folder_.Write(
        "config",
        "{current-context: a, contexts: [{name: a, context: {cluster: k, user: u}}, "
        "{name: b}], clusters: [{name: k, cluster: {server: \"" +
            server_.access().server + "\"}}], users: [{name: u, user: " + user + "}]}");
  }

  static std::vector<std::string> Of(const std::string& option,
                                     const std::vector<std::string>& words) {
    return ClusterSources(words).at(option)(0);
  }

  synergy::testing::TemporaryFolder folder_;
  synergy::testing::FakeApiServer server_;
};

TEST_F(ClusterSourcesTest, NamesComeFromTheKubeconfigThatIsNamed) {
  const std::string file = Kubeconfig("{}");
  EXPECT_THAT(Of("--context", {"top", "--kubeconfig", file, "--context", ""}),
              ElementsAre("a", "b"));
  EXPECT_THAT(Of("--user", {"top", "--kubeconfig=" + file, "--user="}), ElementsAre("u"));
  EXPECT_THAT(Of("--cluster", {"--kubeconfig", folder_.Path("none"), ""}), IsEmpty());
}

TEST_F(ClusterSourcesTest, NamespacesComeFromTheCluster) {
  server_.PutNamespace({.name = "team"});
  EXPECT_THAT(Of("--namespace", {"top", "--kubeconfig", Kubeconfig("{}"), "-n", ""}),
              Contains("team"));
  server_.FailNext("GET", "/api/v1/namespaces", 403);
  EXPECT_THAT(Of("--namespace", {"top", "--kubeconfig", Kubeconfig("{}"), "-n", ""}), IsEmpty());
}

TEST_F(ClusterSourcesTest, CompletionRunsNoCredentialPlugin) {
  server_.PutNamespace({.name = "team"});
  const std::string file =
      Kubeconfig("{exec: {apiVersion: client.authentication.k8s.io/v1, command: touch, args: [" +
                 folder_.Path("ran") + "]}}");
  EXPECT_THAT(Of("--namespace", {"top", "--kubeconfig", file, "-n", ""}), IsEmpty());
  EXPECT_TRUE(server_.requests().empty());
}

}  // namespace
}  // namespace synergy::cli::testing
