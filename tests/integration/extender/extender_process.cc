#include "integration/extender/extender_process.h"

#include <chrono>
#include <cstdlib>
#include <sstream>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace synergy::testing {
namespace {

std::string Program() { return std::getenv("SYNERGY_EXTENDER"); }

}  // namespace

ExtenderProcess::Ended ExtenderProcess::Run(const std::vector<std::string>& arguments) {
  ChildProcess process(Program(), arguments);
  const int code = process.Wait();
  return {code, process.Output()};
}

ExtenderProcess::ExtenderProcess(const FakeApiServer& server, std::vector<std::string> arguments) {
  const std::string kubeconfig = folder_.Write(
      "kubeconfig",
      fmt::format(
          "clusters: [{{name: c, cluster: {{server: \"{}\"}}}}]\nusers: [{{name: u, user: {{}}}}]\n"
          "contexts: [{{name: x, context: {{cluster: c, user: u}}}}]\ncurrent-context: x\n",
          server.access().server));
  for (const char* argument : {"--kubeconfig", kubeconfig.c_str(), "--listen", "127.0.0.1:0"}) {
    arguments.emplace_back(argument);
  }
  process_ = std::make_unique<ChildProcess>(Program(), std::move(arguments));
  const bool serving = Eventually([this] {
    const std::string log = process_->Output();
    const size_t at = log.find(" port=");
    if (at == std::string::npos) return false;
    port_ = static_cast<uint16_t>(std::stoi(log.substr(at + 6)));
    return true;
  });
  if (!serving) throw std::runtime_error("the extender does not serve: " + process_->Output());
  client_ = *http::Client::Create({.base_url = fmt::format("http://127.0.0.1:{}", port_),
                                   .read_timeout = std::chrono::seconds(60)});
}

uint16_t ExtenderProcess::http_port() const {
  const std::string log = process_->Output();
  const std::string name = " http_port=";
  return static_cast<uint16_t>(std::stoi(log.substr(log.find(name) + name.size())));
}

http::ClientResponse ExtenderProcess::Get(const std::string& path) {
  auto answer = client_->Send({.path = path});
  EXPECT_TRUE(answer) << path << ": " << answer.error().message;
  return answer ? *answer : http::ClientResponse{};
}

http::ClientResponse ExtenderProcess::Post(const std::string& path, const std::string& body) {
  auto answer = client_->Send(
      {.method = "POST", .path = path, .content_type = "application/json", .body = body});
  EXPECT_TRUE(answer) << path << ": " << answer.error().message;
  return answer ? *answer : http::ClientResponse{};
}

void ExtenderProcess::AwaitReady(bool ready) {
  EXPECT_TRUE(Eventually([&] { return Get("/readyz").status == (ready ? 200 : 503); }))
      << process_->Output();
}

double ExtenderProcess::Metric(const std::string& line) {
  std::istringstream text(Get("/metrics").body);
  for (std::string each; std::getline(text, each);) {
    if (each.starts_with(line) && each[line.size()] == ' ')
      return std::stod(each.substr(line.size()));
  }
  return -1;
}

void ExtenderProcess::Signal(int signal) { process_->Signal(signal); }

int ExtenderProcess::Wait() { return process_->Wait(); }

}  // namespace synergy::testing
