// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/host/knownhosts.h"

#include <QCryptographicHash>
#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QMessageAuthenticationCode>
#include <QRandomGenerator>
#include <QtEndian>

#include <optional>

namespace knobscope {

namespace {

/// More than any known_hosts file has; keeps a wrong path from filling memory.
constexpr qint64 kMaxFileBytes = 64 << 20;

std::optional<QByteArray> fromBase64(const QByteArray& text) {
    const auto result =
        QByteArray::fromBase64Encoding(text, QByteArray::AbortOnBase64DecodingErrors);
    if (!result || result.decoded.isEmpty())
        return std::nullopt;
    return result.decoded;
}

QByteArray hashName(const QByteArray& salt, const QByteArray& name) {
    return QMessageAuthenticationCode::hash(name, salt, QCryptographicHash::Sha1);
}

/// * and ? as ssh has them; brackets mean themselves.
bool globMatches(QByteArrayView pattern, QByteArrayView name) {
    qsizetype p = 0;
    qsizetype n = 0;
    qsizetype star = -1;
    qsizetype resume = 0;
    while (n < name.size()) {
        if (p < pattern.size() &&
            (pattern[p] == '?' || (pattern[p] == name[n] && pattern[p] != '*'))) {
            ++p;
            ++n;
        } else if (p < pattern.size() && pattern[p] == '*') {
            star = p++;
            resume = n;
        } else if (star >= 0) {
            p = star + 1;
            n = ++resume;
        } else {
            return false;
        }
    }
    while (p < pattern.size() && pattern[p] == '*')
        ++p;
    return p == pattern.size();
}

bool hashedMatches(const QByteArray& field, const QByteArray& name) {
    const QList<QByteArray> parts = field.split('|'); // "", "1", salt, hash
    if (parts.size() != 4 || parts[1] != "1")
        return false;
    const auto salt = fromBase64(parts[2]);
    const auto hash = fromBase64(parts[3]);
    return salt && hash && hashName(*salt, name) == *hash;
}

/// The first field of a line; a negated pattern that matches outweighs all others.
bool fieldMatches(const QByteArray& field, const QByteArray& name) {
    const QByteArray lower = name.toLower();
    if (field.startsWith('|'))
        return hashedMatches(field, name) || hashedMatches(field, lower);
    bool matches = false;
    for (const QByteArray& one : field.toLower().split(',')) {
        if (one.startsWith('!')) {
            if (globMatches(QByteArrayView(one).sliced(1), lower))
                return false;
        } else if (!one.isEmpty() && globMatches(one, lower)) {
            matches = true;
        }
    }
    return matches;
}

QList<QByteArray> fieldsOf(const QByteArray& line) {
    return line.simplified().split(' ');
}

} // namespace

Result<void> KnownHosts::addFile(const QString& path) {
    QFile file(path);
    if (!file.exists())
        return {};
    if (!file.open(QIODevice::ReadOnly))
        return fail(
            Error::Code::HostUnusable, QStringLiteral("cannot read %1").arg(path),
            QStringLiteral("%1; host keys cannot be checked without it").arg(file.errorString()));
    addContent(file.read(kMaxFileBytes), path);
    return {};
}

void KnownHosts::addContent(const QByteArray& content, const QString& path) {
    int number = 0;
    for (const QByteArray& text : content.split('\n'))
        m_lines << Line{path, ++number, text};
}

QList<KnownKey> KnownHosts::keysFor(const QString& name) const {
    const QByteArray wanted = name.toUtf8();
    QList<KnownKey> keys;
    for (const Line& line : m_lines) {
        QList<QByteArray> fields = fieldsOf(line.text);
        if (fields.isEmpty() || fields[0].isEmpty() || fields[0].startsWith('#'))
            continue;
        KnownKey key{line.file, line.number, false, {}, {}};
        if (fields[0].startsWith('@')) {
            if (fields[0] != "@revoked")
                continue;
            key.revoked = true;
            fields.removeFirst();
        }
        if (fields.size() < 3 || !fieldMatches(fields[0], wanted))
            continue;
        const auto blob = fromBase64(fields[2]);
        if (!blob || typeOf(*blob) != fields[1])
            continue;
        key.type = fields[1];
        key.blob = *blob;
        keys << key;
    }
    return keys;
}

QString KnownHosts::nameFor(const QString& host, int port, const QString& alias) {
    if (!alias.isEmpty())
        return alias;
    return port == 22 ? host.toLower() : QStringLiteral("[%1]:%2").arg(host.toLower()).arg(port);
}

HostKeyVerdict KnownHosts::check(const QString& host, int port, const QString& alias,
                                 const QByteArray& blob) const {
    using State = HostKeyVerdict::State;
    const HostKeyVerdict verdict = judge(keysFor(nameFor(host, port, alias)), blob);
    if (!alias.isEmpty() || port == 22 || verdict.state == State::Revoked)
        return verdict;
    // The plain name may belong to another sshd with another key: only what speaks for or
    // outright against this very key counts.
    const HostKeyVerdict plain = judge(keysFor(host), blob);
    const bool counts = plain.state == State::Revoked ||
                        (plain.state == State::Known && verdict.state == State::Unknown);
    return counts ? plain : verdict;
}

HostKeyVerdict KnownHosts::judge(const QList<KnownKey>& keys, const QByteArray& blob) {
    using State = HostKeyVerdict::State;
    HostKeyVerdict verdict;
    const QByteArray type = typeOf(blob);
    for (const KnownKey& key : keys) {
        if (key.revoked) {
            if (key.blob == blob)
                return {State::Revoked, key.place()};
            continue;
        }
        if (verdict.state == State::Known)
            continue;
        if (key.blob == blob)
            verdict = {State::Known, key.place()};
        else if (key.type == type && verdict.state != State::Changed)
            verdict = {State::Changed, key.place()};
        else if (verdict.state == State::Unknown)
            verdict = {State::OtherType, key.place()};
    }
    return verdict;
}

QByteArray KnownHosts::typeOf(const QByteArray& blob) {
    if (blob.size() < 8)
        return {};
    const auto length = qFromBigEndian<quint32>(blob.constData());
    if (length == 0 || length > 64 || qsizetype(length) + 4 >= blob.size())
        return {};
    return blob.mid(4, qsizetype(length));
}

QString KnownHosts::fingerprint(const QByteArray& blob) {
    const QByteArray hash = QCryptographicHash::hash(blob, QCryptographicHash::Sha256);
    return QStringLiteral("SHA256:") +
           QString::fromLatin1(hash.toBase64(QByteArray::OmitTrailingEquals));
}

Result<void> KnownHosts::append(const QString& path, const QString& name, const QByteArray& blob,
                                bool hashed) {
    const auto failed = [&path](const QString& why) {
        return fail(Error::Code::HostUnusable,
                    QStringLiteral("cannot add the host key to %1").arg(path), why);
    };
    const QFileInfo info(path);
    if (!info.dir().exists()) {
        if (!QDir().mkpath(info.path()))
            return failed(QStringLiteral("its folder cannot be made"));
        QFile::setPermissions(info.path(), QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
    }
    QByteArray field = name.toUtf8();
    if (hashed) {
        QByteArray salt(20, '\0');
        QRandomGenerator::system()->fillRange(reinterpret_cast<quint32*>(salt.data()), 5);
        field = "|1|" + salt.toBase64() + '|' + hashName(salt, field).toBase64();
    }
    const bool fresh = !info.exists();
    QFile file(path);
    if (!file.open(QIODevice::ReadWrite | QIODevice::Append))
        return failed(file.errorString());
    if (fresh)
        file.setPermissions(QFile::ReadOwner | QFile::WriteOwner);
    QByteArray line = field + ' ' + typeOf(blob) + ' ' + blob.toBase64() + '\n';
    if (file.size() > 0 && file.seek(file.size() - 1) && file.read(1) != "\n")
        line.prepend('\n');
    if (file.write(line) != line.size() || !file.flush())
        return failed(file.errorString());
    return {};
}

} // namespace knobscope
