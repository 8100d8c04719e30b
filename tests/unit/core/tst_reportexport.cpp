// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/experimentfile.h"
#include "core/report/csvcolumns.h"
#include "core/report/csvexport.h"

#include <QDir>
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QLocale>
#include <QTemporaryDir>
#include <QTest>

#include <cmath>
#include <limits>
#include <memory>

using namespace knobscope;

namespace {

const char* const kLimit = "sysctl:net.ipv4.tcp_limit_output_bytes";

StoredRun smallRun() {
    StoredRun run;
    Experiment& experiment = run.experiment;
    experiment.name = QStringLiteral("Window");
    experiment.sender = {false, "host1", "10.77.0.1", "test0"};
    experiment.receiver = {false, "host2", "10.77.0.2", "test0"};
    experiment.axes << Axis{"window",
                            Side::Both,
                            {KnobValue(QStringLiteral("64K")), KnobValue(QStringLiteral("auto"))}}
                    << Axis{kLimit, Side::Sender, {KnobValue(qint64{16384})}};
    run.cells = expandMatrix(experiment);
    run.hosts << HostFacts{Side::Sender, "host1", {{"kernel", "6.1"}, {"cpu.model", "A, \"B\""}}};
    for (int i = 0; i < 4; ++i) {
        SampleRecord sample;
        sample.cell = i % 2;
        sample.block = i / 2;
        sample.order = i;
        sample.started = QDateTime(QDate(2026, 1, 2), QTime(3, 4, 5, 6), Qt::UTC);
        sample.ended = sample.started.addMSecs(1500);
        sample.knobs << KnobState{Side::Sender, kLimit, "16384", "16384", "1048576", "applied", {}};
        sample.metrics << Metric{Side::Sender, "cpu_percent", 12.5}
                       << Metric{Side::Whole, "throughput_mbit_s", 0.1 + i}
                       << Metric{Side::Whole, "zz_new", 1e300};
        sample.knobs << KnobState{Side::Sender, "window",   "64K", "256K",
                                  std::nullopt, "adjusted", {}};
        sample.deltas << CounterDelta{Side::Sender, "snmp", "TcpOutSegs", 5000000000};
        run.samples << sample;
    }
    run.samples[3].state = SampleState::Failed;
    run.samples[3].reason = QStringLiteral("host2: contact lost,\nafter \"5 s\"");
    run.samples[3].metrics.clear();
    run.samples[3].deltas.clear();
    return run;
}

/// Reads RFC 4180: the reader is ours so that the writer is not its own judge.
QList<QStringList> readCsv(const QString& path) {
    QFile file(path);
    if (!file.open(QIODevice::ReadOnly))
        return {};
    const QString text = QString::fromUtf8(file.readAll());
    QList<QStringList> rows;
    QStringList row;
    QString field;
    bool quoted = false;
    for (qsizetype i = 0; i < text.size(); ++i) {
        const QChar c = text[i];
        if (quoted && c == u'"' && i + 1 < text.size() && text[i + 1] == u'"') {
            field += c;
            ++i;
        } else if (c == u'"') {
            quoted = !quoted;
        } else if (!quoted && (c == u',' || c == u'\n')) {
            row << field;
            field.clear();
            if (c == u'\n') {
                rows << row;
                row.clear();
            }
        } else {
            field += c;
        }
    }
    return rows;
}

QString at(const QList<QStringList>& rows, qsizetype row, const QString& column) {
    const qsizetype index = rows.value(0).indexOf(column);
    return index < 0 ? QStringLiteral("no column") : rows.value(row).value(index);
}

} // namespace

class TestReportExport : public QObject {
    Q_OBJECT
private slots:
    void init();
    void writesAllFiles();
    void writesSamples();
    void writesCells();
    void writesCountersAndFacts();
    void describesEveryColumn();
    void writesNumbersThatReadBack();
    void writesWholeNumbersInFull_data();
    void writesWholeNumbersInFull();
    void countsFromOne();
    void replacesFilesWhole();
    void keepsToTheCLocale();
    void refusesFoldersItCannotMake();
    void hostsHaveRowsOfTheirOwn();
    void streamsHaveRows();
    void filesOfAnotherRunGo();
    void exportsAnEmptyRun();

private:
    QString path(const QString& name) const { return m_folder->filePath(name); }
    std::unique_ptr<QTemporaryDir> m_folder;
};

void TestReportExport::init() {
    m_folder = std::make_unique<QTemporaryDir>();
    QVERIFY(m_folder->isValid());
}

