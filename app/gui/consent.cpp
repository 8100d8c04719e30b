// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/consent.h"

#include <QCryptographicHash>
#include <QSettings>

namespace knobscope {

namespace {

/// The lines themselves are in the experiment; any change of one makes another key.
QString keyOf(const QStringList& lines) {
    const QByteArray text = lines.join(QLatin1Char('\n')).toUtf8();
    return QStringLiteral("commands/") +
           QString::fromLatin1(QCryptographicHash::hash(text, QCryptographicHash::Sha256).toHex());
}

QSettings settings() {
    return QSettings(QStringLiteral("knobscope"), QStringLiteral("knobscope"));
}

} // namespace

bool commandsAllowed(const Experiment& experiment) {
    const QStringList lines = commandLines(experiment);
    return lines.isEmpty() || settings().value(keyOf(lines)).toBool();
}

void allowCommands(const Experiment& experiment) {
    settings().setValue(keyOf(commandLines(experiment)), true);
}

} // namespace knobscope
