#pragma once

// A TCP connection to a server under test, for everything that a decent HTTP client does not do.
//
// Threading: one owner at a time. Reads give up after ten seconds, so that a failing test ends.

#include <cstdint>
#include <string>
#include <string_view>

namespace synergy::testing {

class RawConnection {
 public:
  // `host`: the last part of the address 127.9.0.N that it comes from; 0: from 127.0.0.1.
  explicit RawConnection(uint16_t port, uint8_t host = 0);
  ~RawConnection();
  RawConnection(RawConnection&& other) noexcept;
  RawConnection& operator=(RawConnection&&) = delete;

  // False when the server closed the connection.
  bool Send(std::string_view bytes);
  // Sends no more, but still reads.
  void FinishSending();

  // One answer, head and body, by its Content-Length; what came so far when the connection ended.
  std::string ReadAnswer();
  // Everything until the server closes the connection.
  std::string ReadToEnd();
  // Whether the server closes the connection within ten seconds without sending anything more.
  bool IsClosed();

 private:
  // False at the end or after ten seconds.
  bool ReadMore();

  int fd_;
  bool ended_ = false;
  std::string read_;
};

// The body of an answer as ReadAnswer() returns it.
std::string BodyOf(const std::string& answer);

}  // namespace synergy::testing
