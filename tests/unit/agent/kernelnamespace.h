// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QProcess>
#include <QString>
#include <QStringList>

/// A network namespace for tests that set real knobs, and independent witnesses in it.
namespace knobscope::test {

/// Moves the process into a network namespace of its own; call it first thing in main(), before
/// there are threads. Without root it makes a user namespace in which it is root. False: errno.
[[nodiscard]] bool enterOwnNetwork();

/// After enterOwnNetwork(): moves the process into a mount namespace of its own in which /sys shows
/// that network. False: errno.
[[nodiscard]] bool mountOwnSysfs();

/// Runs a program and gives what it printed; an empty text and a warning when it failed.
[[nodiscard]] QByteArray witness(const QString& program, const QStringList& arguments);

} // namespace knobscope::test
