#pragma once

// Makes a Channel a stream from which cpp-httplib reads requests and answers. Private to this
// folder.
//
// Threading: as the channel's. The channel outlives the stream.
//
// Apart because only this derives from a class of cpp-httplib.

#include <memory>

namespace httplib {
class Stream;
}

namespace synergy::http {

class Channel;

std::unique_ptr<httplib::Stream> MakeHttplibStream(Channel& channel);

}  // namespace synergy::http
