#include "http/url.h"

#include <gtest/gtest.h>

namespace synergy::http {
namespace {

TEST(BaseUrlTest, HasAHostAPortAndAPrefix) {
  const auto url = ParseBaseUrl("https://api.example.org:6443/k8s/clusters/c-1/");
  ASSERT_TRUE(url) << url.error().message;
  EXPECT_TRUE(url->tls);
  EXPECT_EQ(url->host, "api.example.org");
  EXPECT_EQ(url->port, 6443);
  EXPECT_EQ(url->prefix, "/k8s/clusters/c-1");
  EXPECT_EQ(url->HostAndPort(), "api.example.org:6443");
}

TEST(BaseUrlTest, TheSchemesPortIsTakenWhereNoneIsGiven) {
  EXPECT_EQ(ParseBaseUrl("http://h")->port, 80);
  EXPECT_EQ(ParseBaseUrl("https://h/")->port, 443);
  EXPECT_EQ(ParseBaseUrl("https://h/")->prefix, "");
  EXPECT_EQ(ParseBaseUrl("https://h:443")->HostAndPort(), "h");
  EXPECT_EQ(ParseBaseUrl("https://h:80")->HostAndPort(), "h:80");
}

TEST(BaseUrlTest, AnIpv6AddressStandsInBrackets) {
  const auto url = ParseBaseUrl("http://[fd00::1]:8080");
  ASSERT_TRUE(url) << url.error().message;
  EXPECT_EQ(url->host, "fd00::1");
  EXPECT_EQ(url->port, 8080);
  EXPECT_EQ(url->HostAndPort(), "[fd00::1]:8080");
  EXPECT_EQ(ParseBaseUrl("https://[::1]")->HostAndPort(), "[::1]");
}

}  // namespace
}  // namespace synergy::http
