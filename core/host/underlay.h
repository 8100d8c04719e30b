// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/host/fd.h"

#include <QString>

#include <memory>

namespace knobscope {

/// What carries an SSH connection that is no TCP connection of its own: a jump host, a program.
/// Ends with its object, which must outlive the connection.
class Carrier {
public:
    Carrier() = default;
    virtual ~Carrier() = default;
    Carrier(const Carrier&) = delete;
    Carrier& operator=(const Carrier&) = delete;

    /// Why it has ended; empty while it runs. Any thread.
    [[nodiscard]] virtual QString endReason() const = 0;
};

/// A socket to speak SSH over, and what stands behind it.
struct Underlay {
    Fd socket;
    std::unique_ptr<Carrier> carrier; ///< none: TCP
};

} // namespace knobscope
