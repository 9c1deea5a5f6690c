#pragma once

// Adapts a Channel to cpp-httplib's streams, from which the library reads requests and answers.
// Private to this folder.
//
// Threading: the same as the channel. The channel must outlive the stream.
//
// This file is separate because only this file derives from a class of cpp-httplib.

#include <memory>

namespace httplib {
class Stream;
}

namespace synergy::http {

class Channel;

std::unique_ptr<httplib::Stream> MakeHttplibStream(Channel& channel);

}  // namespace synergy::http
