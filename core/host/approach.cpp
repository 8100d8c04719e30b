// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/host/approach.h"

namespace knobscope {

template<typename Answer>
Result<Answer> Approach::asked(const QString& host, Patience& patience,
                               const std::function<Result<Answer>()>& question) {
    const auto begun = Patience::Clock::now();
    Result<Answer> answer = question();
    steps.discount(
        std::chrono::duration_cast<std::chrono::microseconds>(Patience::Clock::now() - begun));
    patience.renew();
    if (cancel.cancelled() || (!answer && answer.error().code == Error::Code::Cancelled))
        return fail(Error::Code::Cancelled,
                    QStringLiteral("connecting to %1 was cancelled").arg(host));
    return answer;
}

Result<Secret> Approach::ask(const SecretRequest& request, Patience& patience) {
    if (!options.secrets)
        return fail(Error::Code::HostUnusable, QStringLiteral("nobody can be asked for it here"));
    return asked<Secret>(request.host, patience,
                         [&] { return options.secrets->ask(request, cancel); });
}

void Approach::judge(const SecretRequest& request, const Secret& answer, bool right) {
    if (options.secrets)
        options.secrets->judge(request, answer, right);
}

Result<bool> Approach::trusts(const NewHostKey& key, Patience& patience) {
    if (!options.secrets)
        return false;
    auto answer =
        asked<bool>(key.host, patience, [&] { return options.secrets->trusts(key, cancel); });
    if (!answer && answer.error().code != Error::Code::Cancelled)
        return false;
    return answer;
}

} // namespace knobscope
