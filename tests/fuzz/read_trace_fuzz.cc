// Takes any bytes as a recorded trace: recognises its format, and reads it, alone and as both
// tables of Alibaba's PAI trace.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/check.h"
#include "sim/trace.h"
#include "sim/traces/recorded_trace.h"

namespace synergy {
namespace {

void Check(const Result<RecordedTrace>& trace) {
  if (!trace) {
    SYNERGY_CHECK(!trace.error().message.empty(), "an error says why");
    return;
  }
  SYNERGY_CHECK(!trace->jobs.empty(), "a trace has jobs");
  SYNERGY_CHECK(trace->jobs.front().submitted == Seconds(0), "the first job arrives at 0");
  Seconds last{};
  for (const RecordedJob& job : trace->jobs) {
    SYNERGY_CHECK(job.gpus > Gpus(0) && job.duration > Seconds(0) && job.submitted >= last,
                  "jobs have work and come in order");
    last = job.submitted;
  }
}

void ReadAny(std::string_view text) {
  const auto form = RecognizeTrace(text, "trace");
  if (!form) return;
  if (form->form == TraceForm::kIterations) {
    (void)ParseTrace(text, "trace");
  } else if (form->form == TraceForm::kPaiJobs || form->form == TraceForm::kPaiTasks) {
    const PaiTable table{text, "trace", *form};
    Check(ReadPaiTrace(table, std::nullopt));
    Check(ReadPaiTrace(table, table));
  } else if (form->form != TraceForm::kJson) {
    Check(ReadRecordedTrace(text, "trace", *form));
  }
}

}  // namespace
}  // namespace synergy

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  synergy::ReadAny(std::string_view(reinterpret_cast<const char*>(data), size));
  return 0;
}
