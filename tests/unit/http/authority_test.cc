#include "http/authority.h"

#include <chrono>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "http/client.h"
#include "http/server/server.h"
#include "support/temporary_folder.h"

namespace synergy::http {
namespace {

using std::chrono::hours;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class IssuedCertificatesTest : public ::testing::Test {
 protected:
  IssuedCertificates Issue() const {
    auto issued = IssueCertificates({{"server.test", "localhost"}, {"client.test"}}, validity);
    EXPECT_TRUE(issued);
    return *std::move(issued);
  }

  const WallTime now = std::chrono::floor<std::chrono::seconds>(SystemClock().WallNow());
  const Validity validity{now - hours(1), now + hours(24)};
};

TEST_F(IssuedCertificatesTest, AreForTheirNamesAndTime) {
  const IssuedCertificates issued = Issue();
  const auto checked =
      CheckCertificate(issued.keys[0], issued.authority_pem, {"server.test", "localhost"});
  ASSERT_TRUE(checked) << checked.error().message;
  EXPECT_EQ(checked->from, validity.from);
  EXPECT_EQ(checked->until, validity.until);
  EXPECT_TRUE(CheckCertificate(issued.keys[1], issued.authority_pem, {"client.test"}));
}

TEST_F(IssuedCertificatesTest, AreRefusedWhereOnePartIsAnothers) {
  const IssuedCertificates issued = Issue();
  const IssuedCertificates other = Issue();
  const CertifiedKey& key = issued.keys[0];
  const auto refusal = [](const Result<Validity>& checked) {
    return checked ? std::string() : checked.error().message;
  };
  EXPECT_THAT(refusal(CheckCertificate(key, other.authority_pem, {})), HasSubstr("no authority"));
  EXPECT_THAT(refusal(CheckCertificate(key, "", {})), HasSubstr("no authority"));
  EXPECT_THAT(refusal(CheckCertificate(key, issued.authority_pem, {"client.test"})),
              HasSubstr("not for client.test"));
  EXPECT_THAT(refusal(CheckCertificate({key.certificate_pem, issued.keys[1].key_pem},
                                       issued.authority_pem, {})),
              StartsWith("key of the certificate"));
  EXPECT_THAT(refusal(CheckCertificate({"garbage", key.key_pem}, issued.authority_pem, {})),
              StartsWith("certificate"));
  EXPECT_TRUE(CheckCertificate(key, other.authority_pem + issued.authority_pem, {}));
}

TEST_F(IssuedCertificatesTest, AuthoritiesThatHaveNotExpiredAreFound) {
  const IssuedCertificates issued = Issue();
  const std::string one = issued.authority_pem;
  const std::string two = Issue().authority_pem;
  EXPECT_EQ(ValidAuthorities(one + two + one, now), one + two);
  EXPECT_EQ(ValidAuthorities(one, validity.until), "");
  EXPECT_EQ(ValidAuthorities("garbage" + issued.keys[0].certificate_pem + two, now), two);
  EXPECT_EQ(ValidAuthorities("garbage", now), "");
  EXPECT_EQ(ValidAuthorities("", now), "");
}

TEST_F(IssuedCertificatesTest, ServerAndClientAcceptEachOther) {
  const IssuedCertificates issued = Issue();
  const testing::TemporaryFolder folder;
  ServerOptions options;
  options.certificate_file = folder.Write("tls.crt", issued.keys[0].certificate_pem);
  options.key_file = folder.Write("tls.key", issued.keys[0].key_pem);
  options.client_ca_file = folder.Write("ca.crt", issued.authority_pem);
  options.client_name = "client.test";
  auto server = Server::Create(options);
  ASSERT_TRUE(server);
  (*server)->Handle("GET", "/", [](const Request&) { return Response{.body = "{}"}; });
  ASSERT_TRUE((*server)->Start());
  ClientOptions client_options;
  client_options.base_url = "https://127.0.0.1:" + std::to_string((*server)->port());
  client_options.tls.server_name = "server.test";
  client_options.tls.ca_pem = issued.authority_pem;
  client_options.tls.certificate_pem = issued.keys[1].certificate_pem;
  client_options.tls.key_pem = issued.keys[1].key_pem;
  auto client = Client::Create(client_options);
  ASSERT_TRUE(client);
  const auto answer = (*client)->Send({.path = "/"});
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->status, 200);
  (*server)->Stop(std::chrono::milliseconds(0));
}

}  // namespace
}  // namespace synergy::http
