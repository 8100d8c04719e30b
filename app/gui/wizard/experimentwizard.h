// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/gui/appcontext.h"
#include "core/model/experiment.h"
#include "core/run/preflight.h"

#include <QWizard>

class QListWidget;
class QTimer;

namespace knobscope {

class ExperimentPage;
class HostsPage;
class PreflightPage;

/// Makes or edits an experiment: hosts, test, knob matrix, plan, preflight, start. The window opens
/// it beside itself (not blocking); startRequested() tells that the user wants to measure.
class ExperimentWizard : public QWizard {
    Q_OBJECT
public:
    enum PageId { HostsId, TestId, MatrixId, PlanId, PreflightId, StartId };

    ExperimentWizard(const AppContext& context, const Experiment& experiment,
                     QWidget* parent = nullptr);

    [[nodiscard]] Experiment experiment() const;
    void accept() override;
    /// Asks first when something was entered.
    void reject() override;
    [[nodiscard]] bool validateCurrentPage() override;

signals:
    /// `leftOut`: values that the preflight found to fail, whose cells are not to be measured.
    void startRequested(const knobscope::Experiment& experiment,
                        const QList<knobscope::RefusedValue>& leftOut);

private:
    void addEditor(int id, ExperimentPage* page);
    void buildSteps();
    void review();
    void reviewSoon();

    Experiment m_loaded; ///< keeps what no page edits
    Experiment m_begun;  ///< as the pages were when they opened
    QTimer* m_pause;     ///< in the typing, before a large matrix is looked at
    HostsPage* m_hosts = nullptr;
    PreflightPage* m_preflight = nullptr;
    QList<ExperimentPage*> m_editors;
    QListWidget* m_steps = nullptr;
};

/// A name that says what the experiment does: "Window, TCP stream on this computer".
[[nodiscard]] QString suggestedName(const Experiment& experiment);
/// What the wizard begins with: both ends on this computer, a window sweep.
[[nodiscard]] Experiment newExperiment();

} // namespace knobscope
