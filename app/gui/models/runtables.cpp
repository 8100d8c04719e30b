// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/models/runtables.h"

#include "app/gui/format.h"
#include "app/gui/icons.h"
#include "core/model/metrics.h"
#include "core/model/statistics.h"

#include <QCoreApplication>

#include <algorithm>
#include <limits>

namespace knobscope {
namespace {

QString tr(const char* text) {
    return QCoreApplication::translate("RunTables", text);
}

TableCell numberCell(const std::optional<double>& value) {
    TableCell cell;
    cell.text = numberText(value);
    cell.sort = value.value_or(-std::numeric_limits<double>::infinity()); // absent sorts lowest
    cell.number = true;
    cell.value = value;
    return cell;
}

/// A number that is written its own way.
TableCell percentCell(double part, int decimals) {
    TableCell cell = numberCell(part);
    cell.text = QStringLiteral("%1 %").arg(part * 100, 0, 'f', decimals);
    cell.value.reset();
    return cell;
}

/// A knob's value: sorts by its number, with words such as auto after all numbers.
TableCell valueCell(const KnobValue& value) {
    TableCell cell;
    cell.text = value.text;
    cell.sort =
        value.number ? static_cast<double>(*value.number) : std::numeric_limits<double>::max();
    return cell;
}

QString axisTitle(const Axis& axis) {
    const QString title = knobTitle(axis.knob);
    return axis.side == Side::Both ? title
                                   : QStringLiteral("%1 (%2)").arg(title, sideName(axis.side));
}

QString withUnit(const QString& metric) {
    const MetricInfo info = metricInfo(metric);
    return info.unit.isEmpty() ? info.title : QStringLiteral("%1 (%2)").arg(info.title, info.unit);
}

/// Where a metric is: of the sample, or of one end.
std::optional<double> metricAnywhere(const SampleRecord& sample, const QString& name) {
    for (const Side side : {Side::Whole, Side::Receiver, Side::Sender}) {
        if (const auto value = sample.metric(name, side))
            return value;
    }
    return std::nullopt;
}

QString stateOf(const SampleRecord& sample) {
    switch (sample.state) {
    case SampleState::Done:
        return tr("done");
    case SampleState::Flagged:
        return tr("flagged");
    case SampleState::Failed:
        return tr("failed");
    }
    return {};
}

const char* iconOf(const SampleRecord& sample) {
    return sample.state == SampleState::Done      ? "ok"
           : sample.state == SampleState::Flagged ? "warning"
                                                  : "failed";
}

QString remarkOf(const SampleRecord& sample) {
    return sample.state == SampleState::Failed ? sample.reason
                                               : sample.flags.join(QStringLiteral("; "));
}

} // namespace

TableCell textCell(const QString& text, const QString& toolTip) {
    TableCell cell;
    cell.text = text;
    cell.toolTip = toolTip;
    return cell;
}

QStringList axisTitles(const Experiment& experiment) {
    QStringList titles;
    for (const Axis& axis : experiment.axes)
        titles.append(axisTitle(axis));
    return titles;
}

QString cellTitle(const Experiment& experiment, const Cell& cell) {
    QStringList parts;
    for (qsizetype i = 0; i < experiment.axes.size() && i < cell.values.size(); ++i) {
        const Axis& axis = experiment.axes[i];
        const auto twins = std::count_if(experiment.axes.begin(), experiment.axes.end(),
                                         [&](const Axis& a) { return a.knob == axis.knob; });
        parts.append(QStringLiteral("%1 %2").arg(twins > 1 ? axisTitle(axis) : knobTitle(axis.knob),
                                                 cell.values[i].text));
    }
    return parts.isEmpty() ? tr("the only cell") : parts.join(QStringLiteral(", "));
}

Table counterTable(const StoredRun& run, const QList<CounterRow>& counters) {
    Table table;
    table.header = {tr("Host"), tr("Source"), tr("Counter"), tr("Spread")};
    table.tips = {{},
                  {},
                  {},
                  tr("How much the counter differs between the cells: (most - least) / most.\n"
                     "Counters of fewer than 10 events per sample have none.")};
    for (const Cell& cell : run.cells) {
        QStringList values;
        for (const KnobValue& value : cell.values)
            values.append(value.text);
        table.header.append(values.isEmpty() ? tr("All") : values.join(QLatin1Char('\n')));
        table.tips.append(cellTitle(run.experiment, cell));
    }
    for (const CounterRow& counter : counters) {
        double most = 0;
        for (const std::optional<double>& value : counter.perCell)
            most = std::max(most, std::abs(value.value_or(0)));
        if (most <= 0)
            continue;
        TextTableModel::Row row = {textCell(hostName(counter.host)), textCell(counter.source),
                                   textCell(counter.name, counter.name)};
        constexpr double kFewEvents = 10;
        if (most >= kFewEvents) {
            row.append(percentCell(counter.spread, 0));
        } else {
            TableCell few = numberCell(std::nullopt);
            few.sort = most / kFewEvents - 1; // behind all spreads, the most events first
            row.append(few);
        }
        for (const std::optional<double>& value : counter.perCell)
            row.append(numberCell(value));
        while (row.size() < table.header.size())
            row.append(numberCell(std::nullopt));
        table.rows.append(row);
    }
    return table;
}

Table cellSummaryTable(const StoredRun& run, const QString& metric, HostRef host) {
    struct Found {
        QList<double> values;
        QList<double> retransmits;
        QStringList flags;
    };
    QHash<int, Found> found;
    for (const SampleRecord& sample : run.samples) {
        if (!sample.measured())
            continue;
        Found& cell = found[sample.cell];
        if (const auto value = sample.metric(metric, host))
            cell.values.append(*value);
        if (const auto value = sample.metric(QStringLiteral("retransmits")))
            cell.retransmits.append(*value);
        cell.flags.append(sample.flags);
    }
    Table table;
    QString of;
    if (host.side != Side::Whole)
        of = tr(" of ") + hostPhrase(host);
    const MetricInfo info = metricInfo(metric);
    table.header = axisTitles(run.experiment);
    table.header << tr("n")
                 << (info.unit.isEmpty()
                         ? info.title + of
                         : QStringLiteral("%1%2 (%3)").arg(info.title, of, info.unit))
                 << tr("± half width") << tr("CV") << tr("Minimum") << tr("Maximum")
                 << tr("Retransmits") << tr("Flags");
    for (const Cell& cell : run.cells) {
        Found measured = found.value(cell.index);
        measured.flags.removeDuplicates();
        const Summary summary = summarize(measured.values, run.experiment.plan.confidenceLevel);
        TextTableModel::Row row;
        for (const KnobValue& value : cell.values)
            row.append(valueCell(value));
        row.append(numberCell(static_cast<double>(summary.n)));
        row.append(numberCell(summary.mean));
        row.append(numberCell(summary.halfWidth));
        row.append(summary.coefficientOfVariation ? percentCell(*summary.coefficientOfVariation, 1)
                                                  : numberCell(std::nullopt));
        row.append(numberCell(summary.minimum));
        row.append(numberCell(summary.maximum));
        row.append(numberCell(summarize(measured.retransmits).mean));
        TableCell note = textCell(measured.flags.join(QStringLiteral("; ")),
                                  measured.flags.join(QLatin1Char('\n')));
        if (!measured.flags.isEmpty())
            note.icon = icon("warning");
        row.append(note);
        table.rows.append(row);
    }
    return table;
}

QStringList sampleHeader(const Experiment& experiment) {
    QStringList header = {tr("No."), tr("Block"), tr("State")};
    header << axisTitles(experiment) << withUnit(mainMetric(experiment.test.kind))
           << tr("Retransmits") << tr("CPU sender (%)") << tr("CPU receiver (%)") << tr("Started")
           << tr("Remark");
    return header;
}

TextTableModel::Row sampleRow(const Experiment& experiment, const QList<Cell>& cells,
                              const SampleRecord& sample) {
    TextTableModel::Row row;
    row.append(numberCell(static_cast<double>(sample.order + 1)));
    row.append(numberCell(static_cast<double>(sample.block + 1)));
    TableCell state = textCell(stateOf(sample));
    state.icon = icon(iconOf(sample));
    if (sample.attempt > 0)
        state.text += QStringLiteral(" (%1)").arg(tr("attempt %1").arg(sample.attempt + 1));
    row.append(state);
    const bool known = sample.cell >= 0 && sample.cell < cells.size();
    for (qsizetype axis = 0; axis < experiment.axes.size(); ++axis) {
        const bool valued = known && axis < cells[sample.cell].values.size();
        row.append(valued ? valueCell(cells[sample.cell].values[axis]) : textCell(absentText()));
    }
    row.append(numberCell(metricAnywhere(sample, mainMetric(experiment.test.kind))));
    row.append(numberCell(sample.metric(QStringLiteral("retransmits"))));
    row.append(numberCell(sample.metric(QStringLiteral("cpu_percent"), Side::Sender)));
    row.append(numberCell(sample.metric(QStringLiteral("cpu_percent"), Side::Receiver)));
    TableCell started = textCell(timeText(sample.started));
    started.sort = sample.started;
    row.append(started);
    row.append(textCell(remarkOf(sample), remarkOf(sample)));
    return row;
}

Table sampleTable(const StoredRun& run) {
    Table table;
    table.header = sampleHeader(run.experiment);
    for (const SampleRecord& sample : run.samples)
        table.rows.append(sampleRow(run.experiment, run.cells, sample));
    return table;
}

Table environmentTable(const StoredRun& run) {
    Table table;
    table.header = {tr("Fact")};
    const QList<HostRef> hosts = run.experiment.hostRefs();
    for (const HostRef host : hosts) {
        QString name = hostName(host);
        name[0] = name[0].toUpper();
        table.header.append(name);
    }
    QMap<QString, QMap<HostRef, QString>> facts;
    for (const HostFacts& host : run.hosts) {
        facts[QStringLiteral("host")][host.host] = host.label;
        for (auto it = host.facts.cbegin(); it != host.facts.cend(); ++it)
            facts[it.key()][host.host] = it.value();
    }
    for (auto it = facts.cbegin(); it != facts.cend(); ++it) {
        TextTableModel::Row row = {textCell(it.key())};
        const bool differ = it->size() == hosts.size() &&
                            std::any_of(it->cbegin(), it->cend(),
                                        [&](const QString& value) { return value != it->first(); });
        for (const HostRef host : hosts) {
            const QString value = it->value(host, absentText());
            TableCell cell = textCell(value, value);
            cell.strong = differ;
            row.append(cell);
        }
        table.rows.append(row);
    }
    return table;
}

QStringList remarks(const StoredRun& run) {
    QStringList lines;
    if (!run.info.message.isEmpty())
        lines.append(tr("The run: %1").arg(run.info.message));
    for (const SampleRecord& sample : run.samples) {
        const QString remark = remarkOf(sample);
        if (remark.isEmpty())
            continue;
        const bool known = sample.cell >= 0 && sample.cell < run.cells.size();
        lines.append(
            QStringLiteral("%1  %2 %3 (%4): %5")
                .arg(timeText(sample.started), tr("sample"))
                .arg(sample.order + 1)
                .arg(known ? cellTitle(run.experiment, run.cells[sample.cell]) : absentText(),
                     remark));
    }
    return lines;
}

namespace {

/// Of a test knob: what the kernel made of it in the cell's sample before.
TableCell acceptedCell(const Axis& axis, const QList<KnobState>& earlier) {
    QStringList accepted;
    bool as = true;
    for (const KnobState& state : earlier) {
        if (state.knob != axis.knob || !state.accepted ||
            (axis.side != Side::Both && axis.side != state.host.side))
            continue;
        if (!accepted.contains(*state.accepted))
            accepted.append(*state.accepted);
        as = as && *state.accepted == state.requested;
    }
    if (accepted.isEmpty())
        return textCell(absentText(), tr("Known when a sample of the cell has ended, for knobs "
                                         "that the kernel may change"));
    TableCell cell = textCell(accepted.join(QStringLiteral(", ")),
                              tr("As read back in the cell's sample before"));
    cell.strong = !as;
    return cell;
}

} // namespace

Table knobTable(const Experiment& experiment, const Cell& cell, const QList<KnobState>& knobs,
                const QList<KnobState>& earlier) {
    Table table;
    table.header = {tr("Knob"), tr("Host"), tr("Requested"), tr("Accepted"), tr("State")};
    for (qsizetype i = 0; i < experiment.axes.size() && i < cell.values.size(); ++i) {
        const Axis& axis = experiment.axes[i];
        const auto info = knobInfo(axis.knob);
        if (!info || info->scope != KnobScope::Test)
            continue;
        table.rows.append({textCell(info->title, info->help), textCell(sideName(axis.side)),
                           textCell(cell.values[i].text), acceptedCell(axis, earlier),
                           textCell(tr("of the test"))});
    }
    for (const KnobState& state : knobs) {
        const auto info = knobInfo(state.knob);
        if (info && info->scope == KnobScope::Test)
            continue;
        TableCell accepted = textCell(state.accepted.value_or(absentText()));
        TableCell outcome = textCell(state.status, state.error);
        const bool as =
            state.status == QLatin1String("applied") || state.status == QLatin1String("unchanged");
        accepted.strong = !as;
        outcome.icon = icon(as ? "ok" : "warning");
        table.rows.append({textCell(knobTitle(state.knob), state.knob),
                           textCell(hostName(state.host)), textCell(state.requested), accepted,
                           outcome});
    }
    return table;
}

Table knobsUnknown(Table table) {
    constexpr int kAccepted = 3;
    constexpr int kState = 4;
    for (TextTableModel::Row& row : table.rows) {
        if (row.size() <= kState || row[kState].icon.isNull())
            continue; // of the test
        row[kAccepted] = textCell(absentText());
        row[kState] = textCell(tr("unknown: the sample failed"));
        row[kState].icon = icon("warning");
    }
    return table;
}

} // namespace knobscope
