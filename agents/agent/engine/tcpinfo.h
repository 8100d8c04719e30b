// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

namespace knobscope::agent {

/// TCP_INFO of a connection by the kernel's field names without "tcpi_". Fields that this kernel
/// does not give, and those that it marks as unknown or unlimited (all bits set), are absent.
[[nodiscard]] std::map<std::string, std::int64_t> tcpInfo(int socket);

/// The same from the bytes that the kernel gave; `length` may be that of an older, shorter struct.
[[nodiscard]] std::map<std::string, std::int64_t> tcpInfoFields(const void* info,
                                                                std::size_t length);

} // namespace knobscope::agent
