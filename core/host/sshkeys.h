// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/host/sshconfig.h"

#include <memory>

#include <libssh/libssh.h>

namespace knobscope {

using SshKey = std::shared_ptr<ssh_key_struct>;

/// One way to log in by public key: a key of its own, or with a certificate for it.
struct Identity {
    QString label;          ///< for texts: the file, or the comment in the ssh-agent
    QByteArray shown;       ///< what the host is offered; empty: known once the file is open
    QByteArray plain;       ///< the public key itself
    QByteArray certificate; ///< empty: none; else the same as shown
    QString file;           ///< of the private key; empty: only the ssh-agent has it
    bool locked = false;    ///< the file needs a passphrase
    SshKey key;             ///< the private key, once the file is open
};

/// The private key of a file. Nothing when the passphrase is wrong, or is missing: then `locked` is
/// set; or when the file has no private key.
[[nodiscard]] SshKey loadPrivateKey(const QString& file, const char* passphrase,
                                    bool* locked = nullptr);
/// A key for libssh out of a public key or certificate; nothing for kinds that libssh lacks.
[[nodiscard]] SshKey publicKeyOf(const QByteArray& blob);
/// The public key as it travels; of a certificate the certificate.
[[nodiscard]] QByteArray blobOf(ssh_key key);
/// The public part of a private key.
[[nodiscard]] QByteArray publicBlobOf(const SshKey& key);
/// A key line of a file such as id_ed25519.pub or id_ed25519-cert.pub; empty: there is none.
[[nodiscard]] QByteArray readPublicKey(const QString& file);
/// The public key that a certificate is for (PROTOCOL.certkeys of OpenSSH); the blob itself when it
/// is no certificate; empty for kinds that are not known.
[[nodiscard]] QByteArray plainKeyOf(const QByteArray& blob);

/// The identity files of the configuration that exist, in order, each first with its certificates
/// (CertificateFile, FILE-cert.pub), then alone. `unusable` gets those that are no keys.
[[nodiscard]] QList<Identity> fileIdentities(const SshConfig& config, QStringList& unusable);
/// The certificates of the configuration.
[[nodiscard]] QList<QByteArray> certificatesOf(const SshConfig& config);

} // namespace knobscope
