// SPDX-License-Identifier: GPL-3.0-or-later
#include "db/columns.h"

namespace knobscope {

int sideCode(Side side) {
    switch (side) {
    case Side::Whole:
        return 0;
    case Side::Sender:
        return 1;
    case Side::Receiver:
        return 2;
    case Side::Both:
        return 3;
    }
    return 0;
}

std::optional<Side> sideFromCode(qint64 code) {
    switch (code) {
    case 0:
        return Side::Whole;
    case 1:
        return Side::Sender;
    case 2:
        return Side::Receiver;
    case 3:
        return Side::Both;
    default:
        return std::nullopt;
    }
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
