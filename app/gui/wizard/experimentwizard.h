// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/gui/appcontext.h"
#include "core/model/experiment.h"

#include <QWizard>

class QListWidget;

namespace knobscope {

class ExperimentPage;

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

signals:
    void startRequested(const knobscope::Experiment& experiment);

private:
    void addEditor(int id, ExperimentPage* page);
    void buildSteps();
    void review();

    Experiment m_loaded; ///< keeps what no page edits
    QList<ExperimentPage*> m_editors;
    QListWidget* m_steps = nullptr;
};

/// What the wizard begins with: both ends on this computer, a window sweep.
[[nodiscard]] Experiment newExperiment();

} // namespace knobscope
