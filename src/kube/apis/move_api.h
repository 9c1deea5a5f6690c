#pragma once

// Reads jobs that the controller moves to other GPUs, and reads and writes the record of moves.
// Tests replace it with a simulated cluster.
//
// Threading: any thread. Failures: as in ApiClient. kConflict if the ConfigMap has changed since it
// was read. kNotFound if the object does not exist. kInvalid if the record cannot be read.

#include <memory>
#include <stop_token>
#include <string>

#include "core/result.h"
#include "kube/api_client.h"
#include "wire/pods/moves.h"

namespace synergy::kube {

class MoveApi {
 public:
  virtual ~MoveApi() = default;

  virtual Result<wire::MovableOwner> ReadJob(const std::string& its_namespace,
                                             const std::string& name, std::stop_token stop) = 0;
  virtual Result<PublishedMoves> ReadMoves(std::stop_token stop) = 0;
  // Writes the record, and returns it as stored. Creates the ConfigMap if `moves` has no resource
  // version; then returns kConflict if it exists.
  virtual Result<PublishedMoves> WriteMoves(const PublishedMoves& moves, std::stop_token stop) = 0;
};

// `own_namespace`: the namespace of the ConfigMap. The clients must outlive the result; `writing`
// refuses to write without the leader's lease.
std::unique_ptr<MoveApi> MakeMoveApi(ApiClient& reading, ApiClient& writing,
                                     const std::string& own_namespace);

}  // namespace synergy::kube
