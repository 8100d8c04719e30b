// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/host/secretstore.h"

#include <chrono>
#include <optional>

namespace knobscope {

/// The system's keychain: the Secret Service (GNOME Keyring, KeePassXC) or KWallet. Not usable
/// where there is none, such as on a machine without a desktop; nothing is ever written to a file
/// instead.
class Keychain final : public SecretStore {
public:
    [[nodiscard]] bool usable() override;
    [[nodiscard]] Result<std::optional<Secret>> read(const QString& id,
                                                     const CancelToken& cancel) override;
    [[nodiscard]] Result<void> write(const QString& id, const Secret& secret) override;
    [[nodiscard]] Result<void> remove(const QString& id) override;

private:
    struct Answer;
    enum class Task { Read, Write, Remove };
    [[nodiscard]] Result<Answer> perform(Task task, const QString& id, const Secret* secret,
                                         std::chrono::milliseconds limit,
                                         const CancelToken& cancel);

    std::mutex m_mutex; ///< guards the next
    std::optional<bool> m_usable;
};

} // namespace knobscope
