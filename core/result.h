// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

#include <tl/expected.hpp>

namespace knobscope {

/// What went wrong, for a person: `message` says what happened and to what, `detail` what to do or
/// the words of the system below. Errors are values; core never shows them itself.
struct Error {
    enum class Code {
        BadInput,     ///< the experiment file or an argument is wrong
        HostUnusable, ///< unreachable, refused, unknown or changed host key, no agent there
        LinkLost,     ///< contact with the agent was there and ended
        Timeout,      ///< no answer in time
        Knob,         ///< a knob cannot be read, set or put back
        Traffic,      ///< the test connection failed
        Cancelled,    ///< the user stopped it: not a failure
        Storage,      ///< the database
        Protocol,     ///< the agent said something it should not
    };
    Code code = Code::BadInput;
    QString message;
    QString detail = {};

    /// "message: detail" in one line.
    [[nodiscard]] QString text() const {
        return detail.isEmpty() ? message : message + QStringLiteral(": ") + detail;
    }
};

template<typename T>
using Result = tl::expected<T, Error>;

[[nodiscard]] inline tl::unexpected<Error> fail(Error::Code code, QString message,
                                                QString detail = {}) {
    return tl::unexpected<Error>(Error{code, std::move(message), std::move(detail)});
}

} // namespace knobscope
