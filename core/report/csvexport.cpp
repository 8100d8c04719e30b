// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/report/csvexport.h"

#include "core/model/experimentfile.h"
#include "core/report/csvcolumns.h"

#include <QDir>
#include <QSaveFile>

#include <nlohmann/json.hpp>

#include <algorithm>

namespace knobscope {

namespace {

using Ordered = nlohmann::ordered_json;

/// RFC 4180: quoted where a separator, a quote or a line break is inside.
QByteArray csvField(const QString& text) {
    QByteArray field = text.toUtf8();
    const bool quoted = std::any_of(field.begin(), field.end(), [](char c) {
        return c == ',' || c == '"' || c == '\n' || c == '\r';
    });
    if (!quoted)
        return field;
    return '"' + field.replace('"', "\"\"") + '"';
}

QByteArray csvLine(const QStringList& fields) {
    QByteArrayList parts;
    for (const QString& field : fields)
        parts << csvField(field);
    return parts.join(',') + '\n';
}

/// Writes one file after the other; the first failure stays and nothing more is written.
class Exporter {
public:
    explicit Exporter(const QString& directory) : m_directory(directory) {}

    template<typename Row>
    void table(const QString& name, const QList<CsvColumn<Row>>& columns, const QList<Row>& rows) {
        describe(name, columns);
        write(name, [&](QIODevice& device) {
            QStringList fields;
            for (const CsvColumn<Row>& column : columns)
                fields << column.name;
            device.write(csvLine(fields));
            for (const Row& row : rows) {
                fields.clear();
                for (const CsvColumn<Row>& column : columns)
                    fields << column.text(row);
                device.write(csvLine(fields));
            }
        });
    }

    void file(const QString& name, const QByteArray& content) {
        write(name, [&](QIODevice& device) { device.write(content); });
    }

    /// The table, or no file of that name where there is nothing for it.
    template<typename Row>
    void optionalTable(const QString& name, const QList<CsvColumn<Row>>& columns,
                       const QList<Row>& rows) {
        if (!rows.isEmpty())
            table(name, columns, rows);
        else if (QFile old(m_directory.filePath(name)); !m_error && old.exists() && !old.remove())
            m_error =
                Error{Error::Code::Storage,
                      QStringLiteral("%1 of another run cannot be removed").arg(old.fileName()),
                      old.errorString()};
    }

    void dictionary() {
        file(QStringLiteral("dictionary.json"),
             QByteArray::fromStdString(m_dictionary.dump(2)) + '\n');
    }

    [[nodiscard]] Result<QStringList> result() const {
        if (m_error)
            return tl::unexpected<Error>(*m_error);
        return m_paths;
    }

private:
    template<typename Row>
    void describe(const QString& name, const QList<CsvColumn<Row>>& columns) {
        Ordered list = Ordered::array();
        for (const CsvColumn<Row>& column : columns)
            list.push_back({{"column", column.name.toStdString()},
                            {"unit", column.unit.toStdString()},
                            {"description", column.help.toStdString()}});
        m_dictionary[name.toStdString()] = list;
    }

    template<typename Content>
    void write(const QString& name, Content content) {
        if (m_error)
            return;
        const QString path = m_directory.filePath(name);
        QSaveFile file(path);
        if (file.open(QIODevice::WriteOnly)) {
            content(file);
            if (file.commit()) {
                m_paths << path;
                return;
            }
        }
        m_error = Error{Error::Code::Storage, QStringLiteral("%1 cannot be written").arg(path),
                        file.errorString()};
    }

    QDir m_directory;
    Ordered m_dictionary = Ordered::object();
    QStringList m_paths;
    std::optional<Error> m_error;
};

QList<CellRow> cellRows(const StoredRun& run) {
    const QMap<int, CellSamples> samples = samplesByCell(run);
    QList<CellRow> rows;
    for (const Cell& cell : run.cells)
        rows << CellRow{&cell, samples.value(cell.index)};
    return rows;
}

QList<CounterDeltaRow> counterRows(const StoredRun& run) {
    QList<CounterDeltaRow> rows;
    for (const SampleRecord& sample : run.samples) {
        for (const CounterDelta& delta : sample.deltas)
            rows << CounterDeltaRow{&sample, &delta};
    }
    return rows;
}

QList<FactRow> factRows(const StoredRun& run) {
    QList<FactRow> rows;
    for (const HostFacts& host : run.hosts) {
        for (auto it = host.facts.begin(); it != host.facts.end(); ++it)
            rows << FactRow{&host, it.key(), it.value()};
    }
    return rows;
}

/// None where every side has one host: samples.csv tells all of it then.
QList<HostRow> hostRows(const StoredRun& run) {
    QList<HostRow> rows;
    if (run.experiment.instances() == 1)
        return rows;
    const QList<HostRef> hosts = run.experiment.hostRefs();
    for (const SampleRecord& sample : run.samples) {
        for (const HostRef host : hosts) {
            if (sample.measured())
                rows << HostRow{&sample, host, run.experiment.host(host).label()};
        }
    }
    return rows;
}

QList<StreamRow> streamRows(const StoredRun& run) {
    QList<StreamRow> rows;
    for (const SampleRecord& sample : run.samples) {
        for (auto host = sample.streams.cbegin(); host != sample.streams.cend(); ++host) {
            for (const StreamFigures& stream : host.value())
                rows << StreamRow{&sample, host.key(), &stream};
        }
    }
    return rows;
}

} // namespace

QStringList csvFileNames() {
    return {QStringLiteral("samples.csv"),     QStringLiteral("cells.csv"),
            QStringLiteral("counters.csv"),    QStringLiteral("environment.csv"),
            QStringLiteral("hosts.csv"),       QStringLiteral("streams.csv"),
            QStringLiteral("dictionary.json"), QStringLiteral("experiment.json")};
}

Result<QStringList> exportCsv(const StoredRun& run, const QString& directory) {
    if (directory.isEmpty() || !QDir().mkpath(directory))
        return fail(Error::Code::Storage,
                    QStringLiteral("The folder \"%1\" cannot be made.").arg(directory));
    Exporter exporter(directory);
    exporter.table(QStringLiteral("samples.csv"), sampleColumns(run), run.samples);
    exporter.table(QStringLiteral("cells.csv"), cellColumns(run), cellRows(run));
    exporter.table(QStringLiteral("counters.csv"), counterColumns(run), counterRows(run));
    exporter.table(QStringLiteral("environment.csv"), environmentColumns(), factRows(run));
    exporter.optionalTable(QStringLiteral("hosts.csv"), hostColumns(run), hostRows(run));
    exporter.optionalTable(QStringLiteral("streams.csv"), streamColumns(run), streamRows(run));
    exporter.dictionary();
    exporter.file(QStringLiteral("experiment.json"), writeExperiment(run.experiment));
    return exporter.result();
}

} // namespace knobscope
