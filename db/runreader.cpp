// SPDX-License-Identifier: GPL-3.0-or-later
#include "db/runreader.h"

#include "core/model/experimentfile.h"
#include "db/columns.h"
#include "db/seriesblob.h"
#include "db/streamblob.h"

namespace knobscope {

namespace {

tl::unexpected<Error> damagedRun(const Database& database, qint64 run, const QString& what) {
    return fail(Error::Code::Storage,
                QStringLiteral("Run %1 in %2 is damaged").arg(run).arg(database.path()), what);
}

/// Reads one run. Every method fills its part of the result.
class RunReader {
public:
    RunReader(Database& database, Dictionary& dictionary, qint64 run)
        : m_database(database), m_dictionary(dictionary), m_run(run) {}

    Result<StoredRun> read() {
        using Part = Result<void> (RunReader::*)();
        for (const Part part :
             {&RunReader::readInfo, &RunReader::readCells, &RunReader::readHostFacts,
              &RunReader::readSamples, &RunReader::readFlags, &RunReader::readKnobs,
              &RunReader::readMetrics, &RunReader::readDeltas, &RunReader::readPresent,
              &RunReader::readSeries, &RunReader::readDistributions, &RunReader::readStreams}) {
            if (auto done = (this->*part)(); !done)
                return tl::unexpected(done.error());
        }
        return std::move(m_result);
    }

private:
    using Row = const QSqlQuery&;

    [[nodiscard]] tl::unexpected<Error> damaged(const QString& what) const {
        return damagedRun(m_database, m_run, what);
    }
    [[nodiscard]] tl::unexpected<Error> damagedSample(qint64 sample, const QString& what) const {
        return damaged(QStringLiteral("sample %1: %2").arg(sample).arg(what));
    }

    /// Views look the hosts up in the experiment.
    [[nodiscard]] bool isKnown(HostRef host) const {
        const int count = m_result.experiment.hostCount(host.side);
        return host.number == 0 || (count > 1 && host.number <= count);
    }
    [[nodiscard]] static QString strange(HostRef host) {
        return QStringLiteral("the experiment has no %1").arg(hostName(host));
    }

    Result<void> readInfo();
    Result<void> readCells();
    Result<void> readHostFacts();
    Result<void> readSamples();
    Result<void> readFlags();
    Result<void> readKnobs();
    Result<void> readMetrics();
    Result<void> readDeltas();
    Result<void> readPresent();
    Result<void> readSeries();
    Result<void> readDistributions();
    Result<void> readStreams();

    /// Rows of a table that belongs to samples: column 0 is the sample, which `onRow` is given.
    Result<void> sampleRows(std::string_view sql,
                            const std::function<Result<void>(SampleRecord&, Row)>& onRow);
    /// The same for tables that have the side and host in column 1.
    Result<void> hostRows(std::string_view sql,
                          const std::function<Result<void>(SampleRecord&, HostRef, Row)>& onRow);
    /// For what is only of sides as a whole.
    Result<void> sideRows(std::string_view sql,
                          const std::function<Result<void>(SampleRecord&, Side, Row)>& onRow);

