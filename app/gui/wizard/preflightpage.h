// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/gui/appcontext.h"
#include "core/run/preflight.h"

#include <QWizardPage>

#include <functional>

class QLabel;
class QProgressBar;
class QPushButton;

namespace knobscope {

class CheckList;

/// Finds out on the hosts whether the experiment can run. Complete when no check failed.
class PreflightPage : public QWizardPage {
    Q_OBJECT
public:
    PreflightPage(const AppContext& context, std::function<Experiment()> experiment,
                  QWidget* parent = nullptr);
    ~PreflightPage() override;

    void initializePage() override;
    void cleanupPage() override;
    [[nodiscard]] bool isComplete() const override { return m_passed; }

private:
    void begin();
    void display(const PreflightReport& report);

    const AppContext& m_context;
    std::function<Experiment()> m_experiment;
    CancelToken m_cancel;
    int m_turn = 0; ///< reports of an earlier turn are old
    bool m_passed = false;
    QLabel* m_verdict;
    QProgressBar* m_busy;
    CheckList* m_checks;
    QPushButton* m_again;
};

} // namespace knobscope
