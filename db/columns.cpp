// SPDX-License-Identifier: GPL-3.0-or-later
#include "db/columns.h"

#include <algorithm>
#include <iterator>

namespace knobscope {

namespace {

constexpr int kSides = 4;
constexpr Side kByCode[kSides] = {Side::Whole, Side::Sender, Side::Receiver, Side::Both};

} // namespace

int sideCode(HostRef host) {
    const auto* const side = std::find(std::begin(kByCode), std::end(kByCode), host.side);
    return static_cast<int>(side - std::begin(kByCode)) % kSides + kSides * host.number;
}

std::optional<HostRef> hostFromCode(qint64 code) {
    if (code < 0 || code >= kSides * (kMaxHosts + 1))
        return std::nullopt;
    const HostRef host(kByCode[code % kSides], static_cast<int>(code / kSides));
    const bool ofSide = host.side == Side::Sender || host.side == Side::Receiver;
    return host.number == 0 || ofSide ? std::optional(host) : std::nullopt;
}

QString sampleStateText(SampleState state) {
    switch (state) {
    case SampleState::Done:
        return QStringLiteral("done");
    case SampleState::Flagged:
        return QStringLiteral("flagged");
    case SampleState::Failed:
        break;
    }
    return QStringLiteral("failed");
}

std::optional<SampleState> sampleStateFromText(const QString& text) {
    for (const SampleState state : {SampleState::Done, SampleState::Flagged, SampleState::Failed}) {
        if (sampleStateText(state) == text)
            return state;
    }
    return std::nullopt;
}

QVariant sqlTime(const QDateTime& time) {
    return time.isValid() ? QVariant(time.toMSecsSinceEpoch())
                          : QVariant(QMetaType::fromType<qint64>());
}

QDateTime timeFromSql(const QVariant& value) {
    return value.isNull() ? QDateTime()
                          : QDateTime::fromMSecsSinceEpoch(value.toLongLong(), Qt::UTC);
}

} // namespace knobscope
