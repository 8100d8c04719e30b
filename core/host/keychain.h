// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/host/secretstore.h"

#include <QThread>

#include <chrono>
#include <optional>

namespace knobscope {

/// The system's keychain: the Secret Service (GNOME Keyring, KeePassXC) or KWallet. Not usable
/// where there is none, such as on a machine without a desktop; nothing is ever written to a file
/// instead. Make one in a program: the library behind it does its work in one thread.
class Keychain final : public SecretStore {
public:
    Keychain();
    ~Keychain() override; ///< takes at most some seconds

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

    std::unique_ptr<QThread> m_thread;
    std::unique_ptr<QObject> m_context; ///< lives in the thread
    std::mutex m_mutex;                 ///< guards the next
    std::optional<bool> m_usable;
};

} // namespace knobscope
