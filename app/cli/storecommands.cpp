// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/commands.h"
#include "app/cli/counterrange.h"
#include "app/cli/jsondocuments.h"
#include "app/cli/texttable.h"
#include "core/model/knobcatalogue.h"
#include "core/model/metrics.h"
#include "core/model/plural.h"
#include "core/report/csvexport.h"
#include "core/report/curves.h"
#include "core/report/hostcells.h"
#include "db/runrepository.h"

#include <algorithm>
#include <cmath>

namespace knobscope::cli {

namespace {

constexpr qsizetype kCountersShown = 15;
constexpr qsizetype kHostRowsShown = 64;

QString timeText(const QDateTime& time) {
    return time.isValid() ? time.toLocalTime().toString(QStringLiteral("yyyy-MM-dd HH:mm:ss"))
                          : QStringLiteral("-");
}

QString samplesText(const RunInfo& info) {
    QString text = QStringLiteral("%1/%2").arg(info.samplesDone).arg(info.samplesPlanned);
    if (info.samplesFailed > 0)
        text += QStringLiteral(", %1 failed").arg(info.samplesFailed);
    return text;
}

QString stateText(const RunInfo& info) {
    return runStateName(info.state) +
           (info.resumable ? QStringLiteral(", can be resumed") : QString());
}

QString header(const StoredRun& run, int width) {
    const RunInfo& info = run.info;
    QList<QStringList> rows{{QStringLiteral("Run"), QString::number(info.id)},
                            {QStringLiteral("Name"), info.name},
                            {QStringLiteral("State"), stateText(info)},
                            {QStringLiteral("Started"), timeText(info.started)},
                            {QStringLiteral("Ended"), timeText(info.ended)}};
    for (const HostRef host : run.experiment.hostRefs()) {
        QString name = hostName(host);
        name[0] = name[0].toUpper();
        rows.append({name, run.experiment.host(host).label()});
    }
    rows.append({QStringLiteral("Test"), info.testKind});
    rows.append({QStringLiteral("Samples"), samplesText(info)});
    for (const HostFacts& host : run.hosts) {
        const auto kernel = host.facts.constFind(QStringLiteral("kernel"));
        if (kernel != host.facts.cend())
            rows.append({QStringLiteral("Kernel (%1)").arg(hostName(host.host)), *kernel});
    }
    if (!info.message.isEmpty())
        rows.append({QStringLiteral("Message"), info.message});
    return nameValueTable(rows, width);
}

QString cellText(const StoredRun& run, int cell) {
    const QString label = cell >= 0 && cell < run.cells.size()
                              ? cellLabel(run.experiment, run.cells[cell])
                              : QString();
    return label.isEmpty() ? QStringLiteral("cell %1").arg(cell + 1) : label;
}

/// Flags are often the same for all repeats of a cell; each is told once, with its count.
QString flagsText(const StoredRun& run) {
    QMap<std::pair<int, QString>, int> counts;
    for (const SampleRecord& sample : run.samples)
        for (const QString& flag : sample.flags)
            ++counts[{sample.cell, flag}];
    if (counts.isEmpty())
        return {};
    QString text = QStringLiteral("\nFlags\n");
    for (auto flag = counts.cbegin(); flag != counts.cend(); ++flag)
        text += QStringLiteral("  %1: %2 (%3)\n")
                    .arg(cellText(run, flag.key().first), flag.key().second,
                         counted(flag.value(), QStringLiteral("sample")));
    return text;
}

QString failuresText(const StoredRun& run) {
    QString text;
    for (const SampleRecord& sample : run.samples) {
        if (!sample.measured())
            text += QStringLiteral("  %1, block %2, attempt %3: %4\n")
                        .arg(cellText(run, sample.cell))
                        .arg(sample.block + 1)
                        .arg(sample.attempt + 1)
                        .arg(sample.reason);
    }
    return text.isEmpty() ? text : QStringLiteral("\nFailed attempts\n") + text;
}

/// "64K/16384": a cell by its values, in the order of the axes.
QString valuesText(const StoredRun& run, qsizetype cell) {
    QStringList values;
    for (const KnobValue& value : run.cells.value(cell).values)
        values.append(value.text);
    return values.join(QLatin1Char('/'));
}

/// What the values of valuesText() belong to.
QString axesText(const Experiment& experiment) {
    QStringList names;
    for (const Axis& axis : experiment.axes)
        names.append(shortKnobName(axis.knob));
    return names.join(QLatin1Char('/'));
}

/// What each host of a side that has several did in each cell.
QString hostsText(const StoredRun& run, int width) {
    const QList<HostCell> cells = hostCells(run);
    if (cells.isEmpty())
        return {};
    const QString main = mainMetric(run.experiment.test.kind);
    const auto number = [](const HostCell& figures, const QString& metric) {
        const auto mean = figures.means.constFind(metric);
        return mean == figures.means.cend() ? QStringLiteral("-") : numberText(*mean);
    };
    QList<QStringList> rows;
    for (const HostCell& figures : cells.first(std::min(kHostRowsShown, cells.size())))
        rows.append({hostName(figures.host), figures.label, valuesText(run, figures.cell),
                     number(figures, main), number(figures, QStringLiteral("retransmits")),
                     number(figures, QStringLiteral("cpu_percent"))});
    QString title = QStringLiteral("\nHosts (mean a sample");
    if (!run.experiment.axes.isEmpty())
        title += QStringLiteral("; cells as ") + axesText(run.experiment);
    QString text = wrapped(title + QLatin1Char(')'), width) + table({{QStringLiteral("Host")},
                                                                     {QStringLiteral("name"), 16},
                                                                     {QStringLiteral("cell")},
                                                                     {metricInfo(main).unit},
                                                                     {QStringLiteral("retrans")},
                                                                     {QStringLiteral("CPU %")}},
                                                                    rows, width);
    if (cells.size() > kHostRowsShown)
        text += QStringLiteral("and %1 (--json has all)\n")
                    .arg(counted(cells.size() - kHostRowsShown, QStringLiteral("other")));
    return text;
}

/// Mean per sample in the cell where a counter moved least and most; of all hosts of a side.
QString countersText(const StoredRun& run, int width) {
    QList<CounterRow> counters = countersThatMoved(run);
    counters.removeIf([](const CounterRow& counter) { return counter.host.number > 0; });
    if (counters.isEmpty())
        return {};
    QList<QStringList> rows;
    for (const CounterRow& counter : counters.first(std::min(kCountersShown, counters.size()))) {
        if (const auto range = rangeOf(counter))
            rows.append({counter.name, sideName(counter.host.side), counter.source,
                         numberText(*counter.perCell[range->least]), valuesText(run, range->least),
                         numberText(*counter.perCell[range->most]), valuesText(run, range->most)});
    }
    QString title =
        QStringLiteral("\nCounters that differ most between cells (mean a sample; %1 moved")
            .arg(counters.size());
    if (!run.experiment.axes.isEmpty())
        title += QStringLiteral("; cells as ") + axesText(run.experiment);
    return wrapped(title + QLatin1Char(')'), width) + table({{QStringLiteral("Counter"), 16},
                                                             {QStringLiteral("side")},
                                                             {QStringLiteral("source")},
                                                             {QStringLiteral("least"), 0, true},
                                                             {QStringLiteral("in")},
                                                             {QStringLiteral("most"), 0, true},
                                                             {QStringLiteral("in")}},
                                                            rows, width);
}

QString runsTable(const QList<RunInfo>& runs, int width) {
    QList<QStringList> rows;
    for (const RunInfo& info : runs)
        rows.append({QString::number(info.id), timeText(info.started), info.name, stateText(info),
                     info.sender + QStringLiteral(" → ") + info.receiver, info.testKind,
                     QString::number(info.cells), samplesText(info)});
    return table({{QStringLiteral("Run")},
                  {QStringLiteral("Started")},
                  {QStringLiteral("Name"), 24},
                  {QStringLiteral("State")},
                  {QStringLiteral("Hosts"), 24},
                  {QStringLiteral("Test")},
                  {QStringLiteral("Cells")},
                  {QStringLiteral("Samples")}},
                 rows, width);
}

} // namespace

int listRuns(const Arguments& arguments, Console& console) {
    QList<RunInfo> runs;
    const auto repository = readRuns(arguments);
    if (repository && *repository) {
        auto list = (*repository)->listRuns();
        if (!list) {
            console.error(list.error());
            return statusOf(list.error());
        }
        runs = std::move(*list);
    } else if (!repository) {
        console.error(repository.error());
        return statusOf(repository.error());
    }
    if (arguments.json)
        console.print(runsJson(runs));
    else if (runs.isEmpty())
        console.note(QStringLiteral("No run is stored yet; measure one with: knobscope-cli run "
                                    "FILE"));
    else
        console.print(runsTable(runs, console.width()));
    return static_cast<int>(ExitStatus::AllWell);
}

int showRun(const Arguments& arguments, Console& console) {
    const auto run = loadRun(arguments);
    if (!run) {
        console.error(run.error());
        return statusOf(run.error());
    }
    if (arguments.json) {
        console.print(runJson(*run));
        return static_cast<int>(ExitStatus::AllWell);
    }
    const int width = console.width();
    console.print(header(*run, width) + QLatin1Char('\n') +
                  wrapped(cellTable(*run) + flagsText(*run) + failuresText(*run), width) +
                  hostsText(*run, width) + countersText(*run, width));
    return static_cast<int>(ExitStatus::AllWell);
}

int exportRun(const Arguments& arguments, Console& console) {
    const auto run = loadRun(arguments);
    if (!run) {
        console.error(run.error());
        return statusOf(run.error());
    }
    if (!arguments.csvDir.isEmpty()) {
        const auto paths = exportCsv(*run, arguments.csvDir);
        if (!paths) {
            console.error(paths.error());
            return statusOf(paths.error());
        }
        for (const QString& path : *paths)
            console.print(QStringLiteral("Wrote ") + path);
    }
    if (!arguments.figure.isEmpty()) {
        if (const auto drawn = drawFigure(*run, arguments.style, arguments.figure); !drawn) {
            console.error(drawn.error());
            return statusOf(drawn.error());
        }
        console.print(QStringLiteral("Wrote ") + arguments.figure);
    }
    return static_cast<int>(ExitStatus::AllWell);
}

} // namespace knobscope::cli
