#pragma once

// A JobSet as elastic jobs see it (docs/optimus.md): it cannot be given another size. That by which
// Kubeflow Trainer runs a TrainJob is made anew once it is gone.
//
// Threading: values; pure. Read by ObjectReader (objects.h).

#include <cstdint>
#include <string>

namespace synergy::wire {

struct TrainJobSet {
  std::string uid;
  std::string set_namespace;
  std::string name;       // also that of the TrainJob
  std::string train_job;  // the UID of the TrainJob that it is of; empty: it is of none
  // The parallelism of its replicated job that trains. 0: there is none, or there are others beside
  // it and initializers, as where a launcher has the label of a trainer.
  int64_t workers = 0;
  bool deleting = false;
  bool says_elastic = false;  // by an annotation of queued_job.h

  std::string Key() const { return set_namespace + "/" + name; }
};

// Body of DELETE jobsets/{name}: with its Jobs and pods, which end first. In the background they
// would outlive it for a while, and be taken for those of the next one of that name.
std::string WriteJobSetDeletion(const TrainJobSet& set);

}  // namespace synergy::wire
