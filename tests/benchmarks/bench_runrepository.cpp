// SPDX-License-Identifier: GPL-3.0-or-later
// How long a database of 1,000 runs and 100,000 samples takes to list and to open a run.
// Targets: 0.2 s each. Usage: bench_runrepository [RUNS] [SAMPLES_A_RUN]; prints one line a number.
#include "core/model/matrix.h"
#include "db/runrepository.h"

#include <QCoreApplication>
#include <QElapsedTimer>
#include <QFileInfo>
#include <QTemporaryDir>

#include <cstdio>

using namespace knobscope;

namespace {

constexpr int kCells = 20;
constexpr int kMetricsPerSide = 40;
constexpr int kMovedPerSide = 60;
constexpr int kCountersPerSide = 800;
constexpr int kIntervals = 20;
constexpr int kStreams = 4;

Experiment experiment(int number) {
    Experiment e;
    e.name = QStringLiteral("Benchmark %1").arg(number);
    for (HostSpec* host : {&e.sender, &e.receiver}) {
        host->local = true;
        host->address = QStringLiteral("127.0.0.1");
        host->interface = QStringLiteral("lo");
    }
    Axis axis{QStringLiteral("message_size"), Side::Both, {}};
    for (int i = 0; i < kCells; ++i)
        axis.values.append(KnobValue(qint64{1024} * (i + 1)));
    e.axes = {axis};
    return e;
}

/// A sample as full as a real one.
SampleRecord sample(int order) {
    SampleRecord s;
    s.cell = order % kCells;
    s.block = order / kCells;
    s.order = order;
    s.started = s.ended = QDateTime::currentDateTimeUtc();
    s.metrics.append(Metric{Side::Whole, QStringLiteral("throughput_mbit_s"), 900.0 + order});
    for (const Side side : {Side::Sender, Side::Receiver}) {
        for (int i = 0; i < kMetricsPerSide; ++i)
            s.metrics.append(Metric{side, QStringLiteral("metric_%1").arg(i), i * 1.1});
        QStringList names;
        for (int i = 0; i < kCountersPerSide; ++i)
            names.append(QStringLiteral("Counter%1").arg(i));
        for (int i = 0; i < kMovedPerSide; ++i)
            s.deltas.append(CounterDelta{side, QStringLiteral("netstat"), names[i * 3], i + 1});
        s.presentCounters[side][QStringLiteral("netstat")] = names;
        StreamFigures stream;
        stream.number = 1;
        stream.bytesSent = stream.bytesReceived = 123456789;
        stream.elapsedSeconds = 2;
        stream.retransmits = stream.roundTripUs = stream.congestionWindow = stream.mss = 100;
        stream.sndbufFinal = stream.rcvbufFinal = 4194304;
        s.streams[side] = QList<StreamFigures>(kStreams, stream);
        s.series[side] = QList<SeriesPoint>(kIntervals, SeriesPoint{0.1, 941, 0, 20, 100, 0});
    }
    return s;
}

void print(const char* what, double value, const char* unit) {
    std::printf("%-28s %10.2f %s\n", what, value, unit);
    std::fflush(stdout);
}

template<typename T>
T required(Result<T> result) {
    if (!result)
        qFatal("%s", qPrintable(result.error().text()));
    if constexpr (!std::is_void_v<T>)
        return std::move(*result);
}

template<typename F>
double milliseconds(F&& work) {
    QElapsedTimer timer;
    timer.start();
    work();
    return static_cast<double>(timer.nsecsElapsed()) / 1e6;
}

} // namespace

int main(int argc, char* argv[]) {
    const QCoreApplication application(argc, argv);
    const int runs = argc > 1 ? QByteArray(argv[1]).toInt() : 1000;
    const int samples = argc > 2 ? QByteArray(argv[2]).toInt() : 100;
    if (runs < 1 || samples < 1)
        qFatal("Usage: bench_runrepository [RUNS] [SAMPLES_A_RUN]");
    const QTemporaryDir directory;
    const QString path = directory.filePath(QStringLiteral("runs.db"));

    QList<SampleRecord> records;
    for (int i = 0; i < samples; ++i)
        records.append(sample(i));
    qint64 last = 0;
    const double writing = milliseconds([&] {
        const auto repository = required(RunRepository::open(path));
        for (int run = 0; run < runs; ++run) {
            const Experiment e = experiment(run);
            last = required(repository->createRun(e, expandMatrix(e)));
            for (const SampleRecord& record : records)
                required(repository->addSample(last, record));
            required(repository->setRunState(last, RunState::Finished, {}));
        }
    });
    print("write a sample", writing / runs / samples, "ms");
    print("file", static_cast<double>(QFileInfo(path).size()) / 1e6, "MB");
    print("open, list (first time)", milliseconds([&] {
              const auto repository = required(RunRepository::open(path));
              if (required(repository->listRuns()).size() != runs)
                  qFatal("The list is not whole");
          }),
          "ms");
    const auto repository = required(RunRepository::open(path));
    print("list", milliseconds([&] { (void)required(repository->listRuns()); }), "ms");
    print("open a run (first)", milliseconds([&] { (void)required(repository->loadRun(1)); }),
          "ms");
    print("open a run (last)", milliseconds([&] { (void)required(repository->loadRun(last)); }),
          "ms");
    return 0;
}
