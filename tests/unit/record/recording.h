#pragma once

// A recording in a folder of the test.

#include <cstdlib>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>

#include "core/log.h"
#include "core/units.h"
#include "record/recorder.h"
#include "support/silent_log.h"
#include "support/temporary_folder.h"

namespace synergy::record {

class Recording {
 public:
  std::unique_ptr<Recorder> recorder;

  explicit Recording(Bytes limit = GiB(1)) : limit_(limit) { Open(); }

  // Opens the recording as a starting program does.
  void Open() {
    recorder.reset();
    recorder = *Recorder::Open(File(), limit_, "test", log_.log);
  }
  std::string File() const { return folder_.Path("recording"); }
  std::string Text() const {
    std::stringstream text;
    text << std::ifstream(File()).rdbuf();
    return text.str();
  }

 private:
  const Bytes limit_;
  testing::TemporaryFolder folder_;
  testing::SilentLog log_;
};

// Returns `text` with the first `what` after the first `after` replaced; aborts the test if there
// is none.
inline std::string Falsified(std::string text, std::string_view after, std::string_view what,
                             std::string_view by) {
  const size_t begin = text.find(after);
  const size_t at = begin == std::string::npos ? begin : text.find(what, begin);
  if (at == std::string::npos) std::abort();
  return text.replace(at, what.size(), by);
}

// Returns `text` without the first line that contains `what`.
inline std::string WithoutLine(std::string text, std::string_view what) {
  const size_t at = text.find(what);
  if (at == std::string::npos) std::abort();
  const size_t begin = text.rfind('\n', at) + 1;
  return text.erase(begin, text.find('\n', at) + 1 - begin);
}

}  // namespace synergy::record
