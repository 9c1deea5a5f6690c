#include "cli/cluster/credential_plugin.h"

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "wire/api/access_reviews.h"

namespace synergy::cli {
namespace {

using config::CredentialPlugin;

constexpr std::chrono::seconds kPatience{60};  // users may have to type something
constexpr size_t kLongestAnswer = 1 << 20;

std::vector<char*> Pointers(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

// Returns this process's environment, with the kubeconfig's variables replacing those of the same
// name.
std::vector<std::string> Environment(const CredentialPlugin& plugin) {
  auto added = plugin.environment;
  added.emplace_back("KUBERNETES_EXEC_INFO",
                     wire::WriteExecInfo(plugin.api_version, isatty(STDIN_FILENO) == 1));
  std::vector<std::string> environment;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    bool replaced = false;
    for (const auto& [name, value] : added) {
      replaced = replaced || text.substr(0, text.find('=')) == name;
    }
    if (!replaced) environment.emplace_back(text);
  }
  for (const auto& [name, value] : added) environment.push_back(fmt::format("{}={}", name, value));
  return environment;
}

tl::unexpected<Error> Failure(const CredentialPlugin& plugin, ErrorCode code,
                              std::string_view what) {
  return Fail(code,
              fmt::format("the kubeconfig's credential plugin {} {}{}{}", plugin.command, what,
                          plugin.install_hint.empty() ? "" : "\n", plugin.install_hint));
}

// A pipe to which the plugin writes its answer.
struct Pipe {
  Pipe() { open = pipe2(ends.data(), O_CLOEXEC) == 0; }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() {
    CloseWriting();
    if (open) close(ends[0]);
  }
  void CloseWriting() {
    if (open && ends[1] >= 0) close(std::exchange(ends[1], -1));
  }

  std::array<int, 2> ends{-1, -1};
  bool open = false;
};

// Reads until the other end closes. Returns nullopt if that takes too long, or is too much.
std::optional<std::string> ReadAll(int from) {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  std::string text;
  while (text.size() <= kLongestAnswer) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline - std::chrono::steady_clock::now());
    pollfd waited{from, POLLIN, 0};
    if (left.count() <= 0) return std::nullopt;
    const int ready = poll(&waited, 1, static_cast<int>(left.count()));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return std::nullopt;
    std::array<char, 4096> piece{};
    const ssize_t size = read(from, piece.data(), piece.size());
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return std::nullopt;
    if (size == 0) return text;
    text.append(piece.data(), static_cast<size_t>(size));
  }
  return std::nullopt;
}

Result<std::string> Run(const CredentialPlugin& plugin) {
  Pipe pipe;
  if (!pipe.open) return Failure(plugin, ErrorCode::kUnavailable, "cannot be run: no pipe");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, pipe.ends[1], STDOUT_FILENO);
  std::vector<std::string> arguments = plugin.arguments;
  arguments.insert(arguments.begin(), plugin.command);
  std::vector<std::string> environment = Environment(plugin);
  pid_t child = 0;
  const int error = posix_spawnp(&child, plugin.command.c_str(), &actions, nullptr,
                                 Pointers(arguments).data(), Pointers(environment).data());
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) {
    return Failure(plugin, ErrorCode::kUnavailable,
                   fmt::format("cannot be run: {}", std::strerror(error)));
  }
  pipe.CloseWriting();
  std::optional<std::string> answer = ReadAll(pipe.ends[0]);
  if (!answer) kill(child, SIGKILL);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!answer) return Failure(plugin, ErrorCode::kUnavailable, "does not exit");
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    return Failure(plugin, ErrorCode::kUnavailable, "failed");
  }
  return *std::move(answer);
}

}  // namespace

Result<config::ClusterAccess> WithCredentials(config::ClusterAccess access) {
  const CredentialPlugin& plugin = access.plugin;
  if (plugin.command.empty()) return access;
  const Result<std::string> answer = Run(plugin);
  if (!answer) return Fail(answer.error());
  const auto credential = wire::ReadExecCredential(*answer);
  if (!credential) {
    return Failure(plugin, ErrorCode::kInvalid,
                   fmt::format("returns no credentials: {}", credential.error().message));
  }
  access.token = credential->token;
  access.certificate_pem = credential->certificate_pem;
  access.key_pem = credential->key_pem;
  access.plugin = {};
  return access;
}

}  // namespace synergy::cli
