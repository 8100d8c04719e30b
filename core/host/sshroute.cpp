// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/host/sshroute.h"

namespace knobscope {

namespace {

/// More jump hosts than anybody has; jump hosts that lead to each other end here.
constexpr int kMaxHops = 8;

Error ofJumpHost(Error error, const QString& jump, const QString& host) {
    error.detail =
        QStringLiteral("%1%2 is the jump host (ProxyJump) on the way to %3")
            .arg(error.detail.isEmpty() ? QString() : error.detail + QStringLiteral("; "), jump,
                 host);
    return error;
}

class RouteFinder {
public:
    RouteFinder(const QString& file, const Patience& patience)
        : m_file(file), m_patience(patience) {}

    /// Adds the jump hosts that a host needs, then the host.
    Result<void> add(const SshTarget& target) {
        auto config = SshConfig::resolve(target, m_file, m_patience);
        if (!config)
            return tl::unexpected<Error>(config.error());
        if (++m_resolved > kMaxHops)
            return fail(Error::Code::HostUnusable,
                        QStringLiteral("the way to %1 has too many jump hosts").arg(config->name),
                        QStringLiteral("do the ProxyJump settings of the ssh configuration lead in "
                                       "a circle?"));
        if (config->proxyPassesSocket && !config->proxyCommand.isEmpty())
            return fail(
                Error::Code::HostUnusable,
                QStringLiteral("%1 is configured with ProxyUseFdpass, which is not possible here")
                    .arg(config->name),
                QStringLiteral("use a ProxyCommand that carries the bytes itself"));
        if (!config->proxyJump.isEmpty()) {
            if (auto added = addJumps(*config); !added)
                return added;
            config->proxyJump.clear();
        }
        m_hops << *config;
        return {};
    }

    [[nodiscard]] const QList<SshConfig>& hops() const { return m_hops; }

private:
    /// The first is reached as its own configuration says; for the others the way is given:
    /// through the one before.
    Result<void> addJumps(const SshConfig& host) {
        const QStringList jumps = host.expandedTokens(host.proxyJump).split(u',');
        for (qsizetype i = 0; i < jumps.size(); ++i) {
            const auto target = SshTarget::parseJump(jumps[i]);
            if (!target)
                return tl::unexpected<Error>(ofJumpHost(target.error(), jumps[i], host.name));
            const auto added = i == 0 ? add(*target) : addAlone(*target);
            if (!added)
                return tl::unexpected<Error>(ofJumpHost(added.error(), target->host, host.name));
        }
        return {};
    }

    Result<void> addAlone(const SshTarget& target) {
        auto config = SshConfig::resolve(target, m_file, m_patience);
        if (!config)
            return tl::unexpected<Error>(config.error());
        config->proxyJump.clear();
        config->proxyCommand.clear();
        m_hops << *config;
        return {};
    }

    const QString& m_file;
    const Patience& m_patience;
    QList<SshConfig> m_hops;
    int m_resolved = 0;
};

} // namespace

QString SshRoute::text() const {
    QString text = host().account();
    QStringList through;
    for (qsizetype i = 0; i + 1 < hops.size(); ++i)
        through << hops[i].name;
    if (!through.isEmpty())
        text += QStringLiteral(", through %1").arg(through.join(QStringLiteral(", ")));
    if (!hops.first().proxyCommand.isEmpty())
        text += QStringLiteral(", by a ProxyCommand");
    return text;
}

Result<SshRoute> SshRoute::resolve(const SshTarget& target, const QString& file,
                                   const Patience& patience) {
    RouteFinder finder(file, patience);
    if (auto added = finder.add(target); !added)
        return tl::unexpected<Error>(added.error());
    return SshRoute{finder.hops()};
}

} // namespace knobscope
