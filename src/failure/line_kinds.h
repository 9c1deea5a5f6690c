#pragma once

// Classifies log lines by their words.
//
// Threading: pure. Time is linear in the line's length (RE2).

#include <cstddef>
#include <string>
#include <string_view>

namespace synergy {

// Returns whether a launcher raised the exception because of another one.
bool IsWrapper(std::string_view text);
// Returns whether the wrapper is of a type that may also have a message of its own.
bool HasOwnMessage(std::string_view text);
// Returns whether the line is NCCL's report of a failed system call. The report does not name the
// call, but NCCL's warnings do.
bool IsOfNccl(std::string_view text);
// Returns whether the exception's text points at another one: "look at the errors above".
bool PointsElsewhere(std::string_view text);
// Returns whether the line comes from a launcher, a shutdown or a backtrace, which do not show the
// program's work.
bool IsClosing(std::string_view text);
// Returns whether the program quotes the text from `place` on, such as a sample of its data.
bool IsQuoted(std::string_view text, size_t place);
// Returns whether a launcher reports that one process ended with an error. The launcher then ends
// the other processes.
bool ReportsExit(std::string_view text);
// Returns whether a launcher only sends a signal to other processes.
bool SendsSignal(std::string_view text);
// Returns whether pip only reports that packages conflict, and has installed them anyway.
bool IsReportOfPip(std::string_view text);
// Returns whether pip could not connect to its index.
bool IsPipUnconnected(std::string_view text);
// Returns whether pip found no version of a package.
bool IsPipWithoutVersions(std::string_view text);
// Returns whether the exception's line only names the call in which it was raised, as in Keras.
bool IsOfCall(std::string_view text);
// Returns whether the exception's line has no message, although exceptions of its type usually have
// one.
bool IsBareType(std::string_view text);
// Returns whether the line is source code, as in a traceback.
bool IsSource(std::string_view text);
// Returns whether the line introduces a list of errors that the program handled.
bool ListsHandled(std::string_view text);
bool IsIndented(std::string_view text);
// Returns whether the line calls itself an error, whatever its level: some loggers write all output
// of a program as information.
bool ClaimsError(std::string_view text);
bool IsRuler(std::string_view text);
bool ReportsEnd(std::string_view text);
bool SpeaksOfSeveral(std::string_view text);

// Returns the text without causes that it only presumes: "some common causes include: (1) ...".
// Returns an empty text if it presumes none. `listed`: whether the previous lines began a list of
// presumed causes; updated for the next line.
std::string WithoutGuesses(std::string_view text, bool& listed);

}  // namespace synergy
