// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/pages/runpage.h"

#include "app/gui/format.h"
#include "app/gui/icons.h"
#include "app/gui/job.h"
#include "app/gui/looks.h"
#include "app/gui/models/runlistmodel.h"
#include "app/gui/pages/curveview.h"
#include "app/gui/pages/exportdialogs.h"
#include "app/gui/pages/tables.h"
#include "core/model/plural.h"
#include "core/report/csvexport.h"
#include "db/runrepository.h"

#include <QDir>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QRegularExpression>
#include <QSplitter>
#include <QTabWidget>

namespace knobscope {

struct RunPage::Content {
    std::shared_ptr<const StoredRun> run; ///< null: error says why
    Error error;
    Table counters;
    Table samples;
    Table environment;
    QStringList remarks;
};

namespace {

/// Between a stop and going on nothing is measured, so a run's first and last moment do not tell.
double measuredSeconds(const StoredRun& run) {
    double seconds = 0;
    for (const SampleRecord& sample : run.samples) {
        if (sample.started.isValid() && sample.ended.isValid())
            seconds += static_cast<double>(sample.started.msecsTo(sample.ended)) / 1000;
    }
    return seconds;
}

QString summaryOf(const StoredRun& run) {
    const RunInfo& info = run.info;
    QStringList parts = {stateText(info), RunPage::tr("started %1").arg(timeText(info.started))};
    if (const double seconds = measuredSeconds(run); seconds > 0)
        parts.append(RunPage::tr("measured for %1").arg(durationText(seconds)));
    parts.append(info.sender == info.receiver
                     ? RunPage::tr("on %1").arg(info.sender)
                     : RunPage::tr("from %1 to %2").arg(info.sender, info.receiver));
    const bool unfinished =
        info.state != RunState::Finished && info.samplesPlanned > info.samplesDone;
    const auto samples = [](int count) {
        return counted(count, RunPage::tr("sample"), RunPage::tr("samples"));
    };
    parts.append(RunPage::tr("%1, %2, %3")
                     .arg(testKindTitle(info.testKind),
                          counted(run.cells.size(), RunPage::tr("cell"), RunPage::tr("cells")),
                          unfinished ? RunPage::tr("%1 of %2")
                                           .arg(info.samplesDone)
                                           .arg(samples(info.samplesPlanned))
                                     : samples(info.samplesDone)));
    if (info.samplesFailed > 0)
        parts.append(RunPage::tr("%1 failed").arg(samples(info.samplesFailed)));
    return parts.join(QStringLiteral("  ·  "));
}

} // namespace

RunPage::RunPage(const AppContext& context, QWidget* parent)
    : QWidget(parent), m_context(context), m_title(new QLabel(this)), m_summary(new QLabel(this)),
      m_figureButton(new QPushButton(icon("figure"), tr("Export f&igure…"), this)),
      m_csvButton(new QPushButton(icon("csv"), tr("Export &CSV…"), this)),
      m_resume(new QPushButton(icon("start"), tr("Res&ume"), this)), m_curve(new CurveView(this)),
      m_tabs(new QTabWidget(this)), m_counterFilter(new QLineEdit(this)),
      m_counterHint(new QLabel(this)),
      m_counters(new ResultTable("counters", tr("Counters that moved"), this)),
      m_cells(new ResultTable("cells", tr("Cells"), this)),
      m_samples(new ResultTable("samples", tr("Samples"), this)),
      m_environment(new ResultTable("environment", tr("Environment of the hosts"), this)),
      m_remarks(new QPlainTextEdit(this)) {
    setObjectName("runPage");
    m_title->setObjectName("runTitle");
    m_summary->setObjectName("runSummary");
    m_figureButton->setObjectName("exportFigure");
    m_csvButton->setObjectName("exportCsv");
    m_resume->setObjectName("resumeThis");
    m_tabs->setObjectName("runTabs");
    m_counterFilter->setObjectName("counterFilter");
    m_remarks->setObjectName("remarks");
    build();
    connect(m_figureButton, &QPushButton::clicked, this, &RunPage::exportFigureAs);
    connect(m_csvButton, &QPushButton::clicked, this, &RunPage::exportCsvTo);
    connect(m_resume, &QPushButton::clicked, this, [this] { emit resumeRequested(m_wanted); });
    connect(m_curve, &CurveView::metricChanged, this, &RunPage::showCells);
    connect(m_counterFilter, &QLineEdit::textChanged, m_counters, &ResultTable::setFilter);
}

QWidget* RunPage::buildHead() {
    auto* head = new QWidget(this);
    QFont large = m_title->font();
    large.setPointSizeF(large.pointSizeF() * 1.3);
    large.setBold(true);
    m_title->setFont(large);
    letWrap(m_title);
    letWrap(m_summary);
    m_figureButton->setToolTip(tr("PDF, SVG or PNG of the curve, sized for a paper or a slide"));
    m_csvButton->setToolTip(tr("Samples, cells, counters and environment as CSV files"));
    m_resume->setToolTip(tr("Measures what is still missing"));
    auto* first = new QHBoxLayout;
    first->addWidget(m_title, 1);
    first->addWidget(m_resume);
    first->addWidget(m_figureButton);
    first->addWidget(m_csvButton);
    auto* layout = new QVBoxLayout(head);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addLayout(first);
    layout->addWidget(m_summary);
    return head;
}

QWidget* RunPage::buildCounters() {
    auto* page = new QWidget(this);
    m_counterFilter->setPlaceholderText(tr("Filter: Retrans, ethtool, receiver…"));
    m_counterFilter->setAccessibleName(tr("Filter of counters"));
    m_counterFilter->setClearButtonEnabled(true);
    makeHint(m_counterHint);
    letWrap(m_counterHint);
    m_counterHint->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
    m_counters->freeze(kCounterNames);
    m_counters->sortFirstBy(kCounterSpread);
    auto* top = new QHBoxLayout;
    top->addWidget(m_counterFilter, 1);
    top->addWidget(m_counterHint, 1);
    auto* layout = new QVBoxLayout(page);
    layout->addLayout(top);
    layout->addWidget(m_counters, 1);
    return page;
}

void RunPage::build() {
    m_remarks->setReadOnly(true);
    m_remarks->setAccessibleName(tr("Remarks"));
    m_remarks->setPlaceholderText(tr("Nothing to remark: no flags, no failed attempts"));
    m_tabs->addTab(buildCounters(), tr("Cou&nters"));
    m_tabs->addTab(m_cells, tr("C&ells"));
    m_tabs->addTab(m_samples, tr("&Samples"));
    m_tabs->addTab(m_environment, tr("En&vironment"));
    m_tabs->addTab(m_remarks, tr("Remar&ks"));
    m_tabs->setDocumentMode(true);
    auto* split = new QSplitter(Qt::Vertical, this);
    split->addWidget(m_curve);
    split->addWidget(m_tabs);
    split->setStretchFactor(0, 3);
    split->setStretchFactor(1, 2);
    split->setChildrenCollapsible(false);
    auto* layout = new QVBoxLayout(this);
    layout->addWidget(buildHead());
    layout->addWidget(split, 1);
}

void RunPage::open(qint64 run) {
    m_wanted = run;
    startJob(
        *m_context.pool, this,
        [database = m_context.database, run] {
            Content content;
            const auto runs = RunRepository::open(database);
            Result<StoredRun> stored =
                runs ? (*runs)->loadRun(run) : Result<StoredRun>(tl::unexpected(runs.error()));
            if (!stored) {
                content.error = stored.error();
                return content;
            }
            content.counters = counterTable(*stored, countersThatMoved(*stored));
            content.samples = sampleTable(*stored);
            content.environment = environmentTable(*stored);
            content.remarks = remarks(*stored);
            content.run = std::make_shared<const StoredRun>(std::move(*stored));
            return content;
        },
        [this, run](const Content& content) {
            if (run == m_wanted)
                display(content);
        });
}

void RunPage::display(const Content& content) {
    if (!content.run) {
        emit failed(content.error);
        return;
    }
    m_run = content.run;
    m_title->setText(breakable(m_run->info.name));
    m_summary->setText(breakable(summaryOf(*m_run)));
    m_curve->setRun(m_run);
    m_counters->setTable(content.counters);
    showCells();
    m_counterHint->setText(
        m_run->experiment.axes.isEmpty()
            ? tr("Mean change per sample")
            : tr("Mean change per sample, for each %1")
                  .arg(axisTitles(m_run->experiment).join(QStringLiteral(" × "))));
    m_samples->setTable(content.samples);
    m_environment->setTable(content.environment);
    m_remarks->setPlainText(content.remarks.join(QLatin1Char('\n')));
    m_tabs->setTabText(m_tabs->indexOf(m_remarks),
                       content.remarks.isEmpty() ? tr("Remar&ks")
                                                 : tr("Remar&ks (%1)").arg(content.remarks.size()));
    setBusy(m_busy);
    emit opened(m_wanted);
}

/// The cells are summed up by what the curve shows.
void RunPage::showCells() {
    if (m_run)
        m_cells->setTable(cellSummaryTable(*m_run, m_curve->metric(), m_curve->host()));
}

void RunPage::setBusy(bool busy) {
    m_busy = busy;
    m_resume->setVisible(m_run && m_run->info.resumable);
    m_resume->setEnabled(!busy);
}

QString RunPage::suggestedName() const {
    QString name = m_run->info.name;
    static const QRegularExpression awkward(QStringLiteral("[^\\w.-]+"));
    name.replace(awkward, QStringLiteral("-"));
    return QStringLiteral("%1-%2").arg(name).arg(m_run->info.id);
}

void RunPage::exportFigureAs() {
    if (!m_run)
        return;
    if (!m_curve->curves()) {
        emit failed(m_curve->curves().error());
        return;
    }
    auto* dialog =
        new FigureDialog(*m_curve->curves(), QDir::home().filePath(suggestedName()), this);
    connect(dialog, &FigureDialog::exported, this,
            [this](const QString& path) { emit informed(tr("The figure is in %1").arg(path)); });
    dialog->open();
}

void RunPage::exportCsvTo() {
    if (!m_run)
        return;
    auto* dialog = new CsvDialog(QDir::home().filePath(suggestedName()), this);
    connect(dialog, &CsvDialog::chosen, this, &RunPage::writeCsv);
    dialog->open();
}

void RunPage::writeCsv(const QString& folder) {
    startJob(
        *m_context.pool, this, [run = m_run, folder] { return exportCsv(*run, folder); },
        [this, folder](const Result<QStringList>& files) {
            if (files)
                emit informed(tr("%1 files are in %2").arg(files->size()).arg(folder));
            else
                emit failed(files.error());
        });
}

} // namespace knobscope
