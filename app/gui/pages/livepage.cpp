// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/pages/livepage.h"

#include "app/gui/format.h"
#include "app/gui/icons.h"
#include "app/gui/looks.h"
#include "app/gui/pages/liveplot.h"
#include "app/gui/pages/tables.h"
#include "app/gui/runsession.h"
#include "core/model/metrics.h"

#include <QHeaderView>
#include <QLabel>
#include <QPlainTextEdit>
#include <QProgressBar>
#include <QPushButton>
#include <QSplitter>
#include <QTime>
#include <QVBoxLayout>

namespace knobscope {
namespace {

constexpr int kLogLines = 5000;

QString sampleResult(const Experiment& experiment, const SampleRecord& sample) {
    if (!sample.measured())
        return LivePage::tr("failed");
    const MetricInfo metric = metricInfo(mainMetric(experiment.test.kind));
    return QStringLiteral("%1 %2").arg(numberText(sample.metric(metric.name)), metric.unit);
}

/// Two splitters one above the other, parted at the same place.
void keepInLine(QSplitter* one, QSplitter* other) {
    for (QSplitter* splitter : {one, other}) {
        QSplitter* twin = splitter == one ? other : one;
        for (int part : {0, 1})
            splitter->setStretchFactor(part, 1);
        splitter->setSizes({1000, 1000});
        QObject::connect(splitter, &QSplitter::splitterMoved, twin,
                         [splitter, twin] { twin->setSizes(splitter->sizes()); });
    }
}

QWidget* titled(const QString& title, QWidget* content, QWidget* parent) {
    auto* box = new QWidget(parent);
    auto* label = new QLabel(title, box);
    label->setBuddy(content);
    auto* layout = new QVBoxLayout(box);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(2);
    layout->addWidget(label);
    layout->addWidget(content, 1);
    return box;
}

} // namespace

LivePage::LivePage(RunSession& session, QWidget* parent)
    : QWidget(parent), m_session(session), m_title(new QLabel(this)), m_phase(new QLabel(this)),
      m_progress(new QProgressBar(this)), m_remaining(new QLabel(this)),
      m_stop(new QPushButton(icon("stop"), tr("&Stop"), this)), m_cell(new QLabel(this)),
      m_knobs(new ResultTable("liveKnobs", tr("Knobs of the current sample"), this)),
      m_plot(new LivePlot(this)),
      m_samples(new ResultTable("liveSamples", tr("Samples so far"), this)),
      m_log(new QPlainTextEdit(this)) {
    setObjectName("livePage");
    m_phase->setObjectName("livePhase");
    m_progress->setObjectName("liveProgress");
    m_remaining->setObjectName("liveRemaining");
    m_stop->setObjectName("liveStop");
    m_cell->setObjectName("liveCell");
    m_log->setObjectName("liveLog");
    build();
    connectSession();
}

void LivePage::build() {
    QFont large = m_title->font();
    large.setPointSizeF(large.pointSizeF() * 1.3);
    large.setBold(true);
    m_title->setFont(large);
    for (QLabel* label : {m_title, m_cell, m_phase})
        letWrap(label);
    QFont strong = m_cell->font();
    strong.setBold(true);
    m_cell->setFont(strong);
    m_stop->setToolTip(tr("Ends the run and puts every knob back. It can be resumed later"));
    m_progress->setFormat(tr("%v of %m samples"));
    m_log->setReadOnly(true);
    m_log->setMaximumBlockCount(kLogLines);
    m_log->setAccessibleName(tr("Log"));

    auto* head = new QHBoxLayout;
    head->addWidget(m_title, 1);
    head->addWidget(m_stop);
    auto* progress = new QHBoxLayout;
    progress->addWidget(m_progress, 1);
    progress->addWidget(m_remaining);

    auto* now = new QWidget(this);
    auto* nowLayout = new QVBoxLayout(now);
    nowLayout->setContentsMargins(0, 0, 0, 0);
    nowLayout->addWidget(m_cell);
    nowLayout->addWidget(m_knobs, 1);
    auto* upper = new QSplitter(Qt::Horizontal, this);
    upper->addWidget(now);
    upper->addWidget(m_plot);
    auto* lower = new QSplitter(Qt::Horizontal, this);
    lower->addWidget(titled(tr("Samples so far"), m_samples, lower));
    lower->addWidget(titled(tr("Log"), m_log, lower));
    keepInLine(upper, lower);
    auto* split = new QSplitter(Qt::Vertical, this);
    split->addWidget(upper);
    split->addWidget(lower);
    split->setStretchFactor(0, 1);
    split->setStretchFactor(1, 1);
    for (QSplitter* splitter : {upper, lower, split})
        splitter->setChildrenCollapsible(false);

    auto* layout = new QVBoxLayout(this);
    layout->addLayout(head);
    layout->addWidget(m_phase);
    layout->addLayout(progress);
    layout->addWidget(split, 1);
}

void LivePage::connectSession() {
    connect(m_stop, &QPushButton::clicked, &m_session, &RunSession::stop);
    connect(&m_session, &RunSession::prepared, this, &LivePage::begin);
    connect(&m_session, &RunSession::phaseChanged, this, [this](const QString& phase) {
        m_phase->setText(breakable(phase));
        log(phase);
    });
    connect(&m_session, &RunSession::sampleStarted, this, &LivePage::showSample);
    connect(&m_session, &RunSession::intervalMeasured, m_plot, &LivePlot::add);
    connect(&m_session, &RunSession::sampleFinished, this, &LivePage::addSample);
    connect(&m_session, &RunSession::progressed, this, &LivePage::showProgress);
    connect(&m_session, &RunSession::logged, this, &LivePage::log);
    connect(&m_session, &RunSession::stopRequested, this, &LivePage::showStopping);
    connect(&m_session, &RunSession::finished, this, &LivePage::end);
}

void LivePage::begin(const Experiment& experiment, const QList<SampleRecord>& samples) {
    m_experiment = experiment;
    m_cells = expandMatrix(experiment);
    m_title->setText(breakable(experiment.name));
    m_accepted.clear();
    m_phase->setText(tr("Beginning"));
    m_cell->setText(tr("No sample yet"));
    m_remaining->clear();
    m_progress->setRange(0, 0);
    m_stop->setEnabled(true);
    m_knobs->setTable(knobTable(experiment, {}, {}));
    Table table;
    table.header = sampleHeader(experiment);
    for (const SampleRecord& sample : samples)
        table.rows.append(sampleRow(experiment, m_cells, sample));
    m_samples->setTable(table);
    m_log->clear();
    m_plot->begin(mainMetric(experiment.test.kind) == QLatin1String("transactions_s"),
                  experiment.test.seconds + experiment.test.warmupSeconds);
}

void LivePage::showSample(const SampleStart& sample) {
    m_phase->setText(sample.attempt == 0 ? tr("Measuring, block %1").arg(sample.block + 1)
                                         : tr("Measuring, block %1, attempt %2")
                                               .arg(QString::number(sample.block + 1),
                                                    QString::number(sample.attempt + 1)));
    if (sample.cell >= 0 && sample.cell < m_cells.size()) {
        m_cell->setText(cellTitle(m_experiment, m_cells[sample.cell]));
        m_knobsShown = knobTable(m_experiment, m_cells[sample.cell], sample.knobs,
                                 m_accepted.value(sample.cell));
        m_knobs->setTable(m_knobsShown);
    }
    m_plot->begin(mainMetric(m_experiment.test.kind) == QLatin1String("transactions_s"),
                  m_experiment.test.seconds + m_experiment.test.warmupSeconds);
}

void LivePage::showProgress(const RunProgress& progress) {
    m_progress->setRange(0, qMax(1, progress.planned));
    m_progress->setValue(progress.done);
    m_remaining->setText(tr("about %1 left").arg(durationText(progress.remainingSeconds)));
}

void LivePage::addSample(const SampleRecord& sample) {
    m_samples->appendRow(sampleRow(m_experiment, m_cells, sample));
    m_samples->scrollToBottom();
    if (sample.measured())
        m_accepted[sample.cell] = sample.knobs;
    else
        m_knobs->setTable(knobsUnknown(m_knobsShown));
    const bool known = sample.cell >= 0 && sample.cell < m_cells.size();
    log(tr("Sample %1, %2: %3")
            .arg(QString::number(sample.order + 1),
                 known ? cellTitle(m_experiment, m_cells[sample.cell]) : absentText(),
                 sampleResult(m_experiment, sample)));
    for (const QString& flag : sample.flags)
        log(flag);
}

void LivePage::log(const QString& line) {
    m_log->appendPlainText(QStringLiteral("%1  %2").arg(
        QTime::currentTime().toString(QStringLiteral("HH:mm:ss")), unbroken(line)));
}

void LivePage::showStopping() {
    m_stop->setEnabled(false);
    m_phase->setText(tr("Stopping: putting knobs back"));
    m_remaining->clear();
    log(tr("Stop requested"));
}

void LivePage::end(const RunOutcome& outcome) {
    m_stop->setEnabled(false);
    m_remaining->clear();
    if (m_progress->maximum() == 0)
        m_progress->setRange(0, 1);
    m_phase->setText(outcome.status == ExitStatus::AllWell ? tr("Finished")
                     : outcome.status == ExitStatus::Cancelled
                         ? tr("Stopped")
                         : tr("Ended: %1").arg(breakable(outcome.message)));
    m_knobs->setTable({});
    log(outcome.status == ExitStatus::AllWell || outcome.status == ExitStatus::Cancelled
            ? m_phase->text()
            : tr("Ended: %1").arg(outcome.message));
}

} // namespace knobscope