void TestReportExport::writesAllFiles() {
    const QString folder = path("made/on/the/way");
    const auto paths = exportCsv(smallRun(), folder);
    QVERIFY2(paths, paths ? "" : qPrintable(paths.error().text()));
    const QStringList names{"cells.csv",       "counters.csv",    "dictionary.json",
                            "environment.csv", "experiment.json", "samples.csv"};
    QCOMPARE(QDir(folder).entryList(QDir::Files, QDir::Name), names);
    QCOMPARE(paths->size(), names.size());
    for (const QString& file : *paths)
        QVERIFY(QFile::exists(file));
    const auto experiment = readExperimentFile(folder + "/experiment.json");
    QVERIFY(experiment);
    QVERIFY(*experiment == smallRun().experiment);
}

void TestReportExport::writesSamples() {
    QVERIFY(exportCsv(smallRun(), m_folder->path()));
    const auto rows = readCsv(path("samples.csv"));
    QCOMPARE(rows.size(), 5);
    for (const QStringList& row : rows)
        QCOMPARE(row.size(), rows[0].size());
    QCOMPARE(QSet<QString>(rows[0].begin(), rows[0].end()).size(), rows[0].size());
    QCOMPARE(at(rows, 1, "both_window"), QStringLiteral("65536"));
    QCOMPARE(at(rows, 2, "both_window"), QStringLiteral("auto"));
    const QString limit = QStringLiteral("sender_") + kLimit;
    QCOMPARE(at(rows, 1, limit), QStringLiteral("16384"));
    QCOMPARE(at(rows, 1, limit + "_accepted"), QStringLiteral("16384"));
    QCOMPARE(at(rows, 1, limit + "_original"), QStringLiteral("1048576"));
    QCOMPARE(at(rows, 1, limit + "_status"), QStringLiteral("applied"));
    // The same form as the requested value.
    QCOMPARE(at(rows, 1, "sender_window_accepted"), QStringLiteral("262144"));
    QCOMPARE(at(rows, 1, "throughput_mbit_s"), QStringLiteral("0.1"));
    QCOMPARE(at(rows, 1, "sender_cpu_percent"), QStringLiteral("12.5"));
    QCOMPARE(at(rows, 1, "started_utc"), QStringLiteral("2026-01-02T03:04:05.006Z"));
    QCOMPARE(at(rows, 1, "state"), QStringLiteral("done"));
    QCOMPARE(rows[0].last(), QStringLiteral("zz_new")); // known metrics first
    QCOMPARE(at(rows, 4, "state"), QStringLiteral("failed"));
    QCOMPARE(at(rows, 4, "reason"), QStringLiteral("host2: contact lost,\nafter \"5 s\""));
    QCOMPARE(at(rows, 4, "throughput_mbit_s"), QString()); // unknown is empty, not 0
}

void TestReportExport::writesCells() {
    QVERIFY(exportCsv(smallRun(), m_folder->path()));
    const auto rows = readCsv(path("cells.csv"));
    QCOMPARE(rows.size(), 3);
    QCOMPARE(at(rows, 1, "n"), QStringLiteral("2"));
    QCOMPARE(at(rows, 1, "failed"), QStringLiteral("0"));
    QCOMPARE(at(rows, 1, "level"), QStringLiteral("0.95"));
    QCOMPARE(at(rows, 1, "throughput_mbit_s_mean").toDouble(), 1.1);
    QCOMPARE(at(rows, 1, "throughput_mbit_s_sd").toDouble(), std::sqrt(2.0));
    // t of 1 degree of freedom is 12.7062; times SD / √2 = 1
    QVERIFY(std::abs(at(rows, 1, "throughput_mbit_s_half_width").toDouble() - 12.7062047) < 1e-6);
    QCOMPARE(at(rows, 2, "n"), QStringLiteral("1"));
    QCOMPARE(at(rows, 2, "failed"), QStringLiteral("1"));
    QCOMPARE(at(rows, 2, "throughput_mbit_s_mean"), QStringLiteral("1.1"));
    QCOMPARE(at(rows, 2, "throughput_mbit_s_sd"), QString());
}

void TestReportExport::writesCountersAndFacts() {
    QVERIFY(exportCsv(smallRun(), m_folder->path()));
    const auto counters = readCsv(path("counters.csv"));
    QCOMPARE(counters.size(), 4);
    QCOMPARE(at(counters, 2, "counter"), QStringLiteral("TcpOutSegs"));
    QCOMPARE(at(counters, 2, "delta"), QStringLiteral("5000000000"));
    QCOMPARE(at(counters, 2, "both_window"), QStringLiteral("auto"));
    const auto facts = readCsv(path("environment.csv"));
    QCOMPARE(facts.size(), 3);
    QCOMPARE(facts[1], QStringList({"sender", "host1", "cpu.model", "A, \"B\"", ""}));
}

