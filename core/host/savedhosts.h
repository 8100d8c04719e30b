// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/host/hostsession.h"

#include <QList>

#include <optional>

namespace knobscope {

/// A host that the user keeps under a name: how ssh gets there beyond what its own configuration
/// says, and what experiments use there. Empty fields are left to the ssh configuration.
struct SavedHost {
    QString name; ///< what experiments and commands call it
    QString ssh;  ///< address, or a name of the ssh configuration
    QString user;
    int port = 0;                 ///< 0: as configured
    QString key;                  ///< file of the private key, "~" is the home folder
    QString jump;                 ///< jump hosts as for ssh -J: "user@gate:22,inner"
    std::optional<SudoMode> sudo; ///< absent: as the program does with all hosts
    QString address;              ///< test address that experiments start from
    QString interface;            ///< test interface that experiments start from

    /// The host as an experiment has it.
    [[nodiscard]] HostSpec spec() const;
    /// "root@10.0.0.5:22 through gate": what is saved of the login.
    [[nodiscard]] QString login() const;
    bool operator==(const SavedHost&) const = default;
};

/// "none", "auto" and "password": how the file says it.
[[nodiscard]] QString sudoModeName(SudoMode mode);

/// knobscope/hosts.json in the user's folder of configurations; both programs use it.
[[nodiscard]] QString defaultSavedHostsPath();

/// Reads them in the order of the file; none when there is no file. BadInput that names the file
/// and what is wrong in it. Any thread.
[[nodiscard]] Result<QList<SavedHost>> readSavedHosts(const QString& path);

/// Writes all of them, or leaves the file as it was: Storage. Makes its folder. Any thread.
[[nodiscard]] Result<void> writeSavedHosts(const QString& path, const QList<SavedHost>& hosts);

/// What is wrong with one of them, as a form asks: BadInput whose message begins with the field,
/// as the file has it ("port: ...").
[[nodiscard]] Result<void> checkSavedHost(const SavedHost& host);

/// The saved host of that name. Errors as readSavedHosts(). `path` empty: none.
[[nodiscard]] Result<std::optional<SavedHost>> findSavedHost(const QString& path,
                                                             const QString& name);

} // namespace knobscope
