// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/wizard/experimentwizard.h"

#include "app/gui/wizard/hostspage.h"
#include "app/gui/wizard/matrixpage.h"
#include "app/gui/wizard/planpage.h"
#include "app/gui/wizard/preflightpage.h"
#include "app/gui/wizard/summarypage.h"
#include "app/gui/wizard/testpage.h"

#include <QAbstractButton>
#include <QListWidget>

namespace knobscope {

ExperimentWizard::ExperimentWizard(const AppContext& context, const Experiment& experiment,
                                   QWidget* parent)
    : QWizard(parent), m_loaded(experiment) {
    setObjectName("experimentWizard");
    setWindowTitle(tr("Experiment"));
    setWizardStyle(QWizard::ModernStyle);
    setOption(QWizard::NoBackButtonOnStartPage);
    setButtonText(QWizard::FinishButton, tr("&Start"));
    resize(980, 680);

    addEditor(HostsId, new HostsPage(context, this));
    addEditor(TestId, new TestPage(this));
    addEditor(MatrixId, new MatrixPage(this));
    addEditor(PlanId, new PlanPage(this));
    setPage(PreflightId, new PreflightPage(
                             context, [this] { return this->experiment(); }, this));
    setPage(StartId, new SummaryPage([this] { return this->experiment(); }, this));
    buildSteps();

    button(QWizard::NextButton)->setObjectName("wizardNext");
    button(QWizard::BackButton)->setObjectName("wizardBack");
    button(QWizard::FinishButton)->setObjectName("wizardStart");
    button(QWizard::CancelButton)->setObjectName("wizardCancel");

    for (ExperimentPage* page : std::as_const(m_editors))
        page->load(m_loaded);
    review();
}

void ExperimentWizard::addEditor(int id, ExperimentPage* page) {
    setPage(id, page);
    m_editors.append(page);
    connect(page, &ExperimentPage::edited, this, &ExperimentWizard::review);
}

/// The steps at the left show where one is; they are no buttons.
void ExperimentWizard::buildSteps() {
    m_steps = new QListWidget(this);
    m_steps->setObjectName("wizardSteps");
    m_steps->setFocusPolicy(Qt::NoFocus);
    m_steps->setSelectionMode(QAbstractItemView::NoSelection);
    m_steps->setAttribute(Qt::WA_TransparentForMouseEvents);
    m_steps->setFrameShape(QFrame::NoFrame);
    m_steps->setSpacing(3);
    m_steps->viewport()->setAutoFillBackground(false);
    m_steps->setAccessibleName(tr("Steps"));
    for (const int id : pageIds())
        m_steps->addItem(QStringLiteral("%1  %2").arg(id + 1).arg(page(id)->title()));
    m_steps->setFixedWidth(m_steps->sizeHintForColumn(0) + 48);
    setSideWidget(m_steps);
    connect(this, &QWizard::currentIdChanged, this, [this](int current) {
        for (int id = 0; id < m_steps->count(); ++id) {
            QFont font = m_steps->font();
            font.setBold(id == current);
            m_steps->item(id)->setFont(font);
            m_steps->item(id)->setForeground(
                palette().color(id <= current ? QPalette::WindowText : QPalette::PlaceholderText));
        }
    });
}

Experiment ExperimentWizard::experiment() const {
    Experiment experiment = m_loaded;
    for (const ExperimentPage* page : m_editors)
        page->store(experiment);
    return experiment;
}

void ExperimentWizard::review() {
    const Experiment whole = experiment();
    const std::optional<Problem> problem = problemOf(whole);
    for (ExperimentPage* page : std::as_const(m_editors))
        page->review(whole, problem);
}

void ExperimentWizard::accept() {
    const Experiment chosen = experiment();
    QWizard::accept();
    emit startRequested(chosen);
}

Experiment newExperiment() {
    Experiment experiment;
    experiment.name = ExperimentWizard::tr("Window on this computer");
    for (HostSpec* host : {&experiment.sender, &experiment.receiver}) {
        host->local = true;
        host->address = QStringLiteral("127.0.0.1");
        host->interface = QStringLiteral("lo");
    }
    experiment.test.seconds = 2;
    experiment.test.warmupSeconds = 0.2;
    Axis window;
    window.knob = QStringLiteral("window");
    for (const char* value : {"32K", "64K", "128K", "256K", "512K", "1M"})
        window.values.append(KnobValue(QLatin1String(value)));
    experiment.axes = {window};
    experiment.plan.repeatsMax = 10;
    return experiment;
}

} // namespace knobscope