void TestReportExport::describesEveryColumn() {
    QVERIFY(exportCsv(smallRun(), m_folder->path()));
    QFile file(path("dictionary.json"));
    QVERIFY(file.open(QIODevice::ReadOnly));
    const QJsonObject dictionary = QJsonDocument::fromJson(file.readAll()).object();
    const QStringList tables{"samples.csv", "cells.csv", "counters.csv", "environment.csv"};
    for (const QString& table : tables) {
        QStringList described;
        for (const QJsonValue& column : dictionary[table].toArray()) {
            described << column["column"].toString();
            QVERIFY2(!column["description"].toString().isEmpty(), qPrintable(described.last()));
        }
        QCOMPARE(described, readCsv(path(table)).value(0));
    }
}

void TestReportExport::writesNumbersThatReadBack() {
    StoredRun run = smallRun();
    const QList<double> values{1.0 / 3, 9007199254740993.0, 5e-324,
                               std::numeric_limits<double>::max()};
    for (int i = 0; i < 4; ++i) {
        run.samples[i].metrics = {{Side::Whole, "throughput_mbit_s", values[i]},
                                  {Side::Whole, "elapsed_s", i == 0 ? std::nan("") : 1}};
    }
    QVERIFY(exportCsv(run, m_folder->path()));
    const auto rows = readCsv(path("samples.csv"));
    for (int i = 0; i < 4; ++i)
        QCOMPARE(at(rows, i + 1, "throughput_mbit_s").toDouble(), values[i]);
    QCOMPARE(at(rows, 1, "elapsed_s"), QString()); // never "nan"
}

void TestReportExport::writesWholeNumbersInFull_data() {
    QTest::addColumn<double>("value");
    QTest::addColumn<QString>("text");
    QTest::newRow("zero") << 0.0 << "0";
    QTest::newRow("minus zero") << -0.0 << "0";
    QTest::newRow("round") << 200000.0 << "200000";
    QTest::newRow("negative") << -3e9 << "-3000000000";
    QTest::newRow("largest") << 1e15 - 1 << "999999999999999";
    QTest::newRow("beyond") << 1e15 << "1e+15";
    QTest::newRow("fraction") << 200000.5 << "200000.5";
    QTest::newRow("small") << 1.0 / 1024 << "0.0009765625";
    QTest::newRow("endless") << std::numeric_limits<double>::infinity() << "";
}

void TestReportExport::writesWholeNumbersInFull() {
    QFETCH(double, value);
    QTEST(csvNumber(value), "text");
}

void TestReportExport::countsFromOne() {
    QVERIFY(exportCsv(smallRun(), m_folder->path()));
    const auto samples = readCsv(path("samples.csv"));
    for (const char* column : {"order", "cell", "block", "attempt"})
        QCOMPARE(at(samples, 1, column), QStringLiteral("1"));
    QCOMPARE(at(samples, 4, "order"), QStringLiteral("4"));
    QCOMPARE(at(samples, 4, "cell"), QStringLiteral("2"));
    QCOMPARE(at(samples, 4, "block"), QStringLiteral("2"));
    QCOMPARE(at(readCsv(path("cells.csv")), 2, "cell"), QStringLiteral("2"));
    const auto counters = readCsv(path("counters.csv"));
    QCOMPARE(at(counters, 1, "order"), QStringLiteral("1"));
    QCOMPARE(at(counters, 2, "cell"), QStringLiteral("2"));
    QFile file(path("dictionary.json"));
    QVERIFY(file.open(QIODevice::ReadOnly));
    QVERIFY(!file.readAll().contains("from 0"));
}

void TestReportExport::replacesFilesWhole() {
    QFile old(path("samples.csv"));
    QVERIFY(old.open(QIODevice::WriteOnly));
    old.write(QByteArray(100000, 'x'));
    old.close();
    QVERIFY(exportCsv(smallRun(), m_folder->path()));
    QCOMPARE(readCsv(path("samples.csv")).size(), 5);
    QCOMPARE(QDir(m_folder->path()).entryList(QDir::Files).size(), 6); // no leftovers
    // A folder that stands in the way is an error, and it stays.
    QVERIFY(QFile::remove(path("cells.csv")) && QDir().mkdir(path("cells.csv")));
    const auto paths = exportCsv(smallRun(), m_folder->path());
    QVERIFY(!paths);
    QCOMPARE(paths.error().code, Error::Code::Storage);
    QVERIFY(paths.error().text().contains("cells.csv cannot be written"));
}

