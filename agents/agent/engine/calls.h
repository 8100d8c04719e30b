// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include <cstddef>

namespace knobscope::agent {

/// As send(2) and recv(2), without the thread cancellation points that the C library makes of them:
/// in a program with threads these are four locked instructions for every message.
inline ssize_t sendBytes(int socket, const void* data, std::size_t bytes, int flags) {
    return ::syscall(SYS_sendto, socket, data, bytes, flags, nullptr, 0);
}
inline ssize_t receiveBytes(int socket, void* data, std::size_t bytes, int flags) {
    return ::syscall(SYS_recvfrom, socket, data, bytes, flags, nullptr, nullptr);
}

} // namespace knobscope::agent
