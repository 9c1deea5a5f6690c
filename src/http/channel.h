#pragma once

// A byte stream over a socket, plain or TLS, that knows why it failed: the library's own streams
// only say "error", and whether a request may have been processed hangs on the reason. Private to
// this folder.
//
// Reads come from a buffer that lives as long as the connection; small writes are collected until
// the next read or Flush(), so that an answer's head and body leave as one packet.
//
// Threading: one owner at a time.
// Failures: once state() is not kOpen, nothing more is read or written.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include <sys/types.h>

#include "core/result.h"
#include "http/socket.h"
#include "http/tls.h"

namespace synergy::http {

class Channel {
 public:
  enum class State {
    kOpen,
    kEnded,   // the peer closed it in good order
    kBroken,  // reset, or not TLS
    kSilent,  // nothing for as long as the silence limit, or not all by the deadline
    kWoken,   // the wake event came
  };

  explicit Channel(Fd socket);
  ~Channel();
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  // How long a read or write may wait, and what cuts the wait short (-1: nothing).
  void SetWaits(std::chrono::milliseconds silence_limit, int wake_fd);
  // When reads and writes end, however much has come by then.
  void SetDeadline(std::chrono::steady_clock::time_point deadline) { deadline_ = deadline; }

  // The handshakes, within the silence limit. The client verifies the server's certificate for
  // `server_name`.
  Result<> AcceptTls(const TlsContext& context);
  Result<> ConnectTls(const TlsContext& context, const std::string& server_name, bool verify);

  // At least one byte; 0 at the end; -1 on failure.
  ssize_t Read(char* data, size_t size);
  bool Write(const char* data, size_t size);
  bool Flush();

  // Reads fail after that many more bytes, with the stream still open. The library bounds neither
  // heads nor what stands between chunks: whoever reads sets the limit anew with every piece of a
  // body that comes, so that it never hits a body.
  void LimitReads(size_t bytes) { read_limit_ = bytes; }
  bool read_limit_reached() const { return read_limit_ == 0; }

  // Waits for the next request: true when there is something to read, be it the end.
  bool AwaitData(std::chrono::milliseconds timeout, int wake_fd);
  // Whether a connection that was idle may be used again: nothing came that nobody asked for, and
  // it was not closed.
  bool Idle();

  // Ends the stream so that the peer still gets what was written last: closing a socket with unread
  // data in it would destroy that. Reads on for a while.
  void Linger();

  State state() const { return state_; }
  const std::string& problem() const { return problem_; }
  // Whether anything was read since ResetCounts(), whether all that was written has left.
  bool received() const { return received_; }
  bool all_sent() const { return !send_failed_ && unsent_.empty(); }
  void ResetCounts();
  // The peer refused the TLS handshake after our half of it was done, as TLS 1.3 servers do with a
  // client's certificate.
  bool handshake_refused() const { return handshake_refused_; }
  int fd() const { return socket_.get(); }

 private:
  // One attempt of an operation: kDone, or what it has to wait for, or the end.
  enum class Step { kDone, kWantRead, kWantWrite, kFailed };

  Step TryRead(char* data, size_t size, size_t* got);
  Step TryWrite(const char* data, size_t size, size_t* sent);
  Step TlsStep(int result);
  bool Wait(bool writable);
  bool Fill();
  bool Send(const char* data, size_t size);
  Result<> Handshake(int (*step)(ssl_st*));
  void Fail(State state, std::string problem);

  Fd socket_;
  TlsSession tls_;
  std::chrono::milliseconds silence_limit_{10000};
  std::chrono::steady_clock::time_point deadline_ = std::chrono::steady_clock::time_point::max();
  int wake_fd_ = -1;
  State state_ = State::kOpen;
  std::string problem_;

  std::unique_ptr<char[]> buffer_;
  size_t buffer_begin_ = 0;
  size_t buffer_end_ = 0;
  size_t read_limit_ = SIZE_MAX;
  std::string unsent_;
  bool received_ = false;
  bool ever_received_ = false;
  bool send_failed_ = false;
  bool handshake_refused_ = false;
};

}  // namespace synergy::http
