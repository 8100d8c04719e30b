// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/result.h"

#include <QByteArray>
#include <QList>
#include <QStringList>

namespace knobscope {

/// One key that known_hosts has for the host that was asked for.
struct KnownKey {
    QString file;
    int line = 0;
    bool revoked = false;
    QByteArray type; ///< ssh-ed25519, ...
    QByteArray blob;

    [[nodiscard]] QString place() const { return QStringLiteral("%1:%2").arg(file).arg(line); }
};

/// What known_hosts says of a key that a host showed.
struct HostKeyVerdict {
    enum class State {
        Known,
        Unknown,   ///< nothing is known of this host
        Changed,   ///< a key of this type is known, and it is another one
        OtherType, ///< keys of other types are known, none of this type
        Revoked,
    };
    State state = State::Unknown;
    QString place; ///< file:line that decided
};

/// known_hosts files, read here rather than by libssh, which passes revoked keys and takes a
/// changed key for an unknown one after a line that it does not understand.
class KnownHosts {
public:
    /// Adds the lines of a file; one that does not exist adds none. HostUnusable when it exists
    /// and cannot be read.
    Result<void> addFile(const QString& path);
    void addContent(const QByteArray& content, const QString& path);

    /// All keys for a name as known_hosts spells it: "host", "[host]:port". Lines that are
    /// malformed, have an unknown marker, or name a certificate authority do not count.
    [[nodiscard]] QList<KnownKey> keysFor(const QString& name) const;

    /// How a host stands in known_hosts. Its alias is the name when it has one; else a host at
    /// another port than 22 has a name with the port, and a key known for the plain name will do
    /// too, as ssh has it.
    [[nodiscard]] static QString nameFor(const QString& host, int port, const QString& alias);
    [[nodiscard]] HostKeyVerdict check(const QString& host, int port, const QString& alias,
                                       const QByteArray& blob) const;
    [[nodiscard]] static HostKeyVerdict judge(const QList<KnownKey>& keys, const QByteArray& blob);
    /// The type that a public key names itself; empty when it is malformed.
    [[nodiscard]] static QByteArray typeOf(const QByteArray& blob);
    /// "SHA256:..." as ssh prints it.
    [[nodiscard]] static QString fingerprint(const QByteArray& blob);
    /// Adds a line to a known_hosts file, making file and folder when they are not there.
    [[nodiscard]] static Result<void> append(const QString& path, const QString& name,
                                             const QByteArray& blob, bool hashed);

private:
    struct Line {
        QString file;
        int number = 0;
        QByteArray text;
    };
    QList<Line> m_lines;
};

} // namespace knobscope
