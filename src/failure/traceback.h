#pragma once

// Finds Python's tracebacks in a log, also where several processes write in turns, each line after
// a prefix of its own.
//
// A traceback is recognised by its frames ("  File "x.py", line 3, in f"), because its heading may
// be outside of the log's tail. The first line that is less indented than the frames is the
// exception; lines after it that belong to it are its message.
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
    kOther,      // no part of a traceback
    kFrame,      // its heading, a frame, a line of source
    kException,  // the line that names the exception
    kMessage,    // a further line of the exception's message
  };

  struct Seen {
    Part part = Part::kOther;
    // The exception's number, for kException and kMessage. All of a chain ("During handling of the
    // above exception") have the number of the first one.
    int chain = 0;
    // The exception did not end the program: it is of another thread, of a destructor or of an exit
    // function.
    bool aside = false;
    // The line before says that it was dealt with, or is a warning. If nothing comes after it, it
    // ended the program all the same.
    bool announced = false;
    // The exception was raised because of the one before it in the chain ("raise ... from").
    bool caused = false;
  };

  Seen Add(const LogLine& line);

 private:
  static constexpr size_t kMostOrigins = 64;

  struct State {
    size_t indent = 0;    // of the frames; 0: in no traceback
    int strays = 0;       // lines of others within it
    bool after = false;   // after an exception's line
    int messages = 0;     // lines of its message
    bool linked = false;  // the next traceback is of the same chain
    bool caused = false;  // and was raised because of the exception before
    bool aside = false;   // the next exception is aside
    bool announced = false;
    bool quiet = false;  // the line before is a warning
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
// Java or R; empty if it is no such line.
std::string_view LastErrorOf(std::string_view text);
// Returns whether `text` says that an error was dealt with: "retrying", "falling back to".
bool ReportsHandling(std::string_view text);
// Returns whether `text` is called a warning.
bool IsWarning(std::string_view text);

}  // namespace synergy
