#include "integration/extender/extender_process.h"

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <thread>

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace synergy::testing {
namespace {

constexpr auto kPatience = std::chrono::seconds(30);

pid_t Spawn(std::vector<std::string> arguments, const std::string& output) {
  arguments.insert(arguments.begin(), std::getenv("SYNERGY_EXTENDER"));
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, 1, output.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  posix_spawn_file_actions_adddup2(&files, 1, 2);
  pid_t pid = -1;
  const int error = posix_spawn(&pid, pointers[0], &files, nullptr, pointers.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  if (error != 0) throw std::runtime_error(fmt::format("{} cannot be started", arguments[0]));
  return pid;
}

std::string ReadFile(const std::string& path) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

int WaitFor(pid_t pid) {
  int status = 0;
  waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// Polls: the process offers nothing to wait on.
template <class Check>
bool Eventually(Check check) {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  while (!check()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return true;
}

}  // namespace

ExtenderProcess::Ended ExtenderProcess::Run(const std::vector<std::string>& arguments) {
  const TemporaryFolder folder;
  const pid_t pid = Spawn(arguments, folder.Path("output"));
  const int code = WaitFor(pid);
  return {code, ReadFile(folder.Path("output"))};
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
  pid_ = Spawn(std::move(arguments), folder_.Path("log"));
  const bool serving = Eventually([this] {
    const std::string log = ReadFile(folder_.Path("log"));
    const size_t at = log.find(" port=");
    if (at == std::string::npos) return false;
    port_ = static_cast<uint16_t>(std::stoi(log.substr(at + 6)));
    return true;
  });
  if (!serving)
    throw std::runtime_error("the extender does not serve: " + ReadFile(folder_.Path("log")));
  client_ = *http::Client::Create({.base_url = fmt::format("http://127.0.0.1:{}", port_),
                                   .read_timeout = std::chrono::seconds(60)});
}

ExtenderProcess::~ExtenderProcess() {
  if (pid_ < 0) return;
  Signal(SIGKILL);
  Wait();
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
      << ReadFile(folder_.Path("log"));
}

double ExtenderProcess::Metric(const std::string& line) {
  std::istringstream text(Get("/metrics").body);
  for (std::string each; std::getline(text, each);) {
    if (each.starts_with(line) && each[line.size()] == ' ')
      return std::stod(each.substr(line.size()));
  }
  return -1;
}

void ExtenderProcess::Signal(int signal) { kill(pid_, signal); }

int ExtenderProcess::Wait() {
  const int code = WaitFor(pid_);
  pid_ = -1;
  return code;
}

}  // namespace synergy::testing
