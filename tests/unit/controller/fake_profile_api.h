#pragma once

// In-memory TrainingProfiles behind kube::ProfileApi: measured profiles go into a store, as the
// watch would bring them; statuses are recorded separately.
//
// Threading: one thread.

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "controller/cluster/profile_store.h"
#include "core/result.h"
#include "kube/apis/profile_api.h"

namespace synergy::controller {

class FakeProfileApi final : public kube::ProfileApi {
 public:
  explicit FakeProfileApi(ProfileStore& store) : store_(store) {}

  // Every call, even if it failed.
  std::vector<std::string> calls;  // "create team/bert-a100", "write ...", "delete ..."
  std::vector<std::pair<std::string, ProfileStatus>> statuses;  // key and status, in order

  std::optional<Error> failure;        // fails all calls
  std::optional<Error> write_failure;  // fails the next WriteMeasured()

  Result<> WriteStatus(const ProfileObject& object, const ProfileStatus& status,
                       std::stop_token) override {
    statuses.emplace_back(object.Key(), status);
    if (failure) return Fail(*failure);
    return {};
  }
  Result<ProfileObject> Create(const std::string& profile_namespace,
                               const MeasuredProfile& measured, std::stop_token) override {
    ProfileObject object;
    object.profile_namespace = profile_namespace;
    object.name = MeasuredName(measured);
    object.uid = "uid of " + object.Key();
    object.workload = measured.workload;
    object.training.gpu_product = measured.gpu_product;
    object.kept_by_us = true;
    calls.push_back("create " + object.Key());
    if (failure) return Fail(*failure);
    store_.Upsert(object);
    return object;
  }
  Result<> WriteMeasured(const ProfileObject& object, const MeasuredProfile& measured,
                         std::stop_token) override {
    calls.push_back("write " + object.Key());
    if (failure) return Fail(*failure);
    if (write_failure) return Fail(*std::exchange(write_failure, std::nullopt));
    ProfileObject written = object;
    written.measured = measured;
    written.training.gpu_product = measured.gpu_product;
    written.profile = std::make_shared<const JobProfile>(*MakeJobProfile(measured));
    store_.Upsert(std::move(written));
    return {};
  }
  Result<> WriteMemoryRaise(const ProfileObject& object, const MemoryRaise& raise,
                            std::stop_token) override {
    calls.push_back("raise " + object.Key());
    if (failure) return Fail(*failure);
    ProfileObject written = object;
    written.measured->raise = raise;
    written.profile = std::make_shared<const JobProfile>(*MakeJobProfile(*written.measured));
    return Replace(std::move(written));
  }
  Result<> WritePacking(const ProfileObject& object, const std::vector<PackRecord>& records,
                        std::stop_token) override {
    calls.push_back("pack " + object.Key());
    if (failure) return Fail(*failure);
    ProfileObject written = object;
    written.packing = records;
    return Replace(std::move(written));
  }
  // The watch reports the raises and results of packs so far.
  void Watch() {
    for (ProfileObject& object : late_) store_.Upsert(std::move(object));
    late_.clear();
  }
  bool watch_is_late = false;     // it reports these at the next Watch()
  bool answers_are_lost = false;  // of these

  Result<> Delete(const ProfileObject& object, std::stop_token) override {
    calls.push_back("delete " + object.Key());
    if (failure) return Fail(*failure);
    store_.Remove(object);
    return {};
  }

 private:
  Result<> Replace(ProfileObject written) {
    std::string& version = versions_[written.Key()];
    if (written.resource_version != version) return Fail(ErrorCode::kConflict, "it has changed");
    version += 'x';
    written.resource_version = version;
    late_.push_back(std::move(written));
    if (!watch_is_late) Watch();
    return answers_are_lost ? Fail(ErrorCode::kTimeout, "no answer") : Result<>();
  }

  ProfileStore& store_;
  std::map<std::string, std::string> versions_;  // after Replace(), by key
  std::vector<ProfileObject> late_;
};

}  // namespace synergy::controller
