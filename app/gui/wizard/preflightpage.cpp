// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/wizard/preflightpage.h"

#include "app/gui/consent.h"
#include "app/gui/icons.h"
#include "app/gui/job.h"
#include "app/gui/looks.h"
#include "app/gui/wizard/checklist.h"
#include "core/model/plural.h"

#include <QCheckBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QMessageBox>
#include <QProgressBar>
#include <QPushButton>
#include <QVBoxLayout>

#include <algorithm>

namespace knobscope {

PreflightPage::PreflightPage(const AppContext& context, std::function<Experiment()> experiment,
                             QWidget* parent)
    : QWizardPage(parent), m_context(context), m_experiment(std::move(experiment)),
      m_verdict(new QLabel(this)), m_busy(new QProgressBar(this)), m_checks(new CheckList(this)),
      m_leaveOut(new QCheckBox(this)),
      m_again(new QPushButton(icon("check"), tr("Check &again"), this)) {
    setTitle(tr("Preflight"));
    setSubTitle(tr("All hosts are asked whether they can do all of it. No traffic is measured, "
                   "and every knob that is tried is put back."));
    m_verdict->setObjectName("preflightVerdict");
    m_verdict->setWordWrap(true);
    m_checks->setObjectName("preflightChecks");
    m_again->setObjectName("preflightAgain");
    m_leaveOut->setObjectName("preflightLeaveOut");
    m_busy->setRange(0, 0);
    m_busy->setTextVisible(false);
    m_busy->setMaximumHeight(6);

    auto* bottom = new QHBoxLayout;
    bottom->addWidget(m_verdict, 1);
    bottom->addWidget(m_again);
    auto* layout = new QVBoxLayout(this);
    layout->addWidget(m_busy);
    layout->addWidget(m_checks, 1);
    layout->addWidget(m_leaveOut);
    layout->addLayout(bottom);
    m_leaveOut->hide();
    connect(m_leaveOut, &QCheckBox::toggled, this, [this] {
        tellVerdict();
        emit completeChanged();
    });
    connect(m_again, &QPushButton::clicked, this, &PreflightPage::begin);
}

PreflightPage::~PreflightPage() {
    m_cancel.cancel();
}

void PreflightPage::initializePage() {
    begin();
}

void PreflightPage::cleanupPage() {
    m_cancel.cancel();
    ++m_turn;
}

void PreflightPage::begin() {
    m_cancel.cancel();
    m_cancel = CancelToken();
    ++m_turn;
    m_asking = true;
    m_report = {};
    m_checks->setReport({});
    m_leaveOut->hide();
    m_leaveOut->setChecked(false);
    emit completeChanged();
    const Experiment experiment = m_experiment();
    if (commandsAllowed(experiment))
        ask(experiment);
    else
        askForCommands(experiment);
}

/// Trying a knob runs its command lines already.
void PreflightPage::askForCommands(const Experiment& experiment) {
    m_busy->hide();
    m_verdict->setText(tr("Nothing was checked: the command lines may not run."));
    m_again->setEnabled(true);
    auto* question = new QMessageBox(
        QMessageBox::Warning, tr("Command lines"),
        tr("The experiment lets its hosts run these command lines, with the rights of the agent:"),
        QMessageBox::Cancel, this);
    question->setObjectName("commandsQuestion");
    question->setAttribute(Qt::WA_DeleteOnClose);
    question->setInformativeText(commandLines(experiment).join(QLatin1Char('\n')));
    question->setTextFormat(Qt::PlainText);
    QPushButton* allow = question->addButton(tr("&Let them run"), QMessageBox::AcceptRole);
    allow->setObjectName("commandsAllowed");
    preferCancel(question);
    connect(allow, &QPushButton::clicked, this, [this, experiment] {
        allowCommands(experiment);
        ask(experiment);
    });
    question->open();
}

void PreflightPage::ask(const Experiment& experiment) {
    const int turn = m_turn;
    m_verdict->setText(tr("Asking the hosts…"));
    m_busy->show();
    m_again->setEnabled(false);
    startJob(
        *m_context.pool, this,
        [experiment, options = m_context.hosts, cancel = m_cancel] {
            return preflight(experiment, options, cancel);
        },
        [this, turn](const PreflightReport& report) {
            if (turn == m_turn)
                display(report);
        });
}

bool PreflightPage::isComplete() const {
    return !m_asking && (m_report.passed() || !leftOut().isEmpty());
}

QList<RefusedValue> PreflightPage::leftOut() const {
    return m_leaveOut->isChecked() ? m_report.refused : QList<RefusedValue>();
}

void PreflightPage::display(const PreflightReport& report) {
    m_busy->hide();
    m_again->setEnabled(true);
    m_checks->setReport(report);
    m_asking = false;
    m_report = report;
    offerRest(m_experiment());
    tellVerdict();
    emit completeChanged();
}

/// Where single values failed, the cells without them can be measured all the same.
void PreflightPage::offerRest(const Experiment& experiment) {
    if (m_report.passed() || !m_report.passedButRefusals())
        return;
    const QList<Cell> cells = expandMatrix(experiment);
    const qsizetype without = refusedCells(experiment, cells, m_report.refused).size();
    if (without == cells.size())
        return;
    m_leaveOut->setText(tr("&Leave out %1 with these values, and measure the other %2")
                            .arg(counted(without, tr("cell")))
                            .arg(cells.size() - without));
    m_leaveOut->show();
}

void PreflightPage::tellVerdict() {
    const auto count = [&](Check::State state) {
        return std::count_if(m_report.checks.begin(), m_report.checks.end(),
                             [state](const Check& check) { return check.state == state; });
    };
    const auto failed = count(Check::State::Failed);
    if (!leftOut().isEmpty())
        m_verdict->setText(tr("The rest of the experiment can run."));
    else if (!m_report.passed())
        m_verdict->setText(
            failed == 1 ? tr("1 check failed. See what to do, then check again.")
                        : tr("%1 checks failed. See what to do, then check again.").arg(failed));
    else if (count(Check::State::Warning) > 0)
        m_verdict->setText(tr("The experiment can run. Read the warnings first."));
    else
        m_verdict->setText(tr("The experiment can run."));
}

} // namespace knobscope
