// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/trafficsetup.h"

#include <QByteArray>
#include <QRandomGenerator>

#include <array>

namespace knobscope {

protocol::TrafficConfig trafficConfig(const Experiment& experiment, const Cell& cell, Side side) {
    const QMap<QString, KnobValue> settings = testSettings(experiment, cell, side);
    const auto number = [&](const char* knob) -> std::optional<qint64> {
        const auto it = settings.constFind(QString::fromLatin1(knob));
        return it == settings.cend() ? std::nullopt : it->number;
    };
    const auto text = [&](const char* knob) -> std::optional<std::string> {
        const auto it = settings.constFind(QString::fromLatin1(knob));
        if (it == settings.cend() || it->isAuto())
            return std::nullopt;
        return it->text.toStdString();
    };

    protocol::TrafficConfig config;
    config.kind = experiment.test.kind.toStdString();
    config.seconds = experiment.test.seconds;
    config.warmup_seconds = experiment.test.warmupSeconds;
    config.direction = text("direction").value_or(config.direction);
    config.streams = static_cast<int>(number("streams").value_or(config.streams));
    config.message_size = number("message_size").value_or(config.message_size);
    config.request_size = number("request_size").value_or(config.request_size);
    config.response_size = number("response_size").value_or(config.response_size);
    config.burst = static_cast<int>(number("burst").value_or(config.burst));
    config.window = number("window");
    if (const auto mss = number("mss"))
        config.mss = static_cast<int>(*mss);
    config.nodelay = text("nodelay") == "on";
    if (const auto cpu = number("cpu"))
        config.cpu = static_cast<int>(*cpu);
    config.congestion_control = text("congestion_control");
    return config;
}

bool trafficFromReceiver(const Experiment& experiment, const Cell& cell) {
    return testSettings(experiment, cell, Side::Sender).value(QStringLiteral("direction")).text ==
           QLatin1String("from_receiver");
}

std::string newToken() {
    std::array<quint32, 4> words{};
    QRandomGenerator::system()->fillRange(words.data(), static_cast<qsizetype>(words.size()));
    return QByteArray(reinterpret_cast<const char*>(words.data()), sizeof(words))
        .toHex()
        .toStdString();
}

std::vector<protocol::KnobSetting> knobSettings(const Experiment& experiment, const Cell& cell,
                                                Side side) {
    std::vector<protocol::KnobSetting> settings;
    for (const SideSetting& setting : hostSettings(experiment, cell)) {
        if (setting.side != side)
            continue;
        settings.push_back({setting.knob.toStdString(),
                            experiment.host(side).interface.toStdString(),
                            setting.value.plain().toStdString()});
    }
    return settings;
}

} // namespace knobscope
