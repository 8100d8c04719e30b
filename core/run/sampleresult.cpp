// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/sampleresult.h"

#include "core/run/counterdeltas.h"
#include "core/run/intervals.h"
#include "core/run/mergetraffic.h"
#include "core/run/sidemetrics.h"
#include "core/run/streamfigures.h"
#include "core/run/totals.h"
#include "core/run/trafficsetup.h"

namespace knobscope {

namespace {

using protocol::StreamResult;
using protocol::TrafficResult;

/// What the kernel made of a test knob, where it differs from the request: flagged, never silent.
class TestKnobs {
public:
    TestKnobs(SampleRecord& sample, HostRef host, const QMap<QString, KnobValue>& settings,
              const TrafficResult& result)
        : m_sample(sample), m_host(host), m_settings(settings), m_result(result) {}

    void check() {
        checkWindow();
        checkSegmentSize();
        const auto control = m_settings.value(QStringLiteral("congestion_control"));
        if (control.text.isEmpty() || control.isAuto() || m_result.streams.empty())
            return;
        if (const auto& taken = m_result.streams.front().congestion_control)
            note(QStringLiteral("congestion_control"), control.text,
                 QString::fromStdString(*taken));
    }

private:
    void checkWindow() {
        const auto window = m_settings.value(QStringLiteral("window"));
        const auto sndbuf = meanOf(m_result, &StreamResult::sndbuf_initial);
        const auto rcvbuf = meanOf(m_result, &StreamResult::rcvbuf_initial);
        if (!window.number || !sndbuf || !rcvbuf)
            return;
        // Linux doubles the request; less than that means it was clamped to wmem_max or
        // rmem_max. Very small requests are raised to the kernel's minimum.
        const auto wanted = static_cast<double>(*window.number * 2);
        const double worst = *sndbuf != wanted ? *sndbuf : *rcvbuf;
        note(QStringLiteral("window"), formatQuantity(*window.number),
             formatQuantity(static_cast<qint64>(worst) / 2));
    }

    void checkSegmentSize() {
        const auto mss = m_settings.value(QStringLiteral("mss"));
        const auto taken = meanOf(m_result, &StreamResult::mss);
        if (!mss.number || !taken)
            return;
        // TCP options (time stamps: 12 bytes) come out of the segment.
        constexpr qint64 kMaxOptions = 40;
        const auto accepted = static_cast<qint64>(*taken);
        const bool same = accepted <= *mss.number && accepted >= *mss.number - kMaxOptions;
        note(QStringLiteral("mss"), mss.text, same ? mss.text : QString::number(accepted));
    }

    void note(const QString& knob, const QString& requested, const QString& accepted) {
        KnobState state{m_host, knob, requested, accepted, std::nullopt, QStringLiteral("applied"),
                        {}};
        if (requested != accepted) {
            state.status = QStringLiteral("adjusted");
            m_sample.flags.append(QStringLiteral("%1: %2 requested %3, host took %4")
                                      .arg(hostName(m_host), knob, requested, accepted));
        }
        m_sample.knobs.append(state);
    }

    SampleRecord& m_sample;
    const HostRef m_host;
    const QMap<QString, KnobValue>& m_settings;
    const TrafficResult& m_result;
};

/// Makes the sample of what the hosts told.
class Filler {
public:
    Filler(SampleRecord& sample, const Experiment& experiment, const Cell& cell,
           const SampleResult& result)
        : m_sample(sample), m_experiment(experiment), m_cell(cell), m_result(result),
          m_stream(isStream(experiment.test.kind)),
          m_all(experiment, cell, result.instances, experiment.instancesOf({})) {}

    void fill() {
        m_all.addTo(m_sample, {});
        m_all.addFlags(m_sample);
        double retransmits = 0;
        bool known = false;
        for (const Side side : {Side::Sender, Side::Receiver}) {
            addSide(side);
            if (const auto value = m_sample.metric(QStringLiteral("retransmits"), side)) {
                retransmits += *value;
                known = true;
            }
        }
        if (known)
            addMetric(m_sample, {}, QStringLiteral("retransmits"), retransmits);
    }

private:
    [[nodiscard]] std::vector<const TrafficResult*> ends(Side side,
                                                         const QList<int>& instances) const {
        std::vector<const TrafficResult*> all;
        for (const int instance : instances)
            all.push_back(&m_result.instances[static_cast<std::size_t>(instance)].at(side));
        return all;
    }

    void addSide(Side side) {
        std::vector<std::optional<protocol::CpuUse>> cpus;
        for (const HostRef host : m_experiment.hostRefs(side))
            cpus.push_back(addHost(host));
        const auto all = ends(side, m_experiment.instancesOf(side));
        const TrafficResult merged = mergedTraffic(all);
        addReceiveSizes(m_sample, side, merged);
        m_sample.series.insert(side, seriesOf(merged.intervals, m_stream && m_all.arrivesAt(side)));
        if (m_experiment.hostCount(side) == 1)
            return;
        addStreamMetrics(m_sample, side, merged);
        if (m_stream)
            addSent(m_sample, side, all);
        addSideCpu(m_sample, side, cpus, m_stream, m_all.amount());
        addSummedDeltas(m_sample, side);
    }

    std::optional<protocol::CpuUse> addHost(HostRef host) {
        const QList<int> instances = m_experiment.instancesOf(host);
        const Totals own(m_experiment, m_cell, m_result.instances, instances);
        if (host.number > 0)
            own.addTo(m_sample, host);
        const auto parts = ends(host.side, instances);
        const TrafficResult merged = mergedTraffic(parts);
        addStreamMetrics(m_sample, host, merged);
        if (m_stream)
            addSent(m_sample, host, parts);
        addHostMetrics(m_sample, host, merged, m_stream, own.amount());
        const auto settings = testSettings(m_experiment, m_cell, host.side);
        TestKnobs(m_sample, host, settings, merged).check();
        if (const auto counters = m_result.counters.find(host); counters != m_result.counters.end())
            addDeltas(m_sample, host, counters->second.before, counters->second.after);
        addStreams(host, instances);
        return merged.cpu;
    }

    void addStreams(HostRef host, const QList<int>& instances) {
        const bool several = m_experiment.instances() > 1;
        QList<StreamFigures> streams;
        for (const int instance : instances) {
            const auto& result = m_result.instances[static_cast<std::size_t>(instance)];
            int number = 0;
            for (const StreamResult& stream : result.at(host.side).streams)
                streams.append(
                    streamFigures(stream, several ? instance + 1 : 0, ++number, !m_stream));
        }
        if (!streams.isEmpty())
            m_sample.streams.insert(host, streams);
    }

    SampleRecord& m_sample;
    const Experiment& m_experiment;
    const Cell& m_cell;
    const SampleResult& m_result;
    const bool m_stream;
    const Totals m_all;
};

} // namespace

void fillSample(SampleRecord& sample, const Experiment& experiment, const Cell& cell,
                const SampleResult& result) {
    Filler(sample, experiment, cell, result).fill();
}

} // namespace knobscope
