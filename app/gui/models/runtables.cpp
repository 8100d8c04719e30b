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

TableCell textCell(const QString& text, const QString& toolTip = {}) {
    TableCell cell;
    cell.text = text;
    cell.toolTip = toolTip;
    return cell;
}

TableCell numberCell(const std::optional<double>& value) {
    TableCell cell;
    cell.text = numberText(value);
    cell.sort = value.value_or(-std::numeric_limits<double>::infinity()); // absent sorts lowest
    cell.number = true;
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
    const auto info = knobInfo(axis.knob);
    const QString title = info ? info->title : axis.knob;
    return axis.side == Side::Both ? title
                                   : QStringLiteral("%1 (%2)").arg(title, sideName(axis.side));
}

QStringList axisTitles(const Experiment& experiment) {
    QStringList titles;
    for (const Axis& axis : experiment.axes)
        titles.append(axisTitle(axis));
    return titles;
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

Table counterTable(const StoredRun& run, const QList<CounterRow>& counters) {
    Table table;
    table.header = {tr("Host"), tr("Source"), tr("Counter")};
    for (const Cell& cell : run.cells)
        table.header.append(cellLabel(run.experiment, cell).replace(", ", "\n"));
    table.header.append(tr("Spread"));
    for (const CounterRow& counter : counters) {
        TextTableModel::Row row = {textCell(sideName(counter.side)), textCell(counter.source),
                                   textCell(counter.name)};
        for (const std::optional<double>& value : counter.perCell)
            row.append(numberCell(value));
        while (row.size() < 3 + run.cells.size())
            row.append(numberCell(std::nullopt));
        TableCell spread = numberCell(counter.spread);
        spread.text = QStringLiteral("%1 %").arg(qRound(counter.spread * 100));
        row.append(spread);
        table.rows.append(row);
    }
    return table;
}

Table cellSummaryTable(const StoredRun& run) {
    Table table;
    const QString metric = mainMetric(run.experiment.test.kind);
    table.header = axisTitles(run.experiment);
    table.header << tr("n") << withUnit(metric) << tr("± half width") << tr("CV") << tr("Minimum")
                 << tr("Maximum") << tr("Retransmits") << tr("Flags");
    for (const Cell& cell : run.cells) {
        QList<double> values;
        QList<double> retransmits;
        QStringList flags;
        for (const SampleRecord& sample : run.samples) {
            if (sample.cell != cell.index || !sample.measured())
                continue;
            if (const auto value = metricAnywhere(sample, metric))
                values.append(*value);
            if (const auto value = sample.metric(QStringLiteral("retransmits")))
                retransmits.append(*value);
            flags.append(sample.flags);
        }
        flags.removeDuplicates();
        const Summary summary = summarize(values, run.experiment.plan.confidenceLevel);
        TextTableModel::Row row;
        for (const KnobValue& value : cell.values)
            row.append(valueCell(value));
        row.append(numberCell(static_cast<double>(summary.n)));
        row.append(numberCell(summary.mean));
        row.append(numberCell(summary.halfWidth));
        TableCell variation = numberCell(summary.coefficientOfVariation);
        if (summary.coefficientOfVariation)
            variation.text =
                QStringLiteral("%1 %").arg(*summary.coefficientOfVariation * 100, 0, 'f', 1);
        row.append(variation);
        row.append(numberCell(summary.minimum));
        row.append(numberCell(summary.maximum));
        row.append(numberCell(summarize(retransmits).mean));
        TableCell note = textCell(flags.join(QStringLiteral("; ")), flags.join(QLatin1Char('\n')));
        if (!flags.isEmpty())
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
    table.header = {tr("Fact"), tr("Sender"), tr("Receiver")};
    QMap<QString, QMap<Side, QString>> facts;
    for (const HostFacts& host : run.hosts) {
        facts[QStringLiteral("host")][host.side] = host.label;
        for (auto it = host.facts.cbegin(); it != host.facts.cend(); ++it)
            facts[it.key()][host.side] = it.value();
    }
    for (auto it = facts.cbegin(); it != facts.cend(); ++it) {
        TextTableModel::Row row = {textCell(it.key())};
        const bool differ = it->size() == 2 && it->first() != it->last();
        for (const Side side : {Side::Sender, Side::Receiver}) {
            const QString value = it->value(side, absentText());
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
                .arg(known ? cellLabel(run.experiment, run.cells[sample.cell]) : absentText(),
                     remark));
    }
    return lines;
}

Table checkTable(const PreflightReport& report) {
    Table table;
    table.header = {tr("Check"), tr("Host"), tr("Found")};
    for (const Check& check : report.checks) {
        const char* name = check.state == Check::State::Ok        ? "ok"
                           : check.state == Check::State::Warning ? "warning"
                                                                  : "failed";
        TableCell title = textCell(check.title, check.title);
        title.icon = icon(name);
        TableCell detail = textCell(check.detail, check.detail);
        detail.strong = check.state == Check::State::Failed;
        table.rows.append({title, textCell(check.host), detail});
    }
    return table;
}

Table knobTable(const Experiment& experiment, const Cell& cell, const QList<KnobState>& knobs) {
    Table table;
    table.header = {tr("Knob"), tr("Host"), tr("Requested"), tr("Accepted"), tr("State")};
    for (qsizetype i = 0; i < experiment.axes.size() && i < cell.values.size(); ++i) {
        const Axis& axis = experiment.axes[i];
        const auto info = knobInfo(axis.knob);
        if (!info || info->scope != KnobScope::Test)
            continue;
        table.rows.append({textCell(info->title, info->help), textCell(sideName(axis.side)),
                           textCell(cell.values[i].text),
                           textCell(absentText(), tr("A knob of the connection: what the kernel "
                                                     "made of it is a metric of the sample")),
                           textCell(tr("of the test"))});
    }
    for (const KnobState& state : knobs) {
        const auto info = knobInfo(state.knob);
        TableCell accepted = textCell(state.accepted.value_or(absentText()));
        TableCell outcome = textCell(state.status, state.error);
        const bool as =
            state.status == QLatin1String("applied") || state.status == QLatin1String("unchanged");
        accepted.strong = !as;
        outcome.icon = icon(as ? "ok" : "warning");
        table.rows.append({textCell(info ? info->title : state.knob, state.knob),
                           textCell(sideName(state.side)), textCell(state.requested), accepted,
                           outcome});
    }
    return table;
}

} // namespace knobscope
