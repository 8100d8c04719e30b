// SPDX-License-Identifier: GPL-3.0-or-later
// Columns of the files that have rows of single hosts.
#include "core/model/metrics.h"
#include "core/report/csvparts.h"

#include <set>

namespace knobscope {

namespace {

template<typename T>
QString optionalText(const std::optional<T>& value) {
    return value ? QString::number(*value) : QString();
}

using StreamColumns = QList<CsvColumn<StreamRow>>;

/// A figure that is called as the metric that sums it up.
void addFigure(StreamColumns& columns, const char* name, const QString& help,
               const std::function<QString(const StreamFigures&)>& text) {
    columns << CsvColumn<StreamRow>{QLatin1String(name), metricInfo(QLatin1String(name)).unit, help,
                                    [text](const StreamRow& row) { return text(*row.stream); }};
}

void addCounts(StreamColumns& columns) {
    const std::tuple<const char*, const char*, quint64 StreamFigures::*> counts[] = {
        {"bytes_sent", "Sent in the measured time.", &StreamFigures::bytesSent},
        {"bytes_received", "Received in the measured time.", &StreamFigures::bytesReceived},
        {"send_calls", "Send calls in the measured time.", &StreamFigures::sendCalls},
        {"recv_calls", "Receive calls in the measured time.", &StreamFigures::receiveCalls}};
    for (const auto& [name, help, member] : counts)
        addFigure(columns, name, QLatin1String(help),
                  [member = member](const StreamFigures& s) { return QString::number(s.*member); });
    addFigure(columns, "elapsed_s", QStringLiteral("The stream's own measured time."),
              [](const StreamFigures& s) { return csvNumber(s.elapsedSeconds); });
}

void addOptionals(StreamColumns& columns) {
    const std::tuple<const char*, const char*, std::optional<qint64> StreamFigures::*> known[] = {
        {"transactions", "Transactions in the measured time.", &StreamFigures::transactions},
        {"retransmits", "TCP segments sent again over the life of the connection.",
         &StreamFigures::retransmits},
        {"tcpi_snd_cwnd", nullptr, &StreamFigures::congestionWindow},
        {"tcpi_rtt", nullptr, &StreamFigures::roundTripUs},
        {"tcpi_rttvar", nullptr, &StreamFigures::roundTripVariationUs},
        {"tcpi_min_rtt", nullptr, &StreamFigures::leastRoundTripUs},
        {"tcpi_pmtu", nullptr, &StreamFigures::pathMtu},
        {"tcpi_delivery_rate", nullptr, &StreamFigures::deliveryBytesPerSecond},
        {"mss", nullptr, &StreamFigures::mss},
        {"rcvlowat", "Bytes that must be there before a receiver is woken, at the end.",
         &StreamFigures::rcvlowat},
        {"sndbuf_initial", nullptr, &StreamFigures::sndbufInitial},
        {"rcvbuf_initial", nullptr, &StreamFigures::rcvbufInitial},
        {"sndbuf_final", nullptr, &StreamFigures::sndbufFinal},
        {"rcvbuf_final", nullptr, &StreamFigures::rcvbufFinal},
        {"local_port", "Port of this end.", &StreamFigures::localPort}};
    for (const auto& [name, help, member] : known)
        addFigure(columns, name, help ? QLatin1String(help) : metricInfo(QLatin1String(name)).help,
                  [member = member](const StreamFigures& s) { return optionalText(s.*member); });
    addFigure(columns, "congestion_control", QStringLiteral("Congestion control in force."),
              [](const StreamFigures& s) { return s.congestionControl.value_or(QString()); });
}

void addDatagrams(StreamColumns& columns) {
    const std::pair<const char*, quint64 DatagramFigures::*> counts[] = {
        {"datagrams_sent", &DatagramFigures::sent},
        {"datagrams_received", &DatagramFigures::received},
        {"datagrams_lost", &DatagramFigures::lost},
        {"datagrams_reordered", &DatagramFigures::reordered},
        {"datagrams_duplicate", &DatagramFigures::duplicates}};
    for (const auto& [name, member] : counts)
        addFigure(columns, name, metricInfo(QLatin1String(name)).help,
                  [member = member](const StreamFigures& s) {
                      return s.datagrams ? QString::number((*s.datagrams).*member) : QString();
                  });
    addFigure(columns, "jitter_us", QStringLiteral("Interarrival jitter of RFC 3550 at the end."),
              [](const StreamFigures& s) {
                  return s.datagrams ? csvNumber(s.datagrams->jitterUs) : QString();
              });
}

/// All instances go through the only host of a side, so what is of the whole sample is of it too.
std::optional<double> metricOf(const HostRow& row, const QString& name) {
    const auto own = row.sample->metric(name, row.host);
    return own || row.host.number > 0 ? own : row.sample->metric(name);
}

/// What a host made of its knobs; side by side for all hosts, empty where it is not set.
void addHostKnobs(QList<CsvColumn<HostRow>>& columns, const StoredRun& run) {
    std::set<QString> knobs;
    for (const SampleRecord& sample : run.samples) {
        for (const KnobState& state : sample.knobs)
            knobs.insert(state.knob);
    }
    for (const QString& knob : knobs) {
        for (const KnobStatePart& part : knobStateParts())
            columns << CsvColumn<HostRow>{
                knob + QLatin1String(part.suffix),
                {},
                QString::fromLatin1(part.help).arg(knob, QStringLiteral("host")),
                [knob, text = part.text](const HostRow& row) {
                    for (const KnobState& state : row.sample->knobs) {
                        if (state.host == row.host && state.knob == knob)
                            return text(state);
                    }
                    return QString();
                }};
    }
}

} // namespace

QList<CsvColumn<CounterDeltaRow>> counterColumns(const StoredRun& run) {
    using Row = CounterDeltaRow;
    auto columns = sampleKeyColumns<Row>(run);
    addHostColumns<Row>(
        columns, [](const Row& row) { return row.delta->host; },
        QStringLiteral("the sum over all hosts of the side, or its only one"));
    columns << CsvColumn<Row>{
        QStringLiteral("source"),
        {},
        QStringLiteral("Where the counter is from: ethtool, snmp, netstat, snmp6, interface, "
                       "softnet, interrupts."),
        [](const Row& row) { return row.delta->source; }};
    columns << CsvColumn<Row>{QStringLiteral("counter"),
                              {},
                              QStringLiteral("Name of the counter."),
                              [](const Row& row) { return row.delta->name; }};
    columns << CsvColumn<Row>{
        QStringLiteral("delta"),
        {},
        QStringLiteral("How far it moved over the sample. Counters that did not move have no row."),
        [](const Row& row) { return QString::number(row.delta->delta); }};
    return columns;
}

QList<CsvColumn<FactRow>> environmentColumns() {
    using Row = FactRow;
    return {
        {QStringLiteral("side"),
         {},
         QStringLiteral("sender or receiver."),
         [](const Row& row) { return sideName(row.host->host.side); }},
        {QStringLiteral("host"),
         {},
         QStringLiteral("Name of the host."),
         [](const Row& row) { return row.host->label; }},
        {QStringLiteral("fact"),
         {},
         QStringLiteral("Dotted name of the fact, such as nic.driver."),
         [](const Row& row) { return row.name; }},
        {QStringLiteral("value"),
         {},
         QStringLiteral("What the host said when the run began."),
         [](const Row& row) { return row.value; }},
        {QStringLiteral("number"),
         {},
         QStringLiteral("Which host of a side that has several, from 1: the other files call it "
                        "by this number; empty: the only one."),
         [](const Row& row) { return hostNumber(row.host->host); }},
    };
}

QList<CsvColumn<HostRow>> hostColumns(const StoredRun& run) {
    using Row = HostRow;
    auto columns = sampleKeyColumns<Row>(run);
    addHostColumns<Row>(
        columns, [](const Row& row) { return row.host; },
        QStringLiteral("the only host of the side"));
    columns << CsvColumn<Row>{QStringLiteral("name"),
                              {},
                              QStringLiteral("Name of the host."),
                              [](const Row& row) { return row.label; }};
    addHostKnobs(columns, run);
    const QStringList names =
        metricNames(run, [](const Metric& metric) { return metric.host.side != Side::Whole; });
    for (const QString& name : names) {
        const MetricInfo info = metricInfo(name);
        columns << CsvColumn<Row>{
            name, info.unit,
            info.help + (info.perSide ? QString()
                                      : QStringLiteral(" Of the instances that the host takes part "
                                                       "in.")),
            [name](const Row& row) { return csvNumber(metricOf(row, name)); }};
    }
    return columns;
}

QList<CsvColumn<StreamRow>> streamColumns(const StoredRun& run) {
    using Row = StreamRow;
    auto columns = sampleKeyColumns<Row>(run);
    addHostColumns<Row>(
        columns, [](const Row& row) { return row.host; },
        QStringLiteral("the only host of the side"));
    columns << CsvColumn<Row>{
        QStringLiteral("instance"),
        {},
        QStringLiteral("Instance of the test that the stream belongs to, from 1; empty: the only "
                       "one."),
        [](const Row& row) {
            return row.stream->instance == 0 ? QString() : QString::number(row.stream->instance);
        }};
    columns << CsvColumn<Row>{
        QStringLiteral("stream"),
        {},
        QStringLiteral("Number of the stream within its instance, from 1; the same at both ends."),
        [](const Row& row) { return QString::number(row.stream->number); }};
    columns << CsvColumn<Row>{
        QStringLiteral("sends"),
        {},
        QStringLiteral("1: this end sends the data or the requests; 0: it does not."),
        [](const Row& row) { return QString::number(row.stream->sends ? 1 : 0); }};
    addCounts(columns);
    addOptionals(columns);
    addDatagrams(columns);
    return columns;
}

} // namespace knobscope
