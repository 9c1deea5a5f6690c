#pragma once

// Reads and writes the ConfigMap with what is known about storage, for placement. Tests replace it
// with a fake.
//
// Threading: any thread. Failures: as in ApiClient; kConflict if the ConfigMap has changed since it
// was read, and kNotFound if there is none.

#include <memory>
#include <stop_token>
#include <string>

#include "core/result.h"
#include "kube/api_client.h"
#include "wire/agents/placement_storage.h"

namespace synergy::kube {

class StorageApi {
 public:
  virtual ~StorageApi() = default;

  virtual Result<PublishedStorage> ReadStorage(std::stop_token stop) = 0;
  // Writes the ConfigMap, and returns it as stored. Creates it if `published` has no resource
  // version; then returns kConflict if it exists.
  virtual Result<PublishedStorage> WriteStorage(const PublishedStorage& published,
                                                std::stop_token stop) = 0;
};

// `own_namespace`: the namespace of the ConfigMap. The clients must outlive the result; `writing`
// refuses to write without the leader's lease.
std::unique_ptr<StorageApi> MakeStorageApi(ApiClient& reading, ApiClient& writing,
                                           const std::string& own_namespace);

}  // namespace synergy::kube
