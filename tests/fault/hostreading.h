// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "tests/lab/lab.h"

#include <QMap>
#include <QProcess>

namespace knobscope::test {

/// What is set on a host: every value by the name of what has it.
using HostValues = QMap<QString, QString>;

/// "sysctl tcp_autocorking is 0, was 1": each value that is not as it was. Empty: all are.
[[nodiscard]] QStringList differences(const HostValues& before, const HostValues& now);

/// Reads a host of a lab without anything of the product: /proc/sys, ip, ethtool, tc. Keeps one
/// shell inside the host, so that a reading takes some ms. One thread.
class HostReader {
public:
    explicit HostReader(const Lab::Host& host);
    ~HostReader();

    /// The knobs that the campaign moves and all others of the test interface. Empty: no answer.
    [[nodiscard]] HostValues read();
    /// What agents keep on the host about knobs that they have set.
    [[nodiscard]] QStringList journals();

private:
    [[nodiscard]] QStringList ask(const QByteArray& script);

    QProcess m_shell;
    QString m_interface;
};

} // namespace knobscope::test
