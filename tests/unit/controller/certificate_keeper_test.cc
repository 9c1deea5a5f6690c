#include "controller/admission/certificate_keeper.h"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "http/authority.h"
#include "support/fake_clock.h"
#include "support/recorded_log.h"
#include "support/temporary_folder.h"

namespace synergy::controller {
namespace {

using std::chrono::hours;
using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::vector<std::string> kNames = {"c.ns.svc", "c.ns.svc.cluster.local"};
constexpr Duration kYear = hours(24 * 365);

// An API server with Secrets and webhook configurations that have versions.
class FakeCertificateApi final : public kube::CertificateApi {
 public:
  Result<wire::Secret> ReadSecret(const std::string& name, std::stop_token) override {
    if (down) return Fail(ErrorCode::kUnavailable, "down");
    const auto found = secrets.find(name);
    if (found == secrets.end()) return Fail(ErrorCode::kNotFound, "no Secret " + name);
    return found->second;
  }
  Result<> WriteSecret(const std::string& name, const wire::Secret& seen,
                       const std::map<std::string, std::string>& data, std::stop_token) override {
    if (down) return Fail(ErrorCode::kUnavailable, "down");
    wire::Secret& stored = secrets.at(name);
    if (before_write) std::exchange(before_write, nullptr)();
    if (stored.resource_version != seen.resource_version)
      return Fail(ErrorCode::kConflict, "changed");
    for (const auto& [key, bytes] : data) {
      stored.data[key] = bytes;
      if (bytes.empty()) stored.data.erase(key);
    }
    stored.resource_version = fmt::to_string(++version);
    ++writes[name];
    return {};
  }
  Result<wire::WebhookAuthorities> ReadAuthorities(kube::WebhookKind kind,
                                                   std::stop_token) override {
    if (down) return Fail(ErrorCode::kUnavailable, "down");
    if (denied) return Fail(ErrorCode::kDenied, "no right");
    const auto found = webhooks.find(kind);
    if (found == webhooks.end()) return Fail(ErrorCode::kNotFound, "no webhooks");
    return found->second;
  }
  Result<> WriteAuthorities(kube::WebhookKind kind, const wire::WebhookAuthorities& seen,
                            const std::string& pem, std::stop_token) override {
    if (down) return Fail(ErrorCode::kUnavailable, "down");
    wire::WebhookAuthorities& stored = webhooks.at(kind);
    if (stored.resource_version != seen.resource_version)
      return Fail(ErrorCode::kInvalid, "changed");
    for (std::string& bundle : stored.bundles) bundle = pem;
    stored.resource_version = fmt::to_string(++version);
    return {};
  }

