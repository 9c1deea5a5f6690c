#pragma once

// An API server that is all memory: answers to GET, POST and PATCH as the test sets them, and a
// record of what was asked.

#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "kube/api_client.h"

namespace synergy::extender {

class FakeApiClient final : public kube::ApiClient {
 public:
  using Answer = std::function<Result<std::string>()>;

  void OnGet(const std::string& path, Answer answer) { gets_[path] = std::move(answer); }
  void OnPost(Answer answer) { post_ = std::move(answer); }
  void OnPatch(std::function<Result<std::string>(const std::string& json)> answer) {
    patch_ = std::move(answer);
  }
  std::vector<std::string> patched() const {
    const std::lock_guard lock(mutex_);
    return patched_;
  }
  std::vector<std::string> posted() const {
    const std::lock_guard lock(mutex_);
    return posted_;
  }

  Result<std::string> Get(const std::string& path, std::stop_token) override {
    const auto it = gets_.find(path);
    if (it == gets_.end()) return Fail(ErrorCode::kNotFound, "pods not found");
    return it->second();
  }
  Result<std::string> Post(const std::string& path, const std::string& json,
                           std::stop_token) override {
    {
      const std::lock_guard lock(mutex_);
      posted_.push_back(path + " " + json);
    }
    return post_();
  }
  Result<std::string> Patch(const std::string& path, const std::string&, const std::string& json,
                            std::stop_token) override {
    {
      const std::lock_guard lock(mutex_);
      patched_.push_back(path + " " + json);
    }
    return patch_(json);
  }
  Result<> Watch(const std::string&, std::chrono::milliseconds,
                 const std::function<bool(std::string_view)>&, std::stop_token) override {
    return Fail(ErrorCode::kInvalid, "not expected");
  }

 private:
  std::map<std::string, Answer> gets_;
  Answer post_ = [] { return std::string("{}"); };
  std::function<Result<std::string>(const std::string&)> patch_ = [](const std::string&) {
    return Result<std::string>(Fail(ErrorCode::kInvalid, "not expected"));
  };
  mutable std::mutex mutex_;
  std::vector<std::string> posted_;
  std::vector<std::string> patched_;
};

}  // namespace synergy::extender
