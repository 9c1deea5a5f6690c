#pragma once

// A TCP connection to a server under test, for requests that no correct HTTP client sends.
//
// Threading: one owner at a time. Reads time out after ten seconds, so that a failing test ends.

#include <cstdint>
#include <string>
#include <string_view>

namespace synergy::testing {

class RawConnection {
 public:
  // `host`: the N of the source address 127.9.0.N; with 0 the source is 127.0.0.1.
  explicit RawConnection(uint16_t port, uint8_t host = 0);
  ~RawConnection();
  RawConnection(RawConnection&& other) noexcept;
  RawConnection& operator=(RawConnection&&) = delete;

  // Returns false if the server has closed the connection.
  bool Send(std::string_view bytes);
  // Closes the sending direction. Reads still work.
  void FinishSending();

  // Returns one answer, head and body, by its Content-Length; returns a part of it if the
  // connection ends earlier.
  std::string ReadAnswer();
  // Returns everything until the server closes the connection.
  std::string ReadToEnd();
  // Returns whether the server closes the connection within ten seconds without sending more.
  bool IsClosed();

 private:
  // Returns false at the end of the connection, or after ten seconds.
  bool ReadMore();

  int fd_;
  bool ended_ = false;
  std::string read_;
};

// Returns the body of an answer that ReadAnswer() has returned.
std::string BodyOf(const std::string& answer);

}  // namespace synergy::testing
