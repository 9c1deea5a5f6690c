#pragma once

// Finds Python's tracebacks in a log, even where several processes write in turns, each line after
// its own prefix.
//
// A traceback is recognised by its frames ("  File "x.py", line 3, in f"), because its heading may
// lie outside the log's tail. The first line with less indentation than the frames is the
// exception; following lines that belong to it are its message.
//
// Threading: one owner. Memory: bounded by kMostOrigins.

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

#include "failure/log_line.h"

namespace synergy {

class TracebackReader {
 public:
  enum class Part {
    kOther,      // not part of a traceback
    kFrame,      // its heading, a frame, or a line of source
    kException,  // the line that names the exception
    kMessage,    // another line of the exception's message
  };

  struct Seen {
    Part part = Part::kOther;
    // The exception's number, for kException and kMessage. All exceptions of a chain ("During
    // handling of the above exception") have the number of the first one.
    int chain = 0;
    // The exception did not end the program: it belongs to a destructor or an exit function.
    bool aside = false;
    // It belongs to another thread, so whether it ended the program is unknown.
    bool of_thread = false;
    // The line before is a warning, or reports that the program handled the exception. If no line
    // follows, the exception ended the program all the same.
    bool announced = false;
    // The previous exception in the chain caused this one ("raise ... from").
    bool caused = false;
  };

  Seen Add(const LogLine& line);

 private:
  static constexpr size_t kMostOrigins = 64;

  struct State {
    size_t indent = 0;    // of the frames; 0: in no traceback
    int strays = 0;       // lines of other processes within it
    bool after = false;   // after an exception's line
    int messages = 0;     // lines of its message
    bool quotes = false;  // its message contains frames
    bool linked = false;  // the next traceback belongs to the same chain
    bool caused = false;  // the previous exception caused the next one
    bool aside = false;   // the next exception did not end the program
    bool of_thread = false;
    bool announced = false;
    bool quiet = false;  // the previous line is a warning
    Seen last;
  };

  Seen AddFrame(State& state, size_t indent);
  Seen AddException(State& state);

  std::map<std::string, State, std::less<>> states_;
  int chains_ = 0;
};

// Returns whether `text` begins as an exception does: "ValueError: bad", "a.b.SomeError".
bool BeginsLikeException(std::string_view text);
// Returns the message in a line that reports the last error of a program in C++, Rust, Go, Julia,
// Java or R; empty if the line does not.
std::string_view LastErrorOf(std::string_view text);
// Returns whether `text` reports that an error was handled: "retrying", "falling back to".
bool ReportsHandling(std::string_view text);
// Returns whether `text` calls itself a warning.
bool IsWarning(std::string_view text);

}  // namespace synergy
