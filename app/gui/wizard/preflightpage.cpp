// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/wizard/preflightpage.h"

#include "app/gui/icons.h"
#include "app/gui/job.h"
#include "app/gui/wizard/checklist.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QProgressBar>
#include <QPushButton>
#include <QVBoxLayout>

#include <algorithm>

namespace knobscope {

PreflightPage::PreflightPage(const AppContext& context, std::function<Experiment()> experiment,
                             QWidget* parent)
    : QWizardPage(parent), m_context(context), m_experiment(std::move(experiment)),
      m_verdict(new QLabel(this)), m_busy(new QProgressBar(this)), m_checks(new CheckList(this)),
      m_again(new QPushButton(icon("check"), tr("Check &again"), this)) {
    setTitle(tr("Preflight"));
    setSubTitle(tr("All hosts are asked whether they can do all of it. No traffic is measured, "
                   "and every knob that is tried is put back."));
    m_verdict->setObjectName("preflightVerdict");
    m_verdict->setWordWrap(true);
    m_checks->setObjectName("preflightChecks");
    m_again->setObjectName("preflightAgain");
    m_busy->setRange(0, 0);
    m_busy->setTextVisible(false);
    m_busy->setMaximumHeight(6);

    auto* bottom = new QHBoxLayout;
    bottom->addWidget(m_verdict, 1);
    bottom->addWidget(m_again);
    auto* layout = new QVBoxLayout(this);
    layout->addWidget(m_busy);
    layout->addWidget(m_checks, 1);
    layout->addLayout(bottom);
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
    const int turn = ++m_turn;
    m_passed = false;
    m_checks->setReport({});
    m_verdict->setText(tr("Asking the hosts…"));
    m_busy->show();
    m_again->setEnabled(false);
    emit completeChanged();
    startJob(
        *m_context.pool, this,
        [experiment = m_experiment(), options = m_context.hosts, cancel = m_cancel] {
            return preflight(experiment, options, cancel);
        },
        [this, turn](const PreflightReport& report) {
            if (turn == m_turn)
                display(report);
        });
}

void PreflightPage::display(const PreflightReport& report) {
    m_busy->hide();
    m_again->setEnabled(true);
    m_checks->setReport(report);
    m_passed = report.passed();
    const auto count = [&](Check::State state) {
        return std::count_if(report.checks.begin(), report.checks.end(),
                             [state](const Check& check) { return check.state == state; });
    };
    const auto failed = count(Check::State::Failed);
    const auto warnings = count(Check::State::Warning);
    if (!m_passed)
        m_verdict->setText(
            failed == 1 ? tr("1 check failed. See what to do, then check again.")
                        : tr("%1 checks failed. See what to do, then check again.").arg(failed));
    else if (warnings > 0)
        m_verdict->setText(tr("The experiment can run. Read the warnings first."));
    else
        m_verdict->setText(tr("The experiment can run."));
    emit completeChanged();
}

} // namespace knobscope
