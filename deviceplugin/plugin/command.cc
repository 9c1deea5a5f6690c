#include "deviceplugin/plugin/command.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace synergy::deviceplugin {
namespace {

constexpr size_t kLongestOutput = size_t{4} << 20;

// Reads to the end of the pipe; returns an Error if that is too much or takes too long.
Result<std::string> ReadAll(int pipe, std::chrono::milliseconds longest) {
  const auto deadline = std::chrono::steady_clock::now() + longest;
  std::string text;
  while (text.size() <= kLongestOutput) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    pollfd waits_for{pipe, POLLIN, 0};
    if (left.count() <= 0 || poll(&waits_for, 1, static_cast<int>(left.count())) == 0)
      return Fail(ErrorCode::kUnavailable, "takes too long");
    std::array<char, 65536> buffer{};
    const ssize_t size = read(pipe, buffer.data(), buffer.size());
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return text;
    text.append(buffer.data(), static_cast<size_t>(size));
  }
  return Fail(ErrorCode::kUnavailable, "writes too much");
}

}  // namespace

Result<std::string> RunCommand(const std::vector<std::string>& command,
                               std::chrono::milliseconds longest) {
  std::vector<char*> arguments;
  arguments.reserve(command.size() + 1);
  for (const std::string& argument : command)
    arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0)
    return Fail(ErrorCode::kUnavailable, fmt::format("{}: {}", command[0], strerror(errno)));
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  pid_t child = 0;
  const int failed =
      posix_spawnp(&child, command[0].c_str(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  if (failed != 0) {
    close(ends[0]);
    return Fail(failed == ENOENT ? ErrorCode::kNotFound : ErrorCode::kUnavailable,
                fmt::format("{}: {}", command[0], strerror(failed)));
  }
  Result<std::string> text = ReadAll(ends[0], longest);
  close(ends[0]);
  if (!text) kill(child, SIGKILL);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!text) return Fail(text.error().code, fmt::format("{} {}", command[0], text.error().message));
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    return Fail(ErrorCode::kUnavailable, command[0] + " fails");
  return text;
}

}  // namespace synergy::deviceplugin
