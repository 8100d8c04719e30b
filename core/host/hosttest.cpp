// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/host/hosttest.h"

#include <QStringList>

namespace knobscope {

namespace {

using Kind = HostStep::Kind;

constexpr std::initializer_list<Kind> kKinds = {Kind::Resolve, Kind::Connect, Kind::HostKey,
                                                Kind::Login,   Kind::Shell,   Kind::Upload,
                                                Kind::Hello,   Kind::Rights,  Kind::Interfaces};

/// The interfaces of a host, by its own word.
Result<QStringList> interfacesOf(HostSession& session, const QString& wanted) {
    protocol::InterfaceParams params;
    params.interface = wanted.toStdString();
    const auto answer =
        session.call(protocol::method::kEnvironment, params, std::chrono::seconds(10)).get();
    if (!answer)
        return tl::unexpected<Error>(answer.error());
    QStringList names;
    try {
        for (const std::string& name : answer->get<protocol::Environment>().interfaces)
            names << QString::fromStdString(name);
    } catch (const Json::exception& e) {
        return fail(Error::Code::Protocol,
                    QStringLiteral("%1 does not tell its interfaces properly").arg(session.label()),
                    QString::fromUtf8(e.what()));
    }
    return names;
}

Result<QString> checkInterfaces(const HostSpec& host, HostSession& session) {
    const auto names = interfacesOf(session, {});
    if (!names)
        return tl::unexpected<Error>(names.error());
    const QString all = names->join(QStringLiteral(", "));
    if (host.interface.isEmpty())
        return all;
    if (!names->contains(host.interface))
        return fail(Error::Code::BadInput,
                    QStringLiteral("%1 has no interface %2").arg(host.label(), host.interface),
                    QStringLiteral("it has %1").arg(all));
    return QStringLiteral("%1 is there").arg(host.interface);
}

/// What the list should show for steps that this host does not have, or that were not reached.
void completeSteps(HostSteps& steps, const HostSpec& host, bool stopped) {
    for (const Kind kind : kKinds) {
        if (steps.has(kind))
            continue;
        const bool needed =
            !host.local || kind == Kind::Hello || kind == Kind::Rights || kind == Kind::Interfaces;
        if (needed && !stopped)
            continue;
        steps.skip(kind, host.label(),
                   needed ? QStringLiteral("not reached")
                          : QStringLiteral("not needed on this computer"));
    }
}

} // namespace

HostTest testHost(const HostSpec& host, const HostOptions& options, const CancelToken& cancel,
                  HostSteps::Observer changed) {
    HostSteps steps(std::move(changed));
    HostTest test;
    const auto session = HostSession::open(host, options, cancel, &steps);
    if (!session) {
        test.error = session.error();
    } else {
        steps.start(Kind::Interfaces, host.label());
        if (const auto found = checkInterfaces(host, **session)) {
            steps.done(*found);
        } else {
            steps.failed(found.error());
            test.error = found.error();
        }
    }
    completeSteps(steps, host, test.error.has_value());
    test.steps = steps.all();
    return test;
}

} // namespace knobscope
