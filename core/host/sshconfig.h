// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/host/patience.h"
#include "core/result.h"

#include <QByteArray>
#include <QStringList>

namespace knobscope {

/// What the user typed for a host.
struct SshTarget {
    QString host;
    QString user;      ///< empty: as configured
    int port = 0;      ///< 0: as configured
    QString key = {};  ///< file of a private key, tried before the configured ones
    QString jump = {}; ///< jump hosts, in place of the configured ones; both come from no text

    /// "host1", "user@host1" or "ssh://user@host1:2222". BadInput for anything else, above all for
    /// names that ssh would take for an option.
    static Result<SshTarget> parse(const QString& text);
    /// One hop of a ProxyJump: "host", "user@host:port", "[address]:port" or an ssh:// address.
    static Result<SshTarget> parseJump(const QString& text);
};

/// How to reach a host: the user's ssh configuration as `ssh -G` resolves it. libssh's own reader
/// of ssh_config is not used, as it knows only a part of what OpenSSH does.
struct SshConfig {
    QString name; ///< as typed, for texts and %n
    QString hostname;
    int port = 22;
    QString user;
    QString addressFamily; ///< any, inet, inet6
    QString bindAddress;
    QString hostKeyAlias;
    QStringList identityFiles;
    QStringList certificateFiles;
    bool identitiesOnly = false;
    QString identityAgent; ///< path, "none", or empty: $SSH_AUTH_SOCK
    bool pubkeyAuthentication = true;
    bool passwordAuthentication = true;
    bool kbdInteractiveAuthentication = true;
    bool batchMode = false;  ///< the user is never asked
    int passwordPrompts = 3; ///< so often the user is asked for the same
    QStringList userKnownHosts;
    QStringList globalKnownHosts;
    QString revokedHostKeys;
    bool hashKnownHosts = false;
    bool acceptNew = false; ///< StrictHostKeyChecking accept-new or no
    bool refuseNew = false; ///< StrictHostKeyChecking yes: the user is not asked
    QString hostKeyAlgorithms;
    QString kexAlgorithms;
    QString ciphers;
    QString macs;
    QString proxyJump;
    QString proxyCommand;
    bool proxyPassesSocket = false; ///< ProxyUseFdpass
    int connectTimeoutSeconds = 0;  ///< 0: not configured

    /// Reads the output of ssh -G. HostUnusable when it lacks host, port or user.
    static Result<SshConfig> parse(const QByteArray& output, const QString& name);
    /// Runs ssh -G. `file` as for ssh -F; empty: the user's own.
    static Result<SshConfig> resolve(const SshTarget& target, const QString& file,
                                     const Patience& patience);

    /// Replaces ~ and the % tokens of ssh_config(5) in a path.
    [[nodiscard]] QString expanded(const QString& path) const;
    /// Replaces the % tokens only.
    [[nodiscard]] QString expandedTokens(const QString& text) const;
    /// "user@address:port": the login, whatever the host is called.
    [[nodiscard]] QString account() const;
};

} // namespace knobscope
