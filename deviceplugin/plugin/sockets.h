#pragma once

// Sockets in the kubelet's folder of device plugins.
//
// Threading: any thread.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace synergy::deviceplugin {

// Identifies the file at a path; it changes when the file is created again.
struct FileIdentity {
  uint64_t device = 0;
  uint64_t inode = 0;
  int64_t modified = 0;  // nanoseconds; an inode's number may be reused by the next file

  bool operator==(const FileIdentity&) const = default;
};
// Returns nullopt if there is no socket.
std::optional<FileIdentity> IdentifySocket(const std::string& path);

// Returns whether a process listens on the socket.
bool IsServed(const std::string& path);
// Returns the sorted names of the sockets in the folder on which processes listen, except the
// kubelet's.
std::vector<std::string> ServedSockets(const std::string& folder);

// The name of the kubelet's own socket, which the kubelet creates again at each start.
inline constexpr char kKubeletSocket[] = "kubelet.sock";

// Returns a name for a socket that serves a resource: "synergy-nvidia.com_gpu-0123abcd.sock". Each
// call returns a different name.
std::string MakeSocketName(const std::string& resource);
bool IsSocketNameFor(const std::string& name, const std::string& resource);

}  // namespace synergy::deviceplugin
