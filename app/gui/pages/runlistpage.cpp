// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/pages/runlistpage.h"

#include "app/gui/icons.h"
#include "app/gui/job.h"
#include "app/gui/looks.h"
#include "app/gui/models/runlistmodel.h"
#include "db/runrepository.h"

#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QScrollBar>
#include <QShortcut>
#include <QSortFilterProxyModel>
#include <QStackedWidget>
#include <QTableView>
#include <QVBoxLayout>

namespace knobscope {
namespace {

Result<QList<RunInfo>> readRuns(const QString& database) {
    const auto runs = RunRepository::open(database);
    if (!runs)
        return tl::unexpected(runs.error());
    return (*runs)->listRuns();
}

} // namespace

/// Says so when no run passes the filter.
class RunTable : public QTableView {
public:
    using QTableView::QTableView;
    QString filter;

protected:
    void paintEvent(QPaintEvent* event) override {
        QTableView::paintEvent(event);
        if (model()->rowCount() == 0 && !filter.isEmpty())
            paintNote(this, RunListPage::tr("No run matches \"%1\".").arg(filter));
    }
};

RunListPage::RunListPage(const AppContext& context, QWidget* parent)
    : QWidget(parent), m_context(context), m_model(new RunListModel(this)),
      m_proxy(new QSortFilterProxyModel(this)), m_stack(new QStackedWidget(this)) {
    setObjectName("runListPage");
    m_proxy->setSourceModel(m_model);
    m_proxy->setSortRole(RunListModel::kSortRole);
    m_proxy->setFilterKeyColumn(-1);
    m_proxy->setFilterCaseSensitivity(Qt::CaseInsensitive);
    m_stack->addWidget(new QWidget(this)); // until the list has been read
    m_stack->addWidget(buildList());
    m_stack->addWidget(buildEmpty());
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(m_stack);
}

QWidget* RunListPage::buildList() {
    auto* page = new QWidget(this);
    m_filter = new QLineEdit(page);
    m_filter->setObjectName("runFilter");
    m_filter->setPlaceholderText(tr("Filter by name, host or knob"));
    m_filter->setAccessibleName(tr("Filter"));
    m_filter->setClearButtonEnabled(true);
    m_table = new RunTable(page);
    m_table->setObjectName("runTable");
    m_table->setAccessibleName(tr("Runs"));
    m_table->setModel(m_proxy);
    m_table->setSelectionBehavior(QAbstractItemView::SelectRows);
    m_table->setSelectionMode(QAbstractItemView::SingleSelection);
    m_table->setSortingEnabled(true);
    m_table->sortByColumn(RunListModel::Started, Qt::DescendingOrder);
    m_table->setAlternatingRowColors(true);
    m_table->setShowGrid(false);
    m_table->setTabKeyNavigation(false);
    m_table->setWordWrap(false);
    m_table->verticalHeader()->hide();
    m_table->horizontalHeader()->setHighlightSections(false);
    m_table->horizontalHeader()->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    m_table->horizontalHeader()->setResizeContentsPrecision(100);

    const auto makeButton = [page](const char* name, const char* iconName, const QString& text) {
        auto* button = new QPushButton(icon(iconName), text, page);
        button->setObjectName(name);
        return button;
    };
    m_open = makeButton("openRun", "chart", tr("&Open"));
    m_resume = makeButton("resumeRun", "start", tr("Res&ume"));
    m_resume->setToolTip(tr("Measures what is still missing"));
    m_delete = makeButton("deleteRun", "delete", tr("&Delete…"));
    m_create = makeButton("newExperiment", "new", tr("&New experiment…"));

    auto* top = new QHBoxLayout;
    top->addWidget(m_filter, 1);
    top->addWidget(m_open);
    top->addWidget(m_resume);
    top->addWidget(m_delete);
    top->addWidget(m_create);
    auto* layout = new QVBoxLayout(page);
    layout->addLayout(top);
    layout->addWidget(m_table, 1);

    connect(m_filter, &QLineEdit::textChanged, this, [this](const QString& text) {
        m_table->filter = text;
        m_proxy->setFilterFixedString(text);
        m_table->viewport()->update();
        updateButtons();
    });
    connect(m_table, &QTableView::activated, this, &RunListPage::openSelected);
    connect(m_table->selectionModel(), &QItemSelectionModel::selectionChanged, this,
            &RunListPage::updateButtons);
    connect(m_open, &QPushButton::clicked, this, &RunListPage::openSelected);
    connect(m_resume, &QPushButton::clicked, this, [this] {
        if (const auto run = selected())
            emit resumeRequested(run->id);
    });
    connect(m_delete, &QPushButton::clicked, this, [this] {
        if (const auto run = selected())
            emit deleteRequested(*run);
    });
    connect(m_create, &QPushButton::clicked, this, &RunListPage::newRequested);
    updateButtons();
    return page;
}

QWidget* RunListPage::buildEmpty() {
    auto* page = new QWidget(this);
    auto* picture = new QLabel(page);
    constexpr int kPicture = 96;
    picture->setPixmap(icon("knobscope").pixmap(kPicture, kPicture));
    picture->setAlignment(Qt::AlignCenter);
    auto* heading = new QLabel(tr("Which setting is best, and by how much?"), page);
    QFont large = heading->font();
    large.setPointSizeF(large.pointSizeF() * 1.6);
    heading->setFont(large);
    heading->setAlignment(Qt::AlignCenter);
    auto* text = new QLabel(
        tr("An experiment sets knobs on two hosts, measures the network at every setting, and puts "
           "every knob back.\nThis computer can be both hosts: a first curve takes half a minute "
           "and changes nothing."),
        page);
    text->setAlignment(Qt::AlignCenter);
    text->setWordWrap(true);
    auto* here = new QPushButton(icon("start"), tr("&Measure this computer"), page);
    here->setObjectName("measureHere");
    here->setDefault(true);
    here->setMinimumSize(260, 44);
    auto* create = new QPushButton(icon("new"), tr("&New experiment…"), page);
    create->setObjectName("newExperimentEmpty");
    create->setMinimumSize(260, 34);

    auto* layout = new QVBoxLayout(page);
    layout->addStretch(2);
    layout->addWidget(picture);
    layout->addSpacing(12);
    layout->addWidget(heading);
    layout->addSpacing(6);
    layout->addWidget(text);
    layout->addSpacing(20);
    layout->addWidget(here, 0, Qt::AlignCenter);
    layout->addWidget(create, 0, Qt::AlignCenter);
    layout->addStretch(3);
    connect(here, &QPushButton::clicked, this, &RunListPage::measureHereRequested);
    connect(create, &QPushButton::clicked, this, &RunListPage::newRequested);
    return page;
}

void RunListPage::reload() {
    startJob(
        *m_context.pool, this, [database = m_context.database] { return readRuns(database); },
        [this](const Result<QList<RunInfo>>& runs) {
            if (!runs) {
                m_stack->setCurrentIndex(1);
                emit failed(runs.error());
                return;
            }
            display(*runs);
        });
}

void RunListPage::display(const QList<RunInfo>& runs) {
    const auto before = selected();
    const int scrolled = m_table->verticalScrollBar()->value();
    const bool grown = m_model->rowCount() != runs.size();
    if (m_wanted == 0 && before)
        m_wanted = before->id;
    m_model->setRuns(runs);
    m_stack->setCurrentIndex(runs.isEmpty() ? 2 : 1);
    if (grown) // else the widths are the user's
        fitColumns();
    const bool moved = !before || before->id != m_wanted;
    selectRun(m_wanted);
    if (!moved)
        m_table->verticalScrollBar()->setValue(scrolled);
    m_wanted = 0;
    if (!selected() && m_proxy->rowCount() > 0)
        m_table->selectRow(0);
    updateButtons();
    emit loaded(static_cast<int>(runs.size()));
}

void RunListPage::fitColumns() {
    m_table->resizeColumnsToContents();
    for (int column = 0; column < RunListModel::ColumnCount; ++column) {
        constexpr int kWidest = 420;
        m_table->setColumnWidth(column, qMin(m_table->columnWidth(column) + 12, kWidest));
    }
    m_table->horizontalHeader()->setStretchLastSection(true);
}

void RunListPage::setBusy(bool busy, qint64 measured) {
    m_busy = busy;
    m_measured = measured;
    updateButtons();
}

void RunListPage::selectRun(qint64 run) {
    const int row = m_model->rowOf(run);
    if (row < 0) {
        m_wanted = run;
        return;
    }
    const QModelIndex index = m_proxy->mapFromSource(m_model->index(row, 0));
    if (index.isValid())
        m_table->selectRow(index.row());
}

std::optional<RunInfo> RunListPage::selected() const {
    const QModelIndexList rows = m_table->selectionModel()->selectedRows();
    if (rows.isEmpty())
        return std::nullopt;
    const RunInfo* run = m_model->runAt(m_proxy->mapToSource(rows.first()).row());
    return run != nullptr ? std::optional(*run) : std::nullopt;
}

void RunListPage::updateButtons() {
    const auto run = selected();
    m_open->setEnabled(run.has_value());
    m_resume->setEnabled(run && run->resumable && !m_busy);
    // A run that another program measures is running too; only a dead one can be resumed.
    const bool measured =
        run && (run->id == m_measured || (run->state == RunState::Running && !run->resumable));
    m_create->setEnabled(!m_busy);
    m_delete->setEnabled(run && !measured);
    m_delete->setToolTip(!measured               ? QString()
                         : run->id == m_measured ? tr("It is being measured: stop it first")
                                                 : tr("Another program is measuring it"));
    emit selectionChanged();
}

void RunListPage::openSelected() {
    if (const auto run = selected())
        emit openRequested(run->id);
}

} // namespace knobscope
