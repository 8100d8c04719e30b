// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/pages/savedhostspage.h"

#include "app/gui/icons.h"
#include "app/gui/job.h"
#include "app/gui/looks.h"
#include "app/gui/models/texttablemodel.h"
#include "app/gui/pages/savedhostdialog.h"
#include "app/gui/wizard/checklist.h"

#include <QApplication>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QMessageBox>
#include <QPointer>
#include <QPushButton>
#include <QSplitter>
#include <QStackedWidget>
#include <QTableView>
#include <QVBoxLayout>

namespace knobscope {

namespace {

QString orDash(const QString& text) {
    return text.isEmpty() ? QStringLiteral("–") : text;
}

} // namespace

SavedHostsPage::SavedHostsPage(const AppContext& context, QWidget* parent)
    : QWidget(parent), m_context(context), m_model(new TextTableModel(this)),
      m_stack(new QStackedWidget(this)) {
    setObjectName("savedHostsPage");
    m_stack->addWidget(buildList());
    m_stack->addWidget(buildEmpty());
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(m_stack);
    showSteps({});
    updateButtons();
}

SavedHostsPage::~SavedHostsPage() {
    m_cancel.cancel();
}

QWidget* SavedHostsPage::buildList() {
    auto* page = new QWidget(this);
    const auto makeButton = [page](const char* name, const char* iconName, const QString& text) {
        auto* button = new QPushButton(icon(iconName), text, page);
        button->setObjectName(name);
        return button;
    };
    m_test = makeButton("testHost", "check", tr("&Test"));
    m_test->setToolTip(tr("Goes all the way to the host and shows each step"));
    m_recover = makeButton("recoverHost", "start", tr("Re&cover"));
    m_recover->setToolTip(tr("Puts back the knobs that a dead run left changed there"));
    m_stop = makeButton("stopHost", "stop", tr("&Stop"));
    m_edit = makeButton("editHost", "edit", tr("&Edit…"));
    m_remove = makeButton("removeHost", "delete", tr("&Delete…"));
    auto* create = makeButton("newHost", "new", tr("Ne&w host…"));
    auto* top = new QHBoxLayout;
    for (QPushButton* button : {m_test, m_recover, m_stop})
        top->addWidget(button);
    top->addStretch(1);
    for (QPushButton* button : {m_edit, m_remove, create})
        top->addWidget(button);

    auto* parts = new QSplitter(Qt::Vertical, page);
    parts->setChildrenCollapsible(false);
    m_table = new QTableView(parts);
    m_table->setObjectName("hostTable");
    m_table->setAccessibleName(tr("Hosts"));
    m_table->setModel(m_model);
    m_table->setSelectionBehavior(QAbstractItemView::SelectRows);
    m_table->setSelectionMode(QAbstractItemView::SingleSelection);
    m_table->setAlternatingRowColors(true);
    m_table->setShowGrid(false);
    m_table->setTabKeyNavigation(false);
    m_table->setWordWrap(false);
    m_table->verticalHeader()->hide();
    m_table->horizontalHeader()->setHighlightSections(false);
    m_table->horizontalHeader()->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    m_table->horizontalHeader()->setStretchLastSection(true);
    auto* below = new QWidget(parts);
    m_title = new QLabel(below);
    m_title->setObjectName("hostActTitle");
    letWrap(m_title);
    m_verdict = new QLabel(below);
    m_verdict->setObjectName("hostVerdict");
    m_verdict->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    letWrap(m_verdict);
    m_steps = new CheckList(below);
    m_steps->setObjectName("hostSteps");
    m_steps->setAccessibleName(tr("Steps"));
    auto* result = new QVBoxLayout(below);
    result->setContentsMargins(0, 6, 0, 0);
    result->addWidget(m_title);
    result->addWidget(m_verdict);
    result->addWidget(m_steps, 1);
    result->addStretch(0);
    constexpr int kSteps = 300; // all steps of a host, with one that explains itself
    below->setMinimumHeight(kSteps);
    parts->setStretchFactor(0, 1);
    parts->setStretchFactor(1, 0);
    auto* layout = new QVBoxLayout(page);
    layout->addLayout(top);
    layout->addWidget(parts, 1);

    connect(m_test, &QPushButton::clicked, this, &SavedHostsPage::test);
    connect(m_recover, &QPushButton::clicked, this, &SavedHostsPage::recover);
    connect(m_stop, &QPushButton::clicked, this, [this] { m_cancel.cancel(); });
    connect(create, &QPushButton::clicked, this, [this] { edit(std::nullopt); });
    connect(m_edit, &QPushButton::clicked, this, [this] { edit(selected()); });
    connect(m_table, &QTableView::activated, this, [this] { edit(selected()); });
    connect(m_remove, &QPushButton::clicked, this, [this] {
        if (const auto host = selected())
            askAndRemove(*host);
    });
    connect(m_table->selectionModel(), &QItemSelectionModel::selectionChanged, this,
            &SavedHostsPage::updateButtons);
    return page;
}

QWidget* SavedHostsPage::buildEmpty() {
    auto* page = new QWidget(this);
    auto* heading = new QLabel(tr("No host is saved yet"), page);
    QFont large = heading->font();
    large.setPointSizeF(large.pointSizeF() * 1.6);
    heading->setFont(large);
    heading->setAlignment(Qt::AlignCenter);
    auto* text = new QLabel(tr("A saved host has a name for experiments to use, the way to log in, "
                               "and its test interface.\nHosts that ssh knows by its own "
                               "configuration need not be saved."),
                            page);
    text->setAlignment(Qt::AlignCenter);
    text->setWordWrap(true);
    auto* create = new QPushButton(icon("new"), tr("Ne&w host…"), page);
    create->setObjectName("newHostEmpty");
    create->setMinimumSize(260, 34);
    auto* layout = new QVBoxLayout(page);
    layout->addStretch(2);
    layout->addWidget(heading);
    layout->addSpacing(6);
    layout->addWidget(text);
    layout->addSpacing(20);
    layout->addWidget(create, 0, Qt::AlignCenter);
    layout->addStretch(3);
    connect(create, &QPushButton::clicked, this, [this] { edit(std::nullopt); });
    return page;
}

void SavedHostsPage::reload() {
    const auto before = selected();
    display(before ? before->name : QString());
}

void SavedHostsPage::display(const QString& select) {
    const auto hosts = readSavedHosts(m_context.hosts.savedHosts);
    m_readable = hosts.has_value();
    m_hosts = hosts.value_or(Hosts());
    QList<TextTableModel::Row> rows;
    int row = 0;
    for (const SavedHost& host : m_hosts) {
        if (host.name == select)
            row = static_cast<int>(rows.size());
        rows.append({TableCell{host.name, {}}, TableCell{host.login(), {}},
                     TableCell{orDash(host.interface), {}}, TableCell{orDash(host.address), {}}});
    }
    m_model->setTable({tr("Name"), tr("SSH"), tr("Test interface"), tr("Test address")}, rows);
    m_stack->setCurrentIndex(m_hosts.isEmpty() && m_readable ? 1 : 0);
    m_table->resizeColumnsToContents();
    for (int column = 0; column + 1 < m_model->columnCount(); ++column) // the last has what is left
        m_table->setColumnWidth(column, qMin(m_table->columnWidth(column) + 12, 360));
    m_table->resizeRowsToContents();
    if (!m_hosts.isEmpty())
        m_table->selectRow(row);
    updateButtons();
    if (!hosts)
        emit failed(hosts.error());
}

void SavedHostsPage::setBusy(bool busy) {
    m_busy = busy;
    updateButtons();
}

void SavedHostsPage::updateButtons() {
    const bool one = selected().has_value();
    m_test->setEnabled(one && !m_acting);
    m_recover->setEnabled(one && !m_acting && !m_busy);
    m_stop->setEnabled(m_acting);
    m_edit->setEnabled(one && m_readable);
    m_remove->setEnabled(one && m_readable);
}

std::optional<SavedHost> SavedHostsPage::selected() const {
    const QModelIndexList rows = m_table->selectionModel()->selectedRows();
    if (rows.isEmpty() || rows.first().row() >= m_hosts.size())
        return std::nullopt;
    return m_hosts[rows.first().row()];
}

void SavedHostsPage::edit(const std::optional<SavedHost>& host) {
    QStringList others;
    for (const SavedHost& other : m_hosts) {
        if (!host || other.name != host->name)
            others << other.name;
    }
    auto* dialog = new SavedHostDialog(host, others, this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    connect(dialog, &QDialog::accepted, this, [this, dialog, host] {
        const SavedHost edited = dialog->host();
        change(
            [&](Hosts& hosts) {
                const QString name = host ? host->name : edited.name;
                const auto at = std::find_if(hosts.begin(), hosts.end(), [&](const SavedHost& one) {
                    return one.name == name;
                });
                if (at == hosts.end())
                    hosts.append(edited);
                else
                    *at = edited;
            },
            edited.name);
    });
    dialog->open();
}

void SavedHostsPage::askAndRemove(const SavedHost& host) {
    auto* question = new QMessageBox(QMessageBox::Question, tr("Delete host"),
                                     tr("Delete \"%1\" from the saved hosts?").arg(host.name),
                                     QMessageBox::Cancel, this);
    question->setObjectName("removeQuestion");
    question->setInformativeText(
        tr("Nothing changes on the host. Experiments that name it need it saved again."));
    question->setAttribute(Qt::WA_DeleteOnClose);
    QPushButton* remove = question->addButton(tr("&Delete"), QMessageBox::DestructiveRole);
    remove->setObjectName("removeConfirmed");
    preferCancel(question);
    connect(remove, &QPushButton::clicked, this, [this, name = host.name] {
        change(
            [&](Hosts& hosts) {
                hosts.removeIf([&](const SavedHost& one) { return one.name == name; });
            },
            {});
    });
    question->open();
}

void SavedHostsPage::change(const std::function<void(Hosts&)>& how, const QString& select) {
    const QString path = m_context.hosts.savedHosts;
    auto hosts = readSavedHosts(path);
    Result<void> done;
    if (hosts) {
        how(*hosts);
        done = writeSavedHosts(path, *hosts);
    } else {
        done = tl::unexpected<Error>(hosts.error());
    }
    display(select);
    if (!done)
        emit failed(done.error());
}

void SavedHostsPage::test() {
    const auto host = selected();
    if (!host)
        return;
    const auto observer = begin(tr("Testing %1…").arg(host->name));
    startJob(
        *m_context.pool, this,
        [spec = host->spec(), options = m_context.hosts, cancel = m_cancel, observer] {
            return testHost(spec, options, cancel, observer);
        },
        [this, name = host->name](const HostTest& outcome) {
            showSteps(outcome.steps);
            end(outcome.usable() ? tr("%1 can be used").arg(name)
                : outcome.error->code == Error::Code::Cancelled
                    ? tr("The test of %1 was stopped").arg(name)
                    : tr("%1 cannot be used").arg(name));
        });
}

void SavedHostsPage::recover() {
    const auto host = selected();
    if (!host)
        return;
    const auto observer = begin(tr("Looking for knobs that are left over on %1…").arg(host->name));
    startJob(
        *m_context.pool, this,
        [spec = host->spec(), options = m_context.hosts, cancel = m_cancel, observer] {
            HostSteps steps(observer);
            return recoverHost(spec, options, cancel, &steps);
        },
        [this, name = host->name](const Recovery& recovery) {
            QStringList lines = recoveryLines(recovery) + recovery.notRestored;
            if (recovery.inUse)
                lines << recovery.inUse->text();
            m_verdict->setText(lines.join(QLatin1Char('\n')));
            m_verdict->setVisible(!lines.isEmpty());
            end(!recovery.notRestored.isEmpty() ? tr("Not all is back on %1").arg(name)
                : recovery.error && recovery.error->code == Error::Code::Cancelled
                    ? tr("Stopped before %1 was reached").arg(name)
                : recovery.error ? tr("%1 cannot be reached").arg(name)
                : recovery.inUse ? tr("%1 is in use").arg(name)
                                 : tr("%1 is as it was").arg(name));
            if (!recovery.notRestored.isEmpty())
                emit failed({Error::Code::Knob,
                             tr("%1: some knobs could not be put back. Set them by hand").arg(name),
                             recovery.notRestored.join(QLatin1Char('\n'))});
        });
}

HostSteps::Observer SavedHostsPage::begin(const QString& title) {
    m_cancel = CancelToken();
    m_acting = true;
    m_shown.clear();
    showSteps({});
    say(title, true);
    m_verdict->clear();
    m_verdict->hide();
    updateButtons();
    // The page may be gone when a worker's word arrives.
    return [page = QPointer<SavedHostsPage>(this), turn = ++m_turn](const HostStep& step) {
        QMetaObject::invokeMethod(
            qApp,
            [page, turn, step] {
                if (page)
                    page->showStep(turn, step);
            },
            Qt::QueuedConnection);
    };
}

void SavedHostsPage::end(const QString& title) {
    m_acting = false;
    say(title, true);
    updateButtons();
}

void SavedHostsPage::showStep(int turn, const HostStep& step) {
    if (turn != m_turn || !m_acting)
        return;
    // A step is told as it begins and again as it ends.
    if (!m_shown.isEmpty() && m_shown.last().kind == step.kind && m_shown.last().host == step.host)
        m_shown.last() = step;
    else
        m_shown.append(step);
    showSteps(m_shown);
}

void SavedHostsPage::showSteps(const QList<HostStep>& steps) {
    m_steps->setSteps(steps);
    m_steps->setVisible(!steps.isEmpty());
    if (steps.isEmpty())
        say(tr("Test goes all the way to the selected host and shows each step; "
               "Recover puts back what a dead run left there."),
            false);
}

void SavedHostsPage::say(const QString& title, bool strong) {
    QFont font = this->font();
    font.setBold(strong);
    m_title->setFont(font);
    m_title->setText(title);
}

} // namespace knobscope
