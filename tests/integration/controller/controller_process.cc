#include "integration/controller/controller_process.h"

#include <cstdlib>
#include <sstream>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace synergy::testing {
namespace {

uint16_t PortIn(const std::string& log, const std::string& name) {
  const size_t at = log.find(" " + name + "=");
  return at == std::string::npos
             ? uint16_t{0}
             : static_cast<uint16_t>(std::stoi(log.substr(at + name.size() + 2)));
}

}  // namespace

ControllerProcess::ControllerProcess(const FakeApiServer& server,
                                     std::vector<std::string> arguments) {
  const std::string kubeconfig = folder_.Write(
      "kubeconfig",
      fmt::format(
          "clusters: [{{name: c, cluster: {{server: \"{}\"}}}}]\nusers: [{{name: u, user: {{}}}}]\n"
          "contexts: [{{name: x, context: {{cluster: c, user: u}}}}]\ncurrent-context: x\n",
          server.access().server));
  RenewCertificate();
  for (const std::string& argument :
       {std::string("--kubeconfig"), kubeconfig, std::string("--listen"),
        std::string("127.0.0.1:0"), std::string("--http-listen"), std::string("127.0.0.1:0"),
        std::string("--tls-cert-file"), folder_.Path("tls.crt"),
        std::string("--tls-private-key-file"), folder_.Path("tls.key")})
    arguments.push_back(argument);
  process_ =
      std::make_unique<ChildProcess>(std::getenv("SYNERGY_CONTROLLER"), std::move(arguments));
  uint16_t http_port = 0;
  const bool serving = Eventually([&] {
    const std::string log = process_->Output();
    webhook_port_ = PortIn(log, "port");
    http_port = PortIn(log, "http_port");
    return webhook_port_ != 0 && http_port != 0;
  });
  if (!serving) throw std::runtime_error("the controller does not serve: " + process_->Output());
  webhook_ = NewClient();
  plain_ = *http::Client::Create({.base_url = fmt::format("http://127.0.0.1:{}", http_port)});
}

void ControllerProcess::RenewCertificate() {
  const TestCertificate certificate = authority_.Issue("synergy-controller");
  folder_.Write("tls.crt", certificate.certificate_pem);
  folder_.Write("tls.key", certificate.key_pem);
}

std::unique_ptr<http::Client> ControllerProcess::NewClient() const {
  http::ClientOptions options;
  options.base_url = fmt::format("https://127.0.0.1:{}", webhook_port_);
  options.tls.ca_pem = authority_.certificate_pem();
  options.read_timeout = std::chrono::seconds(60);
  return *http::Client::Create(std::move(options));
}

http::ClientResponse ControllerProcess::Post(const std::string& path, const std::string& body,
                                             const std::string& content_type) {
  auto answer =
      webhook_->Send({.method = "POST", .path = path, .content_type = content_type, .body = body});
  EXPECT_TRUE(answer) << path << ": " << answer.error().message;
  return answer ? *answer : http::ClientResponse{};
}

http::ClientResponse ControllerProcess::Get(const std::string& path) {
  auto answer = plain_->Send({.path = path});
  EXPECT_TRUE(answer) << path << ": " << answer.error().message;
  return answer ? *answer : http::ClientResponse{};
}

void ControllerProcess::AwaitReady() {
  EXPECT_TRUE(Eventually([this] { return Get("/readyz").status == 200; })) << process_->Output();
}

double ControllerProcess::Metric(const std::string& line) {
  std::istringstream text(Get("/metrics").body);
  for (std::string each; std::getline(text, each);) {
    if (each.starts_with(line) && each[line.size()] == ' ')
      return std::stod(each.substr(line.size()));
  }
  return -1;
}

void ControllerProcess::AwaitMetric(const std::string& line, double value) {
  EXPECT_TRUE(Eventually([&] { return Metric(line) == value; })) << line << "\n"
                                                                 << Get("/metrics").body;
}

}  // namespace synergy::testing
