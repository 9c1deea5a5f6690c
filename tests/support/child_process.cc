#include "support/child_process.h"

#include <csignal>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <thread>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace synergy::testing {
namespace {

constexpr auto kPatience = std::chrono::seconds(30);

}  // namespace

ChildProcess::ChildProcess(const std::string& program, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), program);
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, 1, folder_.Path("output").c_str(),
                                   O_WRONLY | O_CREAT | O_APPEND, 0600);
  posix_spawn_file_actions_adddup2(&files, 1, 2);
  const int error = posix_spawn(&pid_, pointers[0], &files, nullptr, pointers.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  if (error != 0) throw std::runtime_error(program + " cannot be started");
}

ChildProcess::~ChildProcess() {
  if (pid_ < 0) return;
  Signal(SIGKILL);
  Wait();
}

std::string ChildProcess::Output() const {
  std::ifstream in(folder_.Path("output"));
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

void ChildProcess::Signal(int signal) { kill(pid_, signal); }

int ChildProcess::Wait() {
  int status = 0;
  waitpid(pid_, &status, 0);
  pid_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

bool Eventually(const std::function<bool()>& check) {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  while (!check()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return true;
}

}  // namespace synergy::testing
