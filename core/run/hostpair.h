// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/host/hostsession.h"
#include "core/model/knob.h"

namespace knobscope {

/// The two hosts of an experiment with living agents.
class HostPair {
public:
    /// Opens both at once. The error of the sender comes first when both fail. Two names of one
    /// machine are BadInput unless both hosts are this computer.
    static Result<HostPair> open(const Experiment& experiment, const HostOptions& options,
                                 const CancelToken& cancel);

    [[nodiscard]] HostSession& at(Side side) const {
        return side == Side::Receiver ? *m_receiver : *m_sender;
    }
    /// Holds both hosts for this run, so that no other disturbs it. While another has one, which
    /// may be a dead run's guardian on its way out, it waits up to `patience`; then HostUnusable.
    Result<void> claim(std::chrono::milliseconds patience, const CancelToken& cancel);
    /// The host whose contact is lost, if any.
    [[nodiscard]] std::optional<Side> lostSide() const;

private:
    std::unique_ptr<HostSession> m_sender;
    std::unique_ptr<HostSession> m_receiver;
};

inline constexpr Side kBothSides[] = {Side::Sender, Side::Receiver};

} // namespace knobscope
