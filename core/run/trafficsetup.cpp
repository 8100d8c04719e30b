// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/trafficsetup.h"

#include <QByteArray>
#include <QRandomGenerator>

#include <array>

namespace knobscope {

namespace {

using protocol::TrafficConfig;

/// Where a test knob's number goes. Words such as "auto" and "none" leave the field as it is.
template<typename Field>
struct NumberField {
    const char* knob;
    Field TrafficConfig::*field;
};

constexpr NumberField<int> kInts[] = {{"streams", &TrafficConfig::streams},
                                      {"threads", &TrafficConfig::threads},
                                      {"burst", &TrafficConfig::burst},
                                      {"spin", &TrafficConfig::spin}};
constexpr NumberField<std::int64_t> kWide[] = {
    {"message_size", &TrafficConfig::message_size},
    {"receive_size", &TrafficConfig::receive_size},
    {"request_size", &TrafficConfig::request_size},
    {"response_size", &TrafficConfig::response_size},
    {"limit_bytes", &TrafficConfig::limit_bytes},
    {"limit_transactions", &TrafficConfig::limit_transactions}};
constexpr NumberField<double> kReals[] = {{"pace", &TrafficConfig::pace},
                                          {"rate", &TrafficConfig::rate}};
constexpr NumberField<std::optional<int>> kOptionalInts[] = {
    {"mss", &TrafficConfig::mss},           {"tos", &TrafficConfig::tos},
    {"ttl", &TrafficConfig::ttl},           {"priority", &TrafficConfig::priority},
    {"cpu", &TrafficConfig::cpu},           {"numa_node", &TrafficConfig::numa_node},
    {"realtime", &TrafficConfig::realtime}, {"busy_poll", &TrafficConfig::busy_poll}};
constexpr NumberField<std::optional<std::int64_t>> kOptionalWide[] = {
    {"window", &TrafficConfig::window},
    {"send_window", &TrafficConfig::send_window},
    {"receive_window", &TrafficConfig::receive_window},
    {"notsent_lowat", &TrafficConfig::notsent_lowat},
    {"rcvlowat", &TrafficConfig::rcvlowat}};
constexpr NumberField<bool> kSwitches[] = {{"nodelay", &TrafficConfig::nodelay},
                                           {"cork", &TrafficConfig::cork},
                                           {"udp_gso", &TrafficConfig::udp_gso},
                                           {"udp_gro", &TrafficConfig::udp_gro}};
constexpr NumberField<std::string> kWords[] = {{"direction", &TrafficConfig::direction},
                                               {"close", &TrafficConfig::close},
                                               {"send_method", &TrafficConfig::send_method},
                                               {"receive_method", &TrafficConfig::receive_method}};

/// The settings of one side, and where each goes.
class Settings {
public:
    explicit Settings(const QMap<QString, KnobValue>& settings) : m_settings(settings) {}

    [[nodiscard]] std::optional<qint64> number(const char* knob) const {
        const auto it = m_settings.constFind(QString::fromLatin1(knob));
        return it == m_settings.cend() ? std::nullopt : it->number;
    }
    [[nodiscard]] std::optional<std::string> text(const char* knob) const {
        const auto it = m_settings.constFind(QString::fromLatin1(knob));
        if (it == m_settings.cend() || it->isAuto())
            return std::nullopt;
        return it->text.toStdString();
    }
    template<typename Field, std::size_t N>
    void put(TrafficConfig& config, const NumberField<Field> (&fields)[N]) const {
        for (const auto& [knob, field] : fields) {
            if (const auto value = number(knob)) {
                if constexpr (std::is_same_v<Field, std::optional<int>>)
                    config.*field = static_cast<int>(*value);
                else
                    config.*field = static_cast<Field>(*value);
            }
        }
    }

private:
    const QMap<QString, KnobValue>& m_settings;
};

} // namespace

protocol::TrafficConfig trafficConfig(const Experiment& experiment, const Cell& cell,
                                      HostRef host) {
    const QMap<QString, KnobValue> knobs = testSettings(experiment, cell, host.side);
    const Settings settings(knobs);
    TrafficConfig config;
    config.kind = experiment.test.kind.toStdString();
    config.seconds = experiment.test.seconds;
    config.warmup_seconds = experiment.test.warmupSeconds;
    if (config.kind == "udp_stream")
        config.message_size = kDatagramBytes;
    settings.put(config, kInts);
    settings.put(config, kWide);
    settings.put(config, kReals);
    settings.put(config, kOptionalInts);
    settings.put(config, kOptionalWide);
    for (const auto& [knob, field] : kSwitches)
        config.*field = settings.text(knob) == "on";
    for (const auto& [knob, field] : kWords)
        config.*field = settings.text(knob).value_or(config.*field);
    if (const auto ms = settings.number("timeout_ms"))
        config.timeout_seconds = static_cast<double>(*ms) / 1000;
    if (const auto bits = settings.number("pacing_rate"))
        config.pacing_rate = *bits / 8;
    if (const auto quick = settings.text("quickack"))
        config.quickack = *quick == "on";
    config.congestion_control = settings.text("congestion_control");
    if (settings.text("bind_interface") == "on")
        config.bind_interface = experiment.host(host).interface.toStdString();
    if (const auto ports = settings.text("local_ports"); ports && *ports != "any")
        config.local_ports = *ports;
    return config;
}

bool isStream(const QString& testKind) {
    return testKind.endsWith(QLatin1String("stream"));
}

std::string newToken() {
    std::array<quint32, 4> words{};
    QRandomGenerator::system()->fillRange(words.data(), static_cast<qsizetype>(words.size()));
    return QByteArray(reinterpret_cast<const char*>(words.data()), sizeof(words))
        .toHex()
        .toStdString();
}

std::optional<protocol::KnobCommands> knobCommands(const Experiment& experiment,
                                                   const QString& knob) {
    const CommandKnob* lines = experiment.commandsOf(knob);
    if (lines == nullptr)
        return std::nullopt;
    return protocol::KnobCommands{lines->get.toStdString(), lines->set.toStdString(),
                                  lines->restore.toStdString(), lines->timeoutSeconds};
}

std::vector<protocol::KnobSetting> knobSettings(const Experiment& experiment, const Cell& cell,
                                                HostRef host) {
    std::vector<protocol::KnobSetting> settings;
    for (const HostSetting& setting : hostSettings(experiment, cell)) {
        if (setting.host != host)
            continue;
        settings.push_back(
            {setting.knob.toStdString(), experiment.host(host).interface.toStdString(),
             setting.value.plain().toStdString(), knobCommands(experiment, setting.knob)});
    }
    return settings;
}

} // namespace knobscope
