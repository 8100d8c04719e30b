// SPDX-License-Identifier: GPL-3.0-or-later
#include "knobfixture.h"

#include "agentprocess.h"

#include <QFile>
#include <QRegularExpression>

using knobscope::Json;

Json setting(const char* name, const char* value, const char* interface) {
    return {{"name", name}, {"interface", interface}, {"value", value}};
}

bool writeSysctl(const char* path, const QByteArray& value) {
    QFile file(QLatin1String("/proc/sys/") + QLatin1String(path));
    return file.open(QIODevice::WriteOnly | QIODevice::Unbuffered) &&
           file.write(value) == value.size();
}

QByteArray loopbackMtu() {
    QProcess ip;
    ip.start("ip", {"-o", "link", "show", "lo"});
    ip.waitForFinished();
    return QRegularExpression("mtu (\\d+)")
        .match(QString::fromUtf8(ip.readAll()))
        .captured(1)
        .toLatin1();
}

KnobValues KnobValues::now() {
    return {readSysctl(kLimit), readSysctl(kCorking), loopbackMtu()};
}

QString KnobValues::text() const {
    return QString::fromUtf8("limit " + limit + ", corking " + corking + ", mtu " + mtu);
}
