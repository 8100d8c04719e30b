// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/wizard/experimentwizard.h"

#include "app/gui/format.h"
#include "app/gui/looks.h"
#include "app/gui/wizard/hostspage.h"
#include "app/gui/wizard/matrixpage.h"
#include "app/gui/wizard/planpage.h"
#include "app/gui/wizard/preflightpage.h"
#include "app/gui/wizard/summarypage.h"
#include "app/gui/wizard/testpage.h"

#include <QAbstractButton>
#include <QListWidget>
#include <QMessageBox>
#include <QPushButton>
#include <QTimer>

namespace knobscope {

ExperimentWizard::ExperimentWizard(const AppContext& context, const Experiment& experiment,
                                   QWidget* parent)
    : QWizard(parent), m_loaded(experiment), m_pause(new QTimer(this)) {
    setObjectName("experimentWizard");
    setWindowTitle(tr("Experiment"));
    setWizardStyle(QWizard::ModernStyle);
    setOption(QWizard::NoBackButtonOnStartPage);
    setButtonText(QWizard::FinishButton, tr("&Start"));
    resize(fittingSize(this, QSize(980, 680)));
    constexpr int kPauseMs = 150;
    m_pause->setInterval(kPauseMs);
    m_pause->setSingleShot(true);
    connect(m_pause, &QTimer::timeout, this, &ExperimentWizard::review);

    m_hosts = new HostsPage(context, this);
    addEditor(HostsId, m_hosts);
    addEditor(TestId, new TestPage(this));
    addEditor(MatrixId, new MatrixPage(this));
    addEditor(PlanId, new PlanPage(this));
    const auto whole = [this] { return this->experiment(); };
    m_preflight = new PreflightPage(context, whole, this);
    setPage(PreflightId, m_preflight);
    setPage(StartId, new SummaryPage(
                         whole, [this] { return m_preflight->report(); }, this));
    buildSteps();

    button(QWizard::NextButton)->setObjectName("wizardNext");
    button(QWizard::BackButton)->setObjectName("wizardBack");
    button(QWizard::FinishButton)->setObjectName("wizardStart");
    button(QWizard::CancelButton)->setObjectName("wizardCancel");

    for (ExperimentPage* page : std::as_const(m_editors))
        page->load(m_loaded);
    m_begun = this->experiment();
    m_hosts->expectName(suggestedName(m_begun));
    review();
}

void ExperimentWizard::addEditor(int id, ExperimentPage* page) {
    setPage(id, page);
    m_editors.append(page);
    connect(page, &ExperimentPage::edited, this, &ExperimentWizard::reviewSoon);
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

/// What is cheap is said at once, with every key.
void ExperimentWizard::reviewSoon() {
    constexpr double kFewCombinations = 2000;
    double combinations = 1;
    for (const Axis& axis : experiment().axes)
        combinations *= static_cast<double>(axis.values.size());
    if (combinations > kFewCombinations)
        m_pause->start();
    else
        review();
}

bool ExperimentWizard::validateCurrentPage() {
    if (m_pause->isActive())
        review(); // nothing goes on unseen
    return QWizard::validateCurrentPage() && currentPage()->isComplete();
}

void ExperimentWizard::reject() {
    if (experiment() == m_begun) {
        QWizard::reject();
        return;
    }
    auto* question = new QMessageBox(QMessageBox::Question, tr("Experiment"),
                                     tr("Close the experiment and lose what was entered?"),
                                     QMessageBox::Cancel, this);
    question->setObjectName("discardQuestion");
    question->setAttribute(Qt::WA_DeleteOnClose);
    QPushButton* discard = question->addButton(tr("&Discard"), QMessageBox::DestructiveRole);
    discard->setObjectName("discardConfirmed");
    preferCancel(question);
    connect(discard, &QPushButton::clicked, this, [this] { QWizard::reject(); });
    question->open();
}

void ExperimentWizard::review() {
    m_pause->stop();
    m_hosts->suggestName(suggestedName(experiment()));
    const Experiment whole = experiment();
    const std::optional<Problem> problem = problemOf(whole);
    for (ExperimentPage* page : std::as_const(m_editors))
        page->review(whole, problem);
}

void ExperimentWizard::accept() {
    const Experiment chosen = experiment();
    const QList<RefusedValue> leftOut = m_preflight->leftOut();
    QWizard::accept();
    emit startRequested(chosen, leftOut);
}

QString suggestedName(const Experiment& experiment) {
    constexpr qsizetype kShown = 3;
    QStringList knobs;
    for (const Axis& axis : experiment.axes) {
        if (!axis.knob.isEmpty() && !knobs.contains(knobTitle(axis.knob)))
            knobs.append(knobTitle(axis.knob));
    }
    if (knobs.size() > kShown)
        knobs = knobs.mid(0, kShown) + QStringList(QStringLiteral("…"));
    const QString what =
        knobs.isEmpty() ? testKindTitle(experiment.test.kind)
                        : ExperimentWizard::tr("%1, %2").arg(knobs.join(QStringLiteral(" × ")),
                                                             testKindTitle(experiment.test.kind));
    const QString sender = experiment.sideLabel(Side::Sender);
    const QString receiver = experiment.sideLabel(Side::Receiver);
    if (sender == receiver)
        return sender.isEmpty() ? what : ExperimentWizard::tr("%1 on %2").arg(what, sender);
    return ExperimentWizard::tr("%1, %2 to %3").arg(what, sender, receiver).left(200);
}

Experiment newExperiment() {
    Experiment experiment;
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
    experiment.name = suggestedName(experiment);
    return experiment;
}

} // namespace knobscope
