// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/host/secretsource.h"

namespace knobscope {

/// Asks on the terminal, without showing what is typed where it is secret. One question at a time;
/// Ctrl-D, and a cancel while it waits, end the login as Cancelled. HostUnusable where there is no
/// terminal.
class TtySecrets final : public SecretSource {
public:
    explicit TtySecrets(QString device = QStringLiteral("/dev/tty"))
        : m_device(std::move(device)) {}

    Result<Secret> ask(const SecretRequest& request, const CancelToken& cancel) override;
    Result<bool> trusts(const NewHostKey& key, const CancelToken& cancel) override;

private:
    const QString m_device;
    std::mutex m_turn; ///< held while a question stands there
};

} // namespace knobscope
