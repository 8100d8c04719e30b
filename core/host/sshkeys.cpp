// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/host/sshkeys.h"

#include "core/host/knownhosts.h"

#include <QFile>
#include <QFileInfo>
#include <QtEndian>

namespace knobscope {

namespace {

constexpr qint64 kMaxKeyFile = 1 << 20;

SshKey owned(ssh_key key) {
    return SshKey(key, ssh_key_free);
}

/// Called when a file needs a passphrase and none was given; without it OpenSSL would ask on the
/// terminal.
int noteLocked(const char*, char*, size_t, int, int, void* locked) {
    *static_cast<bool*>(locked) = true;
    return -1;
}

/// Takes a field (length and bytes) from the front, with its length; empty at the end.
QByteArray takeField(QByteArrayView& from) {
    if (from.size() < 4)
        return {};
    const auto length = qsizetype(qFromBigEndian<quint32>(from.data()));
    if (length > from.size() - 4)
        return {};
    const QByteArray field = from.first(4 + length).toByteArray();
    from = from.sliced(4 + length);
    return field;
}

QByteArray withLength(const QByteArray& text) {
    QByteArray field(4, '\0');
    qToBigEndian(quint32(text.size()), field.data());
    return field + text;
}

/// How many fields the public key of a certificate has.
int keyFieldsOf(const QByteArray& plainType) {
    if (plainType == "ssh-ed25519")
        return 1;
    if (plainType == "ssh-rsa" || plainType.startsWith("ecdsa-sha2-") ||
        plainType == "sk-ssh-ed25519@openssh.com")
        return 2;
    if (plainType == "sk-ecdsa-sha2-nistp256@openssh.com")
        return 3;
    return 0;
}

} // namespace

SshKey loadPrivateKey(const QString& file, const char* passphrase, bool* locked) {
    bool needed = false;
    ssh_key key = nullptr;
    ssh_pki_import_privkey_file(QFile::encodeName(file).constData(), passphrase, noteLocked,
                                &needed, &key);
    if (locked)
        *locked = needed && !key;
    return owned(key);
}

SshKey publicKeyOf(const QByteArray& blob) {
    const QByteArray type = KnownHosts::typeOf(blob);
    ssh_key key = nullptr;
    const auto kind = ssh_key_type_from_name(type.constData());
    if (kind != SSH_KEYTYPE_UNKNOWN)
        ssh_pki_import_pubkey_base64(blob.toBase64().constData(), kind, &key);
    return owned(key);
}

QByteArray blobOf(ssh_key key) {
    char* text = nullptr;
    QByteArray blob;
    if (key && ssh_pki_export_pubkey_base64(key, &text) == SSH_OK)
        blob = QByteArray::fromBase64(text);
    ssh_string_free_char(text);
    return blob;
}

QByteArray publicBlobOf(const SshKey& key) {
    ssh_key exported = nullptr;
    if (key)
        ssh_pki_export_privkey_to_pubkey(key.get(), &exported);
    return blobOf(owned(exported).get());
}

QByteArray readPublicKey(const QString& file) {
    if (!QFileInfo(file).isFile())
        return {};
    ssh_key key = nullptr;
    // Also reads the public half of a private key in OpenSSH's own format.
    if (ssh_pki_import_pubkey_file(QFile::encodeName(file).constData(), &key) == SSH_OK)
        return blobOf(owned(key).get());
    // A kind that libssh lacks; the ssh-agent may know it.
    QFile open(file);
    if (!open.open(QIODevice::ReadOnly))
        return {};
    const QList<QByteArray> words = open.read(kMaxKeyFile).simplified().split(' ');
    const QByteArray blob = QByteArray::fromBase64(words.value(1));
    return KnownHosts::typeOf(blob) == words.value(0) ? blob : QByteArray();
}

QByteArray plainKeyOf(const QByteArray& blob) {
    static const QByteArray kMark = "-cert-v01@openssh.com";
    const QByteArray type = KnownHosts::typeOf(blob);
    if (!type.endsWith(kMark))
        return blob;
    QByteArray plainType = type.chopped(kMark.size());
    if (plainType.startsWith("sk-"))
        plainType += "@openssh.com";
    QByteArrayView rest(blob);
    (void)takeField(rest); // the type
    (void)takeField(rest); // the nonce
    QByteArray plain = withLength(plainType);
    const int fields = keyFieldsOf(plainType);
    for (int i = 0; i < fields; ++i) {
        const QByteArray field = takeField(rest);
        if (field.isEmpty())
            return {};
        plain += field;
    }
    return fields > 0 ? plain : QByteArray();
}

QList<QByteArray> certificatesOf(const SshConfig& config) {
    QList<QByteArray> certificates;
    for (const QString& name : config.certificateFiles) {
        const QByteArray blob = readPublicKey(config.expanded(name));
        if (!blob.isEmpty() && plainKeyOf(blob) != blob)
            certificates << blob;
    }
    return certificates;
}

QList<Identity> fileIdentities(const SshConfig& config, QStringList& unusable) {
    QList<Identity> identities;
    const QList<QByteArray> certificates = certificatesOf(config);
    for (const QString& name : config.identityFiles) {
        Identity alone;
        alone.label = alone.file = config.expanded(name);
        const bool isFile = QFileInfo(alone.file).isFile();
        alone.plain = readPublicKey(alone.file + QStringLiteral(".pub"));
        if (!isFile && alone.plain.isEmpty())
            continue;
        if (isFile)
            alone.key = loadPrivateKey(alone.file, nullptr, &alone.locked);
        // The file's own public half counts: the one beside it may be of another key.
        if (const QByteArray own = alone.key ? publicBlobOf(alone.key) : readPublicKey(alone.file);
            !own.isEmpty())
            alone.plain = own;
        alone.shown = alone.plain;
        if (!alone.key && !alone.locked) {
            alone.file.clear(); // only the ssh-agent can use it, if that
            if (alone.plain.isEmpty()) {
                unusable << QStringLiteral("%1 (not readable as a key)").arg(alone.label);
                continue;
            }
        }
        QList<QByteArray> matching;
        const QByteArray beside = readPublicKey(alone.label + QStringLiteral("-cert.pub"));
        for (const QByteArray& one : certificates + QList<QByteArray>{beside}) {
            if (!one.isEmpty() && plainKeyOf(one) != one && plainKeyOf(one) == alone.plain)
                matching << one;
        }
        for (const QByteArray& one : matching) {
            Identity certified = alone;
            certified.label += QStringLiteral(" with its certificate");
            certified.certificate = certified.shown = one;
            // It will carry the certificate, so the key alone needs one of its own.
            if (alone.key)
                certified.key = loadPrivateKey(alone.file, nullptr);
            identities << certified;
        }
        identities << alone;
    }
    return identities;
}

} // namespace knobscope
