// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/run/sampleresult.h"

namespace knobscope {

/// Some instances of a test, of which one figure is to be made: all of them, or those of one host.
class Totals {
public:
    /// Both must outlive it.
    Totals(const Experiment& experiment, const Cell& cell,
           const std::vector<InstanceResult>& instances, const QList<int>& chosen);

    /// Throughput or transactions, datagrams, latency and fairness of the instances together, as
    /// metrics of `host`; of the whole sample also how the response times are spread.
    void addTo(SampleRecord& sample, HostRef host) const;
    /// What of the instances the reader must know: nothing arrived, the ends disagree.
    void addFlags(SampleRecord& sample) const;

    /// Bytes delivered, or transactions.
    [[nodiscard]] double amount() const;
    /// Whether data arrives at that side: at both in a test both ways.
    [[nodiscard]] bool arrivesAt(Side side) const { return m_arrivals.contains(side); }

private:
    void addThroughput(SampleRecord& sample, HostRef host) const;
    void addTransactions(SampleRecord& sample, HostRef host) const;
    void addDatagrams(SampleRecord& sample, HostRef host) const;
    void addLatency(SampleRecord& sample, HostRef host) const;
    void flagStream(SampleRecord& sample, int instance) const;
    void flagPathMtu(SampleRecord& sample, int instance) const;
    [[nodiscard]] const InstanceResult& at(int instance) const {
        return m_instances[static_cast<std::size_t>(instance)];
    }
    /// The ends that ask, or send.
    [[nodiscard]] std::vector<const protocol::TrafficResult*> askers() const;
    [[nodiscard]] QString sentence(int instance, const QString& what) const;

    const Experiment& m_experiment;
    const std::vector<InstanceResult>& m_instances;
    const QList<int> m_chosen;
    const bool m_stream;
    QList<Side> m_arrivals; ///< the sides at which the data arrives
};

} // namespace knobscope
