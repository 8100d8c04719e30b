// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/model/experiment.h"
#include "core/result.h"

#include <QWizardPage>

#include <functional>

class QLabel;
class QPlainTextEdit;
class QPushButton;

namespace knobscope {

/// Last page: the experiment in its file form, to save and to start.
class SummaryPage : public QWizardPage {
    Q_OBJECT
public:
    explicit SummaryPage(std::function<Experiment()> experiment, QWidget* parent = nullptr);

    void initializePage() override;
    /// Storage when it cannot be written.
    Result<void> saveTo(const QString& path);

private:
    void askAndSave();

    std::function<Experiment()> m_experiment;
    QLabel* m_estimate;
    QPlainTextEdit* m_json;
    QPushButton* m_save;
    QLabel* m_saved;
    QLabel* m_error;
};

} // namespace knobscope
