#pragma once

// A byte stream over a socket, plain or TLS, that keeps the reason for a failure. The streams of
// cpp-httplib report only "error", but the reason determines whether a request may have been
// processed. Private to this folder.
//
// Reads come from a buffer that lives as long as the connection. Small writes are collected until
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
    kEnded,   // the peer closed it properly
    kBroken,  // reset, or not TLS
    kSilent,  // the peer exceeded the silence limit or the deadline
    kWoken,   // the wake event was signalled
  };

  explicit Channel(Fd socket);
  ~Channel();
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  // Sets how long a read or write may wait, and the event that interrupts the wait (-1: none).
  void SetWaits(std::chrono::milliseconds silence_limit, int wake_fd);
  // Sets the time after which reads and writes fail, even while data arrives.
  void SetDeadline(std::chrono::steady_clock::time_point deadline) { deadline_ = deadline; }

  // Performs the handshake within the silence limit. The client verifies the server's certificate
  // for `server_name`. On a channel that already uses TLS (to a proxy), it performs a second
  // handshake inside.
  Result<> AcceptTls(const TlsContext& context);
  Result<> ConnectTls(const TlsContext& context, const std::string& server_name, bool verify);

  // Returns the number of bytes read, at least one; 0 at the end; -1 on failure.
  ssize_t Read(char* data, size_t size);
  bool Write(const char* data, size_t size);
  bool Flush();

  // Makes reads fail after this many more bytes, with the stream still open. cpp-httplib limits
  // neither heads nor the lines between chunks. The reader of a body resets the limit for every
  // piece, so that it never cuts a body.
  void LimitReads(size_t bytes) { read_limit_ = bytes; }
  bool read_limit_reached() const { return read_limit_ == 0; }

  // Waits for the next request. Returns true if there is something to read, even if that is the
  // end.
  bool AwaitData(std::chrono::milliseconds timeout, int wake_fd);
  // Returns whether an idle connection may be used again: it was not closed, and no unrequested
  // data arrived.
  bool Idle();

  // Ends the stream so that the peer still receives the last data written; closing a socket with
  // unread data would destroy that data. Continues reading for a while.
  void Linger();

  State state() const { return state_; }
  const std::string& problem() const { return problem_; }
  // Return whether anything was read since ResetCounts(), and whether all written data was sent.
  bool received() const { return received_; }
  bool all_sent() const { return !send_failed_ && unsent_.empty(); }
  void ResetCounts();
  // Returns whether the peer refused the TLS handshake after this side had completed it, as TLS 1.3
  // servers do with a client's certificate.
  bool handshake_refused() const { return handshake_refused_; }
  int fd() const { return socket_.get(); }

 private:
  // The result of one attempt: done, the event to wait for, or failed.
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
