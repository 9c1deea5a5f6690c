#include "wire/train_job_set.h"

#include <limits>
#include <string_view>

#include "wire/json_words.h"
#include "wire/kueue_readers.h"
#include "wire/object_readers.h"
#include "wire/queued_job.h"

namespace synergy::wire {
namespace {

constexpr std::string_view kStepLabel = "trainer.kubeflow.org/trainjob-ancestor-step";

}  // namespace

TrainJobSet ReadTrainJobSetObject(FieldReader& fields, Value object) {
  const Value metadata = fields.Object(object["metadata"]);
  TrainJobSet set;
  set.uid = ReadText(fields, metadata["uid"]);
  set.set_namespace = ReadText(fields, metadata["namespace"]);
  set.name = ReadText(fields, metadata["name"]);
  set.deleting = !fields.Text(metadata["deletionTimestamp"]).empty();
  const Value annotations = fields.Object(metadata["annotations"]);
  set.says_elastic =
      !annotations[kMinWorkersAnnotation].absent() || !annotations[kMaxWorkersAnnotation].absent();
  if (const WorkloadOwner owner = ReadOwner(fields, metadata); owner.kind == "TrainJob")
    set.train_job = owner.uid;
  const Value spec = fields.Object(object["spec"]);
  int jobs = 0;  // that are no initializers
  fields.Array(spec["replicatedJobs"]).ForEachElement([&](Value replicated) {
    const Value job = fields.Object(replicated["template"]);
    const Value labels = fields.Object(fields.Object(job["metadata"])["labels"]);
    const std::string_view step = fields.Text(labels[kStepLabel]);
    if (step.ends_with("-initializer")) return;
    ++jobs;
    if (step != "trainer") return;
    const Value workers = fields.Object(job["spec"])["parallelism"];
    set.workers =
        workers.absent() ? 1 : fields.Integer(workers, 0, std::numeric_limits<int32_t>::max());
  });
  if (jobs != 1) set.workers = 0;
  return set;
}

std::string WriteJobSetDeletion(const TrainJobSet& set) {
  std::string out = R"({"apiVersion":"v1","kind":"DeleteOptions","propagationPolicy":"Foreground",)"
                    R"("preconditions":{"uid":)";
  AppendJsonString(out, set.uid);
  return out + "}}";
}

}  // namespace synergy::wire