void TestReportExport::keepsToTheCLocale() {
    QLocale::setDefault(QLocale(QLocale::German));
    const auto paths = exportCsv(smallRun(), m_folder->path());
    QLocale::setDefault(QLocale::c());
    QVERIFY(paths);
    QCOMPARE(at(readCsv(path("samples.csv")), 2, "throughput_mbit_s"), QStringLiteral("1.1"));
}

void TestReportExport::refusesFoldersItCannotMake() {
    QFile file(path("file"));
    QVERIFY(file.open(QIODevice::WriteOnly));
    for (const QString& folder :
         {QString(), path("file/below"), QStringLiteral("/proc/knobscope")}) {
        const auto paths = exportCsv(smallRun(), folder);
        QVERIFY2(!paths, qPrintable(folder));
        QCOMPARE(paths.error().code, Error::Code::Storage);
    }
}

namespace {

/// The small run with a second sender and streams.
StoredRun runOfSeveral() {
    StoredRun run = smallRun();
    run.experiment.moreSenders = {{false, "host3", "10.77.0.3", "test0"}};
    run.hosts[0].host = {Side::Sender, 1};
    run.hosts << HostFacts{{Side::Sender, 2}, "host3", {{"kernel", "6.2"}}};
    for (SampleRecord& sample : run.samples) {
        sample.knobs[0].host = {Side::Sender, 1};
        sample.knobs << KnobState{{Side::Sender, 2}, kLimit, "16384", "8192", "1", "adjusted", {}};
        if (!sample.measured())
            continue;
        for (int number = 1; number <= 2; ++number) {
            sample.metrics << Metric{{Side::Sender, number}, "throughput_mbit_s", 100.0 * number}
                           << Metric{{Side::Sender, number}, "cpu_percent", 10.0 * number};
            sample.deltas << CounterDelta{{Side::Sender, number}, "snmp", "TcpOutSegs", number};
        }
        sample.metrics << Metric{Side::Receiver, "cpu_percent", 77};
        StreamFigures stream;
        stream.instance = 2;
        stream.number = 3;
        stream.sends = true;
        stream.bytesSent = 5000000000;
        stream.elapsedSeconds = 1.5;
        stream.retransmits = 0;
        stream.congestionControl = QStringLiteral("cubic");
        sample.streams[{Side::Sender, 2}] = {stream};
        stream.datagrams = DatagramFigures{10, 9, 1, 0, 0, 2.5};
        stream.retransmits.reset();
        sample.streams[Side::Receiver] = {stream};
    }
    return run;
}

} // namespace

void TestReportExport::hostsHaveRowsOfTheirOwn() {
    QVERIFY(exportCsv(runOfSeveral(), m_folder->path()));
    const auto hosts = readCsv(path("hosts.csv"));
    QCOMPARE(hosts.size(), 1 + 3 * 3); // three hosts of three measured samples
    QCOMPARE(at(hosts, 1, "order"), QStringLiteral("1"));
    QCOMPARE(at(hosts, 1, "both_window"), QStringLiteral("65536"));
    QCOMPARE(at(hosts, 2, "side"), QStringLiteral("sender"));
    QCOMPARE(at(hosts, 2, "host"), QStringLiteral("2"));
    QCOMPARE(at(hosts, 2, "name"), QStringLiteral("host3"));
    QCOMPARE(at(hosts, 2, "throughput_mbit_s"), QStringLiteral("200"));
    QCOMPARE(at(hosts, 2, "cpu_percent"), QStringLiteral("20"));
    QCOMPARE(at(hosts, 2, QLatin1String(kLimit) + "_accepted"), QStringLiteral("8192"));
    QCOMPARE(at(hosts, 2, QLatin1String(kLimit) + "_status"), QStringLiteral("adjusted"));
    // All of the traffic goes through the only receiver.
    QCOMPARE(at(hosts, 3, "side"), QStringLiteral("receiver"));
    QCOMPARE(at(hosts, 3, "host"), QString());
    QCOMPARE(at(hosts, 3, "throughput_mbit_s"), QStringLiteral("0.1"));
    QCOMPARE(at(hosts, 3, "cpu_percent"), QStringLiteral("77"));
    QCOMPARE(at(hosts, 3, QLatin1String(kLimit) + "_accepted"), QString());

    const auto samples = readCsv(path("samples.csv"));
    QCOMPARE(samples.size(), 5); // one row a repeat, as ever
    QCOMPARE(samples[0].filter("throughput_mbit_s"), QStringList{"throughput_mbit_s"});
    QCOMPARE(at(samples, 1, "sender_cpu_percent"), QStringLiteral("12.5"));
    const QString accepted = QStringLiteral("sender_") + kLimit + QStringLiteral("_accepted");
    QCOMPARE(at(samples, 1, accepted), QStringLiteral("16384; 8192"));
    const auto counters = readCsv(path("counters.csv"));
    QCOMPARE(counters.size(), 1 + 3 * 3);
    QCOMPARE(at(counters, 1, "host"), QString());
    QCOMPARE(at(counters, 1, "delta"), QStringLiteral("5000000000"));
    QCOMPARE(at(counters, 3, "host"), QStringLiteral("2"));
    QCOMPARE(at(counters, 3, "delta"), QStringLiteral("2"));
    const auto facts = readCsv(path("environment.csv"));
    QCOMPARE(facts.last(), QStringList({"sender", "host3", "kernel", "6.2", "2"}));
}

