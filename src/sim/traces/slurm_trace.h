#pragma once

// Reads the output of Slurm's `sacct -P`, with any of its columns.
//
//   rows     A row whose JobID has a step (.batch, .0, .extern) is left out. Without JobID, a step
//            has an empty Partition, ReqTRES or User; without these columns, its JobName or its
//            missing billing shows it. Members of an array (123_4) are jobs; the components of a
//            heterogeneous job (123+0, 123+1) are one job.
//   GPUs     gres/gpu=N of AllocTRES, else of ReqTRES; where only gres/gpu:TYPE=N is given, their
//            sum. Before Slurm had these: AllocGRES or ReqGRES, which are per node.
//   duration ElapsedRaw, else Elapsed, else from Start to End.
//
// This file is separate because each form of a trace has its own file. Threading: pure. Failures:
// as in recorded_trace.h.

#include <string_view>

#include "core/result.h"
#include "sim/traces/recorded_trace.h"

namespace synergy {

Result<RecordedTrace> ReadSlurmTrace(std::string_view text, std::string_view file,
                                     const RecognizedTrace& form);

}  // namespace synergy
