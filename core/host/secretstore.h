// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/host/secretsource.h"

#include <set>

namespace knobscope {

/// Where secrets are kept for later, such as the system's keychain. Calls may block while the user
/// unlocks it. Any thread.
class SecretStore {
public:
    virtual ~SecretStore() = default;

    /// Whether there is one that can be used; the first call may take some seconds.
    [[nodiscard]] virtual bool usable() = 0;
    /// Nothing when there is none of this name. HostUnusable when the store does not give it;
    /// Cancelled.
    [[nodiscard]] virtual Result<std::optional<Secret>> read(const QString& id,
                                                             const CancelToken& cancel) = 0;
    [[nodiscard]] virtual Result<void> write(const QString& id, const Secret& secret) = 0;
    [[nodiscard]] virtual Result<void> remove(const QString& id) = 0;
};

/// Answers from a store, and asks the source behind for what is not there. Keeps an answer in the
/// store once it has proved right, and only if the user wants that (Secret::keep). One that has
/// proved wrong is not taken from the store again. Without a store that can be used everything goes
/// to the source behind.
class KeptSecrets final : public SecretSource {
public:
    KeptSecrets(std::shared_ptr<SecretStore> store, std::shared_ptr<SecretSource> behind)
        : m_store(std::move(store)), m_behind(std::move(behind)) {}

    Result<Secret> ask(const SecretRequest& request, const CancelToken& cancel) override;
    void judge(const SecretRequest& request, const Secret& answer, bool right) override;
    Result<bool> trusts(const NewHostKey& key, const CancelToken& cancel) override;

private:
    const std::shared_ptr<SecretStore> m_store;
    const std::shared_ptr<SecretSource> m_behind;
    std::mutex m_mutex;        ///< guards the next
    std::set<QString> m_wrong; ///< what the store has is not right
};

} // namespace knobscope
