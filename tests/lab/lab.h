// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QByteArray>
#include <QList>
#include <QString>
#include <QStringList>

namespace knobscope::test {

/// A lab of its own for one test program: hosts with real sshds, made by a script beside this file
/// (which says what such hosts are). Call up() in initTestCase(); the destructor takes the lab
/// down. The name is unique to the process, so test programs run side by side; a lab whose program
/// was killed does not stay. Needs root.
/// One thread. Calls block, each for 60 s at most; up() for longer where packages are fetched.
class Lab {
public:
    /// What the hosts are made of.
    enum class Kind {
        Namespaces, ///< script `lab`: quick, with the kernel of this machine and no real drivers
        Machine,    ///< script `vmlab`: emulated network cards under real drivers
    };
    struct Host {
        QString name;             ///< "host1", also its name in sshConfig(); logs in as root
        QString userAlias;        ///< "user1" in sshConfig(): the same host, an ordinary user;
                                  ///< empty: there is none
        QString controlAddress;   ///< where its sshd listens
        QString controlInterface; ///< "ctl0"
        QString testAddress;
        QString testInterface; ///< "test0"; of a machine, the driver and a number: "igb1"
        QString hostKey;       ///< "ssh-ed25519 AAAA..."
        qint64 pid = 0;        ///< of its process 1, as this machine numbers it; 0: not here
    };
    /// What a program said. `status` is -1 when it did not start, crashed, or took too long.
    struct Output {
        int status = -1;
        QByteArray out;
        QByteArray err;
        [[nodiscard]] bool ok() const { return status == 0; }
    };

    explicit Lab(Kind kind = Kind::Namespaces);
    ~Lab();
    Lab(const Lab&) = delete;
    Lab& operator=(const Lab&) = delete;

    /// `options` are those of the script's `up`, such as {"--rate", "1gbit"}. False: error() says
    /// why.
    [[nodiscard]] bool up(const QStringList& options = {});
    void down();
    [[nodiscard]] bool isUp() const { return !m_hosts.isEmpty(); }
    [[nodiscard]] QString error() const { return m_error; }

    [[nodiscard]] const QList<Host>& hosts() const { return m_hosts; }
    /// By number from 0: hosts().at(0) is "host1".
    [[nodiscard]] const Host& host(int number) const { return m_hosts.at(number); }
    [[nodiscard]] QString name() const { return m_name; }
    [[nodiscard]] QString sshConfig() const { return m_sshConfig; }
    [[nodiscard]] QString identity() const { return m_identity; }
    [[nodiscard]] QString knownHosts() const { return m_knownHosts; }

    /// Runs a program inside a host ("host1"); without SSH, but of a machine.
    [[nodiscard]] Output exec(const QString& host, const QStringList& command,
                              int timeoutMs = 60000) const;

    // Of namespaces only.

    /// Plugs or pulls the host's control network; nothing is told to either end.
    [[nodiscard]] bool setControlLink(const QString& host, bool up) const;
    /// What the switch of the test network forwards to the host; larger packets it drops without a
    /// word. It takes any size at first.
    [[nodiscard]] bool setTestPathMtu(const QString& host, const QString& mtu) const;
    /// Starts the host's sshd, or kills it with all its sessions (not what they started).
    [[nodiscard]] bool setSshd(const QString& host, bool running) const;
    /// Processes of the host whose command line matches (POSIX extended), by this machine's
    /// numbers, so that a test can kill() them.
    [[nodiscard]] QList<qint64> pids(const QString& host, const QString& pattern) const;

private:
    [[nodiscard]] Output run(const QStringList& arguments, int timeoutMs = 60000) const;
    bool parse(const QByteArray& json);

    const Kind m_kind;
    QString m_name;
    QString m_error;
    QString m_sshConfig;
    QString m_identity;
    QString m_knownHosts;
    QList<Host> m_hosts;
};

} // namespace knobscope::test