void TestReportExport::streamsHaveRows() {
    const auto paths = exportCsv(runOfSeveral(), m_folder->path());
    QVERIFY(paths);
    QVERIFY(paths->contains(path("streams.csv")));
    QCOMPARE(csvFileNames().size(), paths->size());
    const auto rows = readCsv(path("streams.csv"));
    QCOMPARE(rows.size(), 1 + 2 * 3);
    QCOMPARE(at(rows, 2, "side"), QStringLiteral("receiver"));
    QCOMPARE(at(rows, 2, "host"), QString());
    QCOMPARE(at(rows, 2, "retransmits"), QString()); // not known: not 0
    QCOMPARE(at(rows, 2, "datagrams_lost"), QStringLiteral("1"));
    QCOMPARE(at(rows, 2, "jitter_us"), QStringLiteral("2.5"));
    QCOMPARE(at(rows, 1, "order"), QStringLiteral("1"));
    QCOMPARE(at(rows, 1, "host"), QStringLiteral("2"));
    QCOMPARE(at(rows, 1, "instance"), QStringLiteral("2"));
    QCOMPARE(at(rows, 1, "stream"), QStringLiteral("3"));
    QCOMPARE(at(rows, 1, "sends"), QStringLiteral("1"));
    QCOMPARE(at(rows, 1, "bytes_sent"), QStringLiteral("5000000000"));
    QCOMPARE(at(rows, 1, "elapsed_s"), QStringLiteral("1.5"));
    QCOMPARE(at(rows, 1, "retransmits"), QStringLiteral("0"));
    QCOMPARE(at(rows, 1, "congestion_control"), QStringLiteral("cubic"));
    for (const char* unknown : {"transactions", "tcpi_rtt", "mss", "datagrams_sent", "jitter_us"})
        QCOMPARE(at(rows, 1, unknown), QString());
    QFile file(path("dictionary.json"));
    QVERIFY(file.open(QIODevice::ReadOnly));
    const QJsonObject dictionary = QJsonDocument::fromJson(file.readAll()).object();
    for (const char* table : {"streams.csv", "hosts.csv"}) {
        QStringList described;
        for (const QJsonValue& column : dictionary[QLatin1String(table)].toArray()) {
            described << column["column"].toString();
            QVERIFY2(!column["description"].toString().isEmpty(), qPrintable(described.last()));
        }
        QCOMPARE(described, readCsv(path(table)).value(0));
        QCOMPARE(QSet<QString>(described.begin(), described.end()).size(), described.size());
    }
}

void TestReportExport::filesOfAnotherRunGo() {
    QVERIFY(exportCsv(runOfSeveral(), m_folder->path()));
    QVERIFY(QFile::exists(path("hosts.csv")) && QFile::exists(path("streams.csv")));
    QVERIFY(exportCsv(smallRun(), m_folder->path()));
    QVERIFY(!QFile::exists(path("hosts.csv")) && !QFile::exists(path("streams.csv")));
    // A folder that stands in the way stays, and is an error.
    QVERIFY(QDir().mkdir(path("streams.csv")));
    const auto paths = exportCsv(smallRun(), m_folder->path());
    QVERIFY(!paths);
    QVERIFY2(paths.error().text().contains("streams.csv"), qPrintable(paths.error().text()));
}

void TestReportExport::exportsAnEmptyRun() {
    StoredRun run;
    run.experiment = smallRun().experiment;
    run.cells = expandMatrix(run.experiment);
    QVERIFY(exportCsv(run, m_folder->path()));
    QCOMPARE(readCsv(path("samples.csv")).size(), 1);
    const auto cells = readCsv(path("cells.csv"));
    QCOMPARE(cells.size(), 3);
    QCOMPARE(at(cells, 1, "n"), QStringLiteral("0"));
}

QTEST_APPLESS_MAIN(TestReportExport)
#include "tst_reportexport.moc"
