#pragma once

// Loads libfake-nvml.so into a test, which controls its answers.
//
// Threading: from any thread.

#include <mutex>
#include <string>

#include <dlfcn.h>
#include <gtest/gtest.h>

#include "support/fake_nvml.h"

namespace synergy::testing {

// Keeps the library loaded, so that its state survives the sessions of the code under test.
class FakeNvmlLibrary {
 public:
  FakeNvmlLibrary() : handle_(dlopen(SYNERGY_FAKE_NVML, RTLD_NOW)) {
    EXPECT_NE(handle_, nullptr) << dlerror();
    auto* get = reinterpret_cast<FakeNvml* (*)()>(dlsym(handle_, "FakeNvmlState"));
    auto* reset = reinterpret_cast<void (*)()>(dlsym(handle_, "FakeNvmlReset"));
    reset();
    state_ = get();
  }
  ~FakeNvmlLibrary() { dlclose(handle_); }
  FakeNvmlLibrary(const FakeNvmlLibrary&) = delete;
  FakeNvmlLibrary& operator=(const FakeNvmlLibrary&) = delete;

  static std::string path() { return SYNERGY_FAKE_NVML; }

  // Changes the library's state atomically.
  template <class Change>
  void Set(Change change) {
    const std::lock_guard lock(state_->mutex);
    change(*state_);
    state_->changed.notify_all();
  }
  void RaiseXid(size_t gpu, unsigned long long xid) {
    Set([&](FakeNvml& nvml) { nvml.events.push_back({gpu, 8, xid}); });
  }
  int sessions() {
    const std::lock_guard lock(state_->mutex);
    return state_->sessions;
  }

 private:
  void* handle_;
  FakeNvml* state_ = nullptr;
};

}  // namespace synergy::testing
