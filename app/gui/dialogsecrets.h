// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/host/secretsource.h"

#include <functional>

class QWidget;

namespace knobscope {

/// Asks in dialogs. ask() and trusts() are called on the threads that reach hosts and wait there;
/// the dialogs live on the GUI thread, which must not call them. One question at a time
/// (SecretMemory sees to that). Closing a dialog is Cancelled.
class DialogSecrets final : public SecretSource {
public:
    /// `canKeep`: whether there is a keychain; the choice to keep an answer is shown then.
    explicit DialogSecrets(std::function<bool()> canKeep) : m_canKeep(std::move(canKeep)) {}

    Result<Secret> ask(const SecretRequest& request, const CancelToken& cancel) override;
    Result<bool> trusts(const NewHostKey& key, const CancelToken& cancel) override;

private:
    const std::function<bool()> m_canKeep;
};

} // namespace knobscope
