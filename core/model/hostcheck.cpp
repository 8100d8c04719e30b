// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/hostcheck.h"

#include "core/model/experimentfile.h"

#include <QRegularExpression>

#include <arpa/inet.h>

namespace knobscope {

namespace {

tl::unexpected<Error> wrongHost(const QString& path, const QString& what) {
    return fail(Error::Code::BadInput, path + QStringLiteral(": ") + what);
}

/// AF_INET or AF_INET6 of a numeric address; a zone ("%eth0") may follow the latter.
std::optional<int> addressFamily(const QString& address) {
    unsigned char buffer[sizeof(in6_addr)];
    if (address.contains(QChar(u'\0')))
        return std::nullopt;
    if (inet_pton(AF_INET, address.toLatin1().constData(), buffer) == 1)
        return AF_INET;
    const QByteArray plain = address.section(QLatin1Char('%'), 0, 0).toLatin1();
    if (inet_pton(AF_INET6, plain.constData(), buffer) == 1)
        return AF_INET6;
    return std::nullopt;
}

/// The bytes of a numeric address, its zone left out.
QByteArray addressBytes(const QString& address) {
    const QByteArray text = address.section(QLatin1Char('%'), 0, 0).toLatin1();
    QByteArray bytes(sizeof(in6_addr), '\0');
    if (inet_pton(AF_INET6, text.constData(), bytes.data()) == 1)
        return bytes;
    bytes.resize(sizeof(in_addr));
    return inet_pton(AF_INET, text.constData(), bytes.data()) == 1 ? bytes : text;
}

/// Host and port of an SSH name in one form: "ssh://Root@Host1:22" and "host1" are one machine.
QString normalizedSsh(const QString& ssh) {
    QString name = ssh;
    const bool url = name.startsWith(QLatin1String("ssh://"), Qt::CaseInsensitive);
    if (url)
        name = name.mid(6);
    name = name.mid(name.lastIndexOf(QLatin1Char('@')) + 1);
    while (name.endsWith(QLatin1Char('/')))
        name.chop(1);
    if (url && name.endsWith(QLatin1String(":22")))
        name.chop(3);
    return name.toLower();
}

Result<void> checkHost(const QString& path, const HostSpec& host) {
    if (host.local == !host.ssh.isEmpty())
        return wrongHost(
            path,
            QStringLiteral("needs either \"ssh\": \"NAME\" or \"local\": true, %1.")
                .arg(host.local ? QStringLiteral("not both") : QStringLiteral("and has neither")));
    static const QRegularExpression sshName(
        QStringLiteral("\\A[^-\\s\\p{C}][^\\s\\p{C}]{0,254}\\z"));
    if (!host.local && !sshName.match(host.ssh).hasMatch())
        return wrongHost(
            path + QStringLiteral(".ssh"),
            QStringLiteral("\"%1\" is no name for ssh. Write it like host1, user@host1 or "
                           "ssh://user@host1:2222.")
                .arg(host.ssh.left(60)));
    if (host.address.isEmpty())
        return wrongHost(path + QStringLiteral(".address"),
                         QStringLiteral("missing: the host's own address in the test network."));
    if (!isAddress(host.address))
        return wrongHost(path + QStringLiteral(".address"),
                         QStringLiteral("\"%1\" is no IPv4 or IPv6 address in numbers.")
                             .arg(host.address.left(60)));
    if (host.interface.isEmpty())
        return wrongHost(path + QStringLiteral(".interface"),
                         QStringLiteral("missing: the interface that has the test address."));
    if (!isInterfaceName(host.interface))
        return wrongHost(
            path + QStringLiteral(".interface"),
            QStringLiteral("\"%1\" is no name of an interface.").arg(host.interface.left(60)));
    return {};
}

Result<void> checkCounts(const Experiment& experiment) {
    const int senders = experiment.hostCount(Side::Sender);
    const int receivers = experiment.hostCount(Side::Receiver);
    for (const Side side : {Side::Sender, Side::Receiver}) {
        if (const int count = experiment.hostCount(side); count > kMaxHosts)
            return wrongHost(
                hostPath(side),
                QStringLiteral("%1 hosts; at most %2 are possible.").arg(count).arg(kMaxHosts));
    }
    if (senders == 1 || receivers == 1 || senders == receivers)
        return {};
    return wrongHost(
        QStringLiteral("hosts"),
        QStringLiteral("%1 senders and %2 receivers do not pair up; give one host on a "
                       "side, or as many on both.")
            .arg(senders)
            .arg(receivers));
}

/// Two entries must be two machines, as one has its knobs and counters only once; but for this
/// computer, which may be all of them.
Result<void> checkTwo(const Experiment& experiment, HostRef earlier, HostRef later) {
    const HostSpec& one = experiment.host(earlier);
    const HostSpec& other = experiment.host(later);
    const bool pair = earlier == Side::Sender && later == Side::Receiver;
    if (!one.local && !other.local && normalizedSsh(one.ssh) == normalizedSsh(other.ssh))
        return wrongHost(hostPath(later) + QStringLiteral(".ssh"),
                         pair ? QStringLiteral("\"%1\" is the sender's host too; a test needs two "
                                               "hosts. (This computer alone can be both.)")
                                    .arg(other.ssh)
                              : QStringLiteral("\"%1\" is the host of %2 too; each entry must be a "
                                               "machine of its own.")
                                    .arg(other.ssh, hostPath(earlier)));
    if (one.local && other.local && !experiment.allLocal())
        return wrongHost(
            hostPath(later) + QStringLiteral(".local"),
            QStringLiteral("this computer is %1 already; each entry must be a machine of "
                           "its own, unless all are this computer.")
                .arg(hostPath(earlier)));
    return {};
}

/// A host that faces several tells them apart by their addresses. A zone ("%eth0") makes equal
/// ones differ.
Result<void> checkAddresses(const Experiment& experiment, Side side) {
    const Side facing = side == Side::Sender ? Side::Receiver : Side::Sender;
    if (experiment.hostCount(facing) > 1 || experiment.allLocal())
        return {};
    const QList<HostRef> refs = experiment.hostRefs(side);
    for (qsizetype i = 0; i < refs.size(); ++i) {
        const QString& address = experiment.host(refs[i]).address;
        for (qsizetype k = 0; k < i && !address.contains(QLatin1Char('%')); ++k) {
            if (addressBytes(experiment.host(refs[k]).address) == addressBytes(address))
                return wrongHost(
                    hostPath(refs[i]) + QStringLiteral(".address"),
                    QStringLiteral("%1 is the address of %2 too.").arg(address, hostPath(refs[k])));
        }
    }
    return {};
}

Result<void> checkFamilies(const Experiment& experiment) {
    for (int instance = 0; instance < experiment.instances(); ++instance) {
        const HostRef sender = experiment.endOf(instance, Side::Sender);
        const HostRef receiver = experiment.endOf(instance, Side::Receiver);
        // Where one receiver serves many, it is a sender that differs from the rest.
        const bool several = sender.number > 1 && receiver.number == 0;
        const HostRef odd = several ? sender : receiver;
        const HostRef facing = several ? receiver : sender;
        const QString& address = experiment.host(odd).address;
        const QString& other = experiment.host(facing).address;
        if (addressFamily(address) != addressFamily(other))
            return wrongHost(
                hostPath(odd) + QStringLiteral(".address"),
                QStringLiteral("%1 and the %2's %3 are not of one kind; use IPv4 or IPv6 "
                               "for both.")
                    .arg(address, sideName(facing.side), other));
    }
    return {};
}

} // namespace

Result<void> checkHosts(const Experiment& experiment) {
    if (auto ok = checkCounts(experiment); !ok)
        return ok;
    const QList<HostRef> refs = experiment.hostRefs();
    for (const HostRef ref : refs) {
        if (auto ok = checkHost(hostPath(ref), experiment.host(ref)); !ok)
            return ok;
    }
    for (qsizetype later = 0; later < refs.size(); ++later) {
        for (qsizetype earlier = 0; earlier < later; ++earlier) {
            if (auto ok = checkTwo(experiment, refs[earlier], refs[later]); !ok)
                return ok;
        }
    }
    for (const Side side : {Side::Sender, Side::Receiver}) {
        if (auto ok = checkAddresses(experiment, side); !ok)
            return ok;
    }
    return checkFamilies(experiment);
}

bool isAddress(const QString& text) {
    return addressFamily(text).has_value();
}

bool isInterfaceName(const QString& text) {
    // IFNAMSIZ is 16 with the final NUL; the kernel refuses "/" and white space.
    static const QRegularExpression name(QStringLiteral("\\A[^\\s/:\\p{C}]{1,15}\\z"));
    return name.match(text).hasMatch() && text != QLatin1String(".") && text != QLatin1String("..");
}

} // namespace knobscope