    Database& m_database;
    Dictionary& m_dictionary;
    qint64 m_run;
    StoredRun m_result;
    QHash<qint64, qsizetype> m_sampleIndex;
};

Result<void> RunReader::readInfo() {
    const auto info = readRunInfo(m_database, m_run);
    if (!info)
        return tl::unexpected(info.error());
    if (!*info)
        return fail(Error::Code::BadInput, QStringLiteral("There is no run %1").arg(m_run),
                    QStringLiteral("see the list of runs in %1").arg(m_database.path()));
    m_result.info = **info;
    const auto json = m_database.value("SELECT experiment FROM run WHERE id = ?", {m_run});
    if (!json)
        return tl::unexpected(json.error());
    const auto experiment = parseExperiment((*json)->toString().toUtf8());
    if (!experiment)
        return damaged(QStringLiteral("its experiment: ") + experiment.error().text());
    m_result.experiment = *experiment;
    return {};
}

Result<void> RunReader::readCells() {
    const qsizetype axes = m_result.experiment.axes.size();
    auto done = m_database.query(
        "SELECT c.cell, k.axis, k.requested FROM cell c "
        "LEFT JOIN cell_knob k ON k.run = c.run AND k.cell = c.cell "
        "WHERE c.run = ? ORDER BY c.cell, k.axis",
        {m_run}, [&](Row row) -> Result<void> {
            const qint64 index = row.value(0).toLongLong();
            if (m_result.cells.isEmpty() || m_result.cells.last().index != index)
                m_result.cells.append(Cell{static_cast<int>(index), {}});
            Cell& cell = m_result.cells.last();
            if (row.value(1).isNull())
                return {}; // an experiment without axes
            if (row.value(1).toLongLong() != cell.values.size())
                return damaged(QStringLiteral("cell %1: a knob value is missing").arg(index));
            cell.values.append(KnobValue(row.value(2).toString()));
            return {};
        });
    if (!done)
        return done;
    for (qsizetype i = 0; i < m_result.cells.size(); ++i) {
        const Cell& cell = m_result.cells[i];
        if (cell.index != i || cell.values.size() != axes)
            return damaged(QStringLiteral("cell %1 does not fit the experiment").arg(cell.index));
    }
    if (m_result.cells.size() != m_result.info.cells)
        return damaged(QStringLiteral("it has %1 of its %2 cells")
                           .arg(m_result.cells.size())
                           .arg(m_result.info.cells));
    return {};
}

Result<void> RunReader::readHostFacts() {
    auto hosts = readHosts(m_database, m_dictionary, m_run);
    if (!hosts)
        return tl::unexpected(hosts.error());
    for (const HostFacts& host : std::as_const(*hosts)) {
        if (!isKnown(host.host))
            return damaged(strange(host.host));
    }
    m_result.hosts = *hosts;
    return {};
}

Result<void> RunReader::readSamples() {
    return m_database.query(
        "SELECT id, cell, block, position, attempt, state, reason, started_ms, ended_ms "
        "FROM sample WHERE run = ? ORDER BY id",
        {m_run}, [&](Row row) -> Result<void> {
            SampleRecord sample;
            sample.id = row.value(0).toLongLong();
            sample.cell = row.value(1).toInt();
            sample.block = row.value(2).toInt();
            sample.order = row.value(3).toInt();
            sample.attempt = row.value(4).toInt();
            const auto state = sampleStateFromText(row.value(5).toString());
            if (!state)
                return damagedSample(sample.id, QStringLiteral("unknown state"));
            if (sample.cell < 0 || sample.cell >= m_result.cells.size())
                return damagedSample(sample.id, QStringLiteral("there is no such cell"));
            sample.state = *state;
            sample.reason = row.value(6).toString();
            sample.started = timeFromSql(row.value(7));
            sample.ended = timeFromSql(row.value(8));
            m_sampleIndex.insert(sample.id, m_result.samples.size());
            m_result.samples.append(sample);
            return {};
        });
}

Result<void> RunReader::sampleRows(std::string_view sql,
                                   const std::function<Result<void>(SampleRecord&, Row)>& onRow) {
    return m_database.query(sql, {m_run}, [&](Row row) -> Result<void> {
        const qint64 id = row.value(0).toLongLong();
        const auto index = m_sampleIndex.constFind(id);
        if (index == m_sampleIndex.cend())
            return damagedSample(id, QStringLiteral("is missing"));
        return onRow(m_result.samples[*index], row);
    });
}

Result<void>
RunReader::hostRows(std::string_view sql,
                    const std::function<Result<void>(SampleRecord&, HostRef, Row)>& onRow) {
    return sampleRows(sql, [&](SampleRecord& sample, Row row) -> Result<void> {
        const auto host = hostFromCode(row.value(1).toLongLong());
        if (!host)
            return damagedSample(sample.id, QStringLiteral("unknown side"));
        if (!isKnown(*host))
            return damagedSample(sample.id, strange(*host));
        return onRow(sample, *host, row);
    });
}

Result<void>
RunReader::sideRows(std::string_view sql,
                    const std::function<Result<void>(SampleRecord&, Side, Row)>& onRow) {
    return hostRows(sql, [&](SampleRecord& sample, HostRef host, Row row) -> Result<void> {
        if (host.number != 0)
            return damagedSample(sample.id, QStringLiteral("unknown side"));
        return onRow(sample, host.side, row);
    });
}

Result<void> RunReader::readFlags() {
    return sampleRows("SELECT f.sample, f.text FROM sample s JOIN sample_flag f ON f.sample = s.id "
                      "WHERE s.run = ? ORDER BY s.id, f.position",
                      [](SampleRecord& sample, Row row) -> Result<void> {
                          sample.flags.append(row.value(1).toString());
                          return {};
                      });
}

Result<void> RunReader::readKnobs() {
    return hostRows(
        "SELECT k.sample, k.side, k.knob, k.requested, k.accepted, k.original, k.status, k.error "
        "FROM sample s JOIN sample_knob k ON k.sample = s.id "
        "WHERE s.run = ? ORDER BY s.id, k.position",
        [this](SampleRecord& sample, HostRef host, Row row) -> Result<void> {
            const auto name = m_dictionary.name(row.value(2).toLongLong());
            if (!name)
                return tl::unexpected(name.error());
            KnobState knob;
            knob.host = host;
            knob.knob = *name;
            knob.requested = row.value(3).toString();
            if (!row.value(4).isNull())
                knob.accepted = row.value(4).toString();
            if (!row.value(5).isNull())
                knob.original = row.value(5).toString();
            knob.status = row.value(6).toString();
            knob.error = row.value(7).toString();
            sample.knobs.append(knob);
            return {};
        });
}

Result<void> RunReader::readMetrics() {
    return hostRows("SELECT m.sample, m.side, m.name, m.value "
                    "FROM sample s JOIN metric m ON m.sample = s.id "
                    "WHERE s.run = ? ORDER BY s.id, m.side, m.name",
                    [this](SampleRecord& sample, HostRef host, Row row) -> Result<void> {
                        const auto name = m_dictionary.name(row.value(2).toLongLong());
                        if (!name)
                            return tl::unexpected(name.error());
                        sample.metrics.append(Metric{host, *name, row.value(3).toDouble()});
                        return {};
                    });
}

Result<void> RunReader::readDeltas() {
    return hostRows("SELECT d.sample, d.side, d.counter, d.delta "
                    "FROM sample s JOIN counter_delta d ON d.sample = s.id "
                    "WHERE s.run = ? ORDER BY s.id, d.side, d.counter",
                    [this](SampleRecord& sample, HostRef host, Row row) -> Result<void> {
                        const auto counter = m_dictionary.counter(row.value(2).toLongLong());
                        if (!counter)
                            return tl::unexpected(counter.error());
                        sample.deltas.append(CounterDelta{host, counter->source, counter->name,
                                                          row.value(3).toLongLong()});
                        return {};
                    });
}

Result<void> RunReader::readPresent() {
    return hostRows("SELECT p.sample, p.side, p.counter_set "
                    "FROM sample s JOIN sample_counter_set p ON p.sample = s.id "
                    "WHERE s.run = ? ORDER BY s.id, p.side",
                    [this](SampleRecord& sample, HostRef host, Row row) -> Result<void> {
                        const auto set = m_dictionary.counterSet(row.value(2).toLongLong());
                        if (!set)
                            return tl::unexpected(set.error());
                        sample.presentCounters[host].insert(set->source, set->names);
                        return {};
                    });
}

Result<void> RunReader::readSeries() {
    return sideRows("SELECT b.sample, b.side, b.data "
                    "FROM sample s JOIN series b ON b.sample = s.id WHERE s.run = ? ORDER BY s.id",
                    [this](SampleRecord& sample, Side side, Row row) -> Result<void> {
                        const auto points = decodeSeries(row.value(2).toByteArray());
                        if (!points)
                            return damagedSample(
                                sample.id, QStringLiteral("its %1 series").arg(sideName(side)));
                        sample.series.insert(side, *points);
                        return {};
                    });
}

Result<void> RunReader::readDistributions() {
    return sideRows("SELECT d.sample, d.side, d.name, d.data "
                    "FROM sample s JOIN distribution d ON d.sample = s.id "
                    "WHERE s.run = ? ORDER BY d.id",
                    [this](SampleRecord& sample, Side side, Row row) -> Result<void> {
                        const auto name = m_dictionary.name(row.value(2).toLongLong());
                        if (!name)
                            return tl::unexpected(name.error());
                        auto distribution = decodeDistribution(row.value(3).toByteArray());
                        if (!distribution)
                            return damagedSample(sample.id, QStringLiteral("its ") + *name);
                        distribution->side = side;
                        distribution->name = *name;
                        sample.distributions.append(*distribution);
                        return {};
                    });
}

Result<void> RunReader::readStreams() {
    return hostRows("SELECT f.sample, f.side, f.data "
                    "FROM sample s JOIN stream_figures f ON f.sample = s.id "
                    "WHERE s.run = ? ORDER BY s.id",
                    [this](SampleRecord& sample, HostRef host, Row row) -> Result<void> {
                        const auto streams = decodeStreams(row.value(2).toByteArray());
                        if (!streams)
                            return damagedSample(sample.id, QStringLiteral("the streams of its ") +
                                                                hostName(host));
                        sample.streams.insert(host, *streams);
                        return {};
                    });
}

} // namespace

Result<QList<HostFacts>> readHosts(Database& database, Dictionary& dictionary, qint64 run) {
    QList<HostFacts> hosts;
    qint64 current = 0;
    const auto done = database.query(
        "SELECT h.id, h.side, h.label, f.name, f.value FROM run_host h "
        "LEFT JOIN host_fact f ON f.host = h.id WHERE h.run = ? ORDER BY h.id",
        {run}, [&](const QSqlQuery& row) -> Result<void> {
            const qint64 host = row.value(0).toLongLong();
            if (hosts.isEmpty() || host != current) {
                const auto which = hostFromCode(row.value(1).toLongLong());
                if (!which)
                    return damagedRun(database, run,
                                      QStringLiteral("host %1 has no valid side").arg(host));
                hosts.append(HostFacts{*which, row.value(2).toString(), {}});
                current = host;
            }
            if (row.value(3).isNull())
                return {}; // a host that told nothing
            const auto name = dictionary.name(row.value(3).toLongLong());
            if (!name)
                return tl::unexpected(name.error());
            hosts.last().facts.insert(*name, row.value(4).toString());
            return {};
        });
    if (!done)
        return tl::unexpected(done.error());
    return hosts;
}

Result<StoredRun> readRun(Database& database, Dictionary& dictionary, qint64 run) {
    return RunReader(database, dictionary, run).read();
}

} // namespace knobscope