  std::map<std::string, wire::Secret> secrets{{"own", {"1", {}}}, {"agents", {"1", {}}}};
  std::map<kube::WebhookKind, wire::WebhookAuthorities> webhooks{
      {kube::WebhookKind::kMutating, {"1", {"", ""}}},
      {kube::WebhookKind::kValidating, {"1", {""}}}};
  int version = 1;
  std::map<std::string, int> writes;
  std::function<void()> before_write;  // called once
  bool down = false;
  bool denied = false;
};

std::string ContentsOf(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

class CertificateKeeperTest : public ::testing::Test {
 protected:
  // A replica with its own files.
  struct Replica {
    std::unique_ptr<testing::TemporaryFolder> folder = std::make_unique<testing::TemporaryFolder>();
    CertificateSettings settings;
    std::unique_ptr<CertificateKeeper> keeper;

    http::CertifiedKey Served() const {
      return {ContentsOf(settings.certificate_file), ContentsOf(settings.key_file)};
    }
    std::string Trusted() const { return ContentsOf(settings.authority_file); }
    bool IsReady() const { return keeper->NotReadyReason().empty(); }
  };

  Replica MakeReplica(std::vector<std::string> names = kNames) {
    Replica replica;
    replica.settings = {.secret = "own",
                        .agent_secret = "agents",
                        .names = std::move(names),
                        .agent_name = "agent.ns.svc",
                        .validity = kYear,
                        .certificate_file = replica.folder->Path("tls.crt"),
                        .key_file = replica.folder->Path("tls.key"),
                        .authority_file = replica.folder->Path("ca.crt")};
    Restart(replica);
    return replica;
  }

  void Restart(Replica& replica) {
    replica.keeper = std::make_unique<CertificateKeeper>(replica.settings, api, clock, log);
    EXPECT_TRUE(replica.keeper->Prepare());
  }

  std::set<std::string> Bundles() const {
    std::set<std::string> all;
    for (const auto& [kind, webhooks] : api.webhooks)
      all.insert(webhooks.bundles.begin(), webhooks.bundles.end());
    return all;
  }

  // Returns whether every webhook now trusts the certificate that the replica serves.
  bool IsTrusted(const Replica& replica) const {
    for (const std::string& bundle : Bundles()) {
      const auto validity =
          http::CheckCertificate(replica.Served(), bundle, replica.settings.names);
      if (!validity || validity->from > clock.WallNow() || validity->until <= clock.WallNow())
        return false;
    }
    return true;
  }

  http::CertifiedKey Agents() const {
    const auto& data = api.secrets.at("agents").data;
    return {data.at("tls.crt"), data.at("tls.key")};
  }

  // No log line may contain a private key, in any test.
  void TearDown() override { EXPECT_EQ(lines.Count("PRIVATE KEY"), 0); }

  void ExpectSettled(const Replica& replica) const {
    const auto& own = api.secrets.at("own").data;
    const auto& agents = api.secrets.at("agents").data;
    EXPECT_TRUE(replica.IsReady());
    EXPECT_TRUE(IsTrusted(replica));
    EXPECT_EQ(replica.Served().certificate_pem, own.at("tls.crt"));
    EXPECT_EQ(replica.Served().key_pem, own.at("tls.key"));
    EXPECT_EQ(replica.Trusted(), own.at("ca.crt"));
    EXPECT_EQ(Bundles(), std::set<std::string>{own.at("ca.crt")});
    EXPECT_TRUE(http::CheckCertificate(Agents(), replica.Trusted(), {"agent.ns.svc"}));
    EXPECT_TRUE(http::CheckCertificate(replica.Served(), agents.at("ca.crt"), kNames));
    EXPECT_FALSE(agents.contains("agent.key"));
  }

  testing::FakeClock clock;
  testing::RecordedLog lines;
  Logger log{lines, clock, LogLevel::kDebug, LogFormat::kText};
  FakeCertificateApi api;
};

TEST_F(CertificateKeeperTest, ServersStartWithACertificateThatHasExpired) {
  const Replica replica = MakeReplica();
  const auto validity = http::CheckCertificate(replica.Served(), replica.Trusted(), kNames);
  ASSERT_TRUE(validity);
  EXPECT_LT(validity->until, clock.WallNow());
  EXPECT_THAT(replica.keeper->NotReadyReason(), HasSubstr("no certificate yet"));
  EXPECT_THAT(api.writes, IsEmpty());
}

TEST_F(CertificateKeeperTest, TheFirstStepMakesServesAndTrustsACertificate) {
  const Replica replica = MakeReplica();
  EXPECT_EQ(replica.keeper->Step({}), CertificateKeeper::kInterval);
  ExpectSettled(replica);
}

TEST_F(CertificateKeeperTest, AReplicaTakesTheCertificateThatIsThere) {
  Replica first = MakeReplica();
  first.keeper->Step({});
  Replica second = MakeReplica();
  second.keeper->Step({});
  ExpectSettled(first);
  ExpectSettled(second);
  EXPECT_EQ(api.writes["own"], 1);
  // A restarted container uses it at once.
  Restart(second);
  EXPECT_TRUE(IsTrusted(second));
}

TEST_F(CertificateKeeperTest, OneOfReplicasThatStartTogetherMakesTheCertificate) {
  Replica first = MakeReplica();
  Replica second = MakeReplica();
  api.before_write = [&] { second.keeper->Step({}); };
  first.keeper->Step({});
  EXPECT_FALSE(first.IsReady());
  first.keeper->Step({});
  ExpectSettled(first);
  ExpectSettled(second);
  EXPECT_EQ(api.writes["own"], 1);
  EXPECT_EQ(lines.Count("cannot keep"), 0);
}

TEST_F(CertificateKeeperTest, FilesOfARotationThatWasInterruptedAreReplacedAtTheStart) {
  Replica replica = MakeReplica();
  replica.keeper->Step({});
  const Replica other = MakeReplica();
  replica.folder->Write("tls.key", other.Served().key_pem);
  Restart(replica);
  EXPECT_TRUE(http::CheckCertificate(replica.Served(), replica.Trusted(), kNames));
  replica.keeper->Step({});
  ExpectSettled(replica);
}

TEST_F(CertificateKeeperTest, ARotationBeginsWhenAThirdOfTheTimeIsLeft) {
  Replica replica = MakeReplica();
  replica.keeper->Step({});
  clock.Advance(kYear / 100 * 65);
  replica.keeper->Step({});
  EXPECT_EQ(api.writes["own"], 1);
  clock.Advance(kYear / 100 * 3);
  replica.keeper->Step({});
  EXPECT_EQ(api.writes["own"], 2);
  ExpectSettled(replica);
}

TEST_F(CertificateKeeperTest, TheNextAuthorityIsTrustedEverywhereBeforeItsCertificatesAreUsed) {
  Replica replica = MakeReplica();
  replica.keeper->Step({});
  const http::CertifiedKey before = replica.Served();
  const http::CertifiedKey agents_before = Agents();
  clock.Advance(kYear / 100 * 70);
  replica.keeper->Step({});
  EXPECT_EQ(replica.Served().certificate_pem, before.certificate_pem);
  EXPECT_EQ(Agents().certificate_pem, agents_before.certificate_pem);
  ExpectSettled(replica);
  const std::string both = replica.Trusted();
  clock.Advance(CertificateKeeper::kSpread - seconds(1));
  replica.keeper->Step({});
  EXPECT_EQ(replica.Served().certificate_pem, before.certificate_pem);
  clock.Advance(seconds(1));
  replica.keeper->Step({});
  EXPECT_NE(replica.Served().certificate_pem, before.certificate_pem);
  EXPECT_NE(Agents().certificate_pem, agents_before.certificate_pem);
  ExpectSettled(replica);
  EXPECT_EQ(replica.Trusted(), both);
  for (const http::CertifiedKey& served : {before, replica.Served()})
    EXPECT_TRUE(http::CheckCertificate(served, both, kNames));
  EXPECT_TRUE(http::CheckCertificate(agents_before, both, {"agent.ns.svc"}));
  EXPECT_FALSE(api.secrets["own"].data.contains("next-tls.key"));
}

TEST_F(CertificateKeeperTest, AnExpiredCertificateIsReplacedAtOnce) {
  Replica replica = MakeReplica();
  replica.keeper->Step({});
  clock.Advance(2 * kYear);
  EXPECT_FALSE(IsTrusted(replica));
  replica.keeper->Step({});
  ExpectSettled(replica);
  EXPECT_EQ(lines.Count("has expired"), 1);
}

TEST_F(CertificateKeeperTest, AnExpiredCertificateIsReplacedByTheNextOne) {
  Replica replica = MakeReplica();
  replica.keeper->Step({});
  clock.Advance(kYear / 100 * 70);
  replica.keeper->Step({});
  const std::string next = api.secrets["own"].data.at("next-tls.crt");
  api.secrets["own"].data["tls.crt"] = "garbage";
  replica.keeper->Step({});
  EXPECT_EQ(replica.Served().certificate_pem, next);
  ExpectSettled(replica);
}

TEST_F(CertificateKeeperTest, TheCertificateBeforeItWasDeletedStaysTrusted) {
  Replica slow = MakeReplica();
  slow.keeper->Step({});
  Replica fast = MakeReplica();
  fast.keeper->Step({});
  api.secrets["own"].data.clear();
  fast.keeper->Step({});
  ASSERT_NE(fast.Served().certificate_pem, slow.Served().certificate_pem);
  EXPECT_TRUE(IsTrusted(slow));
  EXPECT_TRUE(IsTrusted(fast));
}

TEST_F(CertificateKeeperTest, ACertificateThatIsNotTrustedYetIsNotServed) {
  Replica replica = MakeReplica();
  replica.keeper->Step({});
  const std::string before = replica.Served().certificate_pem;
  api.secrets["own"].data.clear();
  api.denied = true;
  replica.keeper->Step({});
  EXPECT_EQ(replica.Served().certificate_pem, before);
  EXPECT_TRUE(replica.IsReady());
  api.denied = false;
  replica.keeper->Step({});
  EXPECT_NE(replica.Served().certificate_pem, before);
  ExpectSettled(replica);
}

TEST_F(CertificateKeeperTest, ACertificateIsServedWhileTheApiServerIsAway) {
  Replica replica = MakeReplica();
  replica.keeper->Step({});
  api.down = true;
  for (int step = 0; step < 5; ++step) replica.keeper->Step({});
  EXPECT_TRUE(replica.IsReady());
  EXPECT_TRUE(IsTrusted(replica));
  EXPECT_EQ(lines.Count("cannot keep the certificate"), 1);
}

TEST_F(CertificateKeeperTest, UnreadableDataIsReplacedAndNamed) {
  Replica replica = MakeReplica();
  replica.keeper->Step({});
  for (const auto& [key, bytes] : std::map(api.secrets["own"].data)) {
    SCOPED_TRACE(key);
    api.secrets["own"].data[key] = "garbage";
    const size_t warnings = lines.Count("unusable");
    replica.keeper->Step({});
    ExpectSettled(replica);
    EXPECT_EQ(lines.Count("unusable"), warnings + 1);
  }
}

TEST_F(CertificateKeeperTest, ClocksThatAreBehindAcceptTheCertificate) {
  Replica replica = MakeReplica();
  replica.keeper->Step({});
  clock.SetWall(clock.WallNow() - CertificateKeeper::kClockSkew);
  EXPECT_TRUE(IsTrusted(replica));
  Replica behind = MakeReplica();
  behind.keeper->Step({});
  EXPECT_EQ(api.writes["own"], 1);
}

TEST_F(CertificateKeeperTest, ACertificateOfTheFutureIsReplaced) {
  Replica replica = MakeReplica();
  replica.keeper->Step({});
  clock.SetWall(clock.WallNow() - CertificateKeeper::kClockSkew - seconds(1));
  replica.keeper->Step({});
  ExpectSettled(replica);
  EXPECT_EQ(lines.Count("not valid yet"), 1);
}

TEST_F(CertificateKeeperTest, KeysAreInTheSecretsAndInFilesOfThisAccountAlone) {
  Replica replica = MakeReplica();
  const auto rights = [&] {
    return std::filesystem::status(replica.settings.key_file).permissions();
  };
  const auto owner = std::filesystem::perms::owner_read | std::filesystem::perms::owner_write;
  EXPECT_EQ(rights(), owner);
  std::filesystem::permissions(replica.settings.key_file, std::filesystem::perms::all);
  replica.keeper->Step({});
  EXPECT_EQ(rights(), owner);
  EXPECT_FALSE(api.secrets["agents"].data.contains("agent.key"));
  EXPECT_NE(api.secrets["agents"].data.at("tls.key"), api.secrets["own"].data.at("tls.key"));
}

TEST_F(CertificateKeeperTest, OthersKeysInTheAgentsSecretAreLeft) {
  Replica replica = MakeReplica();
  api.secrets["agents"].data["theirs"] = "x";
  for (int step = 0; step < 3; ++step) replica.keeper->Step({});
  EXPECT_EQ(api.writes["agents"], 1);
  EXPECT_EQ(api.secrets["agents"].data.at("theirs"), "x");
}

TEST_F(CertificateKeeperTest, AProblemIsLoggedOnceAndNamed) {
  const Replica replica = MakeReplica();
  api.secrets.clear();
  for (int step = 0; step < 5; ++step) replica.keeper->Step({});
  EXPECT_EQ(lines.Count("no Secret own"), 1);
  EXPECT_THAT(replica.keeper->NotReadyReason(), HasSubstr("no Secret own"));
}

TEST_F(CertificateKeeperTest, WithoutWebhooksItServesAllTheSame) {
  const Replica replica = MakeReplica();
  api.webhooks.clear();
  replica.keeper->Step({});
  EXPECT_TRUE(replica.IsReady());
  EXPECT_EQ(replica.Served().certificate_pem, api.secrets["own"].data["tls.crt"]);
}

TEST_F(CertificateKeeperTest, ANameThatChangesIsCertified) {
  Replica old = MakeReplica();
  old.keeper->Step({});
  Replica renamed = MakeReplica({"d.ns.svc"});
  renamed.keeper->Step({});
  EXPECT_TRUE(IsTrusted(renamed));
  EXPECT_TRUE(IsTrusted(old));
}

// Replicas step in any order while the API server fails, other clients change its objects, and time
// passes. While no client has tampered with the objects, every certificate that a ready replica
// serves is trusted. In the end everything settles.
TEST_F(CertificateKeeperTest, ReplicasAgreeWhateverHappens) {
  for (uint32_t seed = 1; seed <= 8; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    std::mt19937 random(seed);
    const auto below = [&random](uint32_t bound) {
      return static_cast<uint32_t>(random() % bound);
    };
    api = FakeCertificateApi();
    std::vector<Replica> replicas;
    for (uint32_t count = 1 + below(3); count > 0; --count) replicas.push_back(MakeReplica());
    const bool tampers = below(2) == 0;
    for (int round = 0; round < 12; ++round) {
      api.down = below(4) == 0;
      if (tampers && below(3) == 0) {
        const std::string name = below(2) == 0 ? "own" : "agents";
        wire::Secret& secret = api.secrets[name];
        secret.resource_version = fmt::to_string(++api.version);
        if (below(2) == 0) {
          secret.data.clear();
        } else if (!secret.data.empty()) {
          auto entry =
              std::next(secret.data.begin(), below(static_cast<uint32_t>(secret.data.size())));
          entry->second = below(2) == 0 ? "garbage" : api.secrets["own"].data["tls.key"];
        }
      }
      if (tampers && below(4) == 0)
        api.webhooks[kube::WebhookKind::kMutating].bundles.front() = "garbage";
      for (size_t step = below(8); step > 0; --step) {
        Replica& replica = replicas[below(static_cast<uint32_t>(replicas.size()))];
        if (below(6) == 0) Restart(replica);
        if (below(5) == 0) {
          Replica& other = replicas[below(static_cast<uint32_t>(replicas.size()))];
          if (&other != &replica) api.before_write = [&other] { other.keeper->Step({}); };
        }
        replica.keeper->Step({});
        api.before_write = nullptr;
        if (tampers) continue;
        for (const Replica& each : replicas) EXPECT_TRUE(!each.IsReady() || IsTrusted(each));
      }
      api.down = false;
      // This happens twice, because a rotation that has begun takes some time to end.
      for (int time = 0; time < 2; ++time) {
        for (int again = 0; again < 3; ++again) {
          for (const Replica& replica : replicas) replica.keeper->Step({});
        }
        for (const Replica& replica : replicas) ExpectSettled(replica);
        clock.Advance(CertificateKeeper::kSpread);
      }
      clock.Advance(hours(below(24 * 120)));
    }
  }
}

}  // namespace
}  // namespace synergy::controller
