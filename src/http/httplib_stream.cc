#include "http/httplib_stream.h"

#include <httplib.h>

#include "http/channel.h"

namespace synergy::http {
namespace {

class HttplibStream final : public httplib::Stream {
 public:
  explicit HttplibStream(Channel& channel) : channel_(channel) {}

  bool is_readable() const override { return channel_.state() == Channel::State::kOpen; }
  bool is_writable() const override { return channel_.state() == Channel::State::kOpen; }
  ssize_t read(char* data, size_t size) override { return channel_.Read(data, size); }
  ssize_t write(const char* data, size_t size) override {
    return channel_.Write(data, size) ? static_cast<ssize_t>(size) : -1;
  }
  // cpp-httplib calls both functions for every request, but only to set headers that are never
  // read.
  void get_remote_ip_and_port(std::string&, int&) const override {}
  void get_local_ip_and_port(std::string&, int&) const override {}
  socket_t socket() const override { return channel_.fd(); }

 private:
  Channel& channel_;
};

}  // namespace

std::unique_ptr<httplib::Stream> MakeHttplibStream(Channel& channel) {
  return std::make_unique<HttplibStream>(channel);
}

}  // namespace synergy::http
