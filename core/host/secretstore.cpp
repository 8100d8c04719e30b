// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/host/secretstore.h"

namespace knobscope {

Result<Secret> KeptSecrets::ask(const SecretRequest& request, const CancelToken& cancel) {
    const QString id = request.id();
    bool wrong = false;
    {
        const std::scoped_lock lock(m_mutex);
        wrong = m_wrong.count(id) > 0;
    }
    if (request.lasting() && !wrong && m_store && m_store->usable()) {
        auto kept = m_store->read(id, cancel);
        if (!kept && kept.error().code == Error::Code::Cancelled)
            return tl::unexpected<Error>(kept.error());
        if (kept && *kept)
            return std::move(**kept);
    }
    return m_behind->ask(request, cancel);
}

void KeptSecrets::judge(const SecretRequest& request, const Secret& answer, bool right) {
    const QString id = request.id();
    if (!right) {
        const std::scoped_lock lock(m_mutex);
        m_wrong.insert(id);
    } else if (answer.keep() && request.lasting() && m_store && m_store->usable()) {
        // A store that does not take it is no reason to stop: the user will be asked again.
        if (m_store->write(id, answer)) {
            const std::scoped_lock lock(m_mutex);
            m_wrong.erase(id);
        }
    }
    m_behind->judge(request, answer, right);
}

Result<bool> KeptSecrets::trusts(const NewHostKey& key, const CancelToken& cancel) {
    return m_behind->trusts(key, cancel);
}

} // namespace knobscope
