// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/model/experiment.h"
#include "core/result.h"
#include "core/run/preflight.h"

#include <QWizardPage>

#include <functional>

class QLabel;
class QPlainTextEdit;
class QPushButton;

namespace knobscope {

class CheckList;

/// Last page: what the run changes on the hosts, and the experiment in its file form, to save and
/// to start.
class SummaryPage : public QWizardPage {
    Q_OBJECT
public:
    /// `report`: of the preflight just made.
    SummaryPage(std::function<Experiment()> experiment, std::function<PreflightReport()> report,
                QWidget* parent = nullptr);

    void initializePage() override;
    /// Storage when it cannot be written.
    Result<void> saveTo(const QString& path);

private:
    void askAndSave();

    std::function<Experiment()> m_experiment;
    std::function<PreflightReport()> m_report;
    QLabel* m_changesTitle;
    CheckList* m_changes;
    QLabel* m_estimate;
    QPlainTextEdit* m_json;
    QPushButton* m_save;
    QLabel* m_saved;
    QLabel* m_error;
};

} // namespace knobscope
