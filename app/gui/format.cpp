// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/format.h"

#include "core/model/knob.h"

#include <QCoreApplication>
#include <QMap>
#include <QRegularExpression>

#include <cmath>

namespace knobscope {

QString absentText() {
    return QStringLiteral("–");
}

QString durationText(double seconds) {
    if (!std::isfinite(seconds) || seconds < 0)
        return absentText();
    const auto whole = static_cast<qint64>(std::llround(std::ceil(seconds)));
    if (whole < 60)
        return QStringLiteral("%1 s").arg(whole);
    if (whole < 3600)
        return QStringLiteral("%1 min %2 s")
            .arg(whole / 60)
            .arg(whole % 60, 2, 10, QLatin1Char('0'));
    return QStringLiteral("%1 h %2 min")
        .arg(whole / 3600)
        .arg(whole % 3600 / 60, 2, 10, QLatin1Char('0'));
}

QString numberText(double value) {
    if (!std::isfinite(value))
        return absentText();
    if (value == std::trunc(value) && std::abs(value) < 1e15)
        return QString::number(value, 'f', 0);
    if (std::abs(value) >= 1000)
        return QString::number(value, 'f', 0);
    return QString::number(value, 'g', 4);
}

QString numberText(const std::optional<double>& value) {
    return value ? numberText(*value) : absentText();
}

QString timeText(const QDateTime& time) {
    return time.isValid() ? time.toLocalTime().toString(QStringLiteral("yyyy-MM-dd HH:mm:ss"))
                          : absentText();
}

QString testKindTitle(const QString& kind) {
    static const QMap<QString, QString> titles = {
        {QStringLiteral("tcp_stream"), QCoreApplication::translate("Format", "TCP stream")},
        {QStringLiteral("tcp_rr"), QCoreApplication::translate("Format", "TCP request/response")},
        {QStringLiteral("tcp_crr"),
         QCoreApplication::translate("Format", "TCP connect/request/response")},
        {QStringLiteral("udp_stream"), QCoreApplication::translate("Format", "UDP stream")},
        {QStringLiteral("udp_rr"), QCoreApplication::translate("Format", "UDP request/response")}};
    return titles.value(kind, kind);
}

QString knobTitle(const QString& knob) {
    const auto info = knobInfo(knob);
    return info ? info->title : knob;
}

QString unbroken(QString text) {
    static const QRegularExpression quantity(QStringLiteral("(\\d) ([^\\s\\d/]+)/s\\b"));
    return text.replace(quantity, QStringLiteral("\\1\u00a0\\2\u2060/\u2060s"));
}

QString breakable(const QString& text) {
    constexpr qsizetype kLongWord = 40;
    static const QRegularExpression longWord(QStringLiteral("\\S{%1,}").arg(kLongWord));
    static const QRegularExpression place(QStringLiteral("([/,;:=&_.-]|\\w{30})"));
    QString result;
    qsizetype from = 0;
    for (auto match = longWord.globalMatch(text); match.hasNext();) {
        const QRegularExpressionMatch word = match.next();
        result += text.mid(from, word.capturedStart() - from);
        result += word.captured().replace(place, QStringLiteral("\\1\u200b"));
        from = word.capturedEnd();
    }
    return result + text.mid(from);
}

} // namespace knobscope
